"""People in memory on their way into the ledger: one batch, checked at the door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sqlalchemy import Connection, Row

from optin.errors import BadInput, Place
from optin.grains.batches import Batch
from optin.ledger import packs
from optin.ledger.arrivals import Taking
from optin.ledger.chain import Written, written_of
from optin.ledger.held import held_of, promise_columns
from optin.ledger.packed_holds import numbers_of
from optin.ledger.packed_taking import PackedTaking, expect_held, packed_order
from optin.ledger.sharing import Sharing
from optin.ledger.staging import NOT_SPLIT, add_rows, enroll_staged, stage_people
from optin.ledger.streamed_hashes import Block, digest_of_blocks, pieces
from optin.ledger.taking import NOT_ANSWERED, NOT_GROUPED, MaskTaking, announced_order
from optin.receipts import GROUPS, SHEETS, VERSION

MOST = 2**63 - 1
LONGEST_ID = 500
"""Characters: at most 2,000 bytes, which fit into a row of PostgreSQL's index."""


@dataclass(frozen=True)
class Roster:
    """People in memory, as one batch."""

    batch: Batch
    connection = None

    def __len__(self) -> int:
        return len(self.batch.ids)

    def place(self, position: int) -> Place:
        """Name the person at a position, for a message."""
        return Place(position)

    def stage(self, connection: Connection) -> None:
        """Fill the table ``staged``."""
        stage_people(connection, self.batch)

    def names(self, connection: Connection) -> Iterator[list[str]]:
        """List their ids in blocks as packs have them."""
        for start in range(0, len(self), packs.SIZE):
            yield list(self.batch.ids[start : start + packs.SIZE])

    def columns(self, connection: Connection, *names: str) -> list[NDArray[np.int64]]:
        """Take what came with them."""
        found = [getattr(self.batch, name) for name in names]
        if any(column is None for column in found):
            raise BadInput(NOT_SPLIT)
        return [np.asarray(column, dtype=np.int64) for column in found]

    def enroll(self, connection: Connection, base: int, act: int, *, everyone: bool) -> int:
        """Add those who are new to the people of the ledger."""
        if not everyone:
            return enroll_staged(connection, base, act, everyone=False)
        numbers = range(base + 1, base + 1 + len(self))
        return add_rows(
            connection, "people", ("person", "id", "act"), [numbers, self.batch.ids, repeat(act, len(self))]
        )

    def promised(self, connection: Connection, act: int, salt: str, sharing: Sharing) -> Written:
        """Digest the promises from memory."""
        version = sharing.version
        return written_of("announce", self._promises(version), salt, version=version, sharing=sharing)

    def _promises(self, version: int) -> Iterator[Block]:
        """Walk over what an announcement of some version holds of each person."""
        batch = self.batch
        split = {VERSION: (), SHEETS: (batch.capped,)}.get(version, (batch.capped, batch.design))
        return pieces(batch.ids, *(np.asarray(column) for column in (batch.grains, batch.bounded, *split)))

    def taking(self, connection: Connection, offer: Row[Any]) -> Taking:
        """Find these people among those announced; the same table needs one hash and no look-up."""
        if offer.version != VERSION and (self.batch.capped is None or self.batch.answered is None):
            raise BadInput(NOT_ANSWERED)
        if offer.version == GROUPS and self.batch.design is None:
            raise BadInput(NOT_GROUPED)
        columns = self._promises(offer.version)
        same = digest_of_blocks(offer.salt, columns, named=True, version=offer.version)[1] == offer.rows
        if packs.is_packed(connection, offer.number):
            return self._taking_packed(connection, offer, same=same)
        order = np.arange(len(self)) if same else announced_order(connection, offer, self.batch)
        given = self.batch.joined
        return MaskTaking(connection, offer, self.batch, order, None if given is None else np.asarray(given)[order])

    def _taking_packed(self, connection: Connection, offer: Row[Any], *, same: bool) -> PackedTaking:
        """Do so where they were announced in packs; the same table needs no look-up."""
        held, batch = held_of(connection, offer.number, offer.version), self.batch
        told = self.columns(connection, *(name for name in promise_columns(offer.version)[1:] if name != "bounded"))
        if same:
            order = np.arange(len(self))
            expect_held(held, told, offer.version)
        else:
            order = packed_order(held, numbers_of(connection, self), told, offer.version, self.place)
        given, answered = (None if each is None else np.asarray(each)[order] for each in (batch.joined, batch.answered))

        def names(positions: NDArray[np.int64]) -> list[str]:
            return [batch.ids[at] for at in order[positions].tolist()]

        return PackedTaking(connection, offer, held, order, given, answered, self.place, names)

    def expect_distinct(self) -> None:
        """Have nothing to say: ids in memory were compared at the door."""


def roster_of(
    ids: Sequence[str],
    grains: ArrayLike,
    *,
    totals: ArrayLike | None = None,
    bounded: ArrayLike | None = None,
    joined: ArrayLike | None = None,
    capped: ArrayLike | None = None,
    answered: ArrayLike | None = None,
    design: ArrayLike | None = None,
) -> Roster:
    """Check ids and numbers and put them together."""
    names = as_ids(ids)
    cut = np.zeros(len(names), dtype=np.int64) if bounded is None else np.asarray(bounded, dtype=np.int64)
    if joined is not None and (np.shape(joined) != (len(names),) or np.asarray(joined).dtype != np.bool_):
        raise BadInput("joined must say yes or no for each of the {people} people announced", people=len(names))
    return Roster(
        Batch(
            names,
            grains=as_grains(grains, len(names)),
            totals=None if totals is None else as_grains(totals, len(names)),
            bounded=cut,
            joined=None if joined is None else np.asarray(joined),
            capped=None if capped is None else as_grains(capped, len(names)),
            answered=None if answered is None else as_grains(answered, len(names)),
            design=None if design is None else as_grains(design, len(names)),
        )
    )


def as_grains(grains: ArrayLike, people: int) -> NDArray[np.int64]:
    """Check that there is one whole number, not negative and within 64 bits with their sign, for each person."""
    amounts = np.asarray(grains)
    if amounts.shape != (people,) or amounts.dtype.kind not in "iu":
        raise BadInput("grains must be one whole number for each of the {people} people", people=people)
    if np.any(amounts < 0):
        raise BadInput("grains must not be negative: see {person}", person=Place(int(np.argmax(amounts < 0))))
    if np.any(amounts > MOST):
        raise BadInput(
            "grains must be below 2^63, which the ledger can hold: see {person}",
            person=Place(int(np.argmax(amounts > MOST))),
        )
    return amounts.astype(np.int64)


def as_ids(ids: Sequence[str]) -> list[str]:
    """Check that ids are distinct, non-empty texts that both databases can keep; messages name only an index."""
    names = np.asarray(ids, dtype=object).tolist() if not isinstance(ids, list) else ids
    if not names:
        raise BadInput("there are no people: give at least one id")
    if not _storable(names) or "" in names:
        index = next(at for at, name in enumerate(names) if not name or not _storable([name]))
        raise BadInput(
            "ids must be non-empty texts of at most {longest} characters, none of them null: see {person}",
            longest=LONGEST_ID,
            person=Place(index),
        )
    if len(set(names)) != len(names):
        raise BadInput(
            "every person needs their own id: that of {person} was used before", person=Place(_first_repeat(names))
        )
    return names


def _storable(names: list[str]) -> bool:
    """Check all ids in one go: texts, encodable, none too long or with the null character that joins them here."""
    try:
        joined = "\x00".join(names).encode()
        return joined.count(0) == len(names) - 1 and max(map(len, names)) <= LONGEST_ID
    except (TypeError, UnicodeEncodeError):
        return False


def _first_repeat(names: list[str]) -> int:
    seen: set[str] = set()
    return next(index for index, name in enumerate(names) if name in seen or seen.add(name))  # type: ignore[func-returns-value]
