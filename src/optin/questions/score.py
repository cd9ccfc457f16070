"""A score of several items: they are added up before anything is kept, and the total is one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any, ClassVar, cast

import numpy as np

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.kernel.noise import LAPLACE
from optin.questions.cells import FloatArray
from optin.questions.number import checked_bounds, checked_variance, pair, spread_of
from optin.questions.options import coded_numbers
from optin.questions.spending import Spending
from optin.questions.worded import GAP, Worded, words_of

MOST_ITEMS = 1000
_ITEMS = 'question "{question}": items must be a whole number of 1 to {most:,}'


@dataclass(frozen=True)
class Score(Worded):
    """The sum of ``items`` answers, each between two numbers; only the total is an answer.

    Nine items asked one by one cost 81 times the noise variance of their sum.

    >>> Score("phq9", items=9, each=(0, 3)).bounds, Score("phq9", items=9, each=(0, 3)).price
    ((0.0, 27.0), 8.0)
    """

    kind: ClassVar[str] = "score"
    widest_gap: ClassVar[float] = math.inf

    _: KW_ONLY
    items: int
    each: tuple[float, float]
    data_variance: float = cast("float", None)
    sd: InitVar[float | None] = None

    def __post_init__(self, sd: float | None) -> None:
        """Check words, items and their range."""
        super().__post_init__()
        if isinstance(self.items, bool) or not isinstance(self.items, int) or not 1 <= self.items <= MOST_ITEMS:
            raise BadInput(_ITEMS, question=self.name, most=MOST_ITEMS)
        self._keep(each=checked_bounds(self.each))
        checked_bounds(self.bounds)
        if self.max_gap > self.width:
            raise BadInput(GAP, question=self.name)
        self._keep(data_variance=checked_variance(self.width, self.data_variance, sd))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest total."""
        return self.items * self.each[0], self.items * self.each[1]

    @property
    def width(self) -> float:
        """R, the distance between them."""
        return self.bounds[1] - self.bounds[0]

    @property
    def spread(self) -> float:
        """sigma^2 / R^2, as that of any number."""
        return spread_of(self.data_variance, self.width)

    @property
    def noise_constant(self) -> float:
        """The noise variance where epsilons add up to 1."""
        return float(LAPLACE.constant(self.width))

    @property
    def price(self) -> float:
        """C (E18)."""
        return self.noise_constant / self.data_variance if self.data_variance else math.inf

    def coded(self, answers: Sequence[Any]) -> FloatArray:
        """Add up the items of each person, each clamped to its range; a total given as one number stays as it is."""
        raw = np.asarray(answers)
        if raw.ndim == 2 and raw.shape[1] == self.items and raw.dtype.kind in "biuf":
            return np.asarray(np.clip(raw, *self.each).sum(axis=1), dtype=np.float64)
        return coded_numbers(answers, self.name)

    @property
    def yardstick(self) -> float:
        """What ± is measured against: the declared standard deviation."""
        return math.sqrt(self.data_variance)

    def half_width(self, error: float, spending: Spending) -> float:
        """Return half of the interval for the mean (E22)."""
        return spending.mean_half_width(error, width=self.width, data_variance=self.data_variance)

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        return {
            **self.words(),
            "items": self.items,
            "each": list(self.each),
            "data_variance": self.data_variance,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Score:
        """Read what `to_record` wrote; the kind was read already."""
        numbers = {"items": fields.take_int("items"), "each": pair(fields, "each")}
        return cls(**words_of(fields), **numbers, data_variance=fields.take_real("data_variance"))  # type: ignore[arg-type]
