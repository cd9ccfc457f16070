"""People in a temporary table: rows go there by executemany (SQLite) or COPY (PostgreSQL), and SQL does the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.database.kinds import is_sqlite
from optin.formats.names import Names
from optin.grains.batches import Batch
from optin.wording import underway

COLUMNS = "id TEXT, grains BIGINT, total BIGINT, bounded BIGINT, joined BIGINT, capped BIGINT, answered BIGINT"
COLUMNS += ", design BIGINT"
"""A person, the grains of their promise, what they allow over all releases, whether that cut the promise, whether they join;
of a sheet, what they give to all questions before it is split, and a bit for each that they answered; of groups, whose."""


NOT_SPLIT = "this announcement asks several questions: say what each person gives to all of them together"
STRETCH = 2**15
"""People whose ids are texts at once."""
WAITING = 2**19
"""New people whose ids wait in SQLite's memory."""
COPIED = 2**12
"""Rows that are written at once."""


def stage_people(connection: Connection, batch: Batch) -> None:
    """Fill the temporary table ``staged``: position, and COLUMNS."""
    _fill(connection, "staged", f"position BIGINT PRIMARY KEY, {COLUMNS}", batch.rows())


def stage_positions(connection: Connection, positions: NDArray[np.int64]) -> None:
    """Fill the temporary table ``picked`` with positions."""
    rows = ((position,) for position in positions.tolist())
    _fill(connection, "picked", "position BIGINT PRIMARY KEY", rows)


def stage_marks(connection: Connection, positions: NDArray[np.int64], answered: NDArray[np.int64]) -> None:
    """Fill the temporary table ``marked`` with positions, and a bit for each question that was answered there."""
    rows = zip(positions.tolist(), answered.tolist(), strict=True)
    _fill(connection, "marked", "position BIGINT PRIMARY KEY, answered BIGINT", rows)


def stage_designs(connection: Connection, rows: Sequence[tuple[int, ...]]) -> None:
    """Fill the temporary table ``designs``: of each group its place, a bit for each question released, and all shares."""
    shares = ", ".join(f"share_{k} BIGINT" for k in range(len(rows[0]) - 2))
    _fill(connection, "designs", f"design BIGINT PRIMARY KEY, released BIGINT, {shares}", rows)


def known_numbers(connection: Connection, names: Sequence[str]) -> NDArray[np.int64]:
    """Have the database say which number each person has in the ledger; 0 for those it does not know.

    They wait in a table of their own, ``sought``: those of ``staged`` may be waiting for something else.
    """
    _fill(connection, "sought", "position BIGINT PRIMARY KEY, id TEXT", enumerate(names))
    query = "SELECT COALESCE(p.person, 0) FROM sought s LEFT JOIN people p ON p.id = s.id ORDER BY s.position"
    return np.array(connection.scalars(text(query)).all(), dtype=np.int64)


def enroll_staged(connection: Connection, base: int, act: int) -> int:
    """Add whoever is staged and new to the people of a ledger, numbered on in their order; count them."""
    query = """INSERT INTO people (person, id, act) SELECT :base + ROW_NUMBER() OVER (ORDER BY s.position), s.id, :act
        FROM staged s WHERE NOT EXISTS (SELECT 1 FROM people p WHERE p.id = s.id) ORDER BY s.position"""
    return connection.execute(text(query), {"base": base, "act": act}).rowcount


@contextmanager
def newcomers_waiting(connection: Connection, names: Names) -> Iterator[None]:
    """Have SQLite read the ids of new people into memory of its own; the ledger need not be locked for that.

    They wait in the table ``newcomers``: the first `WAITING` of them. On PostgreSQL nobody waits for whoever adds people.
    """
    if not is_sqlite(connection):
        yield
        return
    _fill(connection, "newcomers", "position BIGINT PRIMARY KEY, id TEXT", ())
    query = "INSERT INTO newcomers (position, id) SELECT ? + key, value FROM json_each(?)"
    for start in range(0, min(len(names), WAITING), STRETCH):
        _add_at_once(connection, query, start, listed(names[start : start + STRETCH]))
    try:
        yield
    finally:
        connection.exec_driver_sql("DROP TABLE IF EXISTS temp.newcomers")


def add_people(connection: Connection, persons: NDArray[np.int64], names: Names, act: int) -> int:
    """Add people, whose ids wait, to a ledger, numbered one after the other, and count them."""
    walk = ((start, names[start : start + STRETCH]) for start in range(0, len(names), STRETCH))
    parts = underway.counted("registering people", walk, len(names), lambda part: len(part[1]))
    return sum(_add_some(connection, int(persons[start]), start, some, act) for start, some in parts)


def _add_some(connection: Connection, first: int, start: int, names: Names, act: int) -> int:
    """Add some of those who are new, from one of their places on, as the people with the numbers from ``first`` on."""
    if not is_sqlite(connection):
        columns = [range(first, first + len(names)), list(names), repeat(act, len(names))]
        return add_rows(connection, "people", ("person", "id", "act"), columns)
    if start >= WAITING:
        query = "INSERT INTO people (person, id, act) SELECT ? + key, value, ? FROM json_each(?)"
        return _add_at_once(connection, query, first, act, listed(names))
    query = (
        "INSERT INTO people (person, id, act) SELECT ? + position, id, ? FROM newcomers WHERE position BETWEEN ? AND ?"
    )
    return _add_at_once(connection, query, first - start, act, start, start + len(names) - 1)


_SPELLED = re.compile(r'["\\\x00-\x1f]')
"""What a text in JSON has to spell."""


def listed(names: Names) -> str:
    r"""Write ids as a list in JSON, without a look at each where all are plain.

    >>> listed(Names.of(["ada", "grüße"])), listed(Names.of(['"', "\\"]))
    ('["ada","grüße"]', '["\\"", "\\\\"]')
    """
    if _SPELLED.search(names.array.tobytes().decode()):
        return json.dumps(list(names), ensure_ascii=False)
    return '["' + b'","'.join(names.encoded()).decode() + '"]'


def _add_at_once(connection: Connection, query: str, *given: object) -> int:
    """Have SQLite take many rows out of one text: a statement for each took twice as long, and other threads' turns."""
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(query, given)
        return int(cursor.rowcount)


def add_returns(connection: Connection, offer: int, positions: NDArray[np.int64], act: int) -> None:
    """Write down that the holds at some positions are given back."""
    if is_sqlite(connection):
        query = "INSERT INTO returns (offer, position, act) SELECT ?, value, ? FROM json_each(?)"
        _add_at_once(connection, query, offer, act, json.dumps(positions.tolist()))
        return
    told = [repeat(offer, len(positions)), positions, repeat(act, len(positions))]
    add_rows(connection, "returns", ("offer", "position", "act"), told)


def add_rows(connection: Connection, table: str, names: tuple[str, ...], columns: Sequence[Any]) -> int:
    """Add rows to a table by the driver's own bulk path, and count them."""
    listed = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
    rows, into = zip(*listed, strict=True), f"{table} ({', '.join(names)})"
    with closing(connection.connection.cursor()) as cursor:
        if is_sqlite(connection):
            marks = ", ".join("?" * len(names))
            cursor.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)  # type: ignore[arg-type]  # noqa: S608
        else:
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                _copy(copy, rows)
        return int(cursor.rowcount)


def _copy(copy: Any, rows: Iterator[tuple[object, ...]]) -> None:  # noqa: ANN401 - a driver's
    """Write rows as text, many at once; what the text form would have to escape goes row by row."""
    while some := list(islice(rows, COPIED)):
        text_form = "\n".join(["\t".join(map(str, row)) for row in some])
        if text_form.count("\t") == len(some) * (len(some[0]) - 1) and _is_plain(text_form, len(some)):
            copy.write((text_form + "\n").encode())
        else:
            for row in some:
                copy.write_row(row)


def _is_plain(text_form: str, rows: int) -> bool:
    return not any(mark in text_form for mark in ("\\", "\r", "None")) and text_form.count("\n") == rows - 1


def _fill(connection: Connection, table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    on_sqlite = is_sqlite(connection)
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {'temp' if on_sqlite else 'pg_temp'}.{table}")
    if on_sqlite:
        connection.exec_driver_sql(
            f"CREATE TEMPORARY TABLE {table} ({columns.replace('BIGINT PRIMARY', 'INTEGER PRIMARY')})"
        )
        marks = ", ".join("?" * (columns.count(",") + 1))
        connection.connection.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # type: ignore[arg-type]  # noqa: S608
        return
    connection.exec_driver_sql(f"CREATE TEMPORARY TABLE {table} ({columns}) ON COMMIT DROP")
    with connection.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:  # type: ignore[attr-defined]
        _copy(copy, iter(rows))
    connection.exec_driver_sql(f"ANALYZE {table}")
