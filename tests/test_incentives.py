"""Who gains by a false report: nobody with a limit, whoever overstates a cost, and a check that can fail."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin import incentives
from optin.kernel.replacing import OneReplaced

UNIT = {"bounds": (0, 1)}
ROUNDING = 1e-12
TRIPLES = 10_000


def triples(count, seed):
    """Draw populations with ties, zeros and infinities; a person; a report below, at, near or far above the truth."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, 13))
        levels = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 9.0, math.inf]
        limits = rng.choice(levels, n) if rng.random() < 0.4 else 10.0 ** rng.uniform(-2, 1.5, n)
        person = int(rng.integers(n))
        truth = limits[person]
        choices = [0.0, math.inf, truth * 10.0 ** rng.uniform(-2, 2), rng.choice(limits), 10.0 ** rng.uniform(-2, 2)]
        yield (
            limits,
            person,
            float(rng.choice([c for c in choices if not math.isnan(c)])),
            float(rng.choice([0.25, 0.02])),
        )


def worst_gain(count, planner=None):
    """Return the largest gain of any triple under a planner, by default optin's own."""
    gains = []
    for limits, person, report, variance in triples(count, seed=20260):
        asked = planner or incentives.optimum(**UNIT, data_variance=variance)
        gains.append(incentives.gain_of_lying(asked, limits, person=person, report=report))
    return max(gains)


def test_nobody_with_a_limit_gains_by_a_false_report_in_a_thousand_random_tries():
    assert worst_gain(1_000) <= ROUNDING


@pytest.mark.slow
def test_nobody_with_a_limit_gains_by_a_false_report_in_ten_thousand_random_tries():
    assert worst_gain(TRIPLES) <= ROUNDING


def mean_for_all(told):
    """Ignore limits: everyone gets the mean of what was told."""
    finite = np.where(np.isfinite(told), told, 10.0)
    reach = finite.sum()
    return np.full(len(told), finite.mean()), (0.25 * reach**2 / len(told) + 2) / reach**2 if reach else math.inf


def twice_the_cap(told):
    """Plan well, then hand out twice as much to everyone as planned."""
    epsilons, variance = incentives.optimum(**UNIT)(told)
    return 2 * epsilons, variance / 4


def proportional(told):
    """Keep limits, but use all of them, also where less would be better."""
    finite = np.where(np.isfinite(told), told, 100.0)
    return finite, (0.25 * float(finite @ finite) + 2) / finite.sum() ** 2 if finite.sum() else math.inf


@pytest.mark.parametrize("planner", [mean_for_all, twice_the_cap, proportional], ids=lambda p: p.__name__)
def test_the_same_check_catches_a_planner_that_ignores_limits_or_wastes_them(planner):
    assert worst_gain(300, planner) > 0.01


def strictest(told):
    """Treat everyone as the strictest person."""
    least = told.min()
    return np.full(len(told), least), 0.25 / len(told) + 2 / (len(told) * least) ** 2 if least else math.inf


def threshold(told):
    """Leave the strictest out and treat the rest alike, as well as that can be done."""
    falling = np.sort(np.where(np.isfinite(told), told, 1e9))[::-1]
    counts = np.arange(1, len(told) + 1)
    with np.errstate(divide="ignore"):
        variances = 0.25 / counts + 2 / (counts * falling) ** 2
    best = falling[int(np.argmin(variances))]
    return np.where(told >= best, best, 0.0), float(variances.min())


def robust(told, outcome="worst_case_mse"):
    """Plan for values that may be related to limits, for people who care about the worst case."""
    if not told.max() > 0:
        return np.zeros(len(told)), math.inf
    people = optin.PrivacyConstrained(told)
    plan = optin.plan(people, **UNIT, max_gap=1.0)
    return plan.epsilons(people), getattr(plan, outcome)


@pytest.mark.parametrize("planner", [strictest, threshold, robust], ids=lambda p: p.__name__)
def test_planners_that_are_best_at_what_people_care_about_are_truthful_too(planner):
    assert worst_gain(300, planner) <= ROUNDING


def test_a_robust_plan_is_not_truthful_for_people_who_care_about_the_variance_alone():
    def variance_of_robust(told):
        return robust(told, "variance")

    limits = np.array([11.2, 5.2, 0.54, 0.2])
    assert incentives.gain_of_lying(variance_of_robust, limits, person=2, report=0.08) > 0.1


edges = st.sampled_from([0.0, 0.25, 1.0, 4.0, 9.0, math.inf])
limit = edges | st.floats(1e-3, 1e3)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(limit, min_size=1, max_size=9), st.data(), st.sampled_from([0.0, 0.01, 0.25]))
def test_one_replaced_limit_gives_the_plan_made_from_scratch(limits, data, variance):
    person, report = data.draw(st.integers(0, len(limits) - 1)), data.draw(limit)
    table = OneReplaced(np.array(limits))
    found = table.solve(np.array([person]), np.array([report]), spread=variance, kappa=2.0)
    told = [report if k == person else t for k, t in enumerate(limits)]
    try:
        plan = optin.plan(optin.PrivacyConstrained(told), **UNIT, data_variance=variance)
    except optin.Infeasible:
        assert math.isinf(found.variances[0])
        return
    assert found.variances[0] == pytest.approx(plan.variance, rel=1e-12)
    assert found.caps[0] == pytest.approx(plan.cap, rel=1e-12)


def test_all_reports_of_all_people_agree_with_both_claims():
    rng = np.random.default_rng(3)
    agents = optin.PrivacyConstrained(rng.lognormal(-1, 1.2, 400))
    found = incentives.limit_reports(agents, **UNIT)
    assert found.gains.max() <= ROUNDING
    truth, told = agents.limits[:, None], found.reports
    assert found.kept[told <= truth].all()
    raised = (told > truth) & found.kept
    assert np.allclose(found.variances[raised], found.honest_variance, rtol=1e-12)
    cap = optin.plan(agents, **UNIT).cap
    lowered = (told < 0.99 * truth) & (told < 0.99 * cap)
    assert raised.sum() > 100
    assert lowered.sum() > 100
    assert (found.variances[lowered] > found.honest_variance).all()
    assert (np.diff(found.utilities(lambda v: 1 / v)[:, :17], axis=1) >= -1e-9).all()


def crowd(n, *, seed=0, base=2.0, slope=1.0):
    costs = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    return optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=base, slope=slope))


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 10), st.floats(-1.0, 1.5), st.floats(0.0, 8.0))
def test_stated_costs_at_once_bring_what_planning_again_says(seed, n, power, slope):
    people = crowd(n, seed=seed, base=4.0, slope=slope)
    person = seed % n
    told = people.costs[:, None].copy()
    told[person] *= 10.0**power
    try:
        found = incentives.cost_reports(people, **UNIT, reports=told)
    except optin.Infeasible:
        return
    expected = incentives.gain_of_cost(people, person=person, report=float(told[person, 0]), **UNIT)
    assert found.gains[person, 0] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_understating_a_cost_never_pays():
    people = crowd(300, seed=4)
    found = incentives.cost_reports(people, **UNIT, reports=people.costs[:, None] * np.geomspace(0.05, 1.0, 20))
    assert found.gains.max() <= 1e-9


def test_overstating_pays_everyone_and_the_best_lie_in_a_crowd_has_no_end():
    found = incentives.best_lies(crowd(500), **UNIT)
    assert (found.best_gains > 0.1 * found.surplus).all()
    assert (found.best_reports[:, None] / found.reports >= 1 - 1e-12).all()
    assert np.median(found.best_reports / crowd(500).costs) > 1e6
    assert (found.best_gains <= found.surplus * (1 + 1e-9)).all()


def median_gain(n, costs, **question):
    people = optin.QuasiLinear(costs(n), benefit=optin.LinearBenefit(base=2.0, slope=1.0))
    person = int(np.argsort(people.costs)[n // 2])
    gain = incentives.gain_of_cost(people, person=person, report=1e8, **UNIT, **question)
    return gain / optin.plan(people, **UNIT, **question).surplus


def test_the_gain_stays_with_bounded_costs_fades_with_unbounded_ones_and_like_one_over_n_at_given_noise():
    sizes = (100, 1_000, 10_000)
    bounded = [median_gain(n, lambda n: np.linspace(0.5, 2.0, n)) for n in sizes]
    open_ended = [median_gain(n, lambda n: 1 / np.linspace(1 / n, 1.0, n)) for n in sizes]
    noisy = [median_gain(n, lambda n: np.linspace(0.5, 2.0, n), eta=40.0) for n in sizes]
    assert min(bounded) > 1.25 / 2.0  # the cap falls to the strictest limit and no further
    assert bounded[-1] == pytest.approx(1.25 / 2.0, rel=0.05)
    assert all(0.35 < b / a < 0.6 for a, b in itertools.pairwise(open_ended))  # n^(-1/3) is .464 for ten times as many
    assert all(0.07 < b / a < 0.13 for a, b in itertools.pairwise(noisy))


def test_questions_that_have_no_answer_are_refused():
    people = optin.PrivacyConstrained([1.0, 2.0])
    with pytest.raises(optin.BadInput, match="row for each of the 2"):
        incentives.limit_reports(people, **UNIT, reports=np.ones((3, 2)))
    with pytest.raises(optin.BadInput, match="must be numbers"):
        incentives.limit_reports(people, **UNIT, reports=["none"])
    with pytest.raises(optin.Infeasible, match="all 2 limits are 0"):
        incentives.limit_reports(optin.PrivacyConstrained([0.0, 0.0]), **UNIT)
    with pytest.raises(optin.BadInput, match="0 or more"):
        incentives.limit_reports(people, **UNIT, reports=[-1.0])
    with pytest.raises(optin.BadInput, match="cost_reports"):
        incentives.limit_reports(crowd(3), **UNIT)
    own = optin.QuasiLinear([1.0, 1.0], benefit=optin.LinearBenefit(base=[9.0, 8.0], slope=1.0))
    with pytest.raises(optin.BadInput, match="gain_of_cost"):
        incentives.cost_reports(own, **UNIT)
    assert math.isfinite(incentives.gain_of_cost(own, person=0, report=2.0, **UNIT))


def test_limits_whose_squares_overflow_are_read_as_no_limit():
    people = optin.PrivacyConstrained([1.0, 4.0, 1e200, 1e299])
    found = incentives.limit_reports(people, **UNIT, reports=[4.0, 1e250, math.inf])
    assert found.honest_variance == pytest.approx(optin.plan(people, **UNIT).variance)
    assert found.variances[2, 1:] == pytest.approx(found.honest_variance)
    assert found.kept[2:].all()
    assert not found.kept[:2, 1:].any()
