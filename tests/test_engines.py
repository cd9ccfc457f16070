"""One suite for all engines: the same people give the same plan, wherever their rows are kept."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import optin
from optin import LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.engine import tables

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
    monkeypatch.setattr(tables, "SMALL", 64)


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
    for question in QUESTIONS if engine == "duckdb" else QUESTIONS[3:]:
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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, "is missing; fill it in"),
        (math.nan, "is missing; fill it in"),
        (-1.0, "is negative; it must be 0 or more"),
        (1e301, "is finite but above 1e+300"),
    ],
)
def test_an_unusable_limit_is_named_by_id_and_counted(tmp_path, engine, bad, words):
    limits = [1.0, 4.0, bad, 9.0, bad]
    folder = written(tmp_path / "people", limit=pa.array(limits, from_pandas=False))
    with pytest.raises(optin.BadInput) as caught:
        optin.read(folder, limits="limit", engine=engine)
    assert f"id p0000002: limit {words}" in str(caught.value)
    assert "(1 more)" in str(caught.value)
