"""People in a temporary table: rows go there by executemany (SQLite) or COPY (PostgreSQL), and SQL does the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from optin.grains.batches import Batch

COLUMNS = "id TEXT, grains BIGINT, total BIGINT, bounded BIGINT, joined BIGINT, capped BIGINT, answered BIGINT"
COLUMNS += ", design BIGINT"
"""A person, the grains of their promise, what they allow over all releases, whether that cut the promise, whether they join;
of a sheet, what they give to all questions before it is split, and a bit for each that they answered; of groups, whose."""


def stage_people(connection: Connection, batch: Batch) -> None:
    """Fill the temporary table ``staged``: position, and COLUMNS."""
    _fill(connection, "staged", f"position BIGINT PRIMARY KEY, {COLUMNS}", batch.rows())


def stage_positions(connection: Connection, positions: NDArray[np.int64]) -> None:
    """Fill the temporary table ``picked`` with positions."""
    rows = ((position,) for position in positions.tolist())
    _fill(connection, "picked", "position BIGINT PRIMARY KEY", rows)


def stage_marks(connection: Connection, positions: NDArray[np.int64], answered: NDArray[np.int64]) -> None:
    """Fill the temporary table ``marked`` with positions, and a bit for each question that was answered there."""
    rows = zip(positions.tolist(), answered.tolist(), strict=True)
    _fill(connection, "marked", "position BIGINT PRIMARY KEY, answered BIGINT", rows)


def stage_designs(connection: Connection, rows: Sequence[tuple[int, ...]]) -> None:
    """Fill the temporary table ``designs``: of each group its place, a bit for each question released, and all shares."""
    shares = ", ".join(f"share_{k} BIGINT" for k in range(len(rows[0]) - 2))
    _fill(connection, "designs", f"design BIGINT PRIMARY KEY, released BIGINT, {shares}", rows)


def _fill(connection: Connection, table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    on_sqlite = connection.dialect.name == "sqlite"
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {'temp' if on_sqlite else 'pg_temp'}.{table}")
    if on_sqlite:
        connection.exec_driver_sql(
            f"CREATE TEMPORARY TABLE {table} ({columns.replace('BIGINT PRIMARY', 'INTEGER PRIMARY')})"
        )
        marks = ", ".join("?" * (columns.count(",") + 1))
        connection.connection.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # type: ignore[arg-type]  # noqa: S608
        return
    connection.exec_driver_sql(f"CREATE TEMPORARY TABLE {table} ({columns}) ON COMMIT DROP")
    with connection.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:  # type: ignore[attr-defined]
        for row in rows:
            copy.write_row(row)
    connection.exec_driver_sql(f"ANALYZE {table}")
