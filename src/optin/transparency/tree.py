"""Trees of hashes (RFC 6962): each leaf can be shown to be there, and each tree to begin with every earlier one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from optin.errors import PromiseBroken
from optin.formats.strict_json import is_fingerprint

_LEAF, _NODE = b"\x00", b"\x01"
MOST_STEPS = 64
"""A path is no longer than a tree of 2^63 leaves is high, and one more."""


def leaf_of(entry: bytes) -> bytes:
    """Hash what a leaf stands for (RFC 6962, 2.1)."""
    return hashlib.sha256(_LEAF + entry).digest()


def node_of(left: bytes, right: bytes) -> bytes:
    """Hash two nodes into the one above them (RFC 6962, 2.1)."""
    return hashlib.sha256(_NODE + left + right).digest()


class MerkleTree:
    """All levels of a hash tree; an odd node at the end of a level moves up as it is.

    >>> tree = MerkleTree([bytes([k]) * 32 for k in range(5)])
    >>> climb(bytes([3]) * 32, 3, 5, tree.path(3)) == tree.root
    True
    """

    def __init__(self, leaves: Sequence[bytes]) -> None:
        layer = list(leaves) or [hashlib.sha256(b"").digest()]
        self.layers, self.size = [layer], len(leaves)
        while len(layer) > 1:
            layer = _parents(layer)
            self.layers.append(layer)

    @property
    def root(self) -> str:
        """The one hash that stands for all leaves."""
        return self.layers[-1][0].hex()

    def path(self, index: int, size: int | None = None) -> tuple[str, ...]:
        """List the sister hashes met on the way from a leaf to the root, also to that of the first ``size`` leaves."""
        size, path, height = self.size if size is None else size, list[str](), 0
        while size > 1 << height:
            start = (index >> height ^ 1) << height
            if start < size:
                path.append(self._node(start, min(start + (1 << height), size)).hex())
            height += 1
        return tuple(path)

    def root_of(self, size: int) -> str:
        """Return the root of the tree of the first ``size`` leaves, from whole subtrees that are known already."""
        return (self._node(0, size) if size else hashlib.sha256(b"").digest()).hex()

    def growth(self, old: int, new: int) -> tuple[str, ...]:
        """List the hashes which show that the tree of ``new`` leaves begins with that of ``old`` leaves (RFC 6962, 2.1.2)."""
        return () if old in (0, new) else tuple(node.hex() for node in self._growth(0, new, old, known=True))

    def _node(self, start: int, stop: int) -> bytes:
        """Hash a part of the leaves; it begins where a subtree of its size does, so that most of it is known."""
        height = (stop - start - 1).bit_length()
        if stop - start == 1 << height:
            return self.layers[height][start >> height]
        middle = start + (1 << height - 1)
        return node_of(self._node(start, middle), self._node(middle, stop))

    def _growth(self, start: int, stop: int, old: int, *, known: bool) -> list[bytes]:
        """Write RFC 6962's SUBPROOF; ``known`` says that the old root is this subtree's, so that it need not be told."""
        if start + old == stop:
            return [] if known else [self._node(start, stop)]
        half = 1 << (stop - start - 1).bit_length() - 1
        middle = start + half
        if old <= half:
            return [*self._growth(start, middle, old, known=known), self._node(middle, stop)]
        return [*self._growth(middle, stop, old - half, known=False), self._node(start, middle)]


def _parents(layer: list[bytes]) -> list[bytes]:
    sha256 = hashlib.sha256
    parents = [sha256(_NODE + left + right).digest() for left, right in zip(layer[::2], layer[1::2], strict=False)]
    return parents + layer[-1:] if len(layer) % 2 else parents


def climb(leaf: bytes, index: int, count: int, path: Sequence[str]) -> str:
    """Compute the root above a leaf from its sister hashes."""
    sisters, node = iter(path), leaf
    while count > 1:
        if (index ^ 1) < count:
            sister = bytes.fromhex(next(sisters, ""))
            node = node_of(sister, node) if index % 2 else node_of(node, sister)
        index, count = index // 2, (count + 1) // 2
    if next(sisters, None) is not None:
        raise PromiseBroken("the receipt's path is longer than its tree is high; ask the operator for a new receipt")
    return node.hex()


def growth(leaves: Sequence[bytes], old: int) -> tuple[str, ...]:
    """List the hashes which show that a tree begins with the tree of its ``old`` first leaves (RFC 6962, 2.1.2)."""
    return MerkleTree(leaves).growth(old, len(leaves))


def grew(old: int, old_root: str, new: int, new_root: str, path: Sequence[str]) -> bool:
    """Tell whether a path shows that the new tree begins with the old one (RFC 9162, 2.1.4.2).

    >>> leaves = [leaf_of(bytes([k])) for k in range(7)]
    >>> roots = [MerkleTree(leaves[:size]).root for size in (3, 7)]
    >>> grew(3, roots[0], 7, roots[1], growth(leaves, 3)), grew(3, roots[1], 7, roots[1], growth(leaves, 3))
    (True, False)
    """
    if not is_path((old_root, new_root, *path)):
        return False
    if old in (0, new):
        return not path and (old == 0 or old_root == new_root)
    if not 0 < old < new or not path:
        return False
    first, *rest = [old_root, *path] if old & (old - 1) == 0 else path
    return _climb_both(old - 1, new - 1, bytes.fromhex(first), [bytes.fromhex(each) for each in rest]) == (
        old_root,
        new_root,
    )


def _climb_both(old: int, new: int, first: bytes, rest: Sequence[bytes]) -> tuple[str, str] | None:
    """Compute the roots of both trees from a path between them; None where it does not fit their sizes."""
    while old & 1:
        old, new = old >> 1, new >> 1
    old_node = new_node = first
    for sister in rest:
        if new == 0:
            return None
        if old & 1 or old == new:
            old_node, new_node = node_of(sister, old_node), node_of(sister, new_node)
            while not old & 1 and old:
                old, new = old >> 1, new >> 1
        else:
            new_node = node_of(new_node, sister)
        old, new = old >> 1, new >> 1
    return (old_node.hex(), new_node.hex()) if new == 0 else None


def is_path(hashes: object) -> bool:
    """Tell whether these are hashes in hex, and no more than a path can hold."""
    if not isinstance(hashes, list | tuple) or len(hashes) > MOST_STEPS + 2:
        return False
    return all(map(is_fingerprint, hashes))
