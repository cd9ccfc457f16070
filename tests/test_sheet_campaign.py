"""A sheet of several questions through its whole life: planned, announced, answered, released, charged."""

import json

import numpy as np
import pytest

import optin
from optin import campaign
from optin.campaign import Quorum
from optin.errors import BadInput, PromiseBroken
from optin.grains.splitting import part, promised, spent
from optin.ledger import Ledger

SHIFTS = ("early", "late", "night", "rather not say")
MOODS = ("very bad", "bad", "fair", "good", "very good")
REASONS = ("pay", "hours", "boss", "way", "other")
PEOPLE = 400


def sheet(**more):
    return optin.Sheet(
        [
            optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work?", **more),
            optin.YesNo("break", text="Did you skip a break?"),
            optin.Choice("shift", options=SHIFTS),
            optin.Scale("mood", options=MOODS),
            optin.Score("phq9", items=9, each=(0, 3)),
            optin.Histogram("age", edges=(16, 25, 35, 45, 55, 65, 80)),
            optin.MultipleChoice("reasons", options=REASONS, at_most=2),
        ],
        title="Working here",
        purpose="to plan shifts",
        asked_by="the works council",
    )


def limits(people=PEOPLE):
    return np.tile([0.5, 1.0, 3.0, 8.0], people // 4)


def answers(people=PEOPLE, seed=1):
    rng = np.random.default_rng(seed)
    reasons = [";".join(rng.choice(REASONS, size=rng.integers(0, 3), replace=False)) for _ in range(people)]
    return {
        "hours": rng.normal(40, 9, people),
        "break": rng.random(people) < 0.3,
        "shift": rng.choice(SHIFTS, people),
        "mood": rng.choice(MOODS, people),
        "phq9": rng.integers(0, 28, people).astype(float),
        "age": rng.uniform(10, 90, people),
        "reasons": reasons,
    }


@pytest.fixture
def agents():
    return optin.PrivacyConstrained(limits(), ids=[f"p{at}" for at in range(PEOPLE)])


@pytest.fixture
def offer(agents):
    return optin.plan(agents, sheet()).announce(agents, campaign="c")


@pytest.fixture
def book(tmp_path):
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.sqlite") as opened:
        yield opened


def held(agents, book, questions=None, **more):
    return campaign.announce(optin.plan(agents, questions or sheet()), agents, ledger=book, campaign="c", **more)


def test_every_person_is_promised_the_sum_of_what_the_questions_take_and_never_more_than_their_limit(agents, offer):
    capped = np.floor(np.minimum(limits(), offer.cap) * 2**32).astype(np.int64)
    grains = offer.grains(agents)
    assert (grains == promised(capped, offer.shares)).all()
    assert (grains <= capped).all()
    assert sum(offer.shares) == 2**20
    assert offer.sealed.total_grains == int(grains.sum())
    for share, sums in zip(offer.shares, offer.sealed.question_sums, strict=True):
        mine = part(capped, share).tolist()
        assert (sums.total_grains, sums.total_squared_grains) == (sum(mine), sum(each * each for each in mine))


def test_a_deal_says_what_each_question_takes_of_a_limit(offer):
    deal = optin.explain(offer, limit=0.5)
    assert deal.grains == sum(question.grains for question in deal.questions)
    assert deal["hours"].epsilon == deal["hours"].grains / 2**32
    assert deal.epsilon <= 0.5
    assert [question.name for question in deal.questions] == [question.name for question in offer.sheet]
    assert "hours" in str(deal)


def test_a_release_has_a_result_for_each_question(agents, offer):
    drawn = optin.release(offer, agents, answers())
    assert 20 < drawn["hours"].estimate < 60
    assert drawn["hours"].sd >= 0
    assert set(drawn["break"].proportions) == {"yes", "no"}
    assert sum(drawn["shift"].proportions.values()) == pytest.approx(1, abs=1e-12)
    assert 1 < drawn["mood"].mean < 5
    low, high = drawn["age"].quantile_interval(0.5)
    assert low <= drawn["age"].quantile(0.5) <= high
    assert set(drawn["reasons"].proportions) == set(REASONS)
    for low, high in (drawn["shift"].interval(option) for option in SHIFTS):
        assert 0 <= low <= high <= 1
    names = {row[0] for row in drawn.table()}
    assert names == {question.name for question in offer.sheet}


def test_announcements_and_releases_of_sheets_come_back_from_json(agents, offer):
    drawn = optin.release(offer, agents, answers())
    again = optin.Release.from_json(drawn.to_json())
    assert again == drawn
    assert again.table().rows == drawn.table().rows
    assert optin.Announcement.from_json(offer.to_json()) == offer


def test_a_number_in_a_release_that_does_not_follow_is_refused(agents, offer):
    record = json.loads(optin.release(offer, agents, answers()).to_json())
    record["results"][2]["answers"][0]["estimate"] += 0.01
    with pytest.raises(BadInput, match="estimate"):
        optin.Release.from_json(json.dumps(record))


def test_files_do_not_grow_with_the_number_of_people():
    sizes = []
    for people in (400, 4000):
        agents = optin.PrivacyConstrained(limits(people))
        offer = optin.plan(agents, sheet()).announce(agents, campaign="c")
        sizes.append(len(offer.to_json()) + len(optin.release(offer, agents, answers(people)).to_json()))
    assert abs(sizes[1] - sizes[0]) < 0.05 * sizes[0]


def test_whoever_skips_a_question_is_counted_and_charged_for_the_others_only(agents, book):
    offer, given = held(agents, book), answers()
    given["hours"][:100] = np.nan
    given["shift"] = [None if at % 2 else each for at, each in enumerate(given["shift"])]
    drawn = campaign.release(offer, agents, given, ledger=book)
    assert drawn.question_people[0] == PEOPLE - 100
    assert drawn.question_people[2] == PEOPLE // 2
    marks = np.full(PEOPLE, 0b1111111)
    marks[:100] &= ~0b1
    marks[1::2] &= ~0b100
    capped = np.floor(np.minimum(limits(), offer.cap) * 2**32).astype(np.int64)
    assert (drawn.grains == spent(capped, offer.shares, marks)).all()
    allowed = np.floor(limits() * 2**32).astype(np.int64)
    assert (book.remaining(list(agents.ids)) == allowed - drawn.grains).all()
    assert book.verify(against=[drawn]).ok


def test_a_missing_answer_to_the_only_question_is_refused(agents):
    offer = optin.plan(agents, [optin.YesNo("break")]).announce(agents)
    given = [True] * (PEOPLE - 1) + [None]
    with pytest.raises(BadInput, match="missing"):
        optin.release(offer, agents, given)


def test_a_question_that_too_few_answer_is_dropped_alone_and_nobody_is_charged_for_it(agents, book):
    offer, given = held(agents, book), answers()
    given["age"][8:] = np.nan
    drawn = campaign.release(offer, agents, given, ledger=book)
    assert list(drawn.dropped) == ["age"]
    assert "age" not in {row[0] for row in drawn.table()}
    with pytest.raises(BadInput, match="not published"):
        drawn["age"]
    capped = np.floor(np.minimum(limits(), offer.cap) * 2**32).astype(np.int64)
    assert (drawn.grains == spent(capped, offer.shares, np.full(PEOPLE, 0b1011111))).all()
    assert book.verify(against=[drawn]).ok
    assert optin.Release.from_json(drawn.to_json()) == drawn


def test_a_question_less_accurate_than_stated_beforehand_is_dropped(agents):
    offer = optin.plan(agents, sheet(max_error=1e-6)).announce(agents)
    assert list(optin.release(offer, agents, answers()).dropped) == ["hours"]


def test_where_every_question_would_be_dropped_nothing_is_released_or_charged(agents, book):
    questions = [optin.YesNo("a", max_error=1e-6), optin.YesNo("b", max_error=1e-6)]
    offer = held(agents, book, questions)
    given = {"a": [True] * PEOPLE, "b": [False] * PEOPLE}
    with pytest.raises(PromiseBroken, match="nothing would be left"):
        campaign.release(offer, agents, given, ledger=book)
    assert book.verify().ok
    promised_grains = offer.grains(agents)
    allowed = np.floor(limits() * 2**32).astype(np.int64)
    assert (book.remaining(list(agents.ids)) == allowed - promised_grains).all()


def test_a_quorum_counts_those_who_answered_each_question(agents, book):
    offer, given = held(agents, book), answers()
    given["mood"] = [None] * 200 + list(given["mood"][200:])
    drawn = campaign.release(offer, agents, given, ledger=book, quorum=Quorum(people=300))
    assert list(drawn.dropped) == ["mood"]


def test_asked_again_the_stored_release_of_a_sheet_comes_back(agents, book):
    offer, given = held(agents, book), answers()
    first = campaign.release(offer, agents, given, ledger=book)
    assert campaign.release(offer, agents, given, ledger=book) == first


def test_a_second_campaign_has_what_the_first_one_left(agents, book):
    offer, given = held(agents, book), answers()
    given["hours"][:] = np.nan
    first = campaign.release(offer, agents, given, ledger=book)
    left = campaign.within_allowance(agents, book)
    exact = np.floor(limits() * 2**32).astype(np.int64) - first.grains
    assert (np.floor(left.limits * 2**32).astype(np.int64) <= exact).all()
    second = campaign.announce(optin.plan(left, sheet()), agents, ledger=book, campaign="d")
    drawn = campaign.release(second, agents, answers(seed=2), ledger=book)
    assert (drawn.grains + first.grains <= np.floor(limits() * 2**32).astype(np.int64)).all()
    assert book.verify(against=[first, drawn]).ok


def test_people_who_stay_away_get_their_whole_promise_back(agents, book):
    offer, joined = held(agents, book), np.arange(PEOPLE) % 3 > 0
    drawn = campaign.release(offer, agents, answers(), ledger=book, joined=joined)
    assert drawn.joined_people == joined.sum()
    assert not drawn.grains[~joined].any()
    allowed = np.floor(limits() * 2**32).astype(np.int64)
    assert (book.remaining(list(agents.ids)) == allowed - drawn.grains).all()


def test_an_unknown_option_is_refused_by_its_place_and_never_repeated(agents, offer):
    given = answers()
    given["shift"] = ["SECRET" if at == 7 else each for at, each in enumerate(given["shift"])]
    with pytest.raises(BadInput) as caught:
        optin.release(offer, agents, given)
    assert "7" in str(caught.value)
    assert "SECRET" not in repr(caught.value)


def test_a_missing_column_is_named(agents, offer):
    given = answers()
    del given["mood"]
    with pytest.raises(BadInput, match="mood"):
        optin.release(offer, agents, given)


def test_a_sheet_of_one_number_gives_the_integers_it_always_gave(agents):
    alone = optin.plan(agents, bounds=(0, 80), data_sd=9)
    asked = optin.plan(agents, [optin.Number("value", bounds=(0, 80), sd=9)])
    assert asked == alone
    offer = alone.announce(agents, campaign="c")
    assert offer.shares == (2**20,)
    assert (offer.grains(agents) == np.floor(np.minimum(limits(), offer.cap) * 2**32)).all()


def test_a_changed_sheet_is_not_what_was_announced(offer):
    record = json.loads(offer.to_json())
    record["terms"]["sheet"]["questions"][2]["options"][0] = "morning"
    with pytest.raises(BadInput, match="fingerprint"):
        optin.Announcement.from_json(json.dumps(record))
