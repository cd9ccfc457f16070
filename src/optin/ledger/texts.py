"""The public text of an act against the rows it wrote: what is published is what is promised and charged, to the last grain.

The ledger asks before it writes, and ``verify`` asks again of what is there: one rule, stated here.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from optin.announcement import Announcement
from optin.errors import BadInput, PromiseBroken
from optin.grains.arrays import Sums
from optin.ledger.chain import GENESIS, Terms
from optin.releasing.record import Release


def released_in(body: str, head: str) -> Release:
    """Read the release that an act holds; its text was sealed before its place in the chain had a hash."""
    return Release.from_sealed(body, head)


def announcement_in(body: str) -> Announcement | None:
    """Read the announcement that an act holds, if it holds one."""
    try:
        return Announcement.from_json(body)
    except (BadInput, TypeError, ValueError):
        return None


def announcement_fault(body: str, terms: Terms, promised: Sums, *, most: int) -> str | None:
    """Say how an announcement's text differs from what is held for people, if it does."""
    offer = announcement_in(body)
    if offer is None:
        return "its text is no announcement"
    if Terms(offer.campaign, offer.round, offer.fingerprint) != terms:
        return "its text announces something else"
    if (offer.people, offer.total_grains, offer.total_squared_grains) != _three(promised):
        return "the sums it announces are not those of its promises"
    return "it promises someone more than it announces to anybody" if most > offer.largest_promise else None


def release_fault(body: str, result: str | None, terms: Terms, number: int, charged: Sums) -> str | None:
    """Say how a release's text differs from what was charged for it, if it does."""
    try:
        release = released_in(body, GENESIS)  # which hash stands there is compared elsewhere
    except (BadInput, TypeError, ValueError):
        return "its text is no release"
    offer = release.announcement
    if Terms(offer.campaign, offer.round, offer.fingerprint) != terms:
        return "its text releases another announcement"
    if (release.ledger_number, release.drawn_fingerprint) != (number, result):
        return "its text names another place or another fingerprint"
    if (release.joined_people, release.total_grains, release.total_squared_grains) != _three(charged):
        return "the sums it was drawn with are not those of its charges"
    return None


def _three(found: Sums) -> tuple[int, int, int]:
    return found.people, found.grains, found.squares


def expect_announced(body: str, terms: Terms, promised: Sums, *, most: int, exact: bool) -> None:
    """Refuse to hold other promises than are announced, or to announce without noise as if there were some."""
    fault, offer = announcement_fault(body, terms, promised, most=most), announcement_in(body)
    if offer is not None and offer.noiseless and not exact:
        fault = fault or "its release would be exact, without noise, and it is not announced so (exact=True)"
    _expect_none("announced", fault)


def expect_released(drawn: tuple[str, str], offer: Row[Any], number: int, charged: Sums) -> None:
    """Refuse to store a result that was drawn with other sums than are charged; campaigns compare them before they draw."""
    terms = Terms(offer.campaign, offer.round, offer.fingerprint)
    _expect_none("released", release_fault(*drawn, terms, number, charged))


def _expect_none(done: str, fault: str | None) -> None:
    if fault is not None:
        raise PromiseBroken(
            "this cannot be {done}: {fault}. Nothing was written; use `optin.campaign`, which agrees",
            done=done,
            fault=fault,
        )
