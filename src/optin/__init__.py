"""optin: the most accurate weighted mean, with one Laplace noise, that crosses nobody's own privacy limit.

Most accurate among weighted means with fixed weights and one Laplace noise.

>>> import optin
>>> optin.plan(optin.PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1)).cap
5.0
"""

from __future__ import annotations

from importlib import import_module

from optin._attached import METHODS
from optin._version import __version__

TYPE_CHECKING = (
    False  # as typing says, which takes longer to load than all of this; whoever checks types knows the name
)
if TYPE_CHECKING:
    from typing import Any

    from optin import baselines, campaign, dynamics, figures, incentives, relations, report, simulation
    from optin.agents import Description, LinearBenefit, PrivacyConstrained, QuasiLinear, describe
    from optin.announcement import Announcement, Deal, announce, explain
    from optin.baselines import compare
    from optin.client import Client
    from optin.engine import read
    from optin.errors import BadInput, BudgetSpent, Infeasible, LedgerUnavailable, OptinError, PromiseBroken
    from optin.forms import limit_form
    from optin.ledger import Ledger
    from optin.planning import Certificate, Plan, Size, Target, plan, size
    from optin.questions import Choice, Histogram, MultipleChoice, Number, Scale, Score, Sheet, YesNo
    from optin.receipts import Receipt, check
    from optin.releasing import Interval, Release, release
    from optin.simulation import simulate

_HOMES = {
    "Announcement": "announcement",
    "BadInput": "errors",
    "BudgetSpent": "errors",
    "Certificate": "planning",
    "Client": "client",
    "Deal": "announcement",
    "Description": "agents",
    "Infeasible": "errors",
    "LedgerUnavailable": "errors",
    "Interval": "releasing",
    "Ledger": "ledger",
    "LinearBenefit": "agents",
    "Choice": "questions",
    "Histogram": "questions",
    "MultipleChoice": "questions",
    "Number": "questions",
    "Scale": "questions",
    "Score": "questions",
    "Size": "planning",
    "YesNo": "questions",
    "size": "planning",
    "OptinError": "errors",
    "Plan": "planning",
    "PrivacyConstrained": "agents",
    "PromiseBroken": "errors",
    "Target": "planning",
    "QuasiLinear": "agents",
    "Receipt": "receipts",
    "Release": "releasing",
    "Sheet": "questions",
    "announce": "announcement",
    "check": "receipts",
    "compare": "baselines",
    "describe": "agents",
    "explain": "announcement",
    "limit_form": "forms",
    "plan": "planning",
    "read": "engine",
    "release": "releasing",
    "simulate": "simulation",
}
_ROOMS = {"baselines", "campaign", "dynamics", "figures", "incentives", "relations", "report", "simulation"}

__all__ = [
    "Announcement",
    "BadInput",
    "BudgetSpent",
    "Certificate",
    "Choice",
    "Client",
    "Deal",
    "Description",
    "Histogram",
    "Infeasible",
    "Interval",
    "Ledger",
    "LedgerUnavailable",
    "LinearBenefit",
    "MultipleChoice",
    "Number",
    "OptinError",
    "Plan",
    "PrivacyConstrained",
    "PromiseBroken",
    "QuasiLinear",
    "Receipt",
    "Release",
    "Scale",
    "Score",
    "Sheet",
    "Size",
    "Target",
    "YesNo",
    "__version__",
    "announce",
    "baselines",
    "campaign",
    "check",
    "compare",
    "describe",
    "dynamics",
    "explain",
    "figures",
    "incentives",
    "limit_form",
    "plan",
    "read",
    "relations",
    "release",
    "report",
    "simulate",
    "simulation",
    "size",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - public names of every kind
    """Import a public name when it is first used."""
    if name in _HOMES:
        value = getattr(import_module(f"optin.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"optin.{name}")
    raise AttributeError(f"module 'optin' has no attribute {name!r}")


def _announce(*given: Any, **options: Any) -> Announcement:  # noqa: ANN401 - what `optin.announce` takes
    return import_module("optin.announcement").announce(*given, **options)  # type: ignore[no-any-return]


METHODS["announce"] = _announce  # Plan.announce: planning stands below announcement, and the root above both


def __dir__() -> list[str]:
    return sorted(__all__)
