"""Limits in memory, read in chunks that fit the processor's cache: the numpy form of `Limits`.

One pass over ten million limits costs about a tenth of sorting them. A sample tells where the cap must lie, so only people
near it are ever sorted; a wrong guess costs a pass and never the answer.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from optin.kernel.pieces import Array, Outline, Pieces, Sums

CHUNK = 1 << 15
ROW = 1 << 12
MERGE = 256
SMALL = 1 << 13
LARGEST_SAMPLE = 1 << 16
MANTISSA_BITS = 8
_SHIFT = 52 - MANTISSA_BITS
_GOLDEN = 0.6180339887498949
_LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True)
class ArrayLimits:
    """A float64 array of limits (``inverse``: of their reciprocals, E10), never copied whole.

    Limits above ``ceiling`` are read as infinite, so that their squares cannot overflow: right for every cap below it.
    ``scale`` is a power of two for the caps above it; all answers are then in scaled units.
    """

    values: Array = field(repr=False)
    inverse: bool = False
    scale: float = 1.0
    ceiling: float = np.inf

    def __len__(self) -> int:
        return len(self.values)

    glanced = False

    @property
    def few_enough(self) -> int:
        """The most pieces held in memory: an eighth of the people, or all of a small table."""
        return max(SMALL, len(self.values) // 8)

    def chunks(self, size: int = CHUNK) -> Iterator[Array]:
        """Yield the limits a cache-sized piece at a time."""
        changed = self.inverse or self.scale != 1.0
        buffer = np.empty(min(size, len(self.values)) if changed else 0)
        for start in range(0, len(self.values), size):
            chunk = self.values[start : start + size]
            yield self._limits(chunk, buffer[: len(chunk)])

    def _limits(self, chunk: Array, out: Array) -> Array:
        if self.inverse:
            with np.errstate(divide="ignore", over="ignore"):
                return np.divide(1.0, chunk, out=out)
        if self.ceiling < np.inf:
            return np.where(chunk > self.ceiling, np.inf, chunk)
        return chunk if self.scale == 1.0 else np.multiply(chunk, self.scale, out=out)

    def outline(self, low: float, high: float) -> Outline:
        """Estimate the sums from a spread-out sample (the same one every time)."""
        n = len(self.values)
        # About as many to sort in the sample as will lie in the range it proposes.
        size = min(int((2 * n) ** (2 / 3)), LARGEST_SAMPLE, n)
        places = (_evenly_placed()[:size] * n).astype(np.intp)
        sample = self.values[places]
        sample = self._limits(sample, np.empty(size))
        sample = np.sort(sample[(sample > low) & (sample < high)])
        weight = n / size
        below = self.sums(low) if low > 0 else Sums(0, 0.0, 0.0)
        return Outline(
            edges=sample,
            counts=below.count + weight * np.arange(1.0, len(sample) + 1),
            totals=below.total + weight * np.cumsum(sample),
            squares=below.squares + weight * np.cumsum(sample * sample),
            exact=False,
        )

    def sums(self, bound: float) -> Sums:
        """Add up the limits at or below ``bound`` in one pass."""
        tail = _Tail()
        for chunk in self.chunks():
            tail.add(chunk, np.less_equal(chunk, bound))
        return tail.sums()

    def counts_at(self, bounds: Array) -> NDArray[np.int64]:
        """Count the limits at or below each of a few rising bounds in one pass."""
        counts = np.zeros(len(bounds) + 1, dtype=np.int64)
        for chunk in self.chunks():
            counts += np.bincount(np.searchsorted(bounds, chunk, side="left"), minlength=len(counts))
        return np.cumsum(counts)[:-1]

    def clipped_total(self, bound: float) -> float:
        """Add up min(limit, bound) in one pass."""
        row = _scratch.row
        return float(sum(np.minimum(c, bound, out=row[: len(c)]).sum() for c in self.chunks()))

    def pieces(self, low: float, high: float) -> Pieces | None:
        """Collect the limits strictly between ``low`` and ``high`` and add up those at or below ``low``, in one pass."""
        return self._pieces(low, high, room=self.few_enough)

    def all_pieces(self, low: float, high: float) -> Pieces:
        """Do the same however many limits lie inside."""
        pieces = self._pieces(low, high, room=len(self.values))
        assert pieces is not None  # noqa: S101 - nobody can be more than everybody
        return pieces

    def _pieces(self, low: float, high: float, *, room: int) -> Pieces | None:
        tail, inside = _Tail(), _Distinct()
        for chunk in self.chunks():
            mask = np.less_equal(chunk, low)
            inside.add(chunk[np.flatnonzero(np.less(chunk, high) ^ mask)])
            tail.add(chunk, mask)
            if inside.size > room:
                return None
        return Pieces(low, high, tail.sums(), *inside.counted(), len(self.values))

    def buckets(self) -> Outline:
        """Count and add up limits in buckets of equal relative width, 256 to a doubling, in one pass.

        The leading bits of a positive float64 are its logarithm to eight binary places, so no logarithm is taken.
        """
        low, high = self._extremes[:2]
        if high <= 0:
            empty = np.empty(0)
            return Outline(empty, empty, empty, empty, exact=True)
        first, last = _bucket(low), _bucket(high)
        size = last - first + 1
        counts, totals, squares = np.zeros(size), np.zeros(size), np.zeros(size)
        for chunk in self.chunks(max(CHUNK, size)):
            finite = chunk if self.zeros + self.infinite == 0 else chunk[(chunk > 0) & (chunk < np.inf)]
            keys = (finite.view(np.int64) >> _SHIFT) - first
            counts += np.bincount(keys, minlength=size)
            totals += np.bincount(keys, weights=finite, minlength=size)
            squares += np.bincount(keys, weights=finite * finite, minlength=size)
        edges = np.arange(first + 1, last + 2, dtype=np.int64) << _SHIFT
        # The largest float below the next bucket's edge: everything counted so far is at or below it.
        tops = (edges - 1).view(np.float64)
        return Outline(tops, self.zeros + np.cumsum(counts), np.cumsum(totals), np.cumsum(squares), exact=True)

    @cached_property
    def _extremes(self) -> tuple[float, float, int, int]:
        low, high, zeros, infinite = np.inf, 0.0, 0, 0
        for chunk in self.chunks():
            small, large = float(chunk.min()), float(chunk.max())
            if small <= 0 or large == np.inf:
                zeros += _count(chunk == 0)
                infinite += _count(chunk == np.inf)
                plain = chunk[(chunk > 0) & (chunk < np.inf)]
                small, large = (float(plain.min()), float(plain.max())) if len(plain) else (np.inf, 0.0)
            low, high = min(low, small), max(high, large)
        return low, high, zeros, infinite

    @property
    def least(self) -> float:
        """The smallest positive finite limit."""
        return self._extremes[0]

    @property
    def zeros(self) -> int:
        """How many limits are zero."""
        return self._extremes[2]

    @property
    def infinite(self) -> int:
        """How many limits are infinite."""
        return self._extremes[3]


class _Scratch(threading.local):
    """Room for one chunk in each thread: memory that is asked for and given back for every small table costs more than it."""

    def __init__(self) -> None:
        self.row = np.empty(CHUNK)


_scratch = _Scratch()


class _Distinct:
    """Limits collected chunk after chunk; where many fall in a chunk, equal ones are counted at once."""

    def __init__(self) -> None:
        self._plain: list[Array] = []
        self._values: list[Array] = []
        self._counts: list[NDArray[np.int64]] = []
        self.size = 0

    def add(self, limits: Array) -> None:
        if len(limits) <= CHUNK // 8:
            self._plain.append(limits)
        else:
            limits, counts = np.unique(limits, return_counts=True)
            self._values.append(limits)
            self._counts.append(counts)
        self.size += len(limits)
        if len(self._values) > MERGE:
            self._merge()

    def _merge(self) -> None:
        values, counts = self.counted()
        self._plain, self._values, self._counts, self.size = [], [values], [counts], len(values)

    def counted(self) -> tuple[Array, NDArray[np.int64]]:
        """Return the distinct limits, rising, and how often each was added."""
        if not self._plain and len(self._values) == 1:
            return self._values[0], self._counts[0]
        plain = np.sort(np.concatenate(self._plain)) if self._plain else np.empty(0)
        starts = _starts(plain)
        values, counts = plain[starts], np.diff(starts, append=len(plain))
        if not self._values:
            return values, counts
        values, counts = np.concatenate([values, *self._values]), np.concatenate([counts, *self._counts])
        order = np.argsort(values)
        starts = _starts(values[order])
        return values[order][starts], np.add.reduceat(counts[order], starts)


@cache
def _evenly_placed() -> Array:
    """Return a Weyl sequence: it visits an array evenly in any order it may be sorted in, with no generator to seed."""
    return np.arange(LARGEST_SAMPLE, dtype=np.float64) * _GOLDEN % 1.0


def _starts(rising: Array) -> NDArray[np.int64]:
    """Return where each run of equal values begins."""
    if len(rising) == 0:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.concatenate(([True], rising[1:] != rising[:-1])))


class _Tail:
    """Running sums over the marked limits of chunk after chunk.

    Few marked ones are gathered; many are multiplied by their mark, which is faster than gathering them. Chunks are
    added up exactly (fsum), so that the sum of many is as good as the sum of one.
    """

    def __init__(self) -> None:
        self._count = 0
        self._totals: list[float] = []
        self._squares: list[float] = []

    def add(self, chunk: Array, mask: NDArray[np.bool_]) -> None:
        count = int(np.count_nonzero(mask))
        if count == 0:
            return
        self._count += count
        kept = chunk[np.flatnonzero(mask)] if count < len(chunk) // 4 else self._marked(chunk, mask, count)
        self._totals.append(float(kept.sum()))
        self._squares.append(_square_sum(kept))

    def _marked(self, chunk: Array, mask: NDArray[np.bool_], count: int) -> Array:
        if count == len(chunk):
            return chunk
        # An infinite limit times False would be NaN; no infinite limit is ever marked.
        row = _scratch.row[: len(chunk)]
        return np.multiply(np.minimum(chunk, _LARGEST, out=row), mask, out=row)

    def sums(self) -> Sums:
        return Sums(self._count, math.fsum(self._totals), math.fsum(self._squares))


def _square_sum(values: Array) -> float:
    """Add up squares in rows short enough that no BLAS starts threads for them, which a busy machine punishes."""
    in_rows = len(values) // ROW * ROW
    rows = values[:in_rows].reshape(-1, ROW)
    rest = values[in_rows:]
    return float(np.vecdot(rows, rows).sum()) + float(rest @ rest)


def _bucket(value: float) -> int:
    return int(np.float64(value).view(np.int64)) >> _SHIFT


def _count(mask: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(mask))
