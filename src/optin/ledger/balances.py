"""What each person may still spend, computed where the rows are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.kernel.rounding import GRAIN
from optin.ledger.schema import UNLIMITED
from optin.ledger.staging import stage_people

__all__ = ["COMMITTED", "allowance_grains", "epsilons_of", "remaining", "uncovered"]

_ALLOWANCE = """(SELECT CASE WHEN (:raising = 1 AND s.b > MAX(a.grains)) OR (:lowering = 1 AND s.b < MAX(a.grains))
    THEN s.b ELSE MAX(a.grains) END FROM allowances a WHERE a.person = p.person)"""
COMMITTED = """(SELECT CAST(COALESCE(SUM(q.grains), 0) AS BIGINT) FROM promises q
    WHERE q.person = p.person AND q.offer <> :besides
    AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position))"""
_REMAINING = f"""SELECT s.position AS position, s.a AS asked,
    CASE WHEN {_ALLOWANCE} >= {UNLIMITED} THEN {UNLIMITED} ELSE {_ALLOWANCE} - {COMMITTED} END AS remaining
    FROM staged s JOIN people p ON p.id = s.id"""  # noqa: S608 — only constants are put in


def allowance_grains(limits: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn limits into grains, rounded down; infinity and anything from 2^30 up becomes UNLIMITED.

    The product by 2^32 is exact in binary floating point, so the floor is too.

    >>> allowance_grains(np.array([0.5, float("inf")])).tolist() == [2**31, UNLIMITED]
    True
    """
    most = UNLIMITED / GRAIN
    return np.floor(np.minimum(np.asarray(limits, dtype=np.float64), most) * GRAIN).astype(np.int64)


def epsilons_of(grains: NDArray[np.int64]) -> NDArray[np.float64]:
    """Turn grains into epsilon, never rounding up; UNLIMITED is infinity.

    Above 2^53 grains a float has no room for the last ten bits; they are dropped rather than rounded.
    """
    shortened = np.where(grains >= 2**53, grains & ~np.int64(1023), grains)
    return np.where(grains >= UNLIMITED, np.inf, shortened.astype(np.float64) / GRAIN)


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
    stated = np.zeros(len(ids), dtype=np.int64) if given is None else given
    stage_people(connection, ids, np.zeros(len(ids), dtype=np.int64), stated)
    left = np.full(len(ids), UNLIMITED, dtype=np.int64)
    rows = connection.execute(
        text(f"SELECT position, remaining FROM ({_REMAINING}) r"),  # noqa: S608
        {"besides": besides, "raising": int(raised_to is not None), "lowering": int(lowered_to is not None)},
    )
    found = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 2)
    left[found[:, 0]] = found[:, 1]
    return left


def uncovered(connection: Connection, *, exact: bool, lower_limits: bool = False) -> tuple[int, int | None]:
    """Count the staged people whose allowance does not cover the grains in column a, and name the first position.

    With ``lower_limits`` the totals in column b bind too, where they are lower than the allowances. An exact release shows
    values as they are, whatever its grains: nobody's finite allowance covers it. Whoever is asked for nothing is covered, also
    where a total is now below what was promised before: else one person could stop an announcement to all others.
    """
    asked = UNLIMITED if exact else "asked"
    query = f"SELECT COUNT(*), MIN(position) FROM ({_REMAINING}) r WHERE asked > 0 AND remaining < {asked}"  # noqa: S608
    given = {"besides": 0, "raising": 0, "lowering": int(lower_limits)}
    count, first = connection.execute(text(query), given).one()
    return count, first
