"""A score of several items: they are added up before anything is kept, and the total is one number."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import KW_ONLY, InitVar, dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.questions.adding import Items
from optin.questions.cells import FloatArray
from optin.questions.measured import Measured
from optin.questions.number import checked_bounds, checked_variance, pair
from optin.questions.values import as_integer, as_numbers, typed_between
from optin.questions.worded import GAP, Worded, words_of
from optin.wording.language import N_

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows
    from optin.questions.kinds import Entry

MOST_ITEMS = 1000
_ITEMS = N_('question "{question}": items must be a whole number of 1 to {most:,}')


@dataclass(frozen=True, repr=False)
class Score(Measured, Worded):
    """The sum of ``items`` answers, each between two numbers; only the total is an answer.

    Nine items asked one by one cost 81 times the noise variance of their sum.

    >>> Score("phq9", items=9, each=(0, 3)).bounds, Score("phq9", items=9, each=(0, 3)).price
    ((0.0, 27.0), 8.0)
    """

    kind = "score"
    widest_gap = math.inf

    _: KW_ONLY
    items: int
    each: tuple[float, float]
    data_variance: float = cast("float", None)
    sd: InitVar[float | None] = None

    def __post_init__(self, sd: float | None) -> None:
        """Check words, items and their range."""
        super().__post_init__()
        self._keep(items=as_integer(self.items))
        if self.items is None or not 1 <= self.items <= MOST_ITEMS:
            raise BadInput(_ITEMS, question=self.name, most=MOST_ITEMS)
        self._keep(each=checked_bounds(self.each, "each"))
        checked_bounds(self.bounds)
        if self.max_gap > self.width:
            raise BadInput(GAP, question=self.name)
        self._keep(data_variance=checked_variance(self.width, self.data_variance, sd))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest total."""
        return self.items * self.each[0], self.items * self.each[1]

    def coded(self, answers: ArrayLike, name: str = "") -> FloatArray:
        """Take totals, or add up the items of each person (a row of so many numbers), each clamped to its range.

        Whoever left out an item has no score. Items are added up from the first to the last, as an engine does it: no other
        order would always give the same float.
        """
        numbers = as_numbers(answers, name or self.column)
        if numbers.ndim != 2 or numbers.shape[1] != self.items:
            return numbers
        return reduce(np.add, np.clip(numbers, *self.each).T)

    @property
    def entry(self) -> Entry:
        """How one person answers: each item by a number."""
        return "items"

    def by_hand(self, answer: Any) -> float:  # noqa: ANN401
        """Take the total, or add up all items, each in its range."""
        if not isinstance(answer, list | tuple):
            return super().by_hand(answer)
        items = [typed_between(each, *self.each) for each in answer]
        if len(items) != self.items:
            raise BadInput("all {items} items must be answered, or none", items=self.items)
        return float(self.coded([items])[0])

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Take totals, or add up items, where people stay in an engine."""
        from optin.engine.answers import coded_items, coded_numbers

        return coded_numbers(rows, names[0]) if len(names) == 1 else coded_items(rows, names, self.each)

    def columns_in(self, known: Collection[str]) -> tuple[str, ...]:
        """Name the column of totals, or where there is none those of the items: phq9_1, phq9_2 and so on."""
        if self.column in known:
            return (self.column,)
        for stem in dict.fromkeys((self.column, self.name)):
            items = tuple(f"{stem}_{number}" for number in range(1, self.items + 1))
            if any(item in known for item in items):
                return items
        return (self.column,)

    @property
    def as_items(self) -> Items:
        """All of its items."""
        return Items(self.items, self.each, self.data_variance, self.max_gap)

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
