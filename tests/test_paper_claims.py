"""The paper, statement by statement, in order of appearance: ten claims, two theorems, two corollaries.

Each test is named after what it tests. Where a statement needs a condition that the paper omits, the test says so and a
second one shows the counterexample; the misprints that matter are shown to matter.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import enumerate_t, exact_all, optimum, optimum_at_eta, span, stationary_total, tail_objective
from oracles_quasilinear import linear_optimum_at_eta
from strategies import UNIT, Society, limit_lists, populations, powers, societies
from trying import examples

import optin

F = Fraction
some = settings(max_examples=examples(60), deadline=None, derandomize=True)
few = settings(max_examples=examples(25), deadline=None, derandomize=True)


def joined_variance(society: Society, members, **more) -> float:
    """The best variance with these people; infinite if they would not join."""
    benefit = optin.LinearBenefit(base=society.base, slope=society.slope)
    agents = optin.QuasiLinear([society.costs[i] for i in members], benefit=benefit, outside=society.outside)
    try:
        return optin.plan(agents, **society.given, **more).variance
    except optin.Infeasible:
        return inf


def groups(people: int):
    return (group for size in range(1, people) for group in combinations(range(people), size))


@st.composite
def plans_at_eta(draw, *, zeros=False):
    """A feasible quasi-linear plan at a fixed eta, people in order of rising cost as in the paper."""
    society = draw(societies(zeros=zeros))
    society = Society(sorted(society.costs), society.base * 1.5, society.slope, society.outside, *society.terms)
    benefit = optin.LinearBenefit(base=society.base, slope=society.slope)
    agents = optin.QuasiLinear(society.costs, benefit=benefit, outside=society.outside)
    try:
        free = optin.plan(agents, **society.given)
        assume(free.eta < inf)
        eta = free.eta * draw(st.sampled_from([0.8, 0.95, 1.0, 1.05, 1.2]))
        return society, agents, optin.plan(agents, **society.given, eta=eta)
    except optin.Infeasible:
        assume(False)


@st.composite
def limits_at_eta(draw):
    """Limits in falling order as in the paper, all positive, and an eta that they can carry."""
    population = draw(populations(edges=False, max_size=10))
    limits = sorted(population.limits, reverse=True)
    eta = draw(st.floats(0.05, 0.999)) * sum(limits) / (population.bounds[1] - population.bounds[0])
    agents = optin.PrivacyConstrained(limits)
    return np.array(limits), agents, optin.plan(agents, **population.given, eta=eta)


# Quasi-linear agents.


@st.composite
def weightings(draw):
    """Weights of a few people that add up to 1, some of them 0, with a rate of noise: all exact."""
    parts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any))
    return [F(part, sum(parts)) for part in parts], draw(st.fractions(F(1, 4), 16, max_denominator=8))


def variance_of(weights, eta):
    return F(1, 4) * sum(w * w for w in weights) + 2 / eta**2


@some
@given(weightings(), st.data(), st.fractions(0, 40, max_denominator=4), st.fractions(0, 8, max_denominator=4))
def test_claim_01_both_programs_have_the_same_designs_and_values(case, data, base, slope):
    """On its own, in fractions: any weights and noise, feasible or not, of any common linear benefit (outside option 1)."""
    weights, eta = case
    costs = [data.draw(st.fractions(0, 4, max_denominator=4)) for _ in weights]
    chosen = [i for i, w in enumerate(weights) if w > 0]
    surplus = base - slope * variance_of(weights, eta) - 1
    of_all = all(costs[i] * weights[i] * eta <= surplus for i in range(len(weights)))
    of_chosen = all(costs[i] * weights[i] * eta <= surplus for i in chosen)
    assert of_all == of_chosen
    assert variance_of([weights[i] for i in chosen], eta) == variance_of(weights, eta)


@few
@given(societies(zeros=False))
def test_claim_01_nothing_is_gained_by_choosing_who_may_join(society):
    """Program (1) over subsets S has the value of the program over everyone (common benefit and outside option)."""
    everyone = range(min(len(society.costs), 4))
    best = joined_variance(society, everyone)
    assert all(best <= joined_variance(society, group) * (1 + 1e-12) for group in groups(len(everyone)))


def test_claim_01_needs_a_common_outside_option():
    """A constraint for someone left out is f(V) >= o_3, that is V <= 1/8: met by no design, though two people suffice."""
    base, slope, outside = np.array([5.0, 5.0, 1.0]), np.array([8.0, 8.0, 4.0]), [0.0, 0.0, 0.5]
    agents = optin.QuasiLinear([1.0] * 3, benefit=optin.LinearBenefit(base=base, slope=slope), outside=outside)
    plan = optin.plan(agents, bounds=UNIT)
    assert plan.weights(agents).tolist() == [0.5, 0.5, 0]
    assert base[2] - slope[2] * plan.variance < outside[2]
    assert plan.variance > 1 / 8  # the least variance of all designs people accept, so none reaches 1/8


@some
@given(plans_at_eta(zeros=True))
def test_claim_02_weights_fall_as_costs_rise(case):
    _, agents, plan = case
    weights = plan.weights(agents)
    assert np.all(weights[:-1] >= weights[1:])


@some
@given(plans_at_eta(zeros=True))
def test_claim_03_the_privacy_cost_people_bear_rises_with_their_cost(case):
    society, agents, plan = case
    borne = np.array(society.costs) * plan.epsilons(agents)
    assert np.all(borne[:-1] <= borne[1:] * (1 + 1e-15))


@some
@given(plans_at_eta())
def test_corollary_1_everyone_with_a_positive_cost_gets_weight(case):
    """The paper allows c_i = 0 and divides by it; with c_i > 0 for everyone the statement holds."""
    _, agents, plan = case
    assert np.all(plan.weights(agents) > 0)


def test_corollary_1_fails_when_someone_has_no_privacy_cost():
    agents = optin.QuasiLinear([0.0, 1.0], benefit=optin.LinearBenefit(base=2.25, slope=1.0))
    plan = optin.plan(agents, bounds=UNIT, eta=1.0)
    assert plan.weights(agents).tolist() == [1, 0]
    assert plan.variance == 2.25


@some
@given(plans_at_eta())
def test_theorem_1_the_best_weights_at_an_eta_are_a_pool_and_a_tail_in_proportion_to_one_over_cost(case):
    society, agents, plan = case
    t, costs = plan.pooled_people, np.array(society.costs)
    expected = np.where(np.arange(len(costs)) < t, plan.pooled_weight, plan.tail_constant / costs)
    np.testing.assert_allclose(plan.weights(agents), expected, rtol=1e-12)
    exact = linear_optimum_at_eta(
        society.costs, plan.eta, society.base, society.slope, *society.terms, outside=society.outside
    )
    assert exact is None or plan.variance == pytest.approx(float(exact.variance), rel=1e-6)


@some
@given(plans_at_eta())
def test_theorem_1_the_constant_of_the_tail_solves_its_equation(case):
    """K R eta = f(sigma^2 t W^2 + sigma^2 K^2 sum 1/c^2 + 2 / eta^2) - o whenever someone is in the tail."""
    society, _, plan = case
    t, spread = plan.pooled_people, society.bounds[1] - society.bounds[0]
    tail = np.array(society.costs[t:])
    assume(len(tail) > 0)
    squares = t * plan.pooled_weight**2 + plan.tail_constant**2 * float(np.sum(tail**-2.0))
    benefit = society.base - society.slope * (society.data_variance * squares + 2 / plan.eta**2) - society.outside
    size = abs(society.base) + abs(society.outside)
    assert plan.tail_constant * spread * plan.eta == pytest.approx(benefit, abs=1e-9 * size)


def printed_tail_constant(costs, eta: float, base: float, data_variance: float) -> float:
    """K of the paper's equation as printed (no sigma^2 before K^2 sum 1/c^2), for f = base - V, the dearest in the tail."""
    pooled, inverse = len(costs) - 1, 1 / costs[-1]

    def short(k: float) -> float:
        pool = data_variance / pooled * (1 - k * inverse) ** 2
        return base - pool - k**2 * inverse**2 - 2 / eta**2 - k * eta

    low, high = 0.0, base / eta
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if short(middle) > 0 else (low, middle)
    return low


def test_theorem_1_without_its_sigma_the_equation_gives_away_accuracy():
    agents = optin.QuasiLinear([0.25, 1.0], benefit=optin.LinearBenefit(base=1.28125, slope=1.0))
    plan = optin.plan(agents, bounds=UNIT, eta=4.0)
    assert plan.tail_constant == pytest.approx(1 / 4, rel=1e-12)
    assert printed_tail_constant([0.25, 1.0], 4.0, 1.28125, 0.25) < 0.24


def test_theorem_1_without_its_sigma_the_equation_breaks_participation_when_values_spread_widely():
    """Values in [0, 4], sigma^2 = 4, R eta = 4: the printed K promises what the benefit does not cover."""
    eta, base = 1.0, 6.0
    k = printed_tail_constant([0.25, 1.0], eta * 4, base - 2 / eta**2 + 2 / (eta * 4) ** 2, 4.0)
    variance = 4 * ((1 - k) ** 2 + k**2) + 2 / eta**2
    assert k * 4 * eta > base - variance + 1e-3
    agents = optin.QuasiLinear([0.25, 1.0], benefit=optin.LinearBenefit(base=base, slope=1.0))
    assert optin.plan(agents, bounds=(0.0, 4.0), eta=eta).tail_constant < k


# Privacy-constrained agents.


@some
@given(weightings(), st.data())
def test_claim_04_both_programs_have_the_same_designs_and_values(case, data):
    """On its own, in fractions: whoever has no weight keeps any limit, and adds nothing to the variance."""
    weights, eta = case
    limits = [data.draw(st.fractions(0, 8, max_denominator=4)) for _ in weights]
    chosen = [i for i, w in enumerate(weights) if w > 0]
    of_all = all(weights[i] * eta <= limits[i] for i in range(len(weights)))
    assert of_all == all(weights[i] * eta <= limits[i] for i in chosen)
    assert variance_of([weights[i] for i in chosen], eta) == variance_of(weights, eta)


@some
@given(populations(edges=False, max_size=6), st.data())
def test_claim_04_the_exact_optimum_of_everyone_is_no_worse_than_of_any_group(population, data):
    terms = (population.bounds, population.exact_variance)
    group = [limit for limit in population.limits if data.draw(st.booleans())]
    assume(group)
    assert optimum(population.limits, *terms).variance <= optimum(group, *terms).variance


@some
@given(populations(edges=False, max_size=4))
def test_claim_04_nothing_is_gained_by_leaving_people_out(population):
    def variance(members) -> float:
        agents = optin.PrivacyConstrained([population.limits[i] for i in members])
        return optin.plan(agents, **population.given).variance

    people = len(population.limits)
    best = variance(range(people))
    assert all(best <= variance(group) * (1 + 1e-13) for group in groups(people))


@some
@given(limits_at_eta())
def test_claim_05_weights_are_positive_and_fall_while_the_share_of_the_limit_used_rises(case):
    limits, agents, plan = case
    weights = plan.weights(agents)
    used = weights / limits
    assert np.all(weights > 0)
    assert np.all(weights[:-1] >= weights[1:])
    assert np.all(used[:-1] <= used[1:] * (1 + 1e-15))


def has_the_form_of_theorem_2(weights, limits, reach) -> bool:
    """Say whether weights add up to 1 and are W up to some t and limit / reach after it, nobody's above their limit.

    Limits fall, and ``reach`` is R eta. Proportional weights have this form only where everyone is at their limit.
    """
    full = limits / reach
    tail = weights >= full * (1 - 1e-12)
    pool = weights[~tail]
    return bool(
        abs(weights.sum() - 1) <= 1e-12
        and np.all(weights <= full * (1 + 1e-15))
        and np.all(np.sort(tail) == tail)
        and (len(pool) == 0 or np.ptp(pool) <= 1e-12 * pool.max())
        and (len(pool) == 0 or np.all(full[tail] <= pool.max() * (1 + 1e-12)))
    )


@some
@given(limits_at_eta())
def test_theorem_2_the_best_weights_at_an_eta_are_a_pool_and_a_tail_at_its_limits(case):
    limits, agents, plan = case
    spread, weights = plan.bounds[1] - plan.bounds[0], plan.weights(agents)
    reach = spread * plan.eta
    assert has_the_form_of_theorem_2(weights, limits, reach)
    exact = optimum_at_eta(limits.tolist(), plan.eta, plan.bounds, plan.data_variance)
    np.testing.assert_allclose(weights, [float(w) for w in exact.weights], rtol=1e-9)
    t = plan.pooled_people
    expected = np.where(np.arange(len(limits)) < t, plan.pooled_weight, limits / reach)
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


@some
@given(limits_at_eta(), st.floats(0.5, 1.5).filter(lambda share: abs(share - 1) > 1e-6))
def test_theorem_2_is_not_met_by_weights_that_do_not_add_up_nor_by_proportional_ones(case, share):
    limits, agents, plan = case
    reach = (plan.bounds[1] - plan.bounds[0]) * plan.eta
    weights = plan.weights(agents)
    assert not has_the_form_of_theorem_2(weights * share, limits, reach)
    proportional = limits / limits.sum()
    assume(not np.allclose(proportional, weights, rtol=1e-9))
    assert not has_the_form_of_theorem_2(proportional, limits, reach)


@some
@given(limits_at_eta())
def test_corollary_2_the_pool_shares_what_the_tail_leaves(case):
    """W = (1 - sum of tail limits / (R eta)) / t; the paper lets t be 0 and divides by it."""
    limits, _, plan = case
    t, spread = plan.pooled_people, plan.bounds[1] - plan.bounds[0]
    assume(t > 0)
    left = 1 - float(np.sum(limits[t:])) / (spread * plan.eta)
    assert plan.pooled_weight == pytest.approx(left / t, rel=1e-9)


def test_corollary_2_has_no_pool_to_divide_by_when_people_are_alike():
    plan = optin.plan(optin.PrivacyConstrained([2, 2, 2]), bounds=UNIT)
    assert plan.pooled_people == 0
    assert plan.cap == pytest.approx(10 / 3, rel=1e-15)


@some
@given(populations(edges=False, max_size=10), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_claim_06_the_best_eta_minimises_h_on_the_interval_of_its_t(population, shares):
    """On [sum over the tail, t tau_t + sum over the tail] / R: the paper prints sums over 1..t+1 instead."""
    plan = optin.plan(optin.PrivacyConstrained(population.limits), **population.given)
    t, spread = plan.pooled_people, span(population.bounds)
    tau = sorted(exact_all(population.limits), reverse=True)
    tail, squares = sum(tau[t:]), sum(limit**2 for limit in tau[t:])
    low, high = tail, tail + (t * tau[t - 1] if t else 0)
    assert float(low) * (1 - 1e-12) <= plan.eta * float(spread) <= float(high) * (1 + 1e-12)
    terms = (spread, population.exact_variance)
    for share in shares:
        total = low + F(share) * (high - low)
        assume(total > 0)
        assert plan.variance <= float(tail_objective(t, tail, squares, total, *terms)) * (1 + 1e-12)


def test_claim_06_as_printed_breaks_limits():
    """Three people with limit 1: the printed interval ends at eta = 6, which charges each of them 2."""
    printed = enumerate_t([1, 1, 1], UNIT, 0.25, as_printed=True)
    assert (printed.pooled, printed.total, printed.variance) == (3, 6, F(5, 36))
    assert printed.total / 3 == 2
    plan = optin.plan(optin.PrivacyConstrained([1, 1, 1]), bounds=UNIT)
    assert plan.variance == pytest.approx(11 / 36, rel=1e-15)


def test_claim_06_as_printed_promises_an_accuracy_nobody_can_have():
    printed = enumerate_t([1, 4, 9, 9], UNIT, 0.25, as_printed=True)
    assert float(printed.variance) == pytest.approx(0.06524, abs=5e-6)
    assert printed.variance < optimum([1, 4, 9, 9], UNIT, 0.25).variance == F(1, 12)


@some
@given(limit_lists(3, edges=False, max_size=8), st.data(), st.floats(0.01, 0.99), st.floats(1.01, 100))
def test_claim_07_h_falls_before_its_stationary_point_and_rises_after(limits, data, before, after):
    """For 0 < t < n: with t = n nobody is in the tail and h only falls; with t = 0 there is no h."""
    tau = sorted(exact_all(limits), reverse=True)
    assume(len(tau) > 1)
    t = data.draw(st.integers(1, len(tau) - 1))
    tail, squares = sum(tau[t:]), sum(limit**2 for limit in tau[t:])

    def h(total):
        return tail_objective(t, tail, squares, total, F(1), F(1, 4))

    best = stationary_total(t, tail, squares, F(1), F(1, 4))
    near, far = best * F(before), best * F(after)
    assert h(near / 2) > h(near) > h(best) < h(far) < h(far * 2)


@some
@given(populations(edges=False, max_size=10))
def test_claim_07_the_best_eta_is_the_stationary_point_or_an_end_of_the_interval(population):
    plan = optin.plan(optin.PrivacyConstrained(population.limits), **population.given)
    t, spread = plan.pooled_people, span(population.bounds)
    tau = sorted(exact_all(population.limits), reverse=True)
    tail, squares = sum(tau[t:]), sum(limit**2 for limit in tau[t:])
    best = stationary_total(t, tail, squares, spread, population.exact_variance)
    clipped = min(max(best, tail), tail + (t * tau[t - 1] if t else 0))
    assert plan.eta * float(spread) == pytest.approx(float(clipped), rel=1e-12)


@some
@given(populations(edges=False, max_size=10), st.data(), st.floats(0.01, 0.99))
def test_claim_08_claiming_a_stricter_limit_never_helps(population, data, share):
    """The variance is no smaller, so no decreasing g pays; and the true limit was kept anyway."""
    i = data.draw(st.integers(0, len(population.limits) - 1))
    reported = [*population.limits]
    reported[i] *= share
    honest = optin.PrivacyConstrained(population.limits)
    plan = optin.plan(honest, **population.given)
    other = optin.plan(optin.PrivacyConstrained(reported), **population.given)
    assert other.variance >= plan.variance * (1 - 1e-13)
    assert plan.epsilons(honest)[i] <= population.limits[i]


@some
@given(populations(edges=False, max_size=10), st.data(), powers(0.01, 2))
def test_claim_09_claiming_a_laxer_limit_never_helps(population, data, factor):
    """Either the true limit is broken, or the claim changes nothing."""
    i = data.draw(st.integers(0, len(population.limits) - 1))
    reported = [*population.limits]
    reported[i] *= factor
    liar = optin.PrivacyConstrained(reported)
    plan = optin.plan(optin.PrivacyConstrained(population.limits), **population.given)
    other = optin.plan(liar, **population.given)
    if other.epsilons(liar)[i] <= population.limits[i]:
        assert other.variance == pytest.approx(plan.variance, rel=1e-13)
        assert other.cap == pytest.approx(plan.cap, rel=1e-12)


@some
@given(st.lists(powers(-1, 1), min_size=1, max_size=6), powers(-0.5, 1.5), st.floats(0, 0.9))
def test_claim_10_barely_feasible_people_are_all_indifferent_if_the_benefit_is_not_too_steep(costs, eta, share):
    """At w = K / c, all tight, no shift of weight makes room iff B >= 2 sigma^2 |f'(V)| (sum w^2 - min w).

    The paper omits that condition: giving weight to someone with room raises the variance, hence lowers everyone's benefit.
    """
    inverse = 1 / np.array(costs)
    weights = inverse / inverse.sum()
    surplus = eta / inverse.sum()
    variance = 0.25 * float(weights @ weights) + 2 / eta**2
    steepest = surplus / max(0.5 * (float(weights @ weights) - weights.min()), 1e-6)
    slope = share * min(steepest, 1e3 * surplus / variance)
    base = surplus + slope * variance
    size = base * 1e-9

    def plan_with(benefit: float):
        agents = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=benefit, slope=slope))
        return agents, optin.plan(agents, bounds=UNIT, eta=eta)

    agents, plan = plan_with(base + size)
    np.testing.assert_allclose(plan.weights(agents), weights, atol=1e-4)
    with pytest.raises(optin.Infeasible):
        plan_with(base - size)


def test_claim_10_fails_when_the_benefit_is_steep():
    """f = 17 - 200 V at eta = 20: barely feasible, one solution, and three of its four people have room to spare."""
    costs = [1.0, 1 / 128, 1 / 128, 1 / 128]
    agents = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=17.0, slope=200.0))
    plan = optin.plan(agents, bounds=UNIT, eta=20.0)
    np.testing.assert_allclose(plan.weights(agents), [0.1, 0.3, 0.3, 0.3], rtol=1e-7)
    borne = np.array(costs) * plan.epsilons(agents)
    assert borne[0] == pytest.approx(plan.surplus, rel=1e-7)
    assert np.all(borne[1:] < plan.surplus / 40)
    for lack in (2.0**-30, 2.0**-10):
        poorer = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=17.0 - lack, slope=200.0))
        with pytest.raises(optin.Infeasible):
            optin.plan(poorer, bounds=UNIT, eta=20.0)
