"""The rows of a packed act as its hash takes them: block by block, ids first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection

from optin.formats.names import Names
from optin.ledger.held import Held, charge_columns, held_of, promise_columns
from optin.ledger.packing import PacksChanged
from optin.ledger.packs import each_pack, names_of
from optin.ledger.streamed_hashes import Block


def packed_walk(
    connection: Connection,
    kind: str,
    act: int,
    offer: int | Held | None,
    version: int,
    ids: Iterable[Names] | None = None,
) -> Iterator[Block]:
    """Walk over the rows of an act; ``ids``, and what its offer holds, are given where they are known."""
    if kind == "release":
        assert offer is not None  # noqa: S101 — every release has one
        held = offer if isinstance(offer, Held) else held_of(connection, offer, version)
        return _charges(connection, act, held, version, ids)
    if kind in ("register", "raise"):
        return _by_person(connection, act, 2, ids, registered_by=act if kind == "register" else None)
    return _by_person(connection, act, len(promise_columns(version)), ids)


def _by_person(
    connection: Connection, act: int, width: int, ids: Iterable[Names] | None, registered_by: int | None = None
) -> Iterator[Block]:
    known = None if ids is None else iter(ids)
    for columns in each_pack(connection, act):
        expect_width(columns, width)
        names = names_of(connection, columns[0], act=registered_by) if known is None else next(known)
        yield [names, *columns[1:]]


def _charges(
    connection: Connection, act: int, held: Held, version: int, ids: Iterable[Names] | None
) -> Iterator[Block]:
    known = None if ids is None else iter(ids)
    split = [column for column in (held.capped, held.design) if column is not None]
    for columns in each_pack(connection, act):
        expect_width(columns, len(charge_columns(version)))
        position = columns[0]
        if position.min() < 0 or position.max() >= len(held.person):
            raise PacksChanged
        names = names_of(connection, held.person[position]) if known is None else next(known)
        yield [names, *columns[1:], *(column[position] for column in split)]


def expect_width(columns: list[object] | Block, width: int) -> None:
    """Refuse a pack that has other columns than its act writes."""
    if len(columns) != width:
        raise PacksChanged
