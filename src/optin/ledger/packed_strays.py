"""Rules that packs keep among each other and with rows: `optin.ledger.strays` in columns, for ledgers that have packs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, select, text

from optin.grains.units import UNLIMITED
from optin.ledger import packs
from optin.ledger.held import Charged, Held, Numbers, charged_of, fetched, goes_up, held_of
from optin.ledger.packing import UNREADABLE, pack, unpack
from optin.ledger.packs import PEOPLE, ROWS, TREE, each_pack, is_packed, read_columns
from optin.ledger.schema import acts
from optin.ledger.streamed_hashes import fetched_rows, pieces
from optin.ledger.tallying import MOST
from optin.receipts import asks_several

_CACHED = 2**22
"""People whose holds are kept for the acts on them that follow."""
_STRETCH = 2**18
"""People who are counted at once: to count them by their acts SQLite sorts them in memory."""
_PARTS = {"register": {ROWS}, "raise": {ROWS}, "announce": {ROWS, PEOPLE}, "release": {ROWS, TREE}}


def packed_strays(connection: Connection, exact_offers: Sequence[int]) -> Iterator[str]:
    """Name what breaks a rule; where packs cannot be read, what was said of their act already is all there is to say."""
    known = {row.number: row for row in connection.execute(select(acts).order_by(acts.c.number))}
    yield from _homeless(connection, known)
    try:
        yield from _Life(connection, list(known.values()), frozenset(exact_offers)).faults()
    except UNREADABLE:
        yield "the ledger's packs cannot be read: they were changed"


def _homeless(connection: Connection, known: dict[int, Row[Any]]) -> Iterator[str]:
    """Name packs that belong to no act, of which there are too many or too few, or whose bounds are not theirs."""
    query = "SELECT act, part, COUNT(*), MIN(block), MAX(block) FROM packs GROUP BY act, part ORDER BY act, part"
    for act, part, count, first, last in connection.execute(text(query)).all():
        row = known.get(act)
        if row is None or part not in _PARTS.get(row.kind, ()):
            yield f"{count} packs belong to no act"
        elif (first, last) != (0, count - 1) or count != -(-row.people // packs.SIZE):
            yield f"packs of act {act} ({row.kind}) are missing, or there are too many"
        elif part != TREE and not _is_bounded(connection, act, part, count):
            yield f"the packs of act {act} ({row.kind}) were changed"


def _is_bounded(connection: Connection, act: int, part: str, count: int) -> bool:
    """Tell whether the bounds of packs are those of their first column, and their bytes those that would be written."""
    query = "SELECT least, most, body FROM packs WHERE act = :act AND part = :part AND block = :block"
    try:
        for block in range(count):
            least, most, body = connection.execute(text(query), {"act": act, "part": part, "block": block}).one()
            columns = unpack(body)
            if (least, most) != (columns[0].min(), columns[0].max()) or pack(columns) != bytes(body):
                return False
    except UNREADABLE:
        return False
    return True


def _registered(connection: Connection, size: int) -> Counter[int]:
    """Count whom each act registered, of people with lower numbers than ``size``."""
    query = "SELECT act, COUNT(*) FROM people WHERE person BETWEEN :first AND :last GROUP BY act"
    counts: Counter[int] = Counter()
    for first in range(1, size, _STRETCH):
        counts.update(dict(fetched_rows(connection, query, {"first": first, "last": first + _STRETCH - 1})))
    return counts


class _Life:
    """Walk through the acts in their order, and keep what everyone may spend and has promised by then."""

    def __init__(self, connection: Connection, rows: Sequence[Row[Any]], exact_offers: frozenset[int]) -> None:
        self.connection, self.rows, self.exact_offers = connection, rows, exact_offers
        least, most = fetched_rows(connection, "SELECT MIN(person), MAX(person) FROM people", {})[0]
        least, size = (1, 1) if least is None else (least, most + 1)
        if least <= 0 or size > 1 + sum(row.people for row in rows if row.kind == "announce"):
            raise ValueError("people are numbered as no optin numbers them")
        self.registered = _registered(connection, size)
        self.most, self.total = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.offers = {row.number: row for row in rows if row.kind == "announce"}
        self._cached: dict[int, Held] = {}

    def faults(self) -> Iterator[str]:
        """Name what goes wrong on the way."""
        above = 0
        for row in self.rows:
            if row.kind in ("register", "raise"):
                yield from self._allow(row)
            elif row.kind == "announce":
                above += self._promise(row)
                yield from self._promises(row)
            elif row.kind in ("return", "absent", "cancel"):
                self._let_go(row)
            elif row.kind == "release":
                self._charge(row)
            if row.kind in ("release", "cancel") and row.offer in self.offers and is_packed(self.connection, row.offer):
                yield from self._closed(row)
        if above:
            yield f"{above} times people were promised more than their allowance was then"

    def _held(self, offer: int) -> Held:
        """Read what an announcement holds; some that were read last are kept, as long as they are not of too many."""
        held = self._cached.pop(offer, None)
        while (
            held is None and self._cached and sum(self.offers[each].people for each in (offer, *self._cached)) > _CACHED
        ):
            self._cached.pop(next(iter(self._cached)))
        self._cached[offer] = held or held_of(self.connection, offer, self.offers[offer].version)
        return self._cached[offer]

    def _allow(self, row: Row[Any]) -> Iterator[str]:
        if is_packed(self.connection, row.number):
            yield from self._allow_packed(row)
            return
        query = "SELECT person, grains FROM allowances WHERE act = :act ORDER BY person"
        person, grains = fetched(self.connection, query, {"act": row.number}, 2)
        self.most[person] = np.maximum(self.most[person], grains)

    def _allow_packed(self, row: Row[Any]) -> Iterator[str]:
        count, last, ordered, possible = 0, np.int64(-(2**63)), True, True
        for person, grains in each_pack(self.connection, row.number):
            ordered = ordered and (not count or person[0] > last) and goes_up(person)
            possible = possible and 0 <= int(grains.min()) <= int(grains.max()) <= UNLIMITED
            self.most[person] = np.maximum(self.most[person], grains)
            count, last = count + len(person), person[-1]
        if not ordered or (row.kind == "register" and count != self.registered.get(row.number, 0)):
            yield f"people belong to act {row.number} that it did not register, or stand twice in it"
        if not possible:
            yield f"allowances of act {row.number} are below nothing or above everything"

    def _promise(self, row: Row[Any]) -> int:
        """Hold what an announcement promises; count those whose allowance does not cover it."""
        held, above = self._held(row.number), 0
        for person, grains in pieces(held.person, held.grains):
            np.add.at(self.total, person, grains)
        for (person,) in pieces(held.person):
            most = self.most[person]
            above += int(np.count_nonzero((self.total[person] > most) & (most < UNLIMITED)))
        return above

    def _promises(self, row: Row[Any]) -> Iterator[str]:
        held = self._held(row.number)
        if row.number in self.exact_offers:
            count = int(np.count_nonzero((held.grains > 0) & (self.most[held.person] < UNLIMITED)))
            if count:
                yield (
                    f"{count} people with a finite allowance are in act {row.number}, whose release is exact, without noise"
                )
        if not is_packed(self.connection, row.number):
            return
        sorted_apart = not goes_up(held.person)
        order = np.argsort(held.person) if sorted_apart else np.arange(0)
        if sorted_apart and not goes_up(held.person[order]):
            yield f"people stand twice in act {row.number}"
        capped = held.grains if held.capped is None else held.capped
        if np.any((held.grains < 0) | (capped < held.grains) | (capped > MOST)):
            yield f"promises of act {row.number} are of an amount that nobody can be promised"
        if not np.all((held.bounded == 0) | (held.bounded == 1)):
            yield f"promises of act {row.number} say something else than whether they were cut"
        if sorted_apart != is_packed(self.connection, row.number, PEOPLE):
            yield f"the packs by person of act {row.number} are missing, or nobody needs them"
        elif sorted_apart:
            person, position = read_columns(self.connection, row.number, PEOPLE)
            if not (np.array_equal(person, held.person[order]) and np.array_equal(position, order)):
                yield f"the packs by person of act {row.number} were changed"

    def _let_go(self, row: Row[Any]) -> None:
        query = "SELECT position FROM returns WHERE offer = :offer AND act = :act ORDER BY position"
        position = fetched(self.connection, query, {"offer": row.offer, "act": row.number}, 1)[0]
        held = self._held(row.offer)
        np.subtract.at(self.total, held.person[position], held.grains[position])

    def _charge(self, row: Row[Any]) -> None:
        if not asks_several(row.version):
            return
        held, charged = self._held(row.offer), self._charged(row)
        at = charged.position
        np.add.at(self.total, held.person[at], charged.grains - held.grains[at])

    def _charged(self, row: Row[Any]) -> Charged:
        return charged_of(self.connection, row.offer, row.number, row.version)

    def _closed(self, row: Row[Any]) -> Iterator[str]:
        """Compare what a closed round charged and gave back with what it promised."""
        held = self._held(row.offer)
        ends = np.zeros(len(held.person), dtype=np.int32)
        query = "SELECT position FROM returns WHERE offer = :offer"
        returned = fetched(self.connection, query, {"offer": row.offer}, 1)[0]
        np.add.at(ends, self._within(returned, ends), 1)
        if row.kind == "release":
            charged = self._charged(row)
            at = self._within(charged.position, ends)
            if not goes_up(charged.position):
                yield f"charges of act {row.number} are not in the order of promises"
            np.add.at(ends, at, 1)
            if np.any(charged.grains < 0):
                yield f"charges of act {row.number} are of an amount that nobody can be charged"
            in_full = charged.grains == held.grains[at]
            if not np.all(in_full if charged.answered is None else in_full | (charged.grains < held.grains[at])):
                yield f"charges of act {row.number} differ from the promise"
        if np.any(ends > 1):
            yield f"{int(np.count_nonzero(ends > 1))} holds were both charged and let go"
        if np.any(ends == 0):
            yield f"{int(np.count_nonzero(ends == 0))} holds of a closed round were neither charged nor let go"

    def _within(self, positions: Numbers, ends: NDArray[np.int32]) -> Numbers:
        if len(positions) and not 0 <= positions.min() <= positions.max() < len(ends):
            raise ValueError("holds were let go or charged that nobody had")
        return positions
