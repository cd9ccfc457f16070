"""People on their way into a ledger: a table beside it, filled batch by batch before the ledger is locked.

On SQLite it is a database of its own in a private folder, on PostgreSQL a temporary table; either vanishes with its
connection, and a killed process leaves nothing in the ledger.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, text

from optin.database.connection import guarded
from optin.database.crash_points import reached
from optin.engine.scratch import Scratch
from optin.errors import BadInput
from optin.ledger.roster import as_ids

__all__ = ["Batch", "Waiting", "waiting"]

Batch = tuple[list[str], list[int], list[int], list[int]]
"""Ids, and three whole numbers a person: grains, then what the act needs (allowance and mark, or who joined)."""
_COLUMNS = "id TEXT, a BIGINT, b BIGINT, c BIGINT"


@dataclass(frozen=True)
class Waiting:
    """A filled table ``staged`` on one connection; how many people it holds and what they are promised together."""

    connection: Connection
    people: int
    grains: int

    def __len__(self) -> int:
        return self.people

    def place(self, position: int) -> str:
        """Name the person at a position, for a message."""
        found = self.connection.scalar(text("SELECT id FROM staged WHERE position = :at"), {"at": position})
        return f"id {found}"

    def expect_distinct(self) -> None:
        """Refuse an id that stands twice; the ledger's keys refused it before."""
        query = "SELECT id FROM staged GROUP BY id HAVING COUNT(*) > 1 ORDER BY id LIMIT 1"
        with self.connection.begin():
            twice = self.connection.scalar(text(query))
        if twice is not None:
            raise BadInput(f"id {twice} stands in more than one row; every person needs their own")


@contextmanager
def waiting(engine: Engine, batches: Iterable[Batch]) -> Iterator[Waiting]:
    """Fill the table, hand it over, and take it away; the ledger itself is not touched."""
    scratch = Scratch()
    connection = guarded(engine, engine.connect)
    try:
        fill = _on_sqlite if engine.dialect.name == "sqlite" else _on_postgresql
        filled = guarded(engine, lambda: fill(connection, _checked(batches), scratch))
        reached("after staging")
        yield filled
    finally:
        connection.invalidate()  # closing is the surest way to let go of an attached or a temporary table
        connection.close()
        scratch.remove()


def _checked(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Refuse ids that a database could not keep as they are."""
    for batch in batches:
        if batch[0]:
            as_ids(list(dict.fromkeys(batch[0])))
            yield batch


def _on_sqlite(connection: Connection, batches: Iterator[Batch], scratch: Scratch) -> Waiting:
    path = scratch.path / "staging.sqlite"
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    run, counts = connection.exec_driver_sql, _Counts()
    run("DROP TABLE IF EXISTS temp.staged")  # one that was filled from memory would be found first
    run("ATTACH DATABASE ? AS staging", (str(path),))
    run("PRAGMA staging.journal_mode=OFF")
    run("PRAGMA staging.synchronous=OFF")
    run("BEGIN")
    run(f"CREATE TABLE staging.staged (position INTEGER PRIMARY KEY, {_COLUMNS})")
    insert = connection.connection.cursor()
    for batch in batches:
        insert.executemany("INSERT INTO staging.staged VALUES (?, ?, ?, ?, ?)", counts.rows(batch))  # type: ignore[arg-type]
    run("COMMIT")
    connection.rollback()  # in SQLAlchemy's book something was open
    return Waiting(connection, counts.people, counts.grains)


def _on_postgresql(connection: Connection, batches: Iterator[Batch], _: Scratch) -> Waiting:
    counts = _Counts()
    with connection.begin():
        connection.exec_driver_sql(f"CREATE TEMPORARY TABLE staged (position BIGINT PRIMARY KEY, {_COLUMNS})")
        with connection.connection.cursor() as cursor, cursor.copy("COPY staged FROM STDIN") as copy:  # type: ignore[attr-defined]
            for batch in batches:
                for row in counts.rows(batch):
                    copy.write_row(row)
        connection.exec_driver_sql("ANALYZE staged")
    return Waiting(connection, counts.people, counts.grains)


class _Counts:
    """Number the rows, and add up what passes."""

    def __init__(self) -> None:
        self.people = self.grains = 0

    def rows(self, batch: Batch) -> Iterator[tuple[int, str, int, int, int]]:
        start, ids = self.people, batch[0]
        self.people, self.grains = start + len(ids), self.grains + sum(batch[1])
        return zip(range(start, start + len(ids)), *batch, strict=True)
