"""People a batch at a time: what leaves an engine, or memory, on its way into a ledger or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.errors import PromiseBroken
from optin.grains.arrays import HIGHEST_EPSILON, GrainRule
from optin.grains.exact_sums import SheetSums
from optin.grains.splitting import ALONE
from optin.kernel.rounding import GRAIN

Column = Sequence[int] | NDArray[Any]
Numbers = Column | None
DIFFERS = (
    "what would be written differs from what was computed: someone declined meanwhile, or the table was changed"
    " while it was read. Nothing was written or charged: try again"
)


@dataclass(frozen=True)
class Batch:
    """Some people, with what an act of a ledger needs to know of each; what it does not is None.

    ``totals`` is what they allow over all releases, ``bounded`` whether that cut their promise of so many ``grains``. In a
    sheet of two or more questions, ``capped`` is what these grains are the parts of, and ``answered`` has the bit of every
    question that a person who joined answered; where there is one question both are None. Of people in public groups all of
    these are there, and ``design`` is the place of each person's group in the announcement.
    """

    ids: Sequence[str] = field(repr=False)
    grains: Numbers = field(default=None, repr=False)
    totals: Numbers = field(default=None, repr=False)
    bounded: Numbers = field(default=None, repr=False)
    joined: Numbers = field(default=None, repr=False)
    capped: Numbers = field(default=None, repr=False)
    answered: Numbers = field(default=None, repr=False)
    design: Numbers = field(default=None, repr=False)

    def rows(self, start: int = 0) -> Iterator[tuple[Any, ...]]:
        """Count the people from ``start`` on, and list all columns row by row."""
        columns = (self._listed(column) for column in (self.grains, self.totals, self.bounded, self.joined))
        split = (self._listed(column, otherwise=None) for column in (self.capped, self.answered, self.design))
        return zip(range(start, start + len(self.ids)), self.ids, *columns, *split, strict=True)

    def _listed(self, column: Numbers, *, otherwise: int | None = 0) -> Iterable[int | None]:
        if column is None:
            return repeat(otherwise, len(self.ids))
        if isinstance(column, np.ndarray):
            return column.astype(np.int64).tolist() if column.dtype == np.bool_ else column.tolist()  # type: ignore[no-any-return]
        return column


class Entrance(Protocol):
    """How people enter a ledger: all at once from memory, or batch by batch."""

    def at_once(self, batch: Batch) -> AbstractContextManager[Any]:
        """Take people in memory as one batch."""

    def in_batches(self, batches: Iterable[Batch]) -> AbstractContextManager[Any]:
        """Let them wait beside the ledger until all are there."""


def counted(batches: Iterable[Batch], *, people: int, grains: int) -> Iterator[Batch]:
    """Pass batches on, and refuse at their end if they were not so many people and grains."""
    passed = promised = 0
    for batch in batches:
        passed, promised = passed + len(batch.ids), promised + total(batch.grains if batch.grains is not None else ())
        yield batch
    if (passed, promised) != (people, grains):
        raise PromiseBroken(DIFFERS)


_HALF = 31
"""Bits: numbers are added up in two halves, which stay within 63 bits."""


def total(numbers: Column) -> int:
    """Add up whole numbers exactly, of up to 2^31 people.

    >>> total([2**62, 2**62, 2**62, 5]) == 3 * 2**62 + 5
    True
    """
    integers = np.asarray(numbers, dtype=np.int64)
    return (int(np.sum(integers >> _HALF)) << _HALF) + int(np.sum(integers & ((1 << _HALF) - 1)))


class Passed:
    """What went by on its way to a ledger, of those who joined: sums, and for each question how much above a bar."""

    def __init__(self, bars: tuple[int, ...], shares: tuple[int, ...] = ALONE) -> None:
        self.bars, self.shares, self.those = bars, shares, SheetSums()
        self.above: tuple[tuple[int, int], ...] = tuple((0, 0) for _ in bars)

    @property
    def marks(self) -> int:
        """What stands for who was promised and answered what."""
        return self.those.marks

    def note(self, capped: Column, joined: Column, marks: Column, answered: Column | None = None) -> None:
        """Add up one batch: grains in all, who joined, and which questions they answered (None: every one)."""
        limits, those = np.asarray(capped, dtype=np.float64) / GRAIN, np.asarray(joined, dtype=np.bool_)
        rule = GrainRule(limits.__getitem__, len(capped), HIGHEST_EPSILON, self.shares)
        codes = None if answered is None else _codes_of(np.asarray(answered, dtype=np.int64), len(self.shares))
        sums = rule.sums(joined=those, codes=codes)[1]
        self.those += replace(sums, marks=total(np.asarray(marks, dtype=np.int64)[those]))
        above = rule.sums_above(self.bars, those, codes)
        self.above = tuple((n + m, a + b) for (n, a), (m, b) in zip(self.above, above, strict=True))


class PassedGroups:
    """What went by of people in public groups, of each group by itself."""

    def __init__(self, bars: Sequence[tuple[int, ...]], shares: Sequence[tuple[int, ...]]) -> None:
        self.parts = [Passed(*each) for each in zip(bars, shares, strict=True)]

    @property
    def above(self) -> list[tuple[tuple[int, int], ...]]:
        """Say how much went by above the bars of each group."""
        return [part.above for part in self.parts]

    @property
    def marks(self) -> int:
        """What stands for who was promised and answered what."""
        return sum(part.marks for part in self.parts)

    def note(self, capped: Column, joined: Column, marks: Column, answered: Column | None, design: Column) -> None:
        """Add up one batch, group by group."""
        columns = [np.asarray(column) for column in (capped, joined, marks)]
        given, places = None if answered is None else np.asarray(answered), np.asarray(design)
        order = np.argsort(places, kind="stable")
        present, starts = np.unique(places[order], return_index=True)
        for place, rows in zip(present.tolist(), np.split(order, starts[1:]), strict=True):
            own = (column[rows] for column in columns)
            self.parts[place].note(*own, None if given is None else given[rows])


def _codes_of(answered: NDArray[np.int64], questions: int) -> tuple[NDArray[np.float64], ...]:
    """Return codes that say no more than which questions were answered."""
    return tuple(np.where(answered >> k & 1, 0.0, np.nan) for k in range(questions))
