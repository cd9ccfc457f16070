"""A table of people in memory, whatever files it lies in, that can still say where each row came from."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput
from optin.tables.bad_rows import none_left, write_bad
from optin.tables.columns import NO_AMOUNT, NO_GROUP, NO_ID, NO_NUMBER, Wanted, refuse, refuse_faults, refuse_repeats
from optin.tables.csvfiles import TextTable, read_csv
from optin.tables.decimal_marks import POINT, Signs, decimal_mark
from optin.tables.file_stamps import expect_unchanged, marks_of
from optin.tables.group_names import text_fault
from optin.tables.headers import expect_column, header, shared
from optin.tables.how_read import AS_FOUND, HowRead
from optin.tables.parquetfiles import read_parquet
from optin.tables.places import is_parquet
from optin.tables.plain_files import DataFile, told, words_of
from optin.tables.sources import Source, files_from
from optin.tables.stored_types import expect_ids, expect_numbers
from optin.tables.table_cells import Cells, Mask, as_entries, as_ids, as_numbers, as_truths, coded, signs_of
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

    parts: tuple[DataFile, ...]
    tables: tuple[Columns, ...]
    names: tuple[str, ...]
    how: HowRead = AS_FOUND
    kept: NDArray[np.intp] | None = field(default=None, repr=False)
    """Which rows are left, counted as they were read, where some were left out."""
    sizes: tuple[int, ...] = field(default=(), repr=False)
    """How many rows each file had."""

    def __post_init__(self) -> None:
        """Note how many rows were read."""
        if not self.sizes:
            object.__setattr__(self, "sizes", tuple(len(table) for table in self.tables))

    def __len__(self) -> int:
        return sum(len(table) for table in self.tables)

    @property
    def files(self) -> tuple[str, ...]:
        """The files, as users call them."""
        return tuple(str(part.name) for part in self.parts)

    def place(self, row: int) -> str:
        """Say where a row stands: file and line, or for Parquet file and row, counted from 1."""
        return self.places([row])[0]

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say where rows stand, given in order."""
        read = list(rows) if self.kept is None else self.kept[list(rows)].tolist()
        starts, by_part = [0, *accumulate(self.sizes)], dict[int, list[int]]()
        for row in read:
            at = min(bisect_right(starts, row), len(self.parts)) - 1
            by_part.setdefault(at, []).append(row - starts[at])
        return [place for at, inside in by_part.items() for place in self.parts[at].places(inside)]

    def expect_stored(self, id: str, numbers: Sequence[str]) -> None:  # noqa: A002 - the word of the contract
        """Refuse columns that are not stored as ids or numbers, before any cell is looked at."""
        for name, expect in ((id, expect_ids), *((name, expect_numbers) for name in numbers)):
            for file, table in zip(self.files, self.tables, strict=True):
                if not isinstance(column := table.column(name), list):  # text may hold anything
                    expect(column.type, str(file), name)

    def ids(self, name: str) -> list[str]:
        """Read ids as text, each of them only once in all files."""
        texts = self.texts(name)
        refuse(np.array([text == "" for text in texts]), NO_ID, self._said(name))
        refuse_repeats(texts, name, lambda second, first: " and ".join(self.places([first, second])))
        return texts

    def texts(self, name: str) -> list[str]:
        """Read ids as text; empty where there is none."""
        return [text or "" for part in self._each(name, as_ids) for text in part]

    def labels(self, name: str) -> list[str]:
        """Read labels as text, byte for byte; whole numbers become their digits, and every person needs one."""
        texts = self.texts(name)
        refuse(np.array([text == "" for text in texts]), NO_GROUP, self._said(name))
        for fault in sorted(filter(None, map(text_fault, set(texts)))):
            refuse(np.array([text_fault(text) == fault for text in texts]), fault, self._said(name))
        return texts

    def numbers(self, wanted: str | Wanted) -> NDArray[np.float64]:
        """Read numbers of at least 0."""
        wanted = Wanted(wanted) if isinstance(wanted, str) else wanted
        numbers, words = self.read_numbers(wanted)
        refuse(words, NO_NUMBER, self._said(wanted.name))
        refuse_faults(numbers, wanted, self._said(wanted.name))
        return numbers

    def read_numbers(self, wanted: Wanted) -> tuple[NDArray[np.float64], Mask]:
        """Read numbers as they are wanted, NaN where there is none, and mark what is none."""
        convert = partial(as_numbers, wanted=wanted, mark=self.mark(wanted.name))
        return self._joined(wanted.name, convert)

    def mark(self, name: str) -> str:
        """Say what stands before a fraction in a column; refuse one of which that cannot be known."""
        if self.how.decimal is not None:
            return self.how.decimal
        if not any(part.separated for part in self.parts):
            return POINT
        signs = sum((signs_of(table.column(name)) for table in self.tables), Signs())
        return decimal_mark(signs, str(self.parts[0].name), name)

    def words(self, columns: Sequence[str]) -> str:
        """Say how files were read, given the columns of numbers."""
        return words_of(self.parts, [self.mark(name) for name in columns])

    def values(self, name: str) -> NDArray[np.float64]:
        """Read any numbers; NaN where there is none, which a release refuses of those who join."""
        return self._joined(name, partial(as_numbers, mark=self.mark(name)))[0]

    def skippable(self, name: str) -> NDArray[np.float64]:
        """Read any numbers; NaN where a cell is empty, and words are refused: they would pass for an answer left out."""
        numbers, words = self._joined(name, partial(as_numbers, mark=self.mark(name)))
        refuse(words, NO_AMOUNT, self._said(name))
        return numbers

    def without(self, rows: Mask) -> Table:
        """Leave out rows that are marked."""
        kept, tables, start = np.flatnonzero(~rows), list[Columns](), 0
        for table in self.tables:
            inside = kept[(kept >= start) & (kept < start + len(table))] - start
            tables.append(_taken(table, inside.tolist()))
            start += len(table)
        return replace(self, tables=tuple(tables), kept=kept if self.kept is None else self.kept[kept])

    def entries(self, name: str) -> Any:  # noqa: ANN401 - a column in which distinct entries are listed once, or a list
        """Return cells as they are written, text byte for byte; a list where files store them in different types."""
        parts: list[Any] = [
            _told(part) if file.tells_missing else part
            for file, part in zip(self.parts, self._each(name, as_entries), strict=True)
        ]
        if all(isinstance(part, list) for part in parts):
            return coded(parts[0] if len(parts) == 1 else [cell for part in parts for cell in part])
        from optin.tables.stored_cells import together

        return together(parts)

    def cell(self, name: str, row: int) -> str:
        """Return one cell as text; never for a message."""
        starts = [0, *accumulate(len(table) for table in self.tables)]
        at = bisect_right(starts, row) - 1
        value = self.tables[at].column(name)[row - starts[at]]
        value = value.as_py() if hasattr(value, "as_py") else value
        return "" if value is None else str(value)

    def truths(self, name: str) -> NDArray[np.bool_]:
        """Read yes and no."""
        answers, others = self._joined(name, as_truths)
        refuse(others, NO_ANSWER, self._said(name))
        return answers

    def _said(self, name: str) -> Callable[[int], str]:
        return lambda row: f"{self.place(row)}: {name}"

    def _joined(self, name: str, convert: Convert[tuple[NDArray[T], Mask]]) -> tuple[NDArray[T], Mask]:
        """Put the parts of all files together: what was read, and what could not be."""
        parts, others = zip(*self._each(name, convert), strict=True)
        return np.concatenate(parts), np.concatenate(others)

    def _each(self, name: str, convert: Convert[Part]) -> list[Part]:
        pairs = zip(self.files, self.tables, strict=True)
        return [convert(table.column(name), name, str(file)) for file, table in pairs]


def read_table(
    path: Source, names: Sequence[str] | None = None, *, expected: Sequence[str] = (), how: HowRead = AS_FOUND
) -> Table:
    """Read the named columns (None: all they share) of every file the path stands for; each must have them, once.

    Each must also have the ``expected`` ones; that is found out before anything is read.
    """
    return read_files(files_from(path, how, names), names, expected=expected, how=how)


def read_files(
    files: tuple[DataFile, ...], names: Sequence[str] | None, *, expected: Sequence[str] = (), how: HowRead = AS_FOUND
) -> Table:
    """Read columns of files that lie in plain form."""
    paths = [str(file.path) for file in files]
    marks = marks_of(paths)  # before anything is read of them
    with told(files):
        headers = [header(file.path) for file in files]
        wanted = list(dict.fromkeys(names)) if names is not None else shared(headers)
        for file, known in zip(files, headers, strict=True):
            _expect(file.path, expected, known)
        tables = tuple(_read(file.path, wanted, known) for file, known in zip(files, headers, strict=True))
        expect_unchanged(paths, marks)
    if sum(len(table) for table in tables) == 0:
        raise _no_rows(files, shared(headers), how)
    return Table(files, tables, tuple(wanted), how)


def _no_rows(files: Sequence[DataFile], names: Sequence[str], how: HowRead) -> BadInput:
    """Say that nobody is there; lines that were left out, because they are no rows, are written to their file all the same."""
    lines = [line for file in files for line in file.bad_lines()]
    if lines and how.skip_bad is not None:
        write_bad(how.skip_bad, names, lines)
        return none_left(len(lines), how.skip_bad)
    return BadInput("{path} has a header and no rows; give one row per person", path=called(files))


def called(files: Sequence[DataFile]) -> str:
    """Name files as users do: one by its name, several by their folder."""
    return str(files[0].name) if len(files) == 1 else os.path.dirname(files[0].name)


def names_in(path: Source, how: HowRead = AS_FOUND) -> list[str]:
    """List the columns that every file the path stands for has, once."""
    files = files_from(path, how)
    with told(files):
        return shared([header(file.path) for file in files])


def _expect(file: Path, names: Sequence[str], known: list[str]) -> None:
    for name in names:
        expect_column(file, name, known)


def _read(file: Path, names: list[str], known: list[str]) -> Columns:
    _expect(file, names, known)
    columns: Columns = read_parquet(file, names) if is_parquet(file) else read_csv(file, names)
    return columns


def _told(cells: list[str]) -> list[str | None]:
    """Say of empty cells that nothing stood there: an empty selection is written otherwise."""
    return [cell or None for cell in cells]


def _taken(table: Columns, rows: list[int]) -> Columns:
    """Keep some rows of a file."""
    if isinstance(table, TextTable):
        return TextTable({name: [cells[row] for row in rows] for name, cells in table.columns.items()}, len(rows))
    from optin.tables.stored_cells import written_out

    stored: Any = table  # a table of Arrow
    columns = {name: written_out(stored[name]).take(rows) for name in stored.column_names}
    taken: Columns = type(stored).from_pydict(columns)
    return taken
