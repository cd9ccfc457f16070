"""Announce and release for more people than memory holds: their rows wait beside the ledger, one transaction takes them in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, text

from optin.database.connection import write
from optin.database.crash_points import reached
from optin.errors import LedgerUnavailable, PromiseBroken
from optin.ledger.chain import Entry, Terms, append, is_stored, last, new_salt, rows_of
from optin.ledger.charging import DECLINED, NOBODY, OTHER_LIMIT, OTHER_PEOPLE, expect_open, turn_holds_into_charges
from optin.ledger.holds import STAGED_PROMISES, announce_staged, closing_of, expect_offer, terms_of
from optin.ledger.ledger import Ledger
from optin.ledger.staging_area import Waiting
from optin.ledger.streamed_hashes import blocks, mask_digest
from optin.ledger.texts import expect_released

__all__ = ["Expected", "announce_waiting", "release_waiting"]

Draw = Callable[[int], tuple[str, str]]
"""Given the act's number, draw once; return the release's text and fingerprint."""


@dataclass(frozen=True)
class Expected:
    """What the engine's own query counted; what the ledger wrote must agree to the last grain."""

    people: int
    grains: int

    def agree(self, people: int, grains: int) -> None:
        """Refuse to commit anything else."""
        if (people, grains) != (self.people, self.grains):
            raise PromiseBroken(
                "what would be written differs from what was computed: someone declined meanwhile, or the table was"
                " changed while it was read. Nothing was written or charged: try again"
            )


def announce_waiting(
    ledger: Ledger,
    terms: Terms,
    rows: Waiting,
    *,
    body: str,
    expected: Expected,
    recheck: Callable[[], None],
    raise_limits: bool = False,
    exact: bool = False,
) -> Entry:
    """Hold everyone's promise in one transaction; ``recheck`` is the last word before COMMIT."""

    def work(connection: Connection) -> Entry:
        expected.agree(rows.people, rows.grains)
        entry = announce_staged(connection, terms, body=body, roster=rows, raise_limits=raise_limits, exact=exact)
        recheck()
        return entry

    return _written(ledger, rows, work)


def release_waiting(
    ledger: Ledger,
    terms: Terms,
    rows: Waiting,
    *,
    settle: Callable[[], Draw],
    expected: Expected | None,
) -> Entry:
    """Charge those marked in column b and store the result; asked again, give what is stored and draw nothing.

    ``settle`` is called once all is decided and charged: it may still refuse, and what it returns draws and may not. Nothing
    but COMMIT comes after the draw, for a draw that is thrown away can be read in what a database leaves behind.
    """

    def work(connection: Connection) -> Entry:
        offer = expect_offer(connection, terms)
        _take_places(connection, offer, rows)
        closing = closing_of(connection, offer.number)
        if closing is not None:
            return _stored(connection, offer, closing)
        if expected is None:
            raise PromiseBroken("this campaign and round were open again a moment later; try again")
        _expect_standing(connection, offer)
        reached("after checks")
        _let_absent_go(connection, offer)
        number = turn_holds_into_charges(connection, offer, expected.people)
        expected.agree(*_charged(connection, offer, number))
        reached("after charges")
        return _seal(connection, offer, number, draw=settle())

    return _written(ledger, rows, work)


def _written(ledger: Ledger, rows: Waiting, work: Callable[[Connection], Entry]) -> Entry:
    """Write; where a key of the ledger refused a row, say whose."""

    def joining(connection: Connection) -> Entry:
        if connection.dialect.name == "postgresql":  # it has not counted the new rows yet, and would take them for few
            connection.exec_driver_sql("SET LOCAL enable_nestloop = off")
        return work(connection)

    try:
        return write(ledger.engine, joining, is_stored=is_stored, on=rows.connection)
    except LedgerUnavailable:
        rows.expect_distinct()
        raise


_TAKE = f"INSERT INTO placed SELECT q.position, s.b FROM {STAGED_PROMISES} AND q.grains = s.a"  # noqa: S608
_OTHER_LIMIT = f"SELECT MIN(s.id) FROM {STAGED_PROMISES} AND q.grains <> s.a"  # noqa: S608
_GONE = "EXISTS (SELECT 1 FROM returns r WHERE r.offer = :offer AND r.position = l.position)"
_ID = "SELECT p.id FROM promises q JOIN people p ON p.person = q.person WHERE q.offer = :offer AND q.position = :at"
_ANSWERS = "SELECT joined FROM placed ORDER BY position"


def _take_places(connection: Connection, offer: Row[Any], rows: Waiting) -> None:
    """Put everyone at their announced position; other people and edited limits are refused."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("CREATE TABLE staging.placed (position INTEGER PRIMARY KEY, joined BIGINT)")
    else:
        connection.exec_driver_sql("CREATE TEMPORARY TABLE placed (position BIGINT PRIMARY KEY, joined BIGINT)")
    found = connection.execute(text(_TAKE), {"offer": offer.number}).rowcount
    if found == offer.people == len(rows):
        return
    other = connection.scalar(text(_OTHER_LIMIT), {"offer": offer.number})
    if other is not None:
        raise PromiseBroken(OTHER_LIMIT, person=f"id {other}", other_people=True)
    raise PromiseBroken(OTHER_PEOPLE, other_people=True)


def _expect_standing(connection: Connection, offer: Row[Any]) -> None:
    where = {"offer": offer.number}
    gone = connection.scalar(text(f"SELECT MIN(l.position) FROM placed l WHERE l.joined = 1 AND {_GONE}"), where)  # noqa: S608
    if gone is not None:
        person = connection.scalar(text(_ID), where | {"at": gone})
        raise PromiseBroken(DECLINED, person=f"id {person}")
    if connection.scalar(text("SELECT MAX(joined) FROM placed")) != 1:
        raise PromiseBroken(NOBODY)


def _let_absent_go(connection: Connection, offer: Row[Any]) -> None:
    """Give back the holds of those who neither joined nor declined, as one act."""
    number, salt = last(connection).number + 1, new_salt()
    away = connection.execute(
        text(
            "INSERT INTO returns (offer, position, act) SELECT :offer, l.position, :act FROM placed l "  # noqa: S608
            f"WHERE l.joined = 0 AND NOT {_GONE} ORDER BY l.position"
        ),
        {"offer": offer.number, "act": number},
    ).rowcount
    if away:
        written = rows_of(connection, kind="absent", act=number, offer=offer.number, salt=salt)
        append(
            connection,
            kind="absent",
            terms=terms_of(offer),
            offer=offer.number,
            people=written.people,
            rows=written.digest,
            salt=salt,
        )


def _charged(connection: Connection, offer: Row[Any], number: int) -> tuple[int, int]:
    """Count and add up the charges just written, in halves that no database lets overflow."""
    query = """SELECT COUNT(*) AS people, SUM(grains >> 32) AS upper, SUM(grains & 4294967295) AS lower
        FROM charges WHERE offer = :offer AND act = :act"""
    row = connection.execute(text(query), {"offer": offer.number, "act": number}).one()
    return row.people, (int(row.upper or 0) << 32) + int(row.lower or 0)


def _seal(connection: Connection, offer: Row[Any], number: int, *, draw: Draw) -> Entry:
    salt = new_salt()
    written = rows_of(connection, kind="release", act=number, offer=offer.number, salt=salt)
    joined = mask_digest(salt, offer.people, blocks(connection, _ANSWERS, {}))
    body, result = draw(number)
    expect_released((body, result), offer, number, written.sums)
    return append(
        connection,
        kind="release",
        terms=terms_of(offer),
        offer=offer.number,
        body=body,
        result=result,
        people=written.people,
        rows=written.digest,
        joined=joined,
        salt=salt,
    )


def _stored(connection: Connection, offer: Row[Any], closing: Row[Any]) -> Entry:
    expect_open(closing)
    if mask_digest(closing.salt, offer.people, blocks(connection, _ANSWERS, {})) != closing.joined:
        raise PromiseBroken("this campaign and round were released over other people; the published release stands")
    return Entry(closing.number, closing.hash, closing.body)
