"""What keeps a table append-only, in SQL: migrations hang it onto tables, and verifying looks whether it is still there.

It stands apart from the migrations because these load alembic, which a service that finds its tables up to date does not need.
"""

from __future__ import annotations

UNIQUE = {
    "acts": (
        "number = NEW.number",
        "NEW.kind = 'announce' AND kind = 'announce' AND campaign = NEW.campaign AND round = NEW.round",
        "NEW.kind IN ('release', 'cancel') AND kind IN ('release', 'cancel') AND offer = NEW.offer",
    ),
    "people": ("person = NEW.person", "id = NEW.id"),
    "allowances": ("person = NEW.person AND act = NEW.act",),
    "promises": ("offer = NEW.offer AND position = NEW.position", "person = NEW.person AND offer = NEW.offer"),
    "returns": ("offer = NEW.offer AND position = NEW.position",),
    "charges": ("offer = NEW.offer AND position = NEW.position",),
    "packs": ("act = NEW.act AND part = NEW.part AND block = NEW.block", "rowid = NEW.rowid"),
    "head_lock": ("one = NEW.one",),
    "checkpoints": ("size = NEW.size AND verifier = NEW.verifier",),
    "cosignatures": ("size = NEW.size AND verifier = NEW.verifier",),
    "successions": ("number = NEW.number",),
}


REFUSAL = " BEGIN RAISE EXCEPTION 'the ledger is append-only'; END "


def guards(table: str) -> dict[str, str]:
    """Write SQLite's triggers of a table, by name.

    A row whose key exists is refused too: REPLACE deletes the old one, and by default no trigger on DELETE hears of it.
    """
    exists = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {key})" for key in UNIQUE[table])  # noqa: S608
    moments = {
        "replace": f"INSERT ON {table} WHEN {exists}",
        "update": f"UPDATE ON {table}",
        "delete": f"DELETE ON {table}",
    }
    return {
        f"{table}_refuses_{verb}": f"CREATE TRIGGER {table}_refuses_{verb} BEFORE {moment} "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
        for verb, moment in moments.items()
    }
