"""What an announcement holds and a release charged, as columns, however it is stored: in packs or in rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row

from optin.ledger import packs
from optin.ledger.packing import Pack, PacksChanged, readable
from optin.ledger.packs import PEOPLE, ROWS, each_pack, is_packed, read_body, read_columns, row_with
from optin.ledger.streamed_hashes import blocks, fetched_rows, integers
from optin.receipts import GROUPS, VERSION, asks_several

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Held:
    """The promises of an announcement by position; ``capped`` of several questions, ``design`` of groups."""

    person: Numbers
    grains: Numbers
    bounded: Numbers
    capped: Numbers | None = None
    design: Numbers | None = None


@dataclass(frozen=True)
class Charged:
    """The charges of a release, by position; ``answered`` where questions are several."""

    position: Numbers
    grains: Numbers
    answered: Numbers | None = None


def promise_columns(version: int) -> tuple[str, ...]:
    """Name the columns of a promise in an act of some version."""
    more = {VERSION: (), GROUPS: ("capped", "design")}.get(version, ("capped",))
    return ("person", "grains", "bounded", *more)


def charge_columns(version: int) -> tuple[str, ...]:
    """Name the columns of a charge in an act of some version."""
    return ("position", "grains", "answered") if asks_several(version) else ("position", "grains")


def held_of(connection: Connection, offer: int, version: int) -> Held:
    """Read the promises of an announcement."""
    return Held(*_columns(connection, offer, promise_columns(version), _PROMISES))


def promised_of(connection: Connection, offer: int, version: int) -> list[Numbers]:
    """Read who is promised what by an announcement, and no more."""
    return _columns(connection, offer, promise_columns(version), _PROMISES, first=2)


@readable()
def any_cut(connection: Connection, offer: int) -> bool:
    """Tell whether a promise of an announcement was cut to what remained of an allowance."""
    if is_packed(connection, offer):
        return any(bool(bounded.any()) for _, _, bounded, *_ in each_pack(connection, offer))
    return bool(fetched_rows(connection, f"SELECT offer {_CUT} LIMIT 1", {"offer": offer}))


_CUT = "FROM promises WHERE offer = :offer AND bounded"


def charged_of(connection: Connection, offer: int, release: int, version: int) -> Charged:
    """Read the charges of a release."""
    names = charge_columns(version)
    return Charged(*_columns(connection, release, names, _CHARGES, offer=offer))


_PROMISES = "SELECT {} FROM promises WHERE offer = :act ORDER BY position"
_CHARGES = "SELECT {} FROM charges WHERE offer = :offer AND act = :act ORDER BY position"


@readable()
def _columns(
    connection: Connection, act: int, names: tuple[str, ...], query: str, first: int | None = None, **where: int
) -> list[Numbers]:
    if is_packed(connection, act):
        columns = read_columns(connection, act, width=len(names), first=first)
        if not columns or min(int(column.min()) for column in columns) < 0:
            raise PacksChanged  # besides, a number below nothing would be counted from the end
        return columns
    return fetched(connection, query.format(", ".join(names[:first])), {"act": act, **where}, len(names[:first]))


def fetched(connection: Connection, query: str, where: dict[str, object], columns: int) -> list[Numbers]:
    """Read whole numbers as columns."""
    parts = [[integers(column) for column in block] for block in blocks(connection, query, where)]
    nothing = np.zeros(0, dtype=np.int64)
    return [np.concatenate([nothing, *(block[at] for block in parts)]) for at in range(columns)]


def places_of(connection: Connection, offer: int, persons: Numbers) -> Numbers:
    """Say at which position of a packed announcement people stand; -1 where they do not."""
    if len(persons) <= packs.FEW:
        return np.array([_place_of(connection, offer, person) for person in persons.tolist()], dtype=np.int64)
    return places_among(read_columns(connection, offer, first=1)[0], persons)


def places_among(announced: Numbers, persons: Numbers) -> Numbers:
    """Say where people stand among those announced; -1 where they do not.

    >>> places_among(np.array([5, 2, 9]), np.array([9, 4, 5])).tolist()
    [2, -1, 0]
    """
    if not len(announced):
        return np.full(len(persons), -1)
    if goes_up(announced):
        at = np.minimum(np.searchsorted(announced, persons), len(announced) - 1)
        return np.where(announced[at] == persons, at, -1)
    order = np.argsort(announced, kind="stable")
    at = np.minimum(np.searchsorted(announced, persons, sorter=order), len(announced) - 1)
    places = order[at]
    return np.where(announced[places] == persons, places, -1)


def goes_up(numbers: Numbers) -> bool:
    """Tell whether each number is above the one before.

    >>> goes_up(np.array([2, 3, 7])), goes_up(np.array([2, 2]))
    (True, False)
    """
    return bool(np.all(numbers[1:] > numbers[:-1]))


def _place_of(connection: Connection, offer: int, person: int) -> int:
    sorted_apart = is_packed(connection, offer, PEOPLE)
    row = row_with(connection, offer, PEOPLE if sorted_apart else ROWS, person)
    if row is None:
        return -1
    return row[1][1] if sorted_apart else row[0]


@readable()
def promise_at(connection: Connection, offer: Row[Any], position: int) -> dict[str, int]:
    """Read one promise of a packed announcement."""
    pack = Pack(read_body(connection, offer.number, ROWS, position // packs.SIZE))
    return dict(zip(promise_columns(offer.version), pack.cells(position % packs.SIZE), strict=True))


@readable()
def charge_at(connection: Connection, release: Row[Any], position: int) -> dict[str, int] | None:
    """Read one charge of a packed release, and its place among all; None where nothing was charged there."""
    row = row_with(connection, release.number, ROWS, position)
    if row is None:
        return None
    place, cells = row
    return {"place": place} | dict(zip(charge_columns(release.version), cells, strict=True))
