"""When limits and values are related: bias against its bound, what caution costs and saves, and the four points of the dial."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin import relations

UNIT = (0.0, 1.0)
rng = np.random.default_rng(5)
MIX = np.concatenate([rng.uniform(0.01, 0.2, 216), rng.uniform(0.2, 1.0, 148), np.ones(36)])
PEOPLE = optin.PrivacyConstrained(MIX)


def points(means, gap, limits=MIX, **more):
    return relations.dial_points(optin.PrivacyConstrained(limits), means, bounds=UNIT, max_gap=gap, **more)


@settings(max_examples=examples(60), deadline=None)
@given(st.data(), st.floats(0.0, 1.0), st.lists(st.floats(0.01, 10.0), min_size=2, max_size=12))
def test_no_relation_within_the_gap_biases_a_design_beyond_its_bound(data, gap, limits):
    lowest = data.draw(st.floats(0.0, 1.0 - gap))
    heights = data.draw(st.lists(st.floats(0.0, 1.0), min_size=len(limits), max_size=len(limits)))
    means = lowest + gap * np.array(heights)
    for point in points(means, gap, limits):
        assert abs(point.bias) <= point.bias_bound + 1e-12
        assert point.mse <= point.variance + point.bias_bound**2 + 1e-12


def test_the_bound_is_met_by_people_above_and_below_the_mean_weight():
    for cap in (0.05, 0.2, 1.0):
        weights = np.minimum(MIX, cap) / np.minimum(MIX, cap).sum()
        means = 0.4 + 0.2 * (weights > 1 / len(MIX))
        plan = optin.plan(PEOPLE, bounds=UNIT)
        _, tilt, _, bias, bound, _ = relations.along_the_dial(plan, PEOPLE, means, np.array([cap]), max_gap=0.2)[0]
        assert bias == pytest.approx(bound)
        assert bound == pytest.approx(0.2 * tilt)


@pytest.mark.slow
def test_the_measured_bias_of_every_design_stays_within_its_bound_and_is_the_computed_one():
    """Fifteen comparisons at 4.5 standard errors: a false alarm in 10,000 seeds. A gap four times the declared one is seen."""
    gap = 0.2
    names = optin.baselines.NAMES
    found = optin.simulate(
        PEOPLE, gap=gap, max_gap=gap, campaigns=4_000, designs=names, generator=np.random.default_rng(8)
    )
    for outcome in found.outcomes:
        allowed = outcome.design.bias_bound + 4.5 * outcome.bias_error
        assert abs(outcome.bias) <= allowed + 1e-12, outcome.design.name  # the midpoint draws nothing: rounding is left
    measured = {outcome.design.name: outcome for outcome in found.outcomes}
    means = relations.related_means(MIX, bounds=UNIT, gap=gap)
    aliases = {"robust": "optimum", "optimum": "adpm"}  # the worst-case variance is declared, so ADPM is E1
    for point in points(means, gap):
        outcome = measured[aliases.get(point.name, point.name)]
        assert abs(outcome.bias - point.bias) <= 4.5 * outcome.bias_error
        assert abs(outcome.mse - point.mse) <= 4.5 * outcome.mse_error
    wider = optin.simulate(
        PEOPLE, gap=4 * gap, max_gap=gap, campaigns=4_000, designs=names, generator=np.random.default_rng(8)
    )
    worst = {o.design.name: (abs(o.bias) - o.design.bias_bound) / o.bias_error for o in wider.outcomes if o.bias_error}
    assert worst["proportional"] > 4.5
    assert worst["adpm"] > 4.5


def test_all_four_designs_are_points_on_the_dial_in_this_order():
    means = relations.related_means(MIX, bounds=UNIT, gap=0.1)
    found = points(means, 0.1)
    assert [p.name for p in found] == ["strictest", "robust", "optimum", "proportional"]
    assert all(a.cap < b.cap and a.tilt < b.tilt for a, b in itertools.pairwise(found))
    plan = optin.plan(PEOPLE, bounds=UNIT)
    rows = relations.along_the_dial(plan, PEOPLE, means, np.geomspace(MIX.min(), 1, 400), max_gap=0.1)
    worst = rows[:, 2] + rows[:, 4] ** 2
    assert found[1].variance + found[1].bias_bound ** 2 <= worst.min()
    assert found[2].variance <= rows[:, 2].min()
    assert found[0].variance == pytest.approx(optin.baselines.strictest(plan, PEOPLE).variance)


def test_caution_costs_without_a_relation_and_saves_with_the_worst():
    rows = relations.caution_table(PEOPLE, (0, 0.02, 0.05, 0.1, 0.3), bounds=UNIT)
    assert rows[0].cost == rows[0].saving == 0
    assert all(0 < a.cost < b.cost and 0 < a.saving < b.saving for a, b in itertools.pairwise(rows[1:]))
    for row in rows:
        plan = optin.plan(PEOPLE, bounds=UNIT, max_gap=row.max_gap)
        assert (row.cap, row.tilt) == (plan.cap, plan.tilt)


def test_means_lie_in_an_interval_of_the_gap_around_the_middle():
    for shape in ("rising", "falling", "step"):
        means = relations.related_means(MIX, bounds=(10, 20), gap=4, shape=shape)
        assert (means.min(), means.max()) == (13, 17)
        assert np.corrcoef(means, np.argsort(np.argsort(MIX)))[0, 1] * (-1 if shape == "falling" else 1) > 0.7
    assert np.ptp(relations.related_means(MIX, bounds=(10, 20), gap=4, shape="none")) == 0
    with pytest.raises(optin.BadInput, match="shape"):
        relations.related_means(MIX, bounds=UNIT, gap=0.1, shape="round")
    with pytest.raises(optin.BadInput, match="gap"):
        relations.related_means(MIX, bounds=UNIT, gap=2)
    with pytest.raises(optin.BadInput, match="positive and finite"):
        points(np.full(2, 0.5), 0.1, [0.0, 1.0])
    with pytest.raises(optin.BadInput, match="within the bounds"):
        points(np.array([0.5, 1.5]), 0.1, [1.0, 2.0])
    with pytest.raises(optin.BadInput, match="one each"):
        points(np.array([0.5]), 0.1, [1.0, 2.0])
