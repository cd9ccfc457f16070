"""What is asked: numbers and sheets, checked at the door, and carried word for word into what is announced."""

import json
import math

import pytest
from changing import asked, changed_offer, part_with

import optin
from optin.errors import BadInput, PromiseBroken

PEOPLE = optin.PrivacyConstrained([0.5] * 6 + [2.0] * 6)
HOURS = optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work last week?")
SHEET = optin.Sheet([HOURS], title="Working hours", purpose="To plan shifts", asked_by="The works council")


def test_a_plan_from_bounds_is_the_plan_of_a_sheet_of_one_number_called_value():
    plain = optin.plan(PEOPLE, bounds=(0, 80), data_sd=9, max_gap=3)
    number = optin.Number("value", bounds=(0, 80), sd=9, max_gap=3)
    assert (
        plain == optin.plan(PEOPLE, optin.Sheet([number])) == optin.plan(PEOPLE, [number]) == optin.plan(PEOPLE, number)
    )
    assert plain.sheet["value"].bounds == (0.0, 80.0)


@pytest.mark.parametrize("bounds", [(0, 1), (-3, 7), (0, 80)])
@pytest.mark.parametrize("variance", [None, 0.01, 0.0])
def test_words_change_no_number(bounds, variance):
    number = optin.Number("q", bounds=bounds, data_variance=variance, text="?", unit="u", column="c")
    worded, plain = optin.plan(PEOPLE, number), optin.plan(PEOPLE, bounds=bounds, data_variance=variance)
    assert worded.designs == plain.designs


def test_the_price_of_a_number_is_its_noise_over_its_variance():
    assert optin.Number("a", bounds=(0, 1)).price == optin.Number("b", bounds=(-5, 3)).price == 8
    assert optin.Number("c", bounds=(0, 4), sd=1).price == 32
    assert optin.Number("d", bounds=(0, 1), sd=0).price == math.inf


def test_the_worst_case_is_declared_where_nothing_is():
    assert optin.Number("a", bounds=(0, 10)).data_variance == 25.0


@pytest.mark.parametrize(
    "wrong",
    [
        *({"name": ""}, {"name": " a"}, {"name": "a\nb"}, {"name": 3}, {"bounds": (1, 0)}, {"bounds": (0, math.inf)}),
        *({"sd": -1}, {"sd": 0.6}, {"sd": 0.1, "data_variance": 0.01}, {"max_gap": 2}, {"max_gap": math.nan}),
        *({"importance": 0}, {"importance": math.inf}, {"unit": 3}, {"text": None}, {"text": "\ud800"}),
    ],
)
def test_a_number_is_checked_at_the_door(wrong):
    with pytest.raises(BadInput):
        optin.Number(**({"name": "a", "bounds": (0, 1)} | wrong))


@pytest.mark.parametrize("questions", [[], [3], "hours", [HOURS, HOURS], None])
def test_a_sheet_is_checked_at_the_door(questions):
    with pytest.raises(BadInput):
        optin.Sheet(questions)


def test_numbers_belong_to_the_question_where_there_is_a_sheet():
    with pytest.raises(BadInput, match="bounds belongs to a question"):
        optin.plan(PEOPLE, SHEET, bounds=(0, 1))
    with pytest.raises(BadInput, match="max_gap belongs to a question"):
        optin.plan(PEOPLE, SHEET, max_gap=1)


def test_a_sheet_goes_the_whole_way_and_names_its_result():
    offer = optin.plan(PEOPLE, SHEET).announce(PEOPLE)
    release = optin.release(offer, PEOPLE, [38.0] * 12)
    assert offer.terms.sheet == SHEET
    assert release["hours"].estimate == release.estimate
    assert release["hours"].interval(0.9) == release.total_interval(0.9)
    with pytest.raises(KeyError):
        release["value"]
    assert optin.Release.from_json(release.to_json()) == release


WORDS = ["title", "purpose", "asked_by", "name", "text", "unit", "column"]


@pytest.mark.parametrize("word", WORDS)
def test_every_word_that_was_asked_is_under_the_fingerprint(word):
    offer = optin.plan(PEOPLE, SHEET).announce(PEOPLE)
    record = json.loads(offer.to_json())
    part_with(record["terms"]["sheet"], word)[word] += "!"
    with pytest.raises(BadInput, match="fingerprint"):
        optin.Announcement.from_json(json.dumps(record))


def test_a_question_rewritten_after_the_announcement_fails_the_check_of_a_receipt(tmp_path):
    people = optin.PrivacyConstrained([0.5] * 6 + [2.0] * 6, ids=[f"p{k}" for k in range(12)])
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        plan = optin.campaign.plan(people, SHEET)
        offer = optin.campaign.announce(plan, people, ledger=ledger)
        release = optin.campaign.release(offer, people, [38.0] * 12, ledger=ledger)
        receipt = ledger.receipt("p1")
    assert optin.check(receipt, offer, release)
    other = asked(offer.sheet, {"text": "How many hours did you waste last week?"})
    import dataclasses

    rewritten = dataclasses.replace(offer, terms=dataclasses.replace(offer.terms, sheet=other))
    with pytest.raises(PromiseBroken, match="another announcement"):
        optin.check(receipt, rewritten, release)
    assert changed_offer(offer).fingerprint == offer.fingerprint
