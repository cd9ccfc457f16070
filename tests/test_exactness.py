"""E1-E8 against rational arithmetic: what the planner says is what the mathematics says, to the last digits."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import cap_of, enumerate_t, exact_all, kkt_residuals, optimum, optimum_at_eta, span, tilt
from strategies import (
    UNIT,
    Population,
    any_bounds,
    limit_lists,
    populations,
    populations_on_a_breakpoint,
    powers,
    relative_error,
    worst_error,
)
from trying import examples

import optin
from optin.kernel.optimum import best_design
from optin.kernel.passes import ArrayLimits

F = Fraction
many = settings(max_examples=examples(120), deadline=None, derandomize=True)
some = settings(max_examples=examples(80), deadline=None, derandomize=True)


def planned(population: Population, **more):
    agents = optin.PrivacyConstrained(population.limits)
    return agents, optin.plan(agents, **population.given, **more)


def largest_error(population: Population, design, **more) -> float:
    """The largest relative error among cap, eta, noise scale, variance, epsilons and weights."""
    agents, plan = planned(population, **more)
    scale = 1 / design.eta if design.eta < inf else 0
    numbers = [(plan.eta, design.eta), (plan.noise_scale, scale), (plan.variance, design.variance)]
    if not more:  # at a fixed eta that uses every limit up, any larger cap says the same
        numbers.append((plan.cap, design.cap))
    return max(
        worst_error(plan.epsilons(agents), design.epsilons),
        worst_error(plan.weights(agents), design.weights),
        *(relative_error(got, want) for got, want in numbers),
    )


# The oracle itself: it must satisfy optimality conditions that do not know E1, and agree with the paper's algorithm.


@many
@given(populations(max_size=10))
def test_the_oracle_satisfies_the_optimality_conditions_exactly(population):
    design = optimum(population.limits, *population.terms)
    if design.cap < inf:
        tau, (bounds, variance) = exact_all(population.limits), population.terms
        assert not any(kkt_residuals(design, tau, span(bounds), variance))


@many
@given(populations(max_size=10))
def test_the_papers_enumeration_over_t_finds_the_same_optimum_exactly(population):
    design = optimum(population.limits, *population.terms)
    candidate = enumerate_t(population.limits, *population.terms)
    assert candidate.variance == design.variance
    if population.exact_variance > 0:
        assert candidate.total == (inf if design.eta == inf else design.eta * span(population.bounds))


# The planner.


@many
@given(populations(decades=6))
def test_limits_within_a_millionth_and_a_million_are_planned_to_twelve_digits(population):
    assert largest_error(population, optimum(population.limits, *population.terms)) <= 1e-12


@many
@given(populations(decades=12))
def test_limits_within_24_decades_are_planned_to_nine_digits(population):
    assert largest_error(population, optimum(population.limits, *population.terms)) <= 1e-9


@many
@given(populations_on_a_breakpoint())
def test_a_root_on_a_breakpoint_is_found_exactly(case):
    population, cap = case
    _, plan = planned(population)
    assert plan.cap == cap
    assert plan.pooled_people == sum(limit >= cap for limit in population.limits)
    assert largest_error(population, optimum(population.limits, *population.terms)) <= 1e-15


@many
@given(populations(decades=12), st.floats(0.01, 1), st.floats(0, 1))
def test_nobody_is_ever_charged_beyond_their_limit(population, share, gap):
    limits = np.array(population.limits)
    finite = float(limits[np.isfinite(limits)].sum())
    spread = population.bounds[1] - population.bounds[0]
    variants = [{}, {"max_gap": gap * spread}]
    if finite > 0:
        variants.append({"eta": share * finite / spread * (1 - 1e-9)})
    for more in variants:
        agents, plan = planned(population, **more)
        assert np.all(plan.epsilons(agents) <= limits)


@some
@given(populations())
def test_every_attribute_means_what_the_contract_says(population):
    agents, plan = planned(population)
    design = optimum(population.limits, *population.terms)
    spread = float(span(population.bounds))
    assert plan.people == len(population.limits)
    assert plan.standard_error == pytest.approx(float(design.variance) ** 0.5, rel=1e-12)
    assert plan.tilt == pytest.approx(float(tilt(design.weights)), abs=1e-12)
    assert plan.bias_bound == 0
    assert plan.worst_case_mse == plan.variance
    assert plan.surplus is None
    assert plan.promised_variance is None
    if design.variance > 0:
        assert plan.effective_people == pytest.approx(float(population.exact_variance / design.variance), rel=1e-12)
    if design.cap < inf:
        assert plan.pooled_people == sum(limit >= plan.cap for limit in population.limits)
        assert plan.pooled_weight == pytest.approx(plan.cap / (spread * plan.eta), rel=1e-12)
        expected = np.minimum(plan.pooled_weight, plan.tail_constant * np.array(population.limits))
        np.testing.assert_allclose(plan.weights(agents), expected, rtol=1e-12)


KNOWN = [
    ((1, 4, 9, 9), UNIT, None, 5, F(1, 12)),
    ((1, 4, 5, 9), UNIT, None, 5, F(1, 12)),
    ((2, 2, 2), UNIT, None, F(10, 3), F(5, 36)),
    ((1, 1, 1), UNIT, None, F(11, 3), F(11, 36)),
    ((1,), UNIT, None, 9, F(9, 4)),
    ((1, 9), UNIT, None, 9, F(9, 40)),
    ((2, 6, 6), (0.0, 2.0), 1.0, 6, F(3, 7)),
    ((0, inf), UNIT, None, inf, F(1, 4)),
    ((inf, inf, 0, inf), UNIT, None, inf, F(1, 12)),
    ((1, 3), UNIT, 0.0, inf, F(2, 16)),
]


@pytest.mark.parametrize(("limits", "bounds", "data_variance", "cap", "variance"), KNOWN)
def test_instances_with_known_answers_come_out(limits, bounds, data_variance, cap, variance):
    plan = optin.plan(optin.PrivacyConstrained(limits), bounds=bounds, data_variance=data_variance)
    assert relative_error(plan.cap, cap) <= 1e-15
    assert relative_error(plan.variance, variance) <= 1e-15


def test_the_worked_example_is_exact_in_every_number():
    agents = optin.PrivacyConstrained([1, 4, 9, 9])
    plan = optin.plan(agents, bounds=UNIT)
    assert (plan.cap, plan.eta, plan.noise_scale, plan.pooled_people) == (5, 15, 1 / 15, 2)
    assert plan.epsilons(agents).tolist() == [1, 4, 5, 5]
    assert worst_error(plan.weights(agents), [F(1, 15), F(4, 15), F(1, 3), F(1, 3)]) <= 1e-15
    assert relative_error(plan.tilt, F(11, 60)) <= 1e-15


def test_people_without_limits_need_no_noise_and_share_the_weight_equally():
    agents = optin.PrivacyConstrained([inf, 0, inf])
    plan = optin.plan(agents, bounds=(0.0, 4.0))
    assert (plan.eta, plan.noise_scale, plan.variance) == (inf, 0, 2)
    assert plan.weights(agents).tolist() == [0.5, 0, 0.5]
    assert plan.epsilons(agents).tolist() == [inf, 0, inf]


def test_without_variance_an_unlimited_person_makes_the_mean_exact():
    agents = optin.PrivacyConstrained([1, inf])
    plan = optin.plan(agents, bounds=UNIT, data_variance=0.0)
    assert (plan.variance, plan.eta) == (0, inf)
    assert plan.weights(agents).tolist() == [0, 1]


def test_nothing_can_be_planned_when_every_limit_is_zero():
    with pytest.raises(optin.Infeasible):
        optin.plan(optin.PrivacyConstrained([0, 0]), bounds=UNIT)


@some
@given(powers(-6, 6), st.integers(1, 40), any_bounds())
def test_people_who_are_all_alike_are_never_pooled_and_spend_their_limits(limit, people, bounds):
    population = Population([limit] * people, bounds)
    agents, plan = planned(population)
    assert plan.cap > limit
    assert plan.pooled_people == 0
    assert np.all(plan.epsilons(agents) == limit)
    assert largest_error(population, optimum(population.limits, *population.terms)) <= 1e-12


@some
@given(st.integers(-140, 140), limit_lists(2, edges=False, max_size=8))
def test_limits_of_any_magnitude_neither_overflow_nor_vanish(power, limits):
    population = Population([limit * 10.0**power for limit in limits])
    assert largest_error(population, optimum(population.limits, *population.terms)) <= 1e-12


def test_a_budget_over_a_cost_is_a_limit_and_nothing_over_nothing_is_none():
    agents = optin.PrivacyConstrained.from_budgets([2, 8, 0, 9, 0], [2, 2, 0, 1, 5])
    assert agents.limits.tolist() == [1, 4, inf, 9, 0]
    same = optin.plan(optin.PrivacyConstrained([1, 4, inf, 9, 0]), bounds=UNIT)
    assert optin.plan(agents, bounds=UNIT).variance == same.variance


@some
@given(populations(decades=6, edges=False, max_size=12), powers(-2, 2))
def test_the_kernel_is_exact_for_every_noise_constant(population, kappa):
    variance = population.exact_variance / span(population.bounds) ** 2
    share = float(variance)
    design = optimum(population.limits, UNIT, share, F(kappa))
    found = best_design(ArrayLimits(np.array(population.limits)), spread=share, kappa=kappa)
    errors = [(found.cap, design.cap), (found.reach, design.eta), (found.variance, design.variance)]
    assert max(relative_error(got, want) for got, want in errors) <= 1e-12


# Shadow prices (E7).


@some
@example(Population([2e4]))
@example(Population([1e5]))
@given(populations(edges=False, max_size=8))
def test_a_shadow_price_is_the_slope_of_the_optimal_variance(population):
    agents, plan = planned(population)
    tau, (bounds, variance) = exact_all(population.limits), population.terms
    design = optimum(population.limits, *population.terms)
    factor = -2 * variance / (design.eta * span(bounds)) ** 2
    exact_prices = [factor * max(design.cap - t, 0) for t in tau]
    scale = float(max(abs(price) for price in exact_prices))
    # a price is the difference of a cap, which is a float, and a limit
    rounded = float(-factor * design.cap) * 2.0**-52
    prices = plan.shadow_prices(agents)
    wanted = [float(price) for price in exact_prices]
    np.testing.assert_allclose(prices, wanted, rtol=1e-9, atol=1e-12 * scale + rounded)
    for i in range(len(tau)):
        step = tau[i] / 2**90  # all is exact, and the slope of a price can be steep
        moved = optimum([*tau[:i], tau[i] + step, *tau[i + 1 :]], bounds, variance)
        slope = (moved.variance - design.variance) / step
        assert float(slope) == pytest.approx(prices[i], rel=1e-6, abs=1e-9 * scale + rounded)


def test_the_cap_falls_and_then_rises_as_one_limit_grows():
    caps = [optin.plan(optin.PrivacyConstrained([limit, 9, 9]), bounds=UNIT).cap for limit in (1.0, 2.0, 2.5, 3.5, 4.5)]
    assert caps[0] > caps[1] > caps[2]
    assert caps[2] < caps[3] < caps[4]


# A given eta (E8).


@many
@given(populations(decades=6, max_size=12), st.floats(1e-3, 1 - 1e-6))
def test_the_best_weights_at_a_given_eta_are_exact_to_twelve_digits(population, share):
    finite = [limit for limit in population.limits if limit < inf]
    eta = share * (fsum(finite) or 1.0) / (population.bounds[1] - population.bounds[0])
    design = optimum_at_eta(population.limits, eta, *population.terms)
    assert largest_error(population, design, eta=eta) <= 1e-12
    _, plan = planned(population, eta=eta)
    assert plan.eta == pytest.approx(eta, rel=1e-15)
    assert relative_error(plan.cap, design.cap) <= 1e-12


@pytest.mark.parametrize("limits", [(1, 4, 9, 9), (2, 2, 2), (3,), (1, 0, 2)])
def test_an_eta_that_uses_up_every_limit_is_feasible_and_more_is_not(limits):
    total = float(sum(limits))
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=UNIT, eta=total)
    assert plan.epsilons(agents).tolist() == list(limits)
    with pytest.raises(optin.Infeasible):
        optin.plan(agents, bounds=UNIT, eta=total * (1 + 1e-6))


@some
@given(populations(edges=False), st.floats(0.05, 0.95))
def test_no_given_eta_beats_the_best_one(population, share):
    _, best = planned(population)
    spread = population.bounds[1] - population.bounds[0]
    _, other = planned(population, eta=share * fsum(population.limits) / spread)
    assert other.variance >= best.variance * (1 - 1e-13)


@some
@given(populations(edges=False))
def test_asking_for_the_best_eta_gives_the_best_plan_again(population):
    agents, best = planned(population)
    _, again = planned(population, eta=best.eta)
    assert again.variance == pytest.approx(best.variance, rel=1e-12)
    np.testing.assert_allclose(again.weights(agents), best.weights(agents), rtol=1e-11)


# Many people: the planner looks at samples and ranges there, never at a full sort.


def shapes(people: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    lognormal = rng.lognormal(0, 1.5, people)
    spike = np.full(people, 1e-3)
    spike[people // 3] = 1e6
    return {
        "lognormal": lognormal,
        "sorted": np.sort(lognormal),
        "falling": np.sort(lognormal)[::-1],
        "uniform": rng.uniform(0, 1, people),
        "two levels": np.where(rng.random(people) < 0.01, 10.0, 0.1),
        "harmonic": 1.0 / np.arange(1, people + 1),
        "heavy tail": rng.pareto(0.5, people) + 1e-9,
        "one in a crowd": spike,
        "with edges": np.where(rng.random(people) < 0.2, 0.0, np.where(rng.random(people) < 0.1, inf, lognormal)),
        "periodic": np.tile([1e-4, 3.0, 3.0, 50.0], people // 4),
    }


def sorted_cap(limits: np.ndarray, target: float) -> float:
    """E1 by a full sort in extended precision, finished by exactly rounded sums."""
    finite = np.sort(limits[np.isfinite(limits) & (limits > 0)])
    wide = finite.astype(np.longdouble)
    total, squares = np.cumsum(wide), np.cumsum(wide * wide)
    caps = (np.longdouble(target) + squares) / total
    place = int(np.argmax(np.append(caps[:-1] <= wide[1:], True)))
    tail = finite[: place + 1]
    return (target + fsum(tail * tail)) / fsum(tail)


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(shapes(4)))
@pytest.mark.parametrize("data_variance", [0.25, 1e-4, 1e-9])
def test_large_populations_are_planned_as_exactly_as_small_ones(shape, data_variance):
    limits = shapes(200_000)[shape]
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=UNIT, data_variance=data_variance)
    cap = sorted_cap(limits, 2 / data_variance)
    total = fsum(np.minimum(limits, cap))
    assert plan.cap == pytest.approx(cap, rel=1e-12)
    assert plan.eta == pytest.approx(total, rel=1e-12)
    assert plan.variance == pytest.approx(data_variance * cap / total, rel=1e-12)
    assert plan.tilt == pytest.approx(fsum(np.maximum(np.minimum(limits, cap) / total - 1 / len(limits), 0)), abs=1e-12)
    assert np.all(plan.epsilons(agents) <= limits)


def test_the_sorted_cap_agrees_with_the_rational_one():
    limits = np.random.default_rng(3).lognormal(0, 1.5, 300)
    assert sorted_cap(limits, 8.0) == pytest.approx(float(cap_of(exact_all(limits), F(1), F(1, 4))), rel=1e-14)
