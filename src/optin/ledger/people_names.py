"""Ids of people by their numbers, and numbers by ids, many at once: texts are joined where they lie, for a tuple a row costs
more than its row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from optin.database.kinds import is_sqlite
from optin.formats.names import Names
from optin.ledger.streamed_hashes import fetched_rows, for_driver

_JOINED = """SELECT COUNT(*), SUM(TYPEOF(id) = 'text'), MIN(person), MAX(person),
    CAST(GROUP_CONCAT(id, CHAR(0)) AS BLOB) FROM people NOT INDEXED WHERE person BETWEEN :first AND :last{}"""
"""By the table itself, which lies in the order of its key: to sort what is sorted took SQLite as long again."""
_NUMBERS = "SELECT person FROM people NOT INDEXED WHERE person BETWEEN :first AND :last{} ORDER BY person"
_AGGREGATED = """SELECT COUNT(*), STRING_AGG(CONVERT_TO(id, 'UTF8'), CAST('\\x00' AS bytea) ORDER BY person)
    FROM people WHERE person BETWEEN :first AND :last{}"""
"""One value for all: COPY would be a message for each."""
_ROWS = "SELECT person, id FROM people WHERE person BETWEEN :first AND :last{} ORDER BY person"


def named_between(
    connection: Connection, first: int, last: int, act: int | None = None
) -> tuple[NDArray[np.int64], Names]:
    """List the numbers and ids of people between two numbers, of those whom an act registered if one is named."""
    where: dict[str, Any] = {"first": first, "last": last} | ({} if act is None else {"act": act})
    clause = "" if act is None else " AND act = :act"
    if is_sqlite(connection):
        return _joined(connection, clause, where)
    names_alone = _aggregated(connection, _AGGREGATED.format(clause), where)
    if len(names_alone) == last - first + 1:
        return np.arange(first, last + 1), names_alone
    rows = fetched_rows(connection, _ROWS.format(clause), where)
    numbers, names = ([row[at] for row in rows] for at in (0, 1))
    return np.array(numbers, dtype=np.int64), Names.of(names)


def _joined(connection: Connection, clause: str, where: dict[str, Any]) -> tuple[NDArray[np.int64], Names]:
    """Split what SQLite joined with a character that no id holds; what is not text, or holds it, was changed."""
    count, texts, least, most, names = fetched_rows(connection, _JOINED.format(clause), where)[0]
    if not count:
        return np.zeros(0, dtype=np.int64), Names.of([])
    ids = Names.separated(names, 0, closed=False)
    if texts != count or len(ids) != count:
        raise ValueError("ids are not texts")
    if most - least == count - 1:
        return np.arange(least, most + 1), ids
    numbers = fetched_rows(connection, _NUMBERS.format(clause), where)
    return np.array(numbers, dtype=np.int64).reshape(-1), ids


def _aggregated(connection: Connection, query: str, where: dict[str, Any]) -> Names:
    """Have PostgreSQL join ids with a byte that no text of it holds; nothing where numbers are missing in between."""
    with connection.connection.cursor(binary=True) as cursor:  # type: ignore[attr-defined]
        cursor.execute(for_driver(connection, query), where)
        count, names = cursor.fetchall()[0]
    return Names.separated(names, 0, closed=False) if count == where["last"] - where["first"] + 1 else Names.of([])
