"""The reference points: formulas against brute force, published numbers, and people against their description."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optin
from optin.baselines import best_threshold, no_privacy, references, strictest

LEVELS = {
    "three": np.repeat([0.1, 0.5, 1.0], [340, 430, 230]),
    "two": np.repeat([0.1, 1.0], [500, 500]),
    "far": np.repeat([0.1, 10.0], [900, 100]),
    "harmonic": 1.0 / np.arange(1000, 0, -1),
}
PUBLISHED = {"three": (3.972, 4.5), "two": (4.5, 4.5), "far": (4.5, 4.5), "harmonic": (20002.5, 20002.5)}

limits = st.lists(st.floats(0.01, 10.0) | st.sampled_from([0.5, 1.0, 2.0]), min_size=1, max_size=30)


def planned(found, **question):
    people = optin.PrivacyConstrained(found)
    return people, optin.plan(people, **({"bounds": (0, 1)} | question))


@pytest.mark.parametrize("name", LEVELS)
def test_threshold_and_strictest_give_the_published_table(name):
    people, plan = planned(LEVELS[name])
    found = best_threshold(plan, people).variance * 1e4, strictest(plan, people).variance * 1e4
    assert found == pytest.approx(PUBLISHED[name], rel=2e-4)


@given(limits, st.floats(0.5, 20.0), st.floats(0.05, 1.0))
def test_the_threshold_is_the_best_of_all_that_could_be_tried(found, width, share):
    variance = share * width**2 / 4
    people, plan = planned(found, bounds=(-1, width - 1), data_variance=variance)
    tried = []
    for t in found:
        m = sum(other >= t for other in found)
        tried.append(variance / m + 2 * width**2 / (m * t) ** 2)
    assert best_threshold(plan, people).variance == pytest.approx(min(tried), rel=1e-9)


@given(limits)
def test_no_reference_that_keeps_limits_beats_the_plan(found):
    people, plan = planned(found)
    none, threshold, strict = references(plan, people)
    assert plan.variance <= threshold.variance * (1 + 1e-9)
    assert threshold.variance <= strict.variance * (1 + 1e-9)
    assert none.variance <= plan.variance


@given(limits)
def test_a_threshold_crosses_nobody_it_keeps(found):
    people, plan = planned(found)
    kept = best_threshold(plan, people)
    assert sum(limit >= kept.epsilon for limit in found) == kept.people


@given(limits)
def test_a_description_is_enough_and_never_flatters(found):
    people, plan = planned(found)
    exact, drawn = references(plan, people), references(plan, optin.describe(people))
    assert drawn[2] == exact[2]
    assert drawn[1].variance >= exact[1].variance * (1 - 1e-6)
    assert drawn[1].variance <= exact[1].variance * 1.11  # buckets of 30 people are never wider than 5 %


@pytest.mark.parametrize("name", ["three", "two", "far"])
def test_a_description_of_a_few_levels_is_exact(name):
    people, plan = planned(LEVELS[name])
    exact, drawn = references(plan, people), references(plan, optin.describe(people))
    assert [r.variance for r in drawn] == pytest.approx([r.variance for r in exact], rel=1e-9)


def test_someone_who_allows_nothing_leaves_nothing_for_equal_treatment():
    people, plan = planned([0.0, 1.0, 2.0])
    for source in (people, optin.describe(people)):
        strict = strictest(plan, source)
        assert math.isinf(strict.standard_error)
        assert "nothing to publish" in strict.sentence
        assert best_threshold(plan, source).people == 2


def test_people_without_a_limit_need_no_noise():
    people, plan = planned([math.inf, math.inf])
    assert [r.variance for r in references(plan, people)] == [0.125, 0.125, 0.125]
    assert [r.variance for r in references(plan, optin.describe(people))] == [0.125, 0.125, 0.125]


def test_variance_is_sampling_plus_noise_and_scales_with_the_square_of_the_range():
    small = references(planned(LEVELS["three"])[1], planned(LEVELS["three"])[0])
    people, plan = planned(LEVELS["three"], bounds=(10, 40))
    for one, other in zip(small, references(plan, people), strict=True):
        assert other.variance == pytest.approx(900 * one.variance)
        assert other.variance == other.sampling + other.noise
        assert other.standard_error == math.sqrt(other.variance)


def test_quasi_linear_people_are_taken_at_the_limits_of_the_promise():
    people = optin.QuasiLinear(np.linspace(0.5, 3, 40), benefit=optin.LinearBenefit(base=2.0, slope=1.0))
    plan = optin.plan(people, bounds=(0, 1))
    least = plan.limits(people).min()
    assert strictest(plan, people).noise == pytest.approx(2 / (40 * least) ** 2)


def test_no_privacy_is_the_plain_mean():
    _, plan = planned([1.0] * 50, bounds=(0, 2), data_variance=0.5)
    assert no_privacy(plan).variance == 0.01


@given(limits, st.floats(0.01, 1.0))
def test_with_a_gap_the_threshold_has_the_least_worst_error_and_the_plan_is_never_worse(found, gap):
    people, plan = planned(found, max_gap=gap)
    tried = []
    for t in found:
        m = sum(other >= t for other in found)
        weights = [(other >= t) / m for other in found]
        bias = gap * sum(max(w - 1 / len(found), 0) for w in weights)
        tried.append(0.25 / m + 2 / (m * t) ** 2 + bias**2)
    none, threshold, strict = references(plan, people)
    assert threshold.worst_case_mse == pytest.approx(min(tried), rel=1e-9)
    assert plan.worst_case_mse <= threshold.worst_case_mse * (1 + 1e-9)
    assert none.bias == strict.bias == 0
