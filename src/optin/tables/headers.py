"""Column names of files: is the one asked for there, once, and if not, which was meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from optin.errors import Argument, BadInput
from optin.tables.csvfiles import csv_header
from optin.tables.parquetfiles import parquet_header
from optin.tables.places import is_parquet
from optin.tables.stored_types import type_name

if TYPE_CHECKING:
    import pyarrow as pa


def header(file: Path) -> list[str]:
    """Read the column names of a file."""
    try:
        return parquet_header(file) if is_parquet(file) else csv_header(file)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise BadInput("{file} cannot be read: {reason}", file=file, reason=reason)


def shared(headers: Sequence[Sequence[str]]) -> list[str]:
    """List the names that every header has, and has once."""
    return [name for name in headers[0] if all(known.count(name) == 1 for known in headers)]


def expect_column(file: Path | str, name: str, header: list[str]) -> None:
    """Refuse a file that lacks a column, or has it twice."""
    if header.count(name) == 1:
        return
    if header.count(name) > 1:
        raise BadInput(
            "{file} has {count} columns named {name}; rename all but one",
            file=file,
            count=header.count(name),
            name=name,
        )
    raise no_column(_top(file), name, header)


def no_column(file: str, name: str, header: list[str]) -> BadInput:
    """Say that a column is not there, and propose the nearest, or say what the first line looks like."""
    if any(mark in cell for cell in header for mark in ";\t|"):
        hint = "its columns are not separated by commas; save it as CSV with commas"
    elif any(_holds_number(cell) for cell in header):
        hint = "its first line holds numbers, not column names; add a line that names the columns"
    else:
        return _among(file, name, header)
    return BadInput("{file} has no column {name}; " + hint, file=file, name=name)


def _among(file: str, name: str, header: list[str]) -> BadInput:
    folded = {known.casefold().strip(): known for known in header}
    near = get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.6)
    listed = (
        _quoted(folded[near[0]]) if near else ", ".join(map(_quoted, header[:12])) + (", …" if len(header) > 12 else "")
    )
    other = " ({id} names another)" if name == "id" else ""  # the column of ids was perhaps never named
    known = "; did you mean {known}?" if near else "; it has {known}"
    return BadInput(
        "{file} has no column {name}" + other + known, file=file, name=name, known=listed, id=Argument("id", "COL")
    )


def _quoted(name: str) -> str:
    """Write a name so that one sees where it begins and ends."""
    return f'"{name}"' if name != name.strip() or not name else name


def expect_told_apart(file: Path | str, header: list[str]) -> None:
    """Refuse names that differ only in capitals, which engines take for one, or not at all, of which they rename one."""
    first: dict[str, str] = {}
    for name in header:
        if header.count(name) > 1:
            expect_column(file, name, header)
        other = first.setdefault(name.casefold(), name)
        if other != name:
            raise BadInput(
                "{top} has columns {other} and {name}, which an engine cannot tell apart; rename one, or add {instead}",
                instead=Argument("engine", "memory"),
                top=_top(file),
                other=other,
                name=name,
            )


def expect_one_type(types: Sequence[tuple[str, Mapping[str, pa.DataType]]]) -> None:
    """Refuse Parquet files that store a column in different types: Spark reads all of them as the first."""
    stored: dict[str, tuple[str, str]] = {}
    for file, kinds in types:
        for name, kind in kinds.items():
            before, known = stored.setdefault(name, (file, type_name(kind)))
            if known != type_name(kind):
                raise BadInput(
                    "{before} stores {name} as {known}, and {file} as {type_name}; Spark reads one type only: write"
                    " them alike, or add {instead}",
                    instead=Argument("engine", "duckdb"),
                    before=before,
                    name=name,
                    known=known,
                    file=file,
                    type_name=type_name(kind),
                )


def _holds_number(cell: str) -> bool:
    """Tell a person's row from a header: a row in the header's place must not be repeated in a message."""
    return re.search(r"(^|\s)[-+]?[\d.,]+(e[-+]?\d+)?(\s|$)|\d[.,]\d", cell.strip(), re.IGNORECASE) is not None


def _top(file: Path | str) -> str:
    return str(file) if is_parquet(file) else f"{file} line 1"
