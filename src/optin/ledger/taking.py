"""Who joined among those announced: as a mask over people in memory, or as a table beside their promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, text

from optin.errors import BadInput, Place, PromiseBroken
from optin.grains.batches import Batch
from optin.grains.people import DECLINED, NOBODY
from optin.ledger.chain import Written, append, last, new_salt, rows_of, written_of
from optin.ledger.holds import SAME_PROMISE, STAGED_PROMISES, let_go, returned, terms_of
from optin.ledger.row_charges import OTHER_HOLDS, charge_rows, expect_charged
from optin.ledger.splits import Split
from optin.ledger.staging import stage_marks
from optin.ledger.streamed_hashes import Block, blocks, pieces
from optin.receipts import GROUPS, VERSION

OTHER_PEOPLE = "these are not the people of the announcement; use the table that was announced"
OTHER_LIMIT = (
    "the limit of {person} is not the one announced; promises freeze: use the table that was announced, or cancel"
    " and announce a new round"
)
OTHER_GROUP = (
    "the group of {person} is not the one announced; promises freeze: use the table that was announced, or cancel and"
    " announce a new round"
)
NOT_GROUPED = "this announcement is to people in groups: say whose group each person is in"
NOT_ANSWERED = (
    "this announcement asks several questions: say what each person gives to all of them, and which they answered"
)
Mask = NDArray[np.bool_]


# --- in memory ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MaskTaking:
    """People in memory: ``order`` says at which index each announced person stands; without ``given``, all who stand join."""

    connection: Connection
    offer: Row[Any]
    batch: Batch = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)
    given: Mask | None = field(repr=False)

    @cached_property
    def _standing(self) -> Mask:
        return ~returned(self.connection, self.offer)

    @cached_property
    def _taking(self) -> Mask:
        return self._standing if self.given is None else self.given

    def answers(self, *, closed: bool = False) -> Iterable[Block]:
        """List who joined as one block."""
        if closed and self.given is None:
            return [[~returned(self.connection, self.offer, before_closing=True)]]
        return [[self._taking]]

    def expect_standing(self) -> None:
        """Refuse a yes of someone who declined, and a round that nobody joined."""
        gone = self._taking & ~self._standing
        if np.any(gone):
            raise PromiseBroken(DECLINED, person=Place(int(self.order[np.argmax(gone)])))
        if not np.any(self._taking):
            raise PromiseBroken(NOBODY)

    def let_absent_go(self) -> None:
        """Give back the holds of those who neither joined nor declined, as one act."""
        absent = np.flatnonzero(self._standing & ~self._taking)
        if len(absent):
            let_go(self.connection, self.offer, absent, kind="absent")

    def charge(self, split: Split) -> int:
        """Have the database charge those who joined."""
        expected = int(self._taking.sum())
        return charge_rows(self.connection, self.offer, split, expected=expected, marks=self._marks)

    def _marks(self) -> str:
        """Put the answers of those who joined into a table."""
        answered = np.asarray(self.batch.answered)[self.order]
        stage_marks(self.connection, np.flatnonzero(self._taking), answered[self._taking])
        return "marked"

    def charged(self, act: int, salt: str, split: Split) -> Written:
        """Build the tree from memory: who is charged what was compared with the promises when the order was found."""
        charged = self.order[self._taking]
        everyone = len(charged) == len(self.batch.ids) and bool(np.all(charged == np.arange(len(charged))))
        ids = self.batch.ids if everyone else [self.batch.ids[at] for at in charged.tolist()]
        columns = self._several(charged, split) if split.several else [np.asarray(self.batch.grains)[charged]]
        self._expect_charges(columns[0])
        walk, about = pieces(ids, *columns), {"version": split.version, "sharing": split.sharing}
        return expect_charged(self.connection, self.offer, written_of("release", walk, salt, **about))  # type: ignore[arg-type]

    def _expect_charges(self, lost: NDArray[np.int64]) -> None:
        """Refuse charges made from holds that were edited: each must be what this person loses, not only their sum."""
        rows = text("SELECT grains FROM charges WHERE offer = :offer ORDER BY position")
        found = self.connection.scalars(rows, {"offer": self.offer.number}).all()
        if not np.array_equal(np.array(found, dtype=np.int64), lost):
            raise PromiseBroken(OTHER_HOLDS)

    def _several(self, charged: NDArray[np.int64], split: Split) -> list[NDArray[np.int64]]:
        capped, answered = np.asarray(self.batch.capped)[charged], np.asarray(self.batch.answered)[charged]
        design = None if self.batch.design is None else np.asarray(self.batch.design)[charged]
        return split.columns(capped, answered, design)

    @property
    def joined(self) -> Mask:
        """Who is charged, in the order of the roster."""
        mask = np.empty_like(self._taking)
        mask[self.order] = self._taking
        return mask


def announced_order(connection: Connection, offer: Row[Any], batch: Batch) -> NDArray[np.int64]:
    """Say at which index of a batch each announced person stands; others, and other promises, are refused."""
    rows = connection.execute(
        text(
            "SELECT p.id, q.grains, q.capped, q.design FROM promises q JOIN people p ON p.person = q.person "
            "WHERE q.offer = :offer ORDER BY q.position"
        ),
        {"offer": offer.number},
    ).all()
    index = {name: at for at, name in enumerate(batch.ids)}
    order = np.array([index.get(row.id, -1) for row in rows], dtype=np.int64)
    if len(batch.ids) != len(rows) or np.any(order < 0):
        raise PromiseBroken(OTHER_PEOPLE, other_people=True)
    differs = np.asarray(batch.grains)[order] != np.array([row.grains for row in rows], dtype=np.int64)
    if offer.version == GROUPS:
        moved = np.asarray(batch.design)[order] != np.array([row.design for row in rows], dtype=np.int64)
        if np.any(moved):
            raise PromiseBroken(OTHER_GROUP, person=Place(int(order[np.argmax(moved)])), other_people=True)
    if offer.version != VERSION:
        differs |= np.asarray(batch.capped)[order] != np.array([row.capped for row in rows], dtype=np.int64)
    if np.any(differs):
        raise PromiseBroken(OTHER_LIMIT, person=Place(int(order[np.argmax(differs)])), other_people=True)
    return order


# --- in a table -----------------------------------------------------------------------------------------------------

_PLACE = f"INSERT INTO placed SELECT q.position, s.joined, s.answered FROM {STAGED_PROMISES} AND {SAME_PROMISE}"  # noqa: S608
_OTHER_LIMIT = f"SELECT MIN(s.id) FROM {STAGED_PROMISES} AND NOT {SAME_PROMISE}"  # noqa: S608
_OTHER_GROUP = f"SELECT MIN(s.id) FROM {STAGED_PROMISES} AND q.design <> COALESCE(s.design, -1)"  # noqa: S608
_NOT_ANSWERED = "SELECT COUNT(*) FROM staged WHERE capped IS NULL OR answered IS NULL"
_GONE = "EXISTS (SELECT 1 FROM returns r WHERE r.offer = :offer AND r.position = l.position)"
_FIRST_GONE = f"SELECT MIN(l.position) FROM placed l WHERE l.joined = 1 AND {_GONE}"  # noqa: S608
_ABSENT = f"""INSERT INTO returns (offer, position, act) SELECT :offer, l.position, :act FROM placed l
    WHERE l.joined = 0 AND NOT {_GONE} ORDER BY l.position"""  # noqa: S608
_ID = "SELECT p.id FROM promises q JOIN people p ON p.person = q.person WHERE q.offer = :offer AND q.position = :at"


def take_places(connection: Connection, offer: Row[Any], people: int) -> TableTaking:
    """Put everyone who is staged at their announced position; other people and edited limits are refused."""
    if offer.version != VERSION and connection.scalar(text(_NOT_ANSWERED)):
        raise BadInput(NOT_ANSWERED)
    on_sqlite = connection.dialect.name == "sqlite"
    made = ("TABLE staging.placed", "INTEGER") if on_sqlite else ("TEMPORARY TABLE placed", "BIGINT")
    connection.exec_driver_sql("CREATE {} (position {} PRIMARY KEY, joined BIGINT, answered BIGINT)".format(*made))
    found = connection.execute(text(_PLACE), {"offer": offer.number}).rowcount
    if found == offer.people == people:
        return TableTaking(connection, offer)
    moved = connection.scalar(text(_OTHER_GROUP), {"offer": offer.number})
    if moved is not None:
        raise PromiseBroken(OTHER_GROUP, person=f"id {moved}", other_people=True)
    other = connection.scalar(text(_OTHER_LIMIT), {"offer": offer.number})
    if other is not None:
        raise PromiseBroken(OTHER_LIMIT, person=f"id {other}", other_people=True)
    raise PromiseBroken(OTHER_PEOPLE, other_people=True)


@dataclass(frozen=True)
class TableTaking:
    """People in the table ``placed``, too many to hold."""

    connection: Connection
    offer: Row[Any]
    joined = None

    def answers(self, *, closed: bool = False) -> Iterator[Block]:
        """Walk over who joined."""
        return blocks(self.connection, "SELECT joined FROM placed ORDER BY position", {})

    def expect_standing(self) -> None:
        """Refuse a yes of someone who declined, and a round that nobody joined."""
        gone = self._scalar(_FIRST_GONE)
        if gone is not None:
            raise PromiseBroken(DECLINED, person=f"id {self._scalar(_ID, at=gone)}")
        if self.connection.scalar(text("SELECT MAX(joined) FROM placed")) != 1:
            raise PromiseBroken(NOBODY)

    def let_absent_go(self) -> None:
        """Give back the holds of those who neither joined nor declined, as one act."""
        number, salt = last(self.connection).number + 1, new_salt()
        if self.connection.execute(text(_ABSENT), {"offer": self.offer.number, "act": number}).rowcount:
            written = rows_of(self.connection, kind="absent", act=number, offer=self.offer.number, salt=salt)
            append(self.connection, "absent", written, salt, terms=terms_of(self.offer), offer=self.offer.number)

    def charge(self, split: Split) -> int:
        """Have the database charge those who joined; everyone's answers are beside whether they did."""
        expected = int(self.connection.scalar(text("SELECT COUNT(*) FROM placed WHERE joined = 1")) or 0)
        return charge_rows(self.connection, self.offer, split, expected=expected, marks=lambda: "placed")

    def charged(self, act: int, salt: str, split: Split) -> Written:
        """Read the charges back: only the database has seen them in full."""
        where = {"kind": "release", "act": act, "offer": self.offer.number}
        about = {"salt": salt, "version": split.version, "sharing": split.sharing}
        return expect_charged(self.connection, self.offer, rows_of(self.connection, **where, **about))  # type: ignore[arg-type]

    def _scalar(self, query: str, **where: object) -> Any:  # noqa: ANN401 - a position or an id
        return self.connection.scalar(text(query), {"offer": self.offer.number, **where})
