"""Whole numbers in few bytes: a pack holds columns of the same length, each as far above its least as it must be."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from optin.errors import OptinError, PromiseBroken

_HEAD = struct.Struct(">IB")
_COLUMN = struct.Struct(">BBq")
_PLAIN, _STEPS = 0, 1
"""How a column is told: its numbers, or how far each is from the place it stands at."""


UNREADABLE = (AttributeError, IndexError, KeyError, MemoryError, OverflowError, TypeError, ValueError)
"""What reading something else than packs can end in."""


class PacksChanged(PromiseBroken, ValueError):
    """Packs are there that no optin wrote, or some are missing."""

    def __init__(self) -> None:
        super().__init__("the ledger's packs cannot be read: they were changed; run `optin ledger verify`")


@contextmanager
def readable() -> Iterator[None]:
    """Say that packs were changed, however it shows while they are read; around a function, around every call of it."""
    changed = False
    try:
        yield
    except OptinError:
        raise
    except UNREADABLE:
        changed = True
    if changed:  # outside the handler: what was read must not hang on to what is said of it
        raise PacksChanged


def pack(columns: Sequence[NDArray[np.int64]]) -> bytes:
    """Write columns as their count, and of each its least number and the bytes above it that differ, the lowest first.

    Numbers that go up by one cost nothing, nor do numbers that are all the same.

    >>> len(pack([np.arange(1000) + 7, np.full(1000, 5), np.arange(1000) ** 2])), len(pack([]))
    (3035, 5)
    """
    count = len(columns[0]) if columns else 0
    return _HEAD.pack(count, len(columns)) + b"".join(_packed(np.asarray(column, dtype=np.int64)) for column in columns)


def _packed(column: NDArray[np.int64]) -> bytes:
    plain, rising = _told(column, _PLAIN), _told(column - np.arange(len(column)), _STEPS)
    return min(plain, rising, key=len)


def _told(numbers: NDArray[np.int64], how: int) -> bytes:
    least = int(numbers.min()) if len(numbers) else 0
    above = numbers.view(np.uint64) - np.uint64(least % 2**64)
    width = (int(above.max()).bit_length() + 7) // 8 if len(numbers) else 0
    cells = above.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width]
    return _COLUMN.pack(how, width, least) + cells.tobytes()


class Pack:
    """Columns as they lie in bytes: read in part or whole; ValueError where there are none to be read.

    >>> block = Pack(pack([np.arange(5) + 7, np.array([9, 4, 1, 2**62, 0])]))
    >>> block.count, block.find(9), block.find(3), block.cells(3), block.column(1, 1, 3).tolist()
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
            raise PacksChanged from None
        if at != len(self._body) or not all(how in (_PLAIN, _STEPS) and width <= 8 for how, width, *_ in self._columns):
            raise PacksChanged

    def __len__(self) -> int:
        return len(self._columns)

    def column(self, number: int, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
        """Read a column, or a stretch of it."""
        how, width, least, at = self._columns[number]
        stop = self.count if stop is None else min(stop, self.count)
        cells = np.zeros((stop - start, 8), dtype=np.uint8)
        raw = np.frombuffer(self._body, np.uint8, (stop - start) * width, at + start * width)
        cells[:, :width] = raw.reshape(stop - start, width)
        numbers = (cells.view("<u8").reshape(stop - start) + np.uint64(least % 2**64)).view(np.int64)
        return numbers + np.arange(start, stop) if how == _STEPS else numbers

    def cells(self, row: int) -> list[int]:
        """Read one row."""
        return [self.cell(number, row) for number in range(len(self))]

    def cell(self, number: int, row: int) -> int:
        """Read one number of a column."""
        how, width, least, at = self._columns[number]
        if not 0 <= row < self.count:
            raise IndexError(row)
        above = int.from_bytes(self._body[at + row * width : at + (row + 1) * width], "little")
        value: int = (above + least + row * (how == _STEPS) + 2**63) % 2**64 - 2**63
        return value

    def find(self, number: int) -> int | None:
        """Find the row whose first column, which goes up, is a number; of the column only what is looked at is read."""
        first, end = 0, self.count
        while first < end:
            middle = (first + end) // 2
            if self.cell(0, middle) < number:
                first = middle + 1
            else:
                end = middle
        return first if first < self.count and self.cell(0, first) == number else None


def unpack(body: bytes) -> list[NDArray[np.int64]]:
    """Read columns back; ValueError where there are none to be read.

    >>> [column.tolist() for column in unpack(pack([np.array([3, 2**62]), np.array([-1, 0])]))]
    [[3, 4611686018427387904], [-1, 0]]
    """
    block = Pack(body)
    return [block.column(number) for number in range(len(block))]
