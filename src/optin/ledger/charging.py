"""The release in the ledger: every hold of those who joined becomes a charge, together with the one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, text

from optin.database.crash_points import reached
from optin.errors import PromiseBroken
from optin.ledger.arrivals import Arrivals, Taking
from optin.ledger.chain import Entry, Terms, Written, append, last, new_salt
from optin.ledger.holds import closing_of, expect_offer, terms_of
from optin.ledger.streamed_hashes import mask_digest
from optin.ledger.texts import expect_released

Draw = Callable[[NDArray[np.bool_], int], tuple[str, str]]
"""Given who joined (in the caller's order) and the act's number, draw once; return the release's text and fingerprint."""
Settle = Callable[[Any, Written], Callable[[int], tuple[str, str]]]
"""Given who joined and what is charged, decide; it may still refuse, and what it returns draws and may not."""


def charge(connection: Connection, terms: Terms, *, arrivals: Arrivals, settle: Settle) -> Entry:
    """Charge those who joined and store what ``settle`` gives; asked again, give what is stored and draw nothing.

    Nothing but COMMIT comes after the draw, for a draw that is thrown away can be read in what a database leaves behind;
    unless the draw lies: one that was made with other sums than are charged is refused.
    """
    offer = expect_offer(connection, terms)
    taking = arrivals.taking(connection, offer)
    closing = closing_of(connection, offer.number)
    if closing is not None:
        return _stored(offer, closing, taking)
    taking.expect_standing()
    reached("after checks")
    number = _turn_holds_into_charges(connection, offer, taking.let_absent_go())
    reached("after charges")
    salt = new_salt()
    written = taking.charged(number, salt)
    joined = mask_digest(salt, offer.people, taking.answers())
    body, result = settle(taking.joined, written)(number)
    expect_released((body, result), offer, number, written.sums)
    about = {"terms": terms_of(offer), "offer": offer.number, "body": body, "result": result, "joined": joined}
    return append(connection, "release", written, salt, **about)


def _stored(offer: Row[Any], closing: Row[Any], taking: Taking) -> Entry:
    if closing.kind == "cancel":
        raise PromiseBroken("this campaign and round were cancelled; announce a new round")
    if mask_digest(closing.salt, offer.people, taking.answers(closed=True)) != closing.joined:
        raise PromiseBroken("this campaign and round were released over other people; the published release stands")
    return Entry(closing.number, closing.hash, closing.body)


def _turn_holds_into_charges(connection: Connection, offer: Row[Any], expected: int) -> int:
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
