"""How large a study must be, before anyone is asked: what a sheet would give so many people with such limits.

Counting everyone is not needed: n people of whom each limit has its part solve E1 as a few of them do at a price n times
smaller, so any number of people costs what a few cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from numpy.typing import ArrayLike

from optin.errors import BadInput
from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.optimum import tilt_of
from optin.kernel.passes import ArrayLimits
from optin.kernel.pieces import Array
from optin.kernel.sharing import Demand, share_out
from optin.planning.apart import POWER_LEVEL, Apart, apart_from
from optin.planning.asked import as_sheet
from optin.planning.assumed import MOST_PEOPLE, few_limits, group_sizes
from optin.planning.merging import Merging, addable
from optin.planning.units import check_sds, relative_gap
from optin.questions import Question, Sheet
from optin.questions.sheet import question_named
from optin.questions.spending import CombinedSpending, Spending
from optin.wording.amounts import plus_minus_of
from optin.wording.numbers import people_like
from optin.wording.records import Listed
from optin.wording.telling import Telling, Told

Verdict = Literal["good", "poor", "useless"]

GOOD, POOR = 0.2, 0.5
"""A verdict is ± over the sd of an answer: up to a fifth is good, up to a half is poor. Of a proportion: ± 10 and ± 25 points."""
_ERROR = 0.05


@dataclass(frozen=True, repr=False)
class SizedQuestion(Listed):
    """What one question would give: ± and a verdict, and what it takes from the others."""

    name: str
    kind: str
    epsilon_share: float
    effective_people: float
    half_width: float
    verdict: Verdict
    people_needed: int | None
    """How many people would make it good, everything else unchanged; None: more than 10^9."""
    effective_without: float | None
    """The effective people of the others, had this question not been asked; None for an only question."""
    apart: Apart = field(default=Apart(None, None), repr=False)
    """Two numbers that a result will tell apart, and two that it will not (E31)."""
    across: AcrossSize | None = None
    """What groups would give together; None without groups."""
    proportion: bool = field(default=False, repr=False)
    unit: str = field(default="", repr=False)

    @property
    def plus_minus(self) -> str:
        """± in points of a hundred, or in the unit of the answers."""
        return plus_minus_of(self.half_width, proportion=self.proportion, unit=self.unit)


@dataclass(frozen=True)
class AcrossSize:
    """± of what groups give together (E27): the difference of the two smallest, the whole put together, and without groups."""

    difference: float
    whole: float
    ungrouped: float


@dataclass(frozen=True)
class GroupSize:
    """What groups of one size would give: ± and a verdict for each question, in their order."""

    people: int
    groups: int
    half_widths: tuple[float, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, repr=False)
class Size(Told):
    """What a sheet would give, question by question; where groups differ in size, ± and verdicts are those of the smallest."""

    people: int
    groups: int
    limits: str
    questions: tuple[SizedQuestion, ...]
    sizes: tuple[GroupSize, ...] = ()
    """What groups of each size would give, the largest first; none without groups."""
    merging: tuple[Merging, ...] = ()
    """What it would give if questions that can be added up were asked as one score."""

    def telling(self) -> Telling:
        """Say ± and a verdict for each question."""
        rows = tuple(
            (each.name, each.kind, each.plus_minus, people_like(each.effective_people), each.verdict)
            for each in self.questions
        )
        whom = f"{self.people:,}" + (f" in {self.groups} groups" if self.groups > 1 else "")
        head = ("question", "kind", "95 % interval", "as accurate as", "verdict")
        merged = tuple(
            ("as one score", f"{', '.join(each.questions)}: {people_like(each.effective_sheet)}, {each.verdict}")
            for each in self.merging
        )
        return Telling("Size", (("people", whom), ("limits", self.limits), *merged), head, rows, more="size[name]")

    def __getitem__(self, name: str) -> SizedQuestion:
        return question_named(self.questions, name)


def size(
    sheet: Sheet | Sequence[Question] | Question,
    *,
    people: int,
    limits: str | float | ArrayLike = "mixed",
    groups: int | Sequence[int] = 1,
) -> Size:
    """Say what a sheet would give before anyone is asked: ±, a verdict and the people needed for each question.

    ``limits`` is "careful", "mixed" or "open", one number for everyone, or earlier people's limits. ``groups`` divides people
    into as many groups of one size, or into groups of these sizes, each with its own results; then it also says how far a
    difference of two groups, and the whole put together from them, may be off. A verdict compares ± with the sd of an
    answer: up to a fifth is good, up to a half poor, more is useless (for a proportion: ± 10 points, ± 25 points).

    >>> import optin
    >>> sized = optin.size([optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9)], people=2000)
    >>> [(q.name, round(q.half_width, 3), q.verdict) for q in sized.questions]
    [('break', 0.032, 'good'), ('hours', 0.638, 'good')]
    """
    asked = as_sheet(sheet)
    check_sds(asked)
    few, words = few_limits(limits)
    sizes = group_sizes(people, groups)
    solve, questions = _Solver(few), tuple(asked)
    given = {size: solve(questions, size) for size in sorted({*sizes, float(people)}, reverse=True)}
    smallest = min(sizes)
    first = {_asked_of(question): place for place, question in reversed(tuple(enumerate(questions)))}
    alike = {
        key: _sized(solve, questions, place, smallest, people / smallest, given[smallest][place])
        for key, place in sorted(first.items(), key=lambda item: item[1])
    }
    sized = tuple(replace(alike[_asked_of(question)], name=question.name, unit=question.unit) for question in questions)
    merging = tuple(_merging(solve, questions, smallest, min(each.effective for each in given[smallest])))
    if len(sizes) == 1:
        return Size(int(people), 1, words, sized, merging=merging)
    across = tuple(
        replace(each, across=_across(question, place, sizes, given))
        for place, (question, each) in enumerate(zip(questions, sized, strict=True))
    )
    return Size(int(people), len(sizes), words, across, tuple(_group_sizes(questions, sizes, given)), merging)


def _merging(solve: _Solver, questions: tuple[Question, ...], people: float, now: float) -> Iterator[Merging]:
    """Size the sheet again with questions added up, for as many people."""
    for candidate in addable(questions):
        others = tuple(question for place, question in enumerate(questions) if place not in candidate.places)
        *rest, given = solve((*others, candidate.unrelated), people)
        half = _half(candidate.unrelated, given)
        yield Merging(
            questions=tuple(questions[place].name for place in candidate.places),
            score=candidate.unrelated,
            effective_people=given.effective,
            effective_others=min((each.effective for each in rest), default=None),
            effective_now=now,
            half_width=half,
            half_width_together=_half(candidate.together, solve((*others, candidate.together), people)[-1]),
            verdict=verdict(half, candidate.unrelated.yardstick),
        )


def _group_sizes(
    questions: tuple[Question, ...], sizes: Sequence[float], given: dict[float, list[_Given]]
) -> Iterator[GroupSize]:
    for size in sorted(set(sizes), reverse=True):
        halves = tuple(_half(*each) for each in zip(questions, given[size], strict=True))
        verdicts = tuple(verdict(half, each.yardstick) for half, each in zip(halves, questions, strict=True))
        yield GroupSize(round(size), sizes.count(size), halves, verdicts)


def _across(question: Question, place: int, sizes: Sequence[float], given: dict[float, list[_Given]]) -> AcrossSize:
    """Add groups up as results are (E27), by what each would spend on this question."""
    total = math.fsum(sizes)
    first, second = sorted(sizes)[:2]
    pair = ((1.0, given[first][place]), (-1.0, given[second][place]))
    every = tuple((size / total, given[size][place]) for size in sizes)
    return AcrossSize(
        _combined_half(question, pair), _combined_half(question, every), _half(question, given[max(given)][place])
    )


def _combined_half(question: Question, terms: tuple[tuple[float, _Given], ...]) -> float:
    spending = CombinedSpending(tuple((coefficient, each.spending) for coefficient, each in terms))
    bias = question.max_gap * math.fsum(abs(coefficient) * each.tilt for coefficient, each in terms)
    return question.half_width(_ERROR, spending) + bias


def _asked_of(question: Question) -> tuple[object, ...]:
    """Return all that its size depends on: questions that differ in their words alone are sized once."""
    told = question.to_record()
    told |= {"options": len(told["options"])} if "options" in told else {}
    return tuple((key, repr(value)) for key, value in told.items() if key not in ("name", "text", "unit", "column"))


@dataclass(frozen=True)
class _Given:
    """What a question gets: its share, one over its v, the sums that its interval follows from, and the tilt of weights."""

    share: float
    effective: float
    spending: Spending
    tilt: float


class _Solver:
    """Solve a sheet for any number of people whose limits are spread as those of a few."""

    def __init__(self, few: Array) -> None:
        self.limits = ArrayLimits(few)
        self.few = few

    def __call__(self, questions: tuple[Question, ...], people: float) -> list[_Given]:
        times = people / len(self.few)
        demand = Demand(
            tuple(question.price / times for question in questions),
            tuple(question.importance for question in questions),
            # a bias stays where variances shrink with people: among the few it weighs so much more
            tuple(relative_gap(question) * math.sqrt(times) for question in questions),
        )
        solution = share_out(self.limits, demand)
        tilt = tilt_of(solution.design, self.limits)
        if solution.design.noiseless:
            squares = 1.0 / (solution.design.pooled * times)
            alone = Spending(math.inf, squares, squares)
            return [_Given(share, 1.0 / squares, alone, tilt) for share in solution.shares]
        total, squares = solution.design.reach * times, solution.design.weight_squares / times
        heaviest = float(heaviest_weight(people, squares, solution.design.cap / total))
        return [
            _Given(
                share,
                1.0 / (squares + question.price / (share * total) ** 2),
                Spending(share * total, squares, heaviest),
                tilt,
            )
            for question, share in zip(questions, solution.shares, strict=True)
        ]


def _sized(
    solve: _Solver, questions: tuple[Question, ...], place: int, people: float, groups: float, given: _Given
) -> SizedQuestion:
    """Judge a question in a group of so many people, who are one of so many parts of all."""
    question = questions[place]
    others = questions[:place] + questions[place + 1 :]

    def good(count: float) -> bool:
        return verdict(_half(question, solve(questions, count)[place]), question.yardstick) == "good"

    half = _half(question, given)
    return SizedQuestion(
        name=question.name,
        kind=question.kind,
        epsilon_share=given.share,
        effective_people=given.effective,
        half_width=half,
        verdict=verdict(half, question.yardstick),
        people_needed=_fewest(good, groups),
        apart=apart_from(question, half, _half(question, given, 1.0 - POWER_LEVEL)),
        effective_without=min(each.effective for each in solve(others, people)) if others else None,
        proportion=question.proportion,
        unit=question.unit,
    )


def people_for(
    sheet: Sheet | Sequence[Question] | Question,
    name: str,
    *,
    half_width: float,
    limits: str | float | ArrayLike = "mixed",
    groups: int = 1,
) -> int | None:
    """Say how many people a wished ± of one question takes, everything else unchanged; None: more than 10^9.

    >>> from optin.questions import Number
    >>> people_for([Number("hours", bounds=(0, 80), sd=9)], "hours", half_width=1.0, limits=0.5)
    740
    """
    questions, solve = tuple(as_sheet(sheet)), _Solver(few_limits(limits)[0])
    if not (math.isfinite(half_width) and half_width > 0):
        raise BadInput("the precision that is wished for must be a number above 0")
    place = [question.name for question in questions].index(name)
    return _fewest(lambda count: _half(questions[place], solve(questions, count)[place]) <= half_width, groups)


def _half(question: Question, given: _Given, error: float = _ERROR) -> float:
    """Return ± as plans have it: with the largest bias that a declared gap allows (E15)."""
    return question.half_width(error, given.spending) + question.max_gap * given.tilt


def verdict(half_width: float, yardstick: float) -> Verdict:
    """Judge ± against the sd of an answer: up to a fifth of it is good, up to a half poor, more useless.

    >>> verdict(0.08, 0.5), verdict(0.2, 0.5), verdict(0.3, 0.5)
    ('good', 'poor', 'useless')
    """
    if half_width <= GOOD * yardstick:
        return "good"
    return "poor" if half_width <= POOR * yardstick else "useless"


def _fewest(good: Callable[[float], bool], groups: float) -> int | None:
    """Find the fewest people that will do, by doubling and halving; they are divided into groups."""
    high = 1
    while not good(high):
        high *= 2
        if high * groups > MOST_PEOPLE:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return math.ceil(high * groups)
