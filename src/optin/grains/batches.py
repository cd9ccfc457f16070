"""People a batch at a time: what leaves an engine, or memory, on its way into a ledger or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.errors import PromiseBroken
from optin.grains.arrays import Sums

Numbers = Sequence[int] | NDArray[Any] | None
DIFFERS = (
    "what would be written differs from what was computed: someone declined meanwhile, or the table was changed"
    " while it was read. Nothing was written or charged: try again"
)


@dataclass(frozen=True)
class Batch:
    """Some people, with what an act of a ledger needs to know of each; what it does not is None.

    ``totals`` is what they allow over all releases, ``bounded`` whether that cut their promise of so many ``grains``. Where
    the sheet has two questions or more, ``capped`` is what they give to all of them before it is split (E20), and
    ``answered`` has a bit for each question that they answered.
    """

    ids: Sequence[str] = field(repr=False)
    grains: Numbers = field(default=None, repr=False)
    totals: Numbers = field(default=None, repr=False)
    bounded: Numbers = field(default=None, repr=False)
    joined: Numbers = field(default=None, repr=False)
    capped: Numbers = field(default=None, repr=False)
    answered: Numbers = field(default=None, repr=False)

    def rows(self, start: int = 0) -> Iterator[tuple[Any, ...]]:
        """Count the people from ``start`` on, and list all columns row by row."""
        columns = (self._listed(column) for column in (self.grains, self.totals, self.bounded, self.joined))
        split = (self._listed(column, otherwise=None) for column in (self.capped, self.answered))
        return zip(range(start, start + len(self.ids)), self.ids, *columns, *split, strict=True)

    def _listed(self, column: Numbers, *, otherwise: int | None = 0) -> Iterable[int | None]:
        if column is None:
            return repeat(otherwise, len(self.ids))
        return column.tolist() if isinstance(column, np.ndarray) else column


class Entrance(Protocol):
    """How people enter a ledger: all at once from memory, or batch by batch."""

    def at_once(self, batch: Batch) -> AbstractContextManager[Any]:
        """Take people in memory as one batch."""

    def in_batches(self, batches: Iterable[Batch]) -> AbstractContextManager[Any]:
        """Let them wait beside the ledger until all are there."""


def counted(batches: Iterable[Batch], *, people: int, grains: int) -> Iterator[Batch]:
    """Pass batches on, and refuse at their end if they were not so many people and grains."""
    found = promised = 0
    for batch in batches:
        found, promised = found + len(batch.ids), promised + sum(batch.grains if batch.grains is not None else ())
        yield batch
    if (found, promised) != (people, grains):
        raise PromiseBroken(DIFFERS)


class Passed:
    """What went by on its way to a ledger, of those who joined: sums, and how many above a bar."""

    def __init__(self, bar: int) -> None:
        self.bar, self.those, self.above = bar, Sums(), (0, 0)

    def note(self, grains: list[int], joined: list[int], marks: list[int]) -> None:
        """Add up one batch."""
        those = [(each, mark) for each, mark, one in zip(grains, marks, joined, strict=True) if one]
        above = [each for each, _ in those if each > self.bar]
        self.those += Sums(
            people=len(those),
            promised=sum(each > 0 for each, _ in those),
            grains=sum(each for each, _ in those),
            squares=sum(each * each for each, _ in those),
            marks=sum(mark for _, mark in those),
        )
        self.above = (self.above[0] + len(above), self.above[1] + sum(above))
