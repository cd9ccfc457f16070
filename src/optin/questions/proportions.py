"""Results of choices: proportions that add up to one, and whatever is linear in them (E22, E23)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from optin.errors import BadInput
from optin.kernel.coarse import FINENESS, on_grid, spacing_below
from optin.kernel.combining import Part
from optin.kernel.halfwidth import skewness_allowance
from optin.kernel.proportions import Proportion, proportion_interval
from optin.kernel.spreads import RELEASED_ERROR, Spread
from optin.questions.cells import LEVEL
from optin.questions.coding import place_of
from optin.questions.combined import Addend
from optin.questions.counted import Counting
from optin.questions.intervals import check_confidence
from optin.questions.kinds import Reading, stated_readings
from optin.questions.telling import ToldProportions, proportion_read

HALF = LEVEL // 2


def widened_by(bias: float, interval: tuple[float, float]) -> tuple[float, float]:
    """Add the error of a declared gap to both ends; no proportion lies outside [0, 1]."""
    return max(interval[0] - bias, 0.0), min(interval[1] + bias, 1.0)


def told_interval(error: float, estimate: float, cell: Proportion, slack: float) -> tuple[float, float]:
    """Bound a proportion whose estimate may be so far off by rounding: by all that it may have been."""
    if slack == 0.0:
        return proportion_interval(error, estimate, cell)
    below, above = (proportion_interval(error, estimate + side, cell) for side in (-slack, slack))
    return below[0], above[1]


def breakdown_gap(cells: Iterable[tuple[float, tuple[float, ...]]], counted: Counting) -> float:
    """Divide the least half-width by the tilt: at such a gap the error from it alone is as large as ± (E22).

    Cells are estimates with the scales of their noise; half-widths are those before anything is cut at 0 and 1.
    """
    return min(_uncut(*cell, counted) for cell in cells) / counted.tilt if counted.tilt > 0 else math.inf


def _uncut(estimate: float, scales: tuple[float, ...], counted: Counting) -> float:
    p = min(max(estimate, 0.0), 1.0)
    people = math.sqrt(p * (1.0 - p) * counted.weight_squares)
    return counted.quantile(0.05, sd=people, scales=scales) + skewness_allowance(0.05) * counted.heaviest + counted.bias


@dataclass(frozen=True, repr=False)
class Proportions(ToldProportions):
    """Noisy proportions of the options of a choice; of three or more, made to add up to one."""

    options: tuple[str, ...]
    counted: Counting

    @cached_property
    def exact(self) -> tuple[Fraction, ...]:
        """Return the published proportions as fractions: unbiased, unclamped, adding up to one."""
        if len(self.options) == 2:
            first = self.counted.mean(0)
            return (first, 1 - first)
        raw = [self.counted.mean(cell, HALF) for cell in range(len(self.options))]
        missing = (1 - sum(raw, Fraction(0))) / len(raw)
        return tuple(part + missing for part in raw)

    @property
    def spacing(self) -> Fraction:
        """Return the step that proportions are told on: at most a fiftieth of what noise alone gives one of them."""
        first = [1.0, *[0.0] * (len(self.options) - 1)]
        return spacing_below(Fraction(math.sqrt(self._noise(first))) / FINENESS)

    def _slack(self, cells: float) -> float:
        """Return how far the sum of so many proportions, each times 1 at most, may be off because they are told on a step."""
        if not self.counted.rounded:
            return 0.0
        return float(self.spacing) * (0.5 if len(self.options) == 2 else min(cells, len(self.options) - cells))

    def means(self) -> tuple[Fraction, ...]:
        """Return the mean of each cell as it is read: of two options there is one."""
        return self.exact[: self.counted.cells]

    def told_cells(self) -> tuple[Fraction, ...]:
        """Round proportions to a step so that they still add up to one: largest remainders go up."""
        if len(self.options) == 2:
            return (on_grid(self.exact[0], self.spacing),)
        parts = [part / self.spacing for part in self.exact]
        floors = [math.floor(part) for part in parts]
        ranked = sorted(range(len(parts)), key=lambda place: floors[place] - parts[place])
        up = set(ranked[: int(1 / self.spacing) - sum(floors)])
        return tuple((floor + (place in up)) * self.spacing for place, floor in enumerate(floors))

    @property
    def proportions(self) -> Mapping[str, float]:
        """Return the proportion of each option."""
        return MappingProxyType(dict(zip(self.options, map(float, self.exact), strict=True)))

    def standard_error(self, option: str) -> float:
        """Return the standard error of one proportion: people at the published proportion, and noise."""
        place = place_of(option, self.options)
        p = min(max(float(self.exact[place]), 0.0), 1.0)
        noise = self._noise([float(c == place) for c in range(len(self.options))])
        return math.sqrt(p * (1.0 - p) * self.counted.weight_squares + noise)

    def interval(self, option: str, level: float = 0.95) -> tuple[float, float]:
        """Bound the population's proportion of one option; it lies inside [0, 1] by itself (E22)."""
        return self.share_interval((option,), level)

    def share(self, options: Sequence[str]) -> float:
        """Return the proportion who chose one of several options."""
        places = self._places(options)
        return float(sum((self.exact[place] for place in places), Fraction(0)))

    def share_interval(self, options: Sequence[str], level: float = 0.95) -> tuple[float, float]:
        """Bound the proportion who chose one of several options."""
        places = self._places(options)
        scales = self._scales([float(place in places) for place in range(len(self.options))])
        cell = Proportion(self.counted.weight_squares, self.counted.heaviest, scales)
        interval = told_interval(check_confidence(level), self.share(options), cell, self._slack(len(places)))
        return widened_by(self.counted.bias, interval)

    def _places(self, options: Sequence[str]) -> set[int]:
        """Look options up; a text is one of them, and not its letters."""
        return {place_of(option, self.options) for option in ((options,) if isinstance(options, str) else options)}

    def average(self, scores: Sequence[float]) -> float:
        """Return the mean of a score given to each option."""
        pairs = zip(self._checked(scores), self.exact, strict=True)
        return float(sum(Fraction(score) * part for score, part in pairs))

    def _checked(self, scores: Sequence[float]) -> list[float]:
        """Refuse scores that are not a finite number for each option."""
        given: list[Any] = [] if isinstance(scores, str | Mapping) or not isinstance(scores, Iterable) else list(scores)
        try:
            numbers = [math.nan if isinstance(score, str | bytes) else float(score) for score in given]
        except (OverflowError, TypeError, ValueError):
            numbers = []
        if len(numbers) != len(self.options) or not all(map(math.isfinite, numbers)):
            raise BadInput(
                "give a score, a number, for each of the {count} options, in their order", count=len(self.options)
            )
        return numbers

    def average_interval(self, scores: Sequence[float], level: float = 0.95) -> tuple[float, float]:
        """Bound the mean of a score: people's spread is read off the same cells and taken on the high side (E22)."""
        numbers = self._checked(scores)
        low, high = min(numbers), max(numbers)
        if low == high:
            return low, high
        unit = [(score - low) / (high - low) for score in numbers]
        moved = self._slack(len(unit) / 2)
        half = float((high - low) * (self._half_width(unit, check_confidence(level)) + self.counted.bias + moved))
        middle = self.average(numbers)
        bounded = max(middle - half, low), min(middle + half, high)
        return bounded if bounded[0] <= bounded[1] else (low, low) if middle < low else (high, high)

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart proportions of cautious and open people make an error as large as the least ± (E22)."""
        places = range(len(self.options))
        scales = (self._scales([float(c == place) for c in places]) for place in places)
        return breakdown_gap(zip(map(float, self.exact), scales, strict=True), self.counted)

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List the proportion of each option."""
        return [proportion_read(self, option, level) for option in self.options]

    def addends(self) -> tuple[Addend, ...]:
        """Return the proportion of each option, as it is added to those of other groups; of two options, of the first."""
        places = range(len(self.options) if len(self.options) > 2 else 1)
        units = ([float(c == place) for c in range(len(self.options))] for place in places)
        return tuple(
            self._addend(option, unit, proportion=True) for option, unit in zip(self.options, units, strict=False)
        )

    def _addend(self, answer: str, scores: Sequence[float], *, proportion: bool) -> Addend:
        """Return a linear reading of the cells; nothing was declared of it, so its spread is read off the same cells."""
        low, high = min(scores), max(scores)
        unit, width, counted = [(score - low) / (high - low) for score in scores], high - low, self.counted
        spread, scales = self._spread(unit), self._scales(scores)
        part = Part(1.0, counted.weight_squares, counted.heaviest, scales, spread=spread, width=width)
        sampling = min(max(self._variance(unit), 0.0), 0.25) * counted.weight_squares
        return Addend(
            answer,
            self.average(scores),
            width * width * sampling + self._noise(scores),
            (low, high),
            part,
            width * (counted.bias + self._slack(len(unit) / 2)),
            counted.tilt,
            proportion,
        )

    def statement(self) -> dict[str, Any]:
        """Return what a file states of it; all of it follows from what was drawn."""
        return stated_readings(self)

    def _half_width(self, unit: list[float], error: float) -> float:
        sd = math.sqrt(self._spread(unit).above * self.counted.weight_squares)
        quantile = self.counted.quantile(RELEASED_ERROR * error, sd=sd, scales=self._scales(unit))
        return quantile + skewness_allowance(error) * self.counted.heaviest

    def _spread(self, unit: Sequence[float]) -> Spread:
        """Read the variance of a score off the same cells, with the variance that noise gives it, by its slopes."""
        parts = [float(part) for part in self.exact]
        mean = float(np.dot(unit, parts))
        slopes = [score * score - 2.0 * min(max(mean, 0.0), 1.0) * score for score in unit]
        variance = self._variance(unit)
        moved = self._slack(len(unit) / 2)
        if moved:  # where proportions are told on a step: on the high side
            variance += moved + (2.0 * abs(mean) + moved) * moved
            noise = (math.sqrt(self._noise(slopes)) + 2.0 * moved * math.sqrt(self._noise(unit))) ** 2
            return Spread(variance, noise, self.counted.weight_squares)
        return Spread(variance, self._noise(slopes), self.counted.weight_squares)

    def _variance(self, unit: Sequence[float]) -> float:
        """Read the variance of a score off the cells, as they are told."""
        parts = [float(part) for part in self.exact]
        mean = float(np.dot(unit, parts))
        return float(np.dot(np.square(unit), parts)) - mean * mean

    def _noise(self, scores: Sequence[float]) -> float:
        return self.counted.noise_variance(self._scales(scores))

    def _scales(self, scores: Sequence[float]) -> tuple[float, ...]:
        """List the Laplace scales in a linear reading of the cells: 2/E times each score's distance from their mean."""
        if self.counted.noiseless:
            return (0.0,)
        if len(scores) == 2:
            return (abs(scores[0] - scores[1]) / self.counted.reach,)
        middle = sum(scores) / len(scores)
        return tuple(2.0 / self.counted.reach * abs(score - middle) for score in scores)
