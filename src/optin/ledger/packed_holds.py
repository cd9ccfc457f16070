"""Announcing to many people: whoever is new becomes a row, and what they allow and are promised becomes packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.database.sqlite_log import taken_in_afterwards
from optin.errors import BadInput, PromiseBroken
from optin.formats.names import Names
from optin.ledger import packs
from optin.ledger.accounts import allowed as allowed_to
from optin.ledger.accounts import everyones_allowance, everyones_taken, left_of
from optin.ledger.balances import uncovered_among
from optin.ledger.chain import ActRows, Written, append, last, new_salt, rows_of, written_of
from optin.ledger.held import Numbers, goes_up, held_of, places_among, promise_columns
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import OTHER_ROWS, PEOPLE, ROWS, write_packs
from optin.ledger.people_numbers import NOT_KEPT, numbers_of
from optin.ledger.roster import Roster
from optin.ledger.sharing import Sharing
from optin.ledger.staging import add_people, add_rows, newcomers_waiting
from optin.ledger.streamed_hashes import Block, pieces
from optin.receipts import VERSION
from optin.wording import underway


@dataclass(frozen=True)
class Limits:
    """How allowances are dealt with; ``exact`` says that there will be no noise."""

    raising: bool
    lowering: bool
    exact: bool


@dataclass(frozen=True)
class Sealing:
    """Rows of an act to come: how many, their hash and sums, and the secret that they are hashed with."""

    salt: str = field(repr=False)
    written: Written


@dataclass(frozen=True)
class Rehearsed:
    """What an announcement to many people will write, found out and hashed before the ledger is locked.

    ``person`` is the number of each, those of ``newcomers`` (by position) being the next ones; ``raised`` are the positions of
    those whose allowance becomes what they state. ``short`` counts those whose allowance does not cover what they are promised,
    and names the first position.
    """

    roster: Roster
    sharing: Sharing
    person: Numbers = field(repr=False)
    newcomers: NDArray[np.bool_] = field(repr=False)
    raised: Numbers = field(repr=False)
    short: tuple[int, int | None]
    registered: Sealing
    promised: Sealing

    @cached_property
    def names(self) -> Names:
        """The ids of newcomers."""
        return self.roster.ids.kept(self.newcomers)

    @contextmanager
    def waiting(self, connection: Connection) -> Iterator[None]:
        """Do on the connection that is to write this whatever need not be done while others wait for it."""
        with taken_in_afterwards(connection), newcomers_waiting(connection, self.names):
            yield


def rehearse(connection: Connection, roster: Roster, sharing: Sharing, limits: Limits) -> Rehearsed:
    """Find everyone's number and whose allowance is too small, and hash what is to be written; nothing is."""
    person, total = numbers_of(connection, roster), roster.columns("totals")[0]
    newcomers = person == 0
    base = int(connection.scalar(text("SELECT COALESCE(MAX(person), 0) FROM people")) or 0)
    person[newcomers] = np.arange(base + 1, base + 1 + np.count_nonzero(newcomers))
    most, raised = everyones_allowance(connection), np.zeros(0, dtype=np.int64)
    if limits.raising:
        raised = _positions_raised(_of_known(most, person, total), person, total)
    short = _short(connection, roster, person, most, limits)
    salt, names = new_salt(), roster.ids.kept(newcomers)
    registered = Sealing(salt, written_of("register", pieces(names, _kept(total, newcomers)), salt))
    salt = new_salt()
    promised = Sealing(salt, roster.promised(salt, sharing))
    return Rehearsed(roster, sharing, person, newcomers, raised, short, registered, promised)


def _kept(column: Numbers, mask: NDArray[np.bool_]) -> Numbers:
    return column if mask.all() else column[mask]


def _of_known(column: Numbers, person: Numbers, other: Numbers | int) -> Numbers:
    """Look people up by their numbers; of those who have none in the ledger yet the other thing is so."""
    known = person < len(column)
    cells: Numbers = np.where(known, column[np.where(known, person, 0)], other)
    return cells


def _short(
    connection: Connection, roster: Roster, person: Numbers, most: Numbers, limits: Limits
) -> tuple[int, int | None]:
    """Count those whose allowance does not cover the grains they are promised, and name the first position."""
    asked, total = roster.columns("grains", "totals")
    taken = everyones_taken(connection, 0)
    how = {"raising": limits.raising, "lowering": limits.lowering}
    count, first = 0, None
    for start in range(0, len(asked), packs.SIZE):
        some = slice(start, start + packs.SIZE)
        allowed, spent = _of_known(most, person[some], total[some]), _of_known(taken, person[some], 0)
        left = left_of(allowed, spent, total[some], **how)
        short, at = uncovered_among(left, asked[some], exact=limits.exact)
        count, first = count + short, start + at if first is None and at is not None else first
    return count, first


def _positions_raised(allowed: Numbers, person: Numbers, total: Numbers) -> Numbers:
    """List where people stand who state more than they are allowed, by their numbers; nobody's allowance is ever lowered."""
    higher = np.flatnonzero(total > allowed)
    return higher[np.argsort(person[higher])]


def raise_allowances(connection: Connection, roster: Roster) -> None:
    """Raise the allowance of everyone here, who are all known, who states a higher limit."""
    person, total = numbers_of(connection, roster), roster.columns("totals")[0]
    _raise(connection, roster, person, _positions_raised(allowed_to(connection, person), person, total))


def _raise(connection: Connection, roster: Roster, person: Numbers, positions: Numbers) -> None:
    """Write down what people at some positions state, as an act of its own."""
    if not len(positions):
        return
    act, salt, stated = last(connection).number + 1, new_salt(), roster.columns("totals")[0][positions]
    _write_allowances(connection, act, person[positions], stated)
    written, names = rows_of(connection, ActRows("raise", act, salt)), roster.ids.take(positions)
    if written.digest != written_of("raise", [[names, stated]], salt).digest:
        raise PromiseBroken(OTHER_ROWS)
    append(connection, "raise", written, salt)


def _write_allowances(connection: Connection, act: int, person: Numbers, total: Numbers) -> None:
    """Write allowances that were raised: of many people in packs, of few in rows."""
    if len(person) >= packs.PACKED_FROM:
        write_packs(connection, act, ROWS, [person, total])
    else:
        given = [person, np.full(len(person), act), total]
        add_rows(connection, "allowances", ("person", "act", "grains"), given)


def enroll(connection: Connection, rehearsed: Rehearsed) -> None:
    """Write down those who are new with what they allow in all, and whose allowance is raised."""
    if rehearsed.newcomers.any():
        _register(connection, rehearsed)
    _raise(connection, rehearsed.roster, rehearsed.person, rehearsed.raised)


def _register(connection: Connection, rehearsed: Rehearsed) -> None:
    """Write down newcomers, unless a key or a trigger made others of them."""
    act, names = last(connection).number + 1, rehearsed.names
    person, stated = (
        _kept(each, rehearsed.newcomers) for each in (rehearsed.person, *rehearsed.roster.columns("totals"))
    )
    if add_people(connection, person, names, act) != len(names):
        raise BadInput(NOT_KEPT)
    write_packs(connection, act, ROWS, [person, stated])
    blocks = (names[start : start + packs.SIZE] for start in range(0, len(names), packs.SIZE))
    expect_given(packed_walk(connection, "register", act, None, VERSION), blocks, [stated])
    append(connection, "register", rehearsed.registered.written, rehearsed.registered.salt)


def hold(connection: Connection, rehearsed: Rehearsed, act: int) -> None:
    """Write everyone's promise."""
    version, person = rehearsed.sharing.version, rehearsed.person
    told = rehearsed.roster.columns(*promise_columns(version)[1:])
    write_packs(connection, act, ROWS, [person, *told])
    if not goes_up(person):
        order = np.argsort(person)
        write_packs(connection, act, PEOPLE, [person[order], order])
    walk = packed_walk(connection, "announce", act, act, version, ids=rehearsed.roster.names())
    expect_given(walk, None, told)


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


def expect_given(walk: Iterable[Block], names: Iterable[Names] | None, columns: Sequence[NDArray[np.int64]]) -> None:
    """Refuse blocks that were read back and are not what was to be written; a trigger may have made others of them."""
    known, start = None if names is None else iter(names), 0
    for ids, *numbers in underway.counted("sealing what was written", walk, len(columns[0]), _people_in):
        same = known is None or next(known) == ids
        end = start + len(ids)
        if not same or not all(np.array_equal(a, b[start:end]) for a, b in zip(numbers, columns, strict=True)):
            raise PromiseBroken(OTHER_ROWS)
        start = end
    if start != len(columns[0]):
        raise PromiseBroken(OTHER_ROWS)
