"""E18–E20: one cap and shares of one limit for several questions, against solvers, searches and known answers."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

from optin.kernel.optimum import best_design
from optin.kernel.passes import ArrayLimits
from optin.kernel.sharing import SHARES, Demand, combined_price, equal_shares, integer_shares, share_out

FOUR = (1.0, 4.0, 9.0, 9.0)
INF = math.inf


def shared(limits, prices, importance=None, gaps=None):
    questions = len(prices)
    demand = Demand(tuple(prices), tuple(importance or (1.0,) * questions), tuple(gaps or (0.0,) * questions))
    return share_out(ArrayLimits(np.array(limits, dtype=float)), demand)


@pytest.mark.parametrize(
    ("limits", "prices", "cap", "theta"),
    [
        (FOUR, (8.0, 8.0), 211 / 23, 4 * 211 / 2116),
        ([0.1] * 340 + [0.5] * 430 + [1.0] * 230, (8.0,) * 10, 2.38183716075157, 4 * 0.00124313004214591),
        ([1.0] * 10 + [100.0] * 2, (64.0, 16.0), 15.4, 77 / 204),
        ([1.0], (8.0, 8.0), 33.0, 33.0),
        ([0.5] * 100 + [INF] * 100, (8.0,) * 4, 3.06, 4 * 0.00214887640449438),
    ],
)
def test_a_sheet_is_one_question_at_its_combined_price(limits, prices, cap, theta):
    found = shared(limits, prices)
    assert found.design.cap == pytest.approx(cap, rel=1e-12)
    assert found.theta == pytest.approx(theta, rel=1e-12)
    assert found.shares == pytest.approx(equal_shares(prices), rel=1e-15)


@pytest.mark.parametrize(
    ("limits", "prices", "importance", "cap", "theta", "first"),
    [
        (FOUR, (8.0, 8.0), (1.0, 4.0), 6.06989749223654, 1.38872829882030, 0.158789437489107),
        ([0.5] * 100 + [INF] * 100, (8.0, 40.0), (4.0, 1.0), 0.972075747108188, 0.0251295408045774, 0.693237744704962),
    ],
)
def test_importance_on_one_cap_has_the_known_answers(limits, prices, importance, cap, theta, first):
    found = shared(limits, prices, importance)
    assert (found.design.cap, found.theta, found.shares[0]) == pytest.approx((cap, theta, first), rel=1e-12)


@pytest.mark.parametrize(("gaps", "theta"), [((2.0, 2.0), 0.568359375), ((0.0, 2.0), 0.523644754947)])
def test_gaps_turn_the_cap_of_a_sheet_back_to_the_known_answers(gaps, theta):
    found = shared(FOUR, (8.0, 8.0), gaps=gaps)
    assert found.design.cap == pytest.approx(5.5, rel=1e-12)
    assert found.theta == pytest.approx(theta, rel=1e-11)


@given(st.lists(st.floats(1e-3, 1e3) | st.sampled_from([0.0, INF, 1.0]), min_size=1, max_size=30), st.floats(0.1, 1e4))
@settings(max_examples=examples(60))
def test_a_sheet_of_one_question_is_that_question_to_the_last_bit(limits, price):
    limits = [*limits, 0.5]
    alone = best_design(ArrayLimits(np.array(limits)), spread=1.0, kappa=price)
    assert shared(limits, (price,)).design == alone
    assert shared(limits, (price,)).shares == (1.0,)


def random_sheet(rng, *, importance, gaps):
    people, questions = int(rng.integers(1, 30)), int(rng.integers(2, 6))
    limits = rng.lognormal(0, 2, people)
    limits[rng.random(people) < 0.2] = rng.choice([0.0, INF, limits[0]])
    limits[0] = max(limits[0], 0.01) if np.isfinite(limits[0]) else 1.0
    prices = tuple(8 * 10 ** rng.uniform(-1, 2, questions))
    weights = tuple(10 ** rng.uniform(-1.5, 1.5, questions)) if importance else (1.0,) * questions
    apart = tuple(rng.choice([0.0, 0.3, 2.0], questions)) if gaps else (0.0,) * questions
    return limits, prices, weights, apart


def theta_at(cap, limits, prices, importance, gaps):
    """The least max_k m_k (v_k + gap^2 TV^2) at this cap: bisect theta until the shares it asks for add up to 1."""
    eps = np.minimum(limits, cap)
    total, squares = eps.sum(), (eps**2).sum()
    own = squares + (np.array(gaps) * np.maximum(eps - total / len(eps), 0).sum()) ** 2
    prices, importance = np.array(prices), np.array(importance)
    low = float(np.max(importance * own))
    high = float(np.max(importance * (own + combined_price(tuple(prices))))) * (1 + 1e-9)
    for _ in range(200):
        middle = (low + high) / 2
        room = middle / importance - own
        enough = bool((room > 0).all()) and np.sqrt(prices / np.where(room > 0, room, 1.0)).sum() <= 1
        low, high = (low, middle) if enough else (middle, high)
    return high / total**2


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("sheets", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_no_other_cap_serves_importance_better(gaps, sheets):
    rng = np.random.default_rng(19)
    for _ in range(sheets):
        limits, prices, importance, apart = random_sheet(rng, importance=True, gaps=gaps)
        found = shared(limits, prices, importance, apart)
        caps = np.concatenate(
            (found.design.cap * np.geomspace(1e-2, 1e2, 60), found.design.cap * (1 + np.linspace(-0.01, 0.01, 11)))
        )
        best = min(theta_at(cap, limits, prices, importance, apart) for cap in caps)
        assert found.theta <= best * (1 + 1e-9)
        assert theta_at(found.design.cap, limits, prices, importance, apart) == pytest.approx(found.theta, rel=1e-7)


def least_worst_variance(limits, prices):
    """Bisect v over second-order cone programs: does some split of everyone's limit leave room in every v_k <= v?"""
    people, questions = len(limits), len(prices)
    parts, room = cp.Variable((people, questions), nonneg=True), cp.Variable()
    root = cp.Parameter(nonneg=True)
    cones = [
        cp.norm(cp.hstack([parts[:, k], [math.sqrt(price)]])) + room <= root * cp.sum(parts[:, k])
        for k, price in enumerate(prices)
    ]
    problem = cp.Problem(cp.Maximize(room), [cp.sum(parts, axis=1) <= limits, *cones])
    low, high = 0.0, 40.0
    for _ in range(30):
        root.value = (low + high) / 2
        problem.solve(solver=cp.CLARABEL)
        low, high = (low, root.value) if room.value >= 0 else (root.value, high)
    return high**2


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow if seed > 3 else ()) for seed in range(50)])
def test_no_design_at_all_has_every_question_better(seed):
    rng = np.random.default_rng(seed)
    people, questions = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    limits, prices = rng.uniform(0.3, 6, people), tuple(rng.uniform(2, 40, questions))
    assert least_worst_variance(limits, prices) == pytest.approx(shared(limits, prices).theta, rel=2e-4)


@given(st.lists(st.floats(1e-5, 1.0), min_size=1, max_size=60))
@settings(max_examples=examples(100))
def test_integer_shares_add_up_exactly_and_are_nearest(parts):
    whole = math.fsum(parts)
    shares = tuple(part / whole for part in parts)
    found = integer_shares(shares)
    if found is not None:
        assert sum(found) == SHARES
        assert min(found) >= 1
        assert all(abs(b - share * SHARES) <= 1 for b, share in zip(found, shares, strict=True))
    else:
        assert min(shares) * SHARES < 1


@given(st.integers(0, 2**42), st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=50))
@settings(max_examples=examples(100))
def test_the_parts_of_a_promise_never_exceed_it(grains, parts):
    whole = math.fsum(parts)
    found = integer_shares(tuple(part / whole for part in parts))
    if found is not None:
        assert sum((grains * share) >> 20 for share in found) <= grains
