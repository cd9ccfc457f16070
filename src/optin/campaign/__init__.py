"""The job, one function for each step, in the paper's order: plan, announce, answer, release; or cancel."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optin.announcement import explain as explain
    from optin.campaign.allowing import within_allowance
    from optin.campaign.checking import adds_up as adds_up
    from optin.campaign.checking import turnout as turnout
    from optin.campaign.planning import plan
    from optin.campaign.promises import write_grains
    from optin.campaign.steps import Naming as Naming
    from optin.campaign.steps import announce, answer, cancel, release
    from optin.campaign.steps import look as look
    from optin.campaign.steps import prepare as prepare
    from optin.campaign.versions import opened_act as opened_act
    from optin.campaign.versions import with_seal_opened as with_seal_opened
    from optin.releasing.deciding import Quorum

__all__ = ["Quorum", "announce", "answer", "cancel", "plan", "release", "within_allowance", "write_grains"]

_HOMES = {
    "Quorum": "optin.releasing.deciding",
    "explain": "optin.announcement",
    "within_allowance": "optin.campaign.allowing",
    "adds_up": "optin.campaign.checking",
    "turnout": "optin.campaign.checking",
    "plan": "optin.campaign.planning",
    "write_grains": "optin.campaign.promises",
    **dict.fromkeys(("Naming", "announce", "answer", "cancel", "look", "prepare", "release"), "optin.campaign.steps"),
    "opened_act": "optin.campaign.versions",
    "with_seal_opened": "optin.campaign.versions",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - verbs; a plan without a ledger loads no database
    """Import a step when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'optin.campaign' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
