"""What is told of people by the rank of their limits is what sorting them would tell, in memory and in an engine."""

import math

import numpy as np
import pytest
from cli_steps import optin_ok
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin.baselines import best_threshold, strictest
from optin.kernel.passes import ArrayLimits
from optin.kernel.ranks import at_rank, lowest
from optin.participation import without

many = settings(max_examples=examples(150), deadline=None, derandomize=True)
LIMITS = st.lists(
    st.one_of(st.sampled_from([0.0, math.inf, 1.0, 0.5, 0.25, 1e-3]), st.floats(1e-6, 50.0)), min_size=2, max_size=60
)


@given(LIMITS)
@many
def test_the_limit_of_a_rank_is_the_one_that_sorting_puts_there(limits):
    table = ArrayLimits(np.array(limits))
    assert [at_rank(table, rank) for rank in range(1, len(limits) + 1)] == sorted(limits)


@given(LIMITS, st.floats(1e-6, 60.0))
@many
def test_sums_over_the_lowest_are_those_of_the_sorted_epsilons(limits, cap):
    table, eps = ArrayLimits(np.array(limits)), np.minimum(np.sort(limits), cap)
    for number in range(len(limits) + 1):
        found = lowest(table, number, cap)
        assert found.count == number
        assert found.total == pytest.approx(eps[:number].sum(), rel=1e-12, abs=1e-12)
        assert found.squares == pytest.approx((eps[:number] ** 2).sum(), rel=1e-12, abs=1e-12)


@given(LIMITS.filter(lambda limits: max(limits) > 0), st.sampled_from([0.0, 0.1, 0.7]))
@many
def test_the_best_threshold_is_the_best_of_all_thresholds(limits, gap):
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=(0, 1), sd=0.1, max_gap=gap)
    falling = sorted(limits, reverse=True)
    errors = [
        0.01 / kept + (2 / (kept * limit) ** 2 if limit > 0 else math.inf) + (gap * (1 - kept / len(limits))) ** 2
        for kept, limit in enumerate(falling, 1)
    ]
    assert best_threshold(plan, people).worst_case_mse == pytest.approx(min(errors), rel=1e-9)
    assert strictest(plan, people).epsilon == min(limits)


@given(
    LIMITS.filter(lambda limits: max(limits) > 0), st.sampled_from([0.05, 0.2, 0.5, 0.9]), st.sampled_from([0.0, 0.3])
)
@many
def test_what_decliners_leave_is_what_the_sorted_epsilons_leave(limits, share, gap):
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=(0, 1), max_gap=gap)
    eps = np.sort(plan.epsilons(people))
    eps = np.isinf(eps).astype(float) if plan.noiseless else eps
    away = math.ceil(share * len(eps) - 1e-9)
    _, strict, willing = without(plan, people, share=share)
    for found, left in ((strict, eps[away:]), (willing, eps[: len(eps) - away])):
        total = left.sum()
        if not total > 0:
            assert found.variance == math.inf
            continue
        noise = 0.0 if plan.noiseless else 2.0
        assert found.variance == pytest.approx((0.25 * (left**2).sum() + noise) / total**2, rel=1e-9)
        tilt = np.maximum(left / total - 1 / len(eps), 0).sum()
        assert found.bias_bound == pytest.approx(gap * tilt, rel=1e-9, abs=1e-12)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """People with ties, none and endless limits among them."""
    rng = np.random.default_rng(5)
    limits = np.exp(rng.normal(-1, 1, 800)).round(4).tolist() + [0.0] * 20 + [0.5] * 60
    rows = [
        f"p{at},{limit},{cost}" for at, (limit, cost) in enumerate(zip(limits, rng.uniform(0.1, 4, 880), strict=True))
    ]
    path = tmp_path_factory.mktemp("ranks") / "people.csv"
    path.write_text("id,limit,cost\n" + "\n".join(rows) + "\n")
    sheet = path.with_name("sheet.toml")
    sheet.write_text(
        'title = "t"\n[[question]]\nname = "a"\nkind = "yes-no"\n[[question]]\nname = "b"\nkind = "number"\nbounds = [0, 9]\n'
    )
    return path


CASES = {
    "limits": ["--limits", "limit", "--bounds", "0", "10", "--sd", "2"],
    "a gap": ["--limits", "limit", "--bounds", "0", "10", "--sd", "2", "--max-gap", "0.5"],
    "no spread": ["--limits", "limit", "--bounds", "0", "10", "--sd", "0.01"],
    "a sheet": ["--limits", "limit", "--sheet", "sheet.toml"],
    "costs": [
        "--costs",
        "cost",
        "--bounds",
        "0",
        "10",
        "--benefit-base",
        "3",
        "--benefit-slope",
        "1",
        "--slack",
        "0.5",
    ],
}


@pytest.mark.parametrize("asked", CASES.values(), ids=CASES)
def test_a_plan_from_an_engine_prints_what_a_plan_from_memory_prints(table, asked):
    asked = [table.with_name(word) if word == "sheet.toml" else word for word in asked]
    command = ["plan", table, *asked, "--without", "20%"]
    memory, engine = (optin_ok(*command, "--engine", name) for name in ("memory", "duckdb"))
    assert "If they decline" in memory.out
    assert engine.out == memory.out
    assert engine.err == memory.err
