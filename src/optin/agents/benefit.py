"""What accuracy is worth to people: any function of the variance that never rises."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from optin.agents.columns import numbers, same_rows
from optin.errors import BadInput
from optin.kernel.ladder import Array

__all__ = ["Benefit", "LinearBenefit", "Watched", "called", "number_or_array"]

Benefit = Callable[[float], Any]


@dataclass(frozen=True, eq=False)
class LinearBenefit:
    """The benefit base - slope * variance; either may be a number or one number for each person.

    >>> LinearBenefit(base=2.0, slope=4.0)(0.25)
    1.0
    """

    base: Any = 1.0
    slope: Any = 1.0

    def __post_init__(self) -> None:
        given = self.base, self.slope
        for name in ("base", "slope"):
            object.__setattr__(self, name, _finite(getattr(self, name), f"{name} of the benefit"))
        if np.any(np.asarray(self.slope) < 0):
            raise BadInput("slope of the benefit must be 0 or more: a benefit may not rise with the variance")
        object.__setattr__(self, "_given", given)

    def expect_rows_of(self, costs: Any) -> None:  # noqa: ANN401
        """Insist that base and slope speak of the same people as the costs."""
        for name, given in zip(("base", "slope"), self._given, strict=True):  # type: ignore[attr-defined]
            same_rows(costs, given, ("costs", f"the benefit's {name}"))

    @property
    def per_person(self) -> bool:
        """Whether people differ in base or slope."""
        return np.ndim(self.base) > 0 or np.ndim(self.slope) > 0

    def __call__(self, variance: float) -> Any:  # noqa: ANN401 - a number, or one for each person
        """Return the benefit at this variance."""
        return self.base - self.slope * variance

    def __repr__(self) -> str:
        return (
            "LinearBenefit(per person)" if self.per_person else f"LinearBenefit(base={self.base}, slope={self.slope})"
        )


class Watched:
    """A benefit that is called and watched: results are numbers, and never seen to rise.

    A benefit that rises with the variance would make "least fixed point" meaningless, and a plan wrong without a sign.
    """

    LIMIT = 4096

    def __init__(self, benefit: Benefit, *, people: int) -> None:
        self._benefit, self._people = benefit, people
        self._seen: dict[float, float] = {}
        self._last: tuple[float, Array] | None = None

    def common(self, variance: float) -> float:
        """Return the common benefit as a float."""
        value = number_or_array(called(self._benefit, variance))
        if not isinstance(value, float):
            raise BadInput("the benefit gave one number for some variances and several for others; choose one")
        if math.isnan(value) or (math.isinf(value) and variance > 0):
            raise BadInput(f"the benefit is not a finite number at variance {variance:g}; it must be one everywhere")
        if len(self._seen) < self.LIMIT:
            self._seen[variance] = value
        return value

    def each(self, variance: float) -> Array:
        """Return everyone's benefit."""
        values = np.asarray(number_or_array(called(self._benefit, variance)))
        if values.shape not in ((), (self._people,)):
            raise BadInput(
                f"the benefit gave an array of shape {values.shape} for {self._people} people; give one each"
            )
        if not np.isfinite(values).all():
            place = int(np.argmax(~np.isfinite(np.atleast_1d(values))))
            raise BadInput(f"the benefit of person {place} is not a finite number at variance {variance:g}")
        self._compare(variance, values)
        return np.broadcast_to(values, (self._people,))

    def _compare(self, variance: float, values: Array) -> None:
        """Compare with the last variance asked about, person by person."""
        if self._last is not None and self._last[0] != variance:
            before, other = self._last
            low, high = (other, values) if before < variance else (values, other)
            risen = np.atleast_1d(high > low + 1e-9 * np.maximum(np.abs(low), np.abs(high)))
            if risen.any():
                raise BadInput(f"the benefit of person {int(np.argmax(risen))} {RISES}")
        self._last = (variance, values)

    def check(self) -> None:
        """Raise BadInput if the common benefit was seen to rise (beyond rounding) between two variances."""
        values = [self._seen[v] for v in sorted(self._seen)]
        for low, high in pairwise(values):
            if high > low + 1e-9 * max(abs(low), abs(high)):
                raise BadInput(f"the benefit {RISES}")


RISES = "rises with the variance somewhere; people must not gain from a worse release"


def called(benefit: Benefit, variance: float) -> Any:  # noqa: ANN401
    """Call a benefit; what goes wrong in it is the caller's to mend, and says at which variance."""
    try:
        return benefit(variance)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(
            f"the benefit failed at variance {variance:g} ({type(error).__name__}); it must accept every positive variance"
        ) from error


def number_or_array(value: Any) -> float | Array:  # noqa: ANN401
    """Return what a benefit gave as a float, or as an array of them."""
    try:
        return float(value) if np.ndim(value) == 0 else numbers(value, "the benefit")
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BadInput):
            raise
    raise BadInput("the benefit must give a number, or one for each person, for every variance it is asked about")


def _finite(given: Any, name: str) -> float | Array:  # noqa: ANN401
    try:
        value = float(given) if np.ndim(given) == 0 else numbers(given, name)
    except (TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{name} must be a number, or one for each person") from None
    if not np.isfinite(value).all():
        raise BadInput(f"{name} must be finite everywhere")
    return value
