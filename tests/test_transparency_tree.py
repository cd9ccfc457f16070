"""The tree of acts is RFC 6962's: roots and proofs against its own definitions, written here from its text, and its vectors."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optin.transparency.tree import MerkleTree, climb, grew, growth, leaf_of

# --- RFC 6962, 2.1: MTH, PATH and PROOF, word for word ----------------------------------------------------------------


def sha(data):
    return hashlib.sha256(data).digest()


def split_of(n):
    """The largest power of two smaller than n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def mth(entries):
    if not entries:
        return sha(b"")
    if len(entries) == 1:
        return sha(b"\x00" + entries[0])
    k = split_of(len(entries))
    return sha(b"\x01" + mth(entries[:k]) + mth(entries[k:]))


def path_of(m, entries):
    if len(entries) == 1:
        return []
    k = split_of(len(entries))
    if m < k:
        return [*path_of(m, entries[:k]), mth(entries[k:])]
    return [*path_of(m - k, entries[k:]), mth(entries[:k])]


def subproof(m, entries, b):
    if m == len(entries):
        return [] if b else [mth(entries)]
    k = split_of(len(entries))
    if m <= k:
        return [*subproof(m, entries[:k], b), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], False), mth(entries[:k])]


# --- RFC 9162, 2.1.3.2: how an inclusion proof is verified ------------------------------------------------------------


def verifies_inclusion(leaf, index, size, path, root):
    if index >= size:
        return False
    fn, sn, r = index, size - 1, leaf
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = sha(b"\x01" + p + r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = sha(b"\x01" + r + p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


def hexed(hashes):
    return tuple(each.hex() for each in hashes)


ENTRIES = [f"act {number}".encode() for number in range(70)]
LEAVES = [leaf_of(entry) for entry in ENTRIES]

VECTORS = [
    bytes.fromhex(entry)
    for entry in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_are_those_of_the_certificate_transparency_vectors(size):
    assert MerkleTree([leaf_of(entry) for entry in VECTORS[:size]]).root == ROOTS[size - 1]


def test_the_tree_of_nothing_is_the_hash_of_nothing():
    assert MerkleTree([]).root == mth([]).hex()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 65, 70])
def test_every_inclusion_proof_is_the_rfc_s_and_verifies_by_its_text(size):
    tree, root = MerkleTree(LEAVES[:size]), mth(ENTRIES[:size])
    assert tree.root == root.hex()
    for index in range(size):
        path = path_of(index, ENTRIES[:size])
        assert tree.path(index) == hexed(path)
        assert verifies_inclusion(LEAVES[index], index, size, path, root)
        assert climb(LEAVES[index], index, size, hexed(path)) == root.hex()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33])
def test_every_consistency_proof_is_the_rfc_s_and_shows_growth(size):
    root = mth(ENTRIES[:size]).hex()
    for old in range(1, size + 1):
        path = subproof(old, ENTRIES[:size], True)
        assert growth(LEAVES[:size], old) == hexed(path)
        assert grew(old, mth(ENTRIES[:old]).hex(), size, root, hexed(path))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 31, 32, 33])
def test_proofs_of_smaller_trees_are_those_that_the_smaller_tree_gives(size):
    tree = MerkleTree(LEAVES[:70])
    assert tree.root_of(size) == mth(ENTRIES[:size]).hex()
    assert [tree.path(at, size) for at in range(size)] == [hexed(path_of(at, ENTRIES[:size])) for at in range(size)]
    for old in range(1, size + 1):
        assert tree.growth(old, size) == hexed(subproof(old, ENTRIES[:size], True))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_proof_shows_growth_from_a_tree_that_is_not_at_the_beginning(data):
    size = data.draw(st.integers(2, 40))
    old = data.draw(st.integers(1, size - 1))
    changed = data.draw(st.integers(0, old - 1))
    other = [*ENTRIES[:changed], b"another", *ENTRIES[changed + 1 : size]]
    leaves = [leaf_of(entry) for entry in other]
    honest = mth(ENTRIES[:old]).hex()
    for path in (growth(leaves, old), growth(LEAVES[:size], old)):
        assert not grew(old, honest, size, MerkleTree(leaves).root, path)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_proof_with_any_hash_changed_dropped_or_added_shows_nothing(data):
    size = data.draw(st.integers(2, 40))
    old = data.draw(st.integers(1, size - 1))
    roots, path = (MerkleTree(LEAVES[:old]).root, MerkleTree(LEAVES[:size]).root), list(growth(LEAVES[:size], old))
    at = data.draw(st.integers(0, len(path) - 1))
    damaged = [path[:at] + path[at + 1 :], [*path, "0" * 64], [*path[:at], "0" * 64, *path[at + 1 :]], ["zz", *path]]
    for wrong in damaged:
        assert not grew(old, roots[0], size, roots[1], wrong)
    assert not grew(size, roots[1], old, roots[0], path)


def test_a_tree_of_the_same_size_is_the_same_or_no_continuation():
    root = MerkleTree(LEAVES[:5]).root
    assert grew(5, root, 5, root, ())
    assert not grew(5, root, 5, "0" * 64, ())
    assert grew(0, "0" * 64, 5, root, ())
