"""Designs side by side: published numbers, formulas against sums over people, and that no fixed weights beat the optimum."""

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from cli_steps import optin as run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from trying import examples

import optin
from optin import baselines, figures
from optin.baselines import compared, designs
from optin.baselines.comparison import SMALLEST

TABLE = """
three    3.283 4.500   3.972   3.802 3.884 7.934 64.1
two      3.611 4.500   4.500   4.240 5.045 5.038 44.5
far      4.337 4.500   4.500   21.08 22.85 25.02 26.7
harmonic 430.3 20002.5 20002.5 430.3 2223  1677  13130
"""
"""Published mean squared errors x 1e-4; harmonic strictest and threshold are printed as 20000: their formula gives 20002.5."""
COLUMNS = ["optimum", "strictest", "threshold", "proportional", "sampling-mean", "sampling-max", "local"]
PUBLISHED = {line.split()[0]: dict(zip(COLUMNS, line.split()[1:], strict=True)) for line in TABLE.strip().splitlines()}
LIMITS = {
    "three": np.repeat([0.1, 0.5, 1.0], [340, 430, 230]),
    "two": np.repeat([0.1, 1.0], [500, 500]),
    "far": np.repeat([0.1, 10.0], [900, 100]),
    "harmonic": 1.0 / np.arange(1000, 0, -1),
}
CAPS = {"three": (0.3353, 255.3), "two": (0.26, 180.0), "far": (0.1889, 108.9), "harmonic": (None, 7.485)}

DOCS = Path(__file__).parent.parent / "docs"
NO_BETTER = ["grid", "adpm", "threshold", "strictest", "proportional", "stretching-debiased"]
NO_BETTER += ["sampling-mean", "sampling-max", "local"]
numbers = st.floats(0.01, 10.0) | st.sampled_from([0.5, 1.0, 2.0])
tables = st.lists(numbers, min_size=1, max_size=30)
wild = st.lists(numbers | st.sampled_from([0.0, math.inf]), min_size=1, max_size=30).filter(lambda t: max(t) > 0)


def found(limits, mean=None, **question):
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, **({"bounds": (0, 1)} | question))
    return plan, {design.name: design for design in designs(plan, people, mean=mean)}


def same_digits(value, printed):
    """Round to as many digits as were printed."""
    digits = len(printed.replace(".", "").strip("0"))
    return float(f"{value:.{max(digits, 1) - 1}e}") == float(f"{float(printed):.{max(digits, 1) - 1}e}")


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("design", COLUMNS)
def test_every_published_error_is_reproduced_to_the_printed_digits(name, design):
    _, rows = found(LIMITS[name])
    assert same_digits(rows[design].mse * 1e4, PUBLISHED[name][design]), rows[design].mse * 1e4


@pytest.mark.parametrize("name", LIMITS)
def test_published_caps_and_sums_of_epsilons_are_reproduced(name):
    plan, rows = found(LIMITS[name])
    cap, total = CAPS[name]
    assert rows["optimum"].epsilons(LIMITS[name]).sum() == pytest.approx(total, rel=2e-4)
    assert plan.cap >= LIMITS[name].max() if cap is None else plan.cap == pytest.approx(cap, abs=5e-5)
    assert rows["adpm"].mse == pytest.approx(rows["optimum"].mse)


def test_a_variance_fixed_at_the_worst_case_costs_an_eighth_on_uniform_values():
    _, rows = found(LIMITS["two"], data_variance=1 / 12)
    assert round(rows["adpm"].mse * 1e4, 3) == 1.615
    assert round(rows["optimum"].mse * 1e4, 3) == 1.422
    assert round(100 * (rows["adpm"].mse / rows["optimum"].mse - 1), 1) == 13.6


def test_a_sampled_count_misses_as_much_as_published():
    shares = (np.arange(100_000) + 0.5) / 100_000
    limits = np.interp(shares, [0, 0.54, 0.91, 0.91, 1], [0, 0.5, 2.0, 2.0, 2.0])
    _, rows = found(limits)
    assert round(1 - rows["sampling-mean"].rule.chances(limits).mean(), 4) == 0.4195


def test_local_randomised_response_has_the_published_errors():
    variances = baselines.response_variances(np.repeat([0.1, 1.0], [500, 500]))
    assert round(1 / (1 / variances).sum(), 5) == 0.00926
    assert round(variances.mean() / 1000, 4) == 0.2027


def test_randomised_response_is_unbiased_with_that_variance():
    limits = np.array([0.3, 1.0, 4.0])
    told_truly = np.exp(limits) / (1 + np.exp(limits))
    scale = 1 / (2 * told_truly - 1)
    assert baselines.response_variances(limits) == pytest.approx(scale**2)


def test_allowing_more_does_nothing_once_the_cap_is_reached():
    errors = []
    for limit in [0.26, 0.3, 0.5, 1.0, 3.0, 10.0]:
        _, rows = found(np.repeat([0.1, limit], [500, 500]))
        errors.append(rows["optimum"].mse)
    assert np.ptp(errors) <= 1e-15
    assert round(errors[0] * 1e4, 3) == 3.611
    below = found(np.repeat([0.1, 0.25], [500, 500]))[1]["optimum"].mse
    assert below > errors[0] * (1 + 1e-4)


# --- formulas -------------------------------------------------------------------------------------------------------


def by_hand(name, tau, plan, mean):
    """Write down weights and noise person by person (finite limits), and add up bias, variance and tilt."""
    n, s, m = len(tau), plan.data_variance / plan.width**2, (mean - plan.bounds[0]) / plan.width
    if name in ("sampling-mean", "sampling-max"):
        t = tau.mean() if name == "sampling-mean" else tau.max()
        pi = np.minimum(1, np.expm1(tau) / np.expm1(t))
        return (
            0.0,
            (s * pi.sum() + m**2 * (pi * (1 - pi)).sum()) / pi.sum() ** 2 + 2 / (pi.sum() * t) ** 2,
            pi / pi.sum(),
        )
    if name == "local":
        precision = np.array([1 / (s + 2 / t**2) if t else 0.0 for t in tau])
        w = precision / precision.sum()
        return 0.0, sum(a * a * (s + 2 / t**2) for a, t in zip(w, tau, strict=True) if t), w
    if name == "stretching":
        w = tau / tau.max() / n
        return -m * (1 - w.sum()), s * (w**2).sum() + 2 / (n * tau.max()) ** 2, w
    eps = {"strictest": np.full(n, tau.min()), "proportional": tau, "stretching-debiased": tau}[name]
    return 0.0, (s * (eps**2).sum() + 2) / eps.sum() ** 2, eps / eps.sum()


@given(tables, st.floats(0.05, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_every_formula_is_the_sum_over_people(table, share, place, gap):
    tau = np.array(table)
    mean = 3 + 2 * place
    plan, rows = found(tau, mean=mean, bounds=(3, 5), data_variance=share, max_gap=2 * gap)
    for name in [
        "strictest",
        "proportional",
        "stretching",
        "stretching-debiased",
        "sampling-mean",
        "sampling-max",
        "local",
    ]:
        bias, variance, w = by_hand(name, tau, plan, mean)
        tilt = np.maximum(w - w.mean(), 0).sum()
        assert rows[name].bias == pytest.approx(2 * bias, abs=1e-12)
        assert rows[name].variance == pytest.approx(4 * variance, rel=1e-9)
        assert rows[name].tilt == pytest.approx(tilt, abs=1e-12)
        assert rows[name].mse == pytest.approx(4 * variance + (2 * abs(bias) + 2 * gap * tilt) ** 2, rel=1e-9)


def test_formulas_hold_for_more_people_than_are_added_up_at_once():
    tau = np.random.default_rng(8).lognormal(-1, 1, 100_000)
    plan, rows = found(tau, mean=0.3, max_gap=0.1)
    for name in ["strictest", "proportional", "stretching", "sampling-mean", "sampling-max", "local"]:
        bias, variance, w = by_hand(name, tau, plan, 0.3)
        assert rows[name].variance == pytest.approx(variance, rel=1e-9)
        assert rows[name].bias_bound == pytest.approx(abs(bias) + 0.1 * np.maximum(w - w.mean(), 0).sum(), rel=1e-9)


def test_people_without_a_limit_count_alone_or_most():
    _, rows = found([0.5] * 6 + [math.inf] * 4, max_gap=0.1)
    for name in ["proportional", "sampling-mean", "sampling-max"]:
        assert (rows[name].variance, rows[name].tilt) == pytest.approx((0.25 / 4, 0.6))
    weights = np.array([1 / (0.25 + 8.0)] * 6 + [4.0] * 4)
    weights /= weights.sum()
    assert rows["local"].tilt == pytest.approx(np.maximum(weights - 0.1, 0).sum())


@given(tables, st.floats(0.05, 1.0), st.floats(0.0, 1.0))
def test_the_threshold_is_the_best_of_all_that_could_be_tried(table, share, gap):
    _, rows = found(table, data_variance=share / 4, max_gap=gap)
    kept = [(sum(other >= t for other in table), t) for t in table]
    tried = [share / 4 / m + 2 / (m * t) ** 2 + (gap * (1 - m / len(table))) ** 2 for m, t in kept]
    assert rows["threshold"].mse == pytest.approx(min(tried), rel=1e-9)


@given(tables, st.floats(0.05, 1.0))
def test_adpm_is_the_plan_for_the_largest_variance(table, share):
    plan, rows = found(table, data_variance=share / 4)
    cap = optin.plan(optin.PrivacyConstrained(table), bounds=(0, 1)).cap
    eps = np.minimum(table, cap)
    assert rows["adpm"].variance == pytest.approx((plan.data_variance * eps @ eps + 2) / eps.sum() ** 2, rel=1e-9)


@settings(max_examples=examples(40))
@given(tables, st.floats(0.05, 1.0), st.sampled_from([0.0, 0.1, 1.0]))
def test_the_grid_is_the_best_of_its_rates_and_close_to_the_optimum(table, share, gap):
    plan, rows = found(table, data_variance=share / 4, max_gap=gap)
    tau = np.array(table)
    reaches = np.geomspace(len(tau) * tau.min(), tau.sum(), baselines.GRID)
    people = optin.PrivacyConstrained(table)
    tried = [
        optin.plan(people, bounds=(0, 1), data_variance=share / 4, max_gap=gap, eta=min(reach, tau.sum()))
        for reach in reaches[:: len(reaches) // 4]
    ]
    assert rows["grid"].mse <= min(plan.worst_case_mse for plan in tried) * (1 + 1e-9)
    assert plan.worst_case_mse <= rows["grid"].mse * (1 + 1e-9)
    assert rows["grid"].mse <= plan.worst_case_mse * 1.05


@settings(max_examples=examples(40))
@given(st.lists(numbers, min_size=2, max_size=7), st.floats(0.0, 1.0))
def test_no_placement_of_means_makes_a_larger_bias_than_the_bound(table, gap):
    """The worst placement puts everyone at one of two ends: all 2^n are tried, with their mean held at 1/2."""
    tau = np.array(table)
    w = tau / tau.max() / len(tau)
    worst = 0.0
    for ends in itertools.product([0.0, gap], repeat=len(tau)):
        means = np.array(ends) - np.mean(ends) + 0.5
        worst = max(worst, abs(w @ means - means.mean()))
    bound = found(tau, max_gap=gap)[1]["stretching"].bias_bound
    assert worst == pytest.approx(bound, abs=1e-12)


@given(wild)
@example([0.0, math.inf])
@example([math.inf])
@example([0.0, 0.0, 1.0])
@example([1e-140, 0.0])
@example([1e299, 1.0, 0.0])
def test_zeros_and_missing_limits_give_no_nonsense_and_nobody_more_than_their_limit(table):
    plan, rows = found(table)
    for design in rows.values():
        assert design.variance >= 0
        assert not math.isnan(design.mse)
        assert 0 <= design.tilt <= 1
        assert (design.epsilons(np.array(table)) <= np.array(table)).all()
    assert rows["optimum"].variance == pytest.approx(plan.variance)
    assert math.isinf(rows["strictest"].variance) == (min(table) == 0)


# --- the optimum against the rest -----------------------------------------------------------------------------------


def random_question(rng):
    """Draw people and a question: few levels or many, close or far apart, with or without zeros, gaps and variances."""
    n = int(rng.integers(1, 60))
    kind = rng.integers(4)
    spread = rng.uniform(0.1, 3)
    limits = np.exp(rng.normal(rng.uniform(-4, 2), spread, n))
    if kind == 1:
        limits = rng.choice(np.exp(rng.normal(0, spread, 3)), n)
    if kind == 2:
        limits = np.where(rng.random(n) < 0.2, 0.0, limits)
        limits[0] = 1.0
    if kind == 3:
        limits = np.where(rng.random(n) < 0.2, math.inf, limits)
    gap = rng.choice([0.0, 0.0, rng.uniform(0, 1)])
    return limits, {"data_variance": rng.uniform(0.0, 0.25), "max_gap": float(gap), "mean": rng.uniform(0, 1)}


@pytest.mark.slow
def test_no_baseline_of_fixed_weights_beats_the_optimum_on_ten_thousand_random_populations():
    """Sampling as published and local noise are no such weights, but have their likes: each error is that of one of them."""
    rng = np.random.default_rng(20)
    for _ in range(10_000):
        limits, question = random_question(rng)
        mean = question.pop("mean")
        people = optin.PrivacyConstrained(limits)
        rows = designs(optin.plan(people, bounds=(0, 1), **question), people, mean=mean, names=NO_BETTER)
        for design in rows:
            assert design.unbiased
            assert rows[0].mse <= design.mse * (1 + 1e-9), (design.name, limits, question)


def test_the_page_names_just_those_designs_as_never_better():
    said = re.search(
        r"one Laplace noise: ([^:]+?) never have a smaller error", (DOCS / "how-to/compare.md").read_text()
    )
    assert re.split(r", | and ", said[1]) == NO_BETTER


@pytest.mark.slow
def test_from_thirty_people_on_no_baseline_of_any_kind_is_a_hundredth_better_where_limits_are_at_most_three():
    rng = np.random.default_rng(21)
    for _ in range(1500):
        limits = np.minimum(
            np.exp(rng.normal(rng.uniform(-3, 1), rng.uniform(0, 1.5), int(rng.integers(30, 200)))), 3.0
        )
        people = optin.PrivacyConstrained(limits)
        plan = optin.plan(people, bounds=(0, 1), data_variance=rng.choice([0.25, 1 / 12, 0.01]))
        rows = designs(plan, people, names=baselines.OUTSIDE)
        for design in rows:
            assert rows[0].mse <= design.mse * 1.01, (design.name, limits)


@pytest.mark.slow
def test_on_ten_thousand_random_populations_other_kinds_win_where_few_people_count_or_limits_are_large_alone():
    """Unbiased ones by a hundredth in one population of twenty or so; the optimum pulled to the middle always, by its bias.

    Values vary by no more than their mean allows: a rival that knows the mean is not credited with an impossible law. It is
    weights that say how many count: 1 / sum of their squares.
    """
    rng, ahead = np.random.default_rng(22), 0
    for _ in range(10_000):
        limits, question = random_question(rng)
        mean = question.pop("mean")
        question["data_variance"] *= 4 * mean * (1 - mean)
        people = optin.PrivacyConstrained(limits)
        plan = optin.plan(people, bounds=(0, 1), **question)
        rows = {d.name: d for d in designs(plan, people, mean=mean, names=[*baselines.OUTSIDE, "midpoint", "shrunk"])}
        own = rows["optimum"].mse
        better = [name for name in baselines.OUTSIDE if rows[name].mse < 0.99 * own]
        count = 1 / (plan.weights(people) ** 2).sum()
        assert not better or count < 30 or limits.max() > 3, (better, limits, question, mean)
        assert rows["shrunk"].mse <= own * (1 + 1e-9), (limits, question, mean)
        assert rows["midpoint"].mse == pytest.approx((mean - 0.5) ** 2)
        ahead += bool(better)
    assert 0.02 < ahead / 10_000 < 0.1


def test_many_people_of_whom_one_decides_are_few():
    """Thirty-three who allow next to nothing do not make one who allows 1 a crowd."""
    plan, rows = found([1.0] + [0.001] * 33, data_variance=0.19)
    assert rows["one-bit"].mse < 0.9 * rows["optimum"].mse
    assert plan.people == 34


def test_few_people_or_large_limits_are_where_another_kind_wins():
    """The three instances of the gallery, and how far they go."""
    _, three = found([4.0] * 3, data_variance=0.01)
    assert (round(three["sampling-best"].mse, 4), round(three["optimum"].mse, 4)) == (0.0151, 0.0172)
    _, one = found([1.0], data_variance=1 / 12)
    assert (round(one["one-bit"].mse, 3), round(one["optimum"].mse, 3)) == (1.171, 2.083)
    assert one["midpoint"].mse == 0.25 < one["shrunk"].mse * 1.15
    _, many = found([4.0] * 300, data_variance=0.01)
    assert many["sampling-best"].mse > 0.999 * many["optimum"].mse


def test_raw_stretching_wins_where_the_mean_is_near_the_lower_bound():
    """It always answers too low. Near the bound there is little below, and shrinking the answer shrinks its noise as well."""
    _, near = found(LIMITS["two"], mean=0.002, data_variance=0.002 * 0.998)
    _, far = found(LIMITS["two"], mean=0.5)
    assert near["stretching"].mse < 0.5 * near["optimum"].mse
    assert far["stretching"].mse > 100 * far["optimum"].mse
    assert near["stretching"].bias == pytest.approx(-0.002 * (1 - 0.55))


@pytest.mark.parametrize(
    ("limits", "mean"), [([0.1] * 3, None), ([0.7] * 7, None), ([0.5], 0.3), ([0.1, 0.5, 1.0], 0.0)]
)
def test_stretching_that_shrinks_nothing_is_unbiased_and_not_minus_zero(limits, mean):
    _, rows = found(limits, mean=mean)
    assert f"{rows['stretching'].bias:g}" == "0"


def test_small_gains_and_large_gains_are_both_there():
    gains = {
        name: found(limits)[1]["threshold"].mse / found(limits)[1]["optimum"].mse for name, limits in LIMITS.items()
    }
    assert gains["far"] < 1.04
    assert gains["harmonic"] > 46


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.tuples(st.floats(1e-4, 100.0), st.integers(1, 400)), min_size=1, max_size=4),
    st.floats(0.001, 0.5),
)
def test_on_k_limits_the_best_threshold_has_at_most_k_squared_times_the_variance(levels, sd):
    limits = np.repeat(*zip(*levels, strict=True))
    plan, rows = found(limits, sd=sd)
    assert rows["threshold"].variance <= len(np.unique(limits)) ** 2 * plan.variance * (1 + 1e-9)


def test_on_two_levels_the_gain_comes_near_four_and_on_evenly_spread_ones_near_e_squared():
    two = found(np.repeat([0.0001, 0.1], [1000, 1]))[1]
    assert 3.98 < two["threshold"].variance / two["optimum"].variance < 4
    for low in (1e-3, 1e-6):
        even = found(np.geomspace(low, 1, 5000), data_variance=0.0)[1]
        assert even["threshold"].variance / even["optimum"].variance == pytest.approx(math.e**2, rel=0.01)


# --- the table ------------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_design_and_its_numbers():
    people = optin.PrivacyConstrained(LIMITS["three"])
    frame = optin.compare(people, bounds=(0, 1), max_gap=0.1)
    plan = optin.plan(people, bounds=(0, 1), max_gap=0.1)
    assert list(frame.index) == list(baselines.NAMES)
    assert list(frame.columns[:5]) == ["bias", "bias_bound", "variance", "mse", "ratio"]
    assert frame.loc["optimum", "mse"] == pytest.approx(plan.worst_case_mse)
    assert (frame["ratio"] == frame["mse"] / frame.loc["optimum", "mse"]).all()
    assert list(frame.columns[5:]) == ["epsilon 0.1", "epsilon 0.5", "epsilon 1"]
    assert frame.loc["sampling-max"].iloc[5:].tolist() == [0.1, 0.5, 1.0]


@given(wild)
def test_groups_hold_everyone_and_their_epsilons_add_up(table):
    people = optin.PrivacyConstrained(table * 3)
    plan = optin.plan(people, bounds=(0, 1))
    both = compared(plan, people)
    assert sum(group.people for group in both.groups) == len(people)
    assert len(both.groups) == 1 or min(group.people for group in both.groups) >= SMALLEST
    assert len(set(both.group_names)) == len(both.groups)
    for design, epsilons in zip(both.designs, both.epsilons, strict=True):
        total = sum(e * g.people for e, g in zip(epsilons, both.groups, strict=True) if g.people)
        assert total == pytest.approx(design.epsilons(people.limits).sum(), rel=1e-9)


def test_limits_that_many_share_are_a_group_of_their_own():
    people = optin.PrivacyConstrained(LIMITS["far"])
    assert [group.people for group in compared(optin.plan(people, bounds=(0, 1)), people).groups] == [900, 100]


def test_neighbours_too_close_for_three_digits_are_still_told_apart():
    people = optin.PrivacyConstrained(np.linspace(0.1, 0.10001, 100))
    assert len(set(compared(optin.plan(people, bounds=(0, 1)), people).group_names)) == 5


def test_quasi_linear_people_are_compared_at_the_limits_of_the_promise():
    people = optin.QuasiLinear(np.linspace(0.5, 3, 40), benefit=optin.LinearBenefit(base=2.0, slope=1.0))
    plan = optin.plan(people, bounds=(0, 1))
    as_limits = optin.PrivacyConstrained(plan.limits(people))
    ours, theirs = designs(plan, people), designs(optin.plan(as_limits, bounds=(0, 1)), as_limits)
    assert [d.mse for d in ours] == pytest.approx([d.mse for d in theirs])


def test_people_who_stay_in_an_engine_are_compared_without_leaving_it(tmp_path):
    rng = np.random.default_rng(6)
    limits = np.concatenate([[0.0] * 20, np.exp(rng.normal(-1, 1, 3000)), [math.inf] * 15])
    rows = [f"p{i},{limit!r}" for i, limit in enumerate(limits.tolist())]
    (tmp_path / "people.csv").write_text("id,limit\n" + "\n".join(rows) + "\n")
    kept = optin.read(str(tmp_path / "people.csv"), id="id", limits="limit", engine="duckdb")
    ours, theirs = (optin.compare(p, bounds=(0, 1), max_gap=0.1) for p in (kept, optin.PrivacyConstrained(limits)))
    assert ours["mse"].to_numpy() == pytest.approx(theirs["mse"].to_numpy(), rel=5e-3)
    assert ours.shape == theirs.shape
    with pytest.raises(optin.BadInput, match="engine-backed"):
        optin.simulate(kept, generator=rng)


@pytest.mark.parametrize(("wrong", "words"), [({"mean": 2.0}, "within the bounds"), ({"mean": math.nan}, "within")])
def test_a_mean_outside_the_bounds_is_refused(wrong, words):
    with pytest.raises(optin.BadInput, match=words):
        optin.compare(optin.PrivacyConstrained([1.0]), bounds=(0, 1), **wrong)


def test_an_unknown_design_is_refused_with_the_known_ones():
    people = optin.PrivacyConstrained([1.0])
    with pytest.raises(optin.BadInput, match="no design called 'best'; choose from optimum, grid"):
        designs(optin.plan(people, bounds=(0, 1)), people, names=["best"])


# --- the pictures ---------------------------------------------------------------------------------------------------

KINDS = {
    "levels": (LIMITS["three"], {}),
    "related": (LIMITS["harmonic"], {"max_gap": 0.2, "bounds": (1_000, 250_000)}),
    "zeros and no limits": (np.concatenate([np.zeros(30), LIMITS["harmonic"], np.full(50, math.inf)]), {}),
    "nobody limited": (np.full(40, math.inf), {}),
    "few": ([1.0, 4.0, 9.0, 9.0], {}),
    "no variance": (LIMITS["three"], {"data_variance": 0.0}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ink", [figures.LIGHT, figures.DARK], ids=["light", "dark"])
def test_both_pictures_are_drawn_for_every_kind_of_people_and_say_what_they_show(kind, ink):
    limits, question = KINDS[kind]
    people = optin.PrivacyConstrained(limits)
    both = compared(optin.plan(people, **({"bounds": (0, 1)} | question)), people)
    words = []
    draws = [
        lambda ax: words.append(figures.comparison(ax, both, ink=ink)),
        lambda ax: words.append(figures.losses(ax, both, ink=ink)),
    ]
    assert figures.png(draws, size=(9, 4.2), widths=(3, 2), ink=ink).startswith(b"\x89PNG")
    assert all(name in words[0] for name in baselines.NAMES)
    assert len(words[1]) > 60


def test_bars_are_as_long_as_the_errors_and_cut_where_the_number_says_it_all():
    people = optin.PrivacyConstrained(LIMITS["three"])
    both = compared(optin.plan(people, bounds=(0, 1)), people)
    ax = Figure().subplots()
    figures.comparison(ax, both)
    ends = {}
    for bar in ax.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        ends[row] = max(ends.get(row, 0.0), bar.get_x() + bar.get_width())
    for row, design in enumerate(both.designs):
        assert ends[row] == pytest.approx(min(design.mse, 3.5 * both.designs[0].mse))
    labels = [text.get_text() for text in ax.texts]
    assert "\N{MULTIPLICATION SIGN} 1.21" in labels
    assert "→ \N{MULTIPLICATION SIGN} 207" in labels


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def people_file(tmp_path):
    rows = [f"p{i},{limit}" for i, limit in enumerate(LIMITS["three"])]
    (tmp_path / "people.csv").write_text("id,limit\n" + "\n".join(rows) + "\n")
    return tmp_path / "people.csv"


def test_the_command_prints_the_table(people_file):
    done = run("compare", people_file, "--limits", "limit", "--bounds", 0, 1)
    assert done.code == 0, done.err
    assert any(line.split() == ["threshold", "0", "0.0003972", "0.0003972", "1.21"] for line in done.out.splitlines())
    assert any(line.split() == ["optimum", "0.1", "0.3353", "0.3353"] for line in done.out.splitlines())


def test_the_command_gives_scripts_the_same_numbers(people_file):
    done = run("compare", people_file, "--limits", "limit", "--bounds", 0, 1, "--max-gap", 0.1, "--json")
    record = json.loads(done.out)
    frame = optin.compare(optin.PrivacyConstrained(LIMITS["three"]), bounds=(0, 1), max_gap=0.1)
    assert [row["name"] for row in record["designs"]] == list(frame.index)
    assert [row["mse"] for row in record["designs"]] == frame["mse"].tolist()
    assert [row["epsilons"] for row in record["designs"]] == frame.iloc[:, 5:].to_numpy().tolist()
    assert [group["people"] for group in record["groups"]] == [340, 430, 230]


def test_the_command_leaves_people_in_an_engine_where_asked(people_file):
    asked = ("compare", people_file, "--limits", "limit", "--bounds", 0, 1, "--json")
    kept = json.loads(run(*asked, "--engine", "duckdb").out)
    whole = json.loads(run(*asked, "--engine", "memory").out)
    assert [row["name"] for row in kept["designs"]] == [row["name"] for row in whole["designs"]]
    for ours, theirs in zip(kept["designs"], whole["designs"], strict=True):
        assert ours["mse"] == pytest.approx(theirs["mse"], rel=5e-3)


def test_the_command_draws_a_picture_and_never_over_its_input(people_file):
    picture = people_file.with_name("designs.png")
    done = run("compare", people_file, "--limits", "limit", "--bounds", 0, 1, "-o", picture)
    assert done.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("compare", people_file, "--limits", "limit", "--bounds", 0, 1, "-o", people_file).code == 2
    assert people_file.read_text().startswith("id,limit")
