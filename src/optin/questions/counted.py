"""What a question was released over, and what it gave: noisy integers, or means that were rounded for the public (E20, E28)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.mixtures import mixture_quantile
from optin.kernel.noise import LAPLACE, variance
from optin.kernel.rounding import GRAIN, epsilon_of, exact_epsilon, nearest
from optin.questions.cells import LEVEL


class Counting:
    """What a result asks for; either form of it has the numbers."""

    people: int
    noiseless: bool
    tilt: float
    max_gap: float
    most: int

    if TYPE_CHECKING:

        @property
        def rounded(self) -> bool:
            """Whether these are the rounded numbers."""

        @property
        def cells(self) -> int:
            """How many means there are."""

        @property
        def exact_reach(self) -> Fraction:
            """E, the sum of epsilons, with noise."""

        @property
        def weight_squares(self) -> float:
            """W2, the sum of squared weights."""

        def mean(self, cell: int, level: int = LEVEL) -> Fraction:
            """Return a noisy mean in units of its level."""

        def variance(self, data_variance: float, width: float) -> float:
            """Return the variance of the mean of values that vary so much in a range of this width."""

        @property
        def reach(self) -> float:
            """E as a float; infinite without noise."""

    @property
    def bias(self) -> float:
        """Bound the error from cautious and open people who differ by up to the declared gap (E15)."""
        return self.max_gap * self.tilt

    @property
    def heaviest(self) -> float:
        """Bound the largest weight from public numbers."""
        at_cap = float(exact_epsilon(self.most) / self.exact_reach)
        return float(heaviest_weight(self.people, self.weight_squares, at_cap))

    def noise_variance(self, scales: Iterable[float]) -> float:
        """Return the variance of a sum of draws of these scales (E0); without noise every scale is 0."""
        return LAPLACE.sum_variance(scales)

    def quantile(self, error: float, *, sd: float = 0.0, scales: tuple[float, ...]) -> float:
        """Return what people's part, of this sd, and draws of these scales exceed with this probability (E14, E23)."""
        return mixture_quantile(error, sd=sd, scales=scales)


@dataclass(frozen=True)
class RoundedCounted(Counting):
    """What the public is told of a question: 1/E and the squared weights up to two figures, and means on a step.

    ``people`` is at least as many as answered: of a group they are counted in tens. What follows is never more accurate than
    the truth, and intervals are never shorter.
    """

    people: int
    noise: float
    squares: float
    most: int = field(repr=False)
    means: tuple[Fraction, ...] = field(repr=False)
    tilt: float = 0.0
    max_gap: float = 0.0
    noiseless: bool = False

    @property
    def rounded(self) -> bool:
        """These are the rounded numbers."""
        return True

    @property
    def cells(self) -> int:
        """How many means there are."""
        return len(self.means)

    @property
    def reach(self) -> float:
        """Return E, at most the true one."""
        return 1.0 / self.noise

    @property
    def exact_reach(self) -> Fraction:
        """Return E as it follows from the noise that is told."""
        return 1 / Fraction(repr(self.noise))

    @property
    def weight_squares(self) -> float:
        """Return W2, at least the true one."""
        return self.squares

    def variance(self, data_variance: float, width: float) -> float:
        """Return a variance that is at least the true one."""
        return variance(data_variance, self.squares, 1.0, float(LAPLACE.variance(width * self.noise)))

    def mean(self, cell: int, level: int = LEVEL) -> Fraction:
        """Return a mean as it is told."""
        return self.means[cell]


@dataclass(frozen=True)
class Counted(Counting):
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
    def rounded(self) -> bool:
        """These are the exact numbers."""
        return False

    @property
    def cells(self) -> int:
        """How many means there are."""
        return len(self.noisy)

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

    def variance(self, data_variance: float, width: float) -> float:
        """Return E13's variance of the mean of values that vary so much in a range of this width, from exact sums."""
        noise = 0 if self.noiseless else LAPLACE.constant(Fraction(width) * int(GRAIN))
        return nearest(variance(Fraction(data_variance), self.squares, self.grains, noise))

    def mean(self, cell: int, level: int = LEVEL) -> Fraction:
        """Return a noisy mean in units of its level, exactly."""
        return Fraction(self.noisy[cell], level * self.grains)
