"""The whole life of many people who stay in DuckDB, with a ledger on SQLite and one on PostgreSQL.

``python -m benchmarks scale`` takes 10^6 people, ``python -m benchmarks.scale 10000000`` ten million. Each database runs in a
process of its own, whose peak memory is printed. What each step costs is told as `benchmarks.ledger` tells it. Last comes the
command line, which announces as many rows of a CSV file, in bare lines written on SQLite.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import optin
from benchmarks.ledger import clock, costs, report
from optin import campaign
from optin.ledger import Ledger

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
PEOPLE = 10**6
BLOCK = 10**6
SCHEMA = pa.schema({"id": pa.string(), "limit": pa.float64(), "value": pa.float64(), "joined": pa.bool_()})


def main() -> None:
    """Print the ratios, memory and bytes on both databases."""
    from postgres import PostgresServer

    people = sys.argv[-1] if sys.argv[-1].isdigit() else str(PEOPLE)
    with tempfile.TemporaryDirectory() as folder:
        write_people(Path(folder), int(people))
        _in_its_own_process("SQLite", f"sqlite:///{Path(folder) / 'ledger.sqlite'}", folder, people)
        server = PostgresServer(max_wal_size="4GB").start()
        try:
            _in_its_own_process("PostgreSQL", server.new_schema(), folder, people)
        finally:
            server.remove()
        if int(people) <= PEOPLE:
            _command_line(Path(folder), int(people))


def _in_its_own_process(name: str, url: str, folder: str, people: str) -> None:
    subprocess.run([sys.executable, "-m", "benchmarks.scale", "life", name, url, folder, people], check=True)


def id_of(number: int) -> str:
    """Name a person so that names stand in no order."""
    return f"{number * 2654435761 % 2**32:08x}-{number:x}"


def write_people(folder: Path, people: int) -> None:
    """Write people with limits, values and answers, as Parquet and, where they are not too many, as CSV."""
    rng = np.random.default_rng(5)
    with pq.ParquetWriter(folder / "people.parquet", SCHEMA) as file:
        for start in range(0, people, BLOCK):
            count = min(BLOCK, people - start)
            ids = [id_of(k) for k in range(start, start + count)]
            columns = [ids, rng.lognormal(-1, 1, count), rng.normal(0.5, 0.2, count), rng.random(count) < 0.9]
            table = pa.table(columns, schema=SCHEMA)
            file.write_table(table)
            if people <= PEOPLE:
                pa_csv.write_csv(table, folder / "people.csv")


def life(name: str, url: str, folder: str, people: int) -> None:
    """Go through announcement, release, verification and receipts."""
    read = optin.read(f"{folder}/people.parquet", limits="limit", engine="duckdb")
    plan = optin.plan(read, bounds=(0, 1))
    with Ledger.open(url) as ledger:
        offers = []
        found = costs(
            ledger,
            people,
            id_of,
            lambda: offers.append(campaign.announce(plan, read, ledger=ledger, campaign="scale")),
            lambda: campaign.release(offers[0], read, "value", ledger=ledger, joined="joined"),
            lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        )
    report(f"{people:,} people through DuckDB, ledger on {name}", [found])


def _command_line(folder: Path, people: int) -> None:
    """Plan and announce a CSV file by the commands, and say what each takes of a processor."""
    optin_ = [sys.executable, "-m", "optin"]
    table, plan = str(folder / "people.csv"), str(folder / "plan.json")
    ledger, offer = str(folder / "cli.sqlite"), str(folder / "announcement.json")
    planned = ["plan", table, "--limits", "limit", "--bounds", "0", "1", "-o", plan]
    announced = ["announce", plan, table, "--ledger", ledger, "-o", offer]
    for words in (planned, announced):
        took = clock(lambda words=words: subprocess.run([*optin_, *words], check=True, capture_output=True))
        print(
            f"{people:,} rows of CSV on the command line: us a row to {words[0]} {took / people * 1e6:.2f}", flush=True
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["life"]:
        life(*sys.argv[2:5], people=int(sys.argv[5]))
    else:
        main()
