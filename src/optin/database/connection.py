"""How a database is opened so that what was committed stays committed, and how every transaction begins and ends."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from optin.database.crash_points import reached
from optin.database.kinds import is_sqlite
from optin.database.metadata import REVISION
from optin.database.rights import create_privately, warn_of_readers
from optin.database.turnstile import PATIENCE, in_turn
from optin.errors import BadInput, LedgerUnavailable
from optin.extras import expect
from optin.wording.language import N_
from optin.wording.sentences import Sentence

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")
C = TypeVar("C", "sqlite3.Connection", "psycopg.Connection[tuple[str]]")
LOGGED_AS = "optin"
CACHE = "cache_size=-65536"
"""KiB that a connection to SQLite may keep: the keys of a million people would else be read and written again and again."""
PAUSES = (0.0, 0.2, 1.0, 3.0)
"""Seconds to wait before each look for a result whose COMMIT was not answered."""


def open_engine(url: str, *, create: bool) -> Engine:
    """Open a ledger's database, bring its tables up to date, and refuse one that could forget a commit.

    ``url`` is a path or ``sqlite:///path``, or ``postgresql://user@host/name``.
    """
    place = _place(url)
    if not create and place.get_backend_name() == "sqlite" and not Path(str(place.database)).exists():
        raise BadInput("there is no ledger at this place; check the path, or announce a campaign to begin one")
    engine = _engine(place)
    # at DEBUG, SQLAlchemy would log every row it reads
    logging.getLogger(f"sqlalchemy.engine.Engine.{LOGGED_AS}").setLevel(logging.WARNING)
    try:
        guarded(engine, lambda: _bring_up_to_date(engine, create=create))
        if is_sqlite(engine):
            warn_of_readers(Path(str(place.database)))
    except BaseException:
        engine.dispose()
        raise
    return engine


def version_of(url: str) -> str | None:
    """Read of which version a database's tables are, and change nothing; None where there are none of ours."""
    engine = _engine(_place(url))
    try:
        return read(engine, _revision)
    finally:
        engine.dispose()


def _engine(place: URL) -> Engine:
    return _sqlite(place) if place.get_backend_name() == "sqlite" else _postgresql(place)


def _place(url: str) -> URL:
    """Read a URL or a path; a message never repeats it, since it may hold a password."""
    try:
        # a path is taken letter by letter: ? and % mean nothing in it
        path = None if "://" in url else URL.create("sqlite", database=url)
        place = path or make_url(url.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        place = None
    if place is None or place.get_backend_name() not in ("sqlite", "postgresql"):
        raise BadInput("a ledger is a file (a path or sqlite:///path) or postgresql://user@host/name; this is neither")
    if place.get_backend_name() == "postgresql":
        return place.set(drivername="postgresql+psycopg")
    if not place.database:
        raise BadInput("a ledger needs a place: give a path, sqlite:///path or postgresql://user@host/name")
    if place.query:
        raise BadInput("a ledger in SQLite takes no options: give the path alone (without sqlite:/// if it holds a ?)")
    if place.database == ":memory:":
        raise BadInput("a ledger in memory would forget what was spent; give a file")
    return place


def _sqlite(place: URL) -> Engine:
    create_privately(Path(str(place.database)))
    engine = create_engine(
        place,
        logging_name=LOGGED_AS,
        hide_parameters=True,
        connect_args={"isolation_level": None, "timeout": PATIENCE, "check_same_thread": False},
    )
    event.listen(engine, "connect", _closing(_harden_sqlite))
    return engine


def _closing(harden: Callable[[C], None]) -> Callable[[C, object], None]:
    """Close a connection that is not fit for a ledger; the pool has not seen it yet and would not."""

    def listener(connection: C, _record: object) -> None:
        try:
            harden(connection)
        except BaseException:
            connection.close()
            raise

    return listener


def _harden_sqlite(connection: sqlite3.Connection) -> None:
    """Ask for a write-ahead log synced at every commit, and read back that we got it."""
    cursor = connection.cursor()
    for pragma in ("synchronous=FULL", "recursive_triggers=ON", "temp_store=MEMORY", "secure_delete=ON", CACHE):
        cursor.execute(f"PRAGMA {pragma}")
    patience = time.monotonic() + PATIENCE
    while (mode := _journal_mode(cursor)) != "wal":
        if mode is not None or time.monotonic() > patience:
            raise BadInput("this SQLite file cannot keep a write-ahead log here; put the ledger on a local disk")
        time.sleep(0.02)
    if cursor.execute("PRAGMA synchronous").fetchone()[0] != 2:
        raise BadInput("this SQLite does not sync at every commit; a ledger needs synchronous=FULL")
    cursor.close()


def _journal_mode(cursor: sqlite3.Cursor) -> str | None:
    """Switch to the log; while another process is just switching SQLite says "locked" without waiting: None."""
    try:
        return str(cursor.execute("PRAGMA journal_mode=WAL").fetchone()[0])
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return None


def _postgresql(place: URL) -> Engine:
    expect("postgres", "a ledger in PostgreSQL")
    engine = create_engine(
        place,
        logging_name=LOGGED_AS,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        connect_args={"client_encoding": "utf8"},  # else the driver fails on other letters, and quotes them
    )
    event.listen(engine, "connect", _closing(_harden_postgresql))
    return engine


def _harden_postgresql(connection: psycopg.Connection[tuple[str]]) -> None:
    """Refuse a server that does not sync or does not know every letter; make every commit wait for the disk."""
    with connection.cursor() as cursor:
        if cursor.execute("SHOW fsync").fetchone() != ("on",):
            raise BadInput("this PostgreSQL runs with fsync off and may forget a commit; turn it on to keep a ledger")
        if cursor.execute("SHOW server_encoding").fetchone() != ("UTF8",):
            raise BadInput("this PostgreSQL database is not in UTF-8 and cannot keep every id; create one in UTF8")
        if cursor.execute("SHOW synchronous_commit").fetchone() in (("off",), ("local",)):
            cursor.execute("SET synchronous_commit TO on")
        cursor.execute(f"SET lock_timeout TO '{PATIENCE}s'")
    connection.commit()


def _bring_up_to_date(engine: Engine, *, create: bool) -> None:
    with snapshot(engine) as connection:
        revision = _revision(connection)
        ours = inspect(connection).has_table("head_lock")
    if revision == REVISION:
        return
    if revision is not None and not ours:
        raise BadInput("this database belongs to another program; give the ledger a database or schema of its own")
    if revision is None and not create:
        raise BadInput("there is no ledger in this database; announce a campaign to begin one")
    from optin.database.migrations import migrate

    with engine.connect() as connection, connection.begin():
        if is_sqlite(engine):
            take_head_lock(connection)
        else:  # the row to lock does not exist before the first migration
            connection.execute(text("SELECT pg_advisory_xact_lock(7237511)"))
        migrate(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def take_head_lock(connection: Connection) -> None:
    """Take the one lock of the ledger before anything is read.

    A writer that reads first and locks later can decide on numbers that another writer is about to change: both would
    find the same budget free. The lock is SQLite's write lock, and on PostgreSQL the only row of ``head_lock``.
    """
    if is_sqlite(connection):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif connection.scalar(text("SELECT one FROM head_lock FOR UPDATE")) is None:
        raise LedgerUnavailable("the ledger's lock row is missing: the database was tampered with; nothing was written")


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Read from one consistent state, without holding writers up."""
    with engine.connect() as connection:
        if is_sqlite(engine):
            with connection.begin():
                connection.exec_driver_sql("BEGIN")
                yield connection
        else:
            connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection


def read(engine: Engine, look: Callable[[Connection], T]) -> T:
    """Run a look at one consistent state; a database failure becomes LedgerUnavailable."""

    def looking() -> T:
        with snapshot(engine) as connection:
            return look(connection)

    return guarded(engine, looking)


def nothing(_connection: Connection) -> AbstractContextManager[None]:
    """Do nothing beside a transaction."""
    return nullcontext()


def write(
    engine: Engine,
    work: Callable[[Connection], T],
    *,
    is_stored: Callable[[Connection, T], bool],
    beside: Callable[[Connection], AbstractContextManager[None]] = nothing,
) -> T:
    """Run one writing transaction: lock, work, COMMIT; return the work's result only when it is stored.

    If COMMIT fails, or its answer is lost, the outcome is unknown: look under the lock whether the result is there.
    The lock makes the look wait for a commit that is still under way. ``beside`` is what the connection does around all this
    while nobody waits for it.
    """
    done: list[T] = []

    def working() -> None:
        with engine.connect() as connection, beside(connection):
            connection.commit()  # what stood beside begins no transaction
            with in_turn(engine), connection.begin():
                take_head_lock(connection)
                reached("after lock")
                done.append(work(connection))
                reached("before commit")

    reached("before lock")
    failure = failure_of(engine, working)
    if failure is not None and not (done and _look_again(engine, lambda connection: is_stored(connection, done[0]))):
        raise LedgerUnavailable(
            N_("{failure}; nothing was written and nothing was revealed: try again"), failure=failure
        )
    reached("after commit")
    return done[0]


def _look_again(engine: Engine, look: Callable[[Connection], bool]) -> bool:
    answers: list[bool] = []

    def looking() -> None:
        with engine.connect() as connection, connection.begin():
            take_head_lock(connection)
            answers.append(look(connection))

    for pause in PAUSES:
        time.sleep(pause)
        engine.dispose()
        if failure_of(engine, looking) is None:
            return answers[0]
    raise LedgerUnavailable(
        "the connection broke during COMMIT and the database cannot be reached: whether this was written is not known; "
        "ask again when it is back (asking again never draws twice)"
    )


def guarded(engine: Engine, work: Callable[[], T]) -> T:
    """Run something before anything is written; a database failure becomes LedgerUnavailable."""
    result: list[T] = []
    failure = failure_of(engine, lambda: result.append(work()))
    if failure is not None:
        raise LedgerUnavailable(N_("{failure}; nothing was written"), failure=failure)
    return result[0]


def failure_of(engine: Engine, work: Callable[[], None]) -> Sentence | None:
    """Run something; if the database fails say how in our own words.

    The driver's message can quote a row, so it is neither shown nor kept: the caller raises after the handler has
    ended, and the new error carries no trace of the old one.
    """
    assert engine.dialect.dbapi is not None  # noqa: S101 — an engine that was opened has a driver
    try:
        work()
    except (SQLAlchemyError, engine.dialect.dbapi.Error) as error:
        return _in_our_words(error)
    return None


_KNOWN = {
    "disk is full": N_("the disk is full"),
    "File too large": N_("the disk is full"),
    "No space left": N_("the disk is full"),
    "disk I/O error": N_("the disk failed"),
    "database is locked": N_("another process kept the ledger locked"),
    "lock timeout": N_("another process kept the ledger locked"),
    "append-only": N_("the ledger is append-only and refused a change"),
    "readonly": N_("the ledger's file is read-only"),
    "not a database": N_("the file is not a ledger"),
    "malformed": N_("the ledger's file is damaged"),
    "resolve host": N_("the database could not be reached"),
    "connection failed": N_("the database could not be reached"),
    "connection is bad": N_("the database could not be reached"),
    "connection": N_("the connection to the database was lost"),
}


def _in_our_words(error: BaseException) -> Sentence:
    said = str(getattr(error, "orig", error))
    known = next((words for sign, words in _KNOWN.items() if sign in said), None)
    kind = type(getattr(error, "orig", error)).__name__
    return Sentence(known) if known else Sentence("the database failed ({kind})", kind=kind)
