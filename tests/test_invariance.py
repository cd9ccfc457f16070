"""What must not matter: where zero is, the unit of measurement, the order of people, how ties are split."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Population, populations, societies
from trying import examples

import optin

some = settings(max_examples=examples(60), deadline=None, derandomize=True)

scales = st.sampled_from([2.0**-7, 0.5, 2.0, 1024.0])
shares = st.sampled_from([0.0, 0.25, 1.0])


def planned(population: Population, share: float = 0.0, eta=None):
    spread = population.bounds[1] - population.bounds[0]
    agents = optin.PrivacyConstrained(population.limits)
    gap = 0.0 if eta else share * spread
    return agents, optin.plan(agents, **population.given, max_gap=gap, eta=eta)


def assert_same_design(one, other, *, unit: float = 1.0, rel: float = 1e-12) -> None:
    """Epsilons know no units; eta has the inverse of the data's, the variance their square."""
    assert other.cap == pytest.approx(one.cap, rel=rel)
    assert other.tilt == pytest.approx(one.tilt, abs=rel)
    assert other.eta == pytest.approx(one.eta / unit, rel=rel)
    assert other.noise_scale == pytest.approx(one.noise_scale * unit, rel=rel)
    assert other.variance == pytest.approx(one.variance * unit**2, rel=rel)
    assert other.worst_case_mse == pytest.approx(one.worst_case_mse * unit**2, rel=rel)
    assert other.pooled_people == one.pooled_people


@some
@given(populations(), shares, st.integers(-1000, 1000))
def test_moving_the_zero_of_the_data_changes_nothing(population, share, shift):
    spread = 2.0 ** round(np.log2(population.bounds[1] - population.bounds[0]))
    variance = None if population.data_variance is None else min(population.data_variance, spread**2 / 4)
    here = Population(population.limits, (0.0, spread), variance)
    there = Population(population.limits, (shift * spread, shift * spread + spread), variance)
    assert_same_design(planned(here, share)[1], planned(there, share)[1], rel=0)


@some
@given(populations(), shares, scales)
def test_changing_the_unit_of_the_data_changes_only_the_units(population, share, unit):
    low, high = population.bounds
    variance = None if population.data_variance is None else population.data_variance * unit**2
    scaled = Population(population.limits, (low * unit, high * unit), variance)
    assert_same_design(planned(population, share)[1], planned(scaled, share)[1], unit=unit)


@some
@given(populations(edges=False), st.floats(0.05, 0.95), scales)
def test_changing_the_unit_at_a_given_eta_changes_only_the_units(population, part, unit):
    low, high = population.bounds
    eta = part * sum(population.limits) / (high - low)
    variance = None if population.data_variance is None else population.data_variance * unit**2
    scaled = Population(population.limits, (low * unit, high * unit), variance)
    assert_same_design(planned(population, eta=eta)[1], planned(scaled, eta=eta / unit)[1], unit=unit)


@some
@given(populations(), shares, st.randoms(use_true_random=False))
def test_the_order_of_people_does_not_matter(population, share, random):
    order = list(range(len(population.limits)))
    random.shuffle(order)
    agents, plan = planned(population, share)
    shuffled = Population([population.limits[i] for i in order], population.bounds, population.data_variance)
    others, other = planned(shuffled, share)
    assert_same_design(plan, other)
    np.testing.assert_allclose(other.weights(others), plan.weights(agents)[order], rtol=1e-12)


@some
@given(populations(edges=False, max_size=10), st.integers(1, 12))
def test_ties_may_be_split_by_a_hair(population, copies):
    """Repeated limits, and the same limits one bit apart, are the same people to twelve digits."""
    alike = [limit for limit in population.limits for _ in range(copies)]
    apart = [limit * (1 + 2.0**-52 * (place % 3)) for place, limit in enumerate(alike)]
    one = planned(Population(alike, population.bounds, population.data_variance))[1]
    other = planned(Population(apart, population.bounds, population.data_variance))[1]
    assert other.cap == pytest.approx(one.cap, rel=1e-12)
    assert other.eta == pytest.approx(one.eta, rel=1e-12)
    assert other.variance == pytest.approx(one.variance, rel=1e-12)


@some
@given(populations(max_size=12), st.integers(1, 9))
def test_people_with_limit_zero_change_nothing_but_the_target(population, newcomers):
    """They get no weight; only the tilt, measured against equal weights for all who are announced, knows of them."""
    agents, plan = planned(population)
    more = Population([0.0] * newcomers + population.limits, population.bounds, population.data_variance)
    others, other = planned(more)
    assert (other.cap, other.eta, other.variance) == pytest.approx((plan.cap, plan.eta, plan.variance), rel=1e-13)
    assert other.tilt >= plan.tilt - 1e-12
    weights = other.weights(others)
    assert np.all(weights[:newcomers] == 0)
    np.testing.assert_allclose(weights[newcomers:], plan.weights(agents), rtol=1e-12)


@some
@given(populations(edges=False, max_size=12), st.sampled_from([2.0, 1024.0]))
def test_limits_and_standard_deviation_scaled_against_each_other_scale_the_cap(population, factor):
    """E1 is homogeneous: limits * f with variance / f^2 have cap * f."""
    variance = float(population.exact_variance) / 2
    one = planned(Population(population.limits, population.bounds, variance))[1]
    scaled = [limit * factor for limit in population.limits]
    other = planned(Population(scaled, population.bounds, variance / factor**2))[1]
    assert other.cap == pytest.approx(one.cap * factor, rel=1e-12)
    assert other.tilt == pytest.approx(one.tilt, abs=1e-12)


def quasi_linear_variance(costs, society, *, unit: float = 1.0, worth: float = 1.0, shift: float = 0.0):
    """Plan with data in other units, or utility in another currency, or counted from another zero."""
    low, high = society.bounds
    benefit = optin.LinearBenefit(base=society.base * worth + shift, slope=society.slope * worth / unit**2)
    agents = optin.QuasiLinear(costs, benefit=benefit, outside=society.outside * worth + shift)
    try:
        bounds = (low * unit, high * unit)
        return optin.plan(agents, bounds=bounds, data_variance=society.data_variance * unit**2).variance / unit**2
    except optin.Infeasible:
        return inf


@some
@given(societies(), scales, scales)
def test_quasi_linear_plans_know_neither_units_nor_currency(society, unit, worth):
    plain = quasi_linear_variance(society.costs, society)
    assert quasi_linear_variance(society.costs, society, unit=unit) == pytest.approx(plain, rel=1e-12)
    dearer = [cost * worth for cost in society.costs]
    assert quasi_linear_variance(dearer, society, worth=worth) == pytest.approx(plain, rel=1e-12)


def assert_between_neighbours(variance: float, society) -> None:
    """The answer for the same society, up to a benefit that is a trillionth higher or lower."""
    size = 1e-12 * (abs(society.base) + abs(society.outside))
    richer, poorer = (replace(society, base=society.base + change) for change in (size, -size))
    assert variance >= quasi_linear_variance(society.costs, richer) * (1 - 1e-12)
    assert variance <= quasi_linear_variance(society.costs, poorer) * (1 + 1e-12)


@some
@given(societies(), st.randoms(use_true_random=False))
def test_the_order_of_quasi_linear_people_does_not_matter(society, random):
    shuffled = [*society.costs]
    random.shuffle(shuffled)
    assert_between_neighbours(quasi_linear_variance(shuffled, society), society)


@some
@given(societies(zeros=False), st.integers(-2, 2))
def test_only_the_difference_between_benefit_and_outside_option_matters(society, shift):
    assert_between_neighbours(quasi_linear_variance(society.costs, society, shift=shift * abs(society.base)), society)
