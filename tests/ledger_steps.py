"""Short words for what the ledger tests do: announce, release, count, damage."""

import numpy as np
from sqlalchemy import text

TABLES = ("acts", "people", "allowances", "promises", "returns", "charges")


def nth(count, start=0):
    """Ids p0, p1, …"""
    return [f"p{k}" for k in range(start, start + count)]


def announce(ledger, campaign="c", *, ids=("ann", "bob", "cy"), grains=5, allowances=8, round=1, **more):
    ids = list(ids)
    return ledger.announce(
        campaign=campaign,
        round=round,
        fingerprint=f"fingerprint of {campaign} {round}",
        body="{}",
        ids=ids,
        grains=np.broadcast_to(np.asarray(grains, dtype=np.int64), (len(ids),)).copy(),
        allowances=np.broadcast_to(np.asarray(allowances, dtype=np.int64), (len(ids),)).copy(),
        **more,
    )


def release(ledger, campaign="c", *, ids=("ann", "bob", "cy"), grains=5, joined=None, draw=None, round=1, **more):
    ids = list(ids)
    more.setdefault("fingerprint", f"fingerprint of {campaign} {round}")
    return ledger.release(
        campaign=campaign,
        round=round,
        ids=ids,
        grains=np.broadcast_to(np.asarray(grains, dtype=np.int64), (len(ids),)).copy(),
        joined=None if joined is None else np.asarray(joined),
        draw=draw or (lambda mask, number: f"result {number} over {int(mask.sum())}"),
        **more,
    )


def let_go(ledger, ids, campaign="c", round=1):
    return ledger.let_go(campaign=campaign, round=round, fingerprint=f"fingerprint of {campaign} {round}", ids=ids)


def cancel(ledger, campaign="c", round=1):
    return ledger.cancel(campaign=campaign, round=round, fingerprint=f"fingerprint of {campaign} {round}")


def counts(ledger):
    with ledger.engine.connect() as connection:
        return {table: connection.scalar(text(f"SELECT COUNT(*) FROM {table}")) for table in TABLES}


def spent(ledger):
    """Grains charged to each person."""
    query = """SELECT p.id, SUM(c.grains) FROM charges c JOIN promises q ON q.offer = c.offer AND q.position = c.position
        JOIN people p ON p.person = q.person GROUP BY p.id"""
    with ledger.engine.connect() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(text(query))}


def damage(ledger, *statements):
    """Do what only someone with full rights on the database can: switch the triggers off and change rows."""
    with ledger.engine.connect() as connection, connection.begin():
        if ledger.engine.dialect.name == "sqlite":
            for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
                connection.execute(text(f"DROP TRIGGER {name}"))
        else:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        for statement in statements:
            connection.execute(text(statement))
