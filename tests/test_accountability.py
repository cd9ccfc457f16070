"""What the ledger holds people to: only a yes is a yes, a step done twice is done once, no copy can be edited."""

import dataclasses
import hashlib
import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from changing import changed_release
from ledger_steps import counts, damage, nth, spent

import optin
from optin import (
    BadInput,
    BudgetSpent,
    LinearBenefit,
    PrivacyConstrained,
    PromiseBroken,
    QuasiLinear,
    Release,
    campaign,
)
from optin.ledger import Ledger
from optin.receipts import Receipt, check

IDS = nth(12)
PEOPLE = PrivacyConstrained([0.5] * 6 + [2.0] * 6, ids=IDS)
PLAN = optin.plan(PEOPLE, bounds=(0, 1))
VALUES = np.linspace(0, 1, 12)


@pytest.fixture
def book(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as opened:
        yield opened


@pytest.fixture
def offer(book):
    return campaign.announce(PLAN, PEOPLE, ledger=book, campaign="one")


@pytest.mark.parametrize(
    "joined",
    [
        ["maybe"] + ["yes"] * 11,
        [float("nan")] + [True] * 11,
        [""] + ["yes"] * 11,
        [1] * 12,
        np.ma.masked_array([True] * 12, mask=[True] + [False] * 11),
    ],
)
def test_what_is_neither_yes_nor_no_is_neither(book, offer, joined):
    with pytest.raises(BadInput, match="joined"):
        campaign.release(offer, PEOPLE, VALUES, ledger=book, joined=joined)
    assert [act.kind for act in book.acts()] == ["register", "announce"]


def test_the_word_no_is_a_no_as_in_a_file(book, offer):
    campaign.release(offer, PEOPLE, VALUES, ledger=book, joined=["no"] + ["yes"] * 11)
    assert counts(book)["charges"] == 11
    assert "p0" not in spent(book)


@pytest.mark.parametrize("answer", ["no", float("nan"), None, 0])
def test_only_false_is_a_no(book, offer, answer):
    with pytest.raises(BadInput, match="True or False"):
        campaign.answer(offer, {"p1": answer}, ledger=book)


def test_values_and_answers_of_different_rows_are_refused(book, offer):
    values = pd.Series(VALUES, index=range(12)[::-1])
    with pytest.raises(BadInput, match="different indexes"):
        campaign.release(offer, PEOPLE, values, ledger=book, joined=pd.Series([True] * 11 + [False]))


def test_a_receipt_does_not_tell_who_declined(book, offer):
    campaign.answer(offer, {"p7": False}, ledger=book)
    campaign.release(offer, PEOPLE, VALUES, ledger=book)
    shown = book.receipt("p1").joined
    for size in (1, 2):
        for away in combinations(range(12), size):
            mask = np.ones(12, dtype=bool)
            mask[list(away)] = False
            assert hashlib.sha256(b"optin joined 1:12:" + np.packbits(mask).tobytes()).hexdigest() != shown


def test_no_finite_allowance_covers_an_exact_release(book):
    people = QuasiLinear([1e-4] * 12, benefit=LinearBenefit(base=3.0, slope=0.0), ids=IDS)
    campaign.announce(optin.plan(people, bounds=(0, 1)), people, ledger=book)
    free = QuasiLinear([0.0] * 12, benefit=LinearBenefit(base=3.0, slope=0.0), ids=IDS)
    with pytest.raises(BudgetSpent, match="no finite one"):
        campaign.announce(optin.plan(free, bounds=(0, 1)), free, ledger=book)


def test_a_release_edited_outside_no_longer_agrees(book, offer):
    real = campaign.release(offer, PEOPLE, VALUES, ledger=book)
    assert book.verify([real]).ok
    free = json.loads(optin.release(offer, PEOPLE, VALUES).to_json())
    forged = free | {"charged": True, "ledger_number": real.ledger_number, "ledger_head": real.ledger_head}
    with pytest.raises(BadInput):
        Release.from_json(json.dumps(forged))
    other = changed_release(real, noisy_total=real.sealed.noisy_total + 1)
    assert not book.verify([other]).ok
    with pytest.raises(BadInput, match="disagree"):
        Release.from_json(json.dumps(json.loads(real.to_json()) | {"ledger_number": None, "ledger_head": None}))


def test_a_receipt_edited_outside_no_longer_agrees(book, offer):
    real = campaign.release(offer, PEOPLE, VALUES, ledger=book)
    receipt = book.receipt("p1")
    assert book.verify([receipt]).ok
    for change in ({"spent": 1}, {"promised": receipt.promised * 1000}, {"id": "nobody"}):
        edited = dataclasses.replace(receipt, **change)
        assert not book.verify([edited]).ok
        with pytest.raises(PromiseBroken):
            check(edited, offer, real)


@pytest.mark.parametrize(
    "change",
    [
        {"remaining": -5},
        {"spent": 0.5},
        {"spent": "x"},
        {"promised": None},
        {"index": 1.0},
        {"id": 5},
        {"salt": "zz"},
        {"path": ["zz"]},
        {"ledger_number": 10**400},
    ],
)
def test_what_is_no_receipt_is_not_read_as_one(book, offer, change):
    campaign.release(offer, PEOPLE, VALUES, ledger=book)
    record = json.loads(book.receipt("p1").to_json())
    with pytest.raises(BadInput, match="not an optin receipt"):
        Receipt.from_json(json.dumps(record | change))


def test_announcing_again_gives_the_stored_offer_whatever_happened_since(book):
    people = PrivacyConstrained([9.0] * 12, ids=IDS)
    plan = campaign.plan(people, bounds=(0, 1), eta=12.0, ledger=book)
    first = campaign.announce(plan, people, ledger=book, campaign="one")
    again = campaign.plan(people, bounds=(0, 1), eta=12.0, ledger=book)
    campaign.announce(again, people, ledger=book, campaign="two")
    assert campaign.announce(plan, people, ledger=book, campaign="one") == first
    assert [act.kind for act in book.acts()] == ["register", "announce", "announce"]


def test_a_cancelled_round_cannot_be_announced_again(book, offer):
    campaign.cancel(offer, ledger=book)
    with pytest.raises(PromiseBroken, match="cancelled"):
        campaign.announce(PLAN, PEOPLE, ledger=book, campaign="one")


def test_people_who_weigh_costs_can_be_asked_twice_once_their_allowance_is_raised(book):
    people = QuasiLinear([0.1] * 12, benefit=LinearBenefit(3, 1), ids=IDS)
    plan = optin.plan(people, bounds=(0, 1), slack=0.1)
    first = campaign.announce(plan, people, ledger=book, campaign="one")
    campaign.release(first, people, VALUES, ledger=book)
    with pytest.raises(BudgetSpent):
        campaign.announce(plan, people, ledger=book, campaign="two")
    totals = [100.0] * 12
    second = campaign.announce(plan, people, ledger=book, campaign="two", raise_limits=True, allowances=totals)
    assert campaign.release(second, people, VALUES, ledger=book).charged


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE promises SET position = 12 WHERE position = 11",
        "UPDATE acts SET kind = 'x' WHERE number = 2",
        "UPDATE acts SET salt = 'zz' WHERE kind = 'release'",
        "INSERT INTO returns (offer, position, act) VALUES (2, 40, 3)",
    ],
)
def test_harm_done_behind_the_ledgers_back_is_found_and_named(book, offer, harm):
    campaign.release(offer, PEOPLE, VALUES, ledger=book)
    damage(book, harm)
    assert not book.verify().ok
