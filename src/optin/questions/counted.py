"""What a question was released over, and the noisy integers it gave: all public (E20, E28)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.rounding import epsilon_of, exact_epsilon
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

    def mean(self, cell: int, level: int = LEVEL) -> Fraction:
        """Return a noisy mean in units of its level, exactly."""
        return Fraction(self.noisy[cell], level * self.grains)
