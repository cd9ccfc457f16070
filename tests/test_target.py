"""Stating the accuracy instead: the answers are enough, and nothing smaller is."""

import numpy as np
import pytest

import optin
from optin import BadInput, LinearBenefit, PrivacyConstrained, QuasiLinear

LIMITS = np.random.default_rng(5).lognormal(-1, 1, 200)


def test_people_needed_reach_the_error_and_one_copy_fewer_does_not():
    for error in (0.02, 0.01, 0.003):
        target = optin.plan(PrivacyConstrained(LIMITS), bounds=(0, 1), target_error=error).target
        copies = -(-target.people_needed // len(LIMITS))
        assert optin.plan(PrivacyConstrained(np.tile(LIMITS, copies)), bounds=(0, 1)).standard_error <= error
        fewer = target.people_needed // len(LIMITS)
        if fewer * len(LIMITS) < target.people_needed:
            assert optin.plan(PrivacyConstrained(np.tile(LIMITS, fewer)), bounds=(0, 1)).standard_error > error


def test_the_common_limit_reaches_the_error_exactly():
    target = optin.plan(PrivacyConstrained(LIMITS), bounds=(-2, 3), target_error=0.2).target
    alike = PrivacyConstrained(np.full(len(LIMITS), target.limit_needed))
    assert optin.plan(alike, bounds=(-2, 3)).standard_error == pytest.approx(0.2, rel=1e-12)


def test_what_is_reached_already_needs_nobody_more():
    target = optin.plan(PrivacyConstrained(LIMITS), bounds=(0, 1), target_error=0.5).target
    assert target.reached
    assert target.people_needed == 200


def test_sampling_error_alone_may_rule_out_every_limit_but_not_more_people():
    target = optin.plan(PrivacyConstrained(LIMITS), bounds=(0, 1), target_error=0.01).target
    assert target.limit_needed is None
    assert target.people_needed > 200


def test_quasi_linear_crowds_are_counted_too():
    costs = np.full(50, 2.0)
    people = QuasiLinear(costs, benefit=LinearBenefit(1, 1))
    target = optin.plan(people, bounds=(0, 1), target_error=0.02).target
    assert target.limit_needed is None
    crowd = QuasiLinear(np.full(target.people_needed, 2.0), benefit=LinearBenefit(1, 1))
    assert optin.plan(crowd, bounds=(0, 1)).standard_error <= 0.02
    smaller = QuasiLinear(np.full(target.people_needed - 1, 2.0), benefit=LinearBenefit(1, 1))
    assert optin.plan(smaller, bounds=(0, 1)).standard_error > 0.02


def test_a_plan_with_a_target_survives_a_round_trip():
    plan = optin.plan(PrivacyConstrained(LIMITS), bounds=(0, 1), target_error=0.01)
    assert optin.Plan.from_json(plan.to_json()) == plan
    assert "people like these" in repr(plan)


@pytest.mark.parametrize(
    "question", [{"target_error": 0}, {"target_error": 0.1, "eta": 1.0}, {"target_error": 0.1, "max_gap": 0.1}]
)
def test_targets_that_make_no_sense_are_refused(question):
    with pytest.raises(BadInput, match="target_error"):
        optin.plan(PrivacyConstrained(LIMITS), bounds=(0, 1), **question)


def test_the_report_says_what_a_target_takes(tmp_path):
    import json

    people = PrivacyConstrained(LIMITS)
    plan = optin.plan(people, bounds=(0, 1), target_error=0.01)
    source = tmp_path / "plan.json"
    source.write_text(json.dumps(json.loads(plan.to_json()) | {"describe": optin.describe(people).as_dict()}))
    page = optin.report.write_report(source, tmp_path / "report.html").read_text()
    assert f"{plan.target.people_needed:,} people like these" in page
