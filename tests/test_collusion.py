"""A person's loss follows from the announced cap and their own limit; nobody else's choice changes it (E17)."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin.releasing import noise


def worst_ratio(offer, people, joined, monkeypatch):
    """The largest factor by which the first person's value changes the odds of any result, with all other values known.

    Noise is held at zero, so that a release shows N itself: the sum moves by |N - N'|, and the noise has scale 2^52.
    """
    monkeypatch.setattr(noise, "draw", lambda count=1: [0] * count)
    moved = []
    for value in (0.0, 1.0):
        values = np.r_[value, np.full(len(people) - 1, 0.5)]
        moved.append(optin.release(offer, people, values, joined=joined).sealed.noisy_total)
    return Fraction(abs(moved[0] - moved[1]), noise.SCALE)


def test_what_others_choose_leaves_the_loss_of_a_person_as_it_was(monkeypatch):
    people = optin.PrivacyConstrained([0.5] * 20 + [2.0] * 20)
    offer = optin.plan(people, bounds=(0, 1)).announce(people)
    everyone, alone = np.ones(40, dtype=bool), np.arange(40) == 0
    some = np.arange(40) % 3 == 0
    found = {worst_ratio(offer, people, joined, monkeypatch) for joined in (everyone, alone, some)}
    promised = Fraction(optin.explain(offer, limit=0.5).grains, 2**32)
    assert found == {promised}
    assert promised <= Fraction(0.5)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.floats(min_value=0.01, max_value=50.0), min_size=12, max_size=40), st.integers(0, 2**32))
def test_colluders_who_state_any_limits_never_raise_a_loss_above_the_persons_own_limit(others, seed):
    people = optin.PrivacyConstrained([0.3, *others])
    offer = optin.plan(people, bounds=(0, 1)).announce(people, min_people=1)
    joined = np.random.default_rng(seed).random(len(people)) < 0.5
    joined[0] = True
    release = optin.release(offer, people, np.full(len(people), 0.5), joined=joined)
    assert int(release.grains[0]) == int(offer.grains(people)[0]) <= int(0.3 * 2**32)


def sampled_loss(limit, level, *, kept=None):
    """What a person loses where they are kept with chance pi and the kept are released at a common level; known: given kept."""
    chance = min(1.0, math.expm1(limit) / math.expm1(level))
    return level if kept else math.log1p(chance * math.expm1(level))


def test_with_sampling_the_loss_once_the_sample_is_known_follows_from_what_others_state():
    """Jorgensen's level is the mean of all limits: colluders move it, and whoever learns who was kept meets that level."""
    few, many = np.array([0.3] * 10), np.array([0.3] + [5.0] * 9)
    for limits in (few, many):
        assert sampled_loss(0.3, max(limits.mean(), 0.3)) <= 0.3 + 1e-12
    quiet, loud = (sampled_loss(0.3, limits.mean(), kept=True) for limits in (few, many))
    assert quiet <= 0.3 + 1e-12
    assert loud > 4.0
