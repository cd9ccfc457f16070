"""A million people announced, released, verified and receipted, against writing the same rows with nothing around them.

The bare lines are the least a database can do: one transaction, people and promises under their keys, and charges; no checks,
no hashes, no result. A receipt is compared with reading one person by key over the same connection.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import repeat
from pathlib import Path

import numpy as np
from sqlalchemy import text

from optin.ledger import Ledger, Terms

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from ledger_steps import drawn_from, offer_of

PEOPLE = 10**6
REPEATS = 3
RECEIPTS = 200
TABLES = {
    "bare_people": "person BIGINT PRIMARY KEY, id TEXT UNIQUE NOT NULL, act BIGINT",
    "bare_promises": "offer BIGINT, position BIGINT, person BIGINT, grains BIGINT, bounded BIGINT, PRIMARY KEY (offer, position)",
    "bare_charges": "offer BIGINT, position BIGINT, act BIGINT, grains BIGINT, PRIMARY KEY (offer, position)",
}
TARGETS = {"announce": 2, "release": 2, "verify": 1, "receipt": 100}


def main() -> None:
    """Print the ratios on both databases."""
    from postgres import PostgresServer

    people = int(sys.argv[-1]) if sys.argv[-1].isdigit() else PEOPLE
    with tempfile.TemporaryDirectory() as folder:
        places = (f"sqlite:///{Path(folder) / f'ledger-{turn}.sqlite'}" for turn in range(REPEATS))
        report("SQLite, in executemany", [ratios(url, people) for url in places])
    server = PostgresServer(max_wal_size="4GB").start()
    try:
        report("PostgreSQL, in COPY", [ratios(server.new_schema(), people) for _ in range(REPEATS)])
    finally:
        server.remove()


def report(name: str, found: list[dict[str, float]]) -> None:
    """Print the median of each ratio beside its target."""
    for what in found[0]:
        target = f" (target <= {TARGETS[what]})" if what in TARGETS else ""
        print(f"{name}: {what} {statistics.median(each[what] for each in found):.2f}{target}", flush=True)


def ratios(url: str, people: int) -> dict[str, float]:
    """Go through one life of a campaign, and say what each step costs in the bare one."""
    ids, grains = [f"person-{k:08d}" for k in range(people)], np.arange(people) * 400
    offer = offer_of("bench", grains)
    terms = Terms(offer.campaign, 1, offer.fingerprint)
    totals, body = np.full(people, 2**62), offer.to_sealed_json()
    with Ledger.open(url) as ledger:
        written = clock(lambda: bare(ledger, "bare_people", range(people), ids, repeat(1, people)))
        held = (repeat(2, people), range(people), range(people), grains.tolist(), repeat(0, people))
        written += clock(lambda: bare(ledger, "bare_promises", *held))
        charged = clock(
            lambda: bare(ledger, "bare_charges", repeat(2, people), range(people), repeat(3, people), grains.tolist())
        )
        announce = clock(lambda: ledger.announce(terms, body=body, ids=ids, grains=grains, allowances=totals))
        draw = {"draw": lambda _, number: drawn_from(offer, grains, number)}
        release = clock(lambda: ledger.release(terms, ids=ids, grains=grains, **draw))
        verify = clock(ledger.verify)
        some = [ids[at] for at in np.linspace(0, people - 1, RECEIPTS).astype(int)]
        receipt, key = (clock(lambda job=job: [job(ledger, each) for each in some]) for job in (Ledger.receipt, by_key))
    return {
        "announce": announce / written,
        "release": release / charged,
        "verify": verify / (written + charged),
        "receipt": receipt / key,
        "us a person to announce": announce / people * 1e6,
        "us a person to release": release / people * 1e6,
        "us a person to verify": verify / people * 1e6,
    }


def clock(job: Callable[[], object]) -> float:
    """Say how many seconds a job takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def by_key(ledger: Ledger, person: str) -> object:
    """Read one person by key, as one look at the ledger."""
    with ledger.engine.connect() as link:
        return link.execute(text("SELECT person FROM people WHERE id = :id"), {"id": person}).one()


def bare(ledger: Ledger, table: str, *columns: Iterable[object]) -> None:
    """Write rows, and nothing else, in one transaction."""
    rows, marks = list(zip(*columns, strict=True)), ", ".join("?" * (len(columns)))
    with ledger.engine.connect() as link, link.begin():
        if link.dialect.name == "sqlite":
            link.exec_driver_sql("BEGIN IMMEDIATE")
            link.exec_driver_sql(f"CREATE TABLE {table} ({TABLES[table]}) WITHOUT ROWID")
            link.connection.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            return
        link.exec_driver_sql(f"CREATE TABLE {table} ({TABLES[table]})")
        with link.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


if __name__ == "__main__":
    main()
