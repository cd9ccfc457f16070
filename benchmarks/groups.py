"""People in public groups against the same people undivided: queries, processor time and memory of a plan and a release.

As many people as OPTIN_BENCH_PEOPLE says (10^8) lie in a Parquet file that DuckDB reads, with two threads and one gigabyte;
ten million at most are planned in memory. So many as OPTIN_BENCH_SPARK says (a million) are planned, announced and added up,
with a tenth declined and questions left out, in memory, on DuckDB and on Spark, and all integers compared.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import optin
from benchmarks.engine import MEMORY, THREADS
from benchmarks.timing import best_in_turn
from optin.agents.grouping import CHUNK, Groups
from optin.releasing.drawing import measure

PEOPLE, GROUPS = 100_000_000, 200
HELD, ON_SPARK = 10_000_000, 1_000_000
MAKE = """
import duckdb, sys
duckdb.connect(config={"threads": 2, "memory_limit": "1GB", "preserve_insertion_order": False}).execute(
    f'''copy (select i as id, exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as "limit", random() as value,
    case when random() < .1 then null when random() < .3 then 'yes' else 'no' end as break, random() < .9 as joined,
    'ward ' || cast(floor(random() * {sys.argv[3]}) as integer) as ward from range({sys.argv[2]}) t(i))
    to '{sys.argv[1]}' (format parquet)'''
)
"""
RUN = "import benchmarks.groups as own, sys; own.in_a_process(*sys.argv[1:])"


def made(folder, people):
    path = str(Path(folder) / f"{people}.parquet")
    subprocess.run([sys.executable, "-c", MAKE, path, str(people), str(GROUPS)], check=True)
    return path


def read(path, groups, engine="duckdb"):
    return optin.read(path, limits="limit", groups=groups, engine=engine, check_ids=False)


def worked(path, groups):
    """Plan, announce and release; return queries and processor seconds after each."""
    started = time.process_time()
    people = read(path, groups)
    plan = optin.plan(people, bounds=(0, 1))
    marks = [(0, started), (people.rows.session.sent, time.process_time())]
    offer = plan.announce(people)
    marks.append((people.rows.session.sent, time.process_time()))
    optin.release(offer, people, "value")
    return [*marks, (people.rows.session.sent, time.process_time())]


def in_a_process(path, few, groups):
    """Print what each step took in this process, whose memory is its own; a few people first, so that all is imported."""
    worked(few, groups or None)
    marks = worked(path, groups or None)
    queries, seconds = (np.diff([each[k] for each in marks]).tolist() for k in range(2))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"queries": queries, "seconds": seconds, "peak": peak}))


def ran(path, few, groups):
    command = [sys.executable, "-c", RUN, path, few, groups or ""]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def in_engine(table, path, few, repeats=2):
    pairs = [[ran(path, few, groups) for groups in (None, "ward")] for _ in range(repeats)]
    for at, what in enumerate(("plan", "announcement", "release")):
        queries = [str(run["queries"][at]) for run in pairs[0]]
        times = [min(pair[k]["seconds"][at] for pair in pairs) for k in range(2)]
        table.add_row(f"DuckDB, {what}", *queries, *_ratio(times, "s"))
    table.add_row(
        "DuckDB, peak memory", "", "", *_ratio([max(pair[k]["peak"] for pair in pairs) for k in range(2)], "GB")
    )


def in_memory(table, people):
    rng = np.random.default_rng(1)
    limits, codes = rng.lognormal(size=people), rng.integers(GROUPS, size=people).astype(np.uint16)
    sorted_codes = np.sort(codes)

    def planned(codes=None):
        groups = None if codes is None else Groups(tuple(map(str, range(GROUPS))), codes)
        return optin.plan(optin.PrivacyConstrained(limits, groups=groups), bounds=(0, 1))

    plain, *others = best_in_turn(
        [
            planned,
            lambda: planned(codes),
            lambda: planned(sorted_codes),
            lambda: divided(limits, codes),
            lambda: sorted_by_digits(codes),
            lambda: added_up(limits, codes),
        ]
    )
    names = (
        "plan",
        "plan, people standing group by group",
        "of it: dividing limits, and nothing else",
        "of that: sorting the codes of groups by digits",
        "instead: counts and three sums by group, and nothing else",
    )
    for name, taken in zip(names, others, strict=True):
        table.add_row(f"memory, {name}", "", "", *_ratio([1e3 * plain, 1e3 * taken], "ms"))
    held = [limits.nbytes + _most(planned), limits.nbytes + codes.nbytes + _most(lambda: planned(codes))]
    table.add_row("memory, peak with the people in it", "", "", *_ratio([each / 2**30 for each in held], "GB"))


def divided(limits, codes):
    for _ in Groups(tuple(map(str, range(GROUPS))), codes).divided(limits):
        pass


def sorted_by_digits(codes):
    for at in range(0, len(codes), CHUNK):
        np.argsort(codes[at : at + CHUNK], kind="stable")


def added_up(limits, codes):
    """Do the least that any plan by group needs if nobody is moved: who is below a bound of their group, and sums of them."""
    bounds = np.linspace(0.1, 0.2, GROUPS)
    for at in range(0, len(codes), CHUNK):
        own, tau = codes[at : at + CHUNK].astype(np.intp), limits[at : at + CHUNK]
        below = np.minimum(tau, bounds[own])
        np.bincount(own, minlength=GROUPS)
        for weights in (below, tau * (tau < below), tau * tau * (tau < below)):
            np.bincount(own, weights=weights, minlength=GROUPS)


def _most(call):
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def _ratio(both, unit):
    return *(f"{each:.2f} {unit}" for each in both), f"{both[1] / both[0]:.1f}"


SHEET = (optin.YesNo("break"), optin.Number("value", bounds=(0, 1)))


def integers_of(path, engine):
    """Return what an engine announces to each group by its own plan, and adds up over who joined: sums of A, A^2 and A z."""
    people = read(path, "ward", engine)
    offer = optin.plan(people, SHEET).announce(people)
    held = pq.read_table(path, columns=["break", "value", "joined"]) if engine == "memory" else None
    joined = "joined" if held is None else held["joined"].to_numpy()
    measured = measure(offer, people, held, joined=joined)
    return [design.exact.to_record() for design in offer.designs], [part.those.questions for part in measured.parts]


def alike(path):
    """Tell whether memory, DuckDB and Spark find the same integers for each group and question, by plans of their own."""
    first, *others = (integers_of(path, engine) for engine in ("memory", "duckdb", "spark-local"))
    return all(each == first for each in others)


def main():
    people = int(os.environ.get("OPTIN_BENCH_PEOPLE", PEOPLE))
    os.environ |= {"OPTIN_ENGINE_THREADS": THREADS, "OPTIN_ENGINE_MEMORY": MEMORY}
    head = ("processor time", "queries", "in groups", "undivided", "in groups", "ratio")
    table = Table(*head, title=f"{people:,} people in {GROUPS} groups")
    with tempfile.TemporaryDirectory() as folder:
        in_memory(table, min(people, HELD))
        few = made(folder, on_spark := int(os.environ.get("OPTIN_BENCH_SPARK", ON_SPARK)))
        in_engine(table, made(folder, people), few)
        said = f"memory, DuckDB and Spark announce and add up the same integers for {on_spark:,} people: {alike(few)}"
    Console(width=120).print(table, said)
