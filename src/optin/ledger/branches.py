"""The tree over the charges of a packed release: what is stored of it, so that one path costs one branch and not the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from optin.errors import PromiseBroken
from optin.ledger import packs
from optin.ledger.packing import Pack, readable
from optin.ledger.packs import ROWS, TREE, names_of, read_body, read_some, write_pack
from optin.ledger.streamed_hashes import BRANCH_LEVEL, Grove
from optin.receipts import MerkleTree, charge_salts, climb, leaves_of

_HASH = 32


def branch() -> int:
    """Say how many leaves are under a root that is stored."""
    return min(1 << BRANCH_LEVEL, packs.SIZE)


def write_branches(connection: Connection, act: int, people: int, branches: Sequence[bytes]) -> None:
    """Store, of each block of charges, the root of its tree and those of its branches."""
    for block, tree in enumerate(branches):
        write_pack(connection, act, TREE, block, bounds=_places(block, people), body=tree)


def _places(block: int, people: int) -> tuple[int, int]:
    return block * packs.SIZE, min((block + 1) * packs.SIZE, people) - 1


def stored_branches(grove: Grove) -> tuple[bytes, ...]:
    """Write down each block's root, then the roots of its branches."""
    return tuple(b"".join((root, *hashes)) for root, hashes in zip(grove.roots, grove.branches, strict=True))


def are_stored(connection: Connection, act: int, people: int, branches: Sequence[bytes]) -> bool:
    """Tell whether these branches, and no others, are what is stored of a tree."""
    query = "SELECT least, most, body FROM packs WHERE act = :act AND part = 'tree' ORDER BY block"
    stored = [(row.least, row.most, bytes(row.body)) for row in connection.execute(text(query), {"act": act})]
    return stored == [(*_places(block, people), tree) for block, tree in enumerate(branches)]


@readable()
def path_of(connection: Connection, release: Row[Any], offer: Row[Any], place: int) -> tuple[str, tuple[str, ...]]:
    """Return the salt of a charge, and its path to the root; PromiseBroken where the ledger does not lead there."""
    start = place // branch() * branch()
    salts = charge_salts(
        bytes.fromhex(release.salt), min(branch(), release.people - start), start=start, size=packs.STRETCH
    )
    leaves = _leaves(connection, release, offer, start, salts)
    block, inside = divmod(place, packs.SIZE)
    body = read_body(connection, release.number, TREE, block)
    hashes = [body[at : at + _HASH] for at in range(_HASH, len(body), _HASH)]
    top = _top_of(connection, release)
    trees = ((MerkleTree(leaves), place - start), (MerkleTree(hashes), inside // branch()), (top, block))
    path = tuple(sister for tree, index in trees for sister in tree.path(index))
    if climb(leaves[place - start], place, release.people, path) != release.rows:
        raise PromiseBroken(
            "the ledger's charges are not those it sealed: they were changed; run `optin ledger verify`"
        )
    salt = salts[16 * (place - start) :][:16]
    return salt.hex(), path


_TOPS: dict[str, MerkleTree] = {}
_MOST_TOPS = 16


def _top_of(connection: Connection, release: Row[Any]) -> MerkleTree:
    """Build the tree over the roots of blocks, or take one that was built before: of one root there is but one tree.

    Database and hashes would else read and make, for each receipt, something of every block.
    """
    top = _TOPS.get(release.rows)
    if top is None:
        query = "SELECT SUBSTR(body, 1, 32) FROM packs WHERE act = :act AND part = 'tree' ORDER BY block"
        top = MerkleTree([bytes(each) for each in connection.scalars(text(query), {"act": release.number})])
        if top.root == release.rows:  # else it was changed, which shows in the path
            _TOPS[release.rows] = top
            if len(_TOPS) > _MOST_TOPS:
                _TOPS.pop(next(iter(_TOPS)), None)
    return top


def _leaves(connection: Connection, release: Row[Any], offer: Row[Any], start: int, salts: bytes) -> list[bytes]:
    """Hash the charges of one branch."""
    block, inside = divmod(start, packs.SIZE)
    pack = Pack(read_body(connection, release.number, ROWS, block))
    positions, *numbers = (pack.column(number, inside, inside + branch()) for number in range(len(pack)))
    person, _, _, *split = read_some(connection, offer.number, positions)
    return leaves_of(salts, names_of(connection, person), *numbers, *split)
