"""Whole numbers in few bytes: a pack holds columns of the same length, each as far above its least as it must be."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_HEAD = struct.Struct(">IB")
_COLUMN = struct.Struct(">BBq")
_PLAIN, _STEPS = 0, 1
"""How a column is told: its numbers, or how far each is from the place it stands at."""


def pack(columns: Sequence[NDArray[np.int64]]) -> bytes:
    """Write columns as their count, and of each its least number and the bytes above it that differ, the lowest first.

    Numbers that go up by one cost nothing, nor do numbers that are all the same.

    >>> len(pack([np.arange(1000) + 7, np.full(1000, 5), np.arange(1000) ** 2])), len(pack([]))
    (3035, 5)
    """
    count = len(columns[0]) if columns else 0
    return _HEAD.pack(count, len(columns)) + b"".join(_packed(np.asarray(column, dtype=np.int64)) for column in columns)


def _packed(column: NDArray[np.int64]) -> bytes:
    plain, steps = _told(column, _PLAIN), _told(column - np.arange(len(column)), _STEPS)
    return min(plain, steps, key=len)


def _told(numbers: NDArray[np.int64], how: int) -> bytes:
    least = int(numbers.min()) if len(numbers) else 0
    above = numbers.view(np.uint64) - np.uint64(least % 2**64)
    width = (int(above.max()).bit_length() + 7) // 8 if len(numbers) else 0
    cells = above.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width]
    return _COLUMN.pack(how, width, least) + cells.tobytes()


class Pack:
    """Columns as they lie in bytes: read in part or whole; ValueError where there are none to be read.

    >>> found = Pack(pack([np.arange(5) + 7, np.array([9, 4, 1, 2**62, 0])]))
    >>> found.count, found.find(9), found.find(3), found.cells(3), found.column(1, 1, 3).tolist()
    (5, 2, None, [10, 4611686018427387904], [4, 1])
    """

    def __init__(self, body: bytes) -> None:
        self._body = bytes(body)
        try:
            self.count, columns = _HEAD.unpack_from(self._body)
            self._columns, at = [], _HEAD.size
            for _ in range(columns):
                how, width, least = _COLUMN.unpack_from(self._body, at)
                at += _COLUMN.size
                self._columns.append((how, width, least, at))
                at += self.count * width
        except struct.error:
            raise ValueError("a pack is cut off") from None
        if at != len(self._body) or not all(how in (_PLAIN, _STEPS) and width <= 8 for how, width, *_ in self._columns):
            raise ValueError("a pack is written in no way that is known")

    def __len__(self) -> int:
        return len(self._columns)

    def column(self, number: int, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
        """Read a column, or a stretch of it."""
        how, width, least, at = self._columns[number]
        stop = self.count if stop is None else min(stop, self.count)
        cells = np.zeros((stop - start, 8), dtype=np.uint8)
        found = np.frombuffer(self._body, np.uint8, (stop - start) * width, at + start * width)
        cells[:, :width] = found.reshape(stop - start, width)
        numbers = (cells.view("<u8").reshape(stop - start) + np.uint64(least % 2**64)).view(np.int64)
        return numbers + np.arange(start, stop) if how == _STEPS else numbers

    def cells(self, row: int) -> list[int]:
        """Read one row."""
        return [int(self.column(number, row, row + 1)[0]) for number in range(len(self))]

    def find(self, number: int) -> int | None:
        """Find the row whose first column, which goes up, is a number."""
        how, width, least, _ = self._columns[0]
        if how == _STEPS and width == 0:
            return number - least if 0 <= number - least < self.count else None
        column = self.column(0)
        at = int(np.searchsorted(column, number))
        return at if at < self.count and column[at] == number else None


def unpack(body: bytes) -> list[NDArray[np.int64]]:
    """Read columns back; ValueError where there are none to be read.

    >>> [column.tolist() for column in unpack(pack([np.array([3, 2**62]), np.array([-1, 0])]))]
    [[3, 4611686018427387904], [-1, 0]]
    """
    found = Pack(body)
    return [found.column(number) for number in range(len(found))]
