"""What the accuracy of a question follows from before anyone is asked: sums of the epsilons that it gets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from optin.kernel.combining import Combination, Part
from optin.kernel.halfwidth import Weighing, half_width, skewness_allowance
from optin.kernel.mixtures import mixture_quantile


class Spends(Protocol):
    """What a kind of question asks for the half of its interval, before anything is drawn."""

    def mean_half_width(self, error: float, *, width: float, data_variance: float) -> float:
        """Return half of the interval for a mean (E22)."""

    def proportion_half_width(self, error: float, scales: tuple[float, ...]) -> float:
        """Return half of the interval for a proportion of one half, the widest; scales are those at sum eps = 1."""


@dataclass(frozen=True)
class Spending:
    """The sum of epsilons on a question, the sum of squared weights and the largest weight."""

    reach: float
    squares: float
    heaviest: float

    def mean_half_width(self, error: float, *, width: float, data_variance: float) -> float:
        """Return half of the interval for a mean (E22)."""
        weighing = Weighing(width, data_variance, self.squares, self.heaviest, width / self.reach)
        return half_width(error, weighing)[0]

    def proportion_half_width(self, error: float, scales: tuple[float, ...]) -> float:
        """Return half of the interval for a proportion of one half, the widest; scales are those at sum eps = 1."""
        noise = tuple(scale / self.reach for scale in scales)
        quantile = mixture_quantile(error, sd=(0.25 * self.squares) ** 0.5, scales=noise)
        return min(quantile + skewness_allowance(error) * self.heaviest, 1.0)


@dataclass(frozen=True)
class CombinedSpending:
    """What groups spend, each with the number that its result is multiplied by: of differences, and of wholes (E27)."""

    terms: tuple[tuple[float, Spending], ...]

    def mean_half_width(self, error: float, *, width: float, data_variance: float) -> float:
        """Return half of the interval for a sum of means, by the declared variance."""
        return self._combined((width,), data_variance, width).half_width(error)[0]

    def proportion_half_width(self, error: float, scales: tuple[float, ...]) -> float:
        """Return half of the interval for a sum of proportions of one half each."""
        most = math.fsum(abs(coefficient) for coefficient, _ in self.terms)
        return min(self._combined(scales, 0.25, 1.0).half_width(error)[0], most)

    def _combined(self, scales: Sequence[float], variance: float, width: float) -> Combination:
        return Combination(
            tuple(
                Part(
                    coefficient,
                    spent.squares,
                    spent.heaviest,
                    tuple(scale / spent.reach for scale in scales),
                    declared=variance,
                    width=width,
                )
                for coefficient, spent in self.terms
            )
        )
