"""What accuracy is worth to people: any function of the variance that never rises."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from optin.errors import BadInput, Place
from optin.kernel.pieces import Array
from optin.kernel.rounding import above, below, line_above, line_below
from optin.tables.columns import Rounded, numbers, same_rows
from optin.tables.labels import aligned, together
from optin.wording.records import OneLine

Benefit = Callable[[float], Any]
LEAST = 1e-100  # below this no variance of a release is ever asked about


@dataclass(frozen=True, eq=False)
class LinearBenefit(OneLine):
    """The benefit base - slope * variance; either may be a number or one number for each person.

    >>> LinearBenefit(base=2.0, slope=4.0)(0.25)
    1.0
    """

    base: Any = 1.0
    slope: Any = 1.0
    index: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        names = "base of the benefit", "slope of the benefit"
        index, given = together(dict(zip(names, (self.base, self.slope), strict=True)), self.index)
        object.__setattr__(self, "index", index)
        for at, (name, rounded) in enumerate((("base", below), ("slope", above))):
            object.__setattr__(self, name, _finite(given[at], names[at], rounded))
        if np.any(np.asarray(self.slope) < 0):
            raise BadInput("slope of the benefit must be 0 or more: a benefit may not rise with the variance")

    def expect_rows_of(self, costs: Array) -> None:
        """Insist that base and slope speak of as many people as the costs."""
        for name in ("base", "slope"):
            same_rows(costs, getattr(self, name), ("costs", f"the benefit's {name}"))

    def take(self, order: Any) -> LinearBenefit:  # noqa: ANN401
        """Return the same benefit for people in another order, as a column would be taken."""
        base, slope = (x if np.ndim(x) == 0 else x[order] for x in (self.base, self.slope))
        return LinearBenefit(base, slope, index=None if self.index is None else self.index.take(order))

    @property
    def per_person(self) -> bool:
        """Whether people differ in base or slope."""
        return np.ndim(self.base) > 0 or np.ndim(self.slope) > 0

    def __call__(self, variance: float) -> Any:  # noqa: ANN401 - a number, or one for each person
        """Return the benefit at this variance."""
        return self.base - self.slope * variance

    def below(self, variance: float) -> Any:  # noqa: ANN401
        """Return the benefit at this variance, rounded down: nobody is told of a benefit that they do not have."""
        return line_below(self.base, self.slope, variance)

    def above(self, variance: float) -> Any:  # noqa: ANN401
        """Return the benefit at this variance, rounded up: what people give up by joining is no less."""
        return line_above(self.base, self.slope, variance)

    def __repr__(self) -> str:
        return (
            "LinearBenefit(per person)" if self.per_person else f"LinearBenefit(base={self.base}, slope={self.slope})"
        )


@dataclass(frozen=True)
class _Taken:
    """A benefit of some of the people, where it gives one number for each of all of them."""

    benefit: Benefit
    rows: Any
    index: Any

    @property
    def __name__(self) -> str:
        return getattr(self.benefit, "__name__", type(self.benefit).__name__)

    def __call__(self, variance: float) -> Any:  # noqa: ANN401
        benefits = aligned(self.benefit(variance), self.index, "the benefit")
        return benefits if np.ndim(benefits) == 0 else np.asarray(benefits)[self.rows]


def taken(benefit: Benefit, rows: Any, index: Any) -> Benefit:  # noqa: ANN401
    """Return the benefit of the people at some places; one that all share stays what it is."""
    if isinstance(benefit, LinearBenefit):
        return benefit.take(rows) if benefit.per_person else benefit
    return _Taken(benefit, rows, index) if callable(benefit) else benefit


class Watched:
    """A benefit that is called and watched: results are numbers, and never seen to rise.

    A benefit that rises with the variance would make "least fixed point" meaningless, and a plan wrong without a sign.
    """

    LIMIT = 4096

    def __init__(self, benefit: Benefit, *, people: int, index: Any = None) -> None:  # noqa: ANN401
        self._benefit, self._people, self._index = benefit, people, index
        self._seen: dict[float, float] = {}
        self._last: tuple[float, Array] | None = None

    def common(self, variance: float) -> float:
        """Return the common benefit as a float."""
        value = number_or_array(called(self._benefit, variance))
        if not isinstance(value, float):
            raise BadInput("the benefit gave one number for some variances and several for others; choose one")
        if math.isnan(value) or (value == math.inf and variance > 0):
            raise BadInput(
                "the benefit is not a finite number at variance {variance:g}; it must be one everywhere",
                variance=variance,
            )
        if len(self._seen) < self.LIMIT:
            self._seen[variance] = value
        return value

    def each(self, variance: float) -> Array:
        """Return everyone's benefit."""
        benefits = aligned(called(self._benefit, variance), self._index, "the benefit")
        values = np.asarray(number_or_array(benefits))
        if values.shape not in ((), (self._people,)):
            raise BadInput(
                "the benefit gave an array of shape {shape} for {people} people; give one each",
                shape=values.shape,
                people=self._people,
            )
        wrong = np.atleast_1d(~(values < np.inf))  # minus infinity is a benefit like any other, only a bad one
        if wrong.any():
            place = int(np.argmax(wrong))
            raise BadInput(
                "the benefit of {person} is not a finite number at variance {variance:g}",
                person=Place(place),
                variance=variance,
            )
        self._compare(variance, values)
        return np.broadcast_to(values, (self._people,))

    def _compare(self, variance: float, values: Array) -> None:
        """Compare with the last variance asked about, person by person."""
        if self._last is not None and self._last[0] != variance:
            before, other = self._last
            low, high = (other, values) if before < variance else (values, other)
            risen = np.atleast_1d(_risen(low, high))
            if risen.any():
                raise BadInput("the benefit of {person} " + RISES, person=Place(int(np.argmax(risen))))
        self._last = (variance, values)

    def check(self) -> None:
        """Raise BadInput if the common benefit was seen to rise (beyond rounding) between two variances."""
        values = [self._seen[v] for v in sorted(self._seen)]
        for low, high in pairwise(values):
            if _risen(low, high):
                raise BadInput("the benefit " + RISES)


def _risen(low: Any, high: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Tell a rise from rounding; from minus infinity to anything is one."""
    with np.errstate(invalid="ignore"):
        rounding = 1e-9 * np.maximum(np.abs(low), np.abs(high))
        return np.where(np.isinf(low), high > low, high > low + rounding)


RISES = "rises with the variance somewhere; people must not gain from a worse release"


def called(benefit: Benefit, variance: float) -> Any:  # noqa: ANN401
    """Call a benefit; what goes wrong in it is the caller's to mend, and says at which variance.

    A benefit that falls below the least float is minus infinity there, whether it says so or raises OverflowError.
    """
    try:
        return _quietly(benefit, variance)
    except BadInput:
        raise
    except OverflowError as error:
        if _is_number_before(benefit, variance):
            return -math.inf
        reason: Exception = error
    except Exception as error:
        reason = error
    raise BadInput(
        "the benefit failed at variance {variance:g} ({kind}); it must accept every positive variance",
        variance=variance,
        kind=type(reason).__name__,
    ) from reason


def _quietly(benefit: Benefit, variance: float) -> Any:  # noqa: ANN401
    """Let numpy overflow without a warning: what comes out is looked at."""
    with np.errstate(over="ignore"):
        return benefit(variance)


def _is_number_before(benefit: Benefit, variance: float) -> bool:
    """Tell an overflow downwards: a benefit never rises, so it is one wherever a smaller variance gives a number."""
    while variance > LEAST:
        variance /= 8.0
        try:
            return bool(np.all(np.isfinite(number_or_array(_quietly(benefit, variance)))))
        except OverflowError:
            continue
        except Exception:
            return False
    return False


def number_or_array(value: Any) -> float | Array:  # noqa: ANN401
    """Return what a benefit gave as a float, or as an array of them."""
    try:
        return float(value) if np.ndim(value) == 0 else numbers(value, "the benefit")
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BadInput):
            raise
    raise BadInput("the benefit must give a number, or one for each person, for every variance it is asked about")


def _finite(given: Any, name: str, rounded: Rounded) -> float | Array:  # noqa: ANN401
    try:
        value = rounded(given) if np.ndim(given) == 0 else numbers(given, name, rounded=rounded)
    except (TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput("{name} must be a number, or one for each person", name=name) from None
    if not np.isfinite(value).all():
        raise BadInput("{name} must be finite everywhere", name=name)
    return value
