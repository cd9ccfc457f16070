"""What a number and a score have in common: one number between bounds, with a declared spread, of which the mean is published."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optin.questions.cells import Cell, scaled_cells
from optin.questions.counted import Counting
from optin.questions.facts import Facts
from optin.questions.number_result import NumberResult
from optin.questions.spending import Spends
from optin.questions.values import typed_between
from optin.wording.language import _
from optin.wording.numbers import counted_between

if TYPE_CHECKING:
    from optin.questions.kinds import Entry

TINIEST = 1e-150


class Measured(Facts):
    """The facts of a kind that people answer by a number within bounds."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The name it has within its sheet."""

        @property
        def bounds(self) -> tuple[float, float]:
            """What every answer is clamped to."""

        @property
        def max_gap(self) -> float:
            """How far means of cautious and open people may lie apart (E15)."""

    @property
    def width(self) -> float:
        """R = hi - lo."""
        return self.bounds[1] - self.bounds[0]

    @property
    def entry(self) -> Entry:
        """How one person answers: by a number."""
        return "number"

    def by_hand(self, answer: Any) -> float:  # noqa: ANN401
        """Take a number between the bounds."""
        return typed_between(answer, *self.bounds)

    def decoded(self, code: float) -> float:
        """Return the number that a code is."""
        return code

    @property
    def spread(self) -> float:
        """sigma^2 / R^2, at most 1/4; so little that nothing could tell it from 0 is 0."""
        spread = min(self.data_variance / self.width / self.width, 0.25)
        return spread if spread > TINIEST else 0.0

    @property
    def unit_noise_constant(self) -> float:
        """The noise constant in units of the range."""
        return float(self._noise((1.0,)))

    @property
    def worst_price(self) -> float:
        """The price where half of the answers lie at each bound."""
        return self.noise_constant / self.squared_mean

    @property
    def squared_mean(self) -> float:
        """R^2 / 4: the square of a mean in the middle, counted from the lower bound."""
        return self.width**2 / 4.0

    @property
    def proportion(self) -> bool:
        """A mean is none."""
        return False

    @property
    def declares_sd(self) -> bool:
        """Whoever asks states it; left out, it is the worst case for the bounds."""
        return True

    @property
    def numeric(self) -> bool:
        """People answer by a number."""
        return True

    @property
    def yardstick(self) -> float:
        """What ± is measured against: the declared standard deviation."""
        return math.sqrt(self.data_variance)

    @property
    def reading(self) -> tuple[str, ...]:
        """How the dot and its box are read."""
        box = _(
            "The box reaches one standard deviation to both sides: how far people differ, published at no further cost."
        )
        dot = _("The dot is the mean and the line through it the 95 % interval of the population's mean.")
        return (dot, box, _("Answers were {between}.", between=counted_between(self.bounds)))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The level of the number, and its companion: the spread of the values is free (E21)."""
        return scaled_cells(self.bounds)

    def result(self, counted: Counting) -> NumberResult:
        """Read mean and standard deviation off the noisy cells."""
        return NumberResult(self.bounds, self.data_variance, counted)

    def means_told(self, told: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """Return the means of the cells in units of the range; the estimate is told in those of the values."""
        return ((told[0] - Fraction(self.bounds[0])) / Fraction(self.width), *told[1:])

    def half_width(self, error: float, spending: Spends) -> float:
        """Return half of the interval for the mean (E22)."""
        return spending.mean_half_width(error, width=self.width, data_variance=self.data_variance)
