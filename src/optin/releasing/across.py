"""What follows for several groups together: differences, all of them at once, and the whole (E27).

Nothing is drawn here and nobody is charged: all of it is computed from what was published of each group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.extras import expect_package
from optin.kernel.combining import Combination, as_one_group
from optin.planning.population import population_shares
from optin.questions import Question
from optin.questions.combined import Combined, Term
from optin.questions.intervals import Interval, check_level
from optin.questions.kinds import QuestionResult, Reading
from optin.wording.groups import listed_groups, shown_group
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    from optin.releasing.record import Release

Groups = Mapping[str, "Release"]
MOST_COMPARISONS = 20_000
"""More intervals than this are not made at once: 200 groups have 19,900 pairs."""
_SCORED = "mean score"
_LEADING = ("mean", _SCORED)


@dataclass(frozen=True, repr=False)
class AcrossGroups(Told):
    """Every figure of one question that can be added up over groups, by its answer.

    A number, a score, a yes or no, and a scale by its mean can be asked directly for estimate, standard error and interval;
    of other kinds, ask for one answer: ``found["night"].interval(0.95)``.
    """

    question: Question
    title: str
    figures: tuple[Combined, ...] = field(repr=False)

    def __getitem__(self, answer: str) -> Combined:
        for figure in self.figures:
            if figure.answer == answer:
                return figure
        raise BadInput(
            'there is no answer "{answer}" here; the answers are: {answers}', answer=answer, answers=self._answers
        )

    @property
    def _answers(self) -> str:
        return ", ".join(figure.answer for figure in self.figures)

    @property
    def only(self) -> Combined:
        """Return the figure that is meant where none is named; BadInput where there are several."""
        means = [figure for figure in self.figures if figure.answer in _LEADING and not figure.proportion]
        if len(self.figures) > 1 and not means:
            raise BadInput(
                "there are several answers; ask for one of them by its name: {answers}", answers=self._answers
            )
        return (means or self.figures)[0]

    @property
    def estimate(self) -> float:
        """Return the estimate, unclamped and unbiased."""
        return self.only.estimate

    @property
    def standard_error(self) -> float:
        """Return the root of the sum of the groups' variances, each as it counts."""
        return self.only.standard_error

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the interval before it is cut."""
        return self.only.half_width(level)

    def interval(self, level: float = 0.95) -> Interval:
        """Bound what is true of the population (E27)."""
        return self.only.interval(level)

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart cautious and open people of the same group make an error as large as ± (E22)."""
        return min(figure.breakdown_gap for figure in self.figures)

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List every figure with its interval."""
        return [figure.reading(level) for figure in self.figures]

    def written(self, reading: Reading) -> tuple[str, str]:
        """Write a figure and its interval as people read them."""
        return reading.written("" if reading.answer == _SCORED else self.question.unit)

    def telling(self) -> Telling:
        """List every figure with its 95 % interval."""
        rows = tuple((each.answer, *self.written(each)) for each in self.readings(0.95))
        return Telling(self.title, (), ("answer", "estimate", "95 % interval"), rows, numbers=1, more=".readings()")


@dataclass(frozen=True, repr=False)
class Difference(AcrossGroups):
    """How far one group lies above another."""

    @property
    def groups(self) -> tuple[str, str]:
        """Name both groups."""
        first, second = self.figures[0].terms
        return first.group, second.group

    def rows(self, level: float) -> list[tuple[str, str, str, str, str]]:
        """Write it as rows: who, less whom, which answer, estimate and interval."""
        return [(*self.groups, each.answer, *self.written(each)) for each in self.readings(level)]

    def written(self, reading: Reading) -> tuple[str, str]:
        """Write a difference; that of two proportions in points of a hundred."""
        if not reading.proportion:
            return super().written(reading)
        estimate, low, high = (100.0 * number for number in (reading.estimate, reading.low, reading.high))
        return Reading(reading.answer, estimate, low, high).written("points")


@dataclass(frozen=True, repr=False)
class Total(AcrossGroups):
    """The whole, put together from groups: each counts by its share of the population.

    ``ungrouped`` holds, for each figure, the standard error that the same people's promises, or parts of them, would lead to
    as one group, with one draw of noise; the best plan without groups is at least as accurate. None where only some groups
    have noise.
    """

    shares: Mapping[str, float]
    ungrouped: tuple[float, ...] | None = None

    @property
    def ungrouped_standard_error(self) -> float | None:
        """Return the standard error that the same promises would lead to without groups, whose estimate may be tilted."""
        return None if self.ungrouped is None else self.ungrouped[self.figures.index(self.only)]


@dataclass(frozen=True, repr=False)
class Differences(Told):
    """Differences between all pairs of groups whose intervals hold *together* at ``level``: each has its part of the error.

    With m intervals each is made at 1 - (1 - level) / m (Bonferroni). ``withheld`` says which groups are left out, and why.
    """

    question: Question
    pairs: tuple[Difference, ...] = field(repr=False)
    level: float
    withheld: Mapping[str, str]

    @property
    def comparisons(self) -> int:
        """Count the intervals that hold together."""
        return sum(len(pair.figures) for pair in self.pairs)

    @property
    def each_level(self) -> float:
        """Return the level of each interval by itself."""
        return 1.0 - (1.0 - self.level) / self.comparisons

    def __len__(self) -> int:
        return self.comparisons

    def __iter__(self) -> Iterator[tuple[str, str, str, float, float, float]]:
        """List first group, second group, answer, estimate, low and high."""
        for pair in self.pairs:
            for each in pair.readings(self.each_level):
                yield *pair.groups, each.answer, each.estimate, each.low, each.high

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns."""
        names = ("group", "other", "answer", "estimate", "low", "high")
        rows = list(self)
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is loaded only here
        """Return a pandas DataFrame."""
        expect_package("pandas", "a data frame")
        import pandas as pd

        return pd.DataFrame(self.columns())

    def telling(self) -> Telling:
        """List all differences, and say what their intervals promise."""
        lines = (("intervals", self.promise), *((shown_group(name), why) for name, why in self.withheld.items()))
        head = ("group", "less", "answer", "difference", f"{100 * self.level:.4g} % together")
        rows = tuple(row for pair in self.pairs for row in pair.rows(self.each_level))
        return Telling(f"Differences of {self.question.name}", lines, head, rows, numbers=3, more=".to_pandas()")

    @property
    def promise(self) -> str:
        """Say what the intervals promise together."""
        return (
            f"all {self.comparisons:,} hold together at {100 * self.level:.4g} %: each is made at"
            f" {100 * self.each_level:.6g} % (Bonferroni)"
        )


class AcrossRelease:
    """Ask a release of groups for what follows for several of them together."""

    def difference(self: Release, question: str, first: str, second: str) -> Difference:  # type: ignore[misc]
        """Return how far the first group lies above the second, with an interval (E27).

        >>> import numpy as np, optin
        >>> rng, wards = np.random.default_rng(1), np.repeat(["ER", "ICU"], 400)
        >>> people = optin.PrivacyConstrained(rng.choice([0.5, 2.0], 800), groups=wards)
        >>> offer = optin.plan(people, [optin.Number("hours", bounds=(0, 80), sd=9)]).announce(people)
        >>> release = optin.release(offer, people, {"hours": np.where(wards == "ER", 45.0, 35.0)})
        >>> found = release.difference("hours", "ER", "ICU")
        >>> 5 < found.estimate < 15, found.interval(0.95).low < 10 < found.interval(0.95).high
        (True, True)
        """
        return difference_of(self.groups, question, first, second)

    def differences(  # type: ignore[misc]
        self: Release, question: str, level: float = 0.95, *, among: Sequence[str] | None = None
    ) -> Differences:
        """Return the differences of all pairs of groups, or of those named, with intervals that hold together (Bonferroni)."""
        return differences_of(self.groups, question, level, among)

    def total(self: Release, question: str, population: Any = None) -> Total:  # type: ignore[misc]  # noqa: ANN401
        """Put the whole together from groups: each counts by the people announced, or by what ``population`` says.

        ``population`` gives every group its share or its people (post-stratification). Where limits go with groups this is
        not tilted, as a mean without groups would be. BadInput where a group's result was not published.
        """
        return total_of(self.groups, question, population)


def difference_of(groups: Groups, question: str, first: str, second: str) -> Difference:
    """Return how far the first group lies above the second."""
    for name in (first, second):
        _expect_group(groups, name)
    if first == second:
        raise BadInput("a difference is one of two groups; {group} is given twice", group=shown_group(first))
    for name in (first, second):
        if why := withheld_why(groups[name], question):
            raise _withheld('"{question}" has no difference: ', question, name, why)
    title = f"{question}: {shown_group(first)} less {shown_group(second)}"
    return Difference(_asked(groups, question), title, _combined(groups, question, {first: 1.0, second: -1.0}))


def differences_of(groups: Groups, question: str, level: float, among: Sequence[str] | None = None) -> Differences:
    """Return the differences of all pairs of groups that were published, with intervals that hold together."""
    check_level(level)
    chosen = tuple(groups) if among is None else tuple(dict.fromkeys(among))
    for name in chosen:
        _expect_group(groups, name)
    withheld = {name: why for name in chosen if (why := withheld_why(groups[name], question))}
    known = [name for name in chosen if name not in withheld]
    if len(known) < 2:
        raise BadInput('"{question}" was published of fewer than two groups: there is no difference', question=question)
    each = len(groups[known[0]][question].addends())
    if math.comb(len(known), 2) * each > MOST_COMPARISONS:
        raise BadInput(
            "{count:,} groups have more than {most:,} differences; name the groups to compare in {among}",
            count=len(known),
            most=MOST_COMPARISONS,
            among="among",
        )
    pairs = tuple(difference_of(groups, question, *pair) for pair in itertools.combinations(known, 2))
    return Differences(_asked(groups, question), pairs, float(level), withheld)


def total_of(groups: Groups, question: str, population: Any = None) -> Total:  # noqa: ANN401
    """Put the whole together; where one group's result was not published there is none, and it is said why."""
    asked = _asked(groups, question)
    for name, each in groups.items():
        if why := withheld_why(each, question):
            raise _withheld('"{question}" has no whole: ', question, name, why)
    known = {name: each.announcement.people for name, each in groups.items()} if population is None else population
    shares = population_shares(known, tuple(groups))
    figures = _combined(groups, question, shares)
    results = {name: groups[name][question] for name in groups}
    return Total(asked, f"{question}: all groups together", figures, shares, _ungrouped(figures, results))


def _withheld(what: str, question: str, group: str, why: str) -> BadInput:
    told = what + "of group {group} it was not published: {why}"
    return BadInput(told, question=question, group=shown_group(group), why=why)


def withheld_why(release: Release, question: str) -> str:
    """Say why a question was not published of a group, or nothing."""
    return release.dropped.get(question, "")


def _combined(groups: Groups, question: str, coefficients: Mapping[str, float]) -> tuple[Combined, ...]:
    """Add up every figure over groups."""
    addends = {name: groups[name][question].addends() for name in coefficients}
    return tuple(
        Combined(tuple(Term(name, coefficients[name], each) for name, each in zip(addends, figure, strict=True)))
        for figure in zip(*addends.values(), strict=True)
    )


def _ungrouped(figures: Sequence[Combined], results: Mapping[str, QuestionResult]) -> tuple[float, ...] | None:
    """Return the standard errors of one weighted mean over everybody, by parts of what they gave, with one draw of noise."""
    counted = [result.counted for result in results.values()]
    if len({each.noiseless for each in counted}) > 1:
        return None
    if counted[0].noiseless:  # everyone who counts counts alike
        total = sum(each.people for each in counted)
        return tuple(_exact_error(figure, [each.people / total for each in counted]) for figure in figures)
    reaches = [each.reach for each in counted]
    return tuple(math.sqrt(_pooled_variance(figure, reaches)) for figure in figures)


def _exact_error(figure: Combined, parts: Sequence[float]) -> float:
    return math.sqrt(math.fsum(part**2 * t.addend.variance for part, t in zip(parts, figure.terms, strict=True)))


def _pooled_variance(figure: Combined, reaches: Sequence[float]) -> float:
    noises = [Combination((term.addend.part,)).noise_variance for term in figure.terms]
    sampling = [max(term.addend.variance - noise, 0.0) for term, noise in zip(figure.terms, noises, strict=True)]
    return as_one_group(reaches, sampling, noises[0] * reaches[0] * reaches[0])


def _asked(groups: Groups, question: str) -> Question:
    first = next(iter(groups.values()), None)
    if first is None:
        raise BadInput(
            "this release is not by group; announce people with groups, or ask for release[{name}]", name=question
        )
    return first.sheet[question]


def _expect_group(groups: Groups, name: str) -> None:
    if name not in groups:
        raise BadInput(
            "there is no group {group}; the groups are {groups}",
            group=shown_group(str(name)),
            groups=listed_groups(tuple(groups)),
        )
