"""Announcing to many people: whoever is new becomes a row, and what they allow and are promised becomes packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.errors import BadInput, PromiseBroken
from optin.ledger import packs
from optin.ledger.accounts import allowed, left_of, taken
from optin.ledger.arrivals import Arrivals
from optin.ledger.balances import uncovered_among
from optin.ledger.chain import Written, append, last, new_salt, rows_of, written_of
from optin.ledger.held import Numbers, held_of, places_among, promise_columns
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import PEOPLE, ROWS, write_packs
from optin.ledger.sharing import Sharing
from optin.ledger.staging import add_rows, known_numbers
from optin.ledger.streamed_hashes import Block
from optin.receipts import VERSION

OTHER_ROWS = "the database wrote other rows than it was asked to; nothing was kept: run `optin ledger verify`"
NOT_KEPT = "some ids were not kept as given; use ids that differ byte for byte"


@dataclass(frozen=True)
class Enrolled:
    """People who arrived: the number that each has in the ledger, and what each allows in all."""

    arrivals: Arrivals
    person: Numbers
    total: Numbers

    def uncovered(self, connection: Connection, *, exact: bool, lower_limits: bool) -> tuple[int, int | None]:
        """Count those whose allowance does not cover the grains they are promised, and name the first position."""
        asked = self.arrivals.columns(connection, "grains")[0]
        spent, most = taken(connection, self.person, 0), allowed(connection, self.person)
        left = left_of(most, spent, self.total, raising=False, lowering=lower_limits)
        return uncovered_among(left, asked, exact=exact)

    def raise_allowances(self, connection: Connection) -> None:
        """Raise the allowance of everyone who now states a higher limit; nobody's is ever lowered."""
        higher = self.total > allowed(connection, self.person)
        if not higher.any():
            return
        act, salt = last(connection).number + 1, new_salt()
        order = np.flatnonzero(higher)[np.argsort(self.person[higher])]
        given = [self.person[order], np.full(len(order), act), self.total[order]]
        add_rows(connection, "allowances", ("person", "act", "grains"), given)
        written = rows_of(connection, kind="raise", act=act, offer=None, salt=salt)
        expected = _names_at(self.arrivals, connection, order)
        if written.digest != written_of("raise", [[expected, self.total[order]]], salt).digest:
            raise PromiseBroken(OTHER_ROWS)
        append(connection, "raise", written, salt)


def enroll(connection: Connection, arrivals: Arrivals) -> Enrolled:
    """Find everyone's number; write down those who are new with what they allow in all."""
    known, total = numbers_of(connection, arrivals), arrivals.columns(connection, "totals")[0]
    new = known == 0
    if not new.any():
        return Enrolled(arrivals, known, total)
    act, salt = last(connection).number + 1, new_salt()
    base = int(connection.scalar(text("SELECT COALESCE(MAX(person), 0) FROM people")) or 0)
    person = np.where(new, base + 1 + np.arange(len(known)), known)
    if arrivals.enroll(connection, base, act, everyone=bool(new.all())) != int(new.sum()):
        raise BadInput(NOT_KEPT)
    write_packs(connection, act, ROWS, [person[new], total[new]])
    walk = as_given(
        packed_walk(connection, "register", act, None, VERSION), _some(arrivals.names(connection), new), [total[new]]
    )
    append(connection, "register", written_of("register", walk, salt), salt)
    return Enrolled(arrivals, person, total)


def numbers_of(connection: Connection, arrivals: Arrivals) -> Numbers:
    """Say which number each person has; 0 for those who are new."""
    if connection.scalar(text("SELECT person FROM people LIMIT 1")) is None:
        return np.zeros(len(arrivals), dtype=np.int64)
    arrivals.stage(connection)
    found = known_numbers(connection)
    some = found[found > 0]
    if len(np.unique(some)) != len(some):
        arrivals.expect_distinct()
        raise BadInput(NOT_KEPT)
    return found


def hold(connection: Connection, enrolled: Enrolled, act: int, salt: str, sharing: Sharing) -> Written:
    """Write everyone's promise, and say what was written."""
    version, person = sharing.version, enrolled.person
    told = enrolled.arrivals.columns(connection, *promise_columns(version)[1:])
    write_packs(connection, act, ROWS, [person, *told])
    if np.any(np.diff(person) <= 0):
        order = np.argsort(person)
        write_packs(connection, act, PEOPLE, [person[order], order])
    names = enrolled.arrivals.names(connection)
    walk = as_given(packed_walk(connection, "announce", act, act, version, ids=names), None, told)
    return written_of("announce", walk, salt, version=version, sharing=sharing)


def is_held(connection: Connection, offer: int, arrivals: Arrivals, version: int) -> bool:
    """Tell whether the same people are promised the same by a packed announcement; why one was cut may have changed since."""
    names = tuple(name for name in promise_columns(version)[1:] if name != "bounded")
    held, person = held_of(connection, offer, version), numbers_of(connection, arrivals)
    places = places_among(held.person, person)
    if len(person) != len(held.person) or np.any(places < 0):
        return False
    told = zip(names, arrivals.columns(connection, *names), strict=True)
    return all(np.array_equal(getattr(held, name)[places], column) for name, column in told)


def as_given(
    walk: Iterable[Block], names: Iterable[list[str]] | None, columns: Sequence[NDArray[np.int64]]
) -> Iterator[Block]:
    """Hand blocks on that were read back, if they are what was to be written; a trigger may have made others of them."""
    known, start = None if names is None else iter(names), 0
    for found, *numbers in walk:
        same = known is None or next(known) == found
        end = start + len(found)
        if not same or not all(np.array_equal(a, b[start:end]) for a, b in zip(numbers, columns, strict=True)):
            raise PromiseBroken(OTHER_ROWS)
        yield [found, *numbers]
        start = end
    if start != len(columns[0]):
        raise PromiseBroken(OTHER_ROWS)


def _some(names: Iterable[list[str]], wanted: NDArray[np.bool_]) -> Iterator[list[str]]:
    """Keep the names that are wanted, in blocks as packs have them."""
    kept: list[str] = []
    start = 0
    for block in names:
        marks = wanted[start : start + len(block)]
        kept += block if marks.all() else [name for name, mark in zip(block, marks.tolist(), strict=True) if mark]
        start += len(block)
        while len(kept) >= packs.SIZE:
            yield kept[: packs.SIZE]
            kept = kept[packs.SIZE :]
    if kept:
        yield kept


def _names_at(arrivals: Arrivals, connection: Connection, places: Numbers) -> list[str]:
    names = [name for block in arrivals.names(connection) for name in block]
    return [names[at] for at in places.tolist()]
