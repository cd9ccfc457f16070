"""What others do, at its strongest: published numbers, the privacy of each, and designs of one's own by the same path."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from trying import examples

import optin
from optin.baselines import Accuracy, Epsilons, designs
from optin.baselines.biased import Clamped
from optin.baselines.centred import CentredSampled, best_sampling
from optin.baselines.levels import levels_of
from optin.baselines.one_bit import OneBit
from optin.baselines.rule import Setting

THREE = np.repeat([0.1, 0.5, 1.0], [340, 430, 230])
TWO = np.repeat([0.1, 1.0], [500, 500])
COIN, UNIFORM = 0.25, 1 / 12


def setting(spread, mean=0.5):
    return Setting(spread, mean, 0.0, 2.0, 8.0)


def rows(limits, **question):
    people = optin.PrivacyConstrained(limits)
    mean = question.pop("mean", None)
    plan = optin.plan(people, bounds=(0, 1), **question)
    return {design.name: design for design in designs(plan, people, mean=mean)}


# --- sampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "spread", "published"),
    [
        (THREE, COIN, (3.585, 5.318)),
        (THREE, UNIFORM, (1.304, 1.831)),
        (TWO, COIN, (4.425, 4.624)),
        (TWO, UNIFORM, (1.601, 1.586)),
    ],
)
def test_centred_and_recalibrated_sampling_has_the_known_errors_at_mean_and_highest_limit(limits, spread, published):
    levels = levels_of(limits)
    for level, known in zip((limits.mean(), limits.max()), published, strict=True):
        found = CentredSampled(float(level)).accuracy(levels, setting(spread))
        assert round(1e4 * (found.sampling + found.noise), 3) == known
        best = best_sampling(levels, setting(spread)).accuracy(levels, setting(spread))
        assert best.sampling + best.noise <= (found.sampling + found.noise) * (1 + 1e-9)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(st.floats(0.01, 6.0), st.floats(0.01, 6.0))
def test_recalibrated_chances_cost_exactly_the_limit(limit, level):
    """The largest ratio of densities of (kept? x - 1/2) + Laplace(1/level) at x = 1 and x = 0, on a fine grid of outputs."""
    chance = float(CentredSampled(level).chances(np.array([limit]))[0])
    y = np.linspace(-3, 3, 2001)

    def density(x):
        return chance * np.exp(-level * np.abs(y - (x - 0.5))) + (1 - chance) * np.exp(-level * np.abs(y))

    for other in (0.0, 0.3, 0.5):
        assert np.abs(np.log(density(1.0) / density(other))).max() <= min(limit, level) * (1 + 1e-9)
    assert np.log(density(1.0) / density(0.0)).max() == pytest.approx(min(limit, level), rel=1e-9)


@pytest.mark.parametrize("limits", [np.array([1.0]), np.array([0.3, 800.0]), np.array([0.0, 2.0, math.inf])])
def test_sampling_survives_huge_limits_none_and_nothing(limits):
    levels = levels_of(limits)
    rule = best_sampling(levels, setting(COIN))
    assert ((rule.chances(limits) >= 0) & (rule.chances(limits) <= 1)).all()
    assert math.isfinite(rule.accuracy(levels, setting(COIN)).sampling)


def test_the_best_level_for_a_hundred_thousand_people_is_searched_over_groups_and_computed_over_all():
    limits = np.random.default_rng(3).lognormal(-1, 1, 100_000)
    levels = levels_of(limits)
    found = best_sampling(levels, setting(COIN))
    here = found.accuracy(levels, setting(COIN))
    for level in found.threshold * np.array([0.5, 0.9, 1.1, 2.0]):
        near = CentredSampled(float(level)).accuracy(levels, setting(COIN))
        assert here.sampling + here.noise <= near.sampling + near.noise


def keep_chances(tau, level):
    """Halve until the loss of sampling from the middle is the limit, and not by formula; logarithms of the chances are halved."""
    a = math.exp(level / 2)
    low, high = np.full(len(tau), -60.0), np.zeros(len(tau))
    for _ in range(70):
        middle = (low + high) / 2
        p = np.exp(middle)
        less = np.log(((1 - p) * a + p * a * a) / ((1 - p) * a + p)) < tau
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.exp(high)


@settings(max_examples=examples(10), deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0.02, 12.0), min_size=1, max_size=8),
    st.sampled_from([COIN, UNIFORM, 0.01, 0.0001]),
    st.sampled_from([None, 0.02, 0.3]),
)
def test_the_best_level_is_that_of_a_search_by_other_means(limits, spread, mean):
    """A fine grid far beyond all limits, people one by one, chances by halving."""
    tau, at = np.array(limits), 0.5 if mean is None else mean
    spread = min(spread, at * (1 - at))
    found = rows(limits, data_variance=spread, mean=mean)["sampling-best"]

    def error(level):
        kept = keep_chances(tau, level)
        number = kept.sum()
        missing = (at - 0.5) ** 2 * (kept * (1 - kept)).sum()
        return (spread * number + missing) / number**2 + 2 / (number * level) ** 2

    least = min(error(level) for level in np.geomspace(tau.min() / 5, 10 * tau.max(), 80))
    assert found.mse <= least * (1 + 1e-6)
    assert found.mse == pytest.approx(error(found.rule.threshold), rel=1e-9)


# --- nobody to trust -------------------------------------------------------------------------------------------------


def test_one_bit_has_the_known_errors():
    assert round(1e4 * rows(THREE)["one-bit"].mse, 1) == 33.0
    assert round(1e4 * rows(TWO)["one-bit"].mse, 1) == 23.1
    assert round(1e4 * rows(1 / np.arange(1, 1001))["one-bit"].mse) == 6735


@settings(derandomize=True)
@given(st.floats(0.01, 8.0), st.floats(0.0, 1.0))
def test_one_bit_is_unbiased_private_and_as_variable_as_said(limit, x):
    """Enumerate both messages for one value x: 1/2 +- coth(limit/2)/2."""
    truth = math.tanh(limit / 2)
    chance = 0.5 + (x - 0.5) * truth
    high, low = 0.5 + 0.5 / truth, 0.5 - 0.5 / truth
    assert chance * high + (1 - chance) * low == pytest.approx(x, abs=1e-9)
    odds = (0.5 + 0.5 * truth) / (0.5 - 0.5 * truth)
    assert odds == pytest.approx(math.exp(limit), rel=1e-9)
    variance = chance * (high - x) ** 2 + (1 - chance) * (low - x) ** 2
    assert OneBit(0.0, x).variances(np.array([limit]))[0] == pytest.approx(variance, rel=1e-9)


@settings(derandomize=True)
@given(st.lists(st.floats(0.05, 8.0), min_size=1, max_size=6), st.floats(0.0, 1.0))
def test_one_bit_of_several_people_has_the_error_of_all_messages_counted(limits, mean):
    """Enumerate every row of messages of people who toss coins of this mean, weighed by precision."""
    design = rows(limits, data_variance=mean * (1 - mean), mean=mean)["one-bit"]
    truth = np.tanh(np.array(limits) / 2)
    weights = 1 / (0.25 / truth**2 - (mean - 0.5) ** 2)
    weights /= weights.sum()
    yes = 0.5 + (mean - 0.5) * truth
    signs = np.array(list(itertools.product((-1, 1), repeat=len(limits))))
    chances = np.where(signs > 0, yes, 1 - yes).prod(axis=1)
    estimates = (0.5 + 0.5 * signs / truth) @ weights
    assert chances @ estimates == pytest.approx(mean, abs=1e-9)
    assert design.mse == pytest.approx(chances @ (estimates - mean) ** 2, rel=1e-9)


@settings(derandomize=True)
@given(st.lists(st.floats(0.01, 20.0), min_size=1, max_size=20), st.sampled_from([COIN, UNIFORM, 0.01]))
def test_the_better_of_both_is_the_better_of_both_for_everyone(limits, spread):
    found = rows(limits, data_variance=spread)
    assert found["local-best"].mse <= min(found["one-bit"].mse, found["local"].mse) * (1 + 1e-9)
    tau = np.array(limits)
    each = np.minimum(0.25 / np.tanh(tau / 2) ** 2, spread + 2 / tau**2)
    assert found["local-best"].mse == pytest.approx(1 / (1 / each).sum(), rel=1e-9)


# --- biased ----------------------------------------------------------------------------------------------------------


@settings(derandomize=True)
@given(st.lists(st.floats(0.01, 20.0), min_size=1, max_size=20), st.sampled_from([0.0, 0.3]))
def test_the_optimum_pulled_to_the_middle_is_better_in_the_worst_case_than_it_and_than_the_middle(limits, gap):
    found = rows(limits, max_gap=gap)
    worst = found["optimum"].mse
    assert found["shrunk"].mse <= min(worst, found["midpoint"].mse) * (1 + 1e-9)
    if gap == 0.0:
        assert found["shrunk"].mse == pytest.approx(worst / (1 + 4 * worst), rel=1e-9)
    assert not any(found[name].unbiased for name in ("midpoint", "shrunk", "clamped", "stretching"))


def test_the_middle_is_off_by_what_the_mean_is_and_by_half_the_range_where_nobody_knows():
    assert rows(TWO)["midpoint"].bias == 0.5
    assert rows(TWO, mean=0.2)["midpoint"].bias == pytest.approx(0.3)
    assert rows(TWO, mean=0.5)["midpoint"].mse == 0.0


@pytest.mark.parametrize(("limit", "mean"), [(0.5, 0.5), (0.5, 0.1), (3.0, 0.0)])
def test_cutting_at_the_bounds_has_the_computed_error(limit, mean):
    """Laplace noise and a normal sampling error drawn a million times; false alarm 1 in 15,000."""
    rng = np.random.default_rng(7)
    people = optin.PrivacyConstrained([limit] * 5)
    plan = optin.plan(people, bounds=(0, 1), data_variance=0.05)
    design = next(d for d in designs(plan, people, mean=mean) if d.name == "clamped")
    sampling, noise = plan.variance - plan.noise_variance, plan.noise_variance
    drawn = mean + rng.normal(0, math.sqrt(sampling), 10**6) + rng.laplace(0, math.sqrt(noise / 2), 10**6)
    errors = (np.clip(drawn, 0, 1) - mean) ** 2
    assert isinstance(design.rule, Clamped)
    assert abs(errors.mean() - design.variance - design.bias**2) < 4 * errors.std() / 1000


def left_of_errors(room, sd, scale):
    """Integrate E min(e, room) and its square over errors above 0, adaptively, with scipy's normal law."""
    r = sd / scale

    def tail(t):
        up, down = (r * r / 2 - side * t / scale + norm.logcdf(side * t / sd - r) for side in (1, -1))
        return norm.sf(t / sd) + 0.5 * (math.exp(up) - math.exp(down))

    end = min(room, 30 * (sd + scale))
    return [quad(lambda t, k=k: (1, 2 * t)[k] * tail(t), 0, end, epsabs=0, epsrel=1e-6)[0] for k in (0, 1)]


@pytest.mark.parametrize(("people", "mean"), [(3, 0.3), (1000, 0.001), (100_000, 0.3), (100_000, 0.0)])
def test_cutting_is_computed_as_by_another_integral_however_small_the_error_is(people, mean):
    """At a hundred thousand people the error is a six-hundredth of the range, less than any fixed grid would see."""
    agents = optin.PrivacyConstrained([1.0] * people)
    plan = optin.plan(agents, bounds=(0, 1), data_variance=max(mean * (1 - mean), 1e-4))
    design = next(d for d in designs(plan, agents, mean=mean) if d.name == "clamped")
    sd, scale = math.sqrt(plan.variance - plan.noise_variance), plan.noise_scale
    above, below = left_of_errors(1 - mean, sd, scale), left_of_errors(mean, sd, scale)
    assert design.bias == pytest.approx(above[0] - below[0], rel=1e-4, abs=1e-6 * sd)
    assert design.mse == pytest.approx(above[1] + below[1], rel=1e-4)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(st.integers(0, 7), st.floats(0.01, 5.0), st.floats(0.0, 1.0))
def test_cutting_at_the_bounds_never_makes_a_larger_error(exponent, limit, mean):
    limits = [limit] * 10**exponent if exponent < 5 else np.full(10**5, limit * 10 ** (exponent - 5))
    found = rows(limits, mean=mean, data_variance=mean * (1 - mean))
    assert found["clamped"].mse <= found["optimum"].mse * (1 + 1e-9)
    assert abs(found["clamped"].bias) <= math.sqrt(found["optimum"].mse)


# --- designs of one's own --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Halves:
    """Everyone gives half their limit, counts in proportion, under one Laplace noise."""

    share: float = 0.5
    unbiased = True

    @property
    def loss(self):
        return Epsilons(lambda limits: self.share * limits)

    def accuracy(self, levels, setting):
        total, squares, above = levels.moments(self.loss.epsilons)
        return Accuracy(setting.spread * squares / total**2, setting.kappa / total**2, 0.0, above / total)

    def draw(self, values, generator):
        gains = self.loss.epsilons(values.limits)
        return (values.sums(gains) + generator.laplace(size=values.campaigns)) / values.joined_sums(gains)


def test_a_design_of_ones_own_stands_beside_the_others():
    frame = optin.compare(optin.PrivacyConstrained(THREE), bounds=(0, 1), designs={"halves": Halves()})
    assert list(frame.index)[-1] == "halves"
    whole = frame.loc["proportional"]
    assert frame.loc["halves", "mse"] == pytest.approx(whole["mse"] + 3 * 2 / THREE.sum() ** 2)
    assert frame.loc["halves"].iloc[5:].tolist() == pytest.approx([0.05, 0.25, 0.5])


def test_a_design_of_ones_own_is_simulated_on_the_same_values():
    found = optin.simulate(
        optin.PrivacyConstrained(THREE),
        generator=np.random.default_rng(4),
        campaigns=4000,
        designs={"halves": Halves(), "threshold": "threshold"},
    ).frame()
    assert list(found.index) == ["optimum", "threshold", "halves"]
    assert ((found["mse"] - found["computed"]).abs() < 4 * found["mse_error"]).all()


@pytest.mark.parametrize(
    ("given_designs", "words"),
    [
        ({"mine": Halves(1.01)}, "'mine' takes more"),
        ({"threshold": Halves()}, "called 'threshold' already"),
        ({"mine": Halves}, "'mine' is a class; give an instance"),
        ({"mine": SimpleNamespace(loss=Halves().loss, draw=print)}, "'mine' has no unbiased, accuracy, which"),
    ],
)
def test_a_design_that_breaks_limits_is_incomplete_or_has_a_taken_name_is_refused(given_designs, words):
    people = optin.PrivacyConstrained(THREE)
    with pytest.raises(optin.BadInput, match=words):
        optin.compare(people, bounds=(0, 1), designs=given_designs)
    with pytest.raises(optin.BadInput, match=words):
        optin.simulate(people, generator=np.random.default_rng(1), designs=given_designs)


def test_designs_of_ones_own_without_names_are_refused():
    with pytest.raises(optin.BadInput, match=r"must give each design a name: designs=\{'mine': ...\}"):
        optin.compare(optin.PrivacyConstrained(THREE), bounds=(0, 1), designs=[Halves()])


def test_only_designs_for_several_questions_are_compared_on_a_sheet():
    people = optin.PrivacyConstrained(THREE)
    plan = optin.plan(people, [optin.YesNo("a"), optin.YesNo("b")])
    names = [design.name for design in designs(plan, people)]
    assert "sampling-max" in names
    assert "one-bit" not in names
    with pytest.raises(optin.BadInput, match="no design called 'one-bit'"):
        designs(plan, people, names=["one-bit"])
