"""Hashes and trees over rows that are too many to hold: read once, in blocks."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from optin.database.kinds import is_sqlite
from optin.formats.names import Names
from optin.receipts import BLOCK, SALT_BYTES, VERSION, MerkleTree, charge_salts, leaves_of

Column = Sequence[Any] | NDArray[Any]
Block = list[Any]
"""Columns of some rows: lists from a database, slices of arrays from memory."""
Shares = tuple[int, ...]
"""Of each question, the 2^-20ths that it gets of what a person gives in all (E20)."""
SHORT = 2**22
"""Bytes of a column that wait in memory."""
PIECE = 2**15
"""Rows held in memory at once: a power of two, so that they are one branch of the tree, and whole bytes of a mask."""


def blocks(connection: Connection, query: str, where: dict[str, object], *, size: int = PIECE) -> Iterator[Block]:
    """Walk over a query's rows, so many at a time, each block as columns."""
    cursor = _walking(connection, query, {name: value for name, value in where.items() if f":{name}" in query})
    try:
        while rows := cursor.fetchmany(size):
            yield [list(column) for column in zip(*rows, strict=True)]
    finally:
        cursor.close()


def fetched_rows(connection: Connection, query: str, bound: dict[str, object]) -> list[tuple[Any, ...]]:
    """Ask the driver for all rows at once."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(for_driver(connection, query), bound)
        return list(cursor.fetchall())
    finally:
        cursor.close()


def for_driver(connection: Connection, query: str) -> str:
    """Write named parameters as the driver has them."""
    if is_sqlite(connection):
        return query
    return _NAMED.sub(r"%(\1)s", query.replace("%", "%%"))


def _walking(connection: Connection, query: str, bound: dict[str, object]) -> Any:  # noqa: ANN401 - a driver's cursor
    """Ask the driver itself, which hands out plain tuples; on PostgreSQL the server keeps what was not fetched yet."""
    if is_sqlite(connection):
        return connection.connection.cursor().execute(query, bound)
    cursor = connection.connection.cursor(name=f"walk_{next(_WALKS)}")
    cursor.execute(for_driver(connection, query), bound)
    return cursor


_NAMED = re.compile(r":(\w+)")
_WALKS = count(1)


def pieces(*columns: Sequence[Any] | NDArray[Any]) -> Iterator[Block]:
    """Walk over columns in memory as `blocks` walks over a query's rows."""
    for start in range(0, len(columns[0]), PIECE):
        yield [column[start : start + PIECE] for column in columns]


def integers(column: Column) -> NDArray[np.int64]:
    """Take a column of whole numbers; SQLite keeps anything anywhere, and half a grain must not be rounded away."""
    numbers = np.asarray(column if len(column) else [0])[: len(column)]
    if numbers.dtype.kind not in "bi":
        raise ValueError("not a whole number")
    return numbers.astype(np.int64)


def digest_of_blocks(salt: str, walk: Iterable[Block], *, named: bool, version: int = VERSION) -> tuple[int, str]:
    """Count and hash rows column by column: counts and lengths come first, so no two tables give the same bytes.

    ``named`` says that the first column holds ids, whose lengths and bytes are hashed one after the other. Columns wait for
    their turn in memory while they are short, and in files without a name when they are long. ``version`` is that of the act.
    """
    rows, columns = 0, 1 + named
    with ExitStack() as stack:
        waiting: dict[int, IO[bytes]] = defaultdict(lambda: stack.enter_context(SpooledTemporaryFile(max_size=SHORT)))
        for block in walk:
            rows, columns = rows + len(block[0]), len(block)
            for at, part in enumerate(_packed(block, named=named)):
                waiting[at].write(part)
        digest = hashlib.sha256(f"optin rows {version}:{salt}:{rows}:{named}:{columns - named}:".encode())
        for at in sorted(waiting):
            waiting[at].seek(0)
            while part := waiting[at].read(SHORT):
                digest.update(part)
    return rows, digest.hexdigest()


def _packed(block: Block, *, named: bool) -> Iterator[bytes]:
    """Turn each column into the bytes that are hashed: lengths and text of ids, whole numbers in eight bytes."""
    if named:
        yield from _encoded(block[0])
    for column in block[int(named) :]:
        yield np.ascontiguousarray(integers(column), dtype=">i8").tobytes()


def _encoded(ids: Sequence[str]) -> Iterator[bytes]:
    """Write the lengths of ids in bytes, then the ids."""
    names = Names.of(ids)
    yield names.lengths.astype(">u4").tobytes()
    yield names.array.tobytes()


class _Salts:
    """The salts of charges in order; a stretch is drawn once, for drawing its last salt alone means drawing all of it."""

    def __init__(self, key: bytes, stretch: int) -> None:
        self._key, self._stretch, self._number, self._drawn = key, stretch, -1, b""

    def after(self, start: int, count: int, *, more: bool) -> bytes:
        """Return ``count`` salts from ``start`` on; ``more`` says that others will follow."""
        number, offset = divmod(start, self._stretch)
        if number != self._number and not (more and offset + count <= self._stretch):
            return charge_salts(self._key, count, start=start, size=self._stretch)
        if number != self._number:
            first = number * self._stretch
            self._drawn = charge_salts(self._key, self._stretch, start=first, size=self._stretch)
            self._number = number
        return self._drawn[SALT_BYTES * offset : SALT_BYTES * (offset + count)]


BRANCH_LEVEL = 8
"""Levels from a leaf to the root of a branch of 2^8 leaves."""


class Grove:
    """The tree over all charges of a release, built block by block; only the blocks asked for are kept.

    Blocks hold ids and grains, and of a sheet which questions were charged and what was split. A block is a power of two of
    leaves, so its root is a node of the whole tree, and the roots make up the rest of it. ``stretch`` charges share one
    stretch of salts.
    """

    def __init__(
        self, salt: str, charges: Iterable[Block], *, keep: Sequence[int] = (), size: int = PIECE, stretch: int = BLOCK
    ) -> None:
        self.size, self.count = size, 0
        self.roots: list[bytes] = []
        self.branches: list[list[bytes]] = []
        self.trees: dict[int, MerkleTree] = {}
        wanted, salts = {index // size for index in keep}, _Salts(bytes.fromhex(salt), stretch)
        for number, (ids, *numbers) in enumerate(charges):
            drawn = salts.after(self.count, len(ids), more=len(ids) == size)
            tree = MerkleTree(leaves_of(drawn, ids, *map(integers, numbers)))
            self.roots.append(tree.layers[-1][0])
            self.branches.append(tree.layers[min(BRANCH_LEVEL, len(tree.layers) - 1)])
            self.count += len(ids)
            if number in wanted:
                self.trees[number] = tree
        self.top = MerkleTree(self.roots)

    @property
    def root(self) -> str:
        """The one hash that stands for all charges."""
        return self.top.root

    def path(self, index: int) -> tuple[str, ...]:
        """List the sister hashes met on the way from a kept leaf to the root."""
        return self.trees[index // self.size].path(index % self.size) + self.top.path(index // self.size)


def mask_digest(salt: str, people: int, answers: Iterable[Block]) -> str:
    """Hash who joined, in announced order, under the act's secret.

    Receipts show this hash, and must not let a holder test guesses.
    """
    digest = hashlib.sha256(f"optin joined 1:{salt}:{people}:".encode())
    for (block,) in answers:
        digest.update(np.packbits(np.array(block, dtype=np.bool_)).tobytes())
    return digest.hexdigest()
