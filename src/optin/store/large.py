"""Hashes and trees over rows that are too many to hold: read in blocks, and where the hash goes column by column, in passes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from optin.receipts import BLOCK, MerkleTree, charge_salts, leaves_of

__all__ = ["Block", "Grove", "blocks", "digest_in_passes", "mask_digest", "passes", "whole"]

Block = list[list[Any]]


def blocks(connection: Connection, query: str, where: dict[str, object], *, size: int = BLOCK) -> Iterator[Block]:
    """Walk over a query's rows, so many at a time, each block as columns."""
    bound = {name: value for name, value in where.items() if f":{name}" in query}
    with connection.execute(text(query), bound, execution_options={"stream_results": True}) as result:
        for rows in result.partitions(size):
            yield [list(column) for column in zip(*rows, strict=True)]


def passes(
    connection: Connection, query: str, where: dict[str, object], *, size: int = BLOCK
) -> Callable[[], Iterable[Block]]:
    """Return how to walk over the rows once more: from memory if one block holds them all, else by asking again."""
    first = list(islice(blocks(connection, query, where, size=size), 2))
    return (lambda: first) if len(first) < 2 else (lambda: blocks(connection, query, where, size=size))


def whole(column: list[Any]) -> NDArray[np.int64]:
    """Take a column of whole numbers; SQLite keeps anything anywhere, and half a grain must not be rounded away."""
    found = np.array(column or [0])[: len(column)]
    if found.dtype.kind not in "bi":
        raise ValueError("not a whole number")
    return found.astype(np.int64)


def digest_in_passes(salt: str, walk: Callable[[], Iterable[Block]], *, named: bool) -> tuple[int, str]:
    """Count and hash rows column by column: counts and lengths come first, so no two tables give the same bytes.

    ``walk`` starts a new pass over the blocks. ``named`` says that the first column holds ids, whose lengths and bytes are
    hashed one after the other.
    """
    count, columns = 0, 1 + named
    for block in walk():
        count, columns = count + len(block[0]), len(block)
    digest = hashlib.sha256(f"optin rows 1:{salt}:{count}:{named}:{columns - named}:".encode())
    if named:
        for block in walk():
            digest.update(np.array([len(person.encode()) for person in block[0]], dtype=">u4").tobytes())
        for block in walk():
            digest.update("".join(block[0]).encode())
    for at in range(int(named), columns):
        for block in walk():
            digest.update(np.ascontiguousarray(whole(block[at]), dtype=">i8").tobytes())
    return count, digest.hexdigest()


class Grove:
    """The tree over all charges of a release, built block by block; only the blocks asked for are kept.

    A block is a power of two of leaves, so its root is a node of the whole tree, and the roots make up the rest of it.
    """

    def __init__(self, salt: str, charges: Iterable[Block], *, keep: Sequence[int] = (), size: int = BLOCK) -> None:
        self.size, self.count, roots = size, 0, []
        self.kept: dict[int, MerkleTree] = {}
        wanted = {index // size for index in keep}
        for number, (ids, grains) in enumerate(charges):
            salts = charge_salts(bytes.fromhex(salt), len(ids), block=number, size=size)
            tree = MerkleTree(leaves_of(salts, ids, whole(grains)))
            roots.append(bytes.fromhex(tree.root))
            self.count += len(ids)
            if number in wanted:
                self.kept[number] = tree
        self.top = MerkleTree(roots)

    @property
    def root(self) -> str:
        """The one hash that stands for all charges."""
        return self.top.root

    def path(self, index: int) -> tuple[str, ...]:
        """List the sister hashes met on the way from a kept leaf to the root."""
        return self.kept[index // self.size].path(index % self.size) + self.top.path(index // self.size)


def mask_digest(salt: str, people: int, answers: Iterable[Block]) -> str:
    """Hash who joined, in announced order, as `optin.store.charging` hashes a mask in memory."""
    digest = hashlib.sha256(f"optin joined 1:{salt}:{people}:".encode())
    for (block,) in answers:
        digest.update(np.packbits(np.array(block, dtype=np.bool_)).tobytes())
    return digest.hexdigest()
