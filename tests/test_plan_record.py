"""A plan means the same in every case, says it readably, and survives a round trip."""

import json
import math

import numpy as np
import pytest
from changing import changed_plan

import optin
from optin import LinearBenefit, Plan, PrivacyConstrained, QuasiLinear

WORKED = PrivacyConstrained([1, 4, 9, 9])
CASES = {
    "worked": (WORKED, {}),
    "shifted bounds": (WORKED, {"bounds": (-3, 5)}),
    "at eta": (WORKED, {"eta": 9.0}),
    "gap": (WORKED, {"max_gap": 0.5}),
    "no variance": (WORKED, {"data_variance": 0.0}),
    "no variance, gap": (WORKED, {"data_variance": 0.0, "max_gap": 0.1}),
    "no noise, gap": (PrivacyConstrained([0, math.inf, math.inf]), {"max_gap": 0.5}),
    "no noise": (PrivacyConstrained([0, math.inf, math.inf]), {}),
    "tiny variance": (WORKED, {"data_variance": 1e-9}),
    "mixed": (PrivacyConstrained([0, 0.5, 2, math.inf]), {}),
    "linear": (QuasiLinear([1, 1 / 128, 1 / 128, 1 / 128], benefit=LinearBenefit(17.05, 200)), {}),
    "linear, slack": (QuasiLinear([0.1] * 30, benefit=LinearBenefit(9, 1)), {"slack": 0.1}),
    "linear at eta": (QuasiLinear([1, 0.25], benefit=LinearBenefit(1.28125, 1)), {"eta": 4.0}),
    "callable": (QuasiLinear([0.5] * 20, benefit=lambda v: 3 / (1 + v)), {}),
    "own data": (QuasiLinear([0.01] * 50, benefit=LinearBenefit(1, 1), outside="own-data"), {}),
    "per person": (QuasiLinear([1, 1, 1], benefit=LinearBenefit([5, 5, 1], [8, 8, 4]), outside=[0, 0, 0.5]), {}),
    "free rider": (QuasiLinear([0, 1], benefit=LinearBenefit(0.25, 1)), {}),
    "no variance, linear": (QuasiLinear([1, 2], benefit=LinearBenefit(5, 1)), {"data_variance": 0.0}),
}


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def case(request):
    agents, question = CASES[request.param]
    return agents, optin.plan(agents, **({"bounds": (0, 1)} | question))


def test_every_attribute_of_the_contract_means_what_it_says(case):
    agents, plan = case
    eps, weights, limits = plan.epsilons(agents), plan.weights(agents), plan.limits(agents)
    lo, hi = plan.bounds
    assert plan.people == len(agents)
    assert (eps <= limits).all()
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    assert plan.noise_scale == (0 if math.isinf(plan.eta) else 1 / plan.eta)
    assert plan.tilt == pytest.approx(np.maximum(weights - 1 / len(agents), 0).sum(), abs=1e-14)
    assert plan.variance == pytest.approx(plan.data_variance * (weights @ weights) + 2 * plan.noise_scale**2, rel=1e-11)
    assert plan.standard_error == math.sqrt(plan.variance)
    assert plan.bias_bound == plan.max_gap * plan.tilt
    assert plan.worst_case_mse == plan.variance + plan.bias_bound**2
    assert plan.pooled_people == np.count_nonzero(limits >= plan.cap)
    assert plan.effective_people == pytest.approx(plan.data_variance / plan.variance)
    if math.isfinite(plan.eta):
        assert plan.eta == pytest.approx(eps.sum() / (hi - lo), rel=1e-12)
        assert plan.pooled_weight == pytest.approx(plan.cap / ((hi - lo) * plan.eta))
    if plan.pooled_people:
        assert weights.max() == pytest.approx(plan.pooled_weight, rel=1e-12)


def test_weights_are_the_smaller_of_the_two_constants(case):
    agents, plan = case
    if plan.tail_constant is None:
        assert np.ndim(agents.outside) > 0 or agents.benefit.per_person
        return
    base = agents.limits if plan.model == "privacy-constrained" else 1 / np.maximum(agents.costs, 1e-300)
    with np.errstate(invalid="ignore"):
        expected = np.where(
            np.isinf(base) | (base > 1e200),
            plan.pooled_weight,
            np.minimum(plan.pooled_weight, plan.tail_constant * base),
        )
    assert plan.weights(agents) == pytest.approx(expected, rel=1e-11)


def test_promises_belong_to_quasi_linear_people_only(case):
    agents, plan = case
    if plan.model == "privacy-constrained":
        assert plan.surplus is None
        assert plan.promised_variance is None
    else:
        assert plan.promised_variance == pytest.approx((1 + plan.slack) * plan.variance, rel=1e-11)
        if plan.surplus is not None:
            outside = agents.outside_at(plan.data_variance)
            benefit = agents.benefit(plan.promised_variance)
            assert plan.surplus == pytest.approx(benefit - outside, rel=1e-13)
            assert plan.surplus <= benefit - outside, "rounded towards the person"
            assert plan.benefit_at_promise == pytest.approx(benefit, rel=1e-13)
            assert plan.benefit_at_promise <= benefit, "rounded towards the person"


def test_everyone_who_joins_is_no_worse_off_than_outside(case):
    agents, plan = case
    if plan.model == "quasi-linear":
        eps = plan.epsilons(agents)
        outside = agents.outside_at(plan.data_variance)
        with np.errstate(invalid="ignore"):
            costs = np.where(eps > 0, agents.costs * eps, 0.0)
        costs = np.where(np.isnan(costs), 0.0, costs)
        utility = np.broadcast_to(agents.benefit(plan.promised_variance), eps.shape) - costs
        joined = eps > 0
        assert (utility >= outside - 1e-12 * np.abs(utility))[joined].all()


def test_the_certificate_holds(case):
    agents, plan = case
    certificate = plan.certificate(agents)
    assert certificate.broken_limits == 0
    assert certificate.holds
    if plan.model == "quasi-linear":
        assert certificate.excluded_below <= plan.promised_variance * (1 + 1e-12)
        assert certificate.excluded_below >= plan.promised_variance * (1 - 1e-6)


def test_the_certificate_of_a_worse_plan_does_not_hold():
    plan = optin.plan(WORKED, bounds=(0, 1))
    worse = optin.plan(WORKED, bounds=(0, 1), eta=18)
    pretended = changed_plan(worse, eta_given=False)
    assert worse.certificate(WORKED).holds
    assert not pretended.certificate(WORKED).holds
    assert pretended.certificate(WORKED).lower_bound <= plan.variance


WRONG_CROSSINGS = [0.0787010613947731, 0.0818097647860761, 0.0848318423147473]


@pytest.mark.parametrize("variance", WRONG_CROSSINGS)
def test_the_certificate_of_a_later_crossing_does_not_hold(variance):
    agents, _ = CASES["linear"]
    surplus = 17.05 - 200 * variance
    there = optin.plan(PrivacyConstrained(surplus / agents.costs), bounds=(0, 1))
    fields = ("cap", "eta", "variance", "tilt", "pooled_people", "weight_squares")
    pretended = changed_plan(
        optin.plan(agents, bounds=(0, 1)),
        **{name: getattr(there, name) for name in fields},
        surplus=surplus,
        promised_variance=variance,
        benefit_at_promise=surplus,
    )
    certificate = pretended.certificate(agents)
    assert certificate.residual < 1e-9
    assert not certificate.holds


@pytest.mark.parametrize("claim", [{"tilt": 0.99}, {"pooled_people": 77}, {"variance": 0.08}])
def test_the_certificate_recomputes_what_a_plan_says_of_itself(claim):
    plan = optin.plan(WORKED, bounds=(0, 1))
    assert plan.certificate(WORKED).holds
    assert not changed_plan(plan, **claim).certificate(WORKED).holds


def test_a_plan_without_noise_is_not_certified_for_people_who_have_limits():
    plan = optin.plan(PrivacyConstrained([0, math.inf]), bounds=(0, 1))
    with pytest.raises(optin.BadInput, match="not the people"):
        plan.certificate(PrivacyConstrained([5, math.inf]))


def test_a_plan_survives_a_round_trip_and_stays_small(case):
    _, plan = case
    text = plan.to_json()
    assert Plan.from_json(text) == plan
    assert len(text) < 2000
    assert json.loads(text)["format"] == "optin.plan/2"


def test_other_keys_in_the_file_are_left_alone():
    plan = optin.plan(WORKED, bounds=(0, 1))
    assert Plan.from_json(json.dumps(json.loads(plan.to_json()) | {"describe": {"people": 4}})) == plan


def test_the_size_of_a_plan_does_not_depend_on_the_number_of_people():
    sizes = {
        len(optin.plan(PrivacyConstrained(np.ones(n)), bounds=(0, 1)).to_json()) // 100 for n in (10, 1000, 100_000)
    }
    assert len(sizes) <= 2


def test_a_callable_benefit_is_stored_by_name_and_numbers():
    def gratitude(variance):
        return 3 / (1 + variance)

    plan = Plan.from_json(optin.plan(QuasiLinear([0.5] * 20, benefit=gratitude), bounds=(0, 1)).to_json())
    assert plan.benefit_name == "gratitude"
    assert plan.benefit_at_promise == gratitude(plan.promised_variance)


def test_repr_and_html_are_readable():
    plan = optin.plan(WORKED, bounds=(0, 1))
    assert "cap on epsilon       5 (2 people have a limit at or above it)" in repr(plan)
    assert "the exact mean of 3 people" in repr(plan)
    assert "<table>" in plan._repr_html_()


def test_epsilons_are_given_to_any_people():
    plan = optin.plan(WORKED, bounds=(0, 1))
    assert plan.epsilons(PrivacyConstrained([2, 70])).tolist() == [2, 5]


def test_agents_keep_a_read_only_view_of_what_was_given():
    limits = np.array([1.0, 2.0])
    agents = PrivacyConstrained(limits)
    assert np.shares_memory(agents.limits, limits)
    with pytest.raises(ValueError, match="read-only"):
        agents.limits[0] = 3


def test_description_counts_everyone_once():
    rng = np.random.default_rng(3)
    limits = np.concatenate([rng.lognormal(0, 3, 5000), np.zeros(7), np.full(3, math.inf)])
    description = optin.describe(PrivacyConstrained(limits))
    finite = limits[(limits > 0) & np.isfinite(limits)]
    assert len(description.buckets) <= 256
    assert (description.people, description.zeros, description.infinite) == (5010, 7, 3)
    assert sum(b.count for b in description.buckets) == 5000
    assert sum(b.total for b in description.buckets) == pytest.approx(finite.sum(), rel=1e-12)
    assert sum(b.squares for b in description.buckets) == pytest.approx((finite**2).sum(), rel=1e-12)
    for bucket in description.buckets:
        assert np.count_nonzero((finite > bucket.low) & (finite <= bucket.high)) == bucket.count
