"""Announcing a plan a second time: everyone's budget is held by the first, so say that rather than that it is spent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from optin.errors import BadInput, BudgetSpent

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.ledger import Ledger
    from optin.planning import Plan


@contextmanager
def announced_once(plan: Plan, ledger: str, campaign: str | None) -> Iterator[None]:
    """Explain a refusal by the announcement that this very plan was made into before, if there is one."""
    try:
        yield
    except (BadInput, BudgetSpent):
        earlier = None if campaign is not None else _earlier(plan, ledger)
        if earlier is None:
            raise
    else:
        return
    offer, ended = earlier
    state = "its promises are held" if ended is None else "was released: its promises are spent"
    raise BudgetSpent(
        "this plan was announced already, as campaign {campaign}, round {round}, and {state}: to write that file again"
        " add --campaign {campaign} --round {round}; for another release plan again with --ledger",
        campaign=offer.campaign,
        round=offer.round,
        state=state,
    )


def held_words(offer: Announcement, ledger: Ledger) -> str:
    """Say what the ledger holds for an offer just written: asked again later, people may have declined or been charged."""
    from optin.campaign.history import how_it_ended, promises_held

    if how_it_ended(offer, ledger) == "release":
        return "this round was announced before and is released: its promises are spent or given back, and none is held"
    held = promises_held(offer, ledger)
    of_all = f"{held:,}" if held == offer.people else f"{held:,} of {offer.people:,}"
    return f"the ledger holds {of_all} promises"


def _earlier(plan: Plan, ledger: str) -> tuple[Announcement, str | None] | None:
    from optin.campaign.history import earlier_announcement
    from optin.cli.ledgers import ledger_exists, open_ledger

    if not ledger_exists(ledger):
        return None
    with open_ledger(ledger) as opened:
        return earlier_announcement(plan, opened)
