"""E15: the dial between the paper's optimum and equal weights, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import design_at_cap, dial, dial_cap, exact_all, optimum, span, tilt, worst_case_mse
from strategies import UNIT, Population, limit_lists, populations, powers, relative_error, worst_error
from trying import examples

import optin
from optin.kernel.dial import robust_design
from optin.kernel.passes import ArrayLimits

F = Fraction
many = settings(max_examples=examples(120), deadline=None, derandomize=True)
some = settings(max_examples=examples(80), deadline=None, derandomize=True)

gaps = st.sampled_from([0.0, 1.0, 0.5]) | powers(-6, 0)


def gap_of(population: Population, share: float) -> float:
    return share * (population.bounds[1] - population.bounds[0])


@many
@given(populations(max_size=8), gaps, st.lists(st.floats(0.2, 5), min_size=4, max_size=4))
def test_no_other_cap_has_a_smaller_worst_case_error(population, share, factors):
    gap = gap_of(population, share)
    best = dial(population.limits, gap, *population.terms)
    tau, (bounds, variance) = exact_all(population.limits), population.terms
    caps = [best.cap * F(factor) for factor in (*factors, 1 - 1e-9, 1 + 1e-9)] if best.cap < inf else []
    for cap in [*caps, *(t for t in tau if t)]:
        other = design_at_cap(tau, cap, span(bounds), variance)
        assert worst_case_mse(other, gap) >= worst_case_mse(best, gap)


@many
@given(populations(decades=6), gaps)
def test_the_dial_is_exact_to_twelve_digits(population, share):
    gap = gap_of(population, share)
    design = dial(population.limits, gap, *population.terms)
    agents = optin.PrivacyConstrained(population.limits)
    plan = optin.plan(agents, **population.given, max_gap=gap)
    assert relative_error(plan.cap, design.cap) <= 1e-11
    assert relative_error(plan.eta, design.eta) <= 1e-11
    assert worst_error(plan.weights(agents), design.weights) <= 1e-11
    assert relative_error(plan.variance, design.variance) <= 1e-11
    assert relative_error(plan.worst_case_mse, worst_case_mse(design, gap)) <= 1e-12
    assert plan.tilt == pytest.approx(float(tilt(design.weights)), abs=1e-12)
    assert plan.bias_bound == pytest.approx(gap * plan.tilt, rel=1e-15)
    assert plan.worst_case_mse == pytest.approx(plan.variance + plan.bias_bound**2, rel=1e-15)


@some
@given(populations())
def test_a_dial_at_zero_is_the_papers_optimum(population):
    agents = optin.PrivacyConstrained(population.limits)
    plain = optin.plan(agents, **population.given)
    dialled = optin.plan(agents, **population.given, max_gap=0.0)
    assert (plain.cap, plain.eta, plain.variance) == (dialled.cap, dialled.eta, dialled.variance)
    assert dial(population.limits, 0, *population.terms) == optimum(population.limits, *population.terms)


@some
@given(populations(edges=False), st.floats(0, 1), st.floats(0, 1))
def test_a_wider_gap_never_tilts_the_weights_more(population, one, other):
    agents = optin.PrivacyConstrained(population.limits)
    narrow, wide = (
        optin.plan(agents, **population.given, max_gap=gap_of(population, share)) for share in sorted((one, other))
    )
    assert wide.tilt <= narrow.tilt + 1e-12
    assert wide.cap <= narrow.cap * (1 + 1e-12)
    assert wide.variance >= narrow.variance * (1 - 1e-12)
    assert wide.worst_case_mse >= narrow.worst_case_mse * (1 - 1e-12)


KNOWN = [
    (1.0, 3, (F(1, 10), F(3, 10), F(3, 10), F(3, 10)), F(9, 100), F(3, 20), F(9, 80)),
    (0.5, F(9, 2), (F(1, 14), F(2, 7), F(9, 28), F(9, 28)), F(131, 1568), F(5, 28), F(41, 448)),
    (0.0, 5, (F(1, 15), F(4, 15), F(1, 3), F(1, 3)), F(1, 12), F(11, 60), F(1, 12)),
]


@pytest.mark.parametrize(("gap", "cap", "weights", "variance", "tilted", "mse"), KNOWN)
def test_instances_with_known_answers_come_out(gap, cap, weights, variance, tilted, mse):
    agents = optin.PrivacyConstrained([1, 4, 9, 9])
    plan = optin.plan(agents, bounds=UNIT, max_gap=gap)
    got = [plan.cap, *plan.weights(agents), plan.variance, plan.tilt, plan.bias_bound, plan.worst_case_mse]
    assert worst_error(got, [cap, *weights, variance, tilted, tilted * F(gap), mse]) <= 1e-15


def test_people_with_limit_zero_count_in_the_target_but_not_in_the_weights():
    agents = optin.PrivacyConstrained([0, 4, 4])
    plan = optin.plan(agents, bounds=UNIT, max_gap=0.3)
    assert plan.weights(agents).tolist() == [0, 0.5, 0.5]
    assert plan.tilt == pytest.approx(1 / 3, rel=1e-15)
    assert plan.bias_bound == pytest.approx(0.1, rel=1e-15)


def test_an_unlimited_person_is_held_back_when_values_may_be_related_to_limits():
    limits = [1.0, 2.0, inf]
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=UNIT, data_variance=0.0, max_gap=1.0)
    design = dial(limits, 1.0, UNIT, 0.0)
    assert 0 < plan.cap < inf
    assert relative_error(plan.cap, design.cap) <= 1e-12
    assert relative_error(plan.variance, design.variance) <= 1e-12


@some
@given(limit_lists(3, edges=False, max_size=10), st.floats(0.05, 1), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_kernels_dial_is_exact_for_every_noise_constant(limits, gap, kappa):
    design = dial(limits, gap, UNIT, 0.25, F(kappa))
    found = robust_design(ArrayLimits(np.array(limits)), spread=0.25, kappa=kappa, gap=gap)
    assert relative_error(found.cap, design.cap) <= 1e-11
    assert relative_error(found.variance, design.variance) <= 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_the_dial_is_as_exact_for_many_people(share):
    """Forty levels, each held by thousands of people: the rational answer needs the levels only."""
    rng = np.random.default_rng(5)
    levels = np.round(rng.lognormal(0, 1.5, 40), 3) + 0.001
    few = np.repeat(levels, 3)
    copies = 1000
    agents = optin.PrivacyConstrained(rng.permutation(np.repeat(few, copies)))
    plan = optin.plan(agents, bounds=UNIT, data_variance=2.0**-12, max_gap=share)
    design = dial_of_copies(few, copies, share)
    assert plan.cap == pytest.approx(float(design), rel=1e-11)


def dial_of_copies(limits, copies: int, gap: float) -> Fraction:
    """E15's cap for ``copies`` of everyone: variance counts ``copies`` times, the product D L ``copies`` squared."""
    tau = exact_all(limits)
    return dial_cap(tau, F(gap) * copies, F(1), F(2.0**-12) * copies)


def test_the_dial_is_not_offered_to_quasi_linear_people():
    agents = optin.QuasiLinear([1.0], benefit=optin.LinearBenefit(base=9.0, slope=1.0))
    with pytest.raises(optin.BadInput):
        optin.plan(agents, bounds=UNIT, max_gap=0.1)
