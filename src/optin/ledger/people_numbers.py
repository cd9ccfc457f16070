"""Which number each person has in a ledger: by key where they are few, by walking through all where they are most of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.errors import BadInput
from optin.formats.names import Names
from optin.ledger import packs
from optin.ledger.packing import readable
from optin.ledger.people_names import named_between
from optin.ledger.roster import Roster
from optin.ledger.staging import known_numbers
from optin.ledger.streamed_hashes import fetched_rows

Numbers = NDArray[np.int64]
NOT_KEPT = "some ids were not kept as given; use ids that differ byte for byte"
_SPARSE = 8
"""Where fewer than one in so many of the ledger's people are asked for, the database looks them up."""


def numbers_of(connection: Connection, roster: Roster) -> Numbers:
    """Say which number each person has; 0 for those who are new. Nobody may stand twice."""
    persons = persons_of(connection, roster.ids)
    seen = np.zeros(int(persons.max(initial=0)) + 1, dtype=np.bool_)
    seen[persons] = True
    if np.count_nonzero(seen[1:]) != np.count_nonzero(persons):
        roster.expect_distinct()
        raise BadInput(NOT_KEPT)
    return persons


def person_of(connection: Connection, name: str) -> int | None:
    """Find the number of a person by their id."""
    rows = fetched_rows(connection, "SELECT person FROM people WHERE id = :id", {"id": name})
    return rows[0][0] if rows else None


def persons_of(connection: Connection, names: Sequence[str]) -> Numbers:
    """Find the numbers of people by their ids; 0 where the ledger does not know them."""
    most = int(connection.scalar(text("SELECT COALESCE(MAX(person), 0) FROM people")) or 0)
    if not most:
        return np.zeros(len(names), dtype=np.int64)
    if len(names) <= packs.FEW:
        return np.array([person_of(connection, name) or 0 for name in names], dtype=np.int64)
    persons = None
    if len(names) >= packs.PACKED_FROM and len(names) * _SPARSE >= most:
        persons = _walked(connection, Names.of(names), most)
    return known_numbers(connection, names) if persons is None else persons


@readable()
def _walked(connection: Connection, names: Names, most: int) -> Numbers | None:
    """Walk through everyone the ledger knows; None where two ids look the same, and somebody has to look closer."""
    persons, index, at = np.zeros(len(names), dtype=np.int64), _Index(names), 0
    for first in range(1, most + 1, packs.SIZE):
        numbers, known = named_between(connection, first, first + packs.SIZE - 1)
        if names[at : at + len(known)] == known:  # most tables come in the order they came in before
            places: Numbers | slice | None = slice(at, at + len(known))
            at += len(known)
        else:
            numbers, places = index.places(numbers, known)
        if places is None:
            return None
        persons[places] = numbers
    return persons


class _Index:
    """Names found by the numbers they are turned into."""

    def __init__(self, names: Names) -> None:
        self._names = names

    @cached_property
    def _sorted(self) -> tuple[Numbers, NDArray[np.uint64]]:
        keys = self._names.keys()
        order = np.argsort(keys)
        return order, keys[order]

    def places(self, numbers: Numbers, others: Names) -> tuple[Numbers, Numbers | None]:
        """Say which of some numbered people are among the names, and where; None for a doubt."""
        (order, known), keys = self._sorted, others.keys()
        if np.any(known[1:] == known[:-1]):
            return numbers, None
        turn = np.argsort(keys)
        at = np.minimum(np.searchsorted(known, keys[turn]), len(known) - 1)
        hit = known[at] == keys[turn]
        places, who = order[at[hit]], turn[hit]
        same = self._names.take(places).same(others.take(who)).all()
        return numbers[who], places if same else None
