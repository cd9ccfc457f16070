"""People in an engine: a plan and a release against plain scans of the same columns, all in one run.

OPTIN_BENCH_PEOPLE says how many lie in the file that DuckDB reads (10^8). DuckDB works in this process: what it takes is the
processor's time, everything in turn. Spark does not, and is timed by the clock.
"""

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import optin
from benchmarks.timing import best, best_in_turn

PEOPLE = 100_000_000
ON_SPARK = 20_000_000
THREADS, MEMORY = "2", "1GB"
VARIANCES = (0.25, 1e-5, 1e-7)
MAKE = """
import duckdb, sys
duckdb.connect(config={"threads": 2, "memory_limit": "1GB", "preserve_insertion_order": False}).execute(
    f'''copy (select i as id, exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as "limit", random() as value
    from range({sys.argv[2]}) t(i)) to '{sys.argv[1]}' (format parquet)'''
)
"""


def made(folder, people):
    """Write lognormal limits and even values, by DuckDB in a process of its own."""
    path = str(Path(folder) / f"{people}.parquet")
    subprocess.run([sys.executable, "-c", MAKE, path, str(people)], check=True)
    return path


def read(path, engine):
    return optin.read(path, limits="limit", engine=engine, check_ids=False)


def planned(path, engine, variance):
    people = read(path, engine)
    optin.plan(people, bounds=(0, 1), data_variance=variance)
    return people.rows.session.sent


def planned_costs(path, engine):
    """Plan for people who weigh a cost (the same column) against a benefit."""
    benefit = optin.LinearBenefit(base=1.0, slope=1.0)
    people = optin.read(path, costs="limit", benefit=benefit, engine=engine, check_ids=False)
    optin.plan(people, bounds=(0, 1))
    return people.rows.session.sent


def certified(path, engine):
    """Return a certificate to be timed: the plan is made beforehand."""
    people = read(path, engine)
    plan = optin.plan(people, bounds=(0, 1))
    return lambda: plan.certificate(people)


def released(path, engine):
    """Return a release to be timed: the announcement is made beforehand."""
    people = read(path, engine)
    offer = optin.plan(people, bounds=(0, 1)).announce(people)
    return lambda: optin.release(offer, people, "value")


def add_rows(table, path, engine, run, source, timed):
    """Time everything, and each plan and certificate against one scan for sums, a release against one for weighted values."""
    tau = f"{quote(engine)}limit{quote(engine)}"
    plans = {f"plan, variance {each:g}": lambda each=each: planned(path, engine, each) for each in VARIANCES}
    plans["plan for people with costs"] = lambda: planned_costs(path, engine)
    named = {f"{what}, {call()} scans": call for what, call in plans.items()}
    named |= {"certificate": certified(path, engine), "release": released(path, engine)}
    plain = [f"count(*), sum({tau}), sum({tau} * {tau})", f"sum({tau} * value)"]
    scans = [lambda columns=columns: run(f"select {columns} from {source}") for columns in plain]
    sums, weighted, *times = timed([*scans, *named.values()])
    for what, taken in zip(named, times, strict=True):
        table.add_row(engine, what, f"{taken / (weighted if what == 'release' else sums):.1f}")
    table.add_row(engine, "one plain scan, seconds here", f"{sums:.2f}")


def quote(engine):
    return '"' if engine == "duckdb" else "`"


def main():
    os.environ |= {"OPTIN_ENGINE_THREADS": THREADS, "OPTIN_ENGINE_MEMORY": MEMORY}
    people = int(os.environ.get("OPTIN_BENCH_PEOPLE", PEOPLE))
    table = Table(title=f"a plan / a plain scan: DuckDB {people:,} people, Spark {ON_SPARK:,}, two threads")
    for name in ("engine", "what", "ratio"):
        table.add_column(name, justify="left" if name != "ratio" else "right")
    with tempfile.TemporaryDirectory() as folder:
        _on_duckdb(table, made(folder, people))
        table.add_row(
            "duckdb",
            "peak memory of this process, GB",
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}",
        )
        _on_spark(table, made(folder, ON_SPARK))
    Console().print(table)


def _on_duckdb(table, path):
    import duckdb

    plain = duckdb.connect(config={"threads": THREADS, "memory_limit": MEMORY})
    source, timed = f"read_parquet('{path}')", partial(best_in_turn, repeats=3)
    add_rows(table, path, "duckdb", lambda query: plain.execute(query).fetchall(), source, timed)


def _on_spark(table, path):
    from optin.engine import open_session

    plain = open_session("spark-local").backend._session
    timed = lambda calls: [best(call) for call in calls]  # noqa: E731
    add_rows(table, path, "spark-local", lambda query: plain.sql(query).collect(), f"parquet.`{path}`", timed)
