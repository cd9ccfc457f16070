"""Announcing a plan a second time: everyone's budget is held by the first, so say that rather than that it is spent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from optin.errors import BadInput, BudgetSpent

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.planning import Plan

__all__ = ["announced_once"]


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
    words = f"--campaign {earlier.campaign} --round {earlier.round}"
    raise BudgetSpent(
        f"this plan was announced already, as campaign {earlier.campaign}, round {earlier.round}, and its promises are held"
        f" or spent: to write that file again add {words}; for another release plan again with --ledger"
    )


def _earlier(plan: Plan, ledger: str) -> Announcement | None:
    """Find the newest announcement in a ledger that offers exactly what this plan does."""
    from optin.announcement import Announcement
    from optin.announcement.origin import differs_from_plan
    from optin.cli.ledgers import ledger_exists, open_ledger

    if not ledger_exists(ledger):
        return None
    with open_ledger(ledger) as opened:
        offers = [Announcement.from_json(body) for body in opened.offers()]
    return next((offer for offer in reversed(offers) if differs_from_plan(offer, plan) is None), None)
