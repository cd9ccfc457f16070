"""People on their way into a ledger: they wait in memory as columns until all are there, before the ledger is locked."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from optin.database.crash_points import reached
from optin.formats.names import Growing, Names
from optin.grains.batches import Batch
from optin.ledger.roster import Roster, as_names, roster_of

_COLUMNS = ("grains", "totals", "bounded", "joined", "capped", "answered", "design")
_MARKS = ("bounded", "joined")
"""Columns of yes and no, which take a byte each while they wait."""


@dataclass(frozen=True)
class LedgerEntrance:
    """How people enter a ledger."""

    def at_once(self, batch: Batch) -> AbstractContextManager[Roster]:
        """Take people in memory as one batch."""
        return nullcontext(roster_of(batch))

    def in_batches(self, batches: Iterable[Batch]) -> AbstractContextManager[Roster]:
        """Let people wait until all are there."""
        return waiting(batches)


@contextmanager
def waiting(batches: Iterable[Batch]) -> Iterator[Roster]:
    """Collect people batch by batch, and hand them over; nothing is written anywhere."""
    gathered = _gathered(batches)
    reached("after staging")
    yield gathered


def _gathered(batches: Iterable[Batch]) -> Roster:
    """Put each batch behind those before it, in columns that grow where they lie."""
    names = Growing()
    columns: dict[str, array[int]] = {}
    for batch in batches:
        if len(batch.ids):
            names.add(as_names(Names.of(batch.ids)))
            for name in _COLUMNS:
                column = getattr(batch, name)
                if column is not None:
                    kind, code = _KINDS[name in _MARKS]
                    cells = np.asarray(column, dtype=kind).tobytes()
                    columns.setdefault(name, array(code)).frombytes(cells)
    arrays = {name: np.frombuffer(column, _KINDS[name in _MARKS][0]) for name, column in columns.items()}
    return roster_of(Batch(names.names(), **arrays), by_id=True)


_KINDS = ((np.int64, "q"), (np.bool_, "b"))
"""How a column waits: numbers, or marks."""
