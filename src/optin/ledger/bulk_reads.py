"""What a ledger knows of people, handed out block by block to whoever joins it to rows that lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, text

from optin.database.connection import read
from optin.ledger.accounts import closing_number, everyones_allowance, everyones_taken
from optin.ledger.balances import COMMITTED
from optin.ledger.chain import Terms
from optin.ledger.held import charged_of, held_of
from optin.ledger.holds import closing_of, expect_offer, offer_of, returned
from optin.ledger.ledger import Ledger
from optin.ledger.packing import readable
from optin.ledger.packs import has_packs, is_packed, names_of
from optin.ledger.streamed_hashes import PIECE, Block, blocks

Take = Callable[[Block], None]

_BALANCES = f"""SELECT p.id, (SELECT MAX(a.grains) FROM allowances a WHERE a.person = p.person), {COMMITTED}
    FROM people p"""  # noqa: S608 — only constants are put in
_DECLINED = """EXISTS (SELECT 1 FROM returns r JOIN acts a ON a.number = r.act
    WHERE r.offer = q.offer AND r.position = q.position AND a.kind = 'return')"""
_CHANGES = f"""SELECT p.id, CASE WHEN q.bounded THEN COALESCE(q.capped, q.grains) ELSE -1 END,
    CASE WHEN {_DECLINED} THEN 1 ELSE 0 END
    FROM promises q JOIN people p ON p.person = q.person JOIN acts t ON t.number = q.offer
    WHERE t.campaign = :campaign AND t.round = :round AND (q.bounded OR {_DECLINED})"""  # noqa: S608

_CHARGES = """SELECT p.id, c.grains FROM charges c JOIN acts t ON t.number = c.offer
    JOIN promises q ON q.offer = c.offer AND q.position = c.position JOIN people p ON p.person = q.person
    WHERE t.campaign = :campaign AND t.round = :round"""


def each_balance(ledger: Ledger, besides: Terms | None, take: Take) -> None:
    """Hand out id, allowance and what is promised or spent of it (besides one offer), for everyone the ledger knows."""
    offer = read(ledger.engine, lambda link: offer_of(link, besides)) if besides is not None else None
    number = 0 if offer is None else offer.number
    if not read(ledger.engine, has_packs):
        _each(ledger, _BALANCES, {"besides": number}, take)
        return

    def look(connection: Connection) -> None:
        most, spent = everyones_allowance(connection), everyones_taken(connection, number)
        for names, numbers in blocks(connection, "SELECT id, person FROM people ORDER BY person", {}):
            persons = np.array(numbers, dtype=np.int64)
            take([names, most[persons].tolist(), spent[persons].tolist()])

    read(ledger.engine, look)


def each_change(ledger: Ledger, terms: Terms, take: Take) -> None:
    """Hand out id, what they were cut to if the ledger did (else -1), and whether they declined (1 or 0), where either holds."""
    offer = read(ledger.engine, lambda link: offer_of(link, terms))
    if offer is None or not read(ledger.engine, lambda link: is_packed(link, offer.number)):
        _each(ledger, _CHANGES, {"campaign": terms.campaign, "round": terms.round}, take)
        return

    def look(connection: Connection) -> None:
        person, cut, declined = _packed_changes(connection, offer)
        for start in range(0, len(person), PIECE):
            some = slice(start, start + PIECE)
            names = names_of(connection, person[some])
            take([names, cut[some].tolist(), declined[some].astype(np.int64).tolist()])

    read(ledger.engine, look)


@readable()
def _packed_changes(connection: Connection, offer: Row[Any]) -> tuple[NDArray[Any], ...]:
    """List who was cut or declined, what they were cut to (else -1), and whether they declined."""
    held = held_of(connection, offer.number, offer.version)
    declined = returned(connection, offer, before_closing=True)
    changed = np.flatnonzero(declined | (held.bounded != 0))
    cut = np.where(held.bounded != 0, held.grains if held.capped is None else held.capped, -1)
    return held.person[changed], cut[changed], declined[changed]


def charges_of(ledger: Ledger, terms: Terms) -> dict[str, int]:
    """Say what each person was charged by the release of a round."""
    packed = read(ledger.engine, lambda link: _packed_charges(link, terms))
    if packed is not None:
        return packed
    charges: dict[str, int] = {}
    _each(
        ledger,
        _CHARGES,
        {"campaign": terms.campaign, "round": terms.round},
        lambda block: charges.update(zip(*block, strict=True)),
    )
    return charges


@readable()
def _packed_charges(connection: Connection, terms: Terms) -> dict[str, int] | None:
    """Do so where they are packed."""
    offer = offer_of(connection, terms)
    closing = None if offer is None else closing_number(connection, offer.number)
    if offer is None or closing is None or not is_packed(connection, closing):
        return None
    held = held_of(connection, offer.number, offer.version)
    charged = charged_of(connection, offer.number, closing, offer.version)
    names = names_of(connection, held.person[charged.position])
    return dict(zip(names, charged.grains.tolist(), strict=True))


def is_closed(ledger: Ledger, terms: Terms) -> bool:
    """Say whether an announced round was released or cancelled."""
    return how_it_ended(ledger, terms) is not None


def how_it_ended(ledger: Ledger, terms: Terms) -> str | None:
    """Say how an announced round was closed, "release" or "cancel"; None while it is open."""

    def look(connection: Connection) -> str | None:
        closing = closing_of(connection, expect_offer(connection, terms).number)
        return None if closing is None else str(closing.kind)

    return read(ledger.engine, look)


def promises_held(ledger: Ledger, terms: Terms) -> int:
    """Count the promises of a round that are neither spent nor given back."""
    query = """SELECT COUNT(*) FROM promises q WHERE q.offer = :offer
        AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position)
        AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.offer = q.offer AND c.position = q.position)"""

    def look(connection: Connection) -> int:
        offer = expect_offer(connection, terms)
        if is_packed(connection, offer.number):
            closed = closing_of(connection, offer.number) is not None
            return 0 if closed else int(np.count_nonzero(~returned(connection, offer)))
        return int(connection.scalar(text(query), {"offer": offer.number}) or 0)

    return read(ledger.engine, look)


def _each(ledger: Ledger, query: str, where: dict[str, object], take: Take) -> None:
    def look(connection: Connection) -> None:
        for block in blocks(connection, query, where):
            take(block)

    read(ledger.engine, look)
