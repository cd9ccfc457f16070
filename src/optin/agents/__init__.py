"""People and how they decide: the two agent models of the paper; over arrays here, over queries in `optin.engine`."""

from optin.agents.benefit import LinearBenefit
from optin.agents.describe import Bucket, Description, describe
from optin.agents.models import Agents, InMemory, PrivacyConstrained, QuasiLinear
from optin.agents.protocols import Constrained, Weighing

__all__ = [
    "Agents",
    "Bucket",
    "Constrained",
    "Description",
    "InMemory",
    "LinearBenefit",
    "PrivacyConstrained",
    "QuasiLinear",
    "Weighing",
    "describe",
]
