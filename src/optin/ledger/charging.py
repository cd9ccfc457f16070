"""The release in the ledger: every hold of those who joined becomes a charge, together with the one result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row

from optin.announcement import Announcement
from optin.database.crash_points import reached
from optin.errors import PromiseBroken
from optin.grains.splitting import Released
from optin.ledger.chain import About, ActRows, Entry, Terms, Written, append, new_salt, rows_of
from optin.ledger.held import any_cut
from optin.ledger.holds import closing_of, expect_offer, terms_of
from optin.ledger.packed_charges import PackedTaking
from optin.ledger.packs import is_packed
from optin.ledger.roster import Roster
from optin.ledger.row_charges import RowTaking
from optin.ledger.splits import Split, split_of
from optin.ledger.streamed_hashes import mask_digest
from optin.ledger.taking import OTHER_HOLDS, Taking, held_and_order
from optin.ledger.texts import expect_released

Draw = Callable[[NDArray[np.bool_], int], tuple[str, str]]
"""Given who joined (in the caller's order) and the act's number, draw once; return the release's text and fingerprint."""


class Settlement(Protocol):
    """How a release is settled: decided and added up before the ledger is locked, drawn inside its transaction.

    Where something else was written in between, it is decided and added up again inside.
    """

    @property
    def announcement(self) -> Announcement | None:
        """What is released, where that is known: its fingerprint says whether it is what the ledger has."""

    def released(self, who: Any) -> Released:  # noqa: ANN401 - a mask in memory; None of a table
        """Given who joined, decide which questions are released, a bit for each (None: all of them); it may refuse."""

    def drawing(self, written: Written) -> Callable[[int], tuple[str, str]]:
        """Given what is charged, return what draws; it may still refuse, and what it returns may not."""


@dataclass
class Given:
    """Settle as was asked for beforehand."""

    draw: Draw
    questions: Released = None
    announcement: Announcement | None = None
    who: Any = field(default=None, repr=False)

    def released(self, who: NDArray[np.bool_]) -> Released:
        """Keep who joined for the draw."""
        self.who = who
        return self.questions

    def drawing(self, written: Written) -> Callable[[int], tuple[str, str]]:
        """Draw over those who joined."""
        return partial(self.draw, self.who)


@dataclass(frozen=True)
class Rehearsed:
    """What a release will write, decided on, added up and hashed before the ledger is locked; nothing is drawn yet."""

    taking: Taking
    split: Split
    salt: str = field(repr=False)
    written: Written
    joined: str
    draw: Callable[[int], tuple[str, str]] = field(repr=False)


def rehearse(connection: Connection, *, terms: Terms, roster: Roster, settlement: Settlement) -> Rehearsed | None:
    """Find out what a release will write, or refuse it; nothing where the round is closed."""
    offer = expect_offer(connection, terms)
    if closing_of(connection, offer.number) is not None:
        return None
    return _rehearsed(_taking_of(connection, offer, roster), settlement)


def _rehearsed(taking: Taking, settlement: Settlement) -> Rehearsed:
    taking.expect_standing()
    offer, salt = taking.offer, new_salt()
    split = split_of(offer, settlement.released(taking.joined), settlement.announcement)
    _expect_holds(taking.connection, offer, split)
    written = taking.foresee(salt, split)
    joined = mask_digest(salt, offer.people, taking.answers())
    return Rehearsed(taking, split, salt, written, joined, settlement.drawing(written))


def charge(
    connection: Connection,
    rehearsed: Rehearsed | None = None,
    *,
    terms: Terms,
    roster: Roster,
    settlement: Settlement,
) -> Entry:
    """Charge those who joined and store what is drawn; asked again, give what is stored and draw nothing.

    What was rehearsed still stands. Nothing but COMMIT comes after the draw, for a draw that is thrown away can be read in what
    a database leaves behind; unless the draw lies: one that was made with other sums than are charged is refused.
    """
    offer = expect_offer(connection, terms)
    if rehearsed is None:
        taking, closing = _taking_of(connection, offer, roster), closing_of(connection, offer.number)
        if closing is not None:
            return _stored(offer, closing, taking)
        rehearsed = _rehearsed(taking, settlement)
    return _charged(replace(rehearsed.taking, connection=connection), rehearsed)


def _charged(taking: Taking, rehearsed: Rehearsed) -> Entry:
    """Write what was found out, and draw."""
    connection, offer, split, written = taking.connection, taking.offer, rehearsed.split, rehearsed.written
    taking.expect_standing()
    reached("after checks")
    taking.let_absent_go()
    number = taking.charge(split)
    reached("after charges")
    taking.expect_charged(number, split, written)
    body, result = rehearsed.draw(number)
    expect_released((body, result), offer, number, written)
    about = About(terms_of(offer), offer.number, body, result, rehearsed.joined)
    return append(connection, "release", written, rehearsed.salt, about, version=split.version)


def _taking_of(connection: Connection, offer: Row[Any], roster: Roster) -> Taking:
    """Find people among those announced; other people and edited limits are refused."""
    held, order = held_and_order(connection, offer, roster)
    kind = PackedTaking if is_packed(connection, offer.number) else RowTaking
    return kind(connection, offer, held, roster, order)


def _stored(offer: Row[Any], closing: Row[Any], taking: Taking) -> Entry:
    if closing.kind == "cancel":
        raise PromiseBroken("this campaign and round were cancelled; announce a new round")
    if mask_digest(closing.salt, offer.people, taking.answers(closed=True)) != closing.joined:
        raise PromiseBroken("this campaign and round were released over other people; the published release stands")
    return Entry(closing.number, closing.hash, closing.body)


def _expect_holds(connection: Connection, offer: Row[Any], split: Split) -> None:
    """Refuse holds that are not those announced, where a promise was cut to what remained of an allowance.

    Every hold was compared with what a person's limit gives; what one was cut to, only the ledger knows.
    """
    if not any_cut(connection, offer.number):
        return
    held = ActRows("announce", offer.number, offer.salt, version=offer.version, sharing=split.sharing)
    if rows_of(connection, held).digest != offer.rows:
        raise PromiseBroken(OTHER_HOLDS)
