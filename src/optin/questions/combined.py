"""Figures of several groups added up, each times a number: differences, and wholes put together (E27)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from optin.kernel.combining import Combination, Part
from optin.questions.group_sizes import GroupSizes
from optin.questions.intervals import Interval, check_confidence
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
    """A sum over groups: its estimate, and how far that may be off.

    Where it is a whole of groups whose people are told in tens, ``sizes`` says how many they can be: errors are then those of the
    largest parts that groups can have, and the interval contains what any of them leads to.
    """

    terms: tuple[Term, ...]
    sizes: GroupSizes | None = None

    @property
    def _largest(self) -> list[tuple[float, Addend]]:
        """List how much each figure counts at most."""
        most = [abs(term.coefficient) for term in self.terms] if self.sizes is None else self.sizes.largest
        return [(each, term.addend) for each, term in zip(most, self.terms, strict=True)]

    @property
    def leeway(self) -> float:
        """Return how far the sum may be off because people of groups are told in tens."""
        return 0.0 if self.sizes is None else self.sizes.leeway([term.addend.estimate for term in self.terms])

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
        return math.fsum(most**2 * addend.variance for most, addend in self._largest)

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
        return math.fsum(most * addend.tilt for most, addend in self._largest)

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the interval before it is cut at the bounds."""
        return self._half_width(level)[0]

    def _half_width(self, level: float) -> tuple[float, str]:
        """Take the quantile of the sum (E27); roundings, and errors of declared gaps, add up."""
        parts = (replace(addend.part, coefficient=most) for most, addend in self._largest)
        half, method = Combination(tuple(parts)).half_width(check_confidence(level))
        slack = math.fsum(most * addend.slack for most, addend in self._largest)
        return half + slack + self.leeway, method

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
