"""What each person may still spend, computed where the rows are: allowance minus open promises minus charges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.grains.batches import Batch
from optin.grains.units import UNLIMITED
from optin.ledger.accounts import allowed, left_of, taken
from optin.ledger.held import fetched
from optin.ledger.packs import has_packs
from optin.ledger.people_numbers import persons_of
from optin.ledger.staging import stage_people

_ALLOWANCE = """(SELECT CASE WHEN (:raising = 1 AND s.total > MAX(a.grains)) OR (:lowering = 1 AND s.total < MAX(a.grains))
    THEN s.total ELSE MAX(a.grains) END FROM allowances a WHERE a.person = p.person)"""
_TAKEN = """CASE WHEN q.capped IS NULL THEN q.grains ELSE COALESCE((SELECT c.grains FROM charges c
    WHERE c.offer = q.offer AND c.position = q.position), q.grains) END"""
"""What a promise that was not let go takes: what was charged, or all of it while it is open. Of one question that is the same."""
COMMITTED = f"""(SELECT CAST(COALESCE(SUM({_TAKEN}), 0) AS BIGINT) FROM promises q
    WHERE q.person = p.person AND q.offer <> :besides
    AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position))"""  # noqa: S608
_REMAINING = f"""SELECT s.position AS position, s.grains AS asked,
    CASE WHEN {_ALLOWANCE} >= {UNLIMITED} THEN {UNLIMITED} ELSE {_ALLOWANCE} - {COMMITTED} END AS remaining
    FROM staged s JOIN people p ON p.id = s.id"""  # noqa: S608 — only constants are put in


def remaining(
    connection: Connection,
    ids: Sequence[str],
    *,
    besides: int = 0,
    raised_to: NDArray[np.int64] | None = None,
    lowered_to: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Say how many grains each person has left; UNLIMITED for those without bound or not yet registered.

    ``besides`` is the number of an offer whose own holds are not counted; ``raised_to`` asks what would be left if
    allowances were raised to these numbers, ``lowered_to`` if they were lowered to them. Given both, they are the same.
    """
    given = raised_to if raised_to is not None else lowered_to
    how = {"raising": raised_to is not None, "lowering": lowered_to is not None}
    if has_packs(connection):
        return _from_packs(connection, persons_of(connection, ids), given, besides, **how)
    left = np.full(len(ids), UNLIMITED, dtype=np.int64)
    if connection.scalar(text("SELECT MAX(person) FROM people")) is None:
        return left
    stage_people(connection, Batch(ids, totals=given))
    rows = connection.execute(
        text(f"SELECT position, remaining FROM ({_REMAINING}) r"),  # noqa: S608
        {"besides": besides, **{name: int(said) for name, said in how.items()}},
    )
    pairs = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 2)
    left[pairs[:, 0]] = pairs[:, 1]
    return left


_STAGED = "SELECT COALESCE(p.person, 0), s.grains, s.total FROM staged s LEFT JOIN people p ON p.id = s.id ORDER BY s.position"


def _from_packs(
    connection: Connection,
    persons: NDArray[np.int64],
    totals: NDArray[np.int64] | None,
    besides: int,
    *,
    raising: bool,
    lowering: bool,
) -> NDArray[np.int64]:
    """Say what people, of whom those with number 0 are not known, have left, where some of what is known lies in packs."""
    known, left = persons > 0, np.full(len(persons), UNLIMITED, dtype=np.int64)
    some, stated = persons[known], None if totals is None else totals[known]
    spent, most = taken(connection, some, besides), allowed(connection, some)
    left[known] = left_of(most, spent, stated, raising=raising, lowering=lowering)
    return left


def uncovered(connection: Connection, *, exact: bool, lower_limits: bool = False) -> tuple[int, int | None]:
    """Count the staged people whose allowance does not cover the grains they are promised, and name the first position.

    With ``lower_limits`` their totals bind too, where they are lower than the allowances. An exact release shows
    values as they are, whatever its grains: nobody's finite allowance covers it. Whoever is asked for nothing is covered, also
    where a total is now below what was promised before: else one person could stop an announcement to all others.
    """
    if has_packs(connection):
        persons, grains, totals = fetched(connection, _STAGED, {}, 3)
        left = _from_packs(connection, persons, totals, 0, raising=False, lowering=lower_limits)
        return uncovered_among(left, grains, exact=exact)
    asked = UNLIMITED if exact else "asked"
    query = f"SELECT COUNT(*), MIN(position) FROM ({_REMAINING}) r WHERE asked > 0 AND remaining < {asked}"  # noqa: S608
    given = {"besides": 0, "raising": 0, "lowering": int(lower_limits)}
    count, first = connection.execute(text(query), given).one()
    return count, first


def uncovered_among(left: NDArray[np.int64], asked: NDArray[np.int64], *, exact: bool) -> tuple[int, int | None]:
    """Count those who have less left than they are asked for, and name the first."""
    short = (asked > 0) & (left < (UNLIMITED if exact else asked))
    return int(np.count_nonzero(short)), int(np.argmax(short)) if short.any() else None
