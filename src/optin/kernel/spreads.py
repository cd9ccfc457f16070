"""E21, E22: the variance of the values from two noisy means that cost what one costs, and intervals that use it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from optin.kernel.coarse import COARSEST
from optin.kernel.halfwidth import skewness_allowance
from optin.kernel.noise import LAPLACE, noise_variance
from optin.kernel.tails import normal_laplace_quantile

LEVELS = 1 << 20
UP = float(COARSEST)
"""What rounding up multiplies noise and squared weights by at most."""
ENOUGH = 50.0
"""From so many effective people on, a released spread serves where a variance was declared too (E22)."""
RELEASED_ERROR = 0.9
"""What is left of the error probability for the quantile where a released spread serves: it may come out too small (E22)."""


def companion(level: int) -> int:
    """Return g(l) = l (L - l) >> 20, the second number's level: |l - l'| + |g(l) - g(l')| <= L for all pairs (E21).

    >>> companion(1), companion(1 << 19), companion(699050)
    (0, 262144, 233017)
    """
    return (level * (LEVELS - level)) >> 20


@dataclass(frozen=True)
class Spread:
    """A released variance of values in units of R^2, the variance of its noise, and the squared weights behind it."""

    variance: float
    noise: float
    squares: float

    def _between(self, variance: float) -> float:
        return min(max(variance, min(self.squares, 0.25)), 0.25)

    @property
    def sampling(self) -> float:
        """Return the variance of the released variance itself: noise, and people."""
        likely = self._between(self.variance + math.sqrt(self.noise))
        return self.noise + likely * self.squares

    @property
    def above(self) -> float:
        """Return a variance that the values' own is likely to be below (E22's s2_up)."""
        return self._between(self.variance + math.sqrt(self.sampling))


@dataclass(frozen=True)
class Moments:
    """What two noisy means say, in units of the range: mean of l, mean of g, sum of epsilons, squared and largest weight."""

    mean: float
    companion: float
    reach: float
    squares: float
    heaviest: float
    slack: float = 0.0
    """How far both means may be off where they are rounded; noise and squared weights are then rounded up too."""

    @property
    def noise(self) -> float:
        """Return the noise variance of mean (1 - mean) - companion, by its slope at the clipped mean."""
        clipped = min(max(self.mean, 0.0), 1.0)
        slope = min(abs(1.0 - 2.0 * clipped) + 2.0 * self.slack, 1.0)
        return noise_variance(LAPLACE.kappa * (1.0 + slope**2), self.reach)

    @property
    def variance(self) -> float:
        """Return the unbiased variance of the values in units of R^2; it can be negative, and is NaN for one person.

        >>> round(Moments(0.4, 0.15, 15.0, 67 / 225, 0.4).variance * 632, 9)
        89.0
        """
        if self.squares >= 1.0:
            return math.nan
        excess = noise_variance(LAPLACE.kappa, self.reach)
        return (self.mean * (1.0 - self.mean) - self.companion + excess) / (1.0 - self.squares)

    @property
    def _ends(self) -> tuple[float, float]:
        """Return what the variance lies between before it was rounded: all that goes into it is taken at its worst."""
        if self.slack == 0.0:
            return self.variance, self.variance
        room = (abs(1.0 - 2.0 * self.mean) + self.slack + 1.0) * self.slack
        told, fewer = self.mean * (1.0 - self.mean) - self.companion, self.squares / UP
        low = told - room + noise_variance(LAPLACE.kappa, self.reach * UP)
        high = told + room + noise_variance(LAPLACE.kappa, self.reach)
        return (
            low / (1.0 - (fewer if low > 0.0 else self.squares)),
            high / (1.0 - (self.squares if high > 0.0 else fewer)),
        )

    @property
    def spread(self) -> Spread:
        """Return what is known of the variance of the values, on the high side where it is rounded."""
        return Spread(self._ends[1], self.noise, self.squares)

    def half_width(self, error: float) -> float:
        """Return half of the mean's interval by the released spread, in units of R (E22)."""
        sd = math.sqrt(self.spread.above * self.squares)
        quantile = normal_laplace_quantile(RELEASED_ERROR * error, sd=sd, scale=1.0 / self.reach)
        return quantile + skewness_allowance(error) * self.heaviest

    def sd_interval(self, error: float) -> tuple[float, float]:
        """Bound the standard deviation of the values, in units of R: no sd lies outside [0, 1/2]."""
        half = -NormalDist().inv_cdf(error / 2.0) * math.sqrt(self.spread.sampling)
        lowest, highest = self._ends
        low, high = (min(max(end, 0.0), 0.25) for end in (lowest - half, highest + half))
        return math.sqrt(low), math.sqrt(high)
