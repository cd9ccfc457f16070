"""What is published of a sheet: decided from who joined, who answered and what they were promised, never from a value (E28).

A question that too few answered, or whose ± would be above what was stated beforehand, is dropped alone: nothing is
published of it and nobody is charged for it. Where nothing is left, the release is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optin.announcement import Announcement
from optin.announcement.terms import QUASI_LINEAR, expect_one_question
from optin.errors import BadInput, PromiseBroken
from optin.grains.batches import Passed
from optin.participation import QuestionTurnout, Turnout, check_promise, check_tilts, check_unchanged, tilted
from optin.questions import Question
from optin.wording.language import N_
from optin.wording.records import Brief

PEOPLE, ERROR = "people", "error"
"""Why a question is dropped: too few answered it, or its ± would be larger than was stated beforehand."""
NOBODY, NOTHING, PROMISE = "nobody", "nothing", "promise"
"""Why a group is withheld: none of its people joined, none of them allows anything, or a promise to them would be broken."""
WHY = {
    PEOPLE: N_("too few people answered it"),
    ERROR: N_("its ± would be above the largest that was stated beforehand"),
    NOBODY: N_("nobody in this group who allows anything joined"),
    NOTHING: N_("nobody in this group allows anything"),
    PROMISE: N_("too few joined for the accuracy that people were promised"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Quorum(Brief):
    """When a release is worth its price: at least so many people promised anything, at most such a standard error.

    Both are decided by who joined and what they were promised, never by a value. In a sheet of several questions, people
    are counted for each question; a standard error is asked for by ``max_error`` of a question.
    """

    people: int = 1
    standard_error: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what cannot be compared: no turnout is below NaN, so any would pass."""
        if isinstance(self.people, bool) or not isinstance(self.people, (int, np.integer)):
            raise BadInput("the quorum's people must be a whole number")
        if not isinstance(self.standard_error, (float, int)) or not self.standard_error >= 0:
            raise BadInput("the quorum's standard error must be a number of 0 or more")

    def expect_meant(self, questions: int) -> None:
        """Refuse a standard error for several questions: each has its own, and nobody would know which is meant."""
        if math.isfinite(self.standard_error):
            expect_one_question(questions)

    def expect(self, came: Turnout) -> None:
        """Refuse a turnout below the quorum; nobody is charged then."""
        most = max(each.promised for each in came.questions)
        promised = came.promised if len(came.questions) == 1 else most
        if promised < self.people:
            raise PromiseBroken(
                "{promised:,} of those who joined count and the quorum is {people:,} (who has nothing to give does"
                " not count); wait for more answers, or cancel",
                promised=promised,
                people=self.people,
            )
        self.expect_meant(len(came.questions))
        if math.isfinite(self.standard_error) and not came.standard_error <= self.standard_error:
            raise PromiseBroken(
                "the standard error would be {standard_error:.6g} and the quorum allows {allowed:.6g}; wait"
                " for more answers, or cancel",
                standard_error=came.standard_error,
                allowed=self.standard_error,
            )


def stated_quorum(announcement: Announcement) -> Quorum:
    """Return the quorum that people were told of: nobody may release below it."""
    stated = announcement.terms.conditions
    error = math.inf if stated.quorum_error is None else stated.quorum_error
    return Quorum(people=1 if stated.quorum_people is None else stated.quorum_people, standard_error=error)


@dataclass(frozen=True)
class Decision:
    """Who came, and for each question why it is dropped, or nothing.

    A ± that a gap between cautious and open people adds to is not held against a question before the tilt is known.
    """

    came: Turnout
    dropped: tuple[str, ...]
    quorum: Quorum | None = None
    of_group: bool = False

    @property
    def released(self) -> int:
        """Return the number in which the bit of every question is set that is published."""
        return sum(1 << place for place, why in enumerate(self.dropped) if not why)

    @property
    def people(self) -> int:
        """Return how many people joined."""
        return self.came.people

    @property
    def charged(self) -> int:
        """Return what they are charged, for the questions that are published."""
        questions = zip(self.came.questions, self.dropped, strict=True)
        return sum(each.sums.total_grains for each, why in questions if not why)

    @property
    def bars(self) -> tuple[int, ...]:
        """Return an equal share of what is given for each question: whoever gives more, tilts (E15)."""
        return self.came.bars

    def expect_unchanged(self, passed: Passed) -> None:
        """Refuse what went by if it is not what was decided on."""
        check_unchanged(self.came, passed.those)

    def knowing(self, announcement: Announcement, above: tuple[tuple[int, int], ...]) -> Decision:
        """Decide again once it is known what is above the bars; where it was known before, it must be the same."""
        if self.came.tilt is None:
            again = decide_in_group if self.of_group else decide
            return again(announcement, tilted(announcement, self.came, above), self.quorum)
        check_tilts(self.came, above)
        return self

    def waits(self, announcement: Announcement) -> bool:
        """Say whether a question may still be dropped once the tilt is known."""
        questions = zip(announcement.sheet, self.came.questions, strict=True)
        return any(question.max_error is not None and _waits(question, each) for question, each in questions)


def decide(announcement: Announcement, came: Turnout, quorum: Quorum | None = None) -> Decision:
    """Decide what is published; refuse where nothing would be left."""
    return Decision(came, decided(announcement, came, quorum), quorum)


def decide_in_group(announcement: Announcement, came: Turnout, quorum: Quorum | None = None) -> Decision:
    """Decide what is published of one group: where nothing is, it is withheld alone, and its people are not charged."""
    many = len(came.questions)
    reason = _why_withheld(announcement, came)
    if reason:
        return Decision(came, (reason,) * many, quorum, of_group=True)
    asked = (quorum or Quorum(), stated_quorum(announcement))
    for each in asked:
        each.expect_meant(many)
    questions = zip(announcement.sheet, came.questions, strict=True)
    dropped = tuple(_why_dropped(question, each, _least(announcement, asked)) for question, each in questions)
    if many == 1 and not dropped[0] and came.standard_error > min(each.standard_error for each in asked):
        dropped = (ERROR,)
    if any(dropped) and announcement.model == QUASI_LINEAR:
        dropped = (PROMISE,) * many
    return Decision(came, dropped, quorum, of_group=True)


def _why_withheld(announcement: Announcement, came: Turnout) -> str:
    """Say why nothing of a group can be published, whatever the questions."""
    if announcement.public.empty:
        return NOTHING
    if came.total_grains == 0:
        return NOBODY
    try:
        check_promise(announcement, came)
    except PromiseBroken:
        return PROMISE
    return ""


def _least(announcement: Announcement, asked: Sequence[Quorum]) -> int:
    """Return how many people must answer: those of the quorum, and of what was announced."""
    return max(1, *(each.people for each in asked), announcement.terms.conditions.min_people or 0)


def decided(announcement: Announcement, came: Turnout, quorum: Quorum | None = None) -> tuple[str, ...]:
    """Say of each question why it is dropped, or nothing where it is published; refuse where nothing would be left."""
    asked = (quorum or Quorum(), stated_quorum(announcement))
    for each in asked:
        each.expect(came)
    if len(came.questions) == 1:
        _expect_accuracy(announcement.sheet.questions[0], came.only)
        return ("",)
    questions = zip(announcement.sheet, came.questions, strict=True)
    dropped = tuple(_why_dropped(question, each, _least(announcement, asked)) for question, each in questions)
    if all(dropped) or (any(dropped) and announcement.model == QUASI_LINEAR):
        raise PromiseBroken(
            'question "{question}" could not be published: {why}, and {whole}; wait for more answers, or cancel',
            question=next(question.name for question, why in zip(announcement.sheet, dropped, strict=True) if why),
            why=WHY[next(filter(None, dropped))],
            whole="nothing would be left" if all(dropped) else "people were promised the accuracy of all questions",
        )
    return dropped


def _why_dropped(question: Question, came: QuestionTurnout, least: int) -> str:
    if came.promised < least:
        return PEOPLE
    return ERROR if _too_wide(question, came) else ""


def _waits(question: Question, came: QuestionTurnout) -> bool:
    """Say whether the ± of a question is not known yet, for want of the tilt."""
    return question.max_gap > 0 and came.tilt is None


def _too_wide(question: Question, came: QuestionTurnout) -> bool:
    """Say whether it is known that the ± would be larger than was stated."""
    return question.max_error is not None and not _waits(question, came) and came.half_width > question.max_error


def _expect_accuracy(question: Question, came: QuestionTurnout) -> None:
    """Refuse the one question of a sheet where its ± would be larger than was stated."""
    if question.max_error is not None and _too_wide(question, came):
        raise PromiseBroken(
            "the 95 % interval would be {half} and at most {allowed} was stated beforehand; wait for more answers, or"
            " cancel",
            half=question.plus_minus(came.half_width),
            allowed=question.plus_minus(question.max_error),
        )
