"""Exact sums over integers of up to 2^42 that are kept in floats (E13, E20).

Each number is cut into two halves of at most 2^21. A product with a level of at most 2^20, or of two halves, is at most
2^42, and 2^11 of them add up to at most 2^53: all of that float64 does without error, in whatever order. Halves are put
together as Python integers, which have no end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALF = 21
"""Binary digits of the lower half."""
ROW = 2048
"""The longest row of products whose sum float64 holds exactly."""
CHUNK = 32 * ROW
"""How many people are added up at once: their halves alone, without products, add up to at most 2^53 too."""
_HALF = 2.0**HALF


@dataclass(frozen=True)
class Halves:
    """Whole numbers as upper and lower halves, of at most `CHUNK` people.

    >>> halves = cut(np.array([2.0**42, 3.0]))
    >>> halves.total() == 2**42 + 3, halves.squares() == 2**84 + 9, halves.times(np.array([1.0, 5.0])) == 2**42 + 15
    (True, True, True)
    """

    upper: Array
    lower: Array

    def total(self) -> int:
        """Add them up."""
        return (int(self.upper.sum()) << HALF) + int(self.lower.sum())

    def squares(self) -> int:
        """Add up their squares."""
        upper, cross, lower = _dot(self.upper, self.upper), _dot(self.upper, self.lower), _dot(self.lower, self.lower)
        return (upper << 2 * HALF) + (cross << HALF + 1) + lower

    def times(self, levels: Array) -> int:
        """Add up their products with levels of at most 2^20."""
        return (_dot(self.upper, levels) << HALF) + _dot(self.lower, levels)

    def by_place(self, places: NDArray[np.intp], many: int) -> list[int]:
        """Add up those at each of ``many`` places, in one pass however many there are."""
        upper, lower = (np.bincount(places, half, many)[:many].tolist() for half in (self.upper, self.lower))
        return [(int(high) << HALF) + int(low) for high, low in zip(upper, lower, strict=True)]

    def keep(self, those: NDArray[np.bool_]) -> None:
        """Let go of all others."""
        np.multiply(self.upper, those, out=self.upper)
        np.multiply(self.lower, those, out=self.lower)


def cut(numbers: Array) -> Halves:
    """Cut whole numbers of at most 2^42 into halves."""
    upper = numbers * (1.0 / _HALF)
    np.floor(upper, out=upper)
    lower = upper * -_HALF
    return Halves(upper, np.add(lower, numbers, out=lower))


def _dot(left: Array, right: Array) -> int:
    """Add up products row by row; each row's sum is an integer of at most 2^53."""
    whole = len(left) // ROW * ROW
    rows = np.vecdot(left[:whole].reshape(-1, ROW), right[:whole].reshape(-1, ROW))
    return int(rows.astype(np.int64).sum()) + int(np.vecdot(left[whole:], right[whole:]))
