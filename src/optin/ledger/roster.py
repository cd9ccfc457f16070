"""The people of one announcement, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.errors import BadInput, Place
from optin.ledger.chain import rows_digest

__all__ = ["LONGEST_ID", "Roster", "as_grains", "as_ids", "roster_of"]

MOST = 2**63 - 1
LONGEST_ID = 500
"""Characters: at most 2,000 bytes, which fit into a row of PostgreSQL's index."""


@dataclass(frozen=True)
class Roster:
    """Ids, what each is promised in grains, and whose promise the ledger itself cut short."""

    ids: list[str] = field(repr=False)
    grains: NDArray[np.int64] = field(repr=False)
    bounded: NDArray[np.bool_] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, position: int) -> Place:
        """Name the person at a position, for a message."""
        return Place(position)

    def digest(self, salt: str) -> str:
        """Hash the promises as an announcement seals them."""
        return rows_digest(salt, self.ids, self.grains, self.bounded.astype(np.int64))


def roster_of(ids: Sequence[str], grains: ArrayLike, bounded: ArrayLike | None = None) -> Roster:
    """Check ids and grains and put them together."""
    names = as_ids(ids)
    cut = np.zeros(len(names), dtype=np.bool_) if bounded is None else np.asarray(bounded, dtype=np.bool_)
    return Roster(names, as_grains(grains, len(names)), cut)


def as_grains(grains: ArrayLike, people: int) -> NDArray[np.int64]:
    """Check that there is one whole number, not negative and within 64 bits with their sign, for each person."""
    amounts = np.asarray(grains)
    if amounts.shape != (people,) or amounts.dtype.kind not in "iu":
        raise BadInput(f"grains must be one whole number for each of the {people} people")
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
