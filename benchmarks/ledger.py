"""A million people announced, released, verified and receipted, against writing the same rows with nothing around them.

The bare lines are the least a database can do: one transaction, people and promises under their keys, and charges; no checks,
no hashes, no result. A receipt is compared with reading one person by key over the same connection. Time is the processor's, of
this process and of the database server, so that a machine that does other things too says the same.
"""

import os
import resource
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
REPEATS = 1
RECEIPTS = 200
TABLES = {
    "bare_people": "person BIGINT PRIMARY KEY, id TEXT UNIQUE NOT NULL, act BIGINT",
    "bare_promises": "offer BIGINT, position BIGINT, person BIGINT, grains BIGINT, bounded BIGINT, PRIMARY KEY (offer, position)",
    "bare_charges": "offer BIGINT, position BIGINT, act BIGINT, grains BIGINT, PRIMARY KEY (offer, position)",
}
TARGETS = {
    "announce": 2,
    "release": 2,
    "verify": 1,
    "receipt, in reads by key": 100,
    "bytes a person": 60,
    "GB at most": 1.5,
}


def main() -> None:
    """Print the ratios on both databases."""
    from postgres import PostgresServer

    people = int(sys.argv[-1]) if sys.argv[-1].isdigit() else PEOPLE
    with tempfile.TemporaryDirectory() as folder:
        places = (f"sqlite:///{Path(folder) / f'ledger-{turn}.sqlite'}" for turn in range(REPEATS))
        report(f"{people:,} people in memory, SQLite", [ratios(url, people) for url in places])
    server = PostgresServer(max_wal_size="4GB").start()
    try:
        report(
            f"{people:,} people in memory, PostgreSQL", [ratios(server.new_schema(), people) for _ in range(REPEATS)]
        )
    finally:
        server.remove()


def report(name: str, found: list[dict[str, float]]) -> None:
    """Print the median of each ratio beside its target."""
    for what in found[0]:
        target = f" (target <= {TARGETS[what]})" if what in TARGETS else ""
        print(f"{name}: {what} {statistics.median(each[what] for each in found):.2f}{target}", flush=True)


def ratios(url: str, people: int) -> dict[str, float]:
    """Go through one life of a campaign of people in memory."""
    ids, grains = [_id(k) for k in range(people)], np.arange(people) * 400 % 2**40
    offer = offer_of("bench", grains)
    terms = Terms(offer.campaign, 1, offer.fingerprint)
    totals, body = np.full(people, 2**62), offer.to_sealed_json()
    with Ledger.open(url) as ledger:
        return costs(
            ledger,
            people,
            _id,
            lambda: ledger.announce(terms, body=body, ids=ids, grains=grains, allowances=totals),
            lambda: ledger.release(
                terms, ids=ids, grains=grains, draw=lambda _, number: drawn_from(offer, grains, number)
            ),
        )


def _id(number: int) -> str:
    return f"person-{number:08d}"


def costs(
    ledger: Ledger,
    people: int,
    id_of: Callable[[int], str],
    announce: Callable[[], object],
    release: Callable[[], object],
    memory: Callable[[], float] | None = None,
) -> dict[str, float]:
    """Announce, release, verify and receipt; say what each step costs in bare ones, and a person in time and bytes."""
    steps = {"announce": announce, "release": release, "verify": lambda: _verified(ledger)}
    took = {step: clock(job, ledger) for step, job in steps.items()}
    some = [id_of(at) for at in np.linspace(0, people - 1, RECEIPTS).astype(int).tolist()]
    receipt, key = (
        clock(lambda job=job: [job(ledger, each) for each in some], ledger) for job in (Ledger.receipt, _by_key)
    )
    told = {"bytes a person": _bytes(ledger) / people} | ({} if memory is None else {"GB at most": memory()})
    names = [id_of(number) for number in range(people)]
    written = clock(lambda: bare(ledger, "bare_people", range(people), names, repeat(1, people)), ledger)
    held = (repeat(2, people), range(people), range(people), range(people), repeat(0, people))
    written += clock(lambda: bare(ledger, "bare_promises", *held), ledger)
    charges = (repeat(2, people), range(people), repeat(3, people), range(people))
    charged = clock(lambda: bare(ledger, "bare_charges", *charges), ledger)
    units = {"announce": written, "release": charged, "verify": written + charged}
    return (
        {step: seconds / units[step] for step, seconds in took.items()}
        | {"receipt, in reads by key": receipt / key}
        | {f"us a person to {step}": seconds / people * 1e6 for step, seconds in took.items()}
        | {"us a person, bare": (written + charged) / people * 1e6}
        | told
    )


def _verified(ledger: Ledger) -> None:
    found = ledger.verify()
    assert found.ok, found


def clock(job: Callable[[], object], ledger: Ledger | None = None) -> float:
    """Say how many seconds of processors a job takes, here, in children, and in the server of a ledger."""
    start = _spent(ledger)
    job()
    return _spent(ledger) - start


def _spent(ledger: Ledger | None) -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    served = 0.0 if ledger is None or ledger.engine.dialect.name == "sqlite" else _served(ledger)
    return time.process_time() + children.ru_utime + children.ru_stime + served


def _served(ledger: Ledger) -> float:
    """Add up what all processes of a PostgreSQL server took, those that ended included."""
    with ledger.engine.connect() as link:
        backend = link.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    fields = [
        file.read_text().rpartition(")")[2].split() for file in Path("/proc").glob("[0-9]*/stat") if file.exists()
    ]
    mother = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1]
    ended = Path(f"/proc/{mother}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(int(each[11]) + int(each[12]) for each in fields if each[1] == mother) + sum(map(int, ended[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _by_key(ledger: Ledger, person: str) -> object:
    """Read one person by key, as one look at the ledger."""
    with ledger.engine.connect() as link:
        return link.execute(text("SELECT person FROM people WHERE id = :id"), {"id": person}).one()


def _bytes(ledger: Ledger) -> float:
    with ledger.engine.connect() as link:
        if link.dialect.name == "sqlite":
            link.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            return float(Path(str(ledger.engine.url.database)).stat().st_size)
        query = "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relkind = 'r' AND pg_table_is_visible(c.oid)"
        query += " AND relname IN ('acts', 'people', 'allowances', 'promises', 'returns', 'charges', 'packs')"
        return float(link.exec_driver_sql(query).scalar_one())


def bare(ledger: Ledger, table: str, *columns: Iterable[object]) -> None:
    """Write rows, and nothing else, in one transaction."""
    rows, marks = zip(*columns, strict=True), ", ".join("?" * (len(columns)))
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
