"""People and how they decide: the two agent models of the paper, over arrays in memory."""

from optin.agents.benefit import LinearBenefit
from optin.agents.describe import Bucket, Description, describe
from optin.agents.models import Agents, PrivacyConstrained, QuasiLinear

__all__ = ["Agents", "Bucket", "Description", "LinearBenefit", "PrivacyConstrained", "QuasiLinear", "describe"]
