"""A number within bounds, of which the mean is published."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from optin.errors import Argument, BadInput
from optin.formats.strict_json import Fields, finite
from optin.questions.adding import Items
from optin.questions.cells import FloatArray
from optin.questions.kinds import number
from optin.questions.measured import Measured
from optin.questions.values import as_numbers
from optin.questions.worded import checked_in, words_of, written_in
from optin.wording.language import N_

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows

WIDEST = 1e150
"""How far apart bounds may lie, and how near."""
_TWO = N_("{argument} must be two numbers, the lower first: the range every value is clamped to")


@dataclass(frozen=True, repr=False)
class Number(Measured):
    """A question answered by a number; every answer is clamped to ``bounds``.

    ``data_variance`` (or ``sd``, its root) is a declared bound, by default the worst case for the bounds. ``max_gap`` guards
    against values that are related to limits (E15).

    >>> Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work last week?").price
    158.0246913580247
    """

    kind = "number"

    name: str
    bounds: tuple[float, float]
    data_variance: float = cast("float", None)
    sd: InitVar[float | None] = None
    unit: str = ""
    text: str = ""
    column: str = ""
    importance: float = 1.0
    max_gap: float = 0.0
    max_error: float | None = None

    def __post_init__(self, sd: float | None) -> None:
        """Check what is asked, once, and keep it as plain numbers and words."""
        lo, hi = checked_bounds(self.bounds)
        checked = {
            "bounds": (lo, hi),
            "data_variance": checked_variance(hi - lo, self.data_variance, sd),
            **checked_in(self),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not 0 <= self.max_gap <= self.width:
            raise BadInput(
                "{max_gap} must lie between 0 and the width of the bounds: it is a distance between means",
                max_gap=Argument("max_gap"),
            )

    def coded(self, answers: ArrayLike, name: str = "") -> FloatArray:
        """Take numbers as they are, NaN where one is missing; cells clamp them."""
        return as_numbers(answers, name or self.column)

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Take numbers, where people stay in an engine."""
        from optin.engine.answers import coded_numbers

        return coded_numbers(rows, names[0])

    def columns_in(self, known: Collection[str]) -> tuple[str, ...]:
        """Name the one column."""
        return (self.column,)

    @property
    def price(self) -> float:
        """C (E18), counted in units of the range."""
        return self._price((1.0,), self.spread)

    @property
    def as_items(self) -> Items:
        """One item."""
        return Items(1, self.bounds, self.data_variance, self.max_gap)

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        return {**written_in(self), "bounds": list(self.bounds), "data_variance": self.data_variance}

    @classmethod
    def from_fields(cls, fields: Fields) -> Number:
        """Read what `to_record` wrote; the kind was read already."""
        return cls(bounds=pair(fields, "bounds"), data_variance=fields.take_real("data_variance"), **words_of(fields))


def pair(fields: Fields, name: str) -> tuple[float, float]:
    """Take two numbers."""
    entry = fields.take(name)
    if isinstance(entry, list) and len(entry) == 2:
        low, high = map(finite, entry)
        if low is not None and high is not None and 1 / WIDEST <= high - low <= WIDEST:
            return low, high
    fields.refuse(f'"{name}" is not a pair of usable numbers, the lower one first')


def checked_bounds(bounds: Any, name: str = "bounds") -> tuple[float, float]:  # noqa: ANN401
    """Return bounds as two floats, the lower one first."""
    try:
        two = len(bounds) == 2 and np.ndim(bounds[0]) == np.ndim(bounds[1]) == 0
    except (KeyError, TypeError):
        two = False
    if not two:
        raise BadInput(_TWO, argument=Argument(name))
    lo, hi = number(bounds[0], name, _TWO), number(bounds[1], name, _TWO)
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise BadInput("{bounds} must be finite: without them no noise hides one person's value", bounds=Argument(name))
    if not lo < hi:
        raise BadInput("{bounds} must be two different numbers, the lower first", bounds=Argument(name))
    if not 1 / WIDEST <= hi - lo <= WIDEST:
        raise BadInput(
            "{bounds} are {width:g} apart; measure the data in units that make this less extreme",
            bounds=Argument(name),
            width=hi - lo,
        )
    return lo, hi


def checked_variance(width: float, variance: float | None, sd: float | None) -> float:
    """Return the declared variance, or the worst case for the width."""
    worst = width * width / 4
    if variance is not None and sd is not None:
        raise BadInput("give {variance} or {sd}, not both", variance=Argument("data_variance"), sd=Argument("sd"))
    if variance is None and sd is None:
        return worst
    given = number(variance, "data_variance") if sd is None else number(sd, "sd") * number(sd, "sd")
    if sd is not None and float(sd) < 0:
        raise BadInput("{sd} must be 0 or more", sd=Argument("sd"))
    if not 0 <= given <= worst * (1 + 1e-12):
        raise BadInput(
            "{argument} must lie between 0 and {most:g}: no data within these bounds varies more",
            argument=Argument("data_variance" if sd is None else "sd"),
            most=worst if sd is None else width / 2,
        )
    return min(given, worst)
