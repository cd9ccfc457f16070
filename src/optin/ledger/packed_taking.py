"""Who joined among many people announced in packs, and what they are charged: columns by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row

from optin.errors import PromiseBroken
from optin.grains.people import DECLINED, NOBODY
from optin.ledger import packs
from optin.ledger.branches import write_branches
from optin.ledger.chain import Written, last, packed_of
from optin.ledger.held import Held, Numbers, places_among, promise_columns
from optin.ledger.holds import let_go, returned
from optin.ledger.packed_holds import as_given
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import ROWS, write_packs
from optin.ledger.splits import Split
from optin.ledger.streamed_hashes import Block
from optin.ledger.taking import OTHER_GROUP, OTHER_HOLDS, OTHER_LIMIT, OTHER_PEOPLE

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class PackedTaking:
    """People announced in packs: ``order`` says at which index each announced person came; without ``given``, all who stand join.

    ``names`` hands out ids of some positions where they are at hand; ``place`` names whoever came at an index, for a message;
    ``in_memory`` says that whoever draws wants a mask.
    """

    connection: Connection
    offer: Row[Any]
    held: Held = field(repr=False)
    order: Numbers = field(repr=False)
    given: Mask | None = field(repr=False)
    answered: Numbers | None = field(repr=False)
    place: Callable[[int], object] = field(repr=False)
    names: Callable[[Numbers], list[str]] | None = field(repr=False)
    in_memory: bool = True

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
            raise PromiseBroken(DECLINED, person=self.place(int(self.order[np.argmax(gone)])))
        if not np.any(self._taking):
            raise PromiseBroken(NOBODY)

    def let_absent_go(self) -> int:
        """Give back the holds of those who neither joined nor declined, as one act; say how many are charged."""
        absent = np.flatnonzero(self._standing & ~self._taking)
        if len(absent):
            let_go(self.connection, self.offer, absent, kind="absent")
        return int(self._taking.sum())

    def marks(self) -> str:
        """Have no table: what is charged is computed from columns."""
        raise NotImplementedError

    def charge(self, split: Split) -> int:
        """Write the charges of those who joined; return the number of the act that will seal them."""
        number = last(self.connection).number + 1
        write_packs(self.connection, number, ROWS, [self._positions, *self._stored(split)])
        return number

    @cached_property
    def _positions(self) -> Numbers:
        return np.flatnonzero(self._taking)

    def _spent(self, split: Split) -> list[Numbers]:
        """List what is charged, and of a sheet for which questions and out of how much."""
        at, held = self._positions, self.held
        if not split.several:
            return [held.grains[at]]
        assert held.capped is not None and self.answered is not None  # noqa: S101, PT018 - asked at the door
        design = None if held.design is None else held.design[at]
        return split.columns(held.capped[at], self.answered[at], design)

    def _stored(self, split: Split) -> list[Numbers]:
        return self._spent(split)[: 2 if split.several else 1]

    def charged(self, act: int, salt: str, split: Split) -> Written:
        """Read the charges back, build the tree over them and store its branches."""
        walk = packed_walk(self.connection, "release", act, self.offer.number, split.version, ids=self._ids())
        checked = as_given(walk, None, self._spent(split))
        written = packed_of("release", checked, salt, version=split.version, sharing=split.sharing)
        write_branches(self.connection, act, written.people, written.branches)
        return written

    def _ids(self) -> Iterator[list[str]] | None:
        if self.names is None:
            return None
        starts = range(0, len(self._positions), packs.SIZE)
        return (self.names(self._positions[start : start + packs.SIZE]) for start in starts)

    @property
    def joined(self) -> Mask | None:
        """Who is charged, in the order in which people came; of a table nothing."""
        if not self.in_memory:
            return None
        mask = np.empty_like(self._taking)
        mask[self.order] = self._taking
        return mask


def expect_held(held: Held, columns: list[Numbers], version: int) -> None:
    """Refuse packs that were edited: they must hold what was announced to whoever came, not only hash to it once."""
    names = [name for name in promise_columns(version)[1:] if name != "bounded"]
    if not all(np.array_equal(getattr(held, name), column) for name, column in zip(names, columns, strict=True)):
        raise PromiseBroken(OTHER_HOLDS)


def packed_order(
    held: Held, person: Numbers, columns: list[Numbers], version: int, place: Callable[[int], object]
) -> Numbers:
    """Say at which index each announced person came; others, and other promises, are refused."""
    places = places_among(held.person, person)
    if len(person) != len(held.person) or np.any(places < 0):
        raise PromiseBroken(OTHER_PEOPLE, other_people=True)
    order = np.empty_like(places)
    order[places] = np.arange(len(places))
    names = [name for name in promise_columns(version)[1:] if name != "bounded"]
    differs = dict(
        zip(names, (getattr(held, n)[places] != c for n, c in zip(names, columns, strict=True)), strict=True)
    )
    moved = differs.pop("design", np.zeros(0, dtype=np.bool_))
    for words, wrong in ((OTHER_GROUP, moved), *((OTHER_LIMIT, each) for each in differs.values())):
        if np.any(wrong):
            raise PromiseBroken(words, person=place(int(np.argmax(wrong))), other_people=True)
    return order
