"""Does the ledger still say what it said? Recompute every hash, and compare with copies kept outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Row, select, text

from optin.errors import PromiseBroken
from optin.receipts import VERSION, Receipt, root_of
from optin.receipts import seal_of as receipt_seal
from optin.store.chain import GENESIS, rows_of, seal_of
from optin.store.migrations.versions.ledger_0001 import REFUSAL, guards
from optin.store.schema import APPEND_ONLY, UNLIMITED, acts

__all__ = ["OutsideCopy", "Verification", "verify"]


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
        """The fingerprint of the release, or of the announcement a receipt belongs to."""


@dataclass(frozen=True)
class Verification:
    """What a verification saw: how many acts, what is wrong, and the last act that an outside copy vouches for."""

    acts: int
    problems: tuple[str, ...]
    vouched: int

    @property
    def ok(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.problems

    def __str__(self) -> str:
        found = "; ".join(self.problems) if self.problems else "every hash agrees"
        unseen = f"what was cut off or rewritten after act {self.vouched} cannot be seen"
        if not self.vouched:
            unseen = "without an outside copy (a release or a receipt) a cut tail or a rewritten ledger cannot be seen"
        return f"{self.acts} acts: {found}. {unseen[0].upper()}{unseen[1:]}."


def verify(connection: Connection, against: Sequence[OutsideCopy] = ()) -> Verification:
    """Find changed, missing, added and (against outside copies) cut-off rows; messages name acts, never people."""
    rows = list(connection.execute(select(acts).order_by(acts.c.number)))
    known = {row.number: row for row in rows}
    problems = [
        *_broken_links(rows),
        *_changed_rows(connection, rows),
        *_strays(connection),
        *_fallen_guards(connection),
        *_torn_indexes(connection),
        *_missing(connection, known, against),
    ]
    vouched = max((int(copy.ledger_number or 0) for copy in against), default=0)
    return Verification(acts=len(rows), problems=tuple(problems), vouched=vouched)


def _broken_links(rows: Sequence[Row[Any]]) -> Iterator[str]:
    number, head = 0, GENESIS
    for place, row in enumerate(rows, start=1):
        if row.number != number + 1:
            yield f"between acts {number} and {row.number} some are missing"
        elif row.previous != head:
            yield f"act {row.number} does not follow the one before"
        if row.version != VERSION:
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


def _changed_rows(connection: Connection, rows: Sequence[Row[Any]]) -> Iterator[str]:
    for row in rows:
        if not _is_intact(row):
            continue  # said already, and its kind may mean nothing any more
        try:
            found = rows_of(connection, kind=row.kind, act=row.number, offer=row.offer, salt=row.salt)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            yield f"act {row.number} was changed: its rows or its secret cannot be read"
            continue
        if found[0] != row.people:
            yield f"act {row.number} ({row.kind}) wrote {row.people} rows, and {found[0]} are there"
        elif found[1] != row.rows:
            yield f"the rows of act {row.number} ({row.kind}) were changed"


_STRAYS = {
    "people belong to no act that registered them": """SELECT COUNT(*) FROM people p WHERE NOT EXISTS
        (SELECT 1 FROM allowances a JOIN acts t ON t.number = a.act
         WHERE a.person = p.person AND a.act = p.act AND t.kind = 'register')""",
    "allowances belong to no act": """SELECT COUNT(*) FROM allowances a WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = a.act AND t.kind IN ('register', 'raise'))""",
    "promises belong to no announcement": """SELECT COUNT(*) FROM promises q WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = q.offer AND t.kind = 'announce')""",
    "promises stand at a place that was not announced": """SELECT COUNT(*) FROM promises q JOIN acts t
        ON t.number = q.offer WHERE q.position < 0 OR q.position >= t.people""",
    "holds were let go that nobody had": """SELECT COUNT(*) FROM returns r WHERE NOT EXISTS
        (SELECT 1 FROM promises q WHERE q.offer = r.offer AND q.position = r.position)""",
    "holds were let go by no act": """SELECT COUNT(*) FROM returns r WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = r.act AND t.offer = r.offer
         AND t.kind IN ('return', 'absent', 'cancel'))""",
    "charges belong to no release": """SELECT COUNT(*) FROM charges c WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = c.act AND t.offer = c.offer AND t.kind = 'release')""",
    "charges differ from the promise": """SELECT COUNT(*) FROM charges c WHERE NOT EXISTS
        (SELECT 1 FROM promises q WHERE q.offer = c.offer AND q.position = c.position AND q.grains = c.grains)""",
    "holds were both charged and let go": """SELECT COUNT(*) FROM charges c JOIN returns r
        ON r.offer = c.offer AND r.position = c.position""",
    "people are promised more than their allowance": f"""SELECT COUNT(*) FROM
        (SELECT person, SUM(grains) AS held FROM promises q WHERE NOT EXISTS
            (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position) GROUP BY person) h
        JOIN (SELECT person, MAX(grains) AS most FROM allowances GROUP BY person) a ON a.person = h.person
        WHERE h.held > a.most AND a.most < {UNLIMITED}""",  # noqa: S608 — the only thing put in is a constant
}


def _strays(connection: Connection) -> Iterator[str]:
    for words, query in _STRAYS.items():
        count = connection.scalar(text(query))
        if count:
            yield f"{count} {words}"


def _fallen_guards(connection: Connection) -> Iterator[str]:
    """Look for what keeps rows from being changed: the triggers, word for word, and the row that every writer locks."""
    found = {(row.place, row.name): row.body for row in connection.execute(text(_GUARDS[connection.dialect.name]))}
    bare = [table for table in APPEND_ONLY if not guards_of(table, connection.dialect.name).items() <= found.items()]
    if bare:
        yield f"triggers that keep rows from being changed are missing, changed or off on {', '.join(bare)}"
    if list(connection.scalars(text("SELECT one FROM head_lock"))) != [1]:
        yield "the row that every writer locks is missing or not the only one"


def _torn_indexes(connection: Connection) -> Iterator[str]:
    """Let SQLite compare its indexes with its tables: an id missing in an index would be registered once more."""
    if connection.dialect.name == "sqlite" and connection.scalar(text("PRAGMA integrity_check(1)")) != "ok":
        yield "the file is damaged: SQLite finds that its tables and indexes disagree"


_BEFORE_UPDATE_DELETE_TRUNCATE = 2 + 8 + 16 + 32  # PostgreSQL's bits of pg_trigger.tgtype, once a statement

_GUARDS = {
    "sqlite": "SELECT tbl_name AS place, name, sql AS body FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": """SELECT c.relname AS place, t.tgname AS name, t.tgtype || p.prosrc AS body FROM pg_trigger t
        JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE c.relnamespace = CURRENT_SCHEMA()::regnamespace AND t.tgenabled IN ('O', 'A') AND t.tgqual IS NULL""",
}


def guards_of(table: str, database: str) -> dict[tuple[str, str], str]:
    """Name the triggers that the migration put on a table, each with what it does."""
    if database == "sqlite":
        return {(table, name): body for name, body in guards(table).items()}
    return {(table, f"{table}_refuses_change"): f"{_BEFORE_UPDATE_DELETE_TRUNCATE}{REFUSAL}"}


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


def _agrees(connection: Connection, copy: OutsideCopy, act: Row[Any]) -> bool:
    """Compare what an outside copy says, beyond its place, with what is stored."""
    if not isinstance(copy, Receipt):
        return bool(copy.fingerprint == act.result)
    try:
        proved = copy.index is None or root_of(copy) == act.rows
        return proved and receipt_seal(copy, act.result).hash == act.hash and _is_stored(connection, copy)
    except (PromiseBroken, AttributeError, OverflowError, TypeError, ValueError):  # no receipt at all, or an edited one
        return False


def _is_stored(connection: Connection, receipt: Receipt) -> bool:
    """Compare a receipt's amounts with the rows: a receipt of nothing spent has no proof of its own."""
    query = """SELECT q.grains AS promised, c.grains AS spent FROM people p
        JOIN promises q ON q.person = p.person AND q.offer = :offer
        LEFT JOIN charges c ON c.offer = q.offer AND c.position = q.position WHERE p.id = :id"""
    row = connection.execute(text(query), {"offer": receipt.offer, "id": receipt.id}).first()
    told = (receipt.promised, receipt.spent, receipt.index is None)
    return row is not None and told == (row.promised, row.spent or 0, row.spent is None)
