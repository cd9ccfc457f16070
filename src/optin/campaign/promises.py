"""Everyone's grains in one private Parquet file: what was promised, or what a release took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.announcement import Announcement
from optin.announcement.numbers import ExactSums
from optin.campaign.checking import terms_of
from optin.campaign.known import Known
from optin.errors import PromiseBroken
from optin.formats.atomic import AtomicWrite
from optin.grains.exact_sums import SheetSums
from optin.grains.people import people_of
from optin.ledger import Ledger
from optin.participation import check_table
from optin.releasing import Release


def write_grains(
    announcement: Announcement,
    people: Agents,
    path: str | Path,
    *,
    joined: ArrayLike | str | None = None,
    ledger: Ledger | None = None,
    answers: Any = None,  # noqa: ANN401 - a table of columns of any kind
    release: Release | None = None,
) -> None:
    """Write id and grains of each announced person to Parquet (mode 0600): their promise, 0 for those who did not join.

    With a ``release`` of several questions, and the ``answers`` it was drawn over, it is what that took of each; answers
    whose sums are not those of the release are refused, for they say nothing about what it took.

    Of people who stay in an engine the engine writes them: no row passes through here. ``joined`` and ``ledger`` mean what
    they mean for `release`; without ``joined`` everyone's promise is written, without those who declined.
    """
    check_table(announcement, people)
    members, known = people_of(people), None if ledger is None else Known(ledger, terms_of(announcement))
    present = members.answers(joined, announced=announcement.people)
    promised = members if known is None else people_of(members.as_promised(known))
    if present is None and known is not None:
        present = promised.standing(known)
    split = release is not None and (announcement.grouped or len(announcement.sheet) > 1)
    codes = promised.codes(answers, announcement.sheet) if split else None
    released = None
    if release is not None and split:
        released = tuple(part.released for part in release.parts) if release.grouped else release.released
        lowered = people if known is None else members.as_promised(known)
        skips = codes if len(announcement.sheet) > 1 else None
        sums = announcement.promises_by_group(lowered).sums(joined=present, codes=skips)
        releases = tuple(release.groups.values()) if release.grouped else (release,)
        for each, (_, those) in zip(releases, sums, strict=True):
            _expect_charged(each, those)
    with AtomicWrite(path, private=True) as file:
        file.write_by(lambda draft: promised.write_grains(announcement, present, draft, codes=codes, released=released))
    promised.expect_unchanged()


def _expect_charged(release: Release, those: SheetSums) -> None:
    """Refuse answers that a release was not drawn over: other people gave them, or gave other amounts."""
    given = [(each.people, ExactSums(each.grains, each.squares)) for each in those.questions]
    exact = release.expect_sealed().answered
    told = [(each.people, each.sums) for each in exact]
    questions = zip(exact, told, given, strict=True)
    if any(not each.dropped and mine != theirs for each, mine, theirs in questions):
        raise PromiseBroken(
            "these are not the answers that the release was drawn over, so what it took of each person does not follow from"
            " them; give the table it was drawn over, or write receipts, which the ledger knows"
        )
