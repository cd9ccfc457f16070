"""How far the estimate may be off (E14, E22), with the declared variance; never from the values.

The *noise* interval is about these very people: the gap between the estimate and the weighted mean of their clamped
values. The *total* interval is about the population they were drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from optin.errors import BadInput
from optin.wording.records import Brief

_ROUNDING = 2.0**-31  # an interval is at least 2^-20 of the width long, so this is at least 2^-51 of the width


@dataclass(frozen=True, repr=False)
class Interval(Brief):
    """An interval, the level it holds at and the method it was made by; unpacks into its two ends."""

    low: float
    high: float
    level: float
    method: str

    @classmethod
    def around(
        cls, estimate: float, half: float, *, bounds: tuple[float, float], level: float, method: str
    ) -> Interval:
        """Reach so far to both sides of an estimate, and no further than the bounds, for the truth lies inside them.

        Where nothing is left, because the estimate lies far outside, the nearer bound is the interval.
        """
        low, high = widened(estimate, half)
        first, last = (min(max(end, bounds[0]), bounds[1]) for end in (low, high))
        return cls(first, last, level, method)

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __getitem__(self, end: int) -> float:
        return (self.low, self.high)[end]

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


def widened(estimate: float, half: float) -> tuple[float, float]:
    """Return both ends as floats, rounded outwards.

    The estimate was rounded by half a step of the floats there, the end by another, and values within wide bounds by a
    few parts in 2^53 of the width. All of that is added here, so that no interval is too short for its own arithmetic,
    also where floats lie further apart than the noise reaches.
    """
    low, high = estimate - half, estimate + half
    more = math.ulp(max(abs(low), abs(high))) + (high - low) * _ROUNDING
    return math.nextafter(low - more, -math.inf), math.nextafter(high + more, math.inf)


def check_confidence(level: object) -> float:
    """Return the error probability that a level leaves."""
    if not isinstance(level, (float, np.floating)) or not 0.0 < level < 1.0:
        raise BadInput("level must be a number strictly between 0 and 1, for example 0.95")
    return 1.0 - float(level)
