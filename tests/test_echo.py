"""E7 and E11: what a limit is worth at a given rate of noise, and where everyone answers to everyone."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import limit_lists
from trying import examples

import optin

UNIT = (0, 1)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(limit_lists(2, edges=False, max_size=8), st.floats(0.2, 0.9), st.data())
def test_at_a_given_eta_a_shadow_price_is_the_slope_of_the_best_variance(limits, share, data):
    limits = sorted(limits)
    eta, place = share * sum(limits), data.draw(st.integers(0, len(limits) - 1))
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=UNIT, eta=eta)
    step = 1e-6 * limits[place]
    assume(abs(limits[place] - plan.cap) > 10 * step)

    def variance(move):
        moved = [*limits]
        moved[place] += move
        return optin.plan(optin.PrivacyConstrained(moved), bounds=UNIT, eta=eta).variance

    slope = (variance(step) - variance(-step)) / (2 * step)
    assert plan.shadow_prices(people)[place] == pytest.approx(slope, rel=1e-4, abs=1e-7 * plan.variance / limits[place])


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0.2, 5.0), min_size=2, max_size=8),
    st.floats(2.0, 8.0),
    st.floats(0.1, 1.0),
    st.sampled_from([0.0, 0.1]),
    st.data(),
)
def test_a_quasi_linear_price_is_the_slope_of_the_promise_when_all_answer(costs, base, slope, slack, data):
    """Lowering one's outside option by c t raises one's limit by t, and nothing else."""
    place = data.draw(st.integers(0, len(costs) - 1))
    benefit = optin.LinearBenefit(base=base, slope=slope)

    def planned(move):
        outside = np.zeros(len(costs))
        outside[place] -= costs[place] * move
        people = optin.QuasiLinear(costs, benefit=benefit, outside=outside)
        return people, optin.plan(people, bounds=UNIT, slack=slack)

    try:
        people, plan = planned(0.0)
    except optin.Infeasible:
        assume(False)
    limits = plan.limits(people)
    step = 1e-5 * limits[place]
    assume(abs(limits[place] - plan.cap) > 100 * step)
    found = (planned(step)[1].variance - planned(-step)[1].variance) / (2 * step)
    price = plan.shadow_prices(people)[place]
    assert price == pytest.approx(found, rel=1e-3, abs=1e-6 * plan.variance / limits[place])


def test_a_price_grows_without_end_towards_a_tangency():
    """T3: one person, slope 2; base 3.5 only just carries itself."""
    prices = []
    for more in (1.0, 0.01, 0.0001):
        people = optin.QuasiLinear([1.0], benefit=optin.LinearBenefit(base=3.5 + more, slope=2.0))
        prices.append(float(-optin.plan(people, bounds=UNIT).shadow_prices(people)[0]))
    assert prices == sorted(prices)
    assert prices[-1] > 10 * prices[0]
    assert math.isfinite(prices[-1])


def test_prices_are_refused_where_a_gap_is_declared():
    people = optin.PrivacyConstrained([1.0, 4.0, 9.0, 9.0])
    with pytest.raises(optin.BadInput, match="defined with max_gap=0"):
        optin.plan(people, bounds=UNIT, max_gap=0.5).shadow_prices(people)
