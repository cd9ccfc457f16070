"""E9-E12: the least fixed point for quasi-linear people, against exact cubics and against plain climbing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, inf, sqrt
from time import perf_counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracles_quasilinear import climb, climb_each, critical_outside, linear_optimum, linear_optimum_at_eta
from strategies import UNIT, Society, cost_lists, powers, relative_error, societies, worst_error

import optin

F = Fraction
many = settings(max_examples=150, deadline=None, derandomize=True)
some = settings(max_examples=60, deadline=None, derandomize=True)

TRILLIONTH = F(1, 10**12)
M1 = [1.0, 1 / 128, 1 / 128, 1 / 128]


def linear_agents(society: Society):
    benefit = optin.LinearBenefit(base=society.base, slope=society.slope)
    return optin.QuasiLinear(society.costs, benefit=benefit, outside=society.outside)


def planned(costs, benefit, *, outside=0.0, bounds=UNIT, data_variance=0.25, **more):
    agents = optin.QuasiLinear(costs, benefit=benefit, outside=outside)
    return agents, optin.plan(agents, bounds=bounds, data_variance=data_variance, **more)


def variance_or_none(costs, benefit, **more) -> float | None:
    try:
        return planned(costs, benefit, **more)[1].variance
    except optin.Infeasible:
        return None


def line(base: float, slope: float):
    return lambda variance: base - slope * variance


def nudged(society: Society, share: Fraction, eta: float | None = None):
    """The exact optimum after the benefit is raised by ``share`` of its size: smaller for more benefit."""
    base = F(society.base) + share * (abs(F(society.base)) + abs(F(society.outside)))
    if eta is None:
        return linear_optimum(society.costs, base, society.slope, *society.terms, outside=society.outside)
    return linear_optimum_at_eta(society.costs, eta, base, society.slope, *society.terms, outside=society.outside)


def assert_backward_exact(society: Society, plan, eta: float | None = None, share=TRILLIONTH) -> None:
    """The answer lies between those for a benefit a trillionth higher and lower, whatever the conditioning."""
    easier, harder = nudged(society, share, eta), nudged(society, -share, eta)
    if plan is None:
        assert harder is None
    else:
        assert easier is not None
        assert plan.variance >= float(easier.variance) * (1 - 1e-12)
        assert harder is None or plan.variance <= float(harder.variance) * (1 + 1e-12)


def plan_or_none(society: Society, **more):
    try:
        return optin.plan(linear_agents(society), **society.given, **more)
    except optin.Infeasible:
        return None


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


# Any other benefit.

BENEFITS = {
    "linear": lambda a, s: lambda v: a * (1 - s * v),
    "concave": lambda a, s: lambda v: a * (1 - (s * v) ** 2),
    "exponential": lambda a, s: lambda v: a * exp(-s * v),
    "reciprocal": lambda a, s: lambda v: a / (1 + s * v),
    "square root": lambda a, s: lambda v: a * (1 - sqrt(s * v)),
    "logistic": lambda a, s: lambda v: a / (1 + exp(min(9 * (s * v - 1), 500.0))),
    "two cliffs": lambda a, s: lambda v: a * (1 + 1 / (1 + (s * v) ** 20) + 1 / (1 + (s * v / 3) ** 30)),
}


@pytest.mark.parametrize("kind", sorted(BENEFITS))
@settings(max_examples=25, deadline=None, derandomize=True)
@given(cost_lists(max_size=6), powers(-1, 2), powers(-0.5, 1), st.integers(-8, 8))
def test_any_falling_benefit_gives_the_least_fixed_point(kind, costs, height, steepness, outside):
    benefit = BENEFITS[kind](height, steepness)
    option = outside / 16 * height
    edge, surplus = critical_outside(costs, benefit, UNIT, 0.25)
    assume(abs(option - edge) > 1e-5 * surplus)  # the hard instances below are nearer to a tangency
    expected = climb(costs, benefit, UNIT, 0.25, outside=option)
    got = variance_or_none(costs, benefit, outside=option)
    assert got == (expected if expected is None else pytest.approx(expected, rel=1e-9))


@st.composite
def staircases(draw):
    """A benefit that falls in jumps, taking at each jump either the upper or the lower value."""
    edges = sorted(draw(st.lists(powers(-2, 1), min_size=1, max_size=5, unique=True)))
    drops = draw(st.lists(powers(-1, 0.7), min_size=len(edges), max_size=len(edges)))
    closed = draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    floor = draw(st.integers(-8, 16)) / 8

    def benefit(variance: float) -> float:
        above = zip(edges, drops, closed, strict=True)
        return floor + sum(d for e, d, c in above if variance < e or (c and variance == e))

    return benefit


@many
@given(cost_lists(max_size=5), staircases())
def test_jumps_are_taken_where_the_benefit_has_them(costs, benefit):
    expected = climb(costs, benefit, UNIT, 0.25)
    got = variance_or_none(costs, benefit)
    assert got == (expected if expected is None else pytest.approx(expected, rel=1e-9))


JUMPS = [
    (lambda v: 2.0 if v <= 0.75 else 1.0, 0.75),
    (lambda v: 2.0 if v < 0.75 else 1.0, 2.25),
    (lambda v: 1 + 2 / (1 + v**20), 0.472222312308012),
    (lambda v: 1 / v, None),
]


@pytest.mark.parametrize(("benefit", "variance"), JUMPS)
def test_one_person_with_a_jump_a_cliff_or_no_reason_to_join(benefit, variance):
    assert variance_or_none([1.0], benefit) == (variance if variance is None else pytest.approx(variance, rel=1e-12))


@many
@given(societies(zeros=False))
def test_a_line_given_as_a_callable_has_the_same_answer(society):
    benefit = line(society.base, society.slope)
    got = variance_or_none(society.costs, benefit, outside=society.outside, **society.given)
    share = F(1, 10**6)
    easier, harder = nudged(society, share), nudged(society, -share)
    if easier is None or harder is None:
        assert got is None or easier is not None
        assert got is not None or harder is None
    else:
        assert float(easier.variance) * (1 - 1e-9) <= got <= float(harder.variance) * (1 + 1e-9)


@some
@given(cost_lists(max_size=5), powers(0, 2), powers(-1, 1), powers(-0.3, 1.5))
def test_any_benefit_at_a_given_eta_gives_the_least_fixed_point(costs, height, steepness, eta):
    for kind in ("exponential", "reciprocal"):
        benefit = BENEFITS[kind](height, steepness)
        expected = climb(costs, benefit, UNIT, 0.25, eta=eta)
        got = variance_or_none(costs, benefit, eta=eta)
        if expected is None or got is None:
            lower = climb(costs, lambda v, f=benefit: f(v) * (1 - 1e-6), UNIT, 0.25, eta=eta)
            upper = climb(costs, lambda v, f=benefit: f(v) * (1 + 1e-6), UNIT, 0.25, eta=eta)
            assert lower is None
            assert got is None or upper is not None
        else:
            assert got == pytest.approx(expected, rel=1e-7)


# Hard instances: the largest (f(V(y)) - o) / B(y) over y is 1 + margin or 1 - margin.

HARD = {
    "one": [1.0],
    "two": [1.0, 1 / 8],
    "pooled three": M1,
    "alike": [0.5] * 7,
    "spread": [float(c) for c in np.random.default_rng(2).lognormal(0, 1.5, 12)],
}


@pytest.mark.parametrize("people", sorted(HARD))
@pytest.mark.parametrize("slope", [2.0, 30.0, 200.0])
def test_a_linear_benefit_is_decided_to_a_billionth(people, slope):
    costs = HARD[people]
    edge, surplus = critical_outside(costs, line(0.0, slope), UNIT, 0.25)
    for margin in (1e-9, -1e-9):
        society = Society(costs, -edge + margin * surplus, slope)
        exact = linear_optimum(costs, society.base, slope, *society.terms)
        assert (exact is not None) == (margin > 0)
        plan = plan_or_none(society)
        assert (plan is not None) == (margin > 0)
        assert_backward_exact(society, plan)


@pytest.mark.parametrize("people", sorted(HARD))
@pytest.mark.parametrize("kind", ["linear", "exponential", "reciprocal", "logistic", "square root"])
def test_any_benefit_is_decided_to_a_millionth(people, kind):
    costs = HARD[people]
    benefit = BENEFITS[kind](8.0, 1.0)
    edge, surplus = critical_outside(costs, benefit, UNIT, 0.25)
    outside = edge - 1e-6 * surplus
    expected = climb(costs, benefit, UNIT, 0.25, outside=outside)
    assert variance_or_none(costs, benefit, outside=outside) == pytest.approx(expected, rel=1e-8)
    assert variance_or_none(costs, benefit, outside=edge + 1e-6 * surplus) is None


@pytest.mark.parametrize("margin", [1e-8, 1e-10, 1e-12, 0.0, -1e-12, -1e-10, -1e-8])
@pytest.mark.parametrize("people", ["one", "two", "alike"])
@pytest.mark.parametrize("kind", ["exponential", "reciprocal"])
def test_closer_than_that_a_black_box_is_answered_rightly_or_said_to_be_undecided(people, kind, margin):
    costs = HARD[people]
    benefit = BENEFITS[kind](8.0, 1.0)
    edge, surplus = critical_outside(costs, benefit, UNIT, 0.25)
    touching = climb(costs, benefit, UNIT, 0.25, outside=edge - 1e-6 * surplus)
    refusal, variance = None, None
    try:
        variance = planned(costs, benefit, outside=edge - margin * surplus)[1].variance
    except optin.Infeasible as error:
        refusal = error
    if refusal is None:
        assert margin >= -1e-11
        assert variance == pytest.approx(touching, rel=2e-3)  # within the parabola's width at a margin of 1e-6
    else:
        assert margin <= 0 or refusal.within_resolution


def test_a_plainly_infeasible_instance_is_not_called_undecided():
    with pytest.raises(optin.Infeasible) as caught:
        planned([1.0], BENEFITS["exponential"](0.5, 1.0))
    assert not caught.value.within_resolution


@pytest.mark.slow
def test_a_hard_linear_instance_takes_at_most_fifty_times_an_easy_one():
    """A ratio of two times in one run, each the best of three."""
    levels = HARD["spread"]
    copies = 5000
    edge, surplus = critical_outside(levels, line(0.0, 200.0), UNIT, 0.25, copies=copies)
    costs = np.random.default_rng(0).permutation(np.repeat(levels, copies))

    def seconds(base: float) -> float:
        agents = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=base, slope=200.0))
        times = []
        for _ in range(3):
            start = perf_counter()
            try:
                optin.plan(agents, bounds=UNIT)
            except optin.Infeasible:
                assert base < -edge
            else:
                assert base > -edge
            times.append(perf_counter() - start)
        return min(times)

    easy = seconds(-edge + 10 * surplus)
    assert seconds(-edge + 1e-9 * surplus) <= 50 * easy
    assert seconds(-edge - 1e-9 * surplus) <= 50 * easy


# Everyone different.


@pytest.mark.parametrize("as_callable", [False, True])
def test_whoever_would_refuse_any_design_is_left_out(as_callable):
    base, slope = np.array([5.0, 5.0, 1.0]), np.array([8.0, 8.0, 4.0])
    benefit = (lambda v: base - slope * v) if as_callable else optin.LinearBenefit(base=base, slope=slope)
    agents, plan = planned([1.0, 1.0, 1.0], benefit, outside=[0.0, 0.0, 0.5])
    assert plan.variance == pytest.approx(0.161340580070384645, rel=1e-9)
    assert plan.weights(agents)[2] == 0
    assert plan.tail_constant is None


@some
@given(st.lists(st.tuples(powers(-1, 1), powers(-1, 1.5), powers(-1, 1), st.floats(-1, 1)), min_size=1, max_size=6))
def test_personal_benefits_and_outside_options_give_the_least_fixed_point(people):
    costs, bases, slopes, outsides = (list(column) for column in zip(*people, strict=True))
    benefits = [line(base, slope) for base, slope in zip(bases, slopes, strict=True)]
    expected = climb_each(costs, benefits, outsides, UNIT, 0.25)
    benefit = optin.LinearBenefit(base=bases, slope=slopes)
    lower = [line(base * (1 - 1e-4), slope) for base, slope in zip(bases, slopes, strict=True)]
    assume(climb_each(costs, lower, outsides, UNIT, 0.25) is not None)
    assert variance_or_none(costs, benefit, outside=outsides) == pytest.approx(expected, rel=1e-9)


def test_personal_benefits_that_suffice_for_nobody_are_infeasible():
    benefit = optin.LinearBenefit(base=[1.0, 1.5], slope=[1.0, 1.0])
    assert variance_or_none([1.0, 2.0], benefit, outside=[0.5, 0.4]) is None


@settings(max_examples=40, deadline=None, derandomize=True)
@given(societies(zeros=False))
def test_saying_the_same_for_everyone_changes_nothing(society):
    people = len(society.costs)
    each = optin.LinearBenefit(base=[society.base] * people, slope=[society.slope] * people)
    easier, harder = nudged(society, F(1, 10**4)), nudged(society, F(-1, 10**4))
    assume(harder is not None)
    got = variance_or_none(society.costs, each, outside=[society.outside] * people, **society.given)
    assert float(easier.variance) * (1 - 1e-9) <= got <= float(harder.variance) * (1 + 1e-9)


# Slack (E12) and what to do when nobody would join.


@some
@given(societies(zeros=False), st.floats(0, 0.5))
def test_slack_leaves_room_between_the_promise_and_the_design(society, slack):
    plan = plan_or_none(society, slack=slack)
    share = F(1, 10**9)
    steeper = replace(society, slope=society.slope * (1 + slack))
    easier, harder = nudged(steeper, share), nudged(steeper, -share)
    if plan is None:
        assert harder is None
        return
    assert plan.variance >= float(easier.variance) * (1 - 1e-9)
    assert harder is None or plan.variance <= float(harder.variance) * (1 + 1e-9)
    if plan.eta < inf:
        assert plan.promised_variance == pytest.approx((1 + slack) * plan.variance, rel=1e-6)


poor = societies(zeros=False).map(lambda s: replace(s, base=s.outside + (s.base - s.outside) * 0.3))
rare = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])


@rare
@given(poor)
def test_an_infeasible_plan_says_which_outside_option_would_do(society):
    assume(nudged(society, F(1, 10**9)) is None)
    with pytest.raises(optin.Infeasible) as caught:
        optin.plan(linear_agents(society), **society.given)
    needed, shortfall = caught.value.outside_needed, caught.value.shortfall
    size = abs(society.base) + abs(society.outside)
    assert shortfall == pytest.approx(society.outside - needed, abs=1e-9 * size)
    assert shortfall > 0

    def feasible(outside: float) -> bool:
        return linear_optimum(society.costs, society.base, society.slope, *society.terms, outside=outside) is not None

    assert feasible(needed - 1e-6 * size)
    assert not feasible(needed + 1e-6 * size)


@rare
@given(poor)
def test_an_infeasible_plan_says_how_many_such_people_would_do(society):
    """With m of everyone, variance and noise shrink m-fold: slope / m and kappa / m for one of everyone (E10)."""
    assume(nudged(society, F(1, 10**9)) is None)
    with pytest.raises(optin.Infeasible) as caught:
        optin.plan(linear_agents(society), **society.given)
    needed, people = caught.value.people_needed, len(society.costs)

    def feasible(copies: Fraction) -> bool:
        slope, kappa = F(society.slope) / copies, 2 / copies
        room = F(society.base) - F(society.outside)
        return linear_optimum(society.costs, room, slope, *society.terms, kappa=kappa) is not None

    if needed is None:
        assert not feasible(F(10**6))
    else:
        assert needed > people
        assert feasible(F(needed + 1, people))
        assert needed - 2 <= people or not feasible(F(needed - 2, people))


def test_no_number_of_people_helps_when_even_perfect_accuracy_is_worth_too_little():
    with pytest.raises(optin.Infeasible) as caught:
        planned([1.0, 2.0], optin.LinearBenefit(base=1.0, slope=1.0), outside=1.5)
    assert caught.value.people_needed is None


@some
@given(cost_lists(max_size=6), powers(-0.5, 2), powers(-1, 1))
def test_without_variance_nobody_is_pooled_and_the_least_root_is_found(costs, base, slope):
    society = Society(costs, base, slope, data_variance=0.0)
    assert_backward_exact(society, plan_or_none(society), share=F(1, 10**9))


def test_a_benefit_seen_to_rise_is_refused():
    with pytest.raises(optin.BadInput):
        planned([1.0, 2.0], lambda v: 3.0 + v)


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
