"""Ten questions against one: planning a million people, and releases over ten million, with thirty published numbers.

People are in memory, and then in a Parquet file that DuckDB reads with two threads and one gigabyte.
"""

import math
import os
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np

import optin
from benchmarks.engine import MEMORY, THREADS
from benchmarks.timing import best_in_turn

PLANNED, RELEASED = 10**6, 10**7
BLOCK = 10**6
WITHIN, TIMES = 1.10, 12.0


def sheet():
    """Ten questions of six kinds with thirty published numbers."""
    return optin.Sheet(
        [
            optin.Number("hours", bounds=(0, 80), sd=9),
            optin.Number("age", bounds=(16, 80)),
            optin.Score("score", items=9, each=(0, 3)),
            *(optin.YesNo(f"yes{at}") for at in range(3)),
            optin.Choice("shift", options=("early", "late", "night")),
            optin.Scale("mood", options=("very bad", "bad", "fair", "good", "very good")),
            optin.Histogram("pay", edges=(0, 1, 2, 3, 4, 5, 6, 7)),
            optin.MultipleChoice("reasons", options=("pay", "hours", "boss", "way", "other", "none"), at_most=2),
        ]
    )


def answers(people, rng):
    """Give answers as fast columns hold them: numbers, and options as categories."""
    import pandas as pd

    def options(names):
        return pd.Categorical.from_codes(rng.integers(0, len(names), people).astype(np.int8), list(names))

    asked = sheet()
    reasons = [*asked["reasons"].options, "pay; hours", "boss; way", "other; pay"]
    return {
        "hours": rng.random(people) * 80,
        "age": rng.random(people) * 80,
        "score": rng.integers(0, 28, people).astype(np.float64),
        **{f"yes{at}": rng.random(people) < 0.3 for at in range(3)},
        "shift": options(asked["shift"].options),
        "mood": options(asked["mood"].options),
        "pay": rng.random(people) * 7,
        "reasons": options(reasons),
    }


def alike(asked):
    """Give the one number whose price is the sheet's (E18): 2 R^2 / sd^2 = (sum of sqrt(C_k))^2, so that caps are equal."""
    return optin.Number("alike", bounds=(0, 1), sd=math.sqrt(2) / sum(math.sqrt(each.price) for each in asked))


def planning():
    """Compare plans: E18 is E1 at another price; the time a plan takes depends on where its cap lies among limits."""
    limits = np.random.default_rng(1).lognormal(-1, 1, PLANNED)
    agents, asked = optin.PrivacyConstrained(limits), sheet()
    single, other = alike(asked), optin.Number("hours", bounds=(0, 80), sd=9)
    caps = [optin.plan(agents, each).cap for each in (asked, single, other)]
    assert math.isclose(caps[0], caps[1], rel_tol=1e-9)
    calls = [lambda each=each: optin.plan(agents, each) for each in (asked, single, other)]
    ten, one, elsewhere = best_in_turn(calls, repeats=50)
    print(
        f"plan of ten questions / of one with the same cap {caps[0]:.3g}, {PLANNED:,} people: {ten / one:.2f} "
        f"(target <= {WITHIN:.2f}); / of one with cap {caps[2]:.3g}: {ten / elsewhere:.2f}"
    )


def releasing():
    """Compare releases in memory, answers coded and all."""
    rng = np.random.default_rng(2)
    agents, given = optin.PrivacyConstrained(rng.lognormal(-1, 1, RELEASED)), answers(RELEASED, rng)
    alone = optin.plan(agents, optin.Number("hours", bounds=(0, 80), sd=9)).announce(agents)
    asked = optin.plan(agents, sheet()).announce(agents)
    calls = [lambda: optin.release(alone, agents, given["hours"]), lambda: optin.release(asked, agents, given)]
    one, ten = best_in_turn(calls, repeats=3)
    cells = sum(len(question.cells) for question in sheet())
    print(
        f"release of ten questions ({cells} numbers) / of one, {RELEASED:,} people: {ten / one:.1f} (target <= {TIMES:g});"
        f" {ten:.1f} s of processor time against {one:.2f} s here"
    )
    tracemalloc.start()
    optin.release(asked, agents, given)
    print(f"memory taken by that release / memory of ten columns of floats: {_peak() / (80 * RELEASED):.2f}")


def releasing_in_duckdb():
    """Compare releases of people who stay in a file."""
    os.environ |= {"OPTIN_ENGINE_THREADS": THREADS, "OPTIN_ENGINE_MEMORY": MEMORY}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "people.parquet")
        write_people(path, RELEASED)
        one, ten = best_in_turn(
            [_release_in_duckdb(path, optin.Number("hours", bounds=(0, 80), sd=9)), _release_in_duckdb(path, sheet())],
            repeats=3,
        )
    print(f"the same in DuckDB: {ten / one:.1f} (target <= {TIMES:g}); {ten:.1f} s against {one:.2f} s here")


def _release_in_duckdb(path, asked):
    people = optin.read(path, limits="limit", engine="duckdb", check_ids=False)
    offer = optin.plan(people, asked).announce(people)
    return lambda: optin.release(offer, people, *(["hours"] if len(offer.sheet) == 1 else []))


def write_people(path, people):
    """Write people and their answers, options as text."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, file = np.random.default_rng(2), None
    for start in range(0, people, BLOCK):
        count = min(BLOCK, people - start)
        columns = {"id": np.arange(start, start + count).astype(str), "limit": rng.lognormal(-1, 1, count)}
        frame = pd.DataFrame(columns | answers(count, rng))
        frame = frame.astype(dict.fromkeys(("shift", "mood", "reasons"), object))
        table = pa.Table.from_pandas(frame, preserve_index=False)
        file = file or pq.ParquetWriter(path, table.schema)
        file.write_table(table)
    file.close()


def _peak():
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main():
    planning()
    releasing()
    releasing_in_duckdb()
