"""Which engine a name means, and how it opens files."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING

from optin.engine import duck, spark
from optin.engine.places import real_name
from optin.engine.session import Session
from optin.errors import BadInput

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["KNOWN", "MEMORY", "check_engine", "grouped", "open_session", "read_files"]

MEMORY = "memory"
KNOWN = "memory, duckdb, spark-local, spark://host:port or sc://host:port"


def check_engine(engine: str | None) -> None:
    """Refuse a name that means no engine; None lets the size of the table choose."""
    if engine is not None and engine not in (MEMORY, "duckdb") and not spark.is_spark(engine):
        raise BadInput(f"engine {engine} is not known; use {KNOWN}")


def open_session(engine: str) -> Session:
    """Start an engine, or connect to it."""
    check_engine(engine)
    return spark.open_spark(engine) if spark.is_spark(engine) else duck.open_duckdb()


def read_files(session: Session, headers: dict[tuple[str, ...], list[str]], *, parquet: bool) -> ir.Table:
    """Open files, grouped by their header, as one table of the columns they share."""
    import ibis

    reader: ModuleType = spark if spark.is_spark(session.name) else duck
    if parquet:
        return reader.read_parquet(session, [real_name(file) for files in headers.values() for file in files])
    tables = [reader.read_csv(session, [*map(real_name, files)], header) for header, files in headers.items()]
    shared = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
    return ibis.union(*(table.select(shared) for table in tables)) if len(tables) > 1 else tables[0]


def grouped(headers: Iterable[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, ...], list[str]]:
    """Group files by header."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for file, header in headers:
        groups.setdefault(header, []).append(file)
    return groups
