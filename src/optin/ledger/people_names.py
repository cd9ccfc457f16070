"""Ids of people by their numbers, and numbers by ids, many at once: texts are joined where they lie, for a tuple a row costs
more than its row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from optin.formats.names import Names
from optin.ledger.streamed_hashes import fetched_rows

_JOINED = """SELECT COUNT(*), SUM(TYPEOF(id) = 'text'), MIN(person), MAX(person), GROUP_CONCAT(person),
    CAST(GROUP_CONCAT(id, CHAR(0)) AS BLOB)
    FROM (SELECT person, id FROM people WHERE person BETWEEN :first AND :last{} ORDER BY person)"""
_ROWS = "SELECT person, id FROM people WHERE person BETWEEN :first AND :last{} ORDER BY person"


def named_between(
    connection: Connection, first: int, last: int, act: int | None = None
) -> tuple[NDArray[np.int64], Names]:
    """List the numbers and ids of people between two numbers, of those whom an act registered if one is named."""
    where: dict[str, Any] = {"first": first, "last": last} | ({} if act is None else {"act": act})
    clause = "" if act is None else " AND act = :act"
    if connection.dialect.name == "sqlite":
        return _joined(connection, _JOINED.format(clause), where)
    names_alone = _copied(connection, first, last, act)
    if len(names_alone) == last - first + 1:
        return np.arange(first, last + 1), names_alone
    rows = fetched_rows(connection, _ROWS.format(clause), where)
    numbers, names = ([row[at] for row in rows] for at in (0, 1))
    return np.array(numbers, dtype=np.int64), Names.of(names)


def _joined(connection: Connection, query: str, where: dict[str, Any]) -> tuple[NDArray[np.int64], Names]:
    """Split what SQLite joined with a character that no id holds; what is not text, or holds it, was changed."""
    count, texts, least, most, numbers, names = fetched_rows(connection, query, where)[0]
    if not count:
        return np.zeros(0, dtype=np.int64), Names.of([])
    found = Names.separated(names, 0, closed=False)
    if texts != count or len(found) != count:
        raise ValueError("ids are not texts")
    if most - least == count - 1:
        return np.arange(least, most + 1), found
    return np.array(numbers.split(","), dtype=np.int64), found


def _copied(connection: Connection, first: int, last: int, act: int | None) -> Names:
    """Have PostgreSQL write ids as lines; nothing where one of them would have to be read in another way."""
    clause = "" if act is None else f" AND act = {act:d}"
    query = f"SELECT id FROM people WHERE person BETWEEN {first:d} AND {last:d}{clause} ORDER BY person"  # noqa: S608 — whole numbers
    with connection.connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT") as copy:  # type: ignore[attr-defined]
        data = b"".join(copy)
    return Names.of([]) if b"\\" in data else Names.separated(data, ord("\n"), closed=True)
