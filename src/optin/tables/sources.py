"""Where people may come from: files as they come, a table in memory, a query; each as files in plain form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optin.errors import Argument, BadInput
from optin.tables.databases import copy_query, is_database
from optin.tables.frames import NAME, arrow_of, is_frame
from optin.tables.how_read import AS_FOUND, HowRead, expect_stored
from optin.tables.plain_files import DataFile, plain_files, scratch_file
from optin.tables.queries import QUERIES

Source = Any
"""A path, the address of a database, or a table in memory."""


def files_from(
    source: Source, how: HowRead = AS_FOUND, names: Sequence[str] | None = None, *, others: bool = False
) -> tuple[DataFile, ...]:
    """Make sure that people lie in files in plain form; of a table in memory the named columns, and perhaps the others."""
    if is_frame(source) or is_database(str(source)):
        expect_stored(how)
    if is_frame(source):
        return (_frame(source, names, others=others),)
    if is_database(str(source)):
        return (QUERIES.answer((str(source), how), lambda: _queried(str(source), how)),)
    if how.query is not None:
        raise BadInput("{query} asks a database, and this is a file; leave it out", query=Argument("query"))
    return plain_files(str(source), how)


def _frame(frame: Any, names: Sequence[str] | None, *, others: bool) -> DataFile:  # noqa: ANN401 - pandas, polars or Arrow
    table = arrow_of(frame, names, others=others)  # which says what is missing, if Arrow is
    to = scratch_file(".parquet")
    import pyarrow.parquet as arrow_parquet

    arrow_parquet.write_table(table, to)
    return DataFile(Path(NAME), to, ("a table in memory",))


def _queried(address: str, how: HowRead) -> DataFile:
    to = scratch_file(".csv")
    return DataFile(Path(copy_query(address, how, to)), to, ("the rows of a query",))
