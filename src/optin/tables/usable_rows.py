"""The door of a table in memory: rows that cannot be used are refused all at once, or left out and written to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from optin.tables.bad_rows import FIRST, SHARED_ID, BadRow, mended, none_left, unusable, write_bad
from optin.tables.columns import NO_ID, Wanted
from optin.tables.spellings import said_of
from optin.tables.table import Table, read_files
from optin.tables.table_cells import Mask

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Fault:
    """What is wrong in one column, and in which rows; no words where they depend on what is written there."""

    column: str
    words: str | None
    rows: Mask


@dataclass(frozen=True)
class Usable:
    """A table whose rows can all be used, its ids and numbers, and how many rows were left out."""

    table: Table
    ids: tuple[str, ...]
    numbers: dict[str, Numbers]
    left_out: int = 0


def usable(table: Table, id: str, wanted: Sequence[Wanted]) -> Usable:  # noqa: A002 - the word of the contract
    """Read ids and numbers; refuse rows that cannot be used, or leave them out where a file was named for them."""
    texts, numbers = table.texts(id), dict[str, Numbers]()
    faults = [_nobody(texts, id)]  # first: of an empty row nothing else is to be mended
    for one in wanted:
        numbers[one.name], others = table.read_numbers(one)
        faults += _faults(one, numbers[one.name], others)
    faults.append(_repeated(texts, id))
    bad = np.logical_or.reduce([fault.rows for fault in faults])
    if table.how.skip_bad is None:
        if bad.any():
            if (
                not any(fault.rows.any() for fault in faults[:-1])
                and len({texts[at] for at in np.flatnonzero(bad)}) == 1
            ):
                table.ids(id)  # one id that several people share, and nothing else: they are named together
            raise unusable(_bad_rows(table, wanted, faults, np.flatnonzero(bad)[:FIRST].tolist()), int(bad.sum()))
        return Usable(table, tuple(texts), numbers)
    gone = int(np.count_nonzero(bad)) + sum(len(part.bad) for part in table.parts)
    if gone:
        _write(table, table.how.skip_bad, wanted, faults, np.flatnonzero(bad))
    ids = tuple(text for text, wrong in zip(texts, bad.tolist(), strict=True) if not wrong)
    if not ids:
        raise none_left(gone, table.how.skip_bad)
    left = replace(table.without(bad) if bad.any() else table, how=replace(table.how, skip_bad=None))
    return Usable(left, ids, {name: values[~bad] for name, values in numbers.items()}, gone)


def _faults(wanted: Wanted, numbers: Numbers, others: Mask) -> list[Fault]:
    return [
        Fault(wanted.name, None, others),
        Fault(wanted.name, wanted.missing, np.isnan(numbers) & ~others),
        *(Fault(wanted.name, words, np.asarray(wrong)) for words, wrong in wanted.faults(numbers)),
    ]


def _nobody(texts: Sequence[str], id: str) -> Fault:  # noqa: A002
    return Fault(id, NO_ID, np.array([text == "" for text in texts], dtype=np.bool_))


def _repeated(texts: Sequence[str], id: str) -> Fault:  # noqa: A002
    counts = Counter(texts) if len(set(texts)) < len(texts) else Counter[str]()
    return Fault(id, SHARED_ID, np.array([text != "" and counts[text] > 1 for text in texts], dtype=np.bool_))


def _bad_rows(table: Table, wanted: Sequence[Wanted], faults: Sequence[Fault], rows: Sequence[int]) -> list[BadRow]:
    named, mark, bad_rows = {one.name: one for one in wanted}, cache(table.mark), []
    for row, place in zip(rows, table.places(rows), strict=True):
        fault = next(fault for fault in faults if fault.rows[row])
        words = fault.words or said_of(table.cell(fault.column, row), named[fault.column], mark(fault.column))
        bad_rows.append(BadRow(place, fault.column, words))
    return bad_rows


def _write(table: Table, path: Path, wanted: Sequence[Wanted], faults: Sequence[Fault], rows: NDArray[np.intp]) -> None:
    """Write rows that were left out with all their cells: lines of another width first, then the others."""
    stored = read_files(table.parts, None, how=table.how)
    lines = [line for part in table.parts for line in part.bad_lines()]
    bad_rows = _bad_rows(table, wanted, faults, rows.tolist())
    cells = [[stored.cell(name, row) for name in stored.names] for row in rows.tolist()]
    said = [mended(row.column, row.words) for row in bad_rows]
    write_bad(
        path,
        stored.names,
        [*lines, *((row.place, inside, words) for row, inside, words in zip(bad_rows, cells, said, strict=True))],
    )
