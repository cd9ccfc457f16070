"""DuckDB, embedded: files that need not fit in memory, read by this very process.

By itself DuckDB takes a folder named ``limit=100`` for a column, and a file's name for a pattern. Here columns come from
files alone, and every name means the one file that was listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from optin.engine.dialect import Dialect
from optin.engine.functions import kahan_sum, sample_ranks, sign_below
from optin.engine.session import Session
from optin.errors import Argument, BadInput
from optin.extras import expect
from optin.formats.scratch import Scratch

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.backends import BaseBackend
    from ibis.expr import types as ir

NAME = "duckdb"
MEMORY = "OPTIN_ENGINE_MEMORY"
THREADS = "OPTIN_ENGINE_THREADS"
AS_WRITTEN = (
    "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', compression = 'none',"
    " hive_partitioning = false"
)


def _open(_: str) -> Session:
    """Start DuckDB in this process; what does not fit its memory goes to a private folder.

    OPTIN_ENGINE_MEMORY (such as 1GB) and OPTIN_ENGINE_THREADS set what it may use.
    """
    expect("duckdb", "engine duckdb", instead=Argument("engine", "memory"))
    import ibis

    scratch = Scratch()
    settings = {"temp_directory": str(scratch.path), "preserve_insertion_order": False}
    for variable, setting in ((MEMORY, "memory_limit"), (THREADS, "threads")):
        if os.environ.get(variable):
            settings[setting] = os.environ[variable]
    return Session(ibis.duckdb.connect(**settings), NAME, DUCKDB, scratch=scratch)


def _in_order(backend: BaseBackend, query: ir.Table, size: int) -> Iterator[pa.RecordBatch]:
    """Hand rows over in the order of their files: who comes in the order of last time is found without a search.

    Nothing else that is asked here has an order, and to keep one would cost memory.
    """
    backend.raw_sql("SET preserve_insertion_order = true")
    try:
        yield from backend.to_pyarrow_batches(query, chunk_size=size)
    finally:
        backend.raw_sql("SET preserve_insertion_order = false")


def _read_parquet(session: Session, files: Sequence[str]) -> ir.Table:
    """Read Parquet files with the same columns in any order."""
    union = "true" if len(files) > 1 else "false"
    return _view(session, f"read_parquet({_listed(files)}, union_by_name = {union}, hive_partitioning = false)")


def _read_csv(session: Session, files: Sequence[str], header: Sequence[str]) -> ir.Table:
    """Read CSV files with one header as text, cell for cell: nothing is sniffed."""
    columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in header)
    return _view(session, f"read_csv({_listed(files)}, columns = {{{columns}}}, {AS_WRITTEN})")


def _view(session: Session, source: str) -> ir.Table:
    """Name a source; Ibis's own readers would load an extension for s3://, past the filesystem that was registered."""
    name = f"optin_{uuid4().hex}"
    session.backend.raw_sql(f"CREATE TEMP VIEW {name} AS SELECT * FROM {source}")  # noqa: S608 - every name is quoted
    return session.backend.table(name)


def _listed(files: Sequence[str]) -> str:
    return f"[{', '.join(_quoted(_literal(file)) for file in files)}]"


def _literal(file: str) -> str:
    """Write a name so that, taken as a pattern, it means itself."""
    if "\\" in file and re.search(r"[*?[]", file):
        raise BadInput(
            "DuckDB does not read {file}: beside * ? or [ it takes a backslash for a slash; rename the file", file=file
        )
    return re.sub(r"[*?[]", r"[\g<0>]", file)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


DUCKDB = Dialect(
    batches=_in_order,
    steady_sum=kahan_sum,
    below=sign_below,
    wide_integers=True,
    sample_ranks=sample_ranks,
    keeps_numbers=True,
    reads_fsspec=True,
    answers_to=NAME.__eq__,
    open=_open,
    read_parquet=_read_parquet,
    read_csv=_read_csv,
)
