"""DuckDB, embedded: files that need not fit in memory, read by this very process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from optin.engine.scratch import Scratch
from optin.engine.session import Session

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["open_duckdb", "read_csv", "read_parquet"]

MEMORY = "OPTIN_ENGINE_MEMORY"
THREADS = "OPTIN_ENGINE_THREADS"


def open_duckdb() -> Session:
    """Start DuckDB in this process; what does not fit its memory goes to a private folder.

    OPTIN_ENGINE_MEMORY (such as 1GB) and OPTIN_ENGINE_THREADS set what it may use.
    """
    import ibis

    scratch = Scratch()
    settings = {"temp_directory": str(scratch.path), "preserve_insertion_order": False}
    for variable, setting in ((MEMORY, "memory_limit"), (THREADS, "threads")):
        if os.environ.get(variable):
            settings[setting] = os.environ[variable]
    return Session(ibis.duckdb.connect(**settings), "duckdb", scratch=scratch)


def read_parquet(session: Session, files: Sequence[str]) -> ir.Table:
    """Read Parquet files with the same columns in any order."""
    return session.backend.read_parquet(list(files), union_by_name=len(files) > 1)


def read_csv(session: Session, files: Sequence[str], header: Sequence[str]) -> ir.Table:
    """Read CSV files with one header as text, cell for cell: nothing is sniffed."""
    return session.backend.read_csv(
        list(files),
        columns=dict.fromkeys(header, "VARCHAR"),
        auto_detect=False,
        header=True,
        delim=",",
        quote='"',
        escape='"',
    )
