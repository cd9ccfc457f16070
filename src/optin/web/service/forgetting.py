"""Rows that are over: deleted when their time has come, though nobody comes by who would notice."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, delete, literal, select

from optin.web.service.core import Service
from optin.web.transactions import empty_sqlite_log


def erase(service: Service, table: Table, *where: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own generics
    """Delete rows, if there are any: looking for them takes no lock."""
    query = select(literal(1)).select_from(table).where(*where).limit(1)
    if service.read(lambda connection: connection.execute(query).first()) is not None:
        service.change(lambda connection: connection.execute(delete(table).where(*where)))


def empty_log(service: Service) -> None:
    """Let what was deleted stand in no file of SQLite's any more; where someone is reading, the next time."""
    empty_sqlite_log(service.ledger.engine)
