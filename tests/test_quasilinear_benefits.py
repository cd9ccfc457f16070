"""E9-E11 for benefits known only by calling them, and for instances that are hard to tell from infeasible ones."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles_quasilinear import climb, critical_outside, linear_optimum
from quasilinear_cases import (
    BENEFITS,
    M1,
    assert_backward_exact,
    line,
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


# Any falling benefit.


@pytest.mark.parametrize("kind", sorted(BENEFITS))
@settings(max_examples=examples(25), deadline=None, derandomize=True)
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


@some
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


def each_with_one_of_the_other(some, others):
    """All pairs; in the daily run each of the first with one of the second, in turn."""
    turns = dict(zip(some, itertools.cycle(others), strict=False))
    pairs = itertools.product(some, others)
    return [pair if turns[pair[0]] == pair[1] else pytest.param(*pair, marks=pytest.mark.slow) for pair in pairs]


DECIDED = ("linear", "exponential", "reciprocal", "logistic", "square root")


@pytest.mark.parametrize(("people", "kind"), each_with_one_of_the_other(sorted(HARD), DECIDED))
def test_any_benefit_is_decided_to_a_millionth(people, kind):
    costs = HARD[people]
    benefit = BENEFITS[kind](8.0, 1.0)
    edge, surplus = critical_outside(costs, benefit, UNIT, 0.25)
    outside = edge - 1e-6 * surplus
    expected = climb(costs, benefit, UNIT, 0.25, outside=outside)
    assert variance_or_none(costs, benefit, outside=outside) == pytest.approx(expected, rel=1e-8)
    assert variance_or_none(costs, benefit, outside=edge + 1e-6 * surplus) is None


@pytest.mark.slow
@pytest.mark.parametrize("margin", [1e-8, 1e-11, 0.0, -1e-11, -1e-8])
@pytest.mark.parametrize(("people", "kind"), [("one", "exponential"), ("alike", "reciprocal")])
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
