"""What a question was released over, and the noisy integers it gave: all public (E20, E28)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.mixtures import mixture_reach
from optin.kernel.noise import LAPLACE, variance
from optin.kernel.rounding import GRAIN, epsilon_of, exact_epsilon, nearest
from optin.questions.cells import LEVEL


@dataclass(frozen=True)
class Counted:
    """Exact sums of grains over those who answered, the most that anybody has, and one noisy total for each cell."""

    people: int
    grains: int = field(repr=False)
    squares: int = field(repr=False)
    most: int = field(repr=False)
    noisy: tuple[int, ...] = field(repr=False)
    noiseless: bool = False
    tilt: float = 0.0
    max_gap: float = 0.0

    @property
    def bias(self) -> float:
        """Bound the error from cautious and open people who differ by up to the declared gap (E15)."""
        return self.max_gap * self.tilt

    @property
    def reach(self) -> float:
        """Return E, the sum of epsilons; infinite without noise."""
        return math.inf if self.noiseless else float(epsilon_of(self.grains))

    @property
    def exact_reach(self) -> Fraction:
        """Return E without rounding; with noise."""
        return exact_epsilon(self.grains)

    @property
    def weight_squares(self) -> float:
        """Return W2, the sum of squared weights."""
        return float(Fraction(self.squares, self.grains * self.grains))

    @property
    def heaviest(self) -> float:
        """Bound the largest weight from public numbers."""
        return float(heaviest_weight(self.people, self.weight_squares, float(Fraction(self.most, self.grains))))

    def noise_variance(self, scales: Iterable[float]) -> float:
        """Return the variance of a sum of draws of these scales (E0); without noise every scale is 0."""
        return LAPLACE.sum_variance(scales)

    def variance(self, data_variance: float, width: float) -> float:
        """Return E13's variance of the mean of values that vary so much in a range of this width, from exact sums."""
        noise = 0 if self.noiseless else LAPLACE.constant(Fraction(width) * int(GRAIN))
        return nearest(variance(Fraction(data_variance), self.squares, self.grains, noise))

    def quantile(self, error: float, *, sd: float = 0.0, scales: tuple[float, ...]) -> float:
        """Return what people's part, of this sd, and draws of these scales exceed with this probability (E14, E23)."""
        return mixture_reach(error, sd=sd, scales=scales)

    def mean(self, cell: int, level: int = LEVEL) -> Fraction:
        """Return a noisy mean in units of its level, exactly."""
        return Fraction(self.noisy[cell], level * self.grains)
