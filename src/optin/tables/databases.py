"""Tables that lie in a database: a DuckDB file, or whatever a PostgreSQL query gives, brought here once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optin.errors import Argument, BadInput
from optin.extras import expect
from optin.tables.how_read import HowRead


def copy_duckdb(file: Path, table: str | None, to: Path) -> str:
    """Write a table of a DuckDB file to Parquet, and say which one: the one that is named, or the only one."""
    expect("duckdb", "a DuckDB file")
    import duckdb

    copied: Any = None
    try:
        with duckdb.connect(str(file), read_only=True) as database:
            listed = [
                (_called(*parts[1:]), ".".join(map(_quoted, parts))) for parts in database.execute(_LISTED).fetchall()
            ]
            chosen = _named(file, [name for name, _ in listed], table)
            place = str(to).replace("'", "''")
            database.execute(f"COPY (SELECT * FROM {dict(listed)[chosen]}) TO '{place}' (FORMAT parquet)")  # noqa: S608
            copied = chosen
    except BadInput:
        raise
    except Exception:  # noqa: S110 - what DuckDB says may quote rows
        pass
    if copied is None:
        raise BadInput(
            "{file} cannot be read as a DuckDB file: it is damaged, of a newer version, or another process writes to it",
            file=file,
        )
    return str(copied)


_LISTED = (
    "SELECT table_catalog, table_schema, table_name FROM information_schema.tables"
    " WHERE table_catalog = current_database() ORDER BY ALL"
)


def _called(schema: str, table: str) -> str:
    """Name a table as people do: with its schema only where that is not the usual one."""
    return table if schema == "main" else f"{schema}.{table}"


def _named(file: Path, names: list[str], table: str | None) -> str:
    shared = next((name for name in names if names.count(name) > 1 and table in (None, name)), None)
    if shared is not None:
        raise BadInput(
            "{file} has two tables that are both called {table} (a name with a dot, and a schema with a table); rename one",
            file=file,
            table=shared,
        )
    if table in names or (table is None and len(names) == 1):
        return names[0] if table is None else table
    known = ", ".join(names) or "no table at all"
    asked = Argument("table", "NAME")
    if table is None:
        raise BadInput(
            "{file} has {known}; say which table holds the people with {asked}", file=file, known=known, asked=asked
        )
    raise BadInput("{file} has no table {table}; it has {known}", file=file, table=table, known=known)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def is_database(source: str) -> bool:
    """Tell the address of a PostgreSQL database."""
    return source.startswith(("postgresql://", "postgres://"))


def copy_query(address: str, how: HowRead, to: Path) -> str:
    """Write what a query gives as CSV, as PostgreSQL itself writes it, and name the database without its password."""
    expect("postgres", "a PostgreSQL database")
    import psycopg

    name, reason = _name(psycopg, address), ""
    query = _query(name, how)
    try:
        with psycopg.connect(address, client_encoding="utf8") as database, to.open("wb") as file:
            database.read_only = True
            database.execute("SET extra_float_digits = 1")  # with fewer, a limit may be written as more than it is
            with database.cursor() as cursor, cursor.copy(f"COPY ({query}\n) TO STDOUT (FORMAT csv, HEADER)") as rows:
                for block in rows:
                    file.write(block)
    except psycopg.Error as error:
        reason = type(error).__name__  # what it says may quote a row
    if reason:
        raise BadInput(
            "{name} did not answer the query ({reason}); check the address, your rights there, and the query",
            name=name,
            reason=reason,
        )
    return name


def _query(name: str, how: HowRead) -> str:
    if (how.query is None) == (how.table is None):
        raise BadInput(
            "{name} is a database: say which people with {query} or {table}",
            name=name,
            query=Argument("query", "SELECT …"),
            table=Argument("table", "NAME"),
        )
    if how.query is None:
        return f"SELECT * FROM {'.'.join(map(_quoted, str(how.table).split('.')))}"  # noqa: S608 - every name is quoted
    return how.query.strip().rstrip(";")


def _name(psycopg: Any, address: str) -> str:  # noqa: ANN401 - psycopg is not always there
    try:
        known = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        known = {}
    return f"postgresql://{known.get('host', '')}/{known.get('dbname', '')}"
