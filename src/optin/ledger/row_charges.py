"""Charges as rows: every hold that stands becomes one, by a query, and what was written is compared with what is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, text

from optin.errors import PromiseBroken
from optin.ledger.chain import Written, last, written_of
from optin.ledger.held import Numbers
from optin.ledger.splits import Split
from optin.ledger.staging import stage_designs, stage_marks
from optin.ledger.streamed_hashes import PIECE, pieces
from optin.ledger.taking import OTHER_HOLDS, Taking

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


class RowTaking(Taking):
    """People announced in rows, whose charges are rows too."""

    def charge(self, split: Split) -> int:
        """Have the database charge every hold that stands."""
        expected = len(self._positions)
        return charge_rows(self.connection, self.offer, split, expected=expected, marks=self._marks)

    def _marks(self) -> str:
        """Put the answers of those who joined into a table."""
        stage_marks(self.connection, self._positions, self._answered[self._positions])
        return "marked"

    def foresee(self, salt: str, split: Split) -> Written:
        """Build the tree from memory: who is charged what was compared with the promises when their order was found."""
        numbers, about = pieces(*self._spent(split)), {"version": split.version, "sharing": split.sharing}
        walk = ([names, *block] for names, block in zip(self._names(PIECE), numbers, strict=True))
        return written_of("release", walk, salt, **about)  # type: ignore[arg-type]

    def expect_charged(self, act: int, split: Split, written: Written) -> None:
        """Compare the charges just written with what was to be lost, one by one and in all."""
        self._expect_charges(self._spent(split)[0])
        expect_charged(self.connection, self.offer, written)

    def _expect_charges(self, lost: Numbers) -> None:
        """Refuse charges made from holds that were edited: each must be what this person loses, not only their sum."""
        rows = text("SELECT grains FROM charges WHERE offer = :offer ORDER BY position")
        charges = self.connection.scalars(rows, {"offer": self.offer.number}).all()
        if not np.array_equal(np.array(charges, dtype=np.int64), lost):
            raise PromiseBroken(OTHER_HOLDS)


def charge_rows(
    connection: Connection, offer: Row[Any], split: Split, *, expected: int, marks: Callable[[], str]
) -> int:
    """Charge every hold that stands; return the number of the act that will seal them.

    ``marks`` names a table that says, by position, which questions of a sheet those who joined answered.
    """
    number, charge = last(connection).number + 1, _charge_of(connection, split, marks)
    released = {"released": split.released[0]} if ":released" in charge else {}
    given = {"offer": offer.number, "act": number} | released
    if connection.execute(text(charge + _STANDING), given).rowcount != expected:
        raise PromiseBroken(OTHER_HOLDS)
    return number


def _charge_of(connection: Connection, split: Split, marks: Callable[[], str]) -> str:
    """Write what charges a hold: all of it, or of a sheet the parts of what was answered and is released."""
    if not split.several:
        return _WHOLE
    if split.sharing.grouped:
        stage_designs(connection, split.rows)
        spent = split.spent_sql(capped="q.capped", answered="(m.answered & d.released)")
        return _GROUPED.format(spent=spent, marks=marks())
    return _SPLIT.format(spent=split.spent_sql(capped="q.capped", answered="m.answered"), marks=marks())


_CHARGED = """SELECT COALESCE(SUM(grains >> 21), 0) AS high, COALESCE(SUM(grains & 2097151), 0) AS low
    FROM charges WHERE offer = :offer"""
"""Halves, since SQLite adds up no further than 2^63."""


def expect_charged(connection: Connection, offer: Row[Any], written: Written) -> None:
    """Refuse charges that are not those sealed: holds that were edited would charge less than is lost, unseen until verified."""
    row = connection.execute(text(_CHARGED), {"offer": offer.number}).one()
    if (int(row.high) << 21) + int(row.low) != written.grains:
        raise PromiseBroken(OTHER_HOLDS)
