"""Simulated campaigns: measured errors are the computed ones, intervals hold, and the same seed gives the same result.

Statistical tests compare with four standard errors, measured in the same run: a right program fails one comparison in
16,000. Seeds are fixed, so a test that passed stays green; the counts say how often a fresh seed would fail.
"""

import json
import math

import numpy as np
import pytest
from cli_steps import optin as run
from test_compare import LIMITS, PUBLISHED, by_hand

import optin
from optin.baselines import NAMES, SimulatedValues, ValueLaw, designs
from optin.simulation import POPULATIONS, Harmonic, Lognormal, Mix, TwoLevel
from optin.simulation.coverage import half_lengths
from optin.simulation.many_campaigns import CampaignRuns

CAMPAIGNS = 10_000


def rng(seed=1):
    return np.random.default_rng(seed)


def people(limits):
    return optin.PrivacyConstrained(limits)


def score(outcome, computed=None):
    """How many standard errors the measured mean squared error lies from the computed one."""
    return (outcome.mse - (outcome.design.mse if computed is None else computed)) / outcome.mse_error


def by_chance(found):
    """The outcomes that are off by chance; the midpoint draws nothing, and is off by what was computed."""
    for outcome in found.outcomes:
        if outcome.design.name == "midpoint":
            assert outcome.mse == pytest.approx(outcome.design.mse, rel=1e-9, abs=1e-15)
        else:
            yield outcome


# --- measured against computed --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_every_published_error_is_measured_too(name):
    """False alarm 1 in 1,500 for a fresh seed (11 designs)."""
    found = optin.simulate(people(LIMITS[name]), generator=rng(2), campaigns=CAMPAIGNS, designs=NAMES)
    assert len(found.outcomes) == len(NAMES)
    for outcome in by_chance(found):
        assert abs(score(outcome)) < 4, outcome.design.name
        assert abs(outcome.bias - outcome.design.bias) < 4 * outcome.bias_error, outcome.design.name
        if outcome.design.name in PUBLISHED[name]:
            printed = float(PUBLISHED[name][outcome.design.name]) * 1e-4
            assert abs(score(outcome, printed)) < 4.1, outcome.design.name  # printed digits are rounded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "seed"),
    [
        ({"sd": math.sqrt(1 / 12)}, 3),
        ({"mean": 0.05}, 4),
        ({"bounds": (-20, 60), "sd": 5.0, "mean": 0.0}, 5),
        ({"mean": 0.9, "data_variance": 0.09}, 6),
    ],
)
def test_errors_are_as_computed_for_other_values_bounds_and_means(question, seed):
    """False alarm 1 in 1,500 a question for a fresh seed."""
    found = optin.simulate("standard-open", generator=rng(seed), campaigns=4000, designs=NAMES, people=300, **question)
    for outcome in by_chance(found):
        assert abs(score(outcome)) < 4, outcome.design.name


def test_a_wrong_scale_of_noise_is_noticed():
    """The same comparison that the tests above make, with noise ten per cent too large, and once too small."""
    limits = LIMITS["harmonic"]
    plan = optin.plan(people(limits), bounds=(0, 1))
    (own,) = designs(plan, people(limits), names=[])
    for factor in (1.1, 0.9):
        values = SimulatedValues(ValueLaw(), limits, campaigns=CAMPAIGNS, generator=rng(7))
        right = own.draw(values, rng(8))
        noiseless = values.sums(limits) / limits.sum()
        errors = noiseless + factor * (right - noiseless) - 0.5
        spread = (errors**2).std() / math.sqrt(CAMPAIGNS)
        assert abs((errors**2).mean() - own.mse) > 4 * spread


def test_adpm_loses_what_was_published_on_uniform_values():
    found = optin.simulate(people(LIMITS["two"]), generator=rng(9), campaigns=CAMPAIGNS, sd=12**-0.5, designs=["adpm"])
    own, adpm = found.outcomes
    assert abs(score(own, 1.422e-4)) < 4
    assert abs(score(adpm, 1.615e-4)) < 4
    assert adpm.mse > own.mse


def test_raw_stretching_is_measured_to_win_near_the_lower_bound():
    found = optin.simulate(people(LIMITS["two"]), generator=rng(10), campaigns=4000, mean=0.002, designs=["stretching"])
    own, raw = found.outcomes
    assert raw.mse < 0.6 * own.mse
    assert raw.bias < -0.0005


# --- related values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.5, -0.5])
def test_related_values_bias_every_design_by_no_more_than_its_bound(gap):
    """False alarm 1 in 1,500 a sign for a fresh seed; the bias itself is compared on both sides."""
    found = optin.simulate("standard", generator=rng(11), campaigns=4000, gap=gap, max_gap=0.5, designs=NAMES)
    limits = POPULATIONS["standard"].limits(1000, rng(11).spawn(1)[0])
    means = ValueLaw(gap=gap).means(limits)
    for outcome in found.outcomes:
        assert abs(outcome.bias) <= outcome.design.bias_bound + 4 * outcome.bias_error, outcome.design.name
        if outcome.coverage is not None:
            eps = outcome.design.epsilons(limits)
            assert abs(outcome.bias - (eps @ means / eps.sum() - means.mean())) < 4 * outcome.bias_error


def test_a_declared_gap_keeps_the_interval_and_an_undeclared_one_loses_it():
    lost = optin.simulate("standard", generator=rng(12), campaigns=2000, gap=0.6)
    kept = optin.simulate("standard", generator=rng(12), campaigns=2000, gap=0.6, max_gap=0.6)
    assert lost.outcomes[0].coverage < 0.3
    assert kept.outcomes[0].coverage > 0.95
    assert kept.outcomes[0].mse < 0.5 * lost.outcomes[0].mse


def test_the_strictest_design_is_not_biased_by_any_relation():
    found = optin.simulate("two-level", generator=rng(13), campaigns=4000, gap=0.8, designs=["strictest"])
    strict = found.outcomes[1]
    assert strict.design.bias_bound == 0
    assert abs(strict.bias) < 4 * strict.bias_error


# --- coverage and participation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("turnout", [1.0, (0.4, 0.9)])
def test_intervals_hold_as_often_as_they_say(population, turnout):
    """Four standard errors of a share at 4,000 campaigns; harmonic people are few in effect, and Hoeffding is cautious."""
    found = optin.simulate(population, generator=rng(14), campaigns=4000, turnout=turnout, level=0.9)
    off = 4 * math.sqrt(0.9 * 0.1 / 4000)
    assert found.outcomes[0].coverage > 0.9 - off
    if population != "harmonic":
        assert found.outcomes[0].coverage < 0.9 + off


@pytest.mark.parametrize(
    "limits", [np.repeat([0.5, 2.0], [300, 200]), np.repeat([0.5, 2.0], [12, 8])], ids=["many", "few"]
)
@pytest.mark.parametrize("max_gap", [0.0, 0.3])
def test_an_interval_is_the_one_a_release_would_give_by_the_declared_variance(limits, max_gap):
    plan = optin.plan(people(limits), bounds=(0, 1), max_gap=max_gap)
    announcement = plan.announce(people(limits))
    crowds = [np.ones(len(limits), dtype=bool), *(rng(15).random((5, len(limits))) < 0.7)]
    eps = np.minimum(limits, announcement.cap)
    totals, squares = np.array([(eps[c].sum(), (eps[c] ** 2).sum()) for c in crowds]).T
    counts = np.array([np.count_nonzero(crowd) for crowd in crowds])
    halves = half_lengths(plan, counts, totals, squares, cap=announcement.cap, error=0.05, noiseless=False)
    for joined, half in zip(crowds, halves, strict=True):
        release = optin.release(announcement, people(limits), np.full(len(limits), 0.5), joined=joined)
        exact = release.sealed
        assert half + exact.bias_bound == pytest.approx(exact.only.declared_half_width(0.95), rel=1e-5, abs=2**-20)


def test_the_tilt_of_those_who_came_is_measured_against_all():
    limits, law = POPULATIONS["standard"].limits(50), ValueLaw(turnout=(0.3, 0.9))
    plan = optin.plan(people(limits), bounds=(0, 1), max_gap=0.5)
    job = CampaignRuns(law, limits, designs(plan, people(limits), names=["proportional"]))
    block = job.block(20, rng(32))
    came = SimulatedValues(law, limits, campaigns=20, generator=rng(32))
    joined = np.array([came.joined_sums(row) for row in np.eye(50)]).T
    for row, design in enumerate(job.designs):
        eps = joined * design.epsilons(limits)
        weights = eps / eps.sum(axis=1, keepdims=True)
        assert block.tilts[row] == pytest.approx(np.maximum(weights - 1 / 50, 0).sum(axis=1))


def test_those_who_join_leave_the_error_that_was_foreseen():
    """E12: with promises frozen, the error is that of the people who came; false alarm 1 in 16,000."""
    found = optin.simulate("levels", generator=rng(16), campaigns=CAMPAIGNS, turnout=0.5)
    limits = POPULATIONS["levels"].limits(1000)
    eps = np.minimum(limits, found.plan.cap)
    joined = rng(17).random((2000, 1000)) < 0.5
    left = ((0.25 * (eps**2 * joined).sum(axis=1) + 2) / (eps * joined).sum(axis=1) ** 2).mean()
    assert abs(score(found.outcomes[0], left)) < 4
    assert found.joined == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(1000 * CAMPAIGNS))


def test_every_design_keeps_its_promises_and_loses_what_the_absent_take_along():
    """Each campaign has the error of the design on those who came, at the levels announced; false alarm 1 in 2,500."""
    names = ["strictest", "proportional", "stretching", "sampling-max", "local"]
    found = optin.simulate(people(LIMITS["three"]), generator=rng(30), campaigns=6000, turnout=0.4, designs=names)
    crowds = [LIMITS["three"][came] for came in rng(31).random((400, 1000)) < 0.4]
    for outcome in found.outcomes[1:]:
        parts = [by_hand(outcome.design.name, crowd, found.plan, 0.5) for crowd in crowds]
        foreseen = np.mean([variance + bias**2 for bias, variance, _ in parts])
        assert abs(score(outcome, foreseen)) < 4, outcome.design.name


def test_turnout_can_rise_with_the_limit():
    found = optin.simulate("levels", generator=rng(18), campaigns=500, turnout=(0.2, 0.8), designs=["threshold"])
    even = optin.simulate("levels", generator=rng(18), campaigns=500, turnout=0.5, designs=["threshold"])
    assert found.joined == pytest.approx(0.5, abs=0.01)
    assert found.outcomes[0].mse < even.outcomes[0].mse


def test_a_broken_promise_is_no_release_and_slack_makes_room():
    crowd = optin.QuasiLinear(np.linspace(0.5, 3, 200), benefit=optin.LinearBenefit(base=2.0, slope=50.0))
    tight = optin.simulate(crowd, generator=rng(19), campaigns=300, turnout=0.9)
    roomy = optin.simulate(crowd, generator=rng(19), campaigns=300, turnout=0.9, slack=0.3)
    full = optin.simulate(crowd, generator=rng(19), campaigns=300)
    assert tight.outcomes[0].released == 0
    assert math.isinf(tight.outcomes[0].mse)
    assert roomy.outcomes[0].released > 0.9
    assert full.outcomes[0].released == 1


def test_where_nobody_joins_nothing_is_released():
    found = optin.simulate(people([1.0, 2.0]), generator=rng(20), campaigns=2000, turnout=0.5)
    assert found.outcomes[0].released == pytest.approx(0.75, abs=0.04)
    assert math.isfinite(found.outcomes[0].mse)


def test_a_design_that_may_take_nothing_is_listed_and_never_drawn():
    found = optin.simulate(people([0.0, 1.0, 2.0]), generator=rng(21), campaigns=50, designs=["strictest"])
    assert found.outcomes[1].released == 0
    assert math.isinf(found.outcomes[1].design.mse)
    assert found.frame().loc["strictest", "coverage"] is None or np.isnan(found.frame().loc["strictest", "coverage"])


@pytest.mark.parametrize("limits", [[math.inf] * 40, [0.5] * 20 + [math.inf] * 20, [0.0] * 5 + [1.0] * 40])
def test_people_without_limits_and_with_none_to_give_are_simulated_too(limits):
    found = optin.simulate(people(limits), generator=rng(22), campaigns=3000, designs=NAMES)
    for outcome in found.outcomes:
        asked = outcome.design.name != "midpoint"  # which is never off by chance
        assert not asked or math.isinf(outcome.design.mse) or abs(score(outcome)) < 4, outcome.design.name


# --- the same seed ---------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_result_whatever_the_number_of_workers():
    question = {"campaigns": 700, "people": 500, "turnout": (0.5, 1.0), "max_gap": 0.1, "gap": 0.1, "designs": NAMES}
    runs = [optin.simulate("standard", generator=rng(23), workers=workers, **question) for workers in (1, 2, 5)]
    for other in runs[1:]:
        for ours, theirs in zip(runs[0].outcomes, other.outcomes, strict=True):
            assert np.array_equal(ours.errors, theirs.errors, equal_nan=True)
            assert np.array_equal(ours.covered, theirs.covered)
        assert other.joined == runs[0].joined
    assert not np.array_equal(
        optin.simulate("standard", generator=rng(24), **question).outcomes[0].errors, runs[0].outcomes[0].errors
    )


def test_a_generator_used_twice_gives_two_different_results():
    generator = rng(25)
    first, second = (optin.simulate("two-level", generator=generator, campaigns=50) for _ in range(2))
    assert not np.array_equal(first.outcomes[0].errors, second.outcomes[0].errors)


def test_progress_is_told_block_by_block_up_to_the_end():
    seen = []
    optin.simulate(
        "two-level", generator=rng(26), campaigns=500, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == sorted(seen)
    assert seen[-1] == (500, 500)
    assert len(seen) > 3


# --- populations ----------------------------------------------------------------------------------------------------


def test_the_standard_mixes_are_those_of_the_literature():
    for name, shares in {"standard": (0.54, 0.37, 0.09), "standard-open": (0.34, 0.43, 0.23)}.items():
        limits = POPULATIONS[name].limits(10_000, rng(28))
        found = (limits <= 0.2).mean(), ((limits > 0.2) & (limits < 1)).mean(), (limits == 1).mean()
        assert found == pytest.approx(shares, abs=1e-3)
        assert limits.min() >= 0.01


def test_without_a_generator_limits_are_spread_out_evenly():
    even, drawn = POPULATIONS["lognormal"].limits(4001), POPULATIONS["lognormal"].limits(4001, rng(29))
    assert np.median(even) == pytest.approx(0.3)
    assert np.log(even).std() == pytest.approx(1.0, abs=0.01)
    assert np.log(drawn).mean() == pytest.approx(np.log(0.3), abs=0.07)


def test_harmonic_people_gain_the_square_of_a_harmonic_number():
    plan = optin.plan(people(Harmonic().limits(1000)), bounds=(0, 1))
    number = (1 / np.arange(1, 1001)).sum()
    assert plan.epsilon_total == pytest.approx(number)
    threshold = {d.name: d for d in designs(plan, people(Harmonic().limits(1000)))}["threshold"]
    assert threshold.noise / plan.variance > 0.8 * number**2


@pytest.mark.parametrize(
    "make",
    [
        lambda: Mix(((0.5, 0.1, 0.2),)),
        lambda: Mix(((1.0, 0.3, 0.2),)),
        lambda: Lognormal(median=0.0),
        lambda: Harmonic(most=-1.0),
        lambda: TwoLevel(low=2.0, high=1.0),
        lambda: optin.simulate("nowhere", generator=rng()),
        lambda: optin.simulate("standard", generator=7),
        lambda: optin.simulate("standard", generator=rng(), campaigns=0),
        lambda: optin.simulate("standard", generator=rng(), people=2.5),
        lambda: optin.simulate("standard", generator=rng(), workers=0),
        lambda: optin.simulate("standard", generator=rng(), bounds=(1, 0)),
        lambda: optin.simulate("standard", generator=rng(), bounds=3),
        lambda: optin.simulate("standard", generator=rng(), mean=2.0),
        lambda: optin.simulate("standard", generator=rng(), mean=[0.1, 0.2]),
        lambda: optin.simulate("standard", generator=rng(), turnout=0.0),
        lambda: optin.simulate("standard", generator=rng(), turnout=(0.1, 0.2, 0.3)),
        lambda: optin.simulate("standard", generator=rng(), level=95),
        lambda: optin.simulate("standard", generator=rng(), designs=["best"]),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(optin.BadInput):
        make()


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_prints_what_was_measured():
    done = run("simulate", "--population", "two-level", "--campaigns", 300, "--all", "--turnout", "0.9,1")
    assert done.code == 0, done.err
    assert "300 campaigns with 1,000 people" in done.out
    assert "beside what was computed if everyone joins" in done.out
    assert [line.split()[0] for line in done.out.splitlines()[-len(NAMES) :]] == list(NAMES)


def test_the_command_gives_scripts_the_numbers_of_the_library():
    done = run("simulate", "--people", 200, "--campaigns", 100, "--seed", 5, "--bounds", 0, 40, "--sd", 9, "--json")
    record = json.loads(done.out)
    found = optin.simulate("standard", generator=rng(5), people=200, campaigns=100, bounds=(0, 40), sd=9.0)
    assert record["designs"][0]["mse"] == found.outcomes[0].mse
    assert record["plan"]["cap"] == found.plan.cap


@pytest.mark.parametrize(
    "wrong", [("--turnout", "most"), ("--turnout", "1,2,3"), ("--seed", "-1"), ("--population", "x")]
)
def test_the_command_refuses_what_makes_no_sense(wrong):
    done = run("simulate", *wrong)
    assert done.code == 2
    assert done.err.startswith("optin: ")
