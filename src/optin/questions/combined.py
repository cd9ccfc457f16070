"""Figures of several groups added up, each times a number: differences, and wholes put together (E27)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from optin.kernel.combining import Combination, Part
from optin.questions.intervals import Interval, check_level
from optin.questions.kinds import Reading


@dataclass(frozen=True)
class Addend:
    """A published figure that is linear in its people, as it is added to those of other groups.

    ``part`` is what its accuracy depends on; ``slack`` is the most that rounding and a
    declared gap add to its error, ``tilt`` how far its weights are from equal ones (E15).
    """

    answer: str
    estimate: float
    variance: float
    bounds: tuple[float, float]
    part: Part
    slack: float = 0.0
    tilt: float = 0.0
    proportion: bool = False


@dataclass(frozen=True)
class Term:
    """One group's figure, and the number it is multiplied by."""

    group: str
    coefficient: float
    addend: Addend


@dataclass(frozen=True)
class Combined:
    """A sum over groups: its estimate, and how far that may be off."""

    terms: tuple[Term, ...]

    @property
    def answer(self) -> str:
        """Say which figure of the question it is."""
        return self.terms[0].addend.answer

    @property
    def proportion(self) -> bool:
        """Say whether it is one of proportions."""
        return self.terms[0].addend.proportion

    @property
    def estimate(self) -> float:
        """Return the sum, unclamped and unbiased."""
        return math.fsum(term.coefficient * term.addend.estimate for term in self.terms)

    @property
    def variance(self) -> float:
        """Return the sum of the groups' variances: nobody is in two groups, and each has noise of its own."""
        return math.fsum(term.coefficient**2 * term.addend.variance for term in self.terms)

    @property
    def standard_error(self) -> float:
        """Return the root of the variance."""
        return math.sqrt(self.variance)

    @property
    def bounds(self) -> tuple[float, float]:
        """Return what the sum can be at least and at most."""
        ends = [sorted(term.coefficient * bound for bound in term.addend.bounds) for term in self.terms]
        return math.fsum(low for low, _ in ends), math.fsum(high for _, high in ends)

    @property
    def tilt(self) -> float:
        """Return how far weights are from equal ones within groups, each group as it counts in the sum."""
        return math.fsum(abs(term.coefficient) * term.addend.tilt for term in self.terms)

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the interval before it is cut at the bounds."""
        return self._half_width(level)[0]

    def _half_width(self, level: float) -> tuple[float, str]:
        """Take the quantile of the sum (E27); roundings, and errors of declared gaps, add up."""
        parts = (replace(term.addend.part, coefficient=term.coefficient) for term in self.terms)
        half, method = Combination(tuple(parts)).half_width(check_level(level))
        slack = math.fsum(abs(term.coefficient) * term.addend.slack for term in self.terms)
        return half + slack, method

    def interval(self, level: float = 0.95) -> Interval:
        """Bound the sum of the population's own figures."""
        half, method = self._half_width(level)
        return Interval.around(self.estimate, half, bounds=self.bounds, level=level, method=method)

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart cautious and open people *of the same group* make an error as large as ± (E22)."""
        return self.half_width(0.95) / self.tilt if self.tilt > 0 else math.inf

    def reading(self, level: float = 0.95) -> Reading:
        """Return it as a figure with its interval."""
        low, high = self.interval(level)
        return Reading(self.answer, self.estimate, low, high, self.proportion)
