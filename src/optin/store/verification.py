"""Does the ledger still say what it said? Recompute every hash, and compare with copies kept outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Row, select, text

from optin.receipts import VERSION, Receipt, root_of
from optin.receipts import seal_of as receipt_seal
from optin.store.chain import GENESIS, rows_of, seal_of
from optin.store.schema import UNLIMITED, acts

__all__ = ["OutsideCopy", "Verification", "verify"]


class OutsideCopy(Protocol):
    """Anything that names a place in the ledger: a release or a receipt."""

    @property
    def ledger_number(self) -> int | None:
        """Which act it names."""

    @property
    def ledger_head(self) -> str | None:
        """The hash of the chain up to that act."""


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
    problems = [*_broken_links(rows), *_changed_rows(connection, rows), *_strays(connection), *_missing(known, against)]
    vouched = max((int(copy.ledger_number or 0) for copy in against), default=0)
    return Verification(acts=len(rows), problems=tuple(problems), vouched=vouched)


def _broken_links(rows: Sequence[Row[Any]]) -> Iterator[str]:
    number, head = 0, GENESIS
    for row in rows:
        if row.number != number + 1:
            yield f"between acts {number} and {row.number} some are missing"
        elif row.previous != head:
            yield f"act {row.number} does not follow the one before"
        if row.version != VERSION:
            yield f"act {row.number} has a version this optin does not know"
        elif seal_of(row).hash != row.hash:
            yield f"act {row.number} was changed"
        number, head = row.number, row.hash


def _changed_rows(connection: Connection, rows: Sequence[Row[Any]]) -> Iterator[str]:
    for row in rows:
        if seal_of(row).hash != row.hash:
            continue  # said already, and its kind may mean nothing any more
        try:
            found = rows_of(connection, kind=row.kind, act=row.number, offer=row.offer, salt=row.salt)
        except (KeyError, ValueError):
            yield f"the secret of act {row.number} ({row.kind}) was changed"
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


def _missing(known: dict[int, Row[Any]], against: Sequence[OutsideCopy]) -> Iterator[str]:
    for copy in against:
        if copy.ledger_number is None or copy.ledger_head is None:
            yield "an outside copy names no place in a ledger: it was never charged"
        elif copy.ledger_number not in known:
            yield f"act {copy.ledger_number}, known outside, is missing: the ledger was cut off or replaced"
        elif known[copy.ledger_number].hash != copy.ledger_head:
            yield f"act {copy.ledger_number} is not the one known outside: the ledger was rewritten"
        elif not _agrees(copy, known[copy.ledger_number]):
            yield f"an outside copy of act {copy.ledger_number} says something else than the ledger: one was changed"


def _agrees(copy: OutsideCopy, act: Row[Any]) -> bool:
    """Compare what an outside copy says, beyond its place, with what is stored."""
    if isinstance(copy, Receipt):
        proved = copy.index is None or (copy.spent == copy.promised and root_of(copy) == act.rows)
        return proved and receipt_seal(copy, act.result).hash == act.hash
    return bool(getattr(copy, "fingerprint", None) == act.result)
