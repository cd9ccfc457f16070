"""A table of people in memory, whatever files it lies in, that can still say where each row came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput
from optin.tables.cells import Cells, Mask, as_entries, as_ids, as_numbers, as_truths, coded
from optin.tables.columns import NO_GROUP, NO_ID, NO_NUMBER, Wanted, refuse, refuse_faults, refuse_repeats
from optin.tables.csvfiles import line_of, read_csv
from optin.tables.headers import expect_column, header, is_parquet, shared
from optin.tables.parquetfiles import read_parquet
from optin.tables.places import files_of
from optin.tables.stored_types import expect_ids, expect_numbers
from optin.wording.answers import NO_ANSWER

T = TypeVar("T", np.float64, np.bool_)
Part = TypeVar("Part")
Convert = Callable[[Cells, str, str], Part]


class Columns(Protocol):
    """Columns of one file: text of CSV, or what Parquet stores."""

    def __len__(self) -> int: ...

    def column(self, name: str) -> Cells:
        """Return the cells of a column, from top to bottom."""


@dataclass(frozen=True)
class Table:
    r"""Some columns of some files, one row a person; knows the file and line of every row.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,limit\n007,1\n7,4\n")
    >>> table = read_table(str(path), ["id", "limit"])
    >>> table.ids("id"), table.numbers("limit").tolist(), table.place(1).endswith("people.csv line 3")
    (['007', '7'], [1.0, 4.0], True)
    """

    files: tuple[Path, ...]
    tables: tuple[Columns, ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return sum(len(table) for table in self.tables)

    def place(self, row: int) -> str:
        """Say where a row stands: file and line, or for Parquet file and row, counted from 1."""
        ends = list(accumulate(len(table) for table in self.tables))
        at = next((number for number, end in enumerate(ends) if row < end), len(ends) - 1)
        return _place(self.files[at], row - (ends[at] - len(self.tables[at])))

    def expect_stored(self, id: str, numbers: Sequence[str]) -> None:  # noqa: A002 - the word of the contract
        """Refuse columns that are not stored as ids or numbers, before any cell is looked at."""
        for name, expect in ((id, expect_ids), *((name, expect_numbers) for name in numbers)):
            for file, table in zip(self.files, self.tables, strict=True):
                if not isinstance(column := table.column(name), list):  # text may hold anything
                    expect(column.type, str(file), name)

    def ids(self, name: str) -> list[str]:
        """Read ids as text, each of them only once in all files."""
        texts = [text or "" for part in self._each(name, as_ids) for text in part]
        refuse(np.array([text == "" for text in texts]), NO_ID, self._said(name))
        refuse_repeats(texts, name, lambda second, first: f"{self.place(first)} and {self.place(second)}")
        return texts

    def labels(self, name: str) -> list[str]:
        """Read labels as text, byte for byte; whole numbers become their digits, and every person needs one."""
        texts = [text or "" for part in self._each(name, as_ids) for text in part]
        refuse(np.array([text == "" for text in texts]), NO_GROUP, self._said(name))
        return texts

    def numbers(self, wanted: str | Wanted) -> NDArray[np.float64]:
        """Read numbers of at least 0."""
        wanted = Wanted(wanted) if isinstance(wanted, str) else wanted
        name = wanted.name
        numbers, words = self._joined(name, partial(as_numbers, wanted=wanted))
        refuse(words, NO_NUMBER, self._said(name))
        refuse_faults(numbers, wanted, self._said(name))
        return numbers

    def values(self, name: str) -> NDArray[np.float64]:
        """Read any numbers; NaN where there is none, which a release refuses of those who join."""
        return self._joined(name, as_numbers)[0]

    def skippable(self, name: str) -> NDArray[np.float64]:
        """Read any numbers; NaN where a cell is empty, and words are refused: they would pass for an answer left out."""
        numbers, words = self._joined(name, as_numbers)
        refuse(words, NO_NUMBER, self._said(name))
        return numbers

    def entries(self, name: str) -> Any:  # noqa: ANN401 - a column in which distinct entries are listed once, or a list
        """Return cells as they are written, text byte for byte; a list where files store them in different types."""
        parts = self._each(name, as_entries)
        if all(isinstance(part, list) for part in parts):
            return coded(parts[0] if len(parts) == 1 else [cell for part in parts for cell in part])
        from optin.tables.stored_cells import together

        return together(parts)

    def truths(self, name: str) -> NDArray[np.bool_]:
        """Read yes and no."""
        answers, others = self._joined(name, as_truths)
        refuse(others, NO_ANSWER, self._said(name))
        return answers

    def _said(self, name: str) -> Callable[[int], str]:
        return lambda row: f"{self.place(row)}: {name}"

    def _joined(self, name: str, convert: Convert[tuple[NDArray[T], Mask]]) -> tuple[NDArray[T], Mask]:
        """Put the parts of all files together: what was read, and what could not be."""
        found, others = zip(*self._each(name, convert), strict=True)
        return np.concatenate(found), np.concatenate(others)

    def _each(self, name: str, convert: Convert[Part]) -> list[Part]:
        pairs = zip(self.files, self.tables, strict=True)
        return [convert(table.column(name), name, str(file)) for file, table in pairs]


def read_table(path: str, names: Sequence[str] | None = None, *, expected: Sequence[str] = ()) -> Table:
    """Read the named columns (None: all they share) of every file the path stands for; each must have them, once.

    Each must also have the ``expected`` ones; that is found out before anything is read.
    """
    files = files_of(path)
    wanted = list(dict.fromkeys(names)) if names is not None else shared([header(file) for file in files])
    for file in files if expected else ():
        _expect(file, expected)
    tables = tuple(_read(file, wanted) for file in files)
    if sum(len(table) for table in tables) == 0:
        raise BadInput("{path} has a header and no rows; give one row per person", path=path)
    return Table(files, tables, tuple(wanted))


def names_in(path: str) -> list[str]:
    """List the columns that every file the path stands for has, once."""
    return shared([header(file) for file in files_of(path)])


def _expect(file: Path, names: Sequence[str]) -> None:
    known = header(file)
    for name in names:
        expect_column(file, name, known)


def _read(file: Path, names: list[str]) -> Columns:
    _expect(file, names)
    found: Columns = read_parquet(file, names) if is_parquet(file) else read_csv(file, names)
    return found


def _place(file: Path, row: int) -> str:
    return f"{file} row {row + 1}" if is_parquet(file) else f"{file} line {line_of(file, row)}"
