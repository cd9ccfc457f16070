"""optin: the most accurate mean that can be published without crossing anyone's own privacy limit.

>>> import optin
>>> optin.plan(optin.PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1)).cap
5.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: F401 - the one heavy import, made on purpose and nothing heavier

from optin._version import __version__

if TYPE_CHECKING:
    from optin.agents import LinearBenefit, PrivacyConstrained, QuasiLinear, describe
    from optin.errors import BadInput, BudgetSpent, Infeasible, OptinError, PromiseBroken
    from optin.planning import Certificate, Plan, plan

_HOMES = {
    "BadInput": "errors",
    "BudgetSpent": "errors",
    "Certificate": "planning",
    "Infeasible": "errors",
    "LinearBenefit": "agents",
    "OptinError": "errors",
    "Plan": "planning",
    "PrivacyConstrained": "agents",
    "PromiseBroken": "errors",
    "QuasiLinear": "agents",
    "describe": "agents",
    "plan": "planning",
}

__all__ = [
    "BadInput",
    "BudgetSpent",
    "Certificate",
    "Infeasible",
    "LinearBenefit",
    "OptinError",
    "Plan",
    "PrivacyConstrained",
    "PromiseBroken",
    "QuasiLinear",
    "__version__",
    "describe",
    "plan",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - public names of every kind
    """Import a public name when it is first used."""
    if name in _HOMES:
        value = getattr(import_module(f"optin.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'optin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
