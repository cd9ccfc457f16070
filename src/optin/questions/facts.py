"""What follows from the facts of a kind: its noise and its price (E18), and what most kinds have in common."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.kernel.noise import LAPLACE
from optin.questions.brief import BriefQuestion
from optin.questions.cells import FloatArray
from optin.questions.spending import Spends
from optin.wording.amounts import plus_minus_of
from optin.wording.language import _
from optin.wording.numbers import at_least, plain

if TYPE_CHECKING:
    from optin.questions.adding import Items
    from optin.questions.kinds import Entry

Real = float | Fraction
"""A float, or a fraction where it must be exact."""


class Facts(BriefQuestion):
    """What planner, release and report ask of a kind: of one proportion, unless the kind says otherwise.

    A kind states what one replaced answer moves (``noise_scales``) and how far answers vary; which noise is drawn, and what
    that costs, is decided here for all of them.
    """

    if TYPE_CHECKING:

        @property
        def unit(self) -> str:
            """What its values are counted in."""

        @property
        def data_variance(self) -> float:
            """The declared variance of answers."""

        def coded(self, answers: Any, name: str = "") -> FloatArray:  # noqa: ANN401
            """Code each answer as one float."""

    @property
    def width(self) -> float:
        """How far published proportions can lie apart."""
        return 1.0

    @property
    def noise_scales(self) -> tuple[Real, ...]:
        """The scales of all noises in one published number where epsilons add up to 1: what one answer can move."""
        return (self.width,)

    @property
    def exact_noise_scales(self) -> tuple[Fraction, ...]:
        """The noise scales without rounding."""
        return tuple(Fraction(scale) for scale in self.noise_scales)

    @property
    def variance_terms(self) -> int:
        """How many published numbers the variance is the sum of."""
        return 1

    @property
    def exact_variance(self) -> Real:
        """The variance of answers that the price counts in, as a fraction where no float is exact."""
        return self.data_variance

    @property
    def noise_constant(self) -> float:
        """The noise variance of all published numbers together where epsilons add up to 1 (E18)."""
        return float(self._noise(self.noise_scales))

    @property
    def exact_noise_constant(self) -> Fraction:
        """The noise constant without rounding."""
        return Fraction(self._noise(self.exact_noise_scales))

    @property
    def price(self) -> float:
        """C = kappa R^2 / sigma^2 (E18)."""
        return self._own_price

    @cached_property
    def _own_price(self) -> float:
        return self._price(self.noise_scales, self.exact_variance)

    @property
    def worst_price(self) -> float:
        """The price itself: only numbers declare less than the worst case."""
        return self.price

    @property
    def squared_mean(self) -> float:
        """A quarter of one proportion, p^2 for each of several that are alike."""
        return 0.25 if self.variance_terms == 1 else 1.0 / self.variance_terms

    @property
    def proportion(self) -> bool:
        """Whether its numbers are proportions of people."""
        return True

    def plus_minus(self, half: float) -> str:
        """Write ± and half of an interval for its answers: in points of a hundred, or in its unit."""
        return plus_minus_of(half, proportion=self.proportion, unit=self.unit)

    def spread_words(self, number: float) -> str:
        """Write a standard error, or another distance between its answers, as `plus_minus` does and without the sign."""
        return (
            _("{half} points", half=plain(100 * number)) if self.proportion else f"{plain(number)} {self.unit}".rstrip()
        )

    def gap_words(self, gap: float) -> str:
        """Write how far cautious and open people may differ before that matters (E22), rounded down: no more is promised."""
        return (
            _("{half} points", half=at_least(100 * gap, 2))
            if self.proportion
            else f"{at_least(gap, 2)} {self.unit}".rstrip()
        )

    @property
    def declares_sd(self) -> bool:
        """Whether whoever asks states the sd of its answers."""
        return False

    @property
    def numeric(self) -> bool:
        """Whether people answer by a number."""
        return False

    @property
    def as_items(self) -> Items | None:
        """What it adds to a score; only numbers and ordered options can be added up."""
        return None

    @property
    def labels(self) -> tuple[str, ...]:
        """The options that people choose among; of a number, none."""
        options: tuple[str, ...] = getattr(self, "options", ())
        return options

    @property
    def entry(self) -> Entry:
        """How one person answers: by one of the options."""
        return "one"

    def by_hand(self, answer: Any) -> float:  # noqa: ANN401
        """Code what one person chose; the refusal does not repeat it."""
        try:
            return float(self.coded([answer])[0])
        except BadInput:
            pass
        raise BadInput("your answer is not one of those to choose from")

    @property
    def yardstick(self) -> float:
        """What ± is measured against: the sd of an option that half of the people choose."""
        return 0.5

    @property
    def reading(self) -> tuple[str, ...]:
        """How a picture of its result is read."""
        return (_("Bars are proportions of people, lines their 95 % intervals."),)

    def means_told(self, told: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """Return the means of the cells: proportions are told as they are."""
        return told

    def half_width(self, error: float, spending: Spends) -> float:
        """Return half of the interval for a proportion of one half, the widest there is."""
        return spending.proportion_half_width(error, tuple(map(float, self.exact_noise_scales)))

    def _noise(self, scales: tuple[Real, ...]) -> Real:
        variance: Real = self.variance_terms * sum(map(LAPLACE.variance, scales))
        return variance

    def _price(self, scales: tuple[Real, ...], variance: Real) -> float:
        """Return what noise of these scales costs where answers vary so much, both in the same unit."""
        return float(self._noise(scales) / variance) if variance else math.inf
