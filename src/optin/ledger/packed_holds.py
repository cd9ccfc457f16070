"""Announcing to many people: whoever is new becomes a row, and what they allow and are promised becomes packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.errors import BadInput, PromiseBroken
from optin.formats.names import Names
from optin.ledger import packs
from optin.ledger.accounts import allowed, everyones_allowance, everyones_taken, left_of
from optin.ledger.balances import uncovered_among
from optin.ledger.chain import ActRows, Written, append, last, new_salt, rows_of, written_of
from optin.ledger.held import Numbers, goes_up, held_of, places_among, promise_columns
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import OTHER_ROWS, PEOPLE, ROWS, write_packs
from optin.ledger.people_numbers import NOT_KEPT, numbers_of
from optin.ledger.roster import Roster
from optin.ledger.sharing import Sharing
from optin.ledger.staging import add_people, add_rows
from optin.ledger.streamed_hashes import Block
from optin.receipts import VERSION
from optin.wording import underway


@dataclass(frozen=True)
class Enrolled:
    """People who arrived: the number that each has in the ledger, and what each allows in all."""

    roster: Roster
    person: Numbers
    total: Numbers

    def uncovered(self, connection: Connection, *, exact: bool, lower_limits: bool) -> tuple[int, int | None]:
        """Count those whose allowance does not cover the grains they are promised, and name the first position."""
        asked = self.roster.columns("grains")[0]
        spent, most = everyones_taken(connection, 0), everyones_allowance(connection)
        count, first = 0, None
        for start in range(0, len(asked), packs.SIZE):
            some = slice(start, start + packs.SIZE)
            who = self.person[some]
            left = left_of(most[who], spent[who], self.total[some], raising=False, lowering=lower_limits)
            short, at = uncovered_among(left, asked[some], exact=exact)
            count, first = count + short, start + at if first is None and at is not None else first
        return count, first

    def raise_allowances(self, connection: Connection) -> None:
        """Raise the allowance of everyone who now states a higher limit; nobody's is ever lowered."""
        higher = self.total > allowed(connection, self.person)
        if not higher.any():
            return
        act, salt = last(connection).number + 1, new_salt()
        order = np.flatnonzero(higher)[np.argsort(self.person[higher])]
        _write_allowances(connection, act, self.person[order], self.total[order])
        written = rows_of(connection, ActRows("raise", act, salt))
        expected = self.roster.ids.take(order)
        if written.digest != written_of("raise", [[expected, self.total[order]]], salt).digest:
            raise PromiseBroken(OTHER_ROWS)
        append(connection, "raise", written, salt)


def _write_allowances(connection: Connection, act: int, person: Numbers, total: Numbers) -> None:
    """Write allowances that were raised: of many people in packs, of few in rows."""
    if len(person) >= packs.PACKED_FROM:
        write_packs(connection, act, ROWS, [person, total])
    else:
        given = [person, np.full(len(person), act), total]
        add_rows(connection, "allowances", ("person", "act", "grains"), given)


def enroll(connection: Connection, roster: Roster) -> Enrolled:
    """Find everyone's number; write down those who are new with what they allow in all."""
    known, total = numbers_of(connection, roster), roster.columns("totals")[0]
    new = known == 0
    if not new.any():
        return Enrolled(roster, known, total)
    act, salt = last(connection).number + 1, new_salt()
    base = int(connection.scalar(text("SELECT COALESCE(MAX(person), 0) FROM people")) or 0)
    person, names = known, roster.ids.kept(new)
    added, stated = np.arange(base + 1, base + 1 + len(names)), total if new.all() else total[new]
    person[new] = added
    if add_people(connection, added, names, act) != len(names):
        raise BadInput(NOT_KEPT)
    write_packs(connection, act, ROWS, [added, stated])
    written = packed_walk(connection, "register", act, None, VERSION)
    blocks = (names[start : start + packs.SIZE] for start in range(0, len(names), packs.SIZE))
    append(connection, "register", written_of("register", as_given(written, blocks, [stated]), salt), salt)
    return Enrolled(roster, person, total)


def hold(connection: Connection, enrolled: Enrolled, act: int, salt: str, sharing: Sharing) -> Written:
    """Write everyone's promise, and say what was written."""
    version, person = sharing.version, enrolled.person
    told = enrolled.roster.columns(*promise_columns(version)[1:])
    write_packs(connection, act, ROWS, [person, *told])
    if not goes_up(person):
        order = np.argsort(person)
        write_packs(connection, act, PEOPLE, [person[order], order])
    walk = as_given(packed_walk(connection, "announce", act, act, version, ids=enrolled.roster.names()), None, told)
    return written_of("announce", walk, salt, version=version, sharing=sharing)


def is_held(connection: Connection, offer: int, roster: Roster, version: int) -> bool:
    """Tell whether the same people are promised the same by a packed announcement; why one was cut may have changed since."""
    names = tuple(name for name in promise_columns(version)[1:] if name != "bounded")
    held, person = held_of(connection, offer, version), numbers_of(connection, roster)
    places = places_among(held.person, person)
    if len(person) != len(held.person) or np.any(places < 0):
        return False
    told = zip(names, roster.columns(*names), strict=True)
    return all(np.array_equal(getattr(held, name)[places], column) for name, column in told)


def _people_in(block: Block) -> int:
    return len(block[0])


def as_given(
    walk: Iterable[Block], names: Iterable[Names] | None, columns: Sequence[NDArray[np.int64]]
) -> Iterator[Block]:
    """Hand blocks on that were read back, if they are what was to be written; a trigger may have made others of them."""
    known, start = None if names is None else iter(names), 0
    for found, *numbers in underway.counted("sealing what was written", walk, len(columns[0]), _people_in):
        same = known is None or next(known) == found
        end = start + len(found)
        if not same or not all(np.array_equal(a, b[start:end]) for a, b in zip(numbers, columns, strict=True)):
            raise PromiseBroken(OTHER_ROWS)
        yield [found, *numbers]
        start = end
    if start != len(columns[0]):
        raise PromiseBroken(OTHER_ROWS)
