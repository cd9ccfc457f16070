"""Short words for what the ledger tests do: announce, release, count, damage."""

from types import SimpleNamespace

import numpy as np
from sqlalchemy import text

from optin.store import Terms

TABLES = ("acts", "people", "allowances", "promises", "returns", "charges")


def nth(count, start=0):
    """Ids p0, p1, …"""
    return [f"p{k}" for k in range(start, start + count)]


def terms(campaign="c"):
    return Terms(campaign, 1, f"fingerprint of {campaign}")


def announce(ledger, campaign="c", *, ids=("ann", "bob", "cy"), grains=5, allowances=8, **more):
    columns = {"grains": _column(grains, ids), "allowances": _column(allowances, ids)}
    return ledger.announce(terms(campaign), body="{}", ids=list(ids), **columns, **more)


def release(ledger, campaign="c", *, ids=("ann", "bob", "cy"), grains=5, joined=None, draw=None):
    return ledger.release(
        terms(campaign),
        ids=list(ids),
        grains=_column(grains, ids),
        joined=None if joined is None else np.asarray(joined),
        draw=draw or (lambda mask, number: (f"result {number} over {int(mask.sum())}", "its fingerprint")),
    )


def copy_of(entry, fingerprint="its fingerprint"):
    """What a published release says of its place."""
    return SimpleNamespace(ledger_number=entry.number, ledger_head=entry.head, fingerprint=fingerprint)


def _column(numbers, ids):
    return np.broadcast_to(np.asarray(numbers, dtype=np.int64), (len(ids),)).copy()


def counts(ledger):
    with ledger.engine.connect() as connection:
        return {table: connection.scalar(text(f"SELECT COUNT(*) FROM {table}")) for table in TABLES}


def spent(ledger):
    """Grains charged to each person."""
    query = """SELECT p.id, SUM(c.grains) FROM charges c
        JOIN promises q ON q.offer = c.offer AND q.position = c.position
        JOIN people p ON p.person = q.person GROUP BY p.id"""
    with ledger.engine.connect() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(text(query))}


def damage(ledger, *statements):
    """Do what only someone with full rights on the database can: switch the triggers off, change rows, cover it up."""
    with ledger.engine.connect() as connection, connection.begin():
        guards = []
        if ledger.engine.dialect.name == "sqlite":
            guards = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
        else:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        for guard in guards:
            connection.exec_driver_sql(f"DROP TRIGGER {guard.name}")
        for statement in statements:
            connection.exec_driver_sql(statement)
        for guard in guards:
            connection.exec_driver_sql(guard.sql)
