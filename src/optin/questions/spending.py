"""What the accuracy of a question follows from before anyone is asked: sums of the epsilons that it gets."""

from __future__ import annotations

from dataclasses import dataclass

from optin.kernel.halfwidth import Weighing, half_width, skewness_allowance
from optin.kernel.mixtures import mixture_reach


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
        reach = mixture_reach(error, sd=(0.25 * self.squares) ** 0.5, scales=noise)
        return min(reach + skewness_allowance(error) * self.heaviest, 1.0)
