"""What accuracy is worth to people: any function of the variance that never rises."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from optin.agents.columns import numbers
from optin.errors import BadInput
from optin.kernel.ladder import Array

__all__ = ["Benefit", "LinearBenefit", "Watched"]

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
        for name in ("base", "slope"):
            given = getattr(self, name)
            number = float(given) if np.ndim(given) == 0 else numbers(given, name)
            if not np.isfinite(number).all():
                raise BadInput(f"{name} of the benefit must be finite everywhere")
            object.__setattr__(self, name, number)
        if np.any(np.asarray(self.slope) < 0):
            raise BadInput("slope of the benefit must be 0 or more: a benefit may not rise with the variance")

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

    def __init__(self, benefit: Benefit, *, people: int | None) -> None:
        self._benefit, self._people = benefit, people
        self._seen: dict[float, float] = {}

    def common(self, variance: float) -> float:
        """Return the common benefit as a float."""
        value = self._benefit(variance)
        if np.ndim(value) != 0 or math.isnan(value):
            raise BadInput("the benefit must give one number (not NaN) for every variance it is asked about")
        value = float(value)
        if len(self._seen) < self.LIMIT:
            self._seen[variance] = value
        return value

    def each(self, variance: float) -> Array:
        """Return everyone's benefit."""
        values = np.broadcast_to(np.asarray(self._benefit(variance), dtype=np.float64), (self._people or 1,))
        if np.isnan(values).any():
            raise BadInput(f"the benefit of person {int(np.argmax(np.isnan(values)))} is NaN at some variance")
        if len(self._seen) < self.LIMIT:
            self._seen[variance] = float(values.sum())
        return values

    def check(self) -> None:
        """Raise BadInput if the benefit was seen to rise (beyond rounding) between two variances."""
        places = sorted(self._seen)
        values = [self._seen[v] for v in places]
        for low, high in pairwise(values):
            if high > low + 1e-9 * max(abs(low), abs(high), 1e-300):
                raise BadInput(
                    "the benefit rises with the variance somewhere; people must not gain from a worse release"
                )
