"""E13's integers: what each person is promised, in grains, and the exact sums over everyone.

One grain is 2^-32 of epsilon. A person is promised ``A = floor(eps * 2^32)`` grains, never more than their limit:
multiplying a float by a power of two is exact, so is the floor, and both are monotone. A value becomes a level of 0 to
2^20. All sums are exact: the numbers are integers that a float holds exactly, cut into halves so that no partial
sum passes 2^53, and put together as Python integers. The order of the people therefore never changes a digit.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.errors import BadInput, Place, PromiseBroken
from optin.grains.values import as_numbers
from optin.kernel.rounding import GRAIN, LOWERED, lowered

__all__ = [
    "GRAIN",
    "HIGHEST_EPSILON",
    "LEVEL",
    "LOWERED",
    "NO_VALUE",
    "GrainRule",
    "Sums",
    "everyone_grains",
    "levels",
    "lowered",
    "sums",
    "sums_above",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Found = TypeVar("Found")
Numbers = Any
"""One value a person: floats, or in an engine the name of a column; None where no values are summed."""
Answers = Any
"""Who joined: booleans, or in an engine the name of a column or an expression; None for everyone."""

LEVEL = 2.0**20
"""Steps between the lower and the upper bound of a value."""
NO_VALUE = "{person} joined but their value is missing or not a number: give it, or mark them as not joined"
HIGHEST_EPSILON = 1024.0
"""The most one release promises, so that ``A * level`` stays below 2^63."""

_HALF = 2.0**21  # A <= 2^42 is cut into two halves of at most 2^21
_ROW = 2048  # halves squared (2^42) times 2^11 is 2^53: the longest row whose sum a float holds exactly
_CHUNK = 64 * _ROW  # small enough for the cache, long enough that the cost of calls vanishes
_SPAN = 2**20  # fewer people than this are not worth a thread


@dataclass(frozen=True)
class GrainRule:
    """How grains follow from limits: ``floor(min(limit, cap) * 2^32)``; only infinite limits if there is no noise."""

    limits: Callable[[slice], FloatArray]
    people: int
    cap: float

    @property
    def noiseless(self) -> bool:
        """Say whether nothing hides the sum, so that only people without any limit may count."""
        return bool(np.isinf(self.cap))

    @property
    def most(self) -> int:
        """Return the grains of whoever reaches the cap."""
        return int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    def sums(self, *, joined: BoolArray | None = None) -> tuple[Sums, Sums]:
        """Add up everyone's promises, and those of the people who joined (`sums`)."""
        return sums(self, joined=joined)

    def weighed(self, values: ArrayLike, *, bounds: tuple[float, float], joined: BoolArray | None = None) -> Sums:
        """Add up promises and weighted levels of those who joined (`sums`)."""
        return sums(self, joined=joined, values=as_numbers(values, self.people), bounds=bounds)[1]

    def spent(self, joined: BoolArray | None) -> Callable[[], NDArray[np.int64]]:
        """Return what lists everyone's grains, 0 for those who did not join."""
        return partial(_spent, self, joined)

    def sums_above(self, bar: int, joined: BoolArray | None = None) -> tuple[int, int]:
        """Count and add up the promises above a bar (`sums_above`)."""
        return sums_above(self, bar, joined)


@dataclass(frozen=True)
class Sums:
    """Exact sums over some people; ``weighted`` (sum of A times level) is private and never shown.

    ``promised`` counts those with a grain or more. ``marks`` stands for who was promised what: in an engine, a sum of salted
    hashes of ids and grains.
    """

    people: int = 0
    promised: int = 0
    grains: int = 0
    squares: int = 0
    weighted: int = field(default=0, repr=False)
    marks: int = field(default=0, repr=False)

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            people=self.people + other.people,
            promised=self.promised + other.promised,
            grains=self.grains + other.grains,
            squares=self.squares + other.squares,
            weighted=self.weighted + other.weighted,
            marks=self.marks + other.marks,
        )


def levels(values: FloatArray, bounds: tuple[float, float], out: FloatArray | None = None) -> FloatArray:
    """Compute E13's levels ``floor((clamp(d) - lo) / R * 2^20 + 1/2)``, the same float64 steps on every engine.

    >>> levels(np.array([-5.0, 0.0, 0.25, 1.0, 7.0]), (0.0, 1.0)).tolist()
    [0.0, 0.0, 262144.0, 1048576.0, 1048576.0]
    """
    lo, hi = bounds
    with np.errstate(all="ignore"):  # what a value does to the processor's flags is nobody's business
        z: FloatArray = np.clip(values, lo, hi, out=out)
        z -= lo
        z /= hi - lo
        z *= LEVEL
        z += 0.5
        return np.floor(z, out=z)


def everyone_grains(rule: GrainRule) -> NDArray[np.int64]:
    """List what each person is promised, as integers."""
    grains = np.empty(rule.people, dtype=np.int64)
    for rows in _chunks(slice(0, rule.people)):
        grains[rows] = _grains(rule, rows, np.empty(rows.stop - rows.start))
    return grains


def _spent(rule: GrainRule, joined: BoolArray | None) -> NDArray[np.int64]:
    return everyone_grains(rule) if joined is None else everyone_grains(rule) * joined


def sums(
    rule: GrainRule,
    *,
    joined: BoolArray | None = None,
    values: FloatArray | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[Sums, Sums]:
    """Add up everyone's promises, and the promises (and weighted levels) of those who joined, in one pass."""

    def over(span: slice) -> tuple[Sums, Sums]:
        return _span_sums(rule, span, joined, values, bounds)

    everyone, present = Sums(), Sums()
    for all_of_span, present_of_span in _in_threads(over, rule.people):
        everyone, present = everyone + all_of_span, present + present_of_span
    return everyone, present


def sums_above(rule: GrainRule, bar: int, joined: BoolArray | None = None) -> tuple[int, int]:
    """Count the people promised more than ``bar`` grains, and add up what they are promised (the tilt of E15)."""

    def over(span: slice) -> tuple[int, int]:
        return _span_sums_above(rule, span, bar, joined)

    counts, totals = zip(*_in_threads(over, rule.people), strict=True)
    return sum(counts), sum(totals)


def _span_sums_above(rule: GrainRule, span: slice, bar: int, joined: BoolArray | None) -> tuple[int, int]:
    count = total = 0
    workspace = np.zeros((2, min(_CHUNK, _ROW * -(-(span.stop - span.start) // _ROW))))
    for rows in _chunks(span):
        size = rows.stop - rows.start
        workspace[:, size:] = 0.0
        grains, counted = workspace[:, :size]
        above = _grains(rule, rows, grains, counted) > bar
        if joined is not None:
            above &= joined[rows]
        count += int(np.count_nonzero(above))
        counted[:] = above
        total += _whole(np.vecdot(*_in_rows(workspace)))
    return count, total


def _span_sums(
    rule: GrainRule, span: slice, joined: BoolArray | None, values: FloatArray | None, bounds: tuple[float, float]
) -> tuple[Sums, Sums]:
    everyone, present = Sums(), Sums()
    workspace = np.zeros((5, min(_CHUNK, _ROW * -(-(span.stop - span.start) // _ROW))))
    for rows in _chunks(span):
        size = rows.stop - rows.start
        workspace[:, size:] = 0.0
        grains, spare, level = workspace[:3, :size]
        _grains(rule, rows, grains, spare)
        _cut(workspace)
        if values is not None:
            _joined_levels(values[rows], None if joined is None else joined[rows], bounds, level, rows.start)
        if joined is None:
            present += _add_up(workspace, size)
        else:
            everyone += _add_up(workspace, size, weighted=False)
            spare[:] = joined[rows]
            present += _add_up_joined(workspace, int(np.count_nonzero(joined[rows])))
    return (everyone, present) if joined is not None else (present, present)


def _joined_levels(
    values: FloatArray, joined: BoolArray | None, bounds: tuple[float, float], out: FloatArray, first: int
) -> None:
    """Compute levels; that someone joined and their value is missing is the one thing about values that is refused."""
    levels(values, bounds, out=out)
    if not np.isnan(out.max()):
        return
    missing = np.isnan(out) if joined is None else np.isnan(out) & joined
    if missing.any():
        index = first + int(np.argmax(missing))
        raise BadInput(NO_VALUE, person=Place(index))
    np.fmax(out, 0.0, out=out)


def _grains(rule: GrainRule, rows: slice, out: FloatArray, scaled: FloatArray | None = None) -> FloatArray:
    """Compute the grains of some rows into ``out``, and refuse (never correct) any that pass the limit."""
    limits = rule.limits(rows)
    with np.errstate(over="ignore"):
        scaled = np.multiply(limits, GRAIN, out=scaled)
    if rule.noiseless:
        np.multiply(np.isinf(limits), HIGHEST_EPSILON * GRAIN, out=out)
    else:
        np.floor(np.minimum(scaled, min(rule.cap, HIGHEST_EPSILON) * GRAIN, out=out), out=out)
    if not np.all(out <= scaled):
        raise PromiseBroken(
            "{person} or one of the {others} after them: a limit is missing or not a number",
            person=Place(rows.start),
            others=out.size,
        )
    return out


def _cut(workspace: FloatArray) -> None:
    """Cut the grains of one chunk into halves: workspace rows are grains, who joined, levels, upper and lower halves."""
    grains, _, _, upper, lower = workspace
    np.floor(np.multiply(grains, 1.0 / _HALF, out=upper), out=upper)
    np.subtract(grains, np.multiply(upper, _HALF, out=lower), out=lower)


def _add_up(workspace: FloatArray, people: int, *, weighted: bool = True) -> Sums:
    """Add up one chunk that is cut: every row sum is an integer of at most 2^53, which float64 adds without error."""
    grains, _, level, upper, lower = _in_rows(workspace)
    return Sums(
        people=people,
        promised=int(np.count_nonzero(grains)),
        grains=_whole(grains.sum(axis=1)),
        squares=_squares(upper, lower),
        weighted=_weighted(upper, lower, level) if weighted else 0,
    )


def _add_up_joined(workspace: FloatArray, people: int) -> Sums:
    """Add up those who joined (ones in the second row), letting go of the halves of the others."""
    workspace[3:] *= workspace[1]
    grains, joined, level, upper, lower = _in_rows(workspace)
    return Sums(
        people=people,
        promised=int(np.count_nonzero(upper)) + int(np.count_nonzero((upper == 0.0) & (lower > 0.0))),
        grains=_whole(np.vecdot(grains, joined)),
        squares=_squares(upper, lower),
        weighted=_weighted(upper, lower, level),
    )


def _in_rows(workspace: FloatArray) -> Iterator[FloatArray]:
    return (column.reshape(-1, _ROW) for column in workspace)


def _squares(upper: FloatArray, lower: FloatArray) -> int:
    cross = _whole(np.vecdot(upper, lower))
    return (_whole(np.vecdot(upper, upper)) << 42) + (cross << 22) + _whole(np.vecdot(lower, lower))


def _weighted(upper: FloatArray, lower: FloatArray, level: FloatArray) -> int:
    return (_whole(np.vecdot(upper, level)) << 21) + _whole(np.vecdot(lower, level))


def _whole(row_sums: FloatArray) -> int:
    return int(row_sums.astype(np.int64).sum())


def _chunks(span: slice) -> list[slice]:
    return [slice(start, min(start + _CHUNK, span.stop)) for start in range(span.start, span.stop, _CHUNK)]


def _in_threads(over: Callable[[slice], Found], people: int) -> list[Found]:
    """Run over spans of the people, one per processor; numpy lets go of the interpreter while it works."""
    workers = max(1, min(os.cpu_count() or 1, people // _SPAN))
    edges = [people * k // workers for k in range(workers + 1)]
    spans = [slice(a, b) for a, b in itertools.pairwise(edges)]
    if workers == 1:
        return [over(spans[0])]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(over, spans))
