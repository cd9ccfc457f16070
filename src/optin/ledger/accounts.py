"""What people may spend in all and what is taken of it, by their numbers, from rows and packs together.

A ledger without packs answers in SQL alone (`optin.ledger.balances`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, bindparam, select, text

from optin.grains.units import UNLIMITED
from optin.ledger import packs
from optin.ledger.held import Numbers, charge_at, charged_of, fetched, places_of, promise_at, promised_of
from optin.ledger.one_look import ONE_LOOK
from optin.ledger.packing import readable
from optin.ledger.packs import ROWS, each_pack, packed_acts, row_with
from optin.ledger.schema import acts
from optin.ledger.streamed_hashes import fetched_rows
from optin.receipts import asks_several

_ALLOWED = "SELECT person, MAX(grains) FROM allowances GROUP BY person"
_TAKEN_SQL = """SELECT q.person, CAST(SUM(CASE WHEN q.capped IS NULL THEN q.grains ELSE COALESCE((SELECT c.grains FROM charges c
    WHERE c.offer = q.offer AND c.position = q.position), q.grains) END) AS BIGINT) FROM promises q
    WHERE q.offer <> :besides AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position)"""


def allowed(connection: Connection, persons: Numbers) -> Numbers:
    """Say the allowance of each of these people; -1 where the ledger has none."""
    if len(persons) <= packs.FEW:
        return np.array([_allowed_to(connection, person) for person in persons.tolist()], dtype=np.int64)
    return everyones_allowance(connection)[persons]


def taken(connection: Connection, persons: Numbers, besides: int) -> Numbers:
    """Say what each of these people has promised or spent, besides one offer."""
    if len(persons) <= packs.FEW:
        grains = [_taken_of(connection, person, besides) for person in persons.tolist()]
        return np.array(grains, dtype=np.int64)
    return everyones_taken(connection, besides)[persons]


@readable()
def everyones_allowance(connection: Connection) -> Numbers:
    """List allowances by the numbers of people; -1 where there is none."""
    most = np.full(_numbers(connection), -1, dtype=np.int64)
    persons, grains = fetched(connection, _ALLOWED, {}, 2)
    most[persons] = grains
    for act in packed_acts(connection, "register") + packed_acts(connection, "raise"):
        for persons, grains in each_pack(connection, act):
            most[persons] = np.maximum(most[persons], grains)
    return most


@readable()
def everyones_taken(connection: Connection, besides: int) -> Numbers:
    """List what is promised or spent by the numbers of people."""
    total = np.zeros(_numbers(connection), dtype=np.int64)
    persons, grains = fetched(connection, _TAKEN_SQL + " GROUP BY q.person", {"besides": besides}, 2)
    total[persons] = grains
    for offer in packed_acts(connection, "announce"):
        if offer != besides:
            _add(connection, total, offer)
    return total


def _numbers(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT COALESCE(MAX(person), 0) FROM people")) or 0) + 1


def _add(connection: Connection, total: Numbers, offer: int) -> None:
    """Add what one packed announcement takes of everybody."""
    version = _version(connection, offer)
    person, grains = promised_of(connection, offer, version)
    closing = closing_number(connection, offer)
    if asks_several(version) and closing is not None:
        charged = charged_of(connection, offer, closing, version)
        grains[charged.position] = charged.grains
    grains[given_back(connection, offer)] = 0
    for start in range(0, len(person), packs.SIZE):
        some = slice(start, start + packs.SIZE)
        total[person[some]] += grains[some]


def given_back(connection: Connection, offer: int) -> Numbers:
    """List the positions whose hold was given back."""
    return fetched(connection, "SELECT position FROM returns WHERE offer = :offer", {"offer": offer}, 1)[0]


def _version(connection: Connection, act: int) -> int:
    return int(fetched_rows(connection, "SELECT version FROM acts WHERE number = :act", {"act": act})[0][0])


def closing_number(connection: Connection, offer: int) -> int | None:
    """Find the number of the release of an announcement, if there is one."""
    query = "SELECT number, kind FROM acts WHERE offer = :offer AND kind IN ('release', 'cancel')"
    numbers = [number for number, kind in fetched_rows(connection, query, {"offer": offer}) if kind == "release"]
    return numbers[0] if numbers else None


def act_of(connection: Connection, number: int) -> Row[Any]:
    """Read an act by its number."""
    return ONE_LOOK.answer(("act", number), lambda: connection.execute(_ACT, {"number": number}).one())


_ACT = select(acts).where(acts.c.number == bindparam("number"))


def _allowed_to(connection: Connection, person: int) -> int:
    """Look up one allowance: the act that registered a person may be packed, and so may those that raised it."""
    query = """SELECT p.act, (SELECT MAX(a.grains) FROM allowances a WHERE a.person = p.person) FROM people p
        WHERE p.person = :person"""
    rows = fetched_rows(connection, query, {"person": person})
    if not rows:
        return -1
    registered, raised = rows[0]
    given = [registered, *packed_acts(connection, "raise")]
    packed = (row_with(connection, act, ROWS, person) for act in given)
    return max(-1 if raised is None else int(raised), *(-1 if each is None else each[1][1] for each in packed))


def _taken_of(connection: Connection, person: int, besides: int) -> int:
    query = _TAKEN_SQL + " AND q.person = :person GROUP BY q.person"
    rows = fetched_rows(connection, query, {"besides": besides, "person": person})
    total = int(rows[0][1]) if rows else 0
    for offer, position in places_in_packs(connection, person):
        if offer.number != besides:
            total += _taken_at(connection, offer, position)
    return total


def places_in_packs(connection: Connection, person: int) -> list[tuple[Row[Any], int]]:
    """List the packed announcements that a person is in, and where they stand in each."""
    numbers = packed_acts(connection, "announce")
    places = [int(places_of(connection, number, np.array([person]))[0]) for number in numbers]
    return [(act_of(connection, number), at) for number, at in zip(numbers, places, strict=True) if at >= 0]


def is_given_back(connection: Connection, offer: int, position: int) -> bool:
    """Tell whether one hold was given back."""
    query = "SELECT 1 FROM returns WHERE offer = :offer AND position = :position"
    return bool(fetched_rows(connection, query, {"offer": offer, "position": position}))


def charge_of(connection: Connection, offer: int, position: int) -> dict[str, int] | None:
    """Read what the release of a packed announcement charged at a position; None where it did not."""
    closing = closing_number(connection, offer)
    return None if closing is None else charge_at(connection, act_of(connection, closing), position)


def _taken_at(connection: Connection, offer: Row[Any], position: int) -> int:
    if is_given_back(connection, offer.number, position):
        return 0
    charged = charge_of(connection, offer.number, position)
    return charged["grains"] if charged is not None else promise_at(connection, offer, position)["grains"]


def left_of(most: Numbers, spent: Numbers, totals: Numbers | None, *, raising: bool, lowering: bool) -> Numbers:
    """Subtract what is taken from allowances, raised or lowered to totals; without bound there is no end."""
    if totals is not None:
        higher, lower = raising & (totals > most), lowering & (totals < most)
        most = np.where(higher | lower, totals, most)
    left: NDArray[np.int64] = np.where(most >= UNLIMITED, UNLIMITED, most - spent)
    return left
