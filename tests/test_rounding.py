"""Rounding always ends on the person's side: in what is read, in what is divided, in what is promised."""

import contextlib
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin import LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.errors import BadInput
from optin.kernel.rounding import above, below, line_above, line_below, quotient_below
from optin.ledger import Ledger, Terms

NINES = "0.99999999999999999999"
GRAIN = Fraction(1, 2**32)
budgets = st.floats(0, 1e6) | st.floats(0, 1e150) | st.sampled_from([0.0, 5e-324, 1e-310, 0.1, 0.3, 1.0, 3.0, 49.0])
costs = st.floats(1e-9, 1e6) | st.floats(1e-150, 1e300) | st.sampled_from([0.0, 0.1, 0.3, 1.0, 3.0, 49.0])


def promised(people, count=None):
    """List what people are promised, exactly, where nobody is held back by a cap."""
    return optin.Announcement.grains(_open_offer(len(people)), people).tolist()


def _open_offer(people):
    agents = PrivacyConstrained([900.0] * people)
    return optin.plan(agents, bounds=(0, 1), data_variance=0).announce(agents, min_people=1)


# Numbers that no float holds.


@pytest.mark.parametrize("kind", [Decimal, Fraction], ids=["Decimal", "Fraction"])
def test_a_limit_just_below_a_grain_is_not_promised_that_grain(kind):
    people = PrivacyConstrained([kind(NINES), kind("0.1"), kind("2"), 0.5])
    assert promised(people) == [2**32 - 1, int(Fraction("0.1") / GRAIN), 2 * 2**32, 2**31]
    assert all(Fraction(got) <= Fraction(want) for got, want in zip(people.limits, (NINES, "0.1", 2, 0.5), strict=True))


@given(st.fractions(0, 10**6) | st.integers(2**53, 2**70) | st.decimals(0, 1e9, allow_nan=False))
def test_limits_fall_by_rounding_and_costs_rise(number):
    exact = Fraction(number)
    assert Fraction(PrivacyConstrained([number]).limits[0]) <= exact <= Fraction(QuasiLinear([number + 1]).costs[0])
    assert Fraction(below(number)) <= exact <= Fraction(above(number))
    assert math.nextafter(below(number), math.inf) >= above(number)


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.longdouble])
def test_wide_numbers_of_numpy_are_rounded_towards_the_person(kind):
    wide = np.array([2**53 + 1, 2**62 + 1, 3], dtype=kind)
    exact = [2**53 + 1, 2**62 + 1, 3]
    assert all(Fraction(got) <= want for got, want in zip(PrivacyConstrained(wide).limits, exact, strict=True))
    assert all(Fraction(got) >= want for got, want in zip(QuasiLinear(wide).costs, exact, strict=True))


def test_numbers_beyond_every_float_are_refused_and_text_is_no_number():
    with pytest.raises(BadInput, match=r"limits\[0\] is finite but above"):
        PrivacyConstrained([10**400])
    for text in (np.array([NINES], dtype=object), [NINES]):
        with pytest.raises(BadInput, match="not a number"):
            PrivacyConstrained(text)
    with pytest.raises(BadInput, match=r"limits\[1\] is missing"):
        PrivacyConstrained(np.array([Decimal(1), Decimal("NaN")], dtype=object))


@pytest.mark.parametrize("limit", [Decimal(NINES), Fraction(NINES), NINES])
def test_what_one_person_is_told_is_rounded_as_what_they_are_promised(limit):
    deal = optin.explain(_open_offer(3), limit=limit)
    assert deal.grains == 2**32 - 1
    assert deal.margin >= 0


# Budgets over costs.


@settings(max_examples=examples(300))
@given(budgets, costs)
def test_cost_times_limit_is_never_above_the_budget(budget, cost):
    limit = float(PrivacyConstrained.from_budgets([budget, 1.0], [cost, 1.0]).limits[0])
    assert math.isinf(limit) if cost == 0 else Fraction(cost) * Fraction(limit) <= Fraction(budget)


@given(st.fractions(0, 100), st.fractions("1/1000", 100))
def test_cost_times_limit_is_never_above_the_budget_for_fractions_either(budget, cost):
    assert Fraction(PrivacyConstrained.from_budgets([budget], [cost]).limits[0]) * cost <= budget


def test_a_quotient_is_the_largest_float_that_keeps_the_budget():
    rng = np.random.default_rng(3)
    budgets, costs = rng.random(2000) * 10.0 ** rng.integers(-9, 9, 2000), rng.random(2000)
    for budget, cost, limit in zip(budgets, costs, quotient_below(budgets, costs), strict=True):
        assert (
            Fraction(cost) * Fraction(limit) <= Fraction(budget) < Fraction(cost) * Fraction(math.nextafter(limit, 9e9))
        )


# Benefit minus outside option.


@settings(max_examples=examples(300))
@given(st.floats(-1e15, 1e15), st.floats(0, 1e12), st.floats(0, 1e9))
def test_a_line_is_rounded_down_and_up_and_not_far(base, slope, at):
    exact = Fraction(base) - Fraction(slope) * Fraction(at)
    low, high = line_below(base, slope, at), line_above(base, slope, at)
    assert Fraction(low) <= exact <= Fraction(high)
    assert abs(exact) < 1e-250 or high <= math.nextafter(math.nextafter(low, math.inf), math.inf)
    assert line_below(np.array([base]), slope, at).tolist() == [low]


def nobody_loses(people, base, slope, outside):
    """Announce, and compare what everyone gains and pays in fractions."""
    offer = optin.plan(people, bounds=(0, 1)).announce(people, min_people=1)
    variance = Fraction(offer.promised_variance)
    each = zip(people.costs.tolist(), offer.grains(people).tolist(), base, slope, outside, strict=True)
    for cost, grains, a, b, o in each:
        assert grains == 0 or Fraction(a) - Fraction(b) * variance - Fraction(o) - Fraction(cost) * grains * GRAIN >= 0
    assert offer.sealed.total_grains > 0


@pytest.mark.parametrize("base", [1e12, 1e15, 5.0])
def test_nobody_loses_where_benefit_and_outside_option_nearly_cancel(base):
    costs = np.linspace(0.3, 4.0, 40)
    outside = base - 5.0
    people = QuasiLinear(costs, benefit=LinearBenefit(base, 1.0), outside=outside)
    nobody_loses(people, [base] * 40, [1.0] * 40, [outside] * 40)


def test_nobody_loses_where_benefits_differ_and_nearly_cancel():
    rng = np.random.default_rng(2)
    base, slope, costs = 1e12 + rng.random(60) * 7, rng.random(60), rng.random(60) + 0.1
    outside = base - 5.0
    nobody_loses(QuasiLinear(costs, benefit=LinearBenefit(base, slope), outside=outside), base, slope, outside)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32), st.floats(0, 14), st.floats(0.1, 9))
def test_nobody_loses_whatever_the_numbers(seed, size, surplus):
    rng = np.random.default_rng(seed)
    base = float(10.0**size * rng.random() + surplus)
    outside, slope, costs = base - surplus, float(rng.random()), rng.random(30) + 0.05
    people = QuasiLinear(costs, benefit=LinearBenefit(base, slope), outside=outside)
    with contextlib.suppress(optin.Infeasible):
        nobody_loses(people, [base] * 30, [slope] * 30, [outside] * 30)


def test_the_value_of_one_s_own_data_is_rounded_up():
    people = QuasiLinear([0.5] * 30, benefit=LinearBenefit(1e12, 4.0), outside="own-data")
    exact = Fraction(10**12) - 4 * Fraction(0.1)
    assert Fraction(people.outside_at(0.1)) >= exact >= Fraction(people.benefit_at(0.1))


# What a ledger holds.


@pytest.mark.parametrize("column", ["grains", "allowances"])
@pytest.mark.parametrize("amount", [2**63, 2**64 - 1])
def test_a_promise_beyond_64_bits_is_refused_and_never_negative(tmp_path, column, amount):
    given = {"grains": np.array([5, 7]), "allowances": np.array([8, 8])}
    given[column] = np.array([1, amount], dtype=np.uint64)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        with pytest.raises(BadInput, match="person at index 1"):
            ledger.announce(Terms("census", 1, "f"), body="{}", ids=["ann", "bob"], **given)
        with pytest.raises(BadInput, match="person at index 1"):
            ledger.remaining(["ann", "bob"], raised_to=np.array([1, amount], dtype=np.uint64))
        assert ledger.acts() == []
