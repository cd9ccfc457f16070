"""E9-E11 for a linear benefit, against exact cubics: the least fixed point, to the last digits."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from oracles_quasilinear import linear_optimum
from quasilinear_cases import (
    M1,
    assert_backward_exact,
    line,
    linear_agents,
    plan_or_none,
    planned,
    variance_or_none,
)
from strategies import UNIT, powers, relative_error, societies, worst_error
from trying import examples

import optin

F = Fraction
many = settings(max_examples=examples(120), deadline=None, derandomize=True)
some = settings(max_examples=examples(60), deadline=None, derandomize=True)


# A linear benefit.


@many
@given(societies())
def test_a_linear_benefit_is_solved_to_twelve_digits_and_infeasibility_told_exactly(society):
    assert_backward_exact(society, plan_or_none(society))


@many
@given(societies(), powers(-0.5, 0.5))
def test_a_linear_benefit_at_a_given_eta_is_solved_to_twelve_digits(society, factor):
    free = linear_optimum(society.costs, society.base, society.slope, *society.terms, outside=society.outside)
    eta = factor * (float(free.eta) if free is not None and free.eta < inf else 1.0)
    assert_backward_exact(society, plan_or_none(society, eta=eta), eta)


@some
@given(societies())
def test_weights_epsilons_and_constants_fit_together(society):
    plan = plan_or_none(society)
    assume(plan is not None and plan.eta < inf)
    agents, costs = linear_agents(society), np.array(society.costs)
    spread = society.bounds[1] - society.bounds[0]
    epsilons, weights = plan.epsilons(agents), plan.weights(agents)
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    assert plan.variance == pytest.approx(
        society.data_variance * float(weights @ weights) + 2 * plan.noise_scale**2, rel=1e-12
    )
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(epsilons, np.minimum(plan.surplus / costs, plan.cap), rtol=1e-12)
        np.testing.assert_allclose(weights, np.minimum(plan.pooled_weight, plan.tail_constant / costs), rtol=1e-12)
        assert plan.pooled_people == int(np.sum(plan.surplus / costs >= plan.cap))
    assert plan.pooled_weight == pytest.approx(plan.cap / (spread * plan.eta), rel=1e-12)
    assert plan.tail_constant == pytest.approx(plan.surplus / (spread * plan.eta), rel=1e-12)


@many
@given(societies())
def test_everyone_gains_by_joining_at_the_promised_variance(society):
    plan = plan_or_none(society)
    assume(plan is not None)
    agents = linear_agents(society)
    assert plan.promised_variance >= plan.variance
    promised = F(society.base) - F(society.slope) * F(plan.promised_variance) - F(society.outside)
    room = (abs(F(society.base)) + abs(F(society.outside))) / 2**50
    assert promised >= F(plan.surplus) - room
    for cost, epsilon in zip(society.costs, plan.epsilons(agents).tolist(), strict=True):
        assert cost == 0 or epsilon <= plan.surplus / cost


@pytest.mark.parametrize("as_callable", [False, True])
def test_of_four_crossings_the_smallest_is_found(as_callable):
    benefit = line(17.05, 200) if as_callable else optin.LinearBenefit(base=17.05, slope=200)
    _, plan = planned(M1, benefit)
    got = [plan.variance, plan.surplus, plan.cap, plan.eta, plan.cap / plan.surplus]
    want = [0.0724891738191508, 2.552165236169844, 5.686758516660562, 19.61244078615153, 2.228209379262196]
    np.testing.assert_allclose(got, want, rtol=1e-9 if as_callable else 1e-13)


KNOWN = [
    ("tangent", M1, 17.0, 200.0, 3 / 40, 1e-12),
    ("just above the tangent", M1, 17 + 2**-20, 200.0, 0.0749874016274416, 1e-12),
    ("just below it", M1, 17 - 2**-20, 200.0, 0.0825000084770526, 1e-13),
    ("one person, tangent", [1.0], 3.5, 2.0, 0.75, 1e-12),
    ("one person, just above", [1.0], 3.5 + 2**-20, 2.0, 0.749436446237486, 1e-12),
    ("one person, just below", [1.0], 3.5 - 2**-20, 2.0, None, 0),
    ("a cost of zero", [0.0, 1.0], 0.25, 1.0, 0.25, 0),
]


@pytest.mark.parametrize(("name", "costs", "base", "slope", "variance", "error"), KNOWN)
def test_instances_with_known_answers_come_out(name, costs, base, slope, variance, error):
    got = variance_or_none(costs, optin.LinearBenefit(base=base, slope=slope))
    assert got == (variance if variance is None else pytest.approx(variance, rel=error, abs=0))


def test_at_the_tangent_the_promises_are_whole_numbers():
    agents, plan = planned(M1, optin.LinearBenefit(base=17.0, slope=200.0))
    np.testing.assert_allclose(plan.epsilons(agents), [2, 6, 6, 6], rtol=1e-7)
    assert plan.eta == pytest.approx(20, rel=1e-7)


def test_the_known_instance_at_a_given_eta_comes_out():
    agents, plan = planned([1.0, 0.25], optin.LinearBenefit(base=1.28125, slope=1.0), eta=4.0)
    got = [*plan.weights(agents), plan.variance, plan.surplus, plan.tail_constant]
    assert worst_error(got, [F(1, 4), F(3, 4), F(9, 32), F(1), F(1, 4)]) <= 1e-13


def test_people_who_lose_nothing_carry_everything_when_others_would_not_join():
    agents, plan = planned([0.0, 1.0], optin.LinearBenefit(base=0.25, slope=1.0))
    assert (plan.variance, plan.eta, plan.noise_scale) == (0.25, inf, 0)
    assert plan.weights(agents).tolist() == [1, 0]


def test_one_person_never_gives_up_privacy_for_their_own_data():
    agents = optin.QuasiLinear([0.5], benefit=optin.LinearBenefit(base=1.0, slope=1.0), outside="own-data")
    with pytest.raises(optin.Infeasible):
        optin.plan(agents, bounds=UNIT)


@some
@given(societies(outside=False))
def test_own_data_as_outside_option_is_the_benefit_of_the_data_variance(society):
    benefit = optin.LinearBenefit(base=society.base, slope=society.slope)
    number = society.base - society.slope * society.data_variance
    own = variance_or_none(society.costs, benefit, outside="own-data", **society.given)
    same = variance_or_none(society.costs, benefit, outside=number, **society.given)
    assert (own is None) == (same is None)
    assert own is None or own == pytest.approx(same, rel=1e-12)


# Found by a search over thousands of two- and three-level societies: all cross four times.
FOUR_CROSSINGS = [
    ([1.0] * 2 + [2**-8] * 5 + [2**-9] * 3, 18.0422, 571.0, 0.026956332527585534),
    ([1.0] * 2 + [2**-11] * 3, 7.19743, 83.7, 0.06336028898779211),
    ([1.0] + [2**-11] * 2, 23.3701, 186.0, 0.08728432807914413),
    ([1.0] * 2 + [2**-8] * 2 + [2**-16] * 3, 16.8476, 334.0, 0.03764683810050957),
    ([1.0] * 2 + [2**-4] * 5 + [2**-16], 0.0973263, 0.378, 0.0772202989780171),
    ([1.0] * 2 + [2**-11] * 4, 11.4106, 180.0, 0.04620737257925647),
    ([1.0, 2**-9], 10.9408, 43.3, 0.1441794124972513),
    ([1.0, 1.0, 2**-9, 2**-16], 0.0162149, 0.0628, 0.16072548272888068),
    ([1.0] * 2 + [2**-2] * 5 + [2**-13] * 2, 0.423409, 3.32, 0.06721431257379416),
]


@pytest.mark.parametrize(("costs", "base", "slope", "variance"), FOUR_CROSSINGS)
def test_among_several_crossings_the_smallest_is_found(costs, base, slope, variance):
    assert variance_or_none(costs, optin.LinearBenefit(base=base, slope=slope)) == pytest.approx(variance, rel=1e-12)
    assert variance_or_none(costs, line(base, slope)) == pytest.approx(variance, rel=1e-9)


# Many people.


def climb_by_sums(costs: np.ndarray, benefit, data_variance: float) -> float:
    """E9's climb with the sums of E10 in extended precision: one sort, then a search a step."""
    points = np.sort(1 / costs).astype(np.longdouble)
    total, squares = np.cumsum(points), np.cumsum(points**2)
    needed = points * total - squares
    variance = data_variance / len(costs)
    for _ in range(100_000):
        surplus = benefit(variance)
        assert surplus > 0
        target = 2 / (data_variance * surplus**2)
        j = int(np.searchsorted(needed, target, side="right")) - 1
        y = (target + squares[j]) / total[j]
        following = float(data_variance * y / (total[j] + (len(points) - 1 - j) * y))
        if following <= variance:
            return variance
        variance = following
    raise AssertionError("still climbing")


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["lognormal", "two levels", "heavy tail", "nearly equal"])
@pytest.mark.parametrize("slope", [1.0, 1000.0])
def test_large_societies_are_planned_as_exactly_as_small_ones(shape, slope):
    rng = np.random.default_rng(11)
    people = 150_000
    costs = {
        "lognormal": rng.lognormal(0, 1.5, people),
        "two levels": np.where(rng.random(people) < 0.9, 1.0, 2.0**-7),
        "heavy tail": rng.pareto(0.7, people) + 1e-6,
        "nearly equal": 1 + 1e-9 * rng.random(people),
    }[shape]
    expected = climb_by_sums(costs, line(0.01 + slope * 1e-4, slope), 0.25)
    _, plan = planned(costs, optin.LinearBenefit(base=0.01 + slope * 1e-4, slope=slope))
    assert plan.variance == pytest.approx(expected, rel=1e-11)
    _, called = planned(costs, line(0.01 + slope * 1e-4, slope))
    assert called.variance == pytest.approx(expected, rel=1e-9)


def test_climbing_by_sums_agrees_with_the_exact_cubics():
    costs = np.random.default_rng(4).lognormal(0, 1, 40)
    exact = linear_optimum(costs.tolist(), 3.0, 20.0, UNIT, 0.25)
    assert relative_error(climb_by_sums(costs, line(3.0, 20.0), 0.25), exact.variance) <= 1e-12
