"""Who joined among those announced: columns by position, whether promises are rows or packs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row

from optin.errors import PromiseBroken
from optin.formats.names import Names
from optin.grains.people import DECLINED, NOBODY
from optin.ledger.chain import Written
from optin.ledger.held import Held, Numbers, held_of, places_among, promise_columns
from optin.ledger.holds import let_go, returned
from optin.ledger.people_numbers import numbers_of
from optin.ledger.roster import Roster
from optin.ledger.splits import Split
from optin.ledger.streamed_hashes import Block

OTHER_HOLDS = "the ledger's holds do not match its announcement; run `optin ledger verify`"
OTHER_PEOPLE = "these are not the people of the announcement; use the table that was announced"
OTHER_LIMIT = (
    "the limit of {person} is not the one announced; promises freeze: use the table that was announced, or cancel"
    " and announce a new round"
)
OTHER_GROUP = (
    "the group of {person} is not the one announced; promises freeze: use the table that was announced, or cancel and"
    " announce a new round"
)
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Taking(ABC):
    """Announced people who came: ``order`` says at which index each did (None: as announced); where nobody says who joined, all
    who stand do.
    """

    connection: Connection
    offer: Row[Any]
    held: Held = field(repr=False)
    roster: Roster = field(repr=False)
    order: Numbers | None = field(repr=False)

    def _by_position(self, column: Any) -> Any:  # noqa: ANN401 - what came with people, if it did
        if column is None or self.order is None:
            return column
        return np.asarray(column)[self.order]

    @cached_property
    def _given(self) -> Mask | None:
        given: Mask | None = self._by_position(self.roster.batch.joined)
        return given

    @cached_property
    def _standing(self) -> Mask:
        return ~returned(self.connection, self.offer)

    @cached_property
    def _taking(self) -> Mask:
        return self._standing if self._given is None else self._given

    @cached_property
    def _positions(self) -> Numbers:
        return np.flatnonzero(self._taking)

    def answers(self, *, closed: bool = False) -> Iterable[Block]:
        """List who joined in announced order; ``closed`` asks for those who did when the round was closed."""
        if closed and self._given is None:
            return [[~returned(self.connection, self.offer, before_closing=True)]]
        return [[self._taking]]

    def expect_standing(self) -> None:
        """Refuse a yes of someone who declined, and a round that nobody joined."""
        gone = self._taking & ~self._standing
        if np.any(gone):
            at = int(np.argmax(gone))
            raise PromiseBroken(DECLINED, person=self.roster.place(at if self.order is None else int(self.order[at])))
        if not np.any(self._taking):
            raise PromiseBroken(NOBODY)

    def let_absent_go(self) -> None:
        """Give back the holds of those who neither joined nor declined, as one act."""
        absent = np.flatnonzero(self._standing & ~self._taking)
        if len(absent):
            let_go(self.connection, self.offer, absent, kind="absent")

    @abstractmethod
    def foresee(self, salt: str, split: Split) -> Written:
        """Count, add up and build the tree over what is to be charged to those who joined."""

    @abstractmethod
    def charge(self, split: Split) -> int:
        """Write the charges of those who joined; return the number of the act that will seal them."""

    @abstractmethod
    def expect_charged(self, act: int, split: Split, written: Written) -> None:
        """Refuse charges just written that are not those that were to be."""

    def _spent(self, split: Split) -> list[Numbers]:
        """List what is charged, and of a sheet for which questions and out of how much."""
        at, held = self._positions, self.held
        if not split.several:
            return [held.grains[at]]
        assert held.capped is not None  # noqa: S101 - asked at the door
        design = None if held.design is None else held.design[at]
        return split.columns(held.capped[at], self._answered[at], design)

    @property
    def _answered(self) -> Numbers:
        answered: Numbers = self._by_position(np.asarray(self.roster.batch.answered))
        return answered

    def _names(self, size: int) -> Iterator[Names]:
        """List the ids of those who are charged, so many at a time."""
        for start in range(0, len(self._positions), size):
            some = self._positions[start : start + size]
            yield self.roster.ids.take(some if self.order is None else self.order[some])

    @property
    def joined(self) -> Mask | None:
        """Who is charged, in the order in which people came; of a table nothing."""
        if self.roster.by_id:
            return None
        if self.order is None:
            return self._taking
        mask = np.empty_like(self._taking)
        mask[self.order] = self._taking
        return mask


def held_and_order(connection: Connection, offer: Row[Any], roster: Roster) -> tuple[Held, Numbers | None]:
    """Read what was announced, and say at which index each announced person came; the same table needs no look-up."""
    roster.expect_answered(offer.version)
    held, version = held_of(connection, offer.number, offer.version), offer.version
    names = [name for name in promise_columns(version)[1:] if name != "bounded"]
    told = dict(zip(names, roster.columns(*names), strict=True))
    if roster.are_announced(offer.rows, offer.salt, version, held.bounded):
        expect_held(held, told)
        return held, None
    return held, announced_order(held, numbers_of(connection, roster), told, roster)


def expect_held(held: Held, told: dict[str, Numbers]) -> None:
    """Refuse holds that were edited: they must be what was announced to whoever came, not only hash to it once."""
    if not all(np.array_equal(getattr(held, name), column) for name, column in told.items()):
        raise PromiseBroken(OTHER_HOLDS)


def announced_order(held: Held, person: Numbers, told: dict[str, Numbers], roster: Roster) -> Numbers:
    """Say at which index each announced person came; others, and other promises, are refused."""
    places = places_among(held.person, person)
    if len(person) != len(held.person) or np.any(places < 0):
        raise PromiseBroken(OTHER_PEOPLE, other_people=True)
    differs = {name: getattr(held, name)[places] != column for name, column in told.items()}
    moved = differs.pop("design", np.zeros(0, dtype=np.bool_))
    for words, wrong in ((OTHER_GROUP, moved), *((OTHER_LIMIT, each) for each in differs.values())):
        if np.any(wrong):
            raise PromiseBroken(words, person=roster.place(int(np.argmax(wrong))), other_people=True)
    order = np.empty_like(places)
    order[places] = np.arange(len(places))
    return order
