"""Which engine a name means, and how it opens files."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING

from optin.engine import duck, spark
from optin.engine.session import Session
from optin.errors import BadInput
from optin.tables.headers import shared
from optin.tables.places import real_name

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["KNOWN", "MEMORY", "check_engine", "grouped", "open_session", "read_csv", "read_parquet"]

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


def read_parquet(session: Session, files: Iterable[str]) -> ir.Table:
    """Open Parquet files as one table."""
    return _reader(session).read_parquet(session, [*map(real_name, files)])


def read_csv(session: Session, headers: dict[tuple[str, ...], list[str]]) -> tuple[ir.Table, dict[str, str]]:
    """Open CSV files, grouped by their header, as one table of the columns they share, and say how each is called there.

    Columns go by their place: engines know no empty name, and take names for one that differ only in capitals.
    """
    import ibis

    reader, names = _reader(session), shared([*headers])
    tables = []
    for header, files in headers.items():
        whole = reader.read_csv(session, [*map(real_name, files)], [f"f{at}" for at in range(len(header))])
        tables.append(whole.select(**{f"c{at}": whole[f"f{header.index(name)}"] for at, name in enumerate(names)}))
    return ibis.union(*tables), {name: f"c{at}" for at, name in enumerate(names)}


def _reader(session: Session) -> ModuleType:
    return spark if spark.is_spark(session.name) else duck


def grouped(headers: Iterable[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, ...], list[str]]:
    """Group files by header."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for file, header in headers:
        groups.setdefault(header, []).append(file)
    return groups
