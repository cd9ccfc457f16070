"""What one person can hold against the operator: a receipt, and how to check it with the published files alone.

A release is sealed into the ledger's chain together with the root of a Merkle tree over all its charges. A receipt
shows one leaf of that tree and the way up to the root. The other leaves appear only as salted hashes, so a receipt
says nothing about anyone else but how many people were charged.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.announcement.canon import once
from optin.errors import BadInput, PromiseBroken

__all__ = [
    "BLOCK",
    "MerkleTree",
    "Receipt",
    "Seal",
    "charge_salts",
    "check",
    "leaves_of",
    "root_of",
    "seal_of",
    "sealed",
]

VERSION = 1
SALT_BYTES = 16
BLOCK = 2**20
"""Charges that share one stretch of salts, and one part of the tree: what is held in memory at once."""
_LEAF, _NODE = b"\x00", b"\x01"


def sealed(*fields: str | int | None) -> str:
    """Hash fields so that no two different lists of fields give the same text to hash.

    Each field is preceded by its kind and its length; without lengths ("ab", "c") and ("a", "bc") would collide.

    >>> sealed("ab", "c") == sealed("a", "bc")
    False
    >>> sealed(1) == sealed("1"), sealed(None) == sealed("")
    (False, False)
    """
    digest = hashlib.sha256()
    for field in fields:
        kind = b"n" if field is None else b"i" if isinstance(field, int) else b"s"
        data = b"" if field is None else str(field).encode()
        digest.update(kind + len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Seal:
    """The public fields of one act of the ledger, in the order in which the chain hashes them.

    ``fingerprint`` is the announcement's, ``result`` the release's, ``body`` the hash of the stored text, ``rows``
    stands for the act's rows (the Merkle root, for a release), ``joined`` for who took part, ``previous`` is the hash
    of the act before: whoever knows a later hash can tell whether any of this was changed.
    """

    version: int = VERSION
    number: int
    kind: str
    campaign: str | None = None
    round: int | None = None
    offer: int | None = None
    at: str
    fingerprint: str | None = None
    result: str | None = None
    body: str
    people: int
    rows: str
    joined: str | None = None
    previous: str

    @property
    def hash(self) -> str:
        """The hash of this act, and of the whole chain up to it."""
        return sealed(*(getattr(self, field.name) for field in dataclasses.fields(self)))


def charge_salts(key: bytes, count: int, *, block: int = 0, size: int = BLOCK) -> bytes:
    """Stretch one release's secret into a salt for each charge from a block on, so that no leaf can be guessed from an id.

    >>> len(charge_salts(b"k" * 32, 3)), charge_salts(b"k" * 32, 2) == charge_salts(b"k" * 32, 3)[:32]
    (48, True)
    """
    parts = []
    for start in range(0, count, size):
        number = block + start // size
        mark = number.to_bytes(8, "big") if number else b""
        stretched = hashlib.shake_256(b"optin charge salts 1" + key + mark)
        parts.append(stretched.digest(SALT_BYTES * min(size, count - start)))
    return b"".join(parts)


def leaves_of(salts: bytes, ids: Sequence[str], grains: NDArray[np.int64]) -> list[bytes]:
    """Hash each charge with its salt; salt and grains have fixed lengths, so the id needs none."""
    count = len(ids)
    width = 1 + SALT_BYTES + 8
    heads = np.zeros((count, width), dtype=np.uint8)
    heads[:, 1 : 1 + SALT_BYTES] = np.frombuffer(salts, np.uint8).reshape(count, SALT_BYTES)
    heads[:, 1 + SALT_BYTES :] = np.ascontiguousarray(grains, dtype=">i8").view(np.uint8).reshape(count, 8)
    packed, sha256 = heads.tobytes(), hashlib.sha256
    return [
        sha256(packed[start : start + width] + person.encode()).digest()
        for start, person in zip(range(0, width * count, width), ids, strict=True)
    ]


class MerkleTree:
    """All levels of a hash tree; an odd node at the end of a level moves up as it is.

    >>> tree = MerkleTree([bytes([k]) * 32 for k in range(5)])
    >>> climb(bytes([3]) * 32, 3, 5, tree.path(3)) == tree.root
    True
    """

    def __init__(self, leaves: Sequence[bytes]) -> None:
        level = list(leaves) or [hashlib.sha256(b"").digest()]
        self.levels = [level]
        while len(level) > 1:
            level = _parents(level)
            self.levels.append(level)

    @property
    def root(self) -> str:
        """The one hash that stands for all leaves."""
        return self.levels[-1][0].hex()

    def path(self, index: int) -> tuple[str, ...]:
        """List the sister hashes met on the way from a leaf to the root."""
        path = []
        for level in self.levels[:-1]:
            if (index ^ 1) < len(level):
                path.append(level[index ^ 1].hex())
            index //= 2
        return tuple(path)


def _parents(level: list[bytes]) -> list[bytes]:
    sha256 = hashlib.sha256
    parents = [sha256(_NODE + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
    return parents + level[-1:] if len(level) % 2 else parents


def climb(leaf: bytes, index: int, count: int, path: Sequence[str]) -> str:
    """Compute the root above a leaf from its sister hashes."""
    sisters, node = iter(path), leaf
    while count > 1:
        if (index ^ 1) < count:
            sister = bytes.fromhex(next(sisters, ""))
            node = hashlib.sha256(_NODE + (sister + node if index % 2 else node + sister)).digest()
        index, count = index // 2, (count + 1) // 2
    if next(sisters, None) is not None:
        raise PromiseBroken("the receipt's path is longer than its tree is high; ask the operator for a new receipt")
    return node.hex()


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What one person was promised, what was spent, in which release, and what remains; all in grains of 2^-32 epsilon.

    ``remaining`` is None for an allowance without limit. A person who took no part has ``spent`` 0 and no proof: the
    tree shows who was charged, and cannot show that someone was not.
    """

    id: str = dataclasses.field(repr=False)
    promised: int = dataclasses.field(repr=False)
    spent: int = dataclasses.field(repr=False)
    remaining: int | None = dataclasses.field(repr=False)
    campaign: str
    round: int
    fingerprint: str
    ledger_number: int
    ledger_head: str
    offer: int
    at: str
    body: str
    rows: str
    joined: str
    previous: str
    charged_people: int
    index: int | None = None
    salt: str | None = dataclasses.field(default=None, repr=False)
    path: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    version: int = VERSION

    def to_json(self) -> str:
        """Write the receipt as JSON, for the person it belongs to."""
        return json.dumps({"optin": "receipt", **dataclasses.asdict(self)}, indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """Read a receipt; anything else is BadInput."""
        names = {field.name for field in dataclasses.fields(cls)}
        try:
            fields: dict[str, Any] = json.loads(text, object_pairs_hook=once)
            if fields.pop("optin") != "receipt" or set(fields) != names or type(fields["path"]) is not list:
                raise ValueError
            receipt = cls(**{**fields, "path": tuple(fields["path"])})
            if _is_well_formed(receipt):
                return receipt
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            pass
        raise BadInput(f"this is not an optin receipt of version {VERSION}; give the file that `optin receipt` wrote")


_COUNTS = ("promised", "spent", "round", "ledger_number", "offer", "charged_people")
_HASHES = ("fingerprint", "ledger_head", "body", "rows", "joined", "previous")
_HASH, _SALT = re.compile(r"[0-9a-f]{64}"), re.compile(rf"[0-9a-f]{{{2 * SALT_BYTES}}}")


def _is_well_formed(receipt: Receipt) -> bool:
    """Tell whether every field is what a receipt holds: whole numbers, texts, hashes, and a proof whole or absent."""
    numbers = [getattr(receipt, name) for name in _COUNTS]
    numbers += [number for number in (receipt.remaining, receipt.index) if number is not None]
    hashes = [*(getattr(receipt, name) for name in _HASHES), *receipt.path]
    proof = (receipt.salt, receipt.path) == (None, ()) if receipt.index is None else _matches(_SALT, receipt.salt)
    return (
        proof
        and all(type(number) is int and 0 <= number < 2**63 for number in [*numbers, receipt.version])
        and all(_matches(_HASH, words) for words in hashes)
        and all(isinstance(words, str) and _is_encodable(words) for words in (receipt.id, receipt.campaign, receipt.at))
        and receipt.version == VERSION
    )


def _matches(pattern: re.Pattern[str], words: object) -> bool:
    return isinstance(words, str) and pattern.fullmatch(words) is not None


def _is_encodable(words: str) -> bool:
    """Tell whether a text has bytes to hash; half of a surrogate pair, which JSON can spell, has none."""
    return not any("\ud800" <= letter <= "\udfff" for letter in words)


class _Announcement(Protocol):
    @property
    def fingerprint(self) -> str: ...
    @property
    def campaign(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def largest_promise(self) -> int: ...


class _Release(Protocol):
    @property
    def announcement(self) -> _Announcement: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def joined_people(self) -> int: ...
    @property
    def total_grains(self) -> int: ...
    @property
    def ledger_number(self) -> int | None: ...
    @property
    def ledger_head(self) -> str | None: ...


def check(receipt: Receipt, announcement: _Announcement, release: _Release) -> tuple[str, ...]:
    """Verify a receipt against the published announcement and release; list what was shown, or raise PromiseBroken.

    Everything is recomputed from the three files: the leaf from the receipt, the root from the path, the chain hash
    from the published release and the root. If the operator changed the charge, the release or its place in the
    ledger, the hash differs from the published one. Nothing proves what remains, nor that somebody was not charged:
    the last line says so.
    """
    _expect(_is_well_formed(receipt), "the receipt holds something that no receipt holds")
    _expect(receipt.fingerprint == announcement.fingerprint, "the receipt is for another announcement")
    place = (announcement.campaign, announcement.round)
    _expect((receipt.campaign, receipt.round) == place, "the receipt is for another campaign or round")
    _expect(receipt.promised <= announcement.largest_promise, "more was promised than the announcement allows anybody")
    _expect(release.announcement.fingerprint == announcement.fingerprint, "the release is of another announcement")
    _expect(release.ledger_number == receipt.ledger_number, "the receipt is for another place in the ledger")
    _expect(release.ledger_head == receipt.ledger_head, "the receipt and the release name different ledger heads")
    _expect(
        seal_of(receipt, release.fingerprint).hash == receipt.ledger_head,
        "the release is not the one sealed in the ledger",
    )
    _expect(release.joined_people == receipt.charged_people, "the release counts other people than were charged")
    shown = ["the release is the one sealed in the ledger, under the published announcement"]
    if receipt.index is None:
        _expect(receipt.spent == 0, "the receipt says something was spent and shows no charge")
        return (
            *shown,
            "nothing was spent, says the operator; that an id was not charged cannot be proved",
            "what was promised and what remains is the operator's word",
        )
    _expect(receipt.spent == receipt.promised, "something else was spent than promised")
    _expect(receipt.spent <= release.total_grains, "more was spent than the release cost everyone together")
    _expect(root_of(receipt) == receipt.rows, "the charge is not among those sealed with the release")
    return (
        *shown,
        "the charge is among those sealed with the release",
        "what was promised was spent, and no more; what remains is the operator's word",
    )


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise PromiseBroken(f"{otherwise}; keep all three files and ask the operator")


def root_of(receipt: Receipt) -> str:
    """Compute the root that a receipt's own charge and path lead to."""
    _expect(receipt.salt is not None and receipt.index is not None, "the receipt lacks its salt")
    salt, index = bytes.fromhex(receipt.salt or ""), receipt.index or 0
    _expect(len(salt) == SALT_BYTES and 0 <= index < receipt.charged_people, "the receipt's proof is malformed")
    leaf = leaves_of(salt, [receipt.id], np.array([receipt.spent], dtype=np.int64))[0]
    return climb(leaf, index, receipt.charged_people, receipt.path)


def seal_of(receipt: Receipt, result: str | None) -> Seal:
    """Rebuild the act a receipt speaks of; ``result`` is the fingerprint of the release."""
    return Seal(
        number=receipt.ledger_number,
        kind="release",
        campaign=receipt.campaign,
        round=receipt.round,
        offer=receipt.offer,
        at=receipt.at,
        fingerprint=receipt.fingerprint,
        result=result,
        body=receipt.body,
        people=receipt.charged_people,
        rows=receipt.rows,
        joined=receipt.joined,
        previous=receipt.previous,
    )
