"""Who joins when people watch each other: complementarity, all equilibria, tipping, assured offers, room for decliners."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin import dynamics
from optin.participation import without

UNIT = {"bounds": (0, 1)}


def made(costs, *, base=3.0, slope=4.0, slack=0.2, keeps="promises", assured=False):
    people = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=base, slope=slope))
    return dynamics.game_of(optin.plan(people, **UNIT, slack=slack), people, keeps=keeps, assured=assured)


def lognormal(n=400, seed=2, **more):
    return made(np.random.default_rng(seed).lognormal(0, 1, n), **({"base": 1.0, "slope": 100.0} | more))


@st.composite
def games(draw, keeps=("promises", "noise"), most=7):
    costs = draw(st.lists(st.sampled_from([0.1, 0.5, 1.0, 2.0]) | st.floats(0.05, 2.0), min_size=2, max_size=most))
    terms = {
        "base": draw(st.floats(8.0, 16.0)),
        "slope": draw(st.floats(0.0, 16.0)),
        "slack": draw(st.sampled_from([0.0, 0.1, 0.5])),
        "keeps": draw(st.sampled_from(keeps)),
    }
    try:
        return made(costs, **terms)
    except optin.Infeasible:
        assume(False)


def crowds(n):
    return [np.array(c) for c in itertools.product([False, True], repeat=n)]


def is_equilibrium(game, joined):
    return bool((game.willing(joined) == joined).all())


@settings(max_examples=examples(40), deadline=None)
@given(games(keeps=("promises",)), st.data())
def test_company_never_hurts_while_promises_are_kept(game, data):
    more = np.array(data.draw(st.lists(st.booleans(), min_size=len(game), max_size=len(game))))
    fewer = more & np.array(data.draw(st.lists(st.booleans(), min_size=len(game), max_size=len(game))))
    with np.errstate(invalid="ignore"):
        assert (game.gains(fewer) <= game.gains(more) + 1e-9).all()
    assert game.variance(more) <= game.variance(fewer) * (1 + 1e-12)


@pytest.mark.parametrize("keeps", ["promises", "noise"])
def test_with_every_one_of_the_cheapest_who_joins_the_release_gets_better(keeps):
    game = lognormal(keeps=keeps)
    order = np.argsort(game.agents.costs)
    variances, losses = [], []
    for k in range(1, len(game) + 1, 7):
        joined = np.zeros(len(game), dtype=bool)
        joined[order[:k]] = True
        variances.append(game.variance(joined))
        losses.append(game.epsilons(joined)[order[0]])
    assert (np.diff(variances) < 0).all()
    assert (np.diff(losses) < 0).all() if keeps == "noise" else (np.diff(losses) == 0).all()


@settings(max_examples=examples(30), deadline=None)
@given(games(keeps=("promises",)))
def test_the_crowds_listed_are_all_equilibria_there_are(game):
    order = np.argsort(game.agents.costs, kind="stable")
    listed = {tuple(np.isin(np.arange(len(game)), order[: e.people])) for e in dynamics.equilibria(game)}
    assert {tuple(c) for c in crowds(len(game)) if is_equilibrium(game, c)} == listed


@settings(max_examples=examples(30), deadline=None)
@given(games(keeps=("noise",)))
def test_with_noise_kept_an_unlisted_equilibrium_has_someone_heavy_outside(game):
    order = np.argsort(game.agents.costs, kind="stable")
    listed = {tuple(np.isin(np.arange(len(game)), order[: e.people])) for e in dynamics.equilibria(game)}
    found = {tuple(c) for c in crowds(len(game)) if is_equilibrium(game, c)}
    assert listed <= found
    for crowd in found - listed:
        inside, outside = game.offered[np.array(crowd)], game.offered[~np.array(crowd)]
        assert outside.max() > 2 * (inside @ inside) / inside.sum()


@settings(max_examples=examples(30), deadline=None)
@given(games(), st.integers(0, 2**31))
def test_rounds_from_nobody_and_everybody_settle_at_the_ends_and_others_between(game, seed):
    listed = [e.people for e in dynamics.equilibria(game)]
    up, down = dynamics.play(game, "nobody"), dynamics.play(game, "everybody")
    assert up.settled
    assert down.settled
    assert up.counts[-1] == listed[0] or game.keeps == "noise"
    assert down.counts[-1] == listed[-1] == len(game)
    generator = np.random.default_rng(seed)
    between = dynamics.play(game, dynamics.random_crowd(game, 0.5, generator), awake=0.5, generator=generator)
    assert between.settled
    assert is_equilibrium(game, between.joined)
    assert between.counts[-1] in listed or game.keeps == "noise"


def test_the_paper_says_full_participation_is_an_equilibrium_and_so_can_be_nobody():
    game = lognormal()
    listed = dynamics.equilibria(game)
    assert (listed[0].people, listed[-1].people) == (0, len(game))
    assert math.isinf(listed[0].variance)
    assert listed[-1].variance == pytest.approx(game.plan.variance)
    assert dynamics.play(game, "nobody").counts == (0,)
    assert dynamics.play(game, "everybody").counts == (len(game),)


def test_everyone_moving_at_once_may_chase_each_other_and_says_so():
    game = made([1.0, 1.0], base=6.0, slope=8.0, slack=0.0)
    alone = np.array([True, False])
    assert dynamics.play(game, alone, most=50).settled is False
    assert dynamics.play(game, alone, awake=0.5, generator=np.random.default_rng(0)).settled


@settings(max_examples=examples(40), deadline=None)
@given(games(keeps=("promises",)), st.sampled_from(["cheapest", "strictest"]))
def test_one_person_fewer_than_the_tipping_crowd_does_not_tip(game, who):
    k = dynamics.tipping_crowd(game, who=who)
    order = np.argsort(game.agents.costs if who == "cheapest" else -game.agents.costs, kind="stable")

    def last(held_people):
        """Follow by rounds, one at a time, with the held people kept in."""
        held = np.isin(np.arange(len(game)), order[:held_people])
        joined = held.copy()
        while True:
            after = held | game.willing(joined)
            if (after == joined).all():
                return joined.all()
            joined = after

    assert last(k)
    assert k == 0 or not last(k - 1)


def test_more_slack_tips_with_fewer_people_and_none_at_all_needs_all_but_one():
    needed = [dynamics.tipping_crowd(lognormal(slack=s)) for s in (0.0, 0.1, 0.2, 0.3)]
    assert needed[0] == 399
    assert all(a > b for a, b in itertools.pairwise(needed))
    by_chance = dynamics.tipping_crowd(lognormal(slack=0.1), who="random", generator=np.random.default_rng(0))
    assert 0 < by_chance < 400


@settings(max_examples=examples(40), deadline=None)
@given(games(keeps=("promises",)), st.integers(0, 127))
def test_an_assured_offer_is_safe_to_accept_whatever_the_others_do(game, code):
    sure = dynamics.game_of(game.plan, game.agents, assured=True)
    joined = np.array([bool(code >> i & 1) for i in range(len(game))])
    assert (sure.gains(joined) >= -sure.touch).all()
    assert dynamics.play(sure, joined).counts[-1] == len(game)
    assert [e.people for e in dynamics.equilibria(sure)] == [len(game)]
    assert dynamics.tipping_crowd(sure) == 0


def test_a_crowd_that_can_be_planned_for_is_found_by_halving():
    people = optin.QuasiLinear(
        np.random.default_rng(5).lognormal(0, 1, 60), benefit=optin.LinearBenefit(base=1.0, slope=8.0)
    )
    for who in ("cheapest", "strictest"):
        k = dynamics.smallest_crowd(people, who=who, **UNIT)
        order = np.argsort(people.costs if who == "cheapest" else -people.costs)
        assert optin.plan(optin.QuasiLinear(people.costs[order[:k]], benefit=people.benefit), **UNIT)
        with pytest.raises(optin.Infeasible):
            optin.plan(optin.QuasiLinear(people.costs[order[: k - 1]], benefit=people.benefit), **UNIT)
    lonely = optin.QuasiLinear([1.0, 1.0], benefit=optin.LinearBenefit(base=1.0, slope=8.0))
    assert dynamics.smallest_crowd(lonely, **UNIT) is None


@settings(max_examples=examples(40), deadline=None)
@given(games(keeps=("promises",), most=30))
def test_a_plan_survives_the_decliners_it_has_room_for_and_not_one_more(game):
    room = dynamics.room_for_decliners(game.plan, game.agents)
    n = len(game)
    rising = np.sort(game.offered)
    for share, kept_first in ((room.strictest, rising[::-1]), (room.most_willing, rising)):
        away = round(share * n)

        def left(away, kept_first=kept_first):
            kept = kept_first[: n - away]
            return (0.25 * kept @ kept + 2) / kept.sum() ** 2 if len(kept) else math.inf

        assert left(away) <= game.plan.promised_variance * (1 + 1e-9)
        assert left(away + 1) > game.plan.promised_variance * (1 - 1e-9)
    assert room.most_willing <= room.strictest


def test_random_decliners_are_those_of_the_average_turnout():
    game = lognormal(slack=0.25)
    room = dynamics.room_for_decliners(game.plan, game.agents)
    assert without(game.plan, game.agents, share=room.anyone - 0.005)[0].promise_kept
    assert not without(game.plan, game.agents, share=room.anyone + 0.005)[0].promise_kept
    rows = dynamics.slack_table(game.agents, (0.0, 0.1, 0.25), **UNIT)
    assert [r.slack for r in rows] == [0.0, 0.1, 0.25]
    assert rows[0].anyone == pytest.approx(0.0, abs=1e-9)
    assert rows[2].anyone == pytest.approx(room.anyone)
    assert rows[0].variance < rows[1].variance < rows[2].variance


def test_a_benefit_known_only_by_calling_it_plays_the_same_game():
    costs = np.random.default_rng(3).lognormal(0, 1, 60)
    line = made(costs, base=3.0, slope=20.0)
    people = optin.QuasiLinear(costs, benefit=lambda v: 3.0 - 20.0 * v)
    called = dynamics.game_of(optin.plan(people, **UNIT, slack=0.2), people)
    assert dynamics.margins(called) == pytest.approx(dynamics.margins(line), rel=1e-6, abs=1e-6)


def test_people_with_benefits_of_their_own_play_rounds_but_have_no_order():
    people = optin.QuasiLinear([1.0] * 20, benefit=optin.LinearBenefit(base=np.linspace(3, 5, 20), slope=2.0))
    game = dynamics.game_of(optin.plan(people, **UNIT, slack=0.3), people)
    assert dynamics.play(game, "everybody").counts[-1] == 20
    with pytest.raises(optin.BadInput, match="use play"):
        dynamics.margins(game)


def test_questions_without_an_answer_are_refused():
    game = lognormal(50, slope=1.0)
    for wrong in ("some", np.ones(3, dtype=bool), np.ones(50)):
        with pytest.raises(optin.BadInput, match="true or false for each"):
            dynamics.play(game, wrong)
    with pytest.raises(optin.BadInput, match="Generator"):
        dynamics.play(game, awake=0.5)
    with pytest.raises(optin.BadInput, match="Generator"):
        dynamics.tipping_crowd(game, who="random")
    with pytest.raises(optin.BadInput, match="keeps"):
        dynamics.game_of(game.plan, game.agents, keeps="nothing")
    limits = optin.PrivacyConstrained([1.0] * 3)
    with pytest.raises(optin.BadInput, match="do not watch"):
        dynamics.game_of(optin.plan(limits, **UNIT), limits)
