"""E27: how far differences of groups, and wholes put together from them, may be off."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from optin.kernel.combining import DECLARED, RELEASED, Combination, Part
from optin.kernel.halfwidth import METHODS, Weighing, half_width, skewness_allowance
from optin.kernel.mixtures import _many_beyond, mixture_beyond, mixture_quantile
from optin.kernel.spreads import Moments, Spread
from optin.kernel.tails import normal_laplace_quantile

PAIRS = [(1.0, 0.3), (0.5, 2.0), (1.0, 1.00005), (1.0, 1.0002), (0.7, 0.7), (0.01, 1.0)]


def by_quadrature(t, sd, first, second):
    """P(|Normal + Laplace + Laplace| > t), the density of two Laplaces written out and integrated against the normal."""

    def above(x):
        if abs(first - second) < 1e-12 * first:
            tail = 0.5 * (1 + abs(x) / (2 * first)) * math.exp(-abs(x) / first)
        else:
            a, b = first**2, second**2
            tail = 0.5 * (a * math.exp(-abs(x) / first) - b * math.exp(-abs(x) / second)) / (a - b)
        return tail if x >= 0 else 1 - tail

    if sd == 0:
        return 2 * above(t)
    edges = [t - 12 * sd, t - sd, t, t + sd, t + 12 * sd]
    edges = sorted({*edges, *(x for x in (0.0,) if edges[0] < x < edges[-1])})
    parts = [
        integrate.quad(lambda x: above(x) * stats.norm.pdf(t - x, scale=sd), low, high, epsabs=1e-13)[0]
        for low, high in itertools.pairwise(edges)
    ]
    return 2 * (sum(parts) + stats.norm.cdf(-12))


@pytest.mark.parametrize("scales", PAIRS)
@pytest.mark.parametrize("sd", [0.0, 0.05, 0.8, 6.0])
def test_the_tail_of_two_laplaces_and_a_normal_is_what_quadrature_finds(scales, sd):
    for t in (0.2, 1.0, 3.0, 7.0):
        assert mixture_beyond(t, sd=sd, scales=scales) == pytest.approx(by_quadrature(t, sd, *scales), abs=4e-8)


@pytest.mark.parametrize("scales", PAIRS)
def test_two_laplaces_in_closed_form_and_by_their_characteristic_function_agree(scales):
    for sd in (0.3, 2.0, 20.0):
        for t in (0.5, 2.0, 9.0):
            assert mixture_beyond(t, sd=sd, scales=scales) == pytest.approx(_many_beyond(t, sd, scales), abs=1e-9)


def test_two_equal_laplaces_alone_have_the_tail_that_is_known():
    for t in (0.1, 1.0, 5.0, 20.0):
        known = math.exp(-t) * (1 + t / 2)
        assert mixture_beyond(t, sd=0.0, scales=(1.0, 1.0)) == pytest.approx(known, abs=1e-9)
    root = optimize.brentq(lambda t: math.exp(-t) * (1 + t / 2) - 0.05, 1, 9)
    assert mixture_quantile(0.05, sd=0.0, scales=(2.0, 2.0)) == pytest.approx(2 * root, rel=1e-7)


def test_the_switch_between_alike_and_different_scales_is_not_seen():
    below, above = (mixture_quantile(0.05, sd=0.4, scales=(1.0, 1.0 + gap)) for gap in (0.99999e-4, 1.00001e-4))
    assert below == pytest.approx(above, rel=1e-7)
    assert below <= above


def test_a_simulated_difference_leaves_a_quantile_as_often_as_it_says():
    rng, many = np.random.default_rng(7), 1_000_000
    drawn = rng.normal(0, 0.6, many) + rng.laplace(0, 0.4, many) - rng.laplace(0, 0.9, many)
    for error in (0.2, 0.05, 0.01):
        beyond = float(np.mean(np.abs(drawn) > mixture_quantile(error, sd=0.6, scales=(0.4, 0.9))))
        assert abs(beyond - error) < 5 * math.sqrt(error * (1 - error) / many)


def test_a_group_without_noise_leaves_one_laplace():
    assert mixture_quantile(0.05, sd=0.5, scales=(0.0, 0.3)) == normal_laplace_quantile(0.05, sd=0.5, scale=0.3)
    assert mixture_quantile(0.05, sd=0.5, scales=(0.0, 0.0)) == pytest.approx(stats.norm.isf(0.025) * 0.5)
    assert mixture_beyond(0.1, sd=0.0, scales=(0.0, 0.0)) == 0.0


def declared(coefficient, people, scale, variance=0.25):
    return Part(coefficient, 1 / people, 1 / people, (scale,), declared=variance)


def released(coefficient, people, reach, mean=0.3, companion=0.15):
    moments = Moments(mean, companion, reach, 1 / people, 1 / people)
    return Part(coefficient, 1 / people, 1 / people, (1 / reach,), declared=0.25, spread=moments.spread), moments


def test_a_sum_of_one_group_has_that_group_s_interval():
    alone, method = Combination((declared(1.0, 40, 0.02, 0.04),)).half_width(0.05)
    weighing = Weighing(width=1.0, data_variance=0.04, squares=1 / 40, heaviest=1 / 40, scale=0.02)
    assert (alone, METHODS[0]) == half_width(0.05, weighing)
    assert method == DECLARED
    part, moments = released(1.0, 300, 80.0)
    assert Combination((part,)).half_width(0.05) == (moments.half_width(0.05), RELEASED)


def test_a_sum_of_one_group_taken_in_half_has_half_of_its_interval():
    part, moments = released(0.5, 300, 80.0)
    assert Combination((part,)).half_width(0.1)[0] == pytest.approx(moments.half_width(0.1) / 2, rel=1e-12)


def test_variances_noise_and_the_heaviest_person_add_up_as_written():
    first, second = declared(1.0, 100, 0.03, 0.1), declared(-1.0, 400, 0.01, 0.2)
    half, _ = Combination((first, second)).half_width(0.05)
    quantile = mixture_quantile(0.05, sd=math.sqrt(0.1 / 100 + 0.2 / 400), scales=(0.03, 0.01))
    assert half == pytest.approx(quantile + skewness_allowance(0.05) / 100, rel=1e-12)


def test_a_group_split_in_two_alike_is_as_sure_of_its_spread_as_the_whole():
    whole, _ = released(1.0, 400, 100.0)
    halves = tuple(released(0.5, 200, 50.0)[0] for _ in range(2))
    found, known = Combination(halves).spread, Combination((whole,)).spread
    assert found.squares == pytest.approx(known.squares)
    assert found.noise == pytest.approx(
        2 * known.noise
    )  # each half has half of the epsilons: its noise is four times as large


def test_few_people_use_what_was_declared_and_a_person_alone_has_nothing_else():
    small, large = released(1.0, 20, 60.0)[0], released(-1.0, 2000, 600.0)[0]
    assert Combination((small, large)).half_width(0.05)[1] == DECLARED
    assert Combination((released(0.01, 20, 60.0)[0], large)).half_width(0.05)[1] == RELEASED
    single = Part(0.01, 1.0, 1.0, (0.5,), declared=0.25)
    found = Combination((single, large))
    assert found.half_width(0.05)[1] == RELEASED
    assert found.sampling(released=True) == pytest.approx(0.25 * 1e-4 + large.spread.above / 2000)


def test_where_nothing_was_declared_the_released_spread_serves_for_any_number_of_people():
    part = Part(1.0, 1 / 10, 1 / 10, (0.1,), spread=Spread(0.2, 0.01, 1 / 10))
    assert Combination((part, part)).half_width(0.05)[1] == RELEASED
