"""People on their way into a ledger: they wait in memory as columns until all are there, before the ledger is locked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.database.crash_points import reached
from optin.formats.names import Names
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
    names: list[Names] = []
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _COLUMNS}
    for batch in batches:
        if len(batch.ids):
            names.append(as_names(Names.of(batch.ids)))
            for name, parts in columns.items():
                column = getattr(batch, name)
                if column is not None:
                    parts.append(np.asarray(column, dtype=np.bool_ if name in _MARKS else np.int64))
    found = {name: _joined(columns.pop(name)) for name in _COLUMNS}
    return roster_of(Batch(Names.joined(names), **found), by_id=True)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any] | None:
    """Put the parts of a column together, and let go of them."""
    found = np.concatenate(parts) if parts else None
    parts.clear()
    return found
