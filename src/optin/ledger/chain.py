"""The chain of acts: each hashes the one before, its own public fields, and a digest of the rows it wrote."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from optin.announcement.naming import check_round, checked_campaign
from optin.grains.exact_sums import QuestionSums
from optin.ledger import packs
from optin.ledger.branches import stored_branches
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import is_packed
from optin.ledger.schema import acts
from optin.ledger.sharing import ONE, Sharing
from optin.ledger.streamed_hashes import Block, Grove, blocks, digest_of_blocks
from optin.ledger.tallying import DesignTally, GroupTally, Tally, tally_of
from optin.receipts import GROUPS, SHEETS, VERSION, Seal
from optin.wording.records import Brief, Listed

GENESIS = "0" * 64
"""What the first act names as the hash before it."""


@dataclass(frozen=True, repr=False)
class Entry(Listed):
    """One place in the chain: its number, the hash up to it, and the public text stored there."""

    number: int
    head: str
    body: str = ""


@dataclass(frozen=True, repr=False)
class Terms(Brief):
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


@dataclass(frozen=True)
class Written:
    """The rows of one act: how many, the hash over them, and the sums and the largest of what they promise or charge.

    ``questions`` are the sums of each question of the sheet. Where there are several, ``most`` is the largest amount before it
    is split, and ``astray`` counts rows whose grains do not follow from that, the shares, and the questions charged. Of people
    in public groups ``designs`` has all of this for each group; of a packed release ``branches`` is what is stored of its tree.
    """

    people: int
    digest: str
    sums: QuestionSums = field(default=QuestionSums(), repr=False)
    most: int = field(default=0, repr=False)
    questions: tuple[QuestionSums, ...] = field(default=(), repr=False)
    astray: int = 0
    designs: tuple[DesignTally, ...] = field(default=(), repr=False)
    branches: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def grains(self) -> int:
        """What the rows promise or charge together."""
        return self.sums.grains


def last(connection: Connection) -> Entry:
    """Read the newest act; an empty ledger stands at number 0."""
    row = connection.execute(select(acts.c.number, acts.c.hash).order_by(acts.c.number.desc()).limit(1)).first()
    return Entry(row.number, row.hash) if row else Entry(0, GENESIS)


@dataclass(frozen=True)
class About:
    """What an act says besides its rows: of which announcement, made in which act, its text, its result, and who joined."""

    terms: Terms | None = None
    offer: int | None = None
    body: str = field(default="", repr=False)
    result: str | None = None
    joined: str | None = None


NOTHING = About()
"""What acts on people say: nothing but their rows."""


def append(
    connection: Connection, kind: str, written: Written, salt: str, about: About = NOTHING, *, version: int = VERSION
) -> Entry:
    """Seal one more act, and the rows it wrote, onto the chain; the caller holds the head lock."""
    before, terms, body = last(connection), about.terms, about.body
    seal = Seal(
        version=version,
        number=before.number + 1,
        kind=kind,
        campaign=terms.campaign if terms else None,
        round=terms.round if terms else None,
        fingerprint=terms.fingerprint if terms else None,
        offer=about.offer,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        result=about.result,
        body=_text_digest(body),
        people=written.people,
        rows=written.digest,
        joined=about.joined,
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
_SHEET_PROMISES = _PROMISES.replace("q.bounded", "q.bounded, q.capped")
_SHEET_CHARGES = _CHARGES.replace("c.grains", "c.grains, c.answered, q.capped")
_QUERIES = {
    "register": _ALLOWANCES,
    "raise": _ALLOWANCES,
    "announce": _PROMISES,
    "return": _RETURNS,
    "absent": _RETURNS,
    "cancel": _RETURNS,
    "release": _CHARGES,
}


_GROUP_PROMISES = _SHEET_PROMISES.replace("q.capped", "q.capped, q.design")
_GROUP_CHARGES = _SHEET_CHARGES.replace("q.capped", "q.capped, q.design")
_SHEET_QUERIES = _QUERIES | {"announce": _SHEET_PROMISES, "release": _SHEET_CHARGES}
_GROUP_QUERIES = _QUERIES | {"announce": _GROUP_PROMISES, "release": _GROUP_CHARGES}
_OF_VERSION = {VERSION: _QUERIES, SHEETS: _SHEET_QUERIES, GROUPS: _GROUP_QUERIES}


@dataclass(frozen=True)
class ActRows:
    """The rows of one act: which they are, and what they are digested and added up with."""

    kind: str
    act: int
    salt: str = field(repr=False)
    offer: int | None = None
    version: int = VERSION
    sharing: Sharing = ONE


def rows_of(
    connection: Connection, wrote: ActRows, *, passing: Callable[[Iterable[Block]], Iterable[Block]] = iter
) -> Written:
    """Count, digest and add up the rows that an act wrote, as they are now; however many, few are held at once.

    ``passing`` sees blocks as they go by, and hands them on.
    """
    kind, version, sharing = wrote.kind, wrote.version, wrote.sharing
    if is_packed(connection, wrote.act):
        walk = passing(packed_walk(connection, kind, wrote.act, wrote.offer, version))
        return packed_of(kind, walk, wrote.salt, version=version, sharing=sharing)
    query = _OF_VERSION[version][kind]
    walk = passing(blocks(connection, query, {"act": wrote.act, "offer": wrote.offer}))
    return written_of(kind, walk, wrote.salt, version=version, sharing=sharing)


def packed_of(
    kind: str, walk: Iterable[Block], salt: str, *, version: int = VERSION, sharing: Sharing = ONE
) -> Written:
    """Count, digest and add up the packs of an act; of a release also say what is stored of its tree."""
    if kind != "release":
        return written_of(kind, walk, salt, version=version, sharing=sharing)
    tally = tally_of(sharing)
    grove = Grove(salt, tally.charges(walk), size=packs.SIZE, stretch=packs.STRETCH)
    return replace(_written(tally, grove.count, grove.root), branches=stored_branches(grove))


def written_of(
    kind: str, walk: Iterable[Block], salt: str, *, version: int = VERSION, sharing: Sharing = ONE
) -> Written:
    """Count, digest and add up rows that an act of some kind writes."""
    tally = tally_of(sharing)
    if kind == "release":
        grove = Grove(salt, tally.charges(walk))
        count, digest = grove.count, grove.root
    else:
        adding = tally.promises(walk) if kind == "announce" else walk
        count, digest = digest_of_blocks(salt, adding, named=_QUERIES[kind] is not _RETURNS, version=version)
    return _written(tally, count, digest)


def _written(tally: Tally | GroupTally, count: int, digest: str) -> Written:
    return Written(count, digest, tally.sums, tally.most, tally.questions, tally.astray, tally.designs)


def charged(connection: Connection, act: Row[Any], *, keep: Sequence[int] = ()) -> Grove:
    """Build the tree over whom a release charged; paths are for those whose index is to be kept."""
    query = _OF_VERSION[act.version]["release"]
    return Grove(act.salt, blocks(connection, query, {"act": act.number, "offer": act.offer}), keep=keep)
