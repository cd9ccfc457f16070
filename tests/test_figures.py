"""The pictures: their numbers are the plan's, no mark stands for a person, and each says in words what it shows."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import optin
from optin import figures
from optin.figures.accuracy import error_parts, threshold_hidden, told_references, turnout_lines
from optin.figures.curves import crowd, designs, turnout_variances
from optin.figures.dial import dial_caps
from optin.figures.merged_cells import SMALLEST_CELL, cells, coarse, groups
from optin.figures.people_by_limit import cost_shares, ranges
from optin.report import Source, render
from optin.wording.numbers import short

rng = np.random.default_rng(5)
MIX = np.concatenate([rng.uniform(0.01, 0.2, 540), rng.uniform(0.2, 1.0, 370), np.ones(90)])
KINDS = {
    "mix": (MIX, {}),
    "levels": (np.repeat([0.1, 0.5, 1.0], [340, 430, 230]), {}),
    "other units": (MIX, {"bounds": (1_000, 250_000)}),
    "gap": (MIX, {"max_gap": 0.1}),
    "given noise": (np.repeat([0.1, 0.5, 1.0], [340, 430, 230]), {"eta": 120}),
    "nobody capped": (1.0 / np.arange(1000, 0, -1), {}),
    "zeros and no limits": (np.concatenate([np.zeros(30), MIX[:200], np.full(50, math.inf)]), {}),
    "few": (np.linspace(0.1, 2, 25), {}),
    "no variance": (MIX, {"data_variance": 0.0}),
}
PICTURES = [
    figures.limits,
    figures.weights,
    figures.error_sources,
    figures.variance_by_cap,
    figures.variance_by_eta,
    figures.costly_limits,
    figures.turnout,
]
tables = st.lists(st.floats(0.01, 10.0) | st.sampled_from([0.5, 1.0, 2.0]), min_size=10, max_size=80)


def planned(kind):
    limits, question = KINDS[kind]
    return made(limits, **question)


def made(limits, **question):
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, **({"bounds": (0, 1)} | question))
    return people, plan, optin.describe(people)


def axes():
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize(
    "ink", [figures.LIGHT, pytest.param(figures.DARK, marks=pytest.mark.slow)], ids=["light", "dark"]
)
def test_every_picture_is_drawn_for_every_kind_of_plan_and_says_what_it_shows(kind, draw, ink):
    _, plan, description = planned(kind)
    if draw is figures.costly_limits and plan.max_gap > 0:
        with pytest.raises(optin.BadInput, match="no gap"):
            draw(axes(), plan, description, ink=ink)
        return
    ax = axes()
    words = draw(ax, plan, description, ink=ink)
    drawn(ax)
    assert len(words) > 60
    assert words.endswith(".")
    assert "nan" not in words


@pytest.mark.parametrize("kind", KINDS)
def test_no_step_and_no_row_stands_for_fewer_than_ten_people(kind):
    _, plan, description = planned(kind)
    for found in (cells(plan, description), groups(plan, description)):
        assert min(cell.count for cell in found) >= SMALLEST_CELL
        assert sum(cell.count for cell in found) == plan.people


@given(tables)
def test_cells_lose_nobody_and_no_epsilon(limits):
    _, plan, description = made(limits)
    for found in (cells(plan, description), groups(plan, description)):
        assert sum(cell.count for cell in found) == len(limits)
        assert min(cell.count for cell in found) >= SMALLEST_CELL
        assert sum(cell.granted for cell in found) == pytest.approx(plan.epsilon_total, rel=0.03)
        assert all(a.low <= b.low for a, b in itertools.pairwise(found))


def test_nine_people_are_too_few_for_any_picture_of_limits():
    _, plan, description = made([1.0] * 9)
    for draw in PICTURES:
        if draw is not figures.error_sources:
            with pytest.raises(optin.BadInput, match="9 people"):
                draw(axes(), plan, description)


def test_the_filled_area_is_the_sum_of_all_epsilons():
    _, plan, description = planned("mix")
    ax = axes()
    figures.limits(ax, plan, description)
    area = next(patch for patch in ax.patches if patch.get_fill())
    heights, edges, _ = area.get_data()
    assert np.sum(heights * np.diff(edges)) / 100 * plan.people == pytest.approx(plan.epsilon_total, rel=1e-4)
    assert heights.max() == pytest.approx(plan.cap)


def test_weights_average_to_one_share_and_rise_above_it_by_the_tilt():
    _, plan, description = planned("mix")
    ax = axes()
    figures.weights(ax, plan, description)
    heights, edges, _ = next(patch for patch in ax.patches if not patch.get_fill()).get_data()
    shares = np.diff(edges) / 100
    assert np.sum(heights * shares) == pytest.approx(1, rel=1e-4)
    assert np.sum(np.maximum(heights - 1, 0) * shares) == pytest.approx(plan.tilt, rel=1e-3)


@pytest.mark.parametrize("kind", ["mix", "levels", "other units", "gap", "zeros and no limits", "few"])
def test_the_lowest_point_of_the_dial_is_the_plan(kind):
    _, plan, description = planned(kind)
    people = crowd(description)
    found = designs(plan, people, dial_caps(plan, people, 2000))
    best = int(np.argmin(found.errors))
    assert found.caps[best] == pytest.approx(plan.cap, rel=0.02)
    assert found.errors[best] == pytest.approx(plan.worst_case_mse, rel=1e-4)
    assert found.etas[best] == pytest.approx(plan.eta, rel=0.02)


@pytest.mark.parametrize("kind", ["mix", "levels", "gap", "given noise"])
def test_designs_from_buckets_are_those_of_the_people(kind):
    people, plan, description = planned(kind)
    for cap in np.geomspace(0.02, 1.0, 7):
        eps = np.minimum(people.limits, cap)
        found = designs(plan, crowd(description), np.array([cap]))
        exact = (plan.data_variance * np.sum(eps**2) + 2) / np.sum(eps) ** 2
        assert found.variances[0] == pytest.approx(exact, rel=1e-4)
        assert found.tilts[0] == pytest.approx(np.maximum(eps / eps.sum() - 1 / len(eps), 0).sum(), abs=1e-3)


def test_the_ends_of_the_dial_are_strictest_and_proportional():
    people, plan, description = planned("mix")
    ends = designs(plan, crowd(description), dial_caps(plan, crowd(description))[[0, -1]])
    assert people.limits.min() * 0.9 < ends.caps[0] <= people.limits.min()
    assert ends.variances[0] == pytest.approx(0.25 / 1000 + 2 / (1000 * ends.caps[0]) ** 2)
    assert ends.tilts[0] == pytest.approx(0, abs=1e-12)
    limits = people.limits
    assert ends.variances[1] == pytest.approx((0.25 * np.sum(limits**2) + 2) / limits.sum() ** 2, rel=1e-4)


@pytest.mark.parametrize("kind", ["mix", "levels", "other units", "few"])
def test_costs_of_limits_follow_the_shadow_prices(kind):
    people, plan, description = planned(kind)
    found, shares = cost_shares(plan, description)
    gain = -plan.shadow_prices(people) * people.limits
    order = np.argsort(people.limits)
    ends = np.cumsum([cell.count for cell in found])
    exact = [part.sum() / gain.sum() for part in np.split(gain[order], ends[:-1])]
    assert shares.sum() == pytest.approx(1)
    assert shares == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_the_error_add_up_to_the_plan(kind):
    _, plan, description = planned(kind)
    own = next(part for part in error_parts(plan, description) if part.name == "this plan")
    assert own.total == pytest.approx(plan.worst_case_mse)
    assert own.sampling == pytest.approx(plan.data_variance * plan.weight_squares, abs=1e-12 * own.total)


def test_turnout_is_what_frozen_promises_leave():
    people, plan, description = planned("mix")
    eps = np.sort(plan.epsilons(people))
    for away in (0, 100, 250, 600):
        for who, kept in (("strictest", eps[away:]), ("generous", eps[: len(eps) - away])):
            exact = (0.25 * np.sum(kept**2) + 2) / kept.sum() ** 2
            left = turnout_variances(plan, crowd(description), np.array([1 - away / len(eps)]), who=who)
            assert left[0] == pytest.approx(exact, rel=2e-3)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.6))
def test_every_pattern_of_decliners_lies_in_the_band(seed, away):
    people, plan, description = planned("mix")
    eps = plan.epsilons(people)
    kept = np.random.default_rng(seed).permutation(eps)[round(away * len(eps)) :]
    error = math.sqrt((0.25 * np.sum(kept**2) + 2) / kept.sum() ** 2)
    lines = turnout_lines(plan, description, np.array([1 - len(kept) / len(eps)]))
    assert lines["strictest"][0] * 0.999 <= error <= lines["generous"][0] * 1.001


def test_quasi_linear_turnout_shows_the_promise():
    people = optin.QuasiLinear(np.linspace(0.5, 3, 200), benefit=optin.LinearBenefit(base=2.0, slope=1.0))
    plan = optin.plan(people, bounds=(0, 1), slack=0.2)
    description = optin.describe(people, variance=plan.promised_variance, data_variance=plan.data_variance)
    ax = axes()
    figures.turnout(ax, plan, description)
    assert any(np.allclose(line.get_ydata(), math.sqrt(plan.promised_variance)) for line in ax.lines)
    for draw in PICTURES:
        assert draw(axes(), plan, description)


def test_a_release_is_drawn_with_both_intervals():
    people, plan, _ = planned("mix")
    release = optin.release(plan.announce(people, campaign="c"), people, (MIX < 0.3) * 1.0)
    ax = axes()
    words = figures.intervals(ax, release)
    drawn(ax)
    ends = {tuple(line.get_xdata()) for line in ax.lines}
    assert tuple(release.noise_interval(0.95)) in ends
    assert tuple(release.total_interval(0.95)) in ends
    assert "population" in words
    assert "this release" in figures.release_sources(axes(), release).lower()


def test_groups_are_named_without_gaps_and_without_anybodys_own_number():
    _, plan, description = planned("mix")
    names = ranges(groups(plan, description))
    ends = [name.split(" to ") for name in names]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
    assert all(len(end.replace("0.", "").lstrip("0")) <= 2 for pair in ends for end in pair)


def test_grey_paper_tells_every_line_apart():
    _, plan, description = planned("gap")
    ax = axes()
    figures.variance_by_eta(ax, plan, description)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 10]
    assert len({(line.get_linestyle(), str(line._dash_pattern)) for line in curves}) == len(curves) == 4


def test_without_noise_there_is_nothing_to_draw():
    _, plan, description = made([math.inf] * 20)
    for draw in PICTURES:
        if draw is not figures.error_sources:
            with pytest.raises(optin.BadInput, match="no"):
                draw(axes(), plan, description)
    assert "noise 0" in figures.error_sources(axes(), plan, description)


def test_a_pool_of_a_handful_is_not_counted_out():
    _, plan, description = made([*np.linspace(0.1, 1.0, 30), 5.0, 5.0, 5.0])
    assert plan.pooled_people == 3
    words = figures.limits(axes(), plan, description)
    assert "more than 23 people give all they allow; in the pool, fewer than 10 people" in words
    assert not {"3", "30"} & set(words.split())


OUTLIERS = [0.000123456, *np.round(rng.uniform(0.1, 1.0, 200), 3), 7.65432]


def test_no_picture_tells_anybodys_own_limit_or_how_few_have_none():
    for more in ([], [0.0, 0.0, math.inf]):
        people, plan, description = made([*OUTLIERS, *more])
        release = optin.release(plan.announce(people, campaign="c"), people, np.zeros(len(people)))
        words = [draw(axes(), plan, description) for draw in PICTURES]
        words += [figures.turnout(axes(), plan, description, release=release)]
        words += [figures.error_sources(axes(), plan, description, release=release)]
        strictest = optin.baselines.strictest(plan, optin.PrivacyConstrained(OUTLIERS))
        for told in ("0.000123", "7.65", short(strictest.standard_error), short(strictest.noise), " 2 people"):
            assert told not in " ".join(words)


@given(tables)
def test_reference_points_that_are_shown_never_flatter(limits):
    people, plan, description = made(limits)
    exact = {r.name: r for r in optin.baselines.references(plan, people)}
    for shown in told_references(plan, description):
        known = exact[shown.name.replace("near", "at")]
        assert shown.variance >= known.variance * (1 - 1e-9)
        assert 0 <= plan.people - shown.people < plan.people


@given(tables)
def test_a_threshold_is_compared_only_where_groups_of_ten_tell_its_error(limits):
    people, plan, description = made(limits)
    exact = optin.baselines.best_threshold(plan, people).standard_error
    for shown in told_references(plan, description):
        if shown.name == "best single threshold":
            assert shown.standard_error <= exact * 1.06
            return
    assert threshold_hidden(plan, description)


def test_few_people_of_many_limits_are_not_compared_with_a_merged_threshold():
    """Nine strict, nine less and nine least strict people: a threshold between them lies within groups of ten."""
    people, plan, description = made(np.repeat([0.05, 0.5, 5.0], [9, 9, 9]))
    merged = optin.baselines.best_threshold(plan, coarse(description)).standard_error
    assert merged > 1.5 * optin.baselines.best_threshold(plan, people).standard_error
    assert [r.name for r in told_references(plan, description)] == [
        "no privacy at all",
        "everyone near the strictest limit",
    ]


@pytest.mark.parametrize(
    "limits", [np.linspace(0.1, 2, 25), np.linspace(0.1, 2, 40), np.repeat([0.05, 0.5, 5.0], [12, 9, 9])]
)
def test_uneven_weights_are_never_drawn_flat(limits):
    _, plan, description = made(limits)
    ax = axes()
    figures.weights(ax, plan, description)
    heights, edges, _ = next(patch for patch in ax.patches if not patch.get_fill()).get_data()
    assert len(heights) > 1
    area = np.sum(np.maximum(heights - 1, 0) * np.diff(edges)) / 100
    said = re.search(r"above the line: (\d+) %", " ".join(text.get_text() for text in ax.texts))[1]
    assert float(said) == pytest.approx(100 * area, abs=0.51)


def test_people_too_few_for_two_groups_get_no_picture_and_keep_their_tilt():
    _, plan, description = made(np.linspace(0.1, 2, 15))
    with pytest.raises(optin.BadInput, match="15 people: too few to draw"):
        figures.weights(axes(), plan, description)
    page = render(Source(plan=plan, description=description))
    assert page.count("too few to draw") == 3
    assert ">tilt</th>" in page


@given(tables, st.sampled_from([0, 3, 12]), st.sampled_from([0, 3, 12]))
def test_what_may_be_printed_of_a_description_holds_everyone_in_groups_of_ten(limits, zeros, infinite):
    _, _, description = made([*[0.0] * zeros, *limits, *[math.inf] * infinite])
    shown = coarse(description)
    assert shown.zeros + shown.infinite + sum(b.count for b in shown.buckets) == len(limits) + zeros + infinite
    assert all(b.count >= SMALLEST_CELL for b in shown.buckets)
    assert all(held == 0 or held >= SMALLEST_CELL for held in (shown.zeros, shown.infinite))
    assert shown.buckets[0].low <= min(limits) * (1 + 1e-12)


def test_a_release_is_marked_where_its_plan_is_drawn():
    people, plan, description = planned("gap")
    joined = np.arange(len(people)) % 4 > 0
    release = optin.release(plan.announce(people, campaign="c"), people, np.zeros(len(people)), joined=joined)
    ax = axes()
    words = figures.turnout(ax, plan, description, release=release)
    marks = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "o"]
    assert (25.0, math.hypot(release.standard_error, release.bias_bound)) in marks
    assert "25 % stayed away" in words
    parts = {p.name: p for p in error_parts(plan, description, release)}
    assert parts["this release"].total == pytest.approx(release.variance + release.bias_bound**2)
    assert "This release:" in figures.error_sources(axes(), plan, description, release=release)


def test_a_bar_that_is_cut_shows_a_break():
    _, plan, description = planned("mix")
    ax = axes()
    figures.error_sources(ax, plan, description)
    assert len(ax.lines) == 3, "a gap and two strokes, through the one bar that is too long"
    assert any(text.get_text().startswith("→") for text in ax.texts)
