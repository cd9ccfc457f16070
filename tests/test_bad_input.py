"""Every way to ask wrongly is answered with what, where and what to do, and never with a private value."""

import math

import numpy as np
import pandas as pd
import pytest

import optin
from optin import BadInput, Infeasible, LinearBenefit, PrivacyConstrained, QuasiLinear

SECRET = 0.8472910365
LIMITS = [1.0, 4.0, 9.0, 9.0]


def constrained(limits=LIMITS):
    return PrivacyConstrained(limits)


@pytest.mark.parametrize("model", [PrivacyConstrained, QuasiLinear])
@pytest.mark.parametrize(
    ("people", "says"),
    [
        ([1.0, SECRET, math.nan], r"\[2\] is missing; fill"),
        ([1.0, -SECRET], r"\[1\] is negative; it must be 0 or more"),
        ([], "is empty; at least one person"),
        ([[1.0, SECRET]], "2 dimensions; give one number for each person"),
        (["a", SECRET], "not a number; give one number"),
        ([1.0, None, SECRET], r"\[1\] is missing"),
        (np.ma.masked_array([1.0, SECRET], mask=[False, True]), r"\[1\] is masked; fill or drop"),
        (7.0, "0 dimensions"),
        (["1", "4"], "not a number"),
        (np.array([1 + 2j, SECRET]), "not a number"),
        (np.array(["2020-01-01"], dtype="datetime64[ns]"), "not a number"),
        ([1.0, 2e300], r"\[1\] is finite but above 1e\+300; "),
    ],
)
def test_a_bad_column_is_refused_by_index_without_its_contents(model, people, says):
    with pytest.raises(BadInput, match=says) as caught:
        model(people)
    assert str(SECRET)[2:] not in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert caught.value.__cause__ is None


def test_infinite_costs_are_refused_by_index():
    with pytest.raises(BadInput, match=r"costs\[1\] is infinite"):
        QuasiLinear([1.0, math.inf])


def test_unequal_lengths_are_refused():
    with pytest.raises(BadInput, match="budgets has 2 entries and costs has 3"):
        PrivacyConstrained.from_budgets([1, 2], [1, 2, 3])
    with pytest.raises(BadInput, match="costs has 2 entries and outside has 3"):
        QuasiLinear([1, 2], outside=[0, 0, 0])
    with pytest.raises(BadInput, match="costs has 2 entries and the benefit's base has 3"):
        QuasiLinear([1, 2], benefit=LinearBenefit([1, 2, 3], 1))


def test_differing_pandas_indexes_are_refused_and_equal_ones_are_not():
    budgets = pd.Series([1.0, 2.0], index=["a", "b"])
    with pytest.raises(BadInput, match="different indexes: the label at index 0 of costs"):
        PrivacyConstrained.from_budgets(budgets, pd.Series([1.0, 2.0], index=["c", "a"]))
    assert PrivacyConstrained.from_budgets(budgets, budgets).limits.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (["a"], "limits has 2 entries and ids has 1"),
        (["a", 1], r"ids\[1\] is not text"),
        (["a", "a"], r"ids\[0\] and ids\[1\]: 2 people have this id"),
    ],
)
def test_ids_are_distinct_texts(ids, says):
    with pytest.raises(BadInput, match=says):
        PrivacyConstrained([1, 2], ids=ids)


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ((1, 1), "the lower first"),
        ((2, 1), "the lower first"),
        ((0, math.inf), "must be finite"),
        ((math.nan, 1), "bounds must be two numbers"),
        ((0,), "two numbers"),
        (5, "two numbers"),
        (("x", 1), "bounds must be two numbers"),
        ((0, 1e-200), "less extreme"),
        (((1, 2), 3), "two numbers"),
    ],
)
def test_bad_bounds_are_refused(bounds, says):
    with pytest.raises(BadInput, match=says):
        optin.plan(constrained(), bounds=bounds)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"data_variance": -0.1}, "between 0 and 0.25"),
        ({"data_variance": 0.26}, "between 0 and 0.25"),
        ({"data_variance": math.nan}, "must be a number"),
        ({"sd": 0.6}, "sd must lie between 0 and 0.5"),
        ({"sd": -0.1}, "^sd must be 0 or more"),
        ({"data_sd": -0.1}, "^sd must be 0 or more"),
        ({"sd": 0.1, "data_sd": 0.1}, "another name for sd"),
        ({"data_variance": 0.1, "data_sd": 0.1}, "data_variance or sd, not both"),
        ({"eta": 0}, "positive finite"),
        ({"eta": math.inf}, "positive finite"),
        ({"eta": "fast"}, "eta must be a number"),
        ({"eta": 1e-200}, "between 1e-150 and 1e"),
        ({"eta": 1e200}, "between 1e-150 and 1e"),
        ({"sd": 1e200}, "between 0 and 0.5"),
        ({"max_gap": -1}, "between 0 and the width"),
        ({"max_gap": 1.5}, "between 0 and the width"),
        ({"slack": 0.1}, "slack is for people who weigh costs"),
    ],
)
def test_bad_questions_are_refused(question, says):
    with pytest.raises(BadInput, match=says):
        optin.plan(constrained(), bounds=(0, 1), **question)


def test_one_spread_has_three_names_and_plans_the_same():
    said = ({"sd": 0.2}, {"data_sd": 0.2}, {"data_variance": 0.2 * 0.2})
    plans = {optin.plan(constrained(), bounds=(0, 1), **one).to_json() for one in said}
    frames = [optin.compare(constrained(), bounds=(0, 1), **one) for one in said]
    assert len(plans) == 1
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


def test_quasi_linear_questions_are_checked_too():
    people = QuasiLinear([1, 2], benefit=LinearBenefit(30, 1))
    with pytest.raises(BadInput, match="max_gap is available for people with limits"):
        optin.plan(people, bounds=(0, 1), max_gap=0.1)
    with pytest.raises(BadInput, match="slack must be 0 or more"):
        optin.plan(people, bounds=(0, 1), slack=-0.1)


def test_something_that_is_not_agents_is_refused():
    with pytest.raises(BadInput, match="agents must be optin"):
        optin.plan(LIMITS, bounds=(0, 1))


@pytest.mark.parametrize(
    ("benefit", "says"),
    [
        (lambda v: 1 + v, "benefit rises with the variance"),
        (lambda v: math.nan, "not a finite number"),
        (lambda v: math.inf, "not a finite number"),
        (lambda v: None, "must give a number"),
        (lambda v: "much", "must give a number"),
        (lambda v: 1j, "must give a number"),
        (lambda v: math.log(v - 1), "failed at variance"),
        (lambda v: np.ones(3), "shape .3,. for 2 people"),
        (3.0, "must be callable"),
    ],
)
def test_a_benefit_that_is_no_benefit_is_refused(benefit, says):
    with pytest.raises(BadInput, match=says):
        optin.plan(QuasiLinear([1.0, 1.0], benefit=benefit), bounds=(0, 1))


def test_a_per_person_benefit_seen_to_rise_is_refused():
    people = QuasiLinear([1.0, 1.0], benefit=lambda v: np.array([1.0, 50.0 * v]), outside=[0.0, 0.0])
    with pytest.raises(BadInput, match="rises with the variance"):
        optin.plan(people, bounds=(0, 1))


def test_a_benefit_that_rises_for_one_person_and_falls_for_another_is_refused():
    people = QuasiLinear([1.0, 1.0], benefit=lambda v: np.array([10 - 20 * v, 5 + 10 * v]))
    with pytest.raises(BadInput, match="benefit of the person at index 1 rises"):
        optin.plan(people, bounds=(0, 1))


def test_pandas_columns_of_a_benefit_and_ids_must_be_aligned_too():
    costs = pd.Series([1.0, 2.0])
    other = pd.Series([1.0, 2.0], index=[1, 0])
    with pytest.raises(BadInput, match="different indexes"):
        QuasiLinear(costs, benefit=LinearBenefit(other, 1.0))
    with pytest.raises(BadInput, match="different indexes"):
        PrivacyConstrained(costs, ids=pd.Series(["a", "b"], index=[1, 0]))


@pytest.mark.parametrize("base", ["abc", None, math.inf])
def test_a_benefit_that_is_not_made_of_numbers_is_refused(base):
    with pytest.raises(BadInput, match="base of the benefit must be"):
        LinearBenefit(base=base)


def test_costs_too_small_to_divide_by_are_refused_by_index():
    with pytest.raises(BadInput, match=r"costs\[1\] is positive but below"):
        QuasiLinear([1.0, 1e-200])


def test_a_negative_slope_is_refused():
    with pytest.raises(BadInput, match="slope of the benefit must be 0 or more"):
        LinearBenefit(1.0, -1.0)


def test_an_outside_option_must_be_a_number_or_own_data():
    with pytest.raises(BadInput, match="own-data"):
        QuasiLinear([1.0], outside="mine")
    with pytest.raises(BadInput, match=r"outside\[1\] is not finite"):
        QuasiLinear([1.0, 1.0], outside=[0.0, math.nan])


@pytest.mark.parametrize("limit", [0.0, 1e-160])
def test_all_limits_zero_is_infeasible(limit):
    with pytest.raises(Infeasible, match="all 3 limits are 0"):
        optin.plan(constrained([limit] * 3), bounds=(0, 1))


def test_a_variance_too_small_to_matter_is_none():
    assert optin.plan(constrained([1, 2]), bounds=(0, 1), data_variance=1e-310).variance == pytest.approx(2 / 9)


@pytest.mark.slow
def test_personal_benefits_say_the_same_as_a_common_one_near_the_edge():
    short = 3.5 * (1 - 1e-6)
    with pytest.raises(Infeasible) as each:
        optin.plan(QuasiLinear([1.0], benefit=LinearBenefit([short], 2)), bounds=(0, 1))
    with pytest.raises(Infeasible) as common:
        optin.plan(QuasiLinear([1.0], benefit=LinearBenefit(short, 2)), bounds=(0, 1))
    assert common.value.shortfall <= each.value.shortfall <= 1e-4 * short


def test_an_eta_beyond_the_limits_is_infeasible_and_says_what_would_do():
    with pytest.raises(Infeasible, match="do not add up to the 24") as caught:
        optin.plan(constrained(), bounds=(0, 1), eta=24)
    assert caught.value.shortfall == 1.0
    more = constrained(np.resize(LIMITS, 8))
    assert caught.value.people_needed == math.ceil(4 * 24 / 23)
    optin.plan(more, bounds=(0, 1), eta=24)


@pytest.mark.parametrize("costs", [[1.0, 2.0], [0.5], [9.0, 4.0, 2.0]])
def test_what_an_infeasible_plan_asks_for_is_enough_and_not_much_less_is(costs):
    benefit = LinearBenefit(0.9, 1.0)
    with pytest.raises(Infeasible) as caught:
        optin.plan(QuasiLinear(costs, benefit=benefit), bounds=(0, 1))
    error = caught.value
    assert error.shortfall > 0
    assert not error.within_resolution
    eased = error.outside_needed - 1e-9
    optin.plan(QuasiLinear(costs, benefit=benefit, outside=eased), bounds=(0, 1))
    with pytest.raises(Infeasible):
        optin.plan(QuasiLinear(costs, benefit=benefit, outside=error.outside_needed + 1e-3), bounds=(0, 1))
    copies = math.ceil(error.people_needed / len(costs))
    optin.plan(QuasiLinear(np.tile(costs, copies), benefit=benefit), bounds=(0, 1))
    fewer = error.people_needed // len(costs) - 1
    if fewer >= 1:
        with pytest.raises(Infeasible):
            optin.plan(QuasiLinear(np.tile(costs, fewer), benefit=benefit), bounds=(0, 1))


def test_people_nobody_can_please_are_told_that_no_crowd_helps():
    with pytest.raises(Infeasible) as caught:
        optin.plan(QuasiLinear([1.0], benefit=LinearBenefit(0.0, 1.0)), bounds=(0, 1))
    assert caught.value.people_needed is None


def test_plans_refuse_people_of_the_other_model_and_other_people():
    plan = optin.plan(constrained(), bounds=(0, 1))
    with pytest.raises(BadInput, match="privacy-constrained people, not quasi-linear"):
        plan.epsilons(QuasiLinear([1.0]))
    with pytest.raises(BadInput, match="not the people this plan was made for"):
        plan.certificate(constrained([1, 4, 4, 9]))
    with pytest.raises(BadInput, match="not the people this plan was made for"):
        plan.certificate(constrained([1, 4, 9]))


def test_a_plan_changed_by_hand_is_not_read():
    import json

    text = optin.plan(constrained(), bounds=(0, 1)).to_json()
    changes = [{"cap": "abc"}, {"cap": None}, {"people": -3}, {"variances": ["nan"]}, {"bounds": [0]}, {"targets": 3}]
    changes += [{"shares": [0.5, 0.5]}, {"variances": []}, {"kind": "riddle"}, {"title": 3}, {"name": ""}]
    for change in changes:
        record = json.loads(text)
        parts = [record, record["wish"], record["designs"][0], record["sheet"], record["sheet"]["questions"][0]]
        next(part for part in parts if set(change) <= set(part)).update(change)
        with pytest.raises(BadInput):
            optin.Plan.from_json(json.dumps(record))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "optin.plan/99"}', '{"format": "optin.plan/1"}'])
def test_what_is_not_a_plan_is_not_read_as_one(text):
    with pytest.raises(BadInput, match="plan"):
        optin.Plan.from_json(text)


def test_no_repr_shows_a_limit_or_a_cost():
    marker = 0.123456789123
    shown = repr(constrained([marker, 2.0])) + repr(QuasiLinear([marker], benefit=LinearBenefit([marker], 1.0)))
    assert "12345" not in shown
