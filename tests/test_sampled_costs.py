"""DuckDB looks at a sample of costs first: the plan is that of memory, after two or three scans where that is enough."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optin
from optin.engine import open_session
from optin.errors import BadInput

N = 300_000
RNG = np.random.default_rng(5)
FEW_SCANS = {
    "lognormal": RNG.lognormal(0.0, 1.0, N),
    "even": RNG.random(N) + 1e-6,
    "some free": np.where(RNG.random(N) < 0.1, 0.0, RNG.lognormal(0.0, 1.0, N)),
    "a few levels": RNG.choice([0.5, 1.0, 3.0, 20.0], N),
}
OTHERS = {
    "rising": np.sort(RNG.lognormal(0.0, 3.0, N)),
    "all alike": np.full(N, 2.0),
    "nearly all free": np.where(np.arange(N) < 5, 1.0, 0.0),
    "wide": 10.0 ** RNG.uniform(-120, 120, N),
    "far too small to be squared": np.where(np.arange(N) % 7 == 0, 1e-149, 1.0),
}
LINEAR = optin.LinearBenefit(base=1.0, slope=1.0)
STEEP = optin.LinearBenefit(base=1.0, slope=2e4)


def curved(variance):
    return 1.0 - math.sqrt(variance)


def both(tmp_path, costs, benefit=LINEAR):
    pq.write_table(pa.table({"id": np.arange(len(costs)), "cost": costs}), tmp_path / "people.parquet")
    kept = optin.read(tmp_path / "people.parquet", costs="cost", benefit=benefit, engine="duckdb", check_ids=False)
    return kept, optin.QuasiLinear(costs, benefit=benefit)


def expect_alike(mine, theirs):
    assert math.isclose(mine.promised_variance, theirs.promised_variance, rel_tol=1e-12)
    assert mine.cap == theirs.cap or math.isclose(mine.cap, theirs.cap, rel_tol=1e-11)
    assert mine.pooled_people == theirs.pooled_people
    assert math.isclose(mine.tilt, theirs.tilt, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("benefit", [LINEAR, curved], ids=["linear", "curved"])
@pytest.mark.parametrize("name", FEW_SCANS)
def test_a_sample_of_costs_leads_to_the_plan_of_memory_in_three_scans(tmp_path, name, benefit):
    kept, held = both(tmp_path, FEW_SCANS[name], benefit)
    plan = optin.plan(kept, bounds=(0, 1))
    assert kept.rows.session.sent <= 3
    assert "seen" not in vars(kept)
    expect_alike(plan, optin.plan(held, bounds=(0, 1)))


@pytest.mark.parametrize("question", [{}, {"eta": 500.0}, {"slack": 0.1}, {"data_variance": 1e-4}], ids=str)
@pytest.mark.parametrize("name", [*FEW_SCANS, *OTHERS])
def test_whatever_a_sample_says_of_costs_the_plan_is_that_of_memory(tmp_path, name, question):
    kept, held = both(tmp_path, (FEW_SCANS | OTHERS)[name][::10])
    expect_alike(optin.plan(kept, bounds=(0, 1), **question), optin.plan(held, bounds=(0, 1), **question))


def test_where_people_gain_less_and_less_the_solution_is_looked_for_everywhere(tmp_path):
    kept, held = both(tmp_path, FEW_SCANS["lognormal"][:30_000], STEEP)
    expect_alike(optin.plan(kept, bounds=(0, 1)), optin.plan(held, bounds=(0, 1)))


@pytest.mark.parametrize("odd", [-1.0, math.nan, math.inf, None, 1e-200, 1e301])
def test_a_cost_that_cannot_be_used_is_refused_when_it_is_read(tmp_path, odd):
    table = pa.table({"id": ["a", "b", "c"] * 4000, "cost": [1.0, odd, 2.0] * 4000})
    pq.write_table(table, tmp_path / "people.parquet")
    with pytest.raises(BadInput, match="cost"):
        optin.read(tmp_path / "people.parquet", costs="cost", benefit=LINEAR, engine="duckdb", check_ids=False)


def test_a_certificate_of_costs_needs_no_scan_for_each_step(tmp_path):
    kept, _ = both(tmp_path, FEW_SCANS["lognormal"])
    plan = optin.plan(kept, bounds=(0, 1))
    before = kept.rows.session.sent
    assert plan.certificate(kept).holds
    assert kept.rows.session.sent <= before + 4


floats = st.floats(min_value=0.0, allow_nan=False)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.tuples(floats, floats), min_size=1, max_size=20))
def test_duckdb_tells_what_is_below_a_bound_as_python_does(pairs):
    import ibis

    numbers = [
        each for pair in pairs for each in (*pair, math.nextafter(pair[1], math.inf), math.nextafter(pair[1], 0.0))
    ]
    with open_session("duckdb") as session:
        table = ibis.memtable(pa.table({"tau": pa.array(numbers, pa.float64())}))
        for _, bound in pairs:
            found = session.fetch(table.select(below=session.below(table.tau, bound)), about="numbers")
            assert found["below"].to_pylist() == [number < bound for number in numbers]
