"""The chain of acts: each hashes the one before, its own public fields, and a digest of the rows it wrote."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, insert, select

from optin.announcement.naming import check_round, checked_campaign
from optin.grains.arrays import Sums
from optin.ledger.schema import acts
from optin.ledger.streamed_hashes import Grove, Tally, blocks, digest_of_blocks
from optin.receipts import MerkleTree, Seal, charge_salts, leaves_of

__all__ = [
    "GENESIS",
    "Entry",
    "Terms",
    "Written",
    "append",
    "is_stored",
    "last",
    "new_salt",
    "rows_digest",
    "rows_of",
    "seal_of",
]

GENESIS = "0" * 64
"""What the first act names as the hash before it."""


@dataclass(frozen=True)
class Entry:
    """One place in the chain: its number, the hash up to it, and the public text stored there."""

    number: int
    head: str
    body: str = ""


@dataclass(frozen=True)
class Terms:
    """An announcement as the ledger sees it: its campaign and round, and the fingerprint of everything announced."""

    campaign: str
    round: int
    fingerprint: str

    def __post_init__(self) -> None:
        """Refuse a name or a round that one database would keep and another would not."""
        checked_campaign(self.campaign)
        check_round(self.round)


def new_salt() -> str:
    """Draw an act's secret; without it the hashes in receipts would let a holder test guesses about others' limits."""
    return secrets.token_hex(32)


def rows_digest(salt: str, ids: Sequence[str] | None, *numbers: NDArray[np.int64]) -> str:
    """Hash rows column by column; counts and lengths come first, so no two tables give the same bytes.

    >>> one, two = np.array([1]), np.array([2])
    >>> rows_digest("5a", ["ab"], one) == rows_digest("5a", ["ab"], one)
    True
    >>> rows_digest("5a", ["ab"], one) in (rows_digest("5a", ["ab"], two), rows_digest("5b", ["ab"], one))
    False
    """
    count = len(ids) if ids is not None else len(numbers[0])
    digest = hashlib.sha256(f"optin rows 1:{salt}:{count}:{ids is not None}:{len(numbers)}:".encode())
    if ids is not None:
        encoded = [person.encode() for person in ids]
        digest.update(np.fromiter(map(len, encoded), dtype=">u4", count=count).tobytes())
        digest.update(b"".join(encoded))
    for column in numbers:
        digest.update(np.ascontiguousarray(column, dtype=">i8").tobytes())
    return digest.hexdigest()


def last(connection: Connection) -> Entry:
    """Read the newest act; an empty ledger stands at number 0."""
    row = connection.execute(select(acts.c.number, acts.c.hash).order_by(acts.c.number.desc()).limit(1)).first()
    return Entry(row.number, row.hash) if row else Entry(0, GENESIS)


def append(
    connection: Connection,
    *,
    kind: str,
    people: int,
    rows: str,
    salt: str,
    terms: Terms | None = None,
    offer: int | None = None,
    body: str = "",
    result: str | None = None,
    joined: str | None = None,
) -> Entry:
    """Seal one more act onto the chain; the caller holds the head lock."""
    before = last(connection)
    seal = Seal(
        number=before.number + 1,
        kind=kind,
        campaign=terms.campaign if terms else None,
        round=terms.round if terms else None,
        fingerprint=terms.fingerprint if terms else None,
        offer=offer,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        result=result,
        body=_text_digest(body),
        people=people,
        rows=rows,
        joined=joined,
        previous=before.head,
    )
    connection.execute(insert(acts).values({**asdict(seal), "body": body, "hash": seal.hash, "salt": salt}))
    return Entry(seal.number, seal.hash, body)


def _text_digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def is_stored(connection: Connection, entry: Entry) -> bool:
    """Tell whether this very act is in the ledger."""
    return connection.scalar(select(acts.c.hash).where(acts.c.number == entry.number)) == entry.head


def seal_of(act: Row[Any]) -> Seal:
    """Read back the fields that an act's hash covers."""
    fields = act._asdict()
    return Seal(**{**{name: fields[name] for name in Seal.__dataclass_fields__}, "body": _text_digest(act.body)})


_ALLOWANCES = """SELECT p.id, a.grains FROM allowances a JOIN people p ON p.person = a.person
    WHERE a.act = :act ORDER BY a.person"""
_PROMISES = """SELECT p.id, q.grains, q.bounded FROM promises q JOIN people p ON p.person = q.person
    WHERE q.offer = :act ORDER BY q.position"""
_RETURNS = "SELECT position FROM returns WHERE offer = :offer AND act = :act ORDER BY position"
_CHARGES = """SELECT p.id, c.grains FROM charges c JOIN promises q ON q.offer = c.offer AND q.position = c.position
    JOIN people p ON p.person = q.person WHERE c.offer = :offer AND c.act = :act ORDER BY c.position"""
_QUERIES = {
    "register": _ALLOWANCES,
    "raise": _ALLOWANCES,
    "announce": _PROMISES,
    "return": _RETURNS,
    "absent": _RETURNS,
    "cancel": _RETURNS,
    "release": _CHARGES,
}


@dataclass(frozen=True)
class Written:
    """The rows of one act: how many, the hash over them, and the sums and the largest of what they promise or charge."""

    people: int
    digest: str
    sums: Sums = field(default=Sums(), repr=False)
    most: int = field(default=0, repr=False)


def rows_of(connection: Connection, *, kind: str, act: int, offer: int | None, salt: str) -> Written:
    """Count, digest and add up the rows that an act wrote, as they are now; however many, few are held at once."""
    walk, tally = blocks(connection, _QUERIES[kind], {"act": act, "offer": offer}), Tally()
    if kind == "release":
        grove = Grove(salt, tally.passing(walk))
        return Written(grove.count, grove.root, tally.sums, tally.most)
    adding = tally.passing(walk) if kind == "announce" else walk
    count, digest = digest_of_blocks(salt, adding, named=_QUERIES[kind] is not _RETURNS)
    return Written(count, digest, tally.sums, tally.most)


def charged(connection: Connection, *, act: int, offer: int | None, salt: str, keep: Sequence[int] = ()) -> Grove:
    """Build the tree over whom a release charged; paths are for those whose index is to be kept."""
    return Grove(salt, blocks(connection, _CHARGES, {"act": act, "offer": offer}), keep=keep)


def charge_tree(salt: str, ids: Sequence[str], grains: NDArray[np.int64]) -> MerkleTree:
    """Build the tree over a release's charges; ``salt`` is its secret in hexadecimal."""
    return MerkleTree(leaves_of(charge_salts(bytes.fromhex(salt), len(ids)), ids, grains))
