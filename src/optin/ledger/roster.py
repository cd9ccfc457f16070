"""People on their way into the ledger: one batch of columns, checked at the door, whether it came at once or in parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sqlalchemy import Connection

from optin.errors import BadInput, Place
from optin.formats.names import Names
from optin.grains.batches import Batch
from optin.ledger import packs
from optin.ledger.chain import Written, written_of
from optin.ledger.sharing import Sharing
from optin.ledger.staging import NOT_SPLIT, stage_people
from optin.ledger.streamed_hashes import Block, digest_of_blocks, pieces
from optin.receipts import GROUPS, SHEETS, VERSION, asks_several
from optin.tables.arrow_texts import listed

MOST = 2**63 - 1
LONGEST_ID = 500
"""Characters: at most 2,000 bytes, which fit into a row of PostgreSQL's index."""
NOT_GROUPED = "this announcement is to people in groups: say whose group each person is in"
NOT_ANSWERED = (
    "this announcement asks several questions: say what each person gives to all of them, and which they answered"
)


@dataclass(frozen=True)
class Roster:
    """The people of one act; ``by_id`` says that they came out of a table, where nobody counts rows."""

    batch: Batch
    by_id: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def ids(self) -> Names:
        """Their ids."""
        return Names.of(self.batch.ids)

    def place(self, position: int) -> object:
        """Name the person at a position, for a message."""
        return f"id {self.ids[position]}" if self.by_id else Place(position)

    def stage(self, connection: Connection) -> None:
        """Fill the table ``staged``."""
        stage_people(connection, self.batch)

    def names(self) -> Iterator[Names]:
        """List their ids in blocks as packs have them."""
        for start in range(0, len(self), packs.SIZE):
            yield self.ids[start : start + packs.SIZE]

    def columns(self, *names: str) -> list[NDArray[np.int64]]:
        """Take what came with them."""
        columns = [getattr(self.batch, name) for name in names]
        if any(column is None for column in columns):
            raise BadInput(NOT_ANSWERED if "answered" in names else NOT_SPLIT)
        return [_integers(column) for column in columns]

    def promised(self, salt: str, sharing: Sharing) -> Written:
        """Digest and add up what an announcement, whose holds are just written, promises them."""
        version = sharing.version
        return written_of("announce", self._promises(version), salt, version=version, sharing=sharing)

    def _promises(self, version: int, bounded: NDArray[np.int64] | None = None) -> Iterator[Block]:
        """Walk over what an announcement of some version holds of each person."""
        names = {VERSION: (), SHEETS: ("capped",), GROUPS: ("capped", "design")}[version]
        grains, cut, *split = self.columns("grains", "bounded", *names)
        return pieces(self.ids, grains, cut if bounded is None else bounded, *split)

    def are_announced(self, rows: str, salt: str, version: int, bounded: NDArray[np.int64]) -> bool:
        """Tell whether these people, in this order, are those of an announcement; which promises were cut only a ledger knows."""
        if len(bounded) != len(self):
            return False
        return digest_of_blocks(salt, self._promises(version, bounded), named=True, version=version)[1] == rows

    def expect_answered(self, version: int) -> None:
        """Refuse people who do not say what an announcement of some version has to know of them."""
        if asks_several(version) and (self.batch.capped is None or self.batch.answered is None):
            raise BadInput(NOT_ANSWERED)
        if version == GROUPS and self.batch.design is None:
            raise BadInput(NOT_GROUPED)

    def expect_distinct(self) -> None:
        """Refuse an id that stands twice; the ledger's keys refused it before."""
        keys = np.sort(self.ids.keys())
        again = np.unique(keys[1:][keys[1:] == keys[:-1]])
        some = self.ids.kept(np.isin(self.ids.keys(), again))
        twice = min((name for name, count in Counter(some).items() if count > 1), default=None)
        if twice is not None:
            raise BadInput("id {twice} stands in more than one row; every person needs their own", twice=twice)


def roster_of(given: Batch, *, by_id: bool = False) -> Roster:
    """Check ids and numbers and put them together; ids out of a table may stand twice until the ledger's keys see them.

    Of these, each was looked at as it came, and what came with them is nobody else's: none of it is copied.
    """
    ids, joined = given.ids, given.joined
    names = (ids if by_id and len(ids) else as_names(ids)) if isinstance(ids, Names) else Names.of(as_ids(ids))
    if joined is not None and (np.shape(joined) != (len(names),) or np.asarray(joined).dtype != np.bool_):
        raise BadInput("joined must say yes or no for each of the {people} people announced", people=len(names))
    checked: dict[str, Any] = {
        name: None if (column := getattr(given, name)) is None else as_grains(column, len(names), copied=not by_id)
        for name in _GRAINS
    }
    cut = np.zeros(len(names), dtype=np.bool_) if given.bounded is None else _integers(given.bounded)
    return Roster(Batch(names, bounded=cut, joined=None if joined is None else np.asarray(joined), **checked), by_id)


def _integers(column: Any) -> NDArray[np.int64]:  # noqa: ANN401 - a column of any kind
    """Take a column as whole numbers; marks, which count as 0 and 1, stay the bytes they are."""
    numbers = np.asarray(column)
    return numbers if numbers.dtype == np.bool_ else numbers.astype(np.int64, copy=False)


_GRAINS = ("grains", "totals", "capped", "answered", "design")
"""Columns of whole numbers that are not negative."""


def as_grains(grains: ArrayLike, people: int, *, copied: bool = True) -> NDArray[np.int64]:
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
    return amounts.astype(np.int64, copy=copied)


def as_ids(ids: Sequence[str]) -> list[str]:
    """Check that ids are distinct, non-empty texts that both databases can keep; messages name only an index."""
    if isinstance(ids, str | bytes | set | frozenset):
        raise BadInput("ids must be a column or a list with one text for each person, in the order of the people")
    names = ids if isinstance(ids, list) else listed(ids)
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


def as_names(names: Names) -> Names:
    """Check ids as `as_ids` does, but for those that stand twice, without looking at each."""
    wide = np.flatnonzero(names.lengths > LONGEST_ID)
    short = all(len(names[at]) <= LONGEST_ID for at in wide.tolist())
    if not short or not names.lengths.all() or not names.array.all() or not _is_text(names):
        as_ids(list(dict.fromkeys(names)))
    if not len(names):
        as_ids([])
    return names


def _is_text(names: Names) -> bool:
    try:
        names.array.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


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
