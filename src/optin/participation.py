"""E12: who joined, and what that leaves.

Promises are frozen by the announcement. Whoever stays away takes their grains with them; the others keep theirs, and
the weights are renormalised over them, so that nobody's loss grows and the estimate stays a weighted mean. Everything
here is decided from limits and from who joined: no function in this module is ever given a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents
from optin.announcement.exact import exact_variance, promised_accuracy
from optin.announcement.making import bars, tilt_of
from optin.announcement.numbers import ExactSums
from optin.announcement.offer import Announcement
from optin.announcement.one_question import told_spending, told_tilt
from optin.announcement.terms import QUASI_LINEAR
from optin.errors import Argument, BadInput, PromiseBroken
from optin.grains.arrays import Answers, Codes
from optin.grains.exact_sums import SheetSums
from optin.grains.people import Promises, people_of
from optin.kernel.noise import variance
from optin.kernel.rounding import nearest
from optin.planning import Plan
from optin.planning.by_rank import given_by_rank, tilt_between
from optin.wording.records import Brief, Listed

__all__ = [
    "Absence",
    "Turnout",
    "check_promise",
    "check_table",
    "check_tilts",
    "check_unchanged",
    "judged",
    "renormalised_weights",
    "tilted",
    "turnout",
    "without",
]

CHANGED = (
    "limits or answers were changed while they were read, so that weights could be others than those promised. Nothing was"
    " drawn or charged: let the table rest, then try again"
)


@dataclass(frozen=True)
class QuestionTurnout:
    """Who answered one question, in sums; ``promised`` counts those among them who give anything for it."""

    people: int
    promised: int
    sums: ExactSums
    variance: float
    half_width: float
    """Half of the 95 % interval that these sums lead to, as far as the public is told of them: what ± means.

    It is without a gap's part as long as the tilt is not known."""
    tilt: float | None = None
    """The tilt of the weights (E15); None where it was not looked at."""

    @property
    def standard_error(self) -> float:
        """Return the root of the variance that remains."""
        return math.sqrt(self.variance)


@dataclass(frozen=True, repr=False)
class Turnout(Listed):
    """Who came, in sums: public, and enough to decide whether a release may go ahead.

    ``promised`` counts those among them who are promised anything.
    """

    announced: int
    people: int
    promised: int
    questions: tuple[QuestionTurnout, ...]

    @property
    def only(self) -> QuestionTurnout:
        """Return who answered the one question there is."""
        (only,) = self.questions
        return only

    @property
    def total_grains(self) -> int:
        """Return what those who came give for what they answered."""
        return sum(each.sums.total_grains for each in self.questions)

    @property
    def total_squared_grains(self) -> int:
        """Return the sum of squares, where there is one question."""
        return self.only.sums.total_squared_grains

    @property
    def bars(self) -> tuple[int, ...]:
        """Return an equal share of what is given for each question, in grains: whoever gives more, tilts (E15)."""
        return bars(tuple(each.sums.total_grains for each in self.questions), self.announced)

    @property
    def tilt(self) -> float | None:
        """Return the tilt of the weights, the largest over the questions (E15); None where it was not looked at."""
        return max((each.tilt for each in self.questions if each.tilt is not None), default=None)

    @property
    def variance(self) -> float:
        """Return the variance that remains, where there is one question."""
        return self.only.variance

    @property
    def standard_error(self) -> float:
        """Return the root of the variance that remains, where there is one question."""
        return self.only.standard_error


def turnout(
    announcement: Announcement,
    agents: Agents,
    joined: ArrayLike | str | None = None,
    *,
    answers: Any = None,  # noqa: ANN401 - a table of columns of any kind
) -> Turnout:
    """Add up what those who joined are promised, after checking that these are the people announced.

    ``joined`` is a boolean for each announced person, in an engine the name of their column; None means everyone. With
    ``answers`` each question counts those who answered it.
    """
    check_table(announcement, agents)
    people = people_of(agents)
    present = people.answers(joined, announced=announcement.people)
    codes = None if answers is None else people.codes(answers, announcement.sheet)
    promises = announcement.promises(agents)
    came = judged(announcement, promises, present, codes)
    return came if came.tilt is not None else tilted(announcement, came, promises.sums_above(came.bars, present, codes))


def judged(announcement: Announcement, promises: Promises, joined: Answers, codes: Codes = None) -> Turnout:
    """Add up promises, and judge the sums: the announced people, at least one grain, the promised variance (E12, E28).

    ``codes`` say who skipped a question; None where there is one, whose missing answers are refused later. The tilt is told
    where it is the announced one; else it is left to the next look at the people, for it needs these sums (`tilted`).
    """
    came = counted(announcement, *promises.sums(joined=joined, codes=codes), all_came=joined is None and codes is None)
    if came.total_grains == 0:
        raise PromiseBroken("nobody joined who answered anything and is promised a grain: there is nothing to release")
    check_promise(announcement, came)
    return came


def counted(announcement: Announcement, everyone: SheetSums, those: SheetSums, *, all_came: bool) -> Turnout:
    """Say who came, of the people announced or of one group of them; ``whole`` says that everyone answers everything."""
    check_announced(announcement, everyone)
    announced = announcement.expect_sealed()
    came = Turnout(
        announced=announcement.expect_sealed().people,
        people=those.people,
        promised=those.promised,
        questions=_answered(announcement, those),
    )
    return _with_tilts(announcement, came, (announced.tilt,) * len(announcement.sheet)) if all_came else came


def tilted(announcement: Announcement, came: Turnout, above: tuple[tuple[int, int], ...]) -> Turnout:
    """State tilts that were not known, given for each question how many gave more than ``came.bars``, and how much together."""
    return _with_tilts(announcement, came, _tilts(came, above))


def check_tilts(came: Turnout, above: tuple[tuple[int, int], ...]) -> None:
    """Refuse people whose weights are tilted otherwise than those of whom the same sums were found before."""
    if tuple(each.tilt for each in came.questions) != _tilts(came, above):
        raise PromiseBroken(CHANGED)


def _tilts(came: Turnout, above: tuple[tuple[int, int], ...]) -> tuple[float, ...]:
    pairs = zip(came.questions, above, strict=True)
    return tuple(tilt_of(*each, total_grains=own.sums.total_grains, people=came.announced) for own, each in pairs)


def _with_tilts(announcement: Announcement, came: Turnout, tilts: tuple[float, ...]) -> Turnout:
    """State the tilts, and add a gap's part to every ±."""
    questions = zip(announcement.sheet, came.questions, tilts, strict=True)
    return replace(
        came,
        questions=tuple(
            replace(own, tilt=tilt, half_width=own.half_width + question.max_gap * told_tilt(announcement, tilt))
            for question, own, tilt in questions
        ),
    )


def _answered(announcement: Announcement, those: SheetSums) -> tuple[QuestionTurnout, ...]:
    """State what is left of each question: its variance and ±, both from grains."""
    turnouts = []
    for place, (question, sums) in enumerate(zip(announcement.sheet, those.questions, strict=True)):
        exact, variance, half = ExactSums(sums.grains, sums.squares), math.inf, math.inf
        if sums.grains > 0:
            variance = nearest(exact_variance(question, exact, noiseless=announcement.noiseless))
            half = question.half_width(0.05, told_spending(announcement, place, exact, sums.people))
        turnouts.append(QuestionTurnout(sums.people, sums.promised, exact, variance, half))
    return tuple(turnouts)


def renormalised_weights(
    announcement: Announcement, agents: Agents, joined: ArrayLike | None = None
) -> NDArray[np.float64]:
    """List the weights of a release over those who joined: grains over their sum, zero for the others (E12)."""
    present = people_of(agents.in_memory()).answers(joined, announced=announcement.people)
    grains = announcement.grains(agents).astype(np.float64)
    if present is not None:
        grains *= present
    weights: NDArray[np.float64] = grains / grains.sum()
    return weights


def check_table(announcement: Announcement, agents: Agents) -> None:
    """Refuse a table of another length before anything is computed from it."""
    if len(agents) != announcement.people:
        raise PromiseBroken(
            "{announced} people were announced, {given} are given: use the announced table, and {joined} for those who"
            " stayed away",
            announced=announcement.people,
            given=len(agents),
            joined=Argument("joined"),
            other_people=True,
        )


def check_announced(announcement: Announcement, everyone: SheetSums) -> None:
    """Refuse other people, and limits edited since the announcement: the exact integer sums would differ."""
    sums = tuple(ExactSums(each.grains, each.squares) for each in everyone.questions)
    if sums != announcement.expect_sealed().question_sums or everyone.people != announcement.expect_sealed().people:
        raise PromiseBroken(
            "these are not the promises that were announced: a limit was changed or the people are others, or in another"
            " group. Use the announced table, or plan and announce a new round",
            other_people=True,
        )


def check_promise(announcement: Announcement, came: Turnout) -> None:
    """Refuse a turnout that leaves more variance than quasi-linear people were promised, in exact arithmetic."""
    if announcement.model != QUASI_LINEAR or announcement.promised_variance is None:
        return
    sums = [each.sums for each in came.questions]
    if not all(each.total_grains for each in sums) or promised_accuracy(
        announcement.sheet, sums, noiseless=announcement.noiseless
    ) > Fraction(announcement.promised_variance):
        raise PromiseBroken(
            "too few joined: the variance that remains is above the one promised, so this round is void. Cancel it"
            " to give promises back, then plan and announce a new round, with more slack"
        )


def check_unchanged(came: Turnout, those: SheetSums) -> None:
    """Refuse what was added up after the decision if it is not what was decided on, to the last grain."""
    decided = [(each.people, each.promised, each.sums) for each in came.questions]
    present = [(each.people, each.promised, ExactSums(each.grains, each.squares)) for each in those.questions]
    if (those.people, those.promised, present) != (came.people, came.promised, decided):
        raise PromiseBroken(CHANGED)


@dataclass(frozen=True, repr=False)
class Absence(Brief):
    """What a plan would be left with if some people stayed away: who, how many, the variance, and whether that is kept."""

    who: str
    people: int
    variance: float
    promise_kept: bool
    bias_bound: float = 0.0
    """The largest bias at the planned gap (E15): those who are gone may differ by as much, and count for nothing."""

    @property
    def standard_error(self) -> float:
        """Return the root of the variance that would remain."""
        return math.sqrt(self.variance)

    @property
    def worst_case_error(self) -> float:
        """Return the root of variance + bias_bound^2."""
        return math.sqrt(self.variance + self.bias_bound**2)

    def effective_people(self, data_variance: float) -> float:
        """Return how many people would be as accurate without noise, for answers of this variance."""
        return data_variance / self.variance if self.variance > 0 else math.inf


def without(plan: Plan, agents: Agents, *, share: float) -> tuple[Absence, Absence, Absence]:
    """Foresee what promises, once frozen, leave if a share of people declines: anyone, the strictest, the most willing (E12).

    For anyone the sums are taken at their average, which for more than a few people is what happens. Of several questions the
    variance is that of the least accurate, in declared variances (E18).

    >>> import optin
    >>> people = optin.PrivacyConstrained([1, 4, 9, 9])
    >>> [round(1 / a.variance, 3) for a in without(optin.plan(people, bounds=(0, 1)), people, share=0.25)]
    [8.691, 10.595, 8.0]
    """
    if not 0.0 < share < 1.0:
        raise BadInput("a share of people lies between 0 and 100 %, both left out")
    people = len(agents)
    away = math.ceil(share * people - 1e-9)
    given = given_by_rank(plan, agents)

    def left(who: str, first: int, last: int, stays: float = 1.0) -> Absence:
        those = given.between(first, last, math.inf)
        total, squares = stays * those.total, stays * those.squares
        variance = _variance_left(plan, total, squares) if total > 0 else math.inf
        promised, gap = plan.promised_variance, plan.max_gap if len(plan.sheet) == 1 else 0.0
        bias = gap * tilt_between(given, first, last, stays) if gap > 0 else 0.0
        return Absence(who, away, variance, promised is None or variance <= promised, bias)

    return (
        left("anyone", 0, people, (people - away) / people),
        left("the strictest", away, people),
        left("the most willing", 0, people - away),
    )


def _variance_left(plan: Plan, total: float, squares: float) -> float:
    """Return the variance that frozen promises of these sums leave; of questions that differ in importance, the largest v."""
    if not plan.asked.one_cap or plan.noiseless:
        return plan.variance_left(total, squares)
    shares = zip(plan.sheet, plan.designs[0].shares, strict=True)
    return max(variance(1.0, squares, total, question.price / share**2) for question, share in shares)
