"""E21–E24: tails, proportions, quantiles and spreads against known answers, exact sums and simulations."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from optin.kernel.mixtures import mixture_beyond, mixture_quantile
from optin.kernel.proportions import Proportion, cell_scales, proportion_interval, quantile, quantile_interval, running
from optin.kernel.spreads import LEVELS, Moments, companion
from optin.kernel.tails import normal_laplace_quantile


@pytest.mark.parametrize(("options", "known"), [(3, 2.35905676786665), (5, 2.60280078228440)])
def test_the_noise_of_one_proportion_has_its_known_quantile(options, known):
    scales = tuple(scale / 2 for scale in cell_scales(options, 1.0))
    assert mixture_quantile(0.05, sd=0.0, scales=scales) == pytest.approx(known, rel=1e-13)


def test_one_laplace_is_the_quantile_of_a_mean():
    assert mixture_quantile(0.05, sd=1.0, scales=(1.0, 0.0)) == normal_laplace_quantile(0.05, sd=1.0, scale=1.0)


@pytest.mark.parametrize(("sd", "scales"), [(0.5, (1.0, 0.3)), (2.0, (1.0, 1.0)), (0.01, (0.2, 0.7))])
def test_tails_of_two_laplaces_are_those_of_the_integral(sd, scales):
    one, other = scales

    def density(y):
        return math.exp(-abs(y) / other) / (2 * other)

    def above(t):
        from optin.kernel.tails import sum_above

        return sum_above(t, sd=sd, scale=one) if t >= 0 else 1 - sum_above(-t, sd=sd, scale=one)

    t = 2.5 * (sd + one)
    exact = 2 * sum(
        integrate.quad(lambda y: density(y) * above(t - y), *ends, epsabs=1e-13, limit=400)[0]
        for ends in [(-60, 0), (0, t), (t, 60)]
    )
    assert mixture_beyond(t, sd=sd, scales=scales) == pytest.approx(exact, abs=1e-10)


def test_far_more_people_than_noise_are_normal():
    assert mixture_quantile(0.05, sd=1e6, scales=(1.0, 0.5)) == pytest.approx(1e6 * stats.norm.isf(0.025), rel=1e-9)


def test_two_levels_of_an_answer_never_move_by_more_than_one_number_could():
    levels = np.arange(LEVELS + 1, dtype=np.int64)
    second = (levels * (LEVELS - levels)) >> 20
    assert (np.diff(levels + second) >= 0).all()
    assert (np.diff(levels - second) >= 0).all()
    assert (levels[-1] + second[-1], levels[-1] - second[-1]) == (LEVELS, LEVELS)
    assert (
        second[[1, 2**19, 699050]].tolist() == [companion(level) for level in (1, 2**19, 699050)] == [0, 262144, 233017]
    )


def coverage_of_a_proportion(p, people, reach, level):
    """Add up the binomial law over how many said yes, and the noise over its quantiles: no draw."""
    cell = Proportion(1 / people, 1 / people, (1 / reach,))
    edges = (np.arange(400) + 0.5) / 400
    noise = stats.laplace.ppf(edges, scale=1 / reach)
    counts = np.arange(people + 1)
    likely = stats.binom.pmf(counts, people, p)
    kept = counts[likely > 1e-7]
    # p is allowed or not by its own q(p): one quantile serves all estimates
    half = mixture_quantile(1 - level, sd=math.sqrt(p * (1 - p) / people), scales=cell.scales)
    half += (stats.norm.isf((1 - level) / 2) ** 2 + 2) / 6 / people
    inside = np.abs(kept[:, None] / people + noise[None, :] - p) <= half
    return float((likely[kept] * inside.mean(axis=1)).sum())


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("people", [20, 100, 1000])
def test_intervals_of_proportions_cover(people, level):
    for p in (0.001, 0.01, 0.05, 0.3, 0.5):
        for epsilon in (0.3, 3.0):
            assert coverage_of_a_proportion(p, people, people * epsilon, level) >= level - 0.01


def test_a_proportion_lies_in_its_interval_exactly_if_it_is_allowed():
    cell = Proportion(1 / 60, 1 / 60, cell_scales(4, 60.0))
    allowance = (stats.norm.isf(0.025) ** 2 + 2) / 6 / 60
    for estimate in (-0.2, -0.05, 0.0, 0.02, 0.4, 0.98, 1.03, 1.3):
        low, high = proportion_interval(0.05, estimate, cell)
        assert 0.0 <= low <= high <= 1.0
        for p in np.linspace(0, 1, 101):
            room = mixture_quantile(0.05, sd=math.sqrt(p * (1 - p) / 60), scales=cell.scales) + allowance
            if abs(estimate - p) < room - 1e-9:
                assert low <= p <= high
            if abs(estimate - p) > room + 1e-9 and low < high:
                assert not low < p < high


def test_the_edges_of_an_interval_are_those_of_bisection_found_in_half_its_looks(monkeypatch):
    rng, looks = np.random.default_rng(7), 0

    def beyond(*args, **kwargs):
        nonlocal looks
        looks += 1
        return mixture_beyond(*args, **kwargs)

    monkeypatch.setattr("optin.kernel.proportions.mixture_beyond", beyond)
    for _ in range(60):
        people, options, error = 10 ** rng.uniform(0, 5), int(rng.integers(2, 9)), float(rng.choice([0.2, 0.05, 1e-3]))
        cell = Proportion(
            min(1.0, 1.4 / people), min(1.0, 2 / people), cell_scales(options, people * rng.uniform(0.05, 3))
        )
        estimate, allowance = rng.uniform(0, 1), (stats.norm.isf(error / 2) ** 2 + 2) / 6 * cell.heaviest

        def allowed(p, estimate=estimate, cell=cell, error=error, allowance=allowance):
            beyond, sd = abs(estimate - p) - allowance, math.sqrt(p * (1 - p) * cell.squares)
            return beyond <= 0 or mixture_beyond(beyond, sd=sd, scales=cell.scales) >= error

        found = proportion_interval(error, estimate, cell)
        for edge, end in zip(found, (0.0, 1.0), strict=True):
            inside, outside = estimate, end
            while not allowed(end) and abs(outside - inside) > 1e-12:
                middle = (inside + outside) / 2
                inside, outside = (middle, outside) if allowed(middle) else (inside, middle)
            assert edge == pytest.approx(outside, abs=2e-12)
            assert edge == end or not allowed(edge)  # rounded outwards
    assert looks < 60 * 2 * 42 / 2  # bisection looks 42 times for each edge


def test_an_estimate_far_outside_gives_the_nearer_bound_as_a_point():
    cell = Proportion(1 / 1000, 1 / 1000, (1 / 10000,))
    assert proportion_interval(0.05, -0.4, cell) == (0.0, 0.0)
    assert proportion_interval(0.05, 1.4, cell) == (1.0, 1.0)


def test_a_median_is_read_inside_its_bin_and_bounded_by_whole_bins():
    ages = running((16, 25, 35, 45), (0.25, 0.5, 0.25), reach=1e4, squares=1e-4, heaviest=1e-4)
    assert quantile(0.5, ages) == 30.0
    assert quantile_interval(0.05, 0.5, ages) == (25.0, 35.0)
    wide = running((16, 25, 35, 45), (0.25, 0.5, 0.25), reach=5.0, squares=0.1, heaviest=0.1)
    assert quantile_interval(0.05, 0.5, wide) == (16.0, 45.0)


def test_a_running_sum_that_falls_still_has_one_median():
    bumpy = running((0, 1, 2, 3), (0.7, -0.3, 0.6), reach=10.0, squares=0.01, heaviest=0.01)
    assert 0.0 <= quantile(0.5, bumpy) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("law", ["uniform", "beta", "two points"])
@pytest.mark.parametrize("people", [50, 400])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_spreads_and_means_by_the_released_spread_cover(law, people, epsilon):
    """2,000 campaigns each: a true 95 % is below 93.4 % with probability 1e-3 at the most; none may be below 93 %."""
    rng = np.random.default_rng(22)
    draws = {
        "uniform": (lambda: rng.random(people), 0.5, 12**-0.5),
        "beta": (lambda: rng.beta(2, 10, people), 1 / 6, math.sqrt(20 / (144 * 13))),
        "two points": (lambda: 0.5 * (rng.random(people) < 0.1), 0.05, 0.15),
    }
    draw, mean, sd = draws[law]
    reach, sds, means = people * epsilon, 0, 0
    for _ in range(2000):
        levels = np.rint(draw() * LEVELS).astype(np.int64)
        noise = rng.laplace(0, 1 / reach, 2)
        second = ((levels * (LEVELS - levels)) >> 20).mean() / LEVELS
        found = Moments(levels.mean() / LEVELS + noise[0], second + noise[1], reach, 1 / people, 1 / people)
        low, high = found.sd_interval(0.05)
        sds += low <= sd <= high
        means += abs(found.mean - mean) <= found.half_width(0.05)
    assert min(sds, means) >= 0.93 * 2000
