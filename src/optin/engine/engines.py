"""Which engine a name means, and how it opens files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from optin.engine import duck, spark
from optin.engine.dialect import IBIS, POSTGRES, Dialect
from optin.engine.session import Session
from optin.errors import Argument, BadInput
from optin.tables.headers import shared
from optin.tables.places import real_name
from optin.tables.plain_files import DataFile
from optin.wording.engines import KNOWN, MEMORY

if TYPE_CHECKING:
    from ibis.backends import BaseBackend
    from ibis.expr import types as ir

ENGINES = (duck.DUCKDB, spark.SPARK)
_BACKENDS = {"duckdb": duck.DUCKDB, "pyspark": spark.SPARK, "postgres": POSTGRES}


def dialect_of(backend: BaseBackend) -> Dialect:
    """Say how a backend of Ibis differs from others."""
    return _BACKENDS.get(backend.name, IBIS)


def check_engine(engine: str | None) -> None:
    """Refuse a name that means no engine; None lets the size of the table choose."""
    if engine not in (None, MEMORY):
        dialect_for(str(engine))


def dialect_for(engine: str) -> Dialect:
    """Say how the engine that users call so differs from others."""
    dialect = next((each for each in ENGINES if each.answers_to(engine)), None)
    if dialect is None:
        raise BadInput("engine {engine} is not known; use {known}", engine=engine, known=KNOWN)
    return dialect


def expect_reachable(files: Iterable[DataFile], engine: str) -> None:
    """Refuse files whose plain form lies here alone to an engine that runs elsewhere."""
    copied = next((file for file in files if file.copied), None)
    if copied is not None and dialect_for(engine).elsewhere(engine):
        raise BadInput(
            "engine {engine} runs elsewhere and reads CSV with commas and Parquet; {file} ({words}) is read by {memory},"
            " duckdb and spark-local",
            engine=engine,
            file=copied.name,
            words=", ".join(copied.words),
            memory=Argument("engine", MEMORY),
        )


def open_session(engine: str) -> Session:
    """Start an engine, or connect to it."""
    start = dialect_for(engine).open
    assert start is not None  # noqa: S101 - whoever answers to a name can be opened
    return start(engine)


def read_parquet(session: Session, files: Iterable[str]) -> ir.Table:
    """Open Parquet files as one table."""
    read = session.dialect.read_parquet
    assert read is not None  # noqa: S101 - asked of engines that read files
    return read(session, [*map(real_name, files)])


def read_csv(session: Session, headers: dict[tuple[str, ...], list[str]]) -> tuple[ir.Table, dict[str, str]]:
    """Open CSV files, grouped by their header, as one table of the columns they share, and say how each is called there.

    Columns go by their place: engines know no empty name, and take names for one that differ only in capitals.
    """
    import ibis

    read, names = session.dialect.read_csv, shared([*headers])
    assert read is not None  # noqa: S101 - asked of engines that read files
    tables = []
    for header, files in headers.items():
        all_fields = read(session, [*map(real_name, files)], [f"f{at}" for at in range(len(header))])
        tables.append(
            all_fields.select(**{f"c{at}": all_fields[f"f{header.index(name)}"] for at, name in enumerate(names)})
        )
    return ibis.union(*tables), {name: f"c{at}" for at, name in enumerate(names)}


def grouped(headers: Iterable[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, ...], list[str]]:
    """Group files by header."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for file, header in headers:
        groups.setdefault(header, []).append(file)
    return groups
