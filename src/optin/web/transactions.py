"""How the web service writes: short transactions, each serialised with what it must not race.

The ledger has one lock for all its writers. The service's own rows need less: people who register or join in one
campaign go side by side, and only a step of that campaign (close, announce) has to wait for them and keep them out.
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine, text

from optin.database.connection import failure_of, take_head_lock
from optin.database.kinds import is_sqlite
from optin.database.turnstile import in_turn
from optin.errors import LedgerUnavailable

T = TypeVar("T")


def change(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Run one writing transaction; what the work returns is stored when this returns.

    If the database fails, LedgerUnavailable: everything done this way is idempotent and can be asked for again.
    """
    done: list[T] = []

    def working() -> None:
        with engine.connect() as connection, connection.begin():
            if is_sqlite(engine):
                take_head_lock(connection)
            done.append(work(connection))

    with in_turn(engine):
        failure = failure_of(engine, working)
    if failure is not None:
        raise LedgerUnavailable(
            "{failure}; whether this was written is not known: ask again, it is done once", failure=failure
        )
    return done[0]


def hold(connection: Connection, campaign: str, *, shared: bool = False) -> None:
    """Keep a campaign's steps apart from its people until the transaction ends.

    People hold it together (``shared``), a step holds it alone; PostgreSQL serves both in the order they came. On SQLite
    a writing transaction is alone anyway.
    """
    if is_sqlite(connection):
        return
    key = int.from_bytes(bytes.fromhex(campaign)[:8], "big", signed=True)
    how = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    connection.execute(text(f"SELECT {how}(:key)"), {"key": key})


@contextmanager
def turn(engine: Engine, name: str) -> Iterator[bool]:
    """Say whether nobody else, in whatever process, is at work of this name, and keep them from it until the end.

    The lock lives as long as its connection: a process that is killed leaves none behind, and no transaction is held open.
    Work has to be idempotent all the same, since a database that restarts forgets its locks. With SQLite nobody else is asked.
    """
    if is_sqlite(engine):
        yield True
        return
    key, got = {"key": zlib.crc32(name.encode()) - 2**31}, []
    link = _own_connection(engine)
    try:
        _asked(engine, lambda: got.append(link.scalar(text(f"SELECT pg_try_advisory_lock({_OURS})"), key)))
        yield bool(got[0])
    finally:
        if got and got[0] and _is_lost(engine, link, key):
            link.invalidate()  # whoever got it next would hold the lock
        link.close()


_OURS = "'web_jobs'::regclass::oid::int, :key"
"""Names of locks are this service's own: several may share a database, each with its tables."""


def _own_connection(engine: Engine) -> Connection:
    made: list[Connection] = []
    _asked(engine, lambda: made.append(engine.connect().execution_options(isolation_level="AUTOCOMMIT")))
    return made[0]


def _is_lost(engine: Engine, link: Connection, key: dict[str, int]) -> bool:
    """Give a lock back; say whether the database could not be told."""
    unlock = text(f"SELECT pg_advisory_unlock({_OURS})")
    return failure_of(engine, lambda: link.execute(unlock, key).close()) is not None


def _asked(engine: Engine, ask: Callable[[], None]) -> None:
    failure = failure_of(engine, ask)
    if failure is not None:
        raise LedgerUnavailable("{failure}; it is tried again", failure=failure)


def empty_sqlite_log(engine: Engine) -> bool:
    """Take SQLite's write-ahead log into its file and cut it to nothing, so that bytes of deleted rows stay in neither.

    Freed bytes of the file are overwritten anyway (secure_delete). Say whether it is done: whoever reads just now keeps the
    log, nobody waits for them, and it is tried again.
    """
    if not is_sqlite(engine):
        return True
    with in_turn(engine), contextlib.closing(sqlite3.connect(str(engine.url.database), timeout=0)) as link:
        try:
            return bool(link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        except sqlite3.OperationalError:
            return False
