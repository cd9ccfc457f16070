"""A total over all campaigns is its owner's word: nothing else changes it, and it stops nobody else's campaign."""

import contextlib
import itertools
import re

import pytest
from ledger_steps import announce
from web_steps import answering, registered

import optin
from optin import campaign
from optin.errors import BudgetSpent
from optin.web.service.ladder import LIMITS
from optin.web.service.totals import TIMES


def page_of(house, who, name):
    return house.ask("GET", f"/c/{name}", cookie=who._cookie).text


def walk(person, first, second, step):
    """Choose, change, take back, in every order that a total could be mistaken for what came along; yield after each."""
    lower, higher = max(step - 3, 0), min(step + 3, len(LIMITS) - 1)
    for chosen in (step, lower, step, higher, step):
        yield person.register(first, chosen)
    yield person.withdraw(first)
    yield person.register(second, step)
    yield person.register(first, step)
    yield person.withdraw(second)
    yield person.register(first, lower)
    yield person.withdraw(first)


def test_a_total_that_was_stated_is_changed_by_no_choice_although_it_is_as_much_as_would_have_come_along(lodge):
    stays_whatever_is_chosen(lodge, LIMITS[1::2], [TIMES])


@pytest.mark.slow
def test_a_total_that_was_stated_is_changed_by_no_choice_whatever_multiple_of_it_it_is(lodge):
    stays_whatever_is_chosen(lodge, LIMITS, [1, 2, TIMES, 10, 40])


def stays_whatever_is_chosen(lodge, steps, multiples):
    analyst = lodge.analyst()
    first, second = (registered(analyst, []) for _ in range(2))
    for step, times in itertools.product(steps, multiples):
        person = lodge.person()
        total = person.raise_allowance(times * step.amount).allowance
        assert total == pytest.approx(times * step.amount)
        for _ in walk(person, first, second, step.index):
            assert person.me().allowance == total


@pytest.mark.parametrize("times", [1, TIMES])
def test_a_total_stated_in_campaigns_beside_a_choice_stays_when_the_choice_changes_or_goes(lodge, times):
    analyst, person = lodge.analyst(), lodge.person()
    first, second = (registered(analyst, []) for _ in range(2))
    person.register(first, 5, times=times)
    for _ in walk(person, first, second, 5):
        assert person.me().allowance == times * LIMITS[5].amount


@pytest.mark.parametrize("total", [0.2, 2.0, 32.0])
def test_a_total_said_before_is_the_default_on_the_page_and_a_changed_choice_keeps_it(lodge, total):
    analyst, person = lodge.analyst(), lodge.person()
    name, said = registered(analyst, []), person.raise_allowance(total).allowance
    for step in (5, 9, 2):
        marked = re.findall(r'<option value="(\d*)" selected>', page_of(lodge, person, name))
        assert marked == [""]
        form = {"csrf": person._csrf, "step": str(step), "times": marked[0], "round": "1"}
        assert lodge.ask("POST", f"/c/{name}/limit", cookie=person._cookie, data=form).status_code == 303
        assert person.me().allowance == said


def test_nobody_is_charged_beyond_the_total_they_stated_after_a_choice_was_taken_back(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(14)
    mistaken = registered(analyst, [])
    crowd[0].raise_allowance(TIMES * LIMITS[5].amount)
    crowd[0].register(mistaken, 5)
    crowd[0].withdraw(mistaken)
    name = answering(analyst, crowd, steps=[9] + [7] * 4 + [9] * 9)
    for person in crowd:
        person.join(name, 5.0)
    for step in ("close", "release"):
        analyst.take(name, step)
    assert 0.0 < crowd[0].me().spent <= TIMES * LIMITS[5].amount


def test_a_total_that_came_with_a_mistaken_choice_stays_until_its_owner_lowers_it_in_one_tap(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    name = registered(analyst, [])
    person.register(name, 9)
    person.register(name, 5)
    assert person.me().allowance == TIMES * LIMITS[9].amount
    page = page_of(lodge, person, name)
    assert "taking it back leaves this as it is" in page
    once = re.search(r'/total">.*?name="epsilon" value="([^"]+)"', page)[1]
    lodge.ask("POST", f"/c/{name}/total", cookie=person._cookie, data={"csrf": person._csrf, "epsilon": once})
    assert person.me().allowance == LIMITS[5].amount
    gone = lodge.ask("POST", f"/c/{name}/withdraw", cookie=person._cookie, data={"csrf": person._csrf})
    assert "Your total over all campaigns stays as it is" in page_of(
        lodge, person, gone.headers["location"].removeprefix("/c/")
    )
    assert person.me().allowance == LIMITS[5].amount


# --- nobody's total stops a campaign of others ------------------------------------------------------------------------

COSTLY = {"model": "quasi-linear", "benefit_base": 5.0, "benefit_slope": 1.0, "slack": 0.2, "data_sd": 1.0}


@pytest.mark.parametrize(("draft", "step"), [({}, 3), (COSTLY, 7)], ids=["limits", "costs"])
def test_whoever_is_promised_nothing_stops_no_announcement(house, draft, step):
    """Their total is below a promise that they declined and that still waits to be given back."""
    analyst, crowd = house.analyst(), house.people(14)
    first = answering(analyst, crowd, steps=[6] * 14)
    crowd[0].decline(first)
    for person in crowd:
        person.raise_allowance(1000.0)
    second = registered(analyst, crowd[1:], steps=[6] * 13, **draft)
    crowd[0].register(second, step)
    crowd[0].lower_allowance(0.1)
    for word in ("close-registration", "announce"):
        analyst.take(second, word)
    assert crowd[0].me().promised == crowd[0].me().remaining == 0.0
    assert all(person.my_campaign(second).deal.grains for person in crowd[1:])
    assert house.service.ledger.verify().ok


def test_this_campaign_and_no_other_leaves_nothing_for_others_once_a_declined_promise_is_given_back(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(14)
    first = answering(analyst, crowd, steps=[6] * 14)
    crowd[0].decline(first)
    second = registered(analyst, crowd[1:], steps=[6] * 13)
    assert crowd[0].register(second, 3, times=1).remaining == 0.0
    assert "your answer will count nothing here" in page_of(lodge, crowd[0], second)
    assert "What you declined counts until a second person declines too" in page_of(lodge, crowd[0], second)
    crowd[1].decline(first)
    for word in ("close-registration", "announce"):
        analyst.take(second, word)
    mine = crowd[0].me()
    assert (mine.promised, mine.remaining) == (pytest.approx(LIMITS[3].amount), 0.0)


def test_a_lowered_total_below_what_is_held_stops_no_announcement_of_the_library(ledger):
    ids = [f"p{at}" for at in range(20)]
    people = optin.PrivacyConstrained([1.0] * 20, ids=ids)
    totals = [0.25, *[4.0] * 19]
    plan = campaign.plan(people, bounds=(0, 1), ledger=ledger, allowances=4.0)
    campaign.announce(plan, people, ledger=ledger, campaign="first", allowances=4.0)
    lowered = {"ledger": ledger, "lower_limits": True, "allowances": totals}
    offer = campaign.announce(campaign.plan(people, bounds=(0, 1), **lowered), people, campaign="second", **lowered)
    assert offer.people == 20
    assert ledger.remaining(ids).tolist() == [3 * 2**32, *[2 * 2**32] * 19]
    assert ledger.verify().ok


def test_a_lowered_total_refuses_exactly_what_it_does_not_cover_and_never_a_promise_of_nothing(ledger):
    for at, (asked, total) in enumerate(itertools.product(range(5), (0, 3, 5, 6, 8, 9))):
        ids = [f"{name}{at}" for name in ("ann", "bob", "cy")]
        announce(ledger, f"first {at}", ids=ids, grains=5, allowances=20)
        covered = asked == 0 or 5 + asked <= total
        with contextlib.nullcontext() if covered else pytest.raises(BudgetSpent, match="1 of 3"):
            given = {"grains": [asked, 5, 5], "allowances": [total, 20, 20]}
            announce(ledger, f"second {at}", ids=ids, lower_limits=True, **given)
    assert ledger.verify().ok
