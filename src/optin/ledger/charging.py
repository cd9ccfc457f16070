"""The release in the ledger: every hold of those who joined becomes a charge, together with the one result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, text

from optin.database.crash_points import reached
from optin.errors import PromiseBroken
from optin.grains.splitting import Released
from optin.ledger.arrivals import Arrivals, Taking
from optin.ledger.chain import Entry, Terms, Written, append, last, new_salt, rows_of
from optin.ledger.held import held_of
from optin.ledger.holds import closing_of, expect_offer, terms_of
from optin.ledger.packed_taking import PackedTaking
from optin.ledger.packs import is_packed
from optin.ledger.splits import Split, split_of
from optin.ledger.staging import stage_designs
from optin.ledger.streamed_hashes import mask_digest
from optin.ledger.taking import OTHER_HOLDS
from optin.ledger.texts import expect_released

Draw = Callable[[NDArray[np.bool_], int], tuple[str, str]]
"""Given who joined (in the caller's order) and the act's number, draw once; return the release's text and fingerprint."""


class Settlement(Protocol):
    """How a release is settled inside the ledger's transaction: decided before anything is charged, then drawn."""

    def released(self, who: Any) -> Released:  # noqa: ANN401 - a mask in memory; None of a table
        """Given who joined, decide which questions are released, a bit for each (None: all of them); it may refuse."""

    def drawing(self, written: Written) -> Callable[[int], tuple[str, str]]:
        """Given what is charged, return what draws; it may still refuse, and what it returns may not."""


@dataclass
class Given:
    """Settle as was asked for beforehand."""

    draw: Draw
    questions: Released = None
    who: Any = field(default=None, repr=False)

    def released(self, who: NDArray[np.bool_]) -> Released:
        """Keep who joined for the draw."""
        self.who = who
        return self.questions

    def drawing(self, written: Written) -> Callable[[int], tuple[str, str]]:
        """Draw over those who joined."""
        return partial(self.draw, self.who)


def charge(connection: Connection, terms: Terms, *, arrivals: Arrivals, settlement: Settlement) -> Entry:
    """Charge those who joined and store what is drawn; asked again, give what is stored and draw nothing.

    Nothing but COMMIT comes after the draw, for a draw that is thrown away can be read in what a database leaves behind;
    unless the draw lies: one that was made with other sums than are charged is refused.
    """
    offer = expect_offer(connection, terms)
    taking = arrivals.taking(connection, offer)
    closing = closing_of(connection, offer.number)
    if closing is not None:
        return _stored(offer, closing, taking)
    taking.expect_standing()
    split = split_of(offer, settlement.released(taking.joined))
    _expect_holds(connection, offer, split)
    reached("after checks")
    expected = taking.let_absent_go()
    packed = isinstance(taking, PackedTaking)
    if isinstance(taking, PackedTaking):
        number = taking.charge(split)
    else:
        number = _turn_holds_into_charges(connection, offer, expected, _charge_of(connection, split, taking), split)
    reached("after charges")
    salt = new_salt()
    written = taking.charged(number, salt, split)
    if not packed:
        _expect_written(connection, offer, written)
    joined = mask_digest(salt, offer.people, taking.answers())
    body, result = settlement.drawing(written)(number)
    expect_released((body, result), offer, number, written)
    about = {"terms": terms_of(offer), "offer": offer.number, "body": body, "result": result, "joined": joined}
    return append(connection, "release", written, salt, version=split.version, **about)


def _stored(offer: Row[Any], closing: Row[Any], taking: Taking) -> Entry:
    if closing.kind == "cancel":
        raise PromiseBroken("this campaign and round were cancelled; announce a new round")
    if mask_digest(closing.salt, offer.people, taking.answers(closed=True)) != closing.joined:
        raise PromiseBroken("this campaign and round were released over other people; the published release stands")
    return Entry(closing.number, closing.hash, closing.body)


_WHOLE = """INSERT INTO charges (offer, position, act, grains)
    SELECT q.offer, q.position, :act, q.grains FROM promises q"""
_SPLIT = """INSERT INTO charges (offer, position, act, grains, answered)
    SELECT q.offer, q.position, :act, {spent}, m.answered FROM promises q
    JOIN (SELECT position, answered & CAST(:released AS BIGINT) AS answered FROM {marks}) m ON m.position = q.position"""
_GROUPED = """INSERT INTO charges (offer, position, act, grains, answered)
    SELECT q.offer, q.position, :act, {spent}, m.answered & d.released FROM promises q
    JOIN {marks} m ON m.position = q.position JOIN designs d ON d.design = q.design"""
_STANDING = """ WHERE q.offer = :offer AND NOT EXISTS
    (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position) ORDER BY q.position"""


def _charge_of(connection: Connection, split: Split, taking: Taking) -> str:
    """Write what charges a hold: all of it, or of a sheet the parts of what was answered and is released."""
    if not split.several:
        return _WHOLE
    if split.sharing.grouped:
        stage_designs(connection, split.rows)
        spent = split.spent_sql(capped="q.capped", answered="(m.answered & d.released)")
        return _GROUPED.format(spent=spent, marks=taking.marks())
    return _SPLIT.format(spent=split.spent_sql(capped="q.capped", answered="m.answered"), marks=taking.marks())


def _turn_holds_into_charges(connection: Connection, offer: Row[Any], expected: int, charge: str, split: Split) -> int:
    """Charge every hold that stands; return the number of the act that will seal them."""
    number = last(connection).number + 1
    released = {"released": split.released[0]} if ":released" in charge else {}
    given = {"offer": offer.number, "act": number} | released
    charged = connection.execute(text(charge + _STANDING), given).rowcount
    if charged != expected:
        raise PromiseBroken(OTHER_HOLDS)
    return number


_BOUNDED = "SELECT COUNT(*) FROM promises WHERE offer = :offer AND bounded"


def _expect_holds(connection: Connection, offer: Row[Any], split: Split) -> None:
    """Refuse holds that are not those announced, where a promise was cut to what remained of an allowance.

    Every hold was compared with what a person's limit gives; what one was cut to, only the ledger knows.
    """
    if is_packed(connection, offer.number):
        bounded = bool(held_of(connection, offer.number, offer.version).bounded.any())
    else:
        bounded = bool(connection.scalar(text(_BOUNDED), {"offer": offer.number}))
    if not bounded:
        return
    about = {"salt": offer.salt, "version": offer.version, "sharing": split.sharing}
    if rows_of(connection, kind="announce", act=offer.number, offer=None, **about).digest != offer.rows:
        raise PromiseBroken(OTHER_HOLDS)


_CHARGED = """SELECT COALESCE(SUM(grains >> 21), 0) AS high, COALESCE(SUM(grains & 2097151), 0) AS low
    FROM charges WHERE offer = :offer"""
"""Halves, since SQLite adds up no further than 2^63."""


def _expect_written(connection: Connection, offer: Row[Any], written: Written) -> None:
    """Refuse charges that are not those sealed: holds that were edited would charge less than is lost, unseen until verified."""
    found = connection.execute(text(_CHARGED), {"offer": offer.number}).one()
    if (int(found.high) << 21) + int(found.low) != written.grains:
        raise PromiseBroken(OTHER_HOLDS)
