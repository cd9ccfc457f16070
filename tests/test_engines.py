"""One suite for all engines: the same people give the same plan, wherever their rows are kept."""

import fcntl
import math
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import optin
from optin import LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.engine import engine_for, limits, spark
from optin.formats.scratch import Scratch, remove_abandoned
from optin.kernel.bound import Tally, tally_of
from optin.kernel.optimum import Design

N = 4_000
RNG = np.random.default_rng(5)
POPULATIONS = {
    "lognormal": RNG.lognormal(0, 1.5, N),
    "levels": RNG.choice([0.1, 0.5, 1.0, 3.0], N),
    "all alike": np.full(N, 0.1),
    "wide": 10.0 ** RNG.uniform(-9, 9, N),
    "zeros and infinities": np.where(RNG.random(N) < 0.2, 0.0, np.where(RNG.random(N) < 0.2, np.inf, RNG.random(N))),
    "mostly zero": np.where(np.arange(N) % 97 == 0, RNG.random(N), 0.0),
    "edges of buckets": 1.0 + np.arange(N) % 1024 / 512 + np.where(np.arange(N) % 3 == 0, 2.0**-52, 0.0),
    "past squares": np.where(np.arange(N) % 5 == 0, 1e299, RNG.random(N)),
    "tiny": 1e-140 * RNG.random(N),
    "some without a limit": np.where(np.arange(N) % 7 == 0, np.inf, RNG.lognormal(0, 1.5, N)),
    "nearly all without a limit": np.where(np.arange(N) % 50 == 0, RNG.random(N), np.inf),
    "nobody with a limit": np.full(N, np.inf),
    "infinite and past squares": np.where(np.arange(N) % 5 == 0, 1e299, np.where(np.arange(N) % 3 == 0, np.inf, 1.0)),
}
QUESTIONS = [
    {},
    {"data_variance": 1e-5},
    {"data_variance": 1e-9},
    {"data_variance": 0.0},
    {"max_gap": 0.1},
    {"eta": 17.3},
]


SPARK = pytest.mark.xdist_group("spark")  # one worker starts Java, the others never
ENGINES = ["duckdb", pytest.param("spark-local", marks=SPARK)]


def cases(names, few):
    """Every population on DuckDB, a few on Spark, where each query takes a while."""
    return [("duckdb", name) for name in names] + [pytest.param("spark-local", name, marks=SPARK) for name in few]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Send a few thousand people down the paths of many."""
    monkeypatch.setattr(limits, "SMALL", 64)


def written(folder, parts=3, **columns):
    """Write people as Parquet in parts, one of them empty."""
    people = len(next(iter(columns.values())))
    table = pa.table({"id": [f"p{number:07}" for number in range(people)]} | columns)
    folder.mkdir()
    for part in range(parts):
        pq.write_table(
            table.slice(part * (people // parts), people if part == parts - 1 else people // parts),
            folder / f"{part}.parquet",
        )
    pq.write_table(table.slice(0, 0), folder / "empty.parquet")
    return str(folder)


def outcome(people, question):
    """Return the plan, or why there is none."""
    try:
        return optin.plan(people, bounds=(0, 1), **question)
    except optin.Infeasible as refusal:
        return refusal


def same(first, second):
    if isinstance(second, optin.Infeasible):
        assert str(first) == str(second)
        assert math.isclose(first.people_needed, second.people_needed, rel_tol=1e-11)
    else:
        alike(first, second)


def alike(first, second):
    for name in ("cap", "eta", "variance"):
        a, b = getattr(first, name), getattr(second, name)
        assert a == b or math.isclose(a, b, rel_tol=1e-11), name
    assert math.isclose(first.tilt, second.tilt, rel_tol=1e-9, abs_tol=1e-12)
    assert first.pooled_people == second.pooled_people


@pytest.mark.parametrize(("engine", "name"), cases(POPULATIONS, ["zeros and infinities", "edges of buckets"]))
def test_an_engine_plans_limits_as_arrays_are_planned(tmp_path, engine, name):
    limits = POPULATIONS[name]
    kept = optin.read(written(tmp_path / "people", limit=limits), limits="limit", engine=engine)
    in_memory = PrivacyConstrained(limits)
    for question in QUESTIONS if engine == "duckdb" else QUESTIONS[4 if name == "edges of buckets" else 3 :]:
        same(outcome(kept, question), outcome(in_memory, question))


@pytest.mark.parametrize(("engine", "name"), cases(["lognormal", "levels", "all alike", "wide"], ["lognormal"]))
def test_an_engine_plans_costs_as_arrays_are_planned(tmp_path, engine, name):
    costs = np.where(np.arange(N) % 50 == 0, 0.0, POPULATIONS[name])
    folder = written(tmp_path / "people", cost=costs)
    for benefit in (LinearBenefit(3, 900), lambda v: 3 / (1 + 300 * v)):
        kept = optin.read(folder, costs="cost", benefit=benefit, engine=engine)
        in_memory = QuasiLinear(costs, benefit=benefit)
        for question in ({}, {"eta": 500.0}, {"slack": 0.1})[: 3 if engine == "duckdb" else 1]:
            found = optin.plan(kept, bounds=(0, 1), **question)
            expected = optin.plan(in_memory, bounds=(0, 1), **question)
            alike(found, expected)
            assert math.isclose(found.promised_variance, expected.promised_variance, rel_tol=1e-11)


@pytest.mark.parametrize("engine", ENGINES)
def test_budgets_over_costs_are_limits_in_an_engine_too(tmp_path, engine):
    budgets, costs = RNG.random(N), np.where(np.arange(N) % 7 == 0, 0.0, RNG.random(N))
    budgets[:100] = 0.0
    folder = written(tmp_path / "people", budget=budgets, cost=costs)
    kept = optin.read(folder, budgets="budget", costs="cost", engine=engine)
    alike(
        optin.plan(kept, bounds=(0, 1)),
        optin.plan(PrivacyConstrained.from_budgets(budgets, costs), bounds=(0, 1)),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_over_limits_takes_three_scans_and_over_costs_five(tmp_path, engine):
    column = RNG.lognormal(0, 1, 50_000)
    folder = written(tmp_path / "people", limit=column)
    for variance in (0.25, 1e-4, 1e-7) if engine == "duckdb" else (0.01,):
        kept = optin.read(folder, limits="limit", engine=engine, check_ids=False)
        optin.plan(kept, bounds=(0, 1), data_variance=variance)
        assert kept.rows.session.sent <= 3
        weighing = optin.read(folder, costs="limit", benefit=LinearBenefit(1, 1), engine=engine, check_ids=False)
        optin.plan(weighing, bounds=(0, 1), data_variance=variance)
        assert weighing.rows.session.sent <= 5


def test_people_without_a_limit_cost_no_scan_more(tmp_path):
    limits = np.where(np.arange(50_000) % 5 == 0, math.inf, RNG.lognormal(0, 1, 50_000))
    folder = written(tmp_path / "people", limit=limits)
    for variance in (0.25, 1e-4, 1e-7):
        kept = optin.read(folder, limits="limit", check_ids=False)
        found = optin.plan(kept, bounds=(0, 1), data_variance=variance)
        assert kept.rows.session.sent <= 3
        alike(found, optin.plan(PrivacyConstrained(limits), bounds=(0, 1), data_variance=variance))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, "is missing; fill it in"),
        (math.nan, "is missing; fill it in"),
        (-1.0, "is negative; it must be 0 or more"),
        (1e301, "is finite but above 1e+300"),
    ],
)
def test_an_unusable_limit_is_named_by_id_and_counted(tmp_path, bad, words):
    refused(
        written(tmp_path / "people", limit=pa.array([1.0, 4.0, bad, 9.0, bad])), f"id p0000002: limit {words}", "1 more"
    )


def refused(source, *words, **options):
    """Say no, in words that quote nobody's limit."""
    with pytest.raises(optin.BadInput) as caught:
        optin.read(source, **({"limits": "limit"} | options))
    for word in words:
        assert word in str(caught.value)


@SPARK
def test_spark_names_an_unusable_limit_by_id_too(tmp_path):
    folder = written(tmp_path / "people", limit=pa.array([1.0, None, -4.0, math.nan]))
    refused(folder, "id p0000001: limit is missing", "3 rows cannot be used", engine="spark-local")


def test_a_certificate_over_an_engine_holds_and_refuses_other_people(tmp_path):
    limits = POPULATIONS["zeros and infinities"]
    kept = optin.read(written(tmp_path / "people", limit=limits), limits="limit")
    for question in QUESTIONS:
        plan = optin.plan(kept, bounds=(0, 1), **question)
        assert plan.certificate(kept).holds
        assert plan.certificate(PrivacyConstrained(limits)).holds
    others = optin.read(written(tmp_path / "others", limit=2 * limits), limits="limit")
    with pytest.raises(optin.BadInput, match="not the people"):
        plan.certificate(others)


@pytest.mark.parametrize(
    ("limits", "cap"),
    [
        ([0.0, 0.5, 1.0, 1.0, 2.0, math.inf], 1.0),  # some at the cap, some without any limit
        ([0.7, 0.7, 0.7], 0.7),  # everyone at the cap, which is the mean
        ([0.7, 0.8, 0.9], 0.5),  # nobody below it
        ([0.1, 0.2, 0.3], 9.0),  # nobody reaches it
        ([0.0, 1.0, math.inf], math.inf),
    ],
)
def test_what_a_sceptic_adds_up_in_an_engine_is_what_arrays_add_up_to(tmp_path, limits, cap):
    tau = np.array(limits)
    kept = optin.read(written(tmp_path / "people", limit=tau), limits="limit")
    given = np.minimum(tau, cap)
    design = Design(len(tau), cap, float(given.sum()), float(given @ given), int((tau >= cap).sum()), 0.1)
    mine, theirs = kept.tally(design), tally_of(tau, design)
    for number in fields(Tally):
        found, expected = getattr(mine, number.name), getattr(theirs, number.name)
        assert (
            found == expected if number.type == "int" else math.isclose(found, expected, rel_tol=1e-14, abs_tol=1e-15)
        )


def test_adding_up_many_equal_limits_loses_no_digit(tmp_path):
    limits = np.where(np.arange(1_000_000) % 2 == 0, 0.1, 0.7)
    kept = optin.read(written(tmp_path / "people", limit=limits), limits="limit", check_ids=False)
    for variance in (0.25, 4e-6):  # all at the cap; half of them below it
        plan = optin.plan(kept, bounds=(0, 1), data_variance=variance)
        proof = plan.certificate(kept)
        assert max(proof.weight_error, proof.claim_error, proof.gap) < 1e-14


def test_a_certificate_over_costs_in_an_engine_holds(tmp_path):
    folder = written(tmp_path / "people", cost=POPULATIONS["lognormal"])
    kept = optin.read(folder, costs="cost", benefit=LinearBenefit(3, 900))
    for question in ({}, {"eta": 500.0}, {"slack": 0.1}):
        assert optin.plan(kept, bounds=(0, 1), **question).certificate(kept).holds


def test_a_description_counts_the_same_people(tmp_path):
    limits = POPULATIONS["zeros and infinities"]
    found = optin.describe(optin.read(written(tmp_path / "people", limit=limits), limits="limit"))
    expected = optin.describe(PrivacyConstrained(limits))
    assert (found.people, found.zeros, found.infinite) == (expected.people, expected.zeros, expected.infinite)
    assert sum(b.count for b in found.buckets) == sum(b.count for b in expected.buckets)
    assert math.isclose(sum(b.total for b in found.buckets), sum(b.total for b in expected.buckets), rel_tol=1e-12)


def test_limits_sorted_in_the_file_are_planned_as_well(tmp_path):
    limits = np.sort(RNG.lognormal(0, 1.5, 30_000))
    kept = optin.read(written(tmp_path / "people", limit=limits), limits="limit")
    for variance in (0.25, 1e-6):
        alike(
            optin.plan(kept, bounds=(0, 1), data_variance=variance),
            optin.plan(PrivacyConstrained(limits), bounds=(0, 1), data_variance=variance),
        )


def test_ids_stay_text_and_are_compared(tmp_path):
    (tmp_path / "people.csv").write_text('id,limit\n7,1\n007,4\n7.0,9\n"a,b",9\n')
    assert len(optin.read(tmp_path / "people.csv", limits="limit")) == 4
    (tmp_path / "twice.csv").write_text("id,limit\n7,1\n007,4\n7,9\n")
    refused(tmp_path / "twice.csv", "id 7: 2 people have this id")
    assert len(optin.read(tmp_path / "twice.csv", limits="limit", check_ids=False)) == 3


def test_files_that_cannot_be_used_are_named_and_not_quoted(tmp_path):
    people = written(tmp_path / "people", limit=np.arange(1.0, 100.0))
    refused(people, "has no column limits; did you mean limit?", limits="limits")
    whole = (tmp_path / "people" / "0.parquet").read_bytes()
    (tmp_path / "people" / "0.parquet").write_bytes(whole[: len(whole) // 2])
    refused(people, "0.parquet is not a Parquet file, or is damaged")
    (tmp_path / "cut.csv").write_text("id,limit\na,1\nb,2\nc")
    refused(tmp_path / "cut.csv", "cut.csv line 4 has 1 column where the header has 2")
    (tmp_path / "words.csv").write_text("id,limit\na,1\nb,secret\n")
    with pytest.raises(optin.BadInput) as caught:
        optin.read(tmp_path / "words.csv", limits="limit")
    assert str(caught.value).endswith("id b: limit is not a number; write it with digits and a point")
    (tmp_path / "empty.csv").write_text("id,limit\n")
    refused(tmp_path / "empty.csv", "has a header and no rows")
    dates = written(tmp_path / "dates", limit=pa.array([0, 1], pa.date32()))
    refused(dates, "limit is stored as date, and numbers are needed")


def test_columns_that_an_engine_would_mix_up_are_refused(tmp_path):
    capitals = written(tmp_path / "capitals", limit=[1.0, 4.0], Limit=[9.0, 9.0])
    refused(capitals, "columns limit and Limit", "cannot tell apart")
    assert len(optin.read(capitals, limits="limit", engine="memory")) == 2
    mixed = written(tmp_path / "mixed", parts=1, limit=[1.0, 4.0])
    pq.write_table(pa.table({"id": ["q"], "limit": [9]}), tmp_path / "mixed" / "1.parquet")
    assert len(optin.read(mixed, limits="limit")) == 3
    refused(
        mixed, "0.parquet stores limit as float64, and", "as int64; Spark reads one type only", engine="spark-local"
    )


def test_pages_damaged_inside_a_good_file_are_no_secret(tmp_path):
    folder = written(tmp_path / "people", parts=1, limit=RNG.random(20_000))
    path = tmp_path / "people" / "0.parquet"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = b"\xff" * 2000
    path.write_bytes(bytes(content))
    with pytest.raises(optin.BadInput):
        optin.read(folder, limits="limit")


def test_an_engine_that_is_unknown_missing_or_silent_is_said_so(tmp_path, monkeypatch):
    folder = written(tmp_path / "people", limit=[1.0, 4.0])
    refused(folder, "engine nope is not known", engine="nope")
    for url in ("spark://127.0.0.1:1", "sc://127.0.0.1:1"):
        refused(folder, f"the cluster {url} does not answer", "Nothing was planned, released or charged", engine=url)
    monkeypatch.setattr("optin.extras._present", lambda name: name != "pyspark")
    refused(folder, "pip install 'optin[spark]'", engine="spark-local")


@pytest.mark.parametrize("scheme", ["sc", pytest.param("spark", marks=SPARK)])
def test_a_cluster_that_takes_the_call_and_says_nothing_is_given_up_and_the_process_ends(tmp_path, scheme):
    """In a process of its own: the engine's farewell must not wait for a cluster that is silent."""
    folder = written(tmp_path / "people", limit=[1.0, 4.0])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        job = [
            sys.executable,
            "-m",
            "optin",
            "plan",
            folder,
            "--limits",
            "limit",
            "--bounds",
            "0",
            "1",
            "--engine",
            url,
        ]
        done = subprocess.run(
            job, env=os.environ | {"OPTIN_ENGINE_PATIENCE": "1"}, timeout=600, capture_output=True, text=True
        )
    assert done.returncode == 2
    assert f"the cluster {url} does not answer" in done.stderr
    assert "Nothing was planned, released or charged" in done.stderr


@pytest.mark.parametrize("scheme", ["spark-local", "spark"])
def test_spark_without_java_says_that_it_needs_java(tmp_path, scheme):
    folder, tools = written(tmp_path / "people", limit=[1.0, 4.0]), tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "dirname", "env", "ps", "sh"):
        (tools / name).symlink_to(shutil.which(name))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = scheme if scheme == "spark-local" else f"spark://127.0.0.1:{silent.getsockname()[1]}"
        job = ["-m", "optin", "plan", folder, "--limits", "limit", "--bounds", "0", "1", "--engine", engine]
        bare = {name: text for name, text in os.environ.items() if not name.startswith("JAVA")} | {"PATH": str(tools)}
        done = subprocess.run([sys.executable, *job], env=bare, timeout=600, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"Spark does not start for engine {engine}: it needs Java 17" in done.stderr


@pytest.mark.parametrize("wrong", ["soon", "-1", "nan", "inf"])
def test_patience_is_a_number_of_seconds(tmp_path, monkeypatch, wrong):
    monkeypatch.setenv("OPTIN_ENGINE_PATIENCE", wrong)
    folder = written(tmp_path / "people", limit=[1.0, 4.0])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused(
            folder, "OPTIN_ENGINE_PATIENCE is a number of seconds", engine=f"sc://127.0.0.1:{silent.getsockname()[1]}"
        )


def test_by_itself_a_silent_cluster_is_waited_for_less_than_half_a_minute():
    assert spark.KNOCK + spark.PATIENCE < 30


def test_temporary_folders_are_private_and_removed_at_the_end_and_at_the_start(tmp_path):
    first = Scratch(tmp_path)
    abandoned = tmp_path / "optin-engine-abandoned"
    abandoned.mkdir()
    (abandoned / "in-use").touch()
    assert first.path.stat().st_mode & 0o777 == 0o700
    second = Scratch(tmp_path)
    assert not abandoned.exists()
    assert first.path.exists()
    for scratch in (first, second):
        scratch.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_yet_locked_when_another_process_starts_is_made_again(tmp_path, monkeypatch):
    """Between making the lock and taking it, someone else looks for what is abandoned."""
    lock = fcntl.flock

    def late(handle, how):
        if how == fcntl.LOCK_EX:
            monkeypatch.setattr(fcntl, "flock", lock)
            remove_abandoned(tmp_path)
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    scratch = Scratch(tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == [scratch.path.name]
    (scratch.path / "spilled").touch()
    remove_abandoned(tmp_path)
    assert (scratch.path / "spilled").exists()
    scratch.remove()


def test_an_engine_chosen_by_size_is_memory_for_few(tmp_path, monkeypatch):
    folder = written(tmp_path / "people", limit=[1.0, 4.0, 9.0])
    (tmp_path / "people.csv").write_text("id,limit\na,1\nb,2\nc,3\n")
    assert engine_for(folder) == engine_for(str(tmp_path / "people.csv")) == "memory"
    monkeypatch.setattr("optin.engine.opening.MANY", 3)
    assert engine_for(folder) == engine_for(str(tmp_path / "people.csv")) == "duckdb"


@pytest.mark.parametrize("engine", ["memory", "duckdb", pytest.param("spark-local", marks=SPARK)])
def test_ids_that_are_shared_or_missing_are_listed_beside_other_faults(tmp_path, engine):
    several = written(tmp_path / "several", id=["a", "a", None, "b", "c"], limit=[1.0, 2.0, 1.0, -1.0, 1.0])
    refused(several, "4 rows cannot be used", "id is the id of another row", "id is missing", "limit", engine=engine)
    pairs = written(tmp_path / "pairs", id=["a", "a", "b", "b", "c"], limit=[1.0, 2.0, 1.0, 1.0, 1.0])
    refused(pairs, "4 rows cannot be used", "id is the id of another row", engine=engine)
    pair = written(tmp_path / "pair", id=["a", "a", "b"], limit=[1.0, 2.0, 1.0])
    refused(pair, "2 people have this id", engine=engine)
