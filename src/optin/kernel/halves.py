"""Exact sums over integers of up to 2^42 that are kept in floats (E13, E20).

Each number is cut into two halves of at most 2^21. A product with a level of at most 2^20, or of two halves, is at most
2^42, and 2^11 of them add up to at most 2^53: all of that float64 does without error, in whatever order. Sums of halves
are put together as Python integers, which have no end.

A question's part of the grains A = h 2^21 + l is (A B) >> 20 = 2 B h + floor(l B / 2^20), so parts have the same upper
halves as the whole, times another factor, and lower halves of two float operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.kernel.sharing import SHARES

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

HALF = 21
"""Binary digits of the lower half."""
ROW = 2048
"""The longest row of products whose sum float64 holds exactly."""
CHUNK = 32 * ROW
"""How many people are added up at once: few enough for a processor's cache."""
_FEW = 12  # so many places are compared one by one in less time than it takes to sort numbers into them


class Workspace:
    """Arrays for one chunk of people that serve for the next one too: fresh memory would cost more than the sums."""

    def __init__(self, people: int) -> None:
        self.arrays = np.empty((9, min(people, CHUNK)))

    def first(self, people: int) -> tuple[Array, ...]:
        """Return all arrays, each as long as there are people in a chunk."""
        return tuple(self.arrays[:, :people])


@dataclass(frozen=True)
class Upper:
    """Upper halves, which the parts of all questions share: they are added up once for all of them."""

    array: Array

    @cached_property
    def total(self) -> int:
        """Their sum."""
        return int(self.array.sum())

    @cached_property
    def squares(self) -> int:
        """The sum of their squares."""
        return _dot(self.array, self.array)


@dataclass(frozen=True)
class Halves:
    """Whole numbers ``factor * upper + lower``, of at most `CHUNK` people; ``spare`` are arrays to compute in.

    >>> halves = cut(np.array([2.0**42, 3.0]))
    >>> halves.total() == 2**42 + 3, halves.squares() == 2**84 + 9, halves.times(np.array([1.0, 5.0])) == 2**42 + 15
    (True, True, True)
    >>> halves.part(699051).total() == (699051 << 22) + 2
    True
    """

    upper: Upper
    lower: Array
    factor: int
    spare: tuple[Array, ...]

    def part(self, share: int, those: Mask | None = None) -> Halves:
        """Return what a question of this share gets, nothing for all but ``those``."""
        mask, upper, own, *spare = self.spare
        lower = self.lower  # which is all of it where one question gets everything
        if share != SHARES:
            lower = np.multiply(lower, share / SHARES, out=own)  # both have few digits: the product is exact
            np.floor(lower, out=lower)
        if those is None:
            return Halves(self.upper, lower, 2 * share, tuple(spare))
        mask[:] = those
        lower = np.multiply(lower, mask, out=own)
        return Halves(Upper(np.multiply(self.upper.array, mask, out=upper)), lower, 2 * share, tuple(spare))

    def total(self) -> int:
        """Add them up."""
        return self.factor * self.upper.total + int(self.lower.sum())

    def squares(self) -> int:
        """Add up their squares."""
        cross, lower = _dot(self.upper.array, self.lower), _dot(self.lower, self.lower)
        return self.factor * (self.factor * self.upper.squares + 2 * cross) + lower

    def times(self, levels: Array) -> int:
        """Add up their products with levels of at most 2^20."""
        return self.factor * _dot(self.upper.array, levels) + _dot(self.lower, levels)

    def among(self, those: NDArray[Any]) -> int:
        """Add up some of them, marked by 1 and 0."""
        levels = self.spare[0]
        levels[:] = those
        return self.times(levels)

    def by_place(self, places: Array, many: int) -> list[int]:
        """Add up those at each of ``many`` places."""
        if many <= _FEW:
            return [self.among(places == place) for place in range(many)]
        return self.by_index(places.astype(np.intp), many)

    def by_index(self, indices: NDArray[np.intp], many: int) -> list[int]:
        """Add up those at each of many indices, in a pass for each half."""
        upper, lower = (np.bincount(indices, half, many)[:many].tolist() for half in (self.upper.array, self.lower))
        return [self.factor * int(high) + int(low) for high, low in zip(upper, lower, strict=True)]


def cut(numbers: Array, spare: tuple[Array, ...] | None = None) -> Halves:
    """Cut whole numbers of at most 2^42 into halves."""
    upper, lower, *others = tuple(np.empty((8, len(numbers)))) if spare is None else spare
    np.floor(np.multiply(numbers, 2.0**-HALF, out=upper), out=upper)
    np.multiply(upper, -(2.0**HALF), out=lower)
    return Halves(Upper(upper), np.add(lower, numbers, out=lower), 1 << HALF, tuple(others))


def _dot(left: Array, right: Array) -> int:
    """Add up products row by row; each row's sum is an integer of at most 2^53."""
    in_rows = len(left) // ROW * ROW
    rows = np.vecdot(left[:in_rows].reshape(-1, ROW), right[:in_rows].reshape(-1, ROW))
    return int(rows.astype(np.int64).sum()) + int(np.vecdot(left[in_rows:], right[in_rows:]))
