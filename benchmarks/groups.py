"""People in public groups against the same people undivided: scans, time and memory of a plan and a release."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import optin
from benchmarks.engine import MEMORY, THREADS
from benchmarks.timing import best
from optin.agents.grouping import Groups

PEOPLE, GROUPS = 100_000_000, 200
HELD = 10_000_000
MAKE = """
import duckdb, sys
duckdb.connect(config={"threads": 2, "memory_limit": "1GB", "preserve_insertion_order": False}).execute(
    f'''copy (select i as id, exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as "limit", random() as value,
    'ward ' || cast(floor(random() * {sys.argv[3]}) as integer) as ward from range({sys.argv[2]}) t(i))
    to '{sys.argv[1]}' (format parquet)'''
)
"""


def read(path, groups):
    return optin.read(path, limits="limit", groups=groups, check_ids=False)


def planned(path, groups):
    people = read(path, groups)
    optin.plan(people, bounds=(0, 1))
    return people.rows.session.sent


def released(path, groups):
    """Return a release to be timed, and the people it is of: the announcement is made beforehand."""
    people = read(path, groups)
    offer = optin.plan(people, bounds=(0, 1)).announce(people)
    return lambda: optin.release(offer, people, "value"), people


def in_engine(table, path):
    scans = [planned(path, groups) for groups in (None, "ward")]
    plain, grouped = (best(lambda g=groups: planned(path, g), repeats=2) for groups in (None, "ward"))
    table.add_row("duckdb, plan", *map(str, scans), f"{plain:.1f}", f"{grouped:.1f}", f"{grouped / plain:.1f}")
    counts, times = [], []
    for groups in (None, "ward"):
        draw, people = released(path, groups)
        before = people.rows.session.sent
        times.append(best(draw, repeats=1))
        counts.append(people.rows.session.sent - before)
    table.add_row("duckdb, release", *map(str, counts), *(f"{t:.1f}" for t in times), f"{times[1] / times[0]:.1f}")


def in_memory(table, people):
    rng = np.random.default_rng(1)
    limits = rng.lognormal(size=people)
    groups = Groups(tuple(f"ward {k:03d}" for k in range(GROUPS)), rng.integers(GROUPS, size=people).astype(np.uint16))
    plain = best(lambda: optin.plan(optin.PrivacyConstrained(limits), bounds=(0, 1)))
    grouped = best(lambda: optin.plan(optin.PrivacyConstrained(limits, groups=groups), bounds=(0, 1)))
    row = (f"memory, plan of {people:,}", "", "", f"{plain:.2f}", f"{grouped:.2f}", f"{grouped / plain:.1f}")
    table.add_row(*row)


def main():
    people = int(os.environ.get("OPTIN_BENCH_PEOPLE", PEOPLE))
    os.environ.setdefault("OPTIN_ENGINE_THREADS", THREADS)
    os.environ.setdefault("OPTIN_ENGINE_MEMORY", MEMORY)
    head = ("", "queries, undivided", "in groups", "seconds, undivided", "in groups", "ratio")
    table = Table(*head, title=f"{people:,} people in {GROUPS} groups")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "people.parquet")
        subprocess.run([sys.executable, "-c", MAKE, path, str(people), str(GROUPS)], check=True)
        in_engine(table, path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    in_memory(table, min(people, HELD))
    Console().print(table)
    Console().print(f"largest memory of this process while the engine worked: {peak:.2f} GB")
