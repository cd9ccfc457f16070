"""What public files tell a stranger about one person's limit: fixed here, and printed in the threat model."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from stranger import (
    LADDER,
    PRIOR,
    SCENES,
    announced_caps,
    announcement,
    drawn,
    found_before,
    histograms_of,
    newcomers_found_before,
    posteriors,
    rounded_up,
    sums_at,
    two_figures,
)

import optin
from optin.kernel.coarse import told_within, two_figures_up
from optin.kernel.sharing import integer_shares, shares_at

SIZES = (25, 50, 100, 250, 1000)
THREATS = (Path(__file__).parent.parent / "docs" / "threat-model.md").read_text()


def crowd(steps):
    return optin.PrivacyConstrained(np.repeat(LADDER, steps))


@pytest.mark.parametrize("seed", range(20))
def test_the_stranger_computes_public_numbers_as_they_are_announced(seed):
    rng = np.random.default_rng(seed)
    steps = drawn(int(rng.integers(25, 400)), 1, rng)
    people = crowd(steps[0])
    offer = optin.plan(people, bounds=(0, 1)).announce(people, min_people=1)
    cap = announced_caps(steps, 8.0)
    total, squares, _ = sums_at(steps, cap)
    assert offer.cap == pytest.approx(cap[0], rel=1e-12)
    assert offer.public.noises == (pytest.approx(1 / total[0], rel=0.25),)
    told = [rounded_up(np.array([each]), len(people))[0] for each in (1 / total[0], squares[0] / total[0] ** 2)]
    public = [two_figures(np.array([each]))[0] for each in (*offer.public.noises, *offer.public.squares)]
    assert told == public


def test_a_public_file_holds_no_sum_and_no_cap_that_follows_from_one_limit():
    rng = np.random.default_rng(3)
    for people in (25, 100):
        steps = drawn(people, 1, rng)[0]
        agents = crowd(steps)
        offer = optin.plan(agents, bounds=(0, 1)).announce(agents, min_people=1)
        release = optin.release(offer, agents, np.full(people, 0.5))
        for text in (offer.to_json(), release.to_json()):
            record = json.loads(text)
            assert "sealed" not in record
            assert str(offer.sealed.total_grains) not in text
            assert str(offer.sealed.total_squared_grains) not in text
        public = json.loads(offer.to_json())["public"]
        told = [each for name in ("noises", "squares", "variances") for each in public[name]]
        assert [two_figures_up(each) for each in told] == told


def many_questions(rng, *, alike):
    """Twelve questions that differ in what they take, and in how much they matter."""
    matters = np.ones(12) if alike else rng.choice([1.0, 2.0, 3.0], 12)
    gap = 0.0 if alike else 2.0
    numbers = [
        optin.Number(f"n{k}", bounds=(0, 10 + 7 * k), sd=2 + k, importance=matters[k], max_gap=gap * (k == 0))
        for k in range(6)
    ]
    return [*numbers, *(optin.YesNo(f"y{k}", importance=matters[6 + k]) for k in range(6))]


def announced(limits, sheet):
    agents = optin.PrivacyConstrained(limits)
    return optin.plan(agents, sheet).announce(agents, min_people=0), agents


def follows(public, demand, side):
    """The shares that follow from what is public, at a quarter of the way through what rounded noise and squares stand for."""
    noise, squares = told_within(public.noises[0], 40, side), told_within(public.squares[0], 40, 1 - side)
    return integer_shares(shares_at(demand, noise=noise, squares=squares, tilt=told_within(public.tilt, 40)))


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_twelve_questions_tell_no_more_about_limits_than_one(seed, alike):
    """Everything public follows from cap, one noise, one sum of squares and one tilt, whatever shares and prices are."""
    rng = np.random.default_rng([seed, alike])
    sheet = many_questions(rng, alike=alike)
    offer, agents = announced(np.repeat(LADDER, drawn(40, 1, rng)[0]), sheet)
    public, demand = offer.public, optin.plan(agents, sheet).asked.demand
    assert len(set(public.noises)) == len(set(public.squares)) == 1
    assert public.shares in {follows(public, demand, side) for side in (Fraction(1, 4), Fraction(3, 4))}  # one bit more
    assert public.variances == public.variances_told(offer.sheet)
    answers = {each.name: np.zeros(40) if each.kind == "number" else np.zeros(40, dtype=bool) for each in sheet}
    release = optin.release(offer, agents, answers)
    assert {each.told.noise for each in release.answered} == {public.noises[0]}
    assert {each.told.squares for each in release.answered} == {public.squares[0]}


def test_where_importance_differs_shares_of_a_newcomer_no_longer_tell_the_step():
    """Shares to 2^-20 told steps apart that all other public numbers have alike; now such files are the same."""
    rng = np.random.default_rng(5)
    sheet = many_questions(rng, alike=False)
    limits = np.repeat(LADDER, drawn(400, 1, rng)[0])
    found = [announced(np.append(limits, step), sheet) for step in LADDER]
    planned = {optin.plan(agents, sheet).integer_shares for _, agents in found}
    assert len(planned) >= 8  # who reaches the cap tells no step
    assert len({offer.public for offer, _ in found}) <= 3


def summary(found):
    """Maximum, 95 % quantile and median, as the threat model prints them."""
    return tuple(round(float(each), 2) for each in (found.max(), np.quantile(found, 0.95), np.median(found)))


def test_a_step_of_a_person_among_hundreds_stays_hardly_more_likely_than_before():
    found = posteriors(SCENES["single"], 1000, worlds=20_000, cases=100, rng=np.random.default_rng(1))
    assert len(found) == 100
    assert found.max() < 2 * PRIOR
    before = newcomers_found_before(1000, 100, np.random.default_rng(1))
    assert np.median(before) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_what_a_stranger_learns_is_what_the_threat_model_says(scene):
    for size in SIZES:
        rng, worlds = np.random.default_rng([17, size]), 300_000 if size < 100 else 100_000
        found = posteriors(SCENES[scene], size, worlds=worlds, cases=200, rng=rng)
        row = f"| {scene} | {size:,} | {' | '.join(f'{each:.2f}' for each in summary(found))} |"
        assert row in THREATS


@pytest.mark.slow
def test_before_sums_were_sealed_a_newcomer_was_found():
    for size in SIZES:
        found = newcomers_found_before(size, 200, np.random.default_rng(size))
        row = f"| newcomer, exact sums | {size:,} | {' | '.join(f'{each:.2f}' for each in summary(found))} |"
        assert row in THREATS


@pytest.mark.parametrize("seed", range(10))
def test_exact_sums_of_25_people_gave_away_how_many_stand_on_each_step_below_the_cap(seed):
    """The attack that sealed sums end: from people, cap and two exact sums, the whole histogram, and no other."""
    steps = drawn(25, 1, np.random.default_rng(seed))[0]
    cap = optin.plan(crowd(steps), bounds=(0, 1)).cap
    grains = [int(min(step, cap) * 2**32) for step in LADDER]
    total, squares = (sum(int(n) * g**power for n, g in zip(steps, grains, strict=True)) for power in (1, 2))
    assert histograms_of(25, cap, total, squares) == [steps[cap > LADDER].tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_of_what_is_public_now_hundreds_of_histograms_are_possible(seed):
    rng = np.random.default_rng(seed)
    world, others = drawn(25, 1, rng), drawn(25, 20_000, rng)
    agree = announcement(others, 25) == announcement(world, 25)
    assert len(np.unique(others[agree], axis=0)) >= 100


@pytest.mark.parametrize("scene", ["single", "two rounds", "decliner"])
def test_before_sums_were_sealed_steps_below_the_cap_were_known(scene):
    for size in SIZES:
        found = found_before(scene, size, 200, np.random.default_rng(size))
        row = f"| {scene}, exact sums | {size:,} | {' | '.join(f'{each:.2f}' for each in summary(found))} |"
        assert row in THREATS, row
