"""A database copied at one moment while others write to it, and put in place again: by SQLite, or PostgreSQL's own tools."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, make_url, text

from optin.database.connection import snapshot, version_of
from optin.database.metadata import REVISION
from optin.errors import BadInput, LedgerUnavailable
from optin.ledger import Ledger
from optin.web.settings import WebSettings

_HEAD = "SELECT number, hash FROM acts ORDER BY number DESC LIMIT 1"
SQLITE, POSTGRESQL = "sqlite", "postgresql"


@dataclass(frozen=True)
class Head:
    """The newest act of a ledger: how many there are, and the hash that stands for all of them."""

    acts: int
    hash: str


def kind_of(settings: WebSettings) -> str:
    """Say which kind of database a service has."""
    return POSTGRESQL if settings.sqlite_path is None else SQLITE


def expect_own_version(settings: WebSettings) -> None:
    """Refuse tables of another version than this program's: it would bring them up to date under whoever serves them."""
    version = version_of(settings.ledger)
    if version is None:
        raise BadInput("there is no service in this database; say where it is: --ledger")
    if version != REVISION:
        raise BadInput(
            "these tables are of another version of optin than this one, which changes nothing under a service: use the one "
            "that serves them, or start this one's service first"
        )


def copy_to(settings: WebSettings, path: Path) -> Head:
    """Copy the database into one file, as it is at one moment, and say which act was the newest then."""
    if settings.sqlite_path is not None:
        return _copy_sqlite(settings.sqlite_path, path)
    return _dump(settings.ledger, path)


def _copy_sqlite(database: Path, path: Path) -> Head:
    """Have SQLite copy a database in one consistent piece; what is in its log beside it comes along."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
            row = copy.execute(_HEAD).fetchone()
    except sqlite3.Error:
        row = ()
    if row == ():
        raise LedgerUnavailable("SQLite could not copy the database; check the disk and try again")
    return _head(row)


def _head(row: Any) -> Head:  # noqa: ANN401 - a row of either driver
    return Head(int(row[0]), str(row[1])) if row else Head(0, "")


def _dump(url: str, path: Path) -> Head:
    """Have pg_dump write what a transaction of ours sees, so that file and head are of one moment."""
    with Ledger.open(url) as ledger, snapshot(ledger.engine) as connection:
        head = head_of(connection)
        schema = connection.scalar(text("SELECT current_schema()"))
        moment = connection.scalar(text("SELECT pg_export_snapshot()"))
        own = [] if schema == "public" else [f"--schema={schema}"]  # named, public would be created where it always is
        what = [*own, f"--snapshot={moment}", f"--file={path}", f"--dbname={_without_password(url)}"]
        _run("pg_dump", ["--format=custom", "--no-owner", "--no-privileges", *what], url=url)
    return head


def head_of(connection: Connection) -> Head:
    """Read the newest act."""
    return _head(connection.execute(text(_HEAD)).first())


@contextmanager
def loaded(url: str, dump: Path) -> Iterator[None]:
    """Have pg_restore fill an empty database from a dump, all of it or nothing; empty it again if what follows fails.

    What was not found good is in nobody's way then, and nobody can serve from it.
    """
    before = _schemas_of_empty(url)
    how = ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]
    _run("pg_restore", [*how, f"--dbname={_without_password(url)}", str(dump)], url=url)
    try:
        yield
    except BaseException:
        _unload(url, before)
        raise


def expect_free(database: Path) -> None:
    """Refuse to put a database over another, or beside what is left of one."""
    beside = [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm", "-journal"))]
    for path in beside:
        if path.exists():
            raise BadInput(
                "{path} exists: stop the service and move it away first; a database is never put over another",
                path=path,
            )


_OWN = "n.nspname NOT LIKE 'pg_%' AND n.nspname <> 'information_schema'"
_SCHEMAS = f"SELECT n.nspname FROM pg_namespace n WHERE {_OWN}"  # noqa: S608
_THINGS = f"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_OWN}"
_UNLOADING = (
    f"SELECT 'DROP TABLE ' || c.oid::regclass || ' CASCADE' {_THINGS} AND c.relkind = 'r'",
    "SELECT 'DROP FUNCTION ' || oid::regprocedure FROM pg_proc WHERE proname = 'refuse_change'",
)
"""How to take out what a dump brought: its tables, and the function of their triggers."""


def _schemas_of_empty(url: str) -> list[str]:
    """List the schemas of a database in which there must be nothing yet."""
    import psycopg

    try:
        with psycopg.connect(_libpq(url)) as link:
            row = link.execute(f"SELECT 1 {_THINGS} LIMIT 1").fetchone()
            schemas = [str(name) for (name,) in link.execute(_SCHEMAS).fetchall()]
    except psycopg.Error:
        row = ()
    if row == ():
        raise LedgerUnavailable("the database cannot be reached; create it empty (createdb), and check the URL")
    if row is not None:
        raise BadInput("this database has tables: restore into a new, empty one (createdb), and serve from that")
    return schemas


def _unload(url: str, before: list[str]) -> None:
    """Take out what a dump brought into a database that had these schemas, and nothing in them."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    try:
        with psycopg.connect(_libpq(url)) as link:
            for listing in _UNLOADING:
                for (statement,) in link.execute(listing).fetchall():
                    link.execute(statement)
            for (schema,) in link.execute(_SCHEMAS).fetchall():
                if schema not in before:
                    link.execute(SQL("DROP SCHEMA {}").format(Identifier(schema)))
    except psycopg.Error:
        gone = False
    else:
        gone = True
    if not gone:
        raise LedgerUnavailable("what was restored is not good, and could not be taken out again: drop this database")


def _run(program: str, arguments: list[str], *, url: str) -> None:
    """Run one of PostgreSQL's tools; a password goes by the environment, where other users of the machine cannot see it."""
    place = shutil.which(program) or _packaged(program)
    if place is None:
        raise BadInput("{program} is not installed here: apt install postgresql-client", program=program)
    password = make_url(url).password
    own = {"PGPASSWORD": str(password)} if password else {}
    settings = {**os.environ, **own}
    done = subprocess.run([place, *arguments], env=settings, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise LedgerUnavailable("{program} failed: {said}", program=program, said=said[:200])


def _packaged(program: str) -> str | None:
    """Find a tool where Debian keeps those of each version."""
    tools = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    return str(tools[-1]) if tools else None


def _libpq(url: str) -> str:
    """Write a URL as PostgreSQL's own tools read it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _without_password(url: str) -> str:
    place = make_url(url).set(drivername="postgresql")
    return place._replace(password=None).render_as_string(hide_password=False)
