"""Importance and wished errors on one cap (E19), what a target takes, and what a wrong declared variance costs (E29)."""

import math

import numpy as np
import pytest

import optin
from optin import BadInput, LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.kernel.passes import ArrayLimits
from optin.kernel.sharing import Demand, theta_below

FOUR = PrivacyConstrained([1, 4, 9, 9])
INF = math.inf
MIXED = PrivacyConstrained(np.repeat([0.1, 0.5, 1.0], [340, 430, 230]))
SHEET = [
    optin.YesNo("break"),
    optin.Choice("shift", options=("early", "late", "night")),
    optin.Number("hours", bounds=(0, 80), sd=9),
]


# --- importance (E19)


def five(importance):
    return [
        optin.YesNo("a", importance=importance[0]),
        optin.Choice("b", options=tuple("12345"), importance=importance[1]),
    ]


@pytest.mark.parametrize(
    ("limits", "sheet", "cap", "theta", "first"),
    [
        ([1, 4, 9, 9], [optin.YesNo("a"), optin.YesNo("b", importance=4)], 6.06989749223654, 1.38872829882030, 0.158789437489107),
        ([0.5] * 100 + [INF] * 100, five((4, 1)), 0.972075747108188, 0.0251295408045774, 0.693237744704962),
    ],
)  # fmt: skip
def test_importance_has_the_known_answers(limits, sheet, cap, theta, first):
    plan = optin.plan(PrivacyConstrained(limits), sheet)
    assert (plan.cap, plan.theta, plan["a"].epsilon_share) == pytest.approx((cap, theta, first), rel=1e-12)


def test_a_question_has_as_many_times_the_effective_people_as_it_is_important():
    plan = optin.plan(MIXED, [optin.YesNo("a"), optin.YesNo("b", importance=4), optin.YesNo("c", importance=0.5)])
    one = 1 / plan.theta
    assert plan["a"].effective_people == pytest.approx(one, rel=1e-9)
    assert plan["b"].effective_people == pytest.approx(4 * one, rel=1e-9)
    assert plan.effective_people == plan["c"].effective_people == pytest.approx(one / 2, rel=1e-9)


def test_the_same_importance_for_all_changes_nothing():
    plain = optin.plan(MIXED, [optin.YesNo("a"), optin.YesNo("b")])
    doubled = optin.plan(MIXED, [optin.YesNo("a", importance=2), optin.YesNo("b", importance=2)])
    assert plain.designs == doubled.designs
    assert not doubled.certificate(MIXED).one_cap


@pytest.mark.parametrize("importance", [1.5, 4, 100])
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_the_certificate_says_best_on_one_cap_beside_what_no_design_could_beat(importance, gap):
    plan = optin.plan(MIXED, [optin.YesNo("a", max_gap=gap), optin.YesNo("b", importance=importance)])
    found = plan.certificate(MIXED)
    assert found.one_cap
    assert found.holds
    assert found.lower_bound <= found.objective == pytest.approx(plan.theta, rel=1e-12)
    assert found.claim.startswith("best on one cap: theta is ")
    alone = [optin.plan(MIXED, question).worst_case_people for question in plan.sheet]
    assert found.lower_bound >= max(1 / alone[0], importance / alone[1]) * (1 - 1e-12)


@pytest.mark.parametrize("factor", [0.9, 0.999, 1.001, 1.1])
def test_another_cap_is_not_certified_as_the_best(factor):
    from dataclasses import replace

    sheet = [optin.YesNo("a"), optin.YesNo("b", importance=4)]
    plan = optin.plan(FOUR, sheet)
    cap = plan.cap * factor
    eps = np.minimum(FOUR.limits, cap)
    total, squares = eps.sum(), (eps**2).sum() / eps.sum() ** 2
    sums = replace(plan.designs[0].sums, epsilon_total=total, weight_squares=squares)
    sums = replace(sums, tilt=float(np.maximum(eps / total - 0.25, 0).sum()))
    low, high = 1e-6, 1 - 1e-6
    for _ in range(100):  # the best shares at this cap: 4 v_b = v_a
        first = (low + high) / 2
        v = [squares + 8 / (share * total) ** 2 for share in (first, 1 - first)]
        low, high = (first, high) if v[0] > 4 * v[1] else (low, first)
    shares = (first, 1 - first)
    design = replace(plan.designs[0], cap=cap, shares=shares, sums=sums, variances=tuple(each / 4 for each in v))
    pretended = replace(plan, designs=(design,)).certificate(FOUR)
    assert pretended.claim_error < 1e-9
    assert pretended.nearby < pretended.objective
    assert not pretended.holds


def test_no_design_at_all_has_a_theta_below_the_bound():
    """Several caps could do better than one, never better than the bound: a simplex search over all splits."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(7)
    for _ in range(4):
        limits, prices, importance = rng.uniform(0.5, 4, 4), (8.0, 24.0), (1.0, float(rng.uniform(1.5, 6)))
        bound = theta_below(ArrayLimits(limits), Demand(prices, importance, (0.0, 0.0)))

        def theta(parts, limits=limits, prices=prices, importance=importance):
            split = limits[:, None] * np.abs(parts.reshape(4, 2))
            split /= np.maximum(split.sum(1) / limits, 1.0)[:, None]
            v = ((split**2).sum(0) + prices) / split.sum(0) ** 2
            return float(np.max(importance * v))

        best = min(
            minimize(theta, rng.uniform(0.2, 0.8, 8), method="Nelder-Mead", options={"maxiter": 3000}).fun
            for _ in range(3)
        )
        assert bound <= best * (1 + 1e-9)


def test_a_question_that_takes_more_than_half_is_warned_about_and_not_refused():
    sharp = optin.plan(MIXED, [optin.YesNo("a"), optin.Number("income", bounds=(0, 1000), sd=1)])
    assert sharp["income"].epsilon_share == pytest.approx(0.998, abs=5e-4)
    assert any('"income" takes more than half' in sentence for sentence in sharp.warnings())
    assert not any(
        "more than half of everyone" in sentence for sentence in optin.plan(MIXED, SHEET[:2] + five((1, 1))).warnings()
    )
    assert not any("more than half of everyone" in sentence for sentence in optin.plan(MIXED, SHEET[0]).warnings())


def test_warnings_name_the_question_they_are_about():
    plan = optin.plan(PrivacyConstrained([0.1] * 20), SHEET)
    for question in SHEET:
        assert any(sentence.startswith(f'Question "{question.name}": ') for sentence in plan.warnings())
    high = optin.plan(PrivacyConstrained([50.0] * 4000), SHEET).warnings()
    assert sum("is this a percentage" in sentence for sentence in high) == 1


# --- wished standard errors


def test_wished_errors_are_met_iff_theta_is_at_most_one():
    wishes = {"break": 0.03, "shift": 0.04, "hours": 0.7}
    plan = optin.plan(MIXED, SHEET, wished_errors=wishes)
    ratios = [plan[name].standard_error / error for name, error in wishes.items()]
    assert max(ratios) ** 2 == pytest.approx(plan.theta, rel=1e-9)
    assert min(ratios) == pytest.approx(max(ratios), rel=1e-9), "all wishes are met or missed alike"
    tight = optin.plan(MIXED, SHEET, wished_errors={n: e * max(ratios) * (1 + 1e-9) for n, e in wishes.items()})
    missed = optin.plan(MIXED, SHEET, wished_errors={n: e * max(ratios) * (1 - 1e-9) for n, e in wishes.items()})
    assert (tight.wish_met, missed.wish_met) == (True, False)
    assert "wished standard errors  met" in repr(tight)
    assert "wished standard errors  not met" in repr(missed)
    assert plan["hours"].wished_error == 0.7
    assert plan.certificate(MIXED).holds
    assert optin.Plan.from_json(plan.to_json()) == plan


def test_one_question_takes_a_plain_wish():
    plan = optin.plan(MIXED, bounds=(0, 1), wished_errors=0.02)
    assert plan.wish_met == (plan.standard_error <= 0.02)
    assert plan.designs == optin.plan(MIXED, bounds=(0, 1)).designs
    assert optin.plan(MIXED, bounds=(0, 1)).wish_met is None


@pytest.mark.parametrize("error", [1e-9, 1e9])
def test_wishes_beyond_reason_are_planned_all_the_same(error):
    plan = optin.plan(MIXED, SHEET[:2], wished_errors={"break": error, "shift": error})
    assert plan.wish_met == (error > 1)


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        (0.1, "for each question by its name"),
        ({"break": 0.1, "shift": 0.1}, 'no standard error for question "hours"'),
        ({"break": 0.1, "shift": 0.1, "hours": 1, "age": 1}, 'names "age"'),
        ({"break": 0.0, "shift": 0.1, "hours": 1}, "positive finite"),
        ({"break": -1, "shift": 0.1, "hours": 1}, "positive finite"),
        ({"break": INF, "shift": 0.1, "hours": 1}, "positive finite"),
        ({"break": "x", "shift": 0.1, "hours": 1}, "must be a number"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(wishes, words):
    with pytest.raises(BadInput, match=words):
        optin.plan(MIXED, SHEET, wished_errors=wishes)


def test_wishes_and_importance_do_not_go_together():
    with pytest.raises(BadInput, match="give one of the two"):
        optin.plan(MIXED, optin.YesNo("a", importance=2), wished_errors=0.1)
    with pytest.raises(BadInput, match="sd is too small"):
        optin.plan(MIXED, bounds=(0, 1), data_sd=0, wished_errors=0.1)


# --- what a target takes


@pytest.mark.parametrize("importance", [1.0, 3.0])
def test_as_many_people_as_a_target_says_reach_it_and_no_whole_copy_fewer(importance):
    limits = np.random.default_rng(5).lognormal(-1, 1, 100)
    sheet = [optin.YesNo("a"), optin.Choice("b", options=("x", "y", "z"), importance=importance)]
    wanted = {"a": 0.03, "b": 0.01}
    plan = optin.plan(PrivacyConstrained(limits), sheet, target_error=wanted)
    for name, error in wanted.items():
        target = plan[name].target
        copies = -(-target.people_needed // 100)
        enough = optin.plan(PrivacyConstrained(np.tile(limits, copies)), sheet)
        fewer = optin.plan(PrivacyConstrained(np.tile(limits, copies - 1)), sheet)
        assert enough[name].standard_error <= error * (1 + 1e-9)
        assert fewer[name].standard_error > error
    assert optin.Plan.from_json(plan.to_json()) == plan
    assert 'for a standard error of "a" of 0.03' in repr(plan)


@pytest.mark.parametrize("importance", [1.0, 3.0])
def test_the_limit_that_a_target_names_reaches_it_exactly(importance):
    sheet = [optin.YesNo("a"), optin.Choice("b", options=("x", "y", "z"), importance=importance)]
    target = optin.plan(MIXED, sheet, target_error={"b": 0.03})["b"].target
    alike = optin.plan(PrivacyConstrained(np.full(1000, target.limit_needed)), sheet)
    assert alike["b"].standard_error == pytest.approx(0.03, rel=1e-9)
    assert optin.plan(MIXED, sheet, target_error={"b": 0.001})["b"].target.limit_needed is None


def test_questions_without_a_target_have_none():
    plan = optin.plan(MIXED, SHEET, target_error={"hours": 5.0})
    assert plan["hours"].target.reached
    assert plan["hours"].target.people_needed == 1000
    assert plan["break"].target is None


def test_targets_of_people_with_costs_count_crowds():
    costs = np.full(50, 2.0)
    sheet = SHEET[:2]
    plan = optin.plan(QuasiLinear(costs, benefit=LinearBenefit(1, 1)), sheet, target_error={"break": 0.02})
    needed = plan["break"].target.people_needed
    for people, reached in ((needed, True), (needed - 1, False)):
        crowd = QuasiLinear(np.full(people, 2.0), benefit=LinearBenefit(1, 1))
        assert (optin.plan(crowd, sheet)["break"].standard_error <= 0.02) == reached


@pytest.mark.parametrize(
    ("sheet", "target", "words"),
    [
        (SHEET, 0.1, "by its name"),
        (SHEET, {"age": 0.1}, 'names "age"'),
        (SHEET, {"break": 0}, "target_error must be a positive"),
        ([optin.YesNo("a", max_gap=0.1), optin.YesNo("b")], {"b": 0.1}, "independent values"),
    ],
)
def test_targets_that_make_no_sense_are_refused(sheet, target, words):
    with pytest.raises(BadInput, match=words):
        optin.plan(MIXED, sheet, target_error=target)


# --- a wrong declared variance (E29)


def test_half_of_what_was_declared_costs_the_known_loss():
    found = optin.plan(FOUR, bounds=(0, 1)).if_variance(1 / 8, 1 / 4, FOUR)
    assert found.loss == pytest.approx(7553 / 7425, rel=1e-12)
    assert found.certified == pytest.approx(5893 / 5625, rel=1e-12)
    assert found.declare == pytest.approx(math.sqrt(1 / 32))


@pytest.mark.parametrize(
    "sheet", [[optin.Number("x", bounds=(0, 4), sd=1)], SHEET, SHEET[1]], ids=["one", "three", "choice"]
)
@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_a_loss_is_at_most_what_is_certified_and_that_at_most_the_worst(sheet, factor):
    rng = np.random.default_rng(3)
    for limits in (MIXED.limits, rng.lognormal(0, 2, 50), np.full(9, 0.3), np.array([1.0, INF])):
        people = PrivacyConstrained(limits)
        plan = optin.plan(people, sheet)
        truth = factor * plan.data_variance
        found = plan.if_variance(truth, truth, people)
        assert 1 - 1e-12 <= found.loss <= found.certified * (1 + 1e-12)
        assert found.certified <= (1 + factor) ** 2 / (4 * factor) * (1 + 1e-12)
        assert plan.if_variance(truth, truth).loss is None


def test_the_loss_is_that_of_the_plan_with_the_truth_declared():
    plan = optin.plan(MIXED, bounds=(0, 2), data_variance=0.5)
    best = optin.plan(MIXED, bounds=(0, 2), data_variance=0.1)
    eps = plan.epsilons(MIXED)
    truly = (0.1 * (eps**2).sum() + 2 * 4) / eps.sum() ** 2
    assert plan.if_variance(0.1, 0.5, MIXED).loss == pytest.approx(truly / best.variance, rel=1e-12)


def test_an_sd_of_nothing_may_be_wrong_too():
    plan = optin.plan(FOUR, bounds=(0, 1), data_sd=0)
    found = plan.if_variance(0.01, 0.2, FOUR)
    assert 1 < found.loss <= found.certified


@pytest.mark.parametrize("ends", [(0, 1), (2, 1), (1, INF), (-1, 1), (math.nan, 1)])
def test_ranges_of_variance_that_make_no_sense_are_refused(ends):
    with pytest.raises(BadInput):
        optin.plan(FOUR, bounds=(0, 1)).if_variance(*ends)


def test_what_a_wrong_variance_costs_is_known_for_one_optimum_alone():
    for sheet in ([optin.YesNo("a"), optin.YesNo("b", importance=2)], [optin.YesNo("a", max_gap=0.1)]):
        with pytest.raises(BadInput, match="what a wrong variance costs"):
            optin.plan(FOUR, sheet).if_variance(0.5, 2)
    with pytest.raises(BadInput, match="not 1000"):
        optin.plan(FOUR, bounds=(0, 1)).if_variance(0.1, 0.2, MIXED)
