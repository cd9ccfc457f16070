"""SQLite's write-ahead log, which has to be taken into its file now and then: by whom, and when."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from optin.database.kinds import is_sqlite


@contextmanager
def taken_in_afterwards(connection: Connection) -> Iterator[None]:
    """Have what a long transaction wrote taken into SQLite's file when others can write again.

    By itself SQLite does so within COMMIT, and whoever stands in line waits for that too. Nobody waits for what is done here, and
    what cannot be taken in now, because someone reads, a later commit takes in.
    """
    if not is_sqlite(connection):
        yield
        return
    pages = connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar_one()
    connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
    try:
        yield
    finally:
        with contextlib.suppress(SQLAlchemyError):  # what was committed stays so, whatever becomes of the log
            connection.exec_driver_sql(f"PRAGMA wal_autocheckpoint = {pages}")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").close()
