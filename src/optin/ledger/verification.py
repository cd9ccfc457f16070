"""Does the ledger still say what it said? Recompute every hash, and compare with copies kept outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from sqlalchemy import Connection, Row, select, text

from optin.announcement import Announcement
from optin.database.kinds import is_sqlite
from optin.errors import PromiseBroken
from optin.ledger.accounts import act_of
from optin.ledger.branches import are_stored
from optin.ledger.chain import GENESIS, ActRows, Written, rows_of, seal_of
from optin.ledger.fittings import changed_fittings
from optin.ledger.held import places_of
from optin.ledger.holds import terms_of
from optin.ledger.logged import log_faults
from optin.ledger.packs import is_packed
from optin.ledger.people_numbers import person_of
from optin.ledger.receipting import Placed, packed_place
from optin.ledger.schema import acts
from optin.ledger.sequence import misplaced
from optin.ledger.sharing import Sharing, sharing_of
from optin.ledger.strays import strays
from optin.ledger.streamed_hashes import Block
from optin.ledger.texts import announcement_fault, announcement_in, release_fault, release_in
from optin.receipts import GROUPS, SHEETS, VERSION, Receipt, root_of
from optin.receipts import seal_of as receipt_seal
from optin.releasing.record import Release
from optin.wording import underway
from optin.wording.telling import Telling, Told


class OutsideCopy(Protocol):
    """Anything that names a place in the ledger: a release or a receipt."""

    @property
    def ledger_number(self) -> int | None:
        """Which act it names."""

    @property
    def ledger_head(self) -> str | None:
        """The hash of the chain up to that act."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the release, place included, or of the announcement a receipt belongs to."""


@dataclass(frozen=True, repr=False)
class Verification(Told):
    """What a verification saw: how many acts, what is wrong, and the last act that an outside copy vouches for."""

    acts: int
    problems: tuple[str, ...]
    vouched: int

    @property
    def ok(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.problems

    def telling(self) -> Telling:
        """Say whether the ledger verifies, what is wrong, and how far an outside copy vouches for it."""
        wrong = tuple(("wrong", problem) for problem in self.problems)
        unseen = (
            "nothing: give a release or a receipt kept outside" if not self.vouched else f"up to act {self.vouched}"
        )
        good = ("verifies", "yes: every hash agrees" if self.ok else "no")
        return Telling("Verification of a ledger", (good, ("acts", f"{self.acts:,}"), ("vouched for", unseen), *wrong))

    def __str__(self) -> str:
        problems = "; ".join(self.problems) if self.problems else "every hash agrees"
        unseen = f"what was cut off or rewritten after act {self.vouched} cannot be seen"
        if not self.vouched:
            unseen = "without an outside copy (a release or a receipt) a cut tail or a rewritten ledger cannot be seen"
        return f"{self.acts} acts: {problems}. {unseen[0].upper()}{unseen[1:]}."


def verify(connection: Connection, against: Sequence[OutsideCopy] = ()) -> Verification:
    """Find changed, missing, added and (against outside copies) cut-off rows; messages name acts, never people."""
    rows = list(connection.execute(select(acts).order_by(acts.c.number)))
    known, exact = (
        {row.number: row for row in rows},
        [row.number for row in rows if row.kind == "announce" and _is_exact(row)],
    )
    problems = [
        *_broken_links(rows),
        *misplaced(rows),
        *_changed_rows(connection, rows),
        *_one_look("comparing what acts wrote with each other", rows, strays(connection, exact)),
        *changed_fittings(connection),
        *_one_look("comparing indexes with their tables", rows, _torn_indexes(connection)),
        *log_faults(connection),
        *_missing(connection, known, against),
        *_forks(against),
    ]
    vouched = max((int(copy.ledger_number or 0) for copy in against), default=0)
    return Verification(acts=len(rows), problems=tuple(problems), vouched=vouched)


_VERSIONS = dict.fromkeys(("announce", "release"), (VERSION, SHEETS, GROUPS))


def _broken_links(rows: Sequence[Row[Any]]) -> Iterator[str]:
    number, head = 0, GENESIS
    for place, row in enumerate(rows, start=1):
        if row.number != number + 1:
            yield f"between acts {number} and {row.number} some are missing"
        elif row.previous != head:
            yield f"act {row.number} does not follow the one before"
        if row.version not in _VERSIONS.get(row.kind, (VERSION,)):
            yield f"act {row.number} has a version this optin does not know"
        elif not _is_intact(row):
            yield f"act {row.number} was changed"
        number, head = row.number if isinstance(row.number, int) else place, row.hash


def _is_intact(row: Row[Any]) -> bool:
    """Recompute an act's hash; SQLite keeps anything anywhere, so a field may not even be text."""
    try:
        return bool(seal_of(row).hash == row.hash)
    except (AttributeError, TypeError, ValueError):
        return False


def _one_look(what: str, rows: Sequence[Row[Any]], problems: Iterator[str]) -> Iterator[str]:
    """Say that something is looked at of which nobody is told how far it is."""
    everyone = sum(map(_people_of, rows))
    underway.say(what, 0, everyone)
    yield from problems
    underway.say(what, everyone, everyone)


_HASHES = "comparing acts with their hashes"


def _heard(walk: Iterable[Block], before: int, everyone: int) -> Iterator[Block]:
    """Hand blocks of an act on, and say how far it is; an act of millions is one step of many."""
    done = before
    for block in walk:
        yield block
        done += len(block[0])
        underway.say(_HASHES, min(done, everyone), everyone)


def _changed_rows(connection: Connection, rows: Sequence[Row[Any]]) -> Iterator[str]:
    starts = [0, *accumulate(map(_people_of, rows))]
    for before, row in underway.counted(
        _HASHES, zip(starts, rows, strict=False), starts[-1], lambda each: _people_of(each[1])
    ):
        if not _is_intact(row):
            continue  # said already, and its kind may mean nothing any more
        try:
            told = _text(row)
            passing = partial(_heard, before=before, everyone=starts[-1])
            wrote = ActRows(row.kind, row.number, row.salt, row.offer, row.version, _sharing(told))
            written = rows_of(connection, wrote, passing=passing)
            fault = _fault(row, told, written)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            yield f"act {row.number} was changed: its rows or its secret cannot be read"
            continue
        if written.people != row.people:
            yield f"act {row.number} ({row.kind}) wrote {row.people} rows, and {written.people} are there"
        elif written.digest != row.rows:
            yield f"the rows of act {row.number} ({row.kind}) were changed"
        elif not are_stored(connection, row.number, written.people, written.branches):
            yield f"the branches of the tree of act {row.number} ({row.kind}) were changed"
        elif fault is not None:
            yield f"act {row.number} ({row.kind}) does not agree with itself: {fault}"


def _people_of(row: Row[Any]) -> int:
    return row.people if isinstance(row.people, int) else 0


def _text(row: Row[Any]) -> Announcement | Release | None:
    """Read what an act published, if it did and if it can be read."""
    if row.kind == "announce":
        return announcement_in(row.body)
    return release_in(row.body) if row.kind == "release" else None


def _sharing(told: Announcement | Release | None) -> Sharing:
    return sharing_of(told.announcement if isinstance(told, Release) else told)


def _fault(row: Row[Any], told: Announcement | Release | None, written: Written) -> str | None:
    """Compare what an act published with what it promised or charged."""
    if told is not None and row.version != _sharing(told).version:
        return "its version is not that of its sheet"
    if row.kind == "announce":
        return announcement_fault(told, terms_of(row), written)  # type: ignore[arg-type]  # an announcement has no other text
    if row.kind == "release":
        return release_fault(told, row.result, terms_of(row), row.number, written)  # type: ignore[arg-type]
    return None


def _is_exact(row: Row[Any]) -> bool:
    offer = announcement_in(row.body)
    return offer is not None and offer.noiseless


def _torn_indexes(connection: Connection) -> Iterator[str]:
    """Let SQLite compare its indexes with its tables: an id missing in an index would be registered once more."""
    if is_sqlite(connection) and connection.scalar(text("PRAGMA integrity_check(1)")) != "ok":
        yield "the file is damaged: SQLite finds that its tables and indexes disagree"


def _missing(connection: Connection, known: dict[int, Row[Any]], against: Sequence[OutsideCopy]) -> Iterator[str]:
    for copy in against:
        if copy.ledger_number is None or copy.ledger_head is None:
            yield "an outside copy names no place in a ledger: it was never charged"
        elif copy.ledger_number not in known:
            yield f"act {copy.ledger_number}, known outside, is missing: the ledger was cut off or replaced"
        elif known[copy.ledger_number].hash != copy.ledger_head:
            yield f"act {copy.ledger_number} is not the one known outside: the ledger was rewritten"
        elif not _agrees(connection, copy, known[copy.ledger_number]):
            yield f"an outside copy of act {copy.ledger_number} says something else than the ledger: one was changed"


def _forks(against: Sequence[OutsideCopy]) -> Iterator[str]:
    """Compare outside copies with each other: in version 1 a release's fingerprint does not cover the hash of its place."""
    heads: dict[int, set[str | None]] = {}
    for copy in against:
        if copy.ledger_number is not None:
            heads.setdefault(copy.ledger_number, set()).add(copy.ledger_head)
    for number in sorted(number for number, hashes in heads.items() if len(hashes) > 1):
        yield f"outside copies name different hashes for act {number}: someone was shown another ledger than this"


def _agrees(connection: Connection, copy: OutsideCopy, act: Row[Any]) -> bool:
    """Compare what an outside copy says, beyond its place, with what is stored."""
    if not isinstance(copy, Receipt):
        return isinstance(copy, Release) and bool(copy.drawn_fingerprint == act.result)
    try:
        proved = copy.index is None or root_of(copy) == act.rows
        return proved and receipt_seal(copy, act.result).hash == act.hash and _is_stored(connection, copy)
    except (PromiseBroken, AttributeError, OverflowError, TypeError, ValueError):  # no receipt at all, or an edited one
        return False


def _is_stored(connection: Connection, receipt: Receipt) -> bool:
    """Compare a receipt's amounts with the rows: a receipt of nothing spent has no proof of its own."""
    query = """SELECT q.grains AS promised, c.grains AS spent, q.capped, c.answered, q.design FROM people p
        JOIN promises q ON q.person = p.person AND q.offer = :offer
        LEFT JOIN charges c ON c.offer = q.offer AND c.position = q.position WHERE p.id = :id"""
    row: Any = connection.execute(text(query), {"offer": receipt.offer, "id": receipt.id}).first()
    if row is None and is_packed(connection, receipt.offer):
        row = _in_packs(connection, receipt)
    told = (receipt.promised, receipt.spent, receipt.index is None, receipt.capped, receipt.answered, receipt.design)
    if row is None:
        return False
    return told == (row.promised, row.spent or 0, row.spent is None, row.capped, row.answered, row.design)


def _in_packs(connection: Connection, receipt: Receipt) -> Placed | None:
    """Find the amounts of a receipt where they are packed."""
    person = person_of(connection, receipt.id)
    position = -1 if person is None else int(places_of(connection, receipt.offer, np.array([person]))[0])
    if position < 0:
        return None
    offer, act = act_of(connection, receipt.offer), act_of(connection, receipt.ledger_number)
    return packed_place(connection, act, offer, position)
