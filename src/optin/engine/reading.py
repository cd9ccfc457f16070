"""A table of people in memory, whatever files it lies in, that can still say where each row came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from optin.engine.cells import Place, as_ids, as_numbers, as_truths
from optin.engine.csvfiles import line_of, read_csv
from optin.engine.headers import expect_column, header, is_parquet
from optin.engine.parquetfiles import read_parquet
from optin.engine.places import files_of
from optin.errors import BadInput

__all__ = ["Table", "read_table"]

T = TypeVar("T")


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
    tables: tuple[pa.Table, ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return sum(len(table) for table in self.tables)

    def place(self, row: int) -> str:
        """Say where a row stands: file and line, or for Parquet file and row, counted from 1."""
        ends = list(accumulate(len(table) for table in self.tables))
        at = next((number for number, end in enumerate(ends) if row < end), len(ends) - 1)
        return _place(self.files[at], row - (ends[at] - len(self.tables[at])))

    def ids(self, name: str) -> list[str]:
        """Read ids as text, each of them only once in all files."""
        ids = [text for part in self._each(name, as_ids) for text in part]
        first: dict[str, int] = {}
        for row, text in enumerate(ids):
            if first.setdefault(text, row) != row:
                raise BadInput(
                    f"{self.place(row)}: {name} is the same as in {self.place(first[text])}; every person needs their own"
                )
        return ids

    def numbers(self, name: str, *, required: bool = True, infinite: bool = True) -> NDArray[np.float64]:
        """Read numbers of at least 0, or with ``required=False`` any numbers, where missing ones are NaN."""

        def convert(column: pa.ChunkedArray, name: str, place: Place) -> NDArray[np.float64]:
            return as_numbers(column, name, place, required=required, infinite=infinite)

        return np.concatenate(self._each(name, convert))

    def truths(self, name: str) -> NDArray[np.bool_]:
        """Read yes and no."""
        return np.concatenate(self._each(name, as_truths))

    def _each(self, name: str, convert: Callable[[pa.ChunkedArray, str, Place], T]) -> list[T]:
        return [
            convert(table.column(name), name, lambda row, file=file: _place(file, row))  # type: ignore[misc]
            for file, table in zip(self.files, self.tables, strict=True)
        ]


def read_table(path: str, names: Sequence[str] | None = None) -> Table:
    """Read the named columns (None: all they share) of every file the path stands for; each must have them, once."""
    files = files_of(path)
    wanted = list(dict.fromkeys(names)) if names is not None else _shared(files)
    tables = tuple(_read(file, wanted) for file in files)
    if sum(len(table) for table in tables) == 0:
        raise BadInput(f"{path} has a header and no rows; give one row a person")
    return Table(files, tables, tuple(wanted))


def _shared(files: tuple[Path, ...]) -> list[str]:
    """List the columns that every file has, and has once."""
    headers = [header(file) for file in files]
    return [name for name in headers[0] if all(known.count(name) == 1 for known in headers)]


def _read(file: Path, names: list[str]) -> pa.Table:
    known = header(file)
    for name in names:
        expect_column(file, name, known)
    return read_parquet(file, names) if is_parquet(file) else read_csv(file, names)


def _place(file: Path, row: int) -> str:
    return f"{file} row {row + 1}" if is_parquet(file) else f"{file} line {line_of(file, row)}"
