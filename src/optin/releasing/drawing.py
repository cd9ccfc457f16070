"""E13, E17: draw a release over those who joined, in exact integers, after every decision is made.

What is decided (who is counted, whether the promises are the announced ones, whether the variance is kept) is decided
from limits, from who joined and from who answered what. Answers enter exact sums, the sums meet the noise, and only their
totals leave.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin._version import __version__
from optin.agents import Agents
from optin.announcement import Announcement
from optin.errors import Argument, BadInput
from optin.grains.arrays import Answers, Codes
from optin.grains.exact_sums import SheetSums
from optin.grains.people import People, Promises, people_of
from optin.participation import QuestionTurnout, check_table, check_unchanged, judged
from optin.questions import Sheet
from optin.releasing import noise
from optin.releasing.answered import Answered
from optin.releasing.deciding import Decision, Quorum, decide
from optin.releasing.record import Release, Versions

if TYPE_CHECKING:
    from optin.releasing.drawing_groups import MeasuredGroups


def release(
    announcement: Announcement,
    agents: Agents,
    answers: Any = None,  # noqa: ANN401 - a table of columns of any kind, or one column
    *,
    joined: ArrayLike | str | None = None,
    allow_no_noise: bool = False,
) -> Release:
    """Draw the one noisy result that an announcement allows; no ledger stands behind it (``charged`` is False).

    ``answers`` is a mapping or a table with a column for each question; for a sheet of one question, its values. ``joined`` is
    a boolean for each announced person (None: everyone). Where one question is asked its answer may be missing only where
    ``joined`` is false; of several, each is released over those who answered it. Numbers are clamped silently to the
    announced bounds. For people who stay in an engine, answers and ``joined`` are names of columns. Nothing here takes a
    seed. Calling twice spends twice: use ``optin.campaign.release`` with a ledger where that matters.

    >>> import optin
    >>> agents = optin.PrivacyConstrained([0.5] * 60 + [2.0] * 60)
    >>> offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    >>> release = optin.release(offer, agents, [0.0, 1.0] * 60)
    >>> release.charged, release.estimate in release.noise_interval(0.95)
    (False, True)
    """
    (drawn,) = releases(announcement, agents, answers, joined=joined, allow_no_noise=allow_no_noise, count=1)
    return drawn


def releases(
    announcement: Announcement,
    agents: Agents,
    answers: Any,  # noqa: ANN401
    *,
    joined: ArrayLike | str | None = None,
    allow_no_noise: bool = False,
    count: int,
) -> Iterator[Release]:
    """Draw ``count`` independent releases along the one production path: for audits, which need many.

    Each of them would cost everyone their promise again. Only totals are handed out; the exact sums stay inside.
    """
    measured = measure(announcement, agents, answers, joined=joined, allow_no_noise=allow_no_noise)
    for noises in measured.noises(count):
        yield measured.hidden_by(noises)


def measure(
    announcement: Announcement,
    agents: Agents,
    answers: Any,  # noqa: ANN401
    *,
    joined: Answers = None,
    allow_no_noise: bool = False,
    quorum: Quorum | None = None,
) -> Measured | MeasuredGroups:
    """Make every decision, then the exact sums, and draw nothing yet.

    Everything is decided from who joined and who answered what: first from their sums, before an answer is added up; then,
    where a gap is reckoned with, from the tilt of their weights, which is found together with the sums of answers.
    """
    people = people_of(agents)
    people.expect_columns(answers, joined, announcement.sheet)
    check_noise(announcement, allowed=allow_no_noise)
    check_table(announcement, agents)
    present = people.answers(joined, announced=announcement.people)
    coded = Coded(people, answers, announcement.sheet)
    if announcement.grouped:
        return _measure_groups(announcement, agents, coded, joined=present, quorum=quorum)
    promises = announcement.promises(agents)
    came = judged(announcement, promises, present, coded.skips)
    decision = decide(announcement, came, quorum)
    measured = added_up(announcement, promises, coded.codes, decision=decision, joined=present)
    source = promises.spent(present, coded.skips, measured.decision.released)
    return replace(measured, grain_source=source)


def _measure_groups(
    announcement: Announcement, agents: Agents, coded: Coded, *, joined: Answers, quorum: Quorum | None
) -> MeasuredGroups:
    from optin.releasing.drawing_groups import add_up_groups, decide_by_group

    promises = announcement.promises_by_group(agents)
    decision = decide_by_group(announcement, promises, joined, coded.skips, quorum=quorum)
    measured = add_up_groups(announcement, promises, coded.codes, decision=decision, joined=joined)
    source = promises.spent(joined, coded.skips, measured.decision.released)
    return replace(measured, grain_source=source)


@dataclass(frozen=True)
class Coded:
    """Answers, put into codes when they are first needed: of several questions to see who skipped one (E28).

    Whoever joins answers an only question, so that its answers are not looked at before everything is decided.
    """

    people: People
    answers: Any = field(repr=False)
    sheet: Sheet

    @functools.cached_property
    def codes(self) -> Codes:
        """Return the codes of every question."""
        return self.people.codes(self.answers, self.sheet)

    @property
    def skips(self) -> Codes:
        """Return them where they say who skipped a question, and None where there is one."""
        return None if len(self.sheet) == 1 else self.codes


def added_up(
    announcement: Announcement,
    promises: Promises,
    codes: Codes,
    *,
    decision: Decision,
    joined: Answers,
) -> Measured:
    """Make the exact sums over those who came, and the tilt of their weights, in one read; then decide what waited for it.

    Promises that differ from those decided on are refused. Where everyone answers an only question, the tilt is the announced
    one.
    """
    bars = () if joined is None and len(announcement.sheet) == 1 else decision.came.bars
    those = promises.weighed(announcement.sheet.questions, codes, joined=joined, bars=bars)
    check_unchanged(decision.came, those)
    if bars:
        decision = decision.knowing(announcement, tuple(each.above for each in those.questions))
    return Measured(announcement, decision, those, versions_of(noiseless=announcement.noiseless))


@dataclass(frozen=True)
class Measured:
    """A release that lacks only its noise; the exact sums inside are private, and shown nowhere."""

    announcement: Announcement
    decision: Decision
    those: SheetSums = field(repr=False)
    versions: Versions
    grain_source: Callable[[], NDArray[np.int64]] | None = field(default=None, repr=False)

    @property
    def marks(self) -> int:
        """What stands for who was promised and answered what."""
        return self.those.marks

    @property
    def _exact(self) -> list[tuple[int, ...]]:
        """List the exact integers of each question that is published; an announcement of version 1 knows one."""
        first = 1 if self.announcement.version == 1 else None
        questions = zip(self.those.questions, self.decision.dropped, strict=True)
        return [() if why else sums.cells[:first] for sums, why in questions]

    @property
    def size(self) -> int:
        """Return how many integers are published."""
        return sum(map(len, self._exact))

    def draw(self, count: int) -> list[int]:
        """Draw so much noise; none where everyone who counts set no limit."""
        return [0] * count if self.announcement.noiseless else noise.draw(count)

    def noises(self, count: int) -> Iterator[list[int]]:
        """Draw the noise of so many releases: one draw for each published integer."""
        size = self.size
        drawn = self.draw(count * size)
        return (drawn[start : start + size] for start in range(0, count * size, size))

    def drawn(self) -> Release:
        """Draw the noise, once; nothing is checked from here on, so that no draw is thrown away."""
        (noises,) = self.noises(1)
        return self.hidden_by(noises)

    def hidden_by(self, noises: list[int]) -> Release:
        """Add the noise, and keep apart what the public is not told."""
        return self.exactly(noises).as_published()

    def exactly(self, noises: list[int]) -> Release:
        """Add the noise; from here on nothing depends on the values but the totals."""
        left = iter(noises)
        totals = [tuple(exact + next(left) for exact in cells) for cells in self._exact]
        questions = zip(self.decision.came.questions, self.decision.dropped, totals, strict=True)
        answered = tuple(_answered(each, why, noisy) for each, why, noisy in questions)
        people = self.decision.came.people
        return Release(self.announcement, people, answered, self.versions, grain_source=self.grain_source)


def _answered(came: QuestionTurnout, why_dropped: str, noisy: tuple[int, ...]) -> Answered:
    if why_dropped:
        return Answered(came.people, dropped=why_dropped)
    assert came.tilt is not None  # noqa: S101 - the announced one, or `added_up` looked at it
    return Answered(came.people, came.tilt, came.sums, noisy)


def check_noise(announcement: Announcement, *, allowed: bool) -> None:
    """Certify that the noise covers the largest promise, or that its absence was asked for."""
    if not announcement.noiseless:
        noise.check_loss(announcement.largest_promise)
    elif not allowed:
        raise BadInput(
            "nobody who counts here set a limit, so this release would be exact, without any noise: add {exact} if that"
            " is meant",
            exact=Argument("allow_no_noise", True),
        )


@functools.cache
def versions_of(*, noiseless: bool) -> Versions:
    """Say what draws."""
    mechanism = "none: exact" if noiseless else noise.MECHANISM
    return Versions(optin=__version__, opendp=noise.opendp_version(), mechanism=mechanism)
