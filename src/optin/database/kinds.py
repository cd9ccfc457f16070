"""Which database it is: a file of SQLite, with one writer at a time, or a server of PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Connection, Engine


def is_sqlite(place: Engine | Connection) -> bool:
    """Tell a file of SQLite from a server.

    >>> from sqlalchemy import create_engine
    >>> is_sqlite(create_engine("sqlite://"))
    True
    """
    return place.dialect.name == "sqlite"
