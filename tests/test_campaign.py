"""The job, step by step, with a ledger behind it."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_steps import nth
from trying import examples

from optin import campaign
from optin.agents import LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.announcement.terms import Conditions
from optin.campaign import Quorum
from optin.errors import BadInput, BudgetSpent, Infeasible, PromiseBroken
from optin.ledger import Ledger
from optin.releasing import Release

PEOPLE = 40
IDS = nth(PEOPLE)
LIMITS = np.linspace(0.1, 2.0, PEOPLE)
VALUES = np.linspace(0.0, 1.0, PEOPLE)
people = PrivacyConstrained(LIMITS, ids=IDS)


@pytest.fixture
def book(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as opened:
        yield opened


def planned(book, who=people, **more):
    return campaign.plan(who, bounds=(0, 1), ledger=book, **more)


def announced(book, who=people, **more):
    return campaign.announce(planned(book, who), who, ledger=book, **more)


def test_the_whole_job_runs_on_both_databases(ledger):
    offer = announced(ledger)
    standing = campaign.answer(offer, {"p0": True, "p3": False}, ledger=ledger)
    assert standing.sum() == PEOPLE - 1
    release = campaign.release(offer, people, VALUES, ledger=ledger)
    assert (release.charged, release.joined_people) == (True, PEOPLE - 1)
    assert ledger.verify([release]).ok
    assert campaign.release(offer, people, VALUES, ledger=ledger) == release


def test_a_release_carries_its_place_in_the_ledger(book):
    release = campaign.release(announced(book), people, VALUES, ledger=book)
    last = book.acts()[-1]
    assert (release.ledger_number, release.ledger_head) == (last.number, last.hash)
    assert Release.from_json(release.to_json()) == release


def test_asking_again_with_other_values_gives_the_stored_result(book):
    offer = announced(book)
    first = campaign.release(offer, people, VALUES, ledger=book)
    assert campaign.release(offer, people, 1.0 - VALUES, ledger=book) == first


def test_joined_is_remembered(book):
    offer = announced(book)
    some = np.arange(PEOPLE) % 2 == 0
    first = campaign.release(offer, people, np.where(some, VALUES, np.nan), ledger=book, joined=some)
    assert first.joined_people == PEOPLE // 2
    assert campaign.release(offer, people, VALUES, ledger=book, joined=some) == first
    with pytest.raises(PromiseBroken, match="other people"):
        campaign.release(offer, people, VALUES, ledger=book, joined=~some)


def test_nobody_is_planned_beyond_what_remains(book):
    campaign.release(announced(book), people, VALUES, ledger=book)
    left = book.remaining(IDS)
    second = planned(book)
    offer = campaign.announce(second, people, ledger=book)
    rule = offer.grains(PrivacyConstrained(np.minimum(LIMITS, left * 2.0**-32), ids=IDS))
    assert np.all(rule <= left)
    assert np.array_equal(left - book.remaining(IDS), rule)
    release = campaign.release(offer, people, VALUES, ledger=book)
    assert release.sealed.total_grains == int(rule.sum())
    assert campaign.release(offer, people, VALUES, ledger=book) == release
    assert book.verify().ok


def test_an_untouched_ledger_changes_no_plan(book):
    campaign.cancel(announced(book), ledger=book)
    assert planned(book) == campaign.plan(people, bounds=(0, 1))


def test_a_plan_made_without_the_ledger_is_cut_to_what_remains_or_refused(book):
    campaign.release(announced(book), people, VALUES, ledger=book)
    costly = QuasiLinear(np.full(PEOPLE, 0.01), benefit=LinearBenefit(base=1.0, slope=1.0), ids=IDS)
    with pytest.raises(BudgetSpent, match="raise allowances with raise_limits=True"):
        campaign.announce(campaign.plan(costly, bounds=(0, 1)), costly, ledger=book)


def test_allowances_are_raised_only_when_asked(book):
    campaign.release(announced(book), people, VALUES, ledger=book)
    before = book.remaining(IDS)
    double = PrivacyConstrained(2 * LIMITS, ids=IDS)
    assert np.array_equal(book.remaining(IDS), before)
    plan = planned(book, double, raise_limits=True)
    offer = campaign.announce(plan, double, ledger=book, raise_limits=True)
    assert [act.kind for act in book.acts()][-2:] == ["raise", "announce"]
    assert campaign.release(offer, double, VALUES, ledger=book).joined_people == PEOPLE
    assert np.all(book.remaining(IDS) >= 0)


def test_people_without_limit_can_be_asked_for_ever(book):
    free = PrivacyConstrained([0.5] * 20 + [math.inf] * 20, ids=IDS)
    for _ in range(2):
        assert campaign.release(announced(book, free), free, VALUES, ledger=book, allow_no_noise=True).charged
    assert book.receipt("p39").remaining is None
    assert book.receipt("p0").remaining == 0


def test_quasi_linear_people_are_charged_as_promised(book):
    agents = QuasiLinear(np.full(PEOPLE, 0.5), benefit=LinearBenefit(base=1.0, slope=1.0), ids=IDS)
    offer = campaign.announce(campaign.plan(agents, bounds=(0, 1), slack=0.5), agents, ledger=book)
    release = campaign.release(offer, agents, VALUES, ledger=book)
    assert release.sealed.total_grains == sum(book.receipt(one).spent for one in IDS)


def test_a_quasi_linear_turnout_that_breaks_the_promise_charges_nobody(book):
    agents = QuasiLinear(np.full(PEOPLE, 0.5), benefit=LinearBenefit(base=1.0, slope=1.0), ids=IDS)
    offer = campaign.announce(campaign.plan(agents, bounds=(0, 1)), agents, ledger=book)
    before = book.acts()
    with pytest.raises(PromiseBroken, match="too few joined"):
        campaign.release(offer, agents, VALUES, ledger=book, joined=np.arange(PEOPLE) < 20)
    assert book.acts() == before


def test_the_quorum_is_kept_and_reads_no_value(book):
    offer = announced(book)
    nothing = np.full(PEOPLE, np.nan)
    with pytest.raises(PromiseBroken, match="40 of those who joined count and the quorum is 41"):
        campaign.release(offer, people, nothing, ledger=book, quorum=Quorum(people=41))
    with pytest.raises(PromiseBroken, match="standard error"):
        campaign.release(offer, people, nothing, ledger=book, quorum=Quorum(standard_error=offer.standard_error * 0.79))
    met = Quorum(people=40, standard_error=offer.standard_error)
    assert campaign.release(offer, people, VALUES, ledger=book, quorum=met).charged


@pytest.mark.parametrize("stated", [Conditions(quorum_people=31), Conditions(quorum_error=1e-9)])
def test_nobody_is_charged_below_the_quorum_that_was_announced(book, stated):
    offer, few = announced(book, conditions=stated), np.arange(PEOPLE) < 30
    for verb, more in ((campaign.release, {"ledger": book}), (campaign.look, {})):
        with pytest.raises(PromiseBroken, match="quorum"):
            verb(offer, people, VALUES, joined=few, quorum=Quorum(people=5), **more)
    assert {act.kind for act in book.acts()} == {"register", "announce"}


@pytest.mark.parametrize(
    "odd",
    [{"quorum_people": -1}, {"quorum_people": True}, {"quorum_error": math.nan}, {"quorum_error": -1.0}, {"mode": 3}],
)
def test_conditions_that_could_not_be_read_again_are_refused(odd):
    with pytest.raises(BadInput):
        Conditions(**odd)


@pytest.mark.parametrize("people", [math.nan, None, "5", True, 2.5])
def test_what_is_no_count_is_no_quorum(people):
    with pytest.raises(BadInput, match="people must be a whole number"):
        Quorum(people=people)


@pytest.mark.parametrize("error", [math.nan, None, "5", -1.0])
def test_what_is_no_number_is_no_largest_standard_error(error):
    with pytest.raises(BadInput, match="standard error must be a number"):
        Quorum(standard_error=error)


def test_a_missing_value_names_the_index_and_charges_nobody(book):
    offer = announced(book)
    values = VALUES.copy()
    values[7] = np.nan
    with pytest.raises(BadInput, match="person at index 7"):
        campaign.release(offer, people, values, ledger=book)
    assert [act.kind for act in book.acts()] == ["register", "announce"]


def test_a_limit_edited_after_the_announcement_is_refused(book):
    offer = announced(book)
    for edited in (LIMITS * 0.5, LIMITS[::-1].copy(), np.where(LIMITS < 0.2, 3.0, LIMITS)):
        with pytest.raises(PromiseBroken):
            campaign.release(offer, PrivacyConstrained(edited, ids=IDS), VALUES, ledger=book)


def test_answers_are_final_for_the_round(book):
    offer = announced(book)
    campaign.answer(offer, {"p1": False}, ledger=book)
    with pytest.raises(PromiseBroken, match="declined this round and cannot join it"):
        campaign.answer(offer, {"p0": True, "p1": True}, ledger=book)


def test_cancelling_frees_the_budget_for_another_campaign(book):
    offer = announced(book)
    campaign.cancel(offer, ledger=book)
    again = announced(book)
    assert again.sealed.total_grains == offer.sealed.total_grains


def test_announcing_again_under_the_same_name_changes_nothing(book):
    first = announced(book, campaign="census")
    assert campaign.announce(campaign.plan(people, bounds=(0, 1)), people, ledger=book, campaign="census") == first
    with pytest.raises(PromiseBroken, match="announced before, differently"):
        campaign.announce(campaign.plan(people, bounds=(0, 2)), people, ledger=book, campaign="census")


def test_a_ledger_needs_ids(book):
    nameless = PrivacyConstrained(LIMITS)
    with pytest.raises(BadInput, match="give ids"):
        announced(book, nameless)


NOT_ANSWERS = (
    ["maybe"] * PEOPLE,
    [math.nan] * PEOPLE,
    [True] * (PEOPLE - 1) + [math.nan],
    ["False."] * PEOPLE,
    np.ones(PEOPLE),
    np.ma.masked_array(np.ones(PEOPLE, dtype=bool), mask=np.arange(PEOPLE) == 3),
)


@pytest.mark.parametrize("joined", NOT_ANSWERS)
def test_nobody_is_charged_for_what_is_not_a_yes(book, joined):
    offer = announced(book)
    with pytest.raises(BadInput, match="joined"):
        campaign.release(offer, people, VALUES, ledger=book, joined=joined)
    assert [act.kind for act in book.acts()] == ["register", "announce"]


def test_nobody_is_charged_where_everyone_says_no_in_words(book):
    offer = announced(book)
    with pytest.raises(PromiseBroken, match="nobody joined"):
        campaign.release(offer, people, VALUES, ledger=book, joined=["no"] * PEOPLE)
    assert [act.kind for act in book.acts()] == ["register", "announce"]


@pytest.mark.parametrize("word", ["no", "yes", 0, 1, None, math.nan])
def test_an_answer_is_true_or_false(book, word):
    offer = announced(book)
    with pytest.raises(BadInput, match="True or False"):
        campaign.answer(offer, {"p1": word}, ledger=book)


def test_values_and_joined_speak_of_the_same_rows(book):
    offer = announced(book)
    joined = pd.Series(np.ones(PEOPLE, dtype=bool), index=range(1, PEOPLE + 1))
    with pytest.raises(BadInput, match="different indexes"):
        campaign.release(offer, people, pd.Series(VALUES), ledger=book, joined=joined)


def test_a_release_knows_whom_it_cost_what_also_when_asked_again(book):
    offer = announced(book)
    campaign.answer(offer, {"p1": False}, ledger=book)
    expected = np.where(np.arange(PEOPLE) == 1, 0, offer.grains(people))
    turned = PrivacyConstrained(LIMITS[::-1].copy(), ids=IDS[::-1])
    for who, values, order in ((people, VALUES, 1), (people, VALUES, 1), (turned, VALUES[::-1], -1)):
        release = campaign.release(offer, who, values, ledger=book)
        assert release.grains.tolist() == expected[::order].tolist()


def test_a_stored_release_is_published_with_all_its_marks(book):
    release = campaign.release(announced(book), people, VALUES, ledger=book)
    for change in ({"ledger_head": None}, {"ledger_number": None}, {"charged": False}, {"ledger_number": 10**40}):
        with pytest.raises(BadInput, match=r"disagree|malformed"):
            Release.from_json(json.dumps(json.loads(release.to_json()) | change))


def test_people_promised_nothing_make_no_quorum(book):
    who = PrivacyConstrained(np.where(np.arange(PEOPLE) < 5, 0.0, LIMITS), ids=IDS)
    offer = announced(book, who)
    with pytest.raises(PromiseBroken, match="35 of those who joined count and the quorum is 36"):
        campaign.release(offer, who, VALUES, ledger=book, quorum=Quorum(people=36))
    assert campaign.release(offer, who, VALUES, ledger=book, quorum=Quorum(people=35)).joined_people == PEOPLE


def weighing(cost=0.1):
    return QuasiLinear(np.full(PEOPLE, cost), benefit=LinearBenefit(base=3.0, slope=1.0), ids=IDS)


def test_an_exact_release_needs_allowances_without_limit(book):
    free = QuasiLinear(np.zeros(PEOPLE), benefit=LinearBenefit(base=3.0, slope=0.0), ids=IDS)
    exact = campaign.plan(free, bounds=(0, 1))
    campaign.cancel(announced(book), ledger=book)
    before = book.acts()
    with pytest.raises(BudgetSpent, match=r"40 of 40 people have a finite allowance.*no finite one"):
        campaign.announce(exact, free, ledger=book)
    with pytest.raises(BudgetSpent, match="no finite one"):
        campaign.announce(exact, free, ledger=book, raise_limits=True, allowances=5000.0)
    assert book.acts() == before
    assert campaign.announce(exact, free, ledger=book, raise_limits=True, allowances=math.inf).noiseless


def test_people_who_weigh_costs_are_asked_again_once_they_allow_more(book):
    who = weighing()
    plan = campaign.plan(who, bounds=(0, 1), slack=0.1)
    first = campaign.announce(plan, who, ledger=book)
    campaign.release(first, who, VALUES, ledger=book)
    with pytest.raises(BudgetSpent, match="totals that people now allow"):
        campaign.announce(plan, who, ledger=book, raise_limits=True)
    second = campaign.announce(plan, who, ledger=book, raise_limits=True, allowances=1000.0)
    assert campaign.release(second, who, VALUES, ledger=book).charged
    assert book.remaining(IDS).tolist() == [1000 * 2**32 - 2 * g for g in first.grains(who).tolist()]


def test_a_failed_round_says_to_cancel_it_first(book):
    who = weighing()
    plan = campaign.plan(who, bounds=(0, 1))
    first = campaign.announce(plan, who, ledger=book)
    with pytest.raises(PromiseBroken, match="Cancel it"):
        campaign.release(first, who, VALUES, ledger=book, joined=np.arange(PEOPLE) < 20)
    with pytest.raises(BudgetSpent, match="cancel first a round"):
        campaign.announce(plan, who, ledger=book, campaign=first.campaign, round=2)
    campaign.cancel(first, ledger=book)
    assert campaign.announce(plan, who, ledger=book, campaign=first.campaign, round=2).round == 2


def test_a_total_over_all_releases_may_differ_from_the_limit_of_one(book):
    half = PrivacyConstrained(np.full(PEOPLE, 0.5), ids=IDS)
    for _ in range(2):
        plan = planned(book, half, allowances=1.25)
        campaign.release(campaign.announce(plan, half, ledger=book, allowances=1.25), half, VALUES, ledger=book)
    assert book.remaining(IDS).tolist() == [2**30] * PEOPLE
    more = planned(book, half, raise_limits=True, allowances=np.full(PEOPLE, 1.375))
    assert more == campaign.plan(PrivacyConstrained(np.full(PEOPLE, 0.375), ids=IDS), bounds=(0, 1))


@pytest.mark.parametrize("wrong", [[1.0], [[1.0]], [[1.0], [1.0, 2.0]], -1.0, "x", math.nan, np.ones(PEOPLE + 1)])
def test_allowances_are_numbers_one_for_each_person_or_one_for_all(book, wrong):
    with pytest.raises(BadInput, match="allowances"):
        campaign.announce(planned(book), people, ledger=book, allowances=wrong)


def test_announcing_again_gives_the_same_offer_whatever_others_took_since(book):
    who = PrivacyConstrained(np.full(PEOPLE, 3.0), ids=IDS)
    plan = campaign.plan(who, bounds=(0, 1), eta=40.0, ledger=book)
    first = campaign.announce(plan, who, ledger=book, campaign="first")
    campaign.answer(first, {"p1": False}, ledger=book)
    campaign.announce(campaign.plan(who, bounds=(0, 1), ledger=book), who, ledger=book, campaign="second")
    acts = book.acts()
    assert campaign.announce(plan, who, ledger=book, campaign="first") == first
    assert book.acts() == acts
    campaign.cancel(first, ledger=book)
    with pytest.raises(PromiseBroken, match="cancelled; announce a new round"):
        campaign.announce(plan, who, ledger=book, campaign="first")


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 1.0, True, "1"])
def test_a_round_is_one_that_every_database_holds(book, number):
    with pytest.raises(BadInput, match="round must be a whole number"):
        announced(book, campaign="census", round=number)
    with pytest.raises(BadInput, match="round must be a whole number"):
        book.receipt("p1", campaign="census", round=number)


@settings(max_examples=examples(15), deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 2.0**-33, 0.25, 0.5, 1.0, 3.0, math.inf]), min_size=12, max_size=12),
    st.integers(1, 3),
)
def test_over_any_campaigns_nobody_spends_more_than_their_first_limit(tmp_path_factory, limits, times):
    who = PrivacyConstrained([*limits, 0.5, 0.7], ids=nth(14))
    with Ledger.open(str(tmp_path_factory.mktemp("any") / "ledger.sqlite")) as book:
        spent = np.zeros(14, dtype=np.int64)
        for _ in range(times):
            try:
                offer = campaign.announce(planned(book, who), who, ledger=book, min_people=1)
            except (BudgetSpent, Infeasible):  # everything is spent
                break
            release = campaign.release(offer, who, np.linspace(0, 1, 14), ledger=book, allow_no_noise=True)
            spent += np.array([one.spent for one in book.receipts(nth(14), campaign=offer.campaign, round=1)])
            assert release.charged
        finite = np.isfinite(who.limits)
        assert np.all(spent[finite] <= np.floor(who.limits[finite] * 2.0**32))
        assert book.verify().ok
