"""Rules that rows keep among each other, asked of the database in a few queries; each counts what breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, text

from optin.grains.units import UNLIMITED
from optin.ledger.packed_strays import packed_strays
from optin.ledger.packs import has_packs
from optin.ledger.tallying import MOST
from optin.receipts import GROUPS, SHEETS

_BOUNDS = {"most": MOST, "unlimited": UNLIMITED, "several": SHEETS, "groups": GROUPS}
_IMPOSSIBLE = {
    "promises are of an amount that nobody can be promised": """SELECT COUNT(*) FROM promises
        WHERE NOT grains BETWEEN 0 AND :most OR NOT capped BETWEEN grains AND :most""",
    "charges are of an amount that nobody can be charged": """SELECT COUNT(*) FROM charges
        WHERE NOT grains BETWEEN 0 AND :most""",
    "allowances are below nothing or above everything": """SELECT COUNT(*) FROM allowances
        WHERE NOT grains BETWEEN 0 AND :unlimited""",
}

_PACKED = "(SELECT act FROM packs WHERE block = 0)"

_RULES = {
    "people belong to no act that registered them": f"""SELECT COUNT(*) FROM people p WHERE p.act NOT IN {_PACKED}
        AND NOT EXISTS (SELECT 1 FROM allowances a JOIN acts t ON t.number = a.act
         WHERE a.person = p.person AND a.act = p.act AND t.kind = 'register')""",  # noqa: S608 — only constants are put in
    "allowances belong to no act": """SELECT COUNT(*) FROM allowances a WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = a.act AND t.kind IN ('register', 'raise'))""",
    "first allowances were given to people who had one": """SELECT COUNT(*) FROM allowances a
        JOIN acts t ON t.number = a.act JOIN people p ON p.person = a.person WHERE t.kind = 'register' AND p.act <> a.act""",
    "promises belong to no announcement": """SELECT COUNT(*) FROM promises q WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = q.offer AND t.kind = 'announce')""",
    "promises stand at a place that was not announced": """SELECT COUNT(*) FROM promises q JOIN acts t
        ON t.number = q.offer WHERE q.position < 0 OR q.position >= t.people""",
    "holds were let go that nobody had": f"""SELECT COUNT(*) FROM returns r WHERE r.offer NOT IN {_PACKED}
        AND NOT EXISTS (SELECT 1 FROM promises q WHERE q.offer = r.offer AND q.position = r.position)""",  # noqa: S608
    "holds were let go by no act": """SELECT COUNT(*) FROM returns r WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = r.act AND t.offer = r.offer
         AND t.kind IN ('return', 'absent', 'cancel'))""",
    "charges belong to no release": """SELECT COUNT(*) FROM charges c WHERE NOT EXISTS
        (SELECT 1 FROM acts t WHERE t.number = c.act AND t.offer = c.offer AND t.kind = 'release')""",
    "charges differ from the promise": """SELECT COUNT(*) FROM charges c WHERE NOT EXISTS
        (SELECT 1 FROM promises q WHERE q.offer = c.offer AND q.position = c.position
         AND (q.grains = c.grains OR (c.answered IS NOT NULL AND c.grains < q.grains)))""",
    "promises of one question are split, or of several are not": """SELECT COUNT(*) FROM promises q
        JOIN acts t ON t.number = q.offer WHERE (q.capped IS NULL) = (t.version IN (:several, :groups))""",
    "promises to groups say none, or others say one": """SELECT COUNT(*) FROM promises q
        JOIN acts t ON t.number = q.offer WHERE (q.design IS NULL) = (t.version = :groups)""",
    "charges for one question say which, or for several do not": """SELECT COUNT(*) FROM charges c
        JOIN acts t ON t.number = c.act WHERE (c.answered IS NULL) = (t.version IN (:several, :groups))""",
    "holds were both charged and let go": """SELECT COUNT(*) FROM charges c JOIN returns r
        ON r.offer = c.offer AND r.position = c.position""",
    "holds of a closed round were neither charged nor let go": """SELECT COUNT(*) FROM promises q
        WHERE q.offer IN (SELECT offer FROM acts WHERE kind IN ('release', 'cancel'))
        AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.offer = q.offer AND c.position = q.position)
        AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position)""",
}

_BESIDE = {
    "allowances stand beside the packs of their act": f"SELECT COUNT(*) FROM allowances WHERE act IN {_PACKED}",  # noqa: S608
    "promises stand beside the packs of their announcement": f"SELECT COUNT(*) FROM promises WHERE offer IN {_PACKED}",  # noqa: S608
    "charges stand beside the packs of their release": f"""SELECT COUNT(*) FROM charges
        WHERE act IN {_PACKED} OR offer IN {_PACKED}""",  # noqa: S608
}

_UNCOVERED = """WITH events AS (
        SELECT person, offer AS act, grains AS held, -1 AS most FROM promises
        UNION ALL SELECT q.person, r.act, -q.grains, -1 FROM returns r
            JOIN promises q ON q.offer = r.offer AND q.position = r.position
        UNION ALL SELECT q.person, c.act, c.grains - q.grains, -1 FROM charges c
            JOIN promises q ON q.offer = c.offer AND q.position = c.position WHERE c.answered IS NOT NULL
        UNION ALL SELECT person, act, 0, grains FROM allowances)
    SELECT COUNT(*) FROM (SELECT SUM(held) OVER sofar AS held, MAX(most) OVER sofar AS most FROM events
        WINDOW sofar AS (PARTITION BY person ORDER BY act ROWS UNBOUNDED PRECEDING)) e
    WHERE held > most AND most < :unlimited"""
"""Walk through each person's life in the order of acts: what is held must never pass what was allowed by then. What a
release of a sheet did not charge of a promise goes back with it."""

_UNCOVERED_EXACT = """SELECT COUNT(*) FROM promises q WHERE q.offer = :offer AND q.grains > 0 AND NOT EXISTS
    (SELECT 1 FROM allowances a WHERE a.person = q.person AND a.act < q.offer AND a.grains >= :unlimited)"""


def strays(connection: Connection, exact_offers: Sequence[int]) -> Iterator[str]:
    """Count rows that break a rule; what cannot be a number is not added up."""
    impossible = list(_broken(connection, _IMPOSSIBLE))
    yield from impossible
    yield from _broken(connection, _RULES)
    if has_packs(connection):
        yield from _broken(connection, _BESIDE)
        yield from packed_strays(connection, exact_offers)
        return
    if not impossible:
        yield from _broken(connection, {"times people were promised more than their allowance was then": _UNCOVERED})
    for offer in exact_offers:
        count = connection.scalar(text(_UNCOVERED_EXACT), {"offer": offer, "unlimited": UNLIMITED})
        if count:
            yield f"{count} people with a finite allowance are in act {offer}, whose release is exact, without noise"


def _broken(connection: Connection, rules: dict[str, str]) -> Iterator[str]:
    for words, query in rules.items():
        bound = {name: value for name, value in _BOUNDS.items() if f":{name}" in query}
        count = connection.scalar(text(query), bound)
        if count:
            yield f"{count} {words}"
