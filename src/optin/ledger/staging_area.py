"""People on their way into a ledger: a table beside it, filled batch by batch before the ledger is locked.

On SQLite it is a database of its own in a private folder, on PostgreSQL a temporary table; either vanishes with its
connection, and a killed process leaves nothing in the ledger.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, Row, text

from optin.database.connection import guarded
from optin.database.crash_points import reached
from optin.errors import BadInput
from optin.formats.scratch import Scratch
from optin.grains.batches import Batch
from optin.ledger import packs
from optin.ledger.arrivals import Taking
from optin.ledger.chain import Written, rows_of
from optin.ledger.held import fetched, held_of, promise_columns
from optin.ledger.packed_holds import numbers_of
from optin.ledger.packed_taking import PackedTaking, packed_order
from optin.ledger.roster import Roster, as_ids, roster_of
from optin.ledger.sharing import Sharing
from optin.ledger.staging import COLUMNS, NOT_SPLIT, enroll_staged
from optin.ledger.streamed_hashes import blocks
from optin.ledger.taking import NOT_ANSWERED, take_places
from optin.receipts import VERSION


@dataclass(frozen=True)
class Waiting:
    """A filled table ``staged`` on one connection, and how many people it holds."""

    connection: Connection
    people: int

    def __len__(self) -> int:
        return self.people

    def place(self, position: int) -> str:
        """Name the person at a position, for a message."""
        found = self.connection.scalar(text("SELECT id FROM staged WHERE position = :at"), {"at": position})
        return f"id {found}"

    def stage(self, connection: Connection) -> None:
        """Have PostgreSQL expect many: it has not analysed the rows yet, and would take them for few."""
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL enable_nestloop = off")

    def names(self, connection: Connection) -> Iterator[list[str]]:
        """List their ids in blocks as packs have them."""
        for block in blocks(connection, "SELECT id FROM staged ORDER BY position", {}, size=packs.SIZE):
            yield block[0]

    def columns(self, connection: Connection, *names: str) -> list[NDArray[np.int64]]:
        """Read what came with them; what did not is empty."""
        stored = ", ".join({"totals": "total"}.get(name, name) for name in names)
        try:
            return fetched(connection, f"SELECT {stored} FROM staged ORDER BY position", {}, len(names))  # noqa: S608
        except ValueError:
            pass
        raise BadInput(NOT_ANSWERED if "answered" in names else NOT_SPLIT)

    def enroll(self, connection: Connection, base: int, act: int, *, everyone: bool) -> int:
        """Add those who are new to the people of the ledger."""
        return enroll_staged(connection, base, act, everyone=everyone)

    def promised(self, connection: Connection, act: int, salt: str, sharing: Sharing) -> Written:
        """Read the promises back: only the database has seen them in full."""
        about = {"version": sharing.version, "sharing": sharing}
        return rows_of(connection, kind="announce", act=act, offer=act, salt=salt, **about)  # type: ignore[arg-type]

    def taking(self, connection: Connection, offer: Row[Any]) -> Taking:
        """Find these people among those announced, in the database."""
        if packs.is_packed(connection, offer.number):
            return self._taking_packed(connection, offer)
        self.stage(connection)
        return take_places(connection, offer, len(self))

    def _taking_packed(self, connection: Connection, offer: Row[Any]) -> PackedTaking:
        """Do so where they were announced in packs."""
        held, several = held_of(connection, offer.number, offer.version), offer.version != VERSION
        told = self.columns(connection, *(name for name in promise_columns(offer.version)[1:] if name != "bounded"))
        order = packed_order(held, numbers_of(connection, self), told, offer.version, self.place)
        given = self.columns(connection, "joined")[0][order] == 1
        answered = self.columns(connection, "answered")[0][order] if several else None
        return PackedTaking(connection, offer, held, order, given, answered, self.place, None, in_memory=False)

    def expect_distinct(self) -> None:
        """Refuse an id that stands twice; the ledger's keys refused it before."""
        query = "SELECT id FROM staged GROUP BY id HAVING COUNT(*) > 1 ORDER BY id LIMIT 1"
        with self.connection.begin():
            twice = self.connection.scalar(text(query))
        if twice is not None:
            raise BadInput("id {twice} stands in more than one row; every person needs their own", twice=twice)


@dataclass(frozen=True)
class LedgerEntrance:
    """How people enter a ledger in this database."""

    engine: Engine

    def at_once(self, batch: Batch) -> AbstractContextManager[Roster]:
        """Take people in memory as one batch."""
        names = ("totals", "bounded", "joined", "capped", "answered", "design")
        columns = {name: getattr(batch, name) for name in names}
        return nullcontext(roster_of(list(batch.ids), np.asarray(batch.grains), **columns))

    def in_batches(self, batches: Iterable[Batch]) -> AbstractContextManager[Waiting]:
        """Let people wait in a table until all are there."""
        return waiting(self.engine, batches)


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
        if batch.ids:
            as_ids(list(dict.fromkeys(batch.ids)))
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
    run(f"CREATE TABLE staging.staged (position INTEGER PRIMARY KEY, {COLUMNS})")
    insert, marks = connection.connection.cursor(), ", ".join("?" * (COLUMNS.count(",") + 2))
    for batch in batches:
        insert.executemany(f"INSERT INTO staging.staged VALUES ({marks})", counts.rows(batch))  # type: ignore[arg-type]  # noqa: S608
    run("COMMIT")
    connection.rollback()  # SQLAlchemy began a transaction of its own at the first statement
    return Waiting(connection, counts.people)


def _on_postgresql(connection: Connection, batches: Iterator[Batch], _: Scratch) -> Waiting:
    counts = _Counts()
    with connection.begin():
        connection.exec_driver_sql(f"CREATE TEMPORARY TABLE staged (position BIGINT PRIMARY KEY, {COLUMNS})")
        with connection.connection.cursor() as cursor, cursor.copy("COPY staged FROM STDIN") as copy:  # type: ignore[attr-defined]
            for batch in batches:
                for row in counts.rows(batch):
                    copy.write_row(row)
        connection.exec_driver_sql("ANALYZE staged")
    return Waiting(connection, counts.people)


class _Counts:
    """Number the rows that pass."""

    def __init__(self) -> None:
        self.people = 0

    def rows(self, batch: Batch) -> Iterator[tuple[Any, ...]]:
        start = self.people
        self.people += len(batch.ids)
        return batch.rows(start)
