"""What follows for several groups together: differences, all of them at once, and the whole (E27).

Nothing is drawn here and nobody is charged: all of it is computed from what was published of each group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from optin.errors import BadInput
from optin.extras import expect_package
from optin.questions import Question
from optin.questions.combined import Combined
from optin.questions.intervals import Interval
from optin.questions.kinds import Reading
from optin.wording.groups import shown_group
from optin.wording.language import N_, _
from optin.wording.telling import Telling, Told

_SCORED = N_("mean score")
_LEADING = ("mean", _SCORED)


@dataclass(frozen=True, repr=False)
class AcrossGroups(Told):
    """Every figure of one question that can be added up over groups, by its answer.

    A number, a score, a yes or no, and a scale by its mean can be asked directly for estimate, standard error and interval;
    of other kinds, ask for one answer: ``total["night"].interval(0.95)``.
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
        return Reading(reading.answer, estimate, low, high).written(_("points"))


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
        level = self.each_level
        for pair in self.pairs:
            for each in pair.readings(level):
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
        level = self.each_level
        rows = tuple(
            (*(shown_group(name)[1:-1] for name in pair.groups), *row[2:])
            for pair in self.pairs
            for row in pair.rows(level)
        )
        return Telling(f"Differences of {self.question.name}", lines, head, rows, numbers=3, more=".to_pandas()")

    @property
    def promise(self) -> str:
        """Say what the intervals promise together; of one alone there is nothing to put together."""
        if self.comparisons == 1:
            return _("one difference: its interval is made at {level:.4g} %, as it is", level=100 * self.level)
        return _(
            "all {comparisons:,} hold together at {level:.4g} %: each is made at {each_level:.6g} % (Bonferroni)",
            comparisons=self.comparisons,
            level=100 * self.level,
            each_level=100 * self.each_level,
        )
