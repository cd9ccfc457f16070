"""The release in the ledger: every hold of those who joined becomes a charge, together with the one result."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, text

from optin.database.crash_points import reached
from optin.errors import Place, PromiseBroken
from optin.ledger.chain import Entry, Terms, append, charge_tree, last, new_salt
from optin.ledger.holds import closing_of, expect_offer, let_go, returned, terms_of
from optin.ledger.roster import Roster
from optin.ledger.streamed_hashes import sums_of
from optin.ledger.texts import expect_released

__all__ = [
    "DECLINED",
    "NOBODY",
    "OTHER_LIMIT",
    "OTHER_PEOPLE",
    "Draw",
    "charge",
    "expect_open",
    "turn_holds_into_charges",
]

DECLINED = "{person} declined or left; leave them out of those who joined"
OTHER_LIMIT = (
    "the limit of {person} is not the one announced; promises freeze: use the table that was announced, or cancel and announce"
    " a new round"
)
OTHER_PEOPLE = "these are not the people of the announcement; use the table that was announced"
NOBODY = "nobody joined; cancel this campaign, or announce a new round"

Mask = NDArray[np.bool_]
Draw = Callable[[Mask, int], tuple[str, str]]
"""Given who joined (in the caller's order) and the act's number, draw once; return the release's text and fingerprint.
"""


def charge(
    connection: Connection,
    terms: Terms,
    *,
    roster: Roster,
    joined: Mask | None,
    draw: Draw,
) -> Entry:
    """Charge those who joined and store what ``draw`` gives; asked again, give what is stored and draw nothing."""
    offer = expect_offer(connection, terms)
    order = _announced_order(connection, offer, roster)
    given = None if joined is None else np.asarray(joined, dtype=np.bool_)[order]
    closing = closing_of(connection, offer.number)
    if closing is not None:
        return _stored(connection, offer, closing, given)
    standing = ~returned(connection, offer)
    taking = standing if given is None else given
    _expect_standing(taking, standing, order)
    reached("after checks")
    if np.any(standing & ~taking):
        let_go(connection, offer, np.flatnonzero(standing & ~taking), kind="absent")
    number = turn_holds_into_charges(connection, offer, int(taking.sum()))
    reached("after charges")
    return _seal_release(connection, offer, roster, order, taking, number, draw)


def _announced_order(connection: Connection, offer: Row[Any], roster: Roster) -> NDArray[np.int64]:
    """Say at which index of the roster each announced person stands; the same table needs one hash and no look-up."""
    if roster.digest(offer.salt) == offer.rows:
        return np.arange(len(roster))
    rows = connection.execute(
        text(
            "SELECT p.id, q.grains FROM promises q JOIN people p ON p.person = q.person "
            "WHERE q.offer = :offer ORDER BY q.position"
        ),
        {"offer": offer.number},
    ).all()
    index = {name: at for at, name in enumerate(roster.ids)}
    order = np.array([index.get(row.id, -1) for row in rows], dtype=np.int64)
    if len(roster) != len(rows) or np.any(order < 0):
        raise PromiseBroken(OTHER_PEOPLE, other_people=True)
    differs = roster.grains[order] != np.array([row.grains for row in rows], dtype=np.int64)
    if np.any(differs):
        raise PromiseBroken(OTHER_LIMIT, person=Place(int(order[np.argmax(differs)])), other_people=True)
    return order


def expect_open(closing: Row[Any]) -> None:
    """Refuse to release what was cancelled."""
    if closing.kind == "cancel":
        raise PromiseBroken("this campaign and round were cancelled; announce a new round")


def _stored(connection: Connection, offer: Row[Any], closing: Row[Any], given: Mask | None) -> Entry:
    expect_open(closing)
    taking = ~returned(connection, offer, before_closing=True) if given is None else given
    if _mask_digest(taking, closing.salt) != closing.joined:
        raise PromiseBroken("this campaign and round were released over other people; the published release stands")
    return Entry(closing.number, closing.hash, closing.body)


def _expect_standing(taking: Mask, standing: Mask, order: NDArray[np.int64]) -> None:
    if np.any(taking & ~standing):
        at = int(order[np.argmax(taking & ~standing)])
        raise PromiseBroken(DECLINED, person=Place(at))
    if not np.any(taking):
        raise PromiseBroken(NOBODY)


def turn_holds_into_charges(connection: Connection, offer: Row[Any], expected: int) -> int:
    """Charge every hold that stands; return the number of the act that will seal them."""
    number = last(connection).number + 1
    charged = connection.execute(
        text(
            "INSERT INTO charges (offer, position, act, grains) "
            "SELECT q.offer, q.position, :act, q.grains FROM promises q WHERE q.offer = :offer AND NOT EXISTS "
            "(SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position) ORDER BY q.position"
        ),
        {"offer": offer.number, "act": number},
    ).rowcount
    if charged != expected:
        raise PromiseBroken("the ledger's holds do not match its announcement; run `optin ledger verify`")
    return number


def _seal_release(
    connection: Connection,
    offer: Row[Any],
    roster: Roster,
    order: NDArray[np.int64],
    taking: Mask,
    number: int,
    draw: Draw,
) -> Entry:
    """Build the tree over all charges, draw, and write both down: after the draw nothing but COMMIT can fail.

    Unless the draw lies: one that was made with other sums than are charged is refused.
    """
    salt, charged = new_salt(), order[taking]
    everyone = len(charged) == len(roster) and bool(np.all(charged == np.arange(len(roster))))
    ids = roster.ids if everyone else [roster.ids[at] for at in charged.tolist()]
    root, joined = charge_tree(salt, ids, roster.grains[charged]).root, _mask_digest(taking, salt)
    mask = np.empty_like(taking)
    mask[order] = taking
    sums = sums_of(roster.grains[charged])
    body, result = draw(mask, number)
    expect_released((body, result), offer, number, sums)
    return append(
        connection,
        kind="release",
        terms=terms_of(offer),
        offer=offer.number,
        body=body,
        result=result,
        people=len(ids),
        rows=root,
        joined=joined,
        salt=salt,
    )


def _mask_digest(mask: Mask, salt: str) -> str:
    """Hash who joined under the act's secret: receipts show this hash, and must not let a holder test guesses."""
    return hashlib.sha256(f"optin joined 1:{salt}:{len(mask)}:".encode() + np.packbits(mask).tobytes()).hexdigest()
