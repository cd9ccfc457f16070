"""The whole life of many people who stay in DuckDB, with a ledger on SQLite and one on PostgreSQL.

``python -m benchmarks scale`` takes 10^6 people, ``python -m benchmarks.scale 10000000`` ten million. Each database runs in a
process of its own, whose peak memory is printed. The bare line is what `benchmarks.ledger` writes: people, promises and charges.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import optin
from benchmarks.ledger import bare, by_key, clock
from optin import campaign
from optin.ledger import Ledger

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
PEOPLE = 10**6
BLOCK = 10**6


def main() -> None:
    """Print the ratios, memory and bytes on both databases."""
    from postgres import PostgresServer

    people = sys.argv[-1] if sys.argv[-1].isdigit() else str(PEOPLE)
    with tempfile.TemporaryDirectory() as folder:
        write_people(Path(folder) / "people.parquet", int(people))
        _in_its_own_process("SQLite", f"sqlite:///{Path(folder) / 'ledger.sqlite'}", folder, people)
        server = PostgresServer(max_wal_size="4GB").start()
        try:
            _in_its_own_process("PostgreSQL", server.new_schema(), folder, people)
        finally:
            server.remove()


def _in_its_own_process(name: str, url: str, folder: str, people: str) -> None:
    subprocess.run([sys.executable, "-m", "benchmarks.scale", "life", name, url, folder, people], check=True)


def write_people(path: Path, people: int) -> None:
    """Write people with limits, values and ids that stand in no order."""
    rng = np.random.default_rng(5)
    schema = pa.schema({"id": pa.string(), "limit": pa.float64(), "value": pa.float64(), "joined": pa.bool_()})
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, people, BLOCK):
            count = min(BLOCK, people - start)
            ids = [f"{k * 2654435761 % 2**32:08x}-{k:x}" for k in range(start, start + count)]
            columns = [ids, rng.lognormal(-1, 1, count), rng.normal(0.5, 0.2, count), rng.random(count) < 0.9]
            file.write_table(pa.table(columns, schema=schema))


def life(name: str, url: str, folder: str, people: int) -> None:
    """Go through announcement, release, verification and receipts."""
    read = optin.read(f"{folder}/people.parquet", limits="limit", engine="duckdb")
    plan = optin.plan(read, bounds=(0, 1))
    with Ledger.open(url) as ledger:
        offers = []
        announce = clock(lambda: offers.append(campaign.announce(plan, read, ledger=ledger, campaign="scale")))
        results = []
        joined = {"ledger": ledger, "joined": "joined"}
        release = clock(lambda: results.append(campaign.release(offers[0], read, "value", **joined)))
        verify = clock(lambda: results.append(ledger.verify([results[0]])))
        some = [f"{k * 2654435761 % 2**32:08x}-{k:x}" for k in np.linspace(0, people - 1, 100).astype(int).tolist()]
        receipt, key = (clock(lambda job=job: [job(ledger, each) for each in some]) for job in (Ledger.receipt, by_key))
        size = _bytes(ledger)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        written, charged = _bare(ledger, people)
    told = {
        "announce": announce / written,
        "release": release / charged,
        "verify": verify / (written + charged),
        "receipt, in reads by key": receipt / key,
        "us a person to announce": announce / people * 1e6,
        "us a person to release": release / people * 1e6,
        "us a person to verify": verify / people * 1e6,
        "bytes a person": size / people,
        "GB at most": memory,
    }
    assert results[1].ok, results[1]
    for what, number in told.items():
        print(f"{people:,} people through DuckDB, ledger on {name}: {what} {number:.2f}", flush=True)


def _bytes(ledger: Ledger) -> float:
    with ledger.engine.connect() as link:
        if link.dialect.name == "sqlite":
            link.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            return float(Path(str(ledger.engine.url.database)).stat().st_size)
        query = "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relkind = 'r' AND pg_table_is_visible(c.oid)"
        query += " AND relname IN ('acts', 'people', 'allowances', 'promises', 'returns', 'charges', 'packs')"
        return float(link.exec_driver_sql(query).scalar_one())


def _bare(ledger: Ledger, people: int) -> tuple[float, float]:
    ids, grains = (f"{k * 2654435761 % 2**32:08x}-{k:x}" for k in range(people)), range(people)
    ones = [1] * people
    written = clock(lambda: bare(ledger, "bare_people", range(people), ids, ones))
    written += clock(lambda: bare(ledger, "bare_promises", ones, range(people), range(people), grains, ones))
    return written, clock(lambda: bare(ledger, "bare_charges", ones, range(people), ones, grains))


if __name__ == "__main__":
    if sys.argv[1:2] == ["life"]:
        life(*sys.argv[2:5], people=int(sys.argv[5]))
    else:
        main()
