"""The public text of an act against the rows it wrote: what is published is what is promised and charged, to the last grain.

The ledger asks before it writes, and ``verify`` asks again of what is there: one rule, stated here.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from optin.announcement import Announcement
from optin.announcement.numbers import ExactSums
from optin.errors import BadInput, PromiseBroken
from optin.grains.exact_sums import QuestionSums
from optin.ledger.chain import GENESIS, Terms, Written
from optin.ledger.tallying import DesignTally
from optin.releasing.record import Release
from optin.releasing.sealed import SealedRelease


def announcement_in(body: str) -> Announcement | None:
    """Read the announcement that an act holds, if it holds one."""
    try:
        return Announcement.from_json(body)
    except (BadInput, TypeError, ValueError):
        return None


def release_in(body: str) -> Release | None:
    """Read the release that an act holds, if it holds one; which hash stands there is compared elsewhere."""
    try:
        return Release.from_sealed(body, GENESIS)
    except (BadInput, TypeError, ValueError):
        return None


def announcement_fault(offer: Announcement | None, terms: Terms, promised: Written) -> str | None:
    """Say how an announcement's text differs from what is held for people, if it does."""
    if offer is None:
        return "its text is no announcement"
    if Terms(offer.campaign, offer.round, offer.fingerprint) != terms:
        return "its text announces something else"
    if offer.sealed is None:
        return "its text lacks the sums that it is bound to"
    if promised.astray:
        return "it promises grains that do not follow from its shares"
    parts = promised.designs or (DesignTally(promised.people, promised.most, promised.questions),)
    if len(parts) != len(offer.parts) or not all(map(_sums_agree, offer.parts, parts)):
        return "the sums it announces are not those of its promises"
    above = any(part.most > own.largest_capped for own, part in zip(offer.parts, parts, strict=True))
    return "it promises someone more than it announces to anybody" if above else None


def _sums_agree(offer: Announcement, promised: DesignTally) -> bool:
    """Compare what is announced to everyone, or to one group, with what is promised."""
    sealed = offer.expect_sealed()
    told, tallied = map(_told, sealed.question_sums), map(_tallied, promised.questions)
    return (sealed.people, *told) == (promised.people, *tallied)


def release_fault(
    release: Release | None, result: str | None, terms: Terms, number: int, charged: Written
) -> str | None:
    """Say how a release's text differs from what was charged for it, if it does."""
    if release is None:
        return "its text is no release"
    offer = release.announcement
    if Terms(offer.campaign, offer.round, offer.fingerprint) != terms:
        return "its text releases another announcement"
    if (release.ledger_number, release.drawn_fingerprint) != (number, result):
        return "its text names another place or another fingerprint"
    return _charges_fault(release, charged)


def _charges_fault(release: Release, charged: Written) -> str | None:
    """Compare what a release says of its sums with its charges, question by question; a dropped one is charged to nobody."""
    if charged.astray:
        return "it charges grains that do not follow from its shares and the questions that people answered"
    parts = charged.designs or (DesignTally(charged.people, charged.most, charged.questions),)
    if release.sealed is None:
        return "its text lacks the sums that it is bound to"
    releases = tuple(release.sealed.groups.values()) if release.grouped else (release.sealed,)
    if len(parts) != len(releases):
        return "it charges in other groups than it releases"
    faults = (_part_fault(own, part) for own, part in zip(releases, parts, strict=True))
    fault = next((each for each in faults if each is not None), None)
    if fault is None and (release.joined_people, release.sealed.total_grains) != (charged.people, charged.grains):
        return "the sums it was drawn with are not those of its charges"
    return fault


def _part_fault(release: SealedRelease, charged: DesignTally) -> str | None:
    """Compare what is said of everyone, or of one group, with what they were charged."""
    questions = list(zip(release.question_people, release.question_sums, charged.questions, strict=True))
    if any(sums is None and tally.people for _, sums, tally in questions):
        return "it charges for a question that it does not release"
    same = all(
        sums is None or (people, *_told(sums)) == (tally.people, *_tallied(tally)) for people, sums, tally in questions
    )
    if not same or release.joined_people != charged.people:
        return "the sums it was drawn with are not those of its charges"
    return None


def _told(sums: ExactSums) -> tuple[int, int]:
    return sums.total_grains, sums.total_squared_grains


def _tallied(sums: QuestionSums) -> tuple[int, int]:
    return sums.grains, sums.squares


def expect_announced(offer: Announcement | None, terms: Terms, promised: Written, *, exact: bool) -> None:
    """Refuse to hold other promises than are announced, or to announce without noise as if there were some."""
    fault = announcement_fault(offer, terms, promised)
    if offer is not None and offer.noiseless and not exact:
        fault = fault or "its release would be exact, without noise, and it is not announced so (exact=True)"
    _expect_none("announced", fault)


def expect_released(drawn: tuple[str, str], offer: Row[Any], number: int, charged: Written) -> None:
    """Refuse to store a result that was drawn with other sums than are charged; campaigns compare them before they draw."""
    terms = Terms(offer.campaign, offer.round, offer.fingerprint)
    body, result = drawn
    _expect_none("released", release_fault(release_in(body), result, terms, number, charged))


def _expect_none(done: str, fault: str | None) -> None:
    if fault is not None:
        raise PromiseBroken(
            "this cannot be {done}: {fault}. Nothing was written; use `optin.campaign`, which agrees",
            done=done,
            fault=fault,
        )
