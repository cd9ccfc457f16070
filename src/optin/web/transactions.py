"""How the web service writes: short transactions, each serialised with what it must not race.

The ledger has one lock for all its writers. The service's own rows need less: people who register or join in one
campaign go side by side, and only a step of that campaign (close, announce) has to wait for them and keep them out.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine, text

from optin.database.connection import failure_of, take_head_lock
from optin.errors import LedgerUnavailable

T = TypeVar("T")


class Turnstile:
    """A lock that lets threads through in the order in which they came.

    SQLite has one writer at a time, and lets those who wait sleep and try again: under load some would be overtaken for
    seconds. Standing in line costs nothing.

    >>> turnstile = Turnstile()
    >>> with turnstile.passing():
    ...     turnstile.busy
    True
    """

    def __init__(self) -> None:
        self.busy = False
        self._waiting: deque[threading.Event] = deque()
        self._guard = threading.Lock()

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Wait for one's turn, and call the next one at the end."""
        turn = threading.Event()
        with self._guard:
            if not self.busy:
                self.busy = True
                turn.set()
            else:
                self._waiting.append(turn)
        turn.wait()
        try:
            yield
        finally:
            with self._guard:
                if self._waiting:
                    self._waiting.popleft().set()
                else:
                    self.busy = False


_SQLITE = Turnstile()


def change(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Run one writing transaction; what the work returns is stored when this returns.

    If the database fails, LedgerUnavailable: everything done this way is idempotent and can be asked for again.
    """
    done: list[T] = []

    def working() -> None:
        with engine.connect() as connection, connection.begin():
            if engine.dialect.name == "sqlite":
                take_head_lock(connection)
            done.append(work(connection))

    if engine.dialect.name == "sqlite":
        with _SQLITE.passing():
            failure = failure_of(engine, working)
    else:
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
    if connection.dialect.name == "sqlite":
        return
    key = int.from_bytes(bytes.fromhex(campaign)[:8], "big", signed=True)
    how = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    connection.execute(text(f"SELECT {how}(:key)"), {"key": key})
