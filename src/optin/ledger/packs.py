"""The ledger's packs: rows of a large act as columns in blocks, which a database takes in at once.

An act of ``PACKED_FROM`` people or more writes what it registers, promises or charges so; smaller ones, and all written by
older optins, are rows. Which of the two an act is shows in whether it has packs. Parts of an act, each in blocks of ``SIZE``:

    rows     a registration, or allowances raised: person, grains; an announcement: person, grains, bounded (and capped, of
             groups design) by position; a release: position, grains (and answered) of each charge
    people   of an announcement whose people do not stand in the order of their numbers: person and position, by person
    tree     of a release: the root of each block's tree, and those of its branches (`optin.ledger.branches`)

``least`` and ``most`` bound the first column, so that one person is found in one block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, insert

from optin.errors import PromiseBroken
from optin.formats.names import Names
from optin.ledger.one_look import ONE_LOOK
from optin.ledger.packing import Pack, PacksChanged, pack, readable, unpack
from optin.ledger.people_names import named_between
from optin.ledger.schema import packs
from optin.ledger.staging import stage_positions
from optin.ledger.streamed_hashes import blocks, fetched_rows

Numbers = NDArray[np.int64]
SIZE = 2**15
"""Rows of a pack: a power of two, so that its charges are one branch of the tree."""
PACKED_FROM = SIZE
STRETCH = 2**10
"""Charges that share one stretch of salts in a packed release: to know one salt, all of its stretch before it is drawn."""
ROWS, PEOPLE, TREE = "rows", "people", "tree"
OTHER_ROWS = "the database wrote other rows than it was asked to; nothing was kept: run `optin ledger verify`"
FEW = 64
"""So many people are looked up one by one; for more, whole columns are read."""
_DENSE = 8
"""Names are read as one stretch where at least one in so many of it is asked for."""


def has_packs(connection: Connection) -> bool:
    """Tell whether any act of this ledger is packed."""
    return bool(fetched_rows(connection, "SELECT act FROM packs LIMIT 1", {}))


def is_packed(connection: Connection, act: int, part: str = ROWS) -> bool:
    """Tell whether an act is packed, or has a part."""
    return is_packed_at(connection, act, part, 0)


def packed_acts(connection: Connection, kind: str) -> list[int]:
    """List the acts of a kind that are packed."""
    query = """SELECT number FROM acts t WHERE kind = :kind
        AND EXISTS (SELECT 1 FROM packs k WHERE k.act = t.number AND k.part = 'rows' AND k.block = 0) ORDER BY number"""
    return [row[0] for row in _asked(connection, query, {"kind": kind})]


def write_packs(connection: Connection, act: int, part: str, columns: Sequence[Numbers]) -> None:
    """Write columns block by block; the first one bounds each block."""
    for block, start in enumerate(range(0, len(columns[0]), SIZE)):
        cut = [column[start : start + SIZE] for column in columns]
        write_pack(connection, act, part, block, bounds=(int(cut[0].min()), int(cut[0].max())), body=pack(cut))


def write_pack(
    connection: Connection, act: int, part: str, block: int, *, bounds: tuple[int, int], body: bytes
) -> None:
    """Write one block, and read it back: a trigger may have made another of it."""
    row = {"act": act, "part": part, "block": block, "least": bounds[0], "most": bounds[1], "body": body}
    connection.execute(insert(packs).values(row))
    rows = fetched_rows(connection, f"SELECT least, most, body {_ONE}", {"act": act, "part": part, "block": block})
    if [(least, most, bytes(stored)) for least, most, stored in rows] != [(*bounds, body)]:
        raise PromiseBroken(OTHER_ROWS)


def read_pack(connection: Connection, act: int, part: str, block: int) -> list[Numbers]:
    """Read one block; PacksChanged where it is missing or cannot be read."""
    return unpack(read_body(connection, act, part, block))


def read_body(connection: Connection, act: int, part: str, block: int) -> bytes:
    """Read the bytes of one block."""
    return _block_of(connection, act, part, block)[2]


def _block_of(connection: Connection, act: int, part: str, block: int) -> tuple[int, int, bytes]:
    """Read one block and its bounds, all at once: to look for one at all SQLite reads those that it compares with whole."""
    rows = _asked(connection, f"SELECT least, most, body {_ONE}", {"act": act, "part": part, "block": block})
    if not rows:
        raise PacksChanged
    least, most, body = rows[0]
    return least, most, bytes(body)


def _asked(connection: Connection, query: str, where: dict[str, object]) -> list[tuple[Any, ...]]:
    return ONE_LOOK.answer((query, *where.values()), lambda: fetched_rows(connection, query, where))


def each_pack(connection: Connection, act: int, part: str = ROWS) -> Iterator[list[Numbers]]:
    """Walk over the blocks of an act; all but the last must be full."""
    block, columns = 0, [np.zeros(0, dtype=np.int64)]
    while is_packed_at(connection, act, part, block):
        if block and len(columns[0]) != SIZE:
            raise PacksChanged
        columns = read_pack(connection, act, part, block)
        yield columns
        block += 1


def is_packed_at(connection: Connection, act: int, part: str, block: int) -> bool:
    """Tell whether a block is there."""
    return bool(_asked(connection, f"SELECT act {_ONE}", {"act": act, "part": part, "block": block}))


_ONE = "FROM packs WHERE act = :act AND part = :part AND block = :block"
_LAST = "SELECT block, most FROM packs WHERE act = :act AND part = :part ORDER BY block DESC LIMIT 1"


@readable()
def read_columns(
    connection: Connection, act: int, part: str = ROWS, *, width: int | None = None, first: int | None = None
) -> list[Numbers]:
    """Read all blocks of an act, which have so many columns, as whole ones, or the ``first`` few of these.

    What a block holds goes at once where it belongs: columns are never there twice.
    """
    query = "SELECT COUNT(*) FROM packs WHERE act = :act AND part = :part"
    most = SIZE * int(fetched_rows(connection, query, {"act": act, "part": part})[0][0])
    columns: list[Numbers] = []
    end = 0
    for block in each_pack(connection, act, part):
        columns = columns or [np.empty(most, dtype=np.int64) for _ in block[:first]]
        width = len(block) if width is None else width
        if len(block) != width:
            raise PacksChanged
        for column, cells in zip(columns, block, strict=False):
            column[end : end + len(cells)] = cells
        end += len(block[0])
    return [column[:end] for column in columns]


@readable()
def read_some(connection: Connection, act: int, positions: Numbers) -> list[Numbers]:
    """Read the rows at a few positions that go up, from the packs that they are in."""
    first, last = (int(each) // SIZE for each in (positions[0], positions[-1]))
    parts = []
    for block in range(first, last + 1):
        inside = positions[(positions >= block * SIZE) & (positions < (block + 1) * SIZE)] - block * SIZE
        if len(inside):
            pack_, start = Pack(read_body(connection, act, ROWS, block)), int(inside[0])
            columns = (pack_.column(number, start, int(inside[-1]) + 1) for number in range(len(pack_)))
            parts.append([column[inside - start] for column in columns])
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


@readable()
def row_with(connection: Connection, act: int, part: str, number: int) -> tuple[int, list[int]] | None:
    """Find the row whose first column, which goes up, is a number: its place in all, and its cells."""
    block = _block_with(connection, act, part, number)
    if block is None:
        return None
    stretch = Pack(read_body(connection, act, part, block))
    at = stretch.find(number)
    return None if at is None else (block * SIZE + at, stretch.cells(at))


def _block_with(connection: Connection, act: int, part: str, number: int) -> int | None:
    """Find the block whose bounds, which go up, have a number between them; to walk past a block SQLite would read all of it.

    Numbers lie about evenly, so that the first guess is mostly right; every other one halves what is left.
    """
    rows = _asked(connection, _LAST, {"act": act, "part": part})
    if not rows or number > rows[0][1]:
        return None
    (last, most), first, least, evenly = rows[0], 0, 0, True
    while first <= last:
        shift = (number - least) * (last - first + 1) // max(most - least + 1, 1) if evenly else (last - first) // 2
        block, evenly = min(max(first + shift, first), last), not evenly
        lower, upper, _ = _block_of(connection, act, part, block)
        if lower <= number <= upper:
            return int(block)
        if number < lower:
            last, most = block - 1, lower - 1
        else:
            first, least = block + 1, upper + 1
    return None


@readable()
def names_of(connection: Connection, persons: Numbers, *, act: int | None = None) -> Names:
    """List the ids of people by their numbers; PacksChanged where somebody is missing, or was not registered by ``act``."""
    if not len(persons):
        return Names.of([])
    first, last = int(persons.min()), int(persons.max())
    if last - first >= _DENSE * len(persons):
        return _names_apart(connection, persons, act)
    numbers, names = named_between(connection, first, last, act)
    if len(numbers) == len(persons) and np.array_equal(numbers, persons):
        return names
    at = np.minimum(np.searchsorted(numbers, persons), max(len(numbers) - 1, 0))
    if not len(numbers) or np.any(numbers[at] != persons):
        raise PacksChanged
    return names.take(at)


def _names_apart(connection: Connection, persons: Numbers, act: int | None) -> Names:
    """Look up people who stand far apart."""
    stage_positions(connection, np.unique(persons))
    query = "SELECT p.person, p.id FROM picked k JOIN people p ON p.person = k.position"
    names_by_person: dict[int, str] = {}
    where = "" if act is None else " WHERE p.act = :act"
    for numbers, names in blocks(connection, query + where, {"act": act}):
        names_by_person.update(zip(numbers, names, strict=True))
    return Names.of([names_by_person[person] for person in persons.tolist()])
