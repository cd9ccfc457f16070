"""Column names of files: is the one asked for there, once, and if not, which was meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa

from optin.errors import BadInput
from optin.tables.csvfiles import csv_header
from optin.tables.parquetfiles import parquet_header
from optin.tables.places import PARQUET
from optin.tables.stored_types import type_name

__all__ = ["advice", "expect_column", "expect_one_type", "expect_told_apart", "header", "is_parquet", "shared"]


def header(file: Path) -> list[str]:
    """Read the column names of a file."""
    try:
        return parquet_header(file) if is_parquet(file) else csv_header(file)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise BadInput(f"{file} cannot be read: {reason}")


def shared(headers: Sequence[Sequence[str]]) -> list[str]:
    """List the names that every header has, and has once."""
    return [name for name in headers[0] if all(known.count(name) == 1 for known in headers)]


def expect_column(file: Path | str, name: str, header: list[str]) -> None:
    """Refuse a file that lacks a column, or has it twice."""
    if header.count(name) == 1:
        return
    if header.count(name) > 1:
        raise BadInput(f"{file} has {header.count(name)} columns named {name}; rename all but one")
    raise BadInput(f"{_top(file)} has no column {name}; {advice(name, header)}")


def expect_told_apart(file: Path | str, header: list[str]) -> None:
    """Refuse names that differ only in capitals, which engines take for one, or not at all, of which they rename one."""
    first: dict[str, str] = {}
    for name in header:
        if header.count(name) > 1:
            expect_column(file, name, header)
        other = first.setdefault(name.casefold(), name)
        if other != name:
            raise BadInput(
                f"{_top(file)} has columns {other} and {name}, which an engine cannot tell apart; rename one, or add"
                " --engine memory (engine='memory')"
            )


def expect_one_type(types: Sequence[tuple[str, Mapping[str, pa.DataType]]]) -> None:
    """Refuse Parquet files that store a column in different types: Spark reads all of them as the first."""
    stored: dict[str, tuple[str, str]] = {}
    for file, kinds in types:
        for name, kind in kinds.items():
            before, known = stored.setdefault(name, (file, type_name(kind)))
            if known != type_name(kind):
                raise BadInput(
                    f"{before} stores {name} as {known}, and {file} as {type_name(kind)}; Spark reads one type only: write them"
                    " alike, or add --engine duckdb (engine='duckdb')"
                )


def advice(name: str, header: list[str]) -> str:
    """Propose the nearest name, or say what the first line looks like."""
    if any(mark in cell for cell in header for mark in ";\t|"):
        return "its columns are not separated by commas; save it as CSV with commas"
    if any(_holds_number(cell) for cell in header):
        return "its first line holds numbers, not column names; add a line that names the columns"
    folded = {known.casefold().strip(): known for known in header}
    near = get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]}?"
    listed = ", ".join(header[:12]) + (", …" if len(header) > 12 else "")
    return f"it has {listed}"


def _holds_number(cell: str) -> bool:
    """Tell a person's row from a header: a row in the header's place must not be repeated in a message."""
    return re.search(r"(^|\s)[-+]?[\d.,]+(e[-+]?\d+)?(\s|$)|\d[.,]\d", cell.strip(), re.IGNORECASE) is not None


def _top(file: Path | str) -> str:
    return str(file) if is_parquet(file) else f"{file} line 1"


def is_parquet(file: Path | str) -> bool:
    """Tell Parquet by its name."""
    return Path(file).suffix.lower() in PARQUET
