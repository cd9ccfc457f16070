"""E9 and E12 when people differ in everything, when some may decline, and when nobody would join."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracles_quasilinear import climb_each, linear_optimum
from quasilinear_cases import (
    assert_backward_exact,
    line,
    linear_agents,
    nudged,
    plan_or_none,
    planned,
    variance_or_none,
)
from strategies import UNIT, Society, cost_lists, powers, societies
from trying import examples

import optin

F = Fraction
many = settings(max_examples=examples(120), deadline=None, derandomize=True)
some = settings(max_examples=examples(60), deadline=None, derandomize=True)


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


@settings(max_examples=examples(40), deadline=None, derandomize=True)
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
rare = settings(
    max_examples=examples(40), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)


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
