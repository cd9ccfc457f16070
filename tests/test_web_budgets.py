"""Budgets that do not jam: totals over several campaigns, declines that free, rounds that end, and ways back."""

import re
import time

import pytest
from sqlalchemy import text
from web_steps import PASSWORD, House, answering, finish_jobs, put_people, registered, released

from optin.errors import PromiseBroken
from optin.web.service import announcing
from optin.web.service.ladder import COSTS, LIMITS
from optin.web.service.overdue import cancel_overdue
from optin.web.service.records import Job
from optin.web.service.totals import TIMES, budget_of

DAY = 86400.0
COSTLY = {"model": "quasi-linear", "benefit_base": 5.0, "benefit_slope": 1.0, "slack": 0.2, "data_sd": 1.0}


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.ahead = 0.0

    def __call__(self):
        return time.time() + self.ahead


@pytest.fixture
def timed(url, tmp_path):
    with House(url, tmp_path, clock=Clock()) as opened:
        yield opened


def told(house, who, path):
    """A page's words, without its marks."""
    page = house.ask("GET", path, cookie=who._cookie).text
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("&nbsp;", " ").replace("&#39;", "'")


def sent(house, who, path, **form):
    return house.ask("POST", path, cookie=who._cookie, data={"csrf": who._csrf, **form})


def closed(analyst, people, *, joining, **draft):
    """A campaign whose answers are closed, with so many joined."""
    campaign = answering(analyst, people, **draft)
    for person in people[:joining]:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    return campaign


def grants(house, people):
    """How many grains the ledger still has for each."""
    ids = [person.me().account for person in people]
    return house.service.ledger.remaining(ids).tolist()


# --- a total is not a limit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draft", [{}, COSTLY], ids=["limits", "costs"])
def test_a_second_campaign_over_the_same_people_is_announced_and_asks_as_much_as_the_first(lodge, draft):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    steps = [5] * 12 if not draft else [4] * 12
    first = released(analyst, crowd, steps=steps, **draft)
    second = answering(analyst, crowd, steps=steps, **draft)
    deals = [[person.my_campaign(name).deal.grains for person in crowd] for name in (first, second)]
    assert deals[0] == deals[1]
    assert all(deals[1])
    assert lodge.service.ledger.verify().ok


def test_the_first_choice_states_a_total_of_four_campaigns_like_it_unless_its_owner_says_otherwise(lodge):
    analyst, (one, other, costly) = lodge.analyst(), lodge.people(3)
    campaign = registered(analyst, [])
    assert one.register(campaign, 5).remaining == TIMES * LIMITS[5].amount
    assert other.register(campaign, 5, times=1).remaining == LIMITS[5].amount
    assert other.register(campaign, 6).remaining == LIMITS[5].amount  # without a word a total stays what it was
    assert other.register(campaign, 6, times=10).remaining == 10 * LIMITS[6].amount
    weighed = registered(analyst, [], **COSTLY)
    assert costly.register(weighed, 4).remaining == pytest.approx(TIMES * 5.0 / COSTS[4].amount)
    assert costly.me().allowance == costly.me().remaining


def test_whoever_says_that_it_costs_them_nothing_has_a_total_with_an_end_that_covers_the_campaign(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, [], **COSTLY)
    sent(lodge, crowd[0], f"/c/{campaign}/limit", step="0", times="1", round="1")
    assert crowd[0].me().allowance == crowd[0].me().remaining == pytest.approx(5.0 / COSTS[1].amount)
    for person in crowd[1:]:
        person.register(campaign, 4)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    assert 0.0 < crowd[0].me().promised <= crowd[0].me().allowance


@pytest.mark.parametrize(
    ("step", "times", "total"), [(4, None, 200.0), (3, 10, 200.0), (2, None, 250.0), (1, 4, 500.0)]
)
def test_a_total_said_in_campaigns_has_an_end_and_covers_the_campaign_at_hand(lodge, step, times, total):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, [], **COSTLY)
    crowd[0].register(campaign, step, times=times)
    for person in crowd[1:]:
        person.register(campaign, step)
    mine = crowd[0].me()
    assert total - 1e-6 <= mine.allowance <= total
    page = lodge.ask("GET", f"/c/{campaign}", cookie=crowd[0]._cookie).text
    assert ("4 campaigns like" in page) is (total == 200.0)  # beyond the end more campaigns allow no more
    for word in ("close-registration", "announce"):
        analyst.take(campaign, word)
    assert 0.9 * 5.0 / COSTS[step].amount < crowd[0].me().promised <= mine.allowance


def test_a_total_that_was_stated_or_covers_another_choice_stays_when_a_choice_goes(lodge):
    analyst, (one, other) = lodge.analyst(), lodge.people(2)
    first, second = (registered(analyst, []) for _ in range(2))
    one.register(first, 5, times=1)
    one.register(first, 0)
    one.withdraw(first)
    assert one.me().allowance == 0.5
    for name in (first, second):
        other.register(name, 5)
    other.register(first, 0)
    other.withdraw(first)
    assert other.me().allowance == 2.0


def test_a_choice_in_another_campaign_does_not_lower_the_total_that_came_with_the_first(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    first, second = (registered(analyst, []) for _ in range(2))
    person.register(first, 5)
    assert person.register(second, 0).remaining == TIMES * LIMITS[5].amount
    person.withdraw(second)
    assert person.me().allowance == TIMES * LIMITS[5].amount


def test_a_total_said_before_the_first_choice_stays(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    person.raise_allowance(0.3)
    assert person.register(registered(analyst, []), 5).remaining == pytest.approx(0.3)


def test_whoever_chose_when_a_choice_was_the_total_keeps_that_total(lodge):
    """Rows as version 1 wrote them: a choice, and no total beside it."""
    analyst = lodge.analyst()
    campaign = registered(analyst, [])
    crowd = put_people(lodge.service, campaign, 12, step=lambda _: 5)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    for account, _, _ in crowd:
        budget = lodge.service.read(lambda link, account=account: budget_of(link, account))
        assert budget.total == budget.promised == 2**31


def test_renewing_a_total_is_said_by_its_owner_and_never_happens_by_itself(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    for person in crowd:
        person.raise_allowance(0.5)
    released(analyst, crowd, steps=[5] * 12)
    again = registered(analyst, [])
    assert [person.register(again, 5).remaining for person in crowd] == [0.0] * 12
    assert crowd[0].register(again, 5, times=4).remaining == 2.0
    assert crowd[0].me().allowance == 2.5


def test_a_lowered_total_binds_the_next_plan_although_the_ledger_only_grows(house):
    analyst, crowd = house.analyst(), house.people(24)
    released(analyst, crowd, steps=[5] * 24)
    mine = crowd[0].lower_allowance(0.6)
    assert (mine.allowance, mine.remaining) == (pytest.approx(0.6), pytest.approx(0.1))
    second = answering(analyst, crowd, steps=[5] * 24)
    assert crowd[0].my_campaign(second).deal.epsilon == pytest.approx(0.1)
    assert crowd[1].my_campaign(second).deal.epsilon == pytest.approx(0.5)
    with pytest.raises(PromiseBroken, match="spent or promised already"):
        crowd[0].lower_allowance(0.3)
    assert max(grants(house, crowd[:1])) > 2**32, "the ledger's own allowance did not shrink"


def test_two_plans_at_once_cannot_both_use_what_a_lowered_total_leaves(house, monkeypatch):
    analyst, crowd = house.analyst(), house.people(12)
    released(analyst, crowd, steps=[5] * 12)
    for person in crowd:
        person.lower_allowance(1.0)
    one, other = (registered(analyst, crowd, steps=[5] * 12) for _ in range(2))
    for name in (one, other):
        analyst.take(name, "close-registration")
    announce, between = announcing._announce, []

    def announce_after_the_other(service, *given):
        if not between:  # as another process beside this one would
            between.append(other)
            job = Job("j", "announce", 1, "running", "", 0, 0, None, campaign=other)
            announcing.announce(service, job, lambda *_: None)
        return announce(service, *given)

    monkeypatch.setattr(announcing, "_announce", announce_after_the_other)
    with pytest.raises(PromiseBroken, match="at the same moment"):
        analyst.take(one, "announce")
    for person in crowd:
        mine = person.me()
        assert mine.spent + mine.promised <= mine.allowance


# --- a decline frees --------------------------------------------------------------------------------------------------


def test_a_decline_frees_the_promise_with_a_second_one_and_writes_no_act_for_one_person(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd, steps=[5] * 12)
    acts = lodge.service.ledger.acts()
    mine = crowd[0].me()
    assert (mine.promised, mine.remaining) == (0.5, 1.5)
    crowd[0].decline(campaign)
    mine = crowd[0].me()
    assert (mine.promised, mine.remaining) == (0.0, 1.5)
    assert "Declined and not given back yet 0.5" in told(lodge, crowd[0], "/me")
    answering(analyst, lodge.people(12))
    assert [act.kind for act in lodge.service.ledger.acts()] == [*(act.kind for act in acts), "register", "announce"]
    crowd[1].decline(campaign)
    assert [(person.me().promised, person.me().remaining) for person in crowd[:2]] == [(0.0, 2.0)] * 2


@pytest.mark.parametrize("decliners", [1, 2])
def test_what_is_shown_as_left_after_a_decline_is_what_the_next_plan_uses(lodge, decliners):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    for person in crowd:
        person.raise_allowance(0.5)
    first = answering(analyst, crowd, steps=[5] * 12)
    for person in crowd[:decliners]:
        person.decline(first)
    fresh = lodge.people(12)
    second = registered(analyst, [crowd[0], *fresh], steps=[5] * 13)
    left = crowd[0].me().remaining
    assert left == (0.0 if decliners == 1 else 0.5)
    waits = "What you declined counts until a second person declines too"
    assert (waits in told(lodge, crowd[0], f"/c/{second}")) is (decliners == 1)
    for step in ("close-registration", "announce"):
        analyst.take(second, step)
    assert crowd[0].my_campaign(second).deal.epsilon == left


def test_whoever_declines_after_others_have_theirs_back_waits_for_a_second_one_again(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(14)
    first = answering(analyst, crowd, steps=[5] * 14)
    for person in crowd[:2]:
        person.decline(first)
    answering(analyst, lodge.people(12))
    assert crowd[0].my_campaign(first).given_back
    crowd[2].decline(first)
    assert (crowd[2].me().promised, crowd[2].me().remaining) == (0.0, 1.5)
    assert crowd[2].join(first, 5.0).answer == "joined"


def test_those_who_declined_are_free_for_another_campaign_while_the_first_stays_closed(house):
    analyst, crowd = house.analyst(), house.people(24)
    for person in crowd:
        person.raise_allowance(0.5)
    first = answering(analyst, crowd, steps=[5] * 24)
    for person in crowd[:10]:
        person.join(first, 5.0)
    for person in crowd[10:]:
        person.decline(first)
    analyst.take(first, "close")
    second = answering(analyst, crowd, steps=[5] * 24)
    deals = [person.my_campaign(second).deal.grains for person in crowd]
    assert (any(deals[:10]), all(deals[10:])) == (False, True)
    freed = [act for act in house.service.ledger.acts() if act.kind == "return"]
    assert [act.people for act in freed] == [14]
    released = analyst.take(first, "release").release
    assert released.joined_people == 10
    assert house.service.ledger.verify([released]).ok


def test_whoever_declined_joins_after_all_until_the_promise_is_given_back(house):
    analyst, crowd = house.analyst(), house.people(14)
    campaign = answering(analyst, crowd)
    for person in crowd[:3]:
        person.decline(campaign)
    assert crowd[0].join(campaign, 5.0).answer == "joined"
    answering(analyst, house.people(12))
    with pytest.raises(PromiseBroken, match="has been given back"):
        crowd[1].join(campaign, 5.0)
    assert crowd[1].my_campaign(campaign).given_back
    assert "if there is another round" in told(house, crowd[1], f"/c/{campaign}")
    for person in crowd[3:]:
        person.join(campaign, 5.0)
    for step in ("close", "release"):
        found = analyst.take(campaign, step)
    assert found.release.joined_people == 12


def test_whoever_declined_and_lowered_their_total_does_not_join_beyond_it(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd, steps=[5] * 12)
    crowd[0].decline(campaign)
    crowd[0].lower_allowance(0.1)
    with pytest.raises(PromiseBroken, match="no longer covers"):
        crowd[0].join(campaign, 5.0)


def test_an_announced_round_can_be_declined_before_answers_open(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    assert crowd[0].decline(campaign).answer == "declined"
    assert crowd[0].me().promised == 0.0
    analyst.take(campaign, "open-answers")
    assert crowd[0].join(campaign, 5.0).answer == "joined"


# --- a round that is closed ends --------------------------------------------------------------------------------------


def test_a_round_closed_and_not_released_is_cancelled_after_the_stated_time_and_a_release_then_refuses(timed):
    analyst, crowd = timed.analyst(), timed.people(12)
    campaign = closed(analyst, crowd, joining=12)
    until = analyst.campaign(campaign).publish_by
    assert until == pytest.approx(timed.service.clock() + 14 * DAY, abs=60)
    assert crowd[0].my_campaign(campaign).publish_by == until
    me = crowd[0].me().account
    timed.service.clock.ahead = 13 * DAY
    analyst.sign_in("ada", PASSWORD)
    cancel_overdue(timed.service)
    assert analyst.campaign(campaign).state == "closed"
    timed.service.clock.ahead = 14 * DAY + 60
    analyst.sign_in("ada", PASSWORD)
    with pytest.raises(PromiseBroken, match=r"more than 14 days ago|step cancel is|cannot take"):
        analyst.take(campaign, "release")
    cancel_overdue(timed.service)
    finish_jobs(timed.service)
    assert analyst.campaign(campaign).state == "cancelled"
    assert timed.service.read(lambda link: budget_of(link, me)).promised == 0
    assert timed.service.keys.stored_rounds() == []
    with pytest.raises(PromiseBroken, match="nothing can be done any more"):
        analyst.take(campaign, "release")
    assert "was not published within 14 days" in " ".join(line.words for line in analyst.log(campaign))
    assert timed.service.ledger.verify().ok


def test_opening_answers_again_does_not_begin_the_time_to_publish_anew(timed):
    analyst, crowd = timed.analyst(), timed.people(12)
    campaign, other = (closed(analyst, crowd, joining=5, steps=[3] * 12) for _ in range(2))
    until = analyst.campaign(campaign).publish_by
    timed.service.clock.ahead = 13 * DAY
    analyst.sign_in("ada", PASSWORD)
    assert analyst.take(campaign, "reopen-answers").publish_by == until
    assert analyst.take(campaign, "close").publish_by == until
    analyst.take(campaign, "reopen-answers")
    timed.service.clock.ahead = 14 * DAY + 60
    analyst.sign_in("ada", PASSWORD)
    with pytest.raises(PromiseBroken, match=r"more than 14 days ago|step cancel is|cannot take"):
        analyst.take(other, "reopen-answers")
    cancel_overdue(timed.service)
    finish_jobs(timed.service)
    assert [analyst.campaign(name).state for name in (campaign, other)] == ["cancelled"] * 2


@pytest.mark.parametrize("opened", [False, True], ids=["announced", "answers"])
def test_a_round_announced_and_never_closed_is_cancelled_after_the_stated_time_and_frees_everyone(timed, opened):
    analyst, crowd = timed.analyst(), timed.people(12)
    campaign, ids = registered(analyst, crowd, steps=[5] * 12), [person.me().account for person in crowd]
    for step in ("close-registration", "announce", "open-answers")[: 3 if opened else 2]:
        analyst.take(campaign, step)
    until = analyst.campaign(campaign).publish_by
    assert 59 * DAY < until - time.time() <= 60 * DAY
    by = time.strftime("%-d %B %Y, %H:%M UTC", time.gmtime(until))
    assert f"Close answers by {by}" in told(timed, analyst, f"/a/c/{campaign}")
    assert f"Answers close by {by}" in told(timed, crowd[0], f"/c/{campaign}")
    timed.service.clock.ahead = 60 * DAY + 60
    analyst.sign_in("ada", PASSWORD)
    with pytest.raises(PromiseBroken, match=r"more than 60 days ago|step cancel is|cannot take"):
        analyst.take(campaign, "close" if opened else "open-answers")
    cancel_overdue(timed.service)
    finish_jobs(timed.service)
    found = analyst.campaign(campaign)
    assert (found.state, found.publish_by) == ("cancelled", None)
    assert "not closed within 60 days" in " ".join(line.words for line in analyst.log(campaign))
    assert timed.service.ledger.remaining(ids).tolist() == [2 * 2**32] * 12
    assert timed.service.ledger.verify().ok


def test_the_time_of_a_round_announced_before_there_was_a_rule_begins_when_it_is_found(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd)
    lodge.service.change(lambda link: link.execute(text("DELETE FROM web_events WHERE kind = 'due'")))
    cancel_overdue(lodge.service)
    found = analyst.campaign(campaign)
    assert found.state == "answers"
    assert found.publish_by > time.time() + 59 * DAY


def test_the_time_of_a_round_closed_before_there_was_a_rule_begins_when_it_is_found(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = closed(analyst, crowd, joining=12)
    for query in ("DELETE FROM web_events WHERE kind = 'due'", "UPDATE web_campaigns SET changed_at = 1"):
        lodge.service.change(lambda link, query=query: link.execute(text(query)))
    cancel_overdue(lodge.service)
    found = analyst.campaign(campaign)
    assert found.state == "closed"
    assert found.publish_by > time.time() + 13 * DAY


def test_until_when_a_round_can_be_published_stands_on_the_pages_of_both_sides(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd)
    assert "published within 14 days" in told(lodge, crowd[0], f"/c/{campaign}")
    for person in crowd:
        person.join(campaign, 5.0)
    until = time.strftime("%-d %B %Y, %H:%M UTC", time.gmtime(analyst.take(campaign, "close").publish_by))
    assert f"Publish by {until}" in told(lodge, analyst, f"/a/c/{campaign}")
    assert f"not happened by {until}" in told(lodge, crowd[0], f"/c/{campaign}")


# --- told when one chooses, counted roughly ---------------------------------------------------------------------------


def test_whoever_has_nothing_left_is_told_when_they_choose(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    released(analyst, crowd, steps=[5] * 12)
    crowd[0].lower_allowance(0.5)
    campaign = registered(analyst, crowd[1:])
    assert "Nothing is left of your total" in told(lodge, crowd[0], f"/c/{campaign}")
    assert "Nothing is left of your total" not in told(lodge, crowd[1], f"/c/{campaign}")
    assert crowd[0].register(campaign, 5).remaining == 0.0
    assert "your answer will count nothing here" in told(lodge, crowd[0], f"/c/{campaign}")
    crowd[0].raise_allowance(0.7)
    assert "no more than what is left" in told(lodge, crowd[0], f"/c/{campaign}")


def test_a_limit_that_is_used_in_full_is_not_said_to_be_cut_by_a_total(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    campaign = answering(analyst, crowd, steps=[3] * 12 + [4] * 12)  # 0.1 is not a whole number of grains
    assert "It is exactly what you allowed" in told(lodge, crowd[0], f"/c/{campaign}")


def test_a_total_is_stated_beside_a_choice_and_lowered_in_one_tap(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    campaign = registered(analyst, [])
    page = lodge.ask("GET", f"/c/{campaign}", cookie=person._cookie).text
    assert '<option value="4" selected>' in page
    sent(lodge, person, f"/c/{campaign}/limit", step="5", times="4", round="1")
    assert "is right at most 89 times in 100 instead of 50" in told(lodge, person, f"/c/{campaign}")
    once = re.search(
        r'/total">.*?name="epsilon" value="([^"]+)"', lodge.ask("GET", f"/c/{campaign}", cookie=person._cookie).text
    )
    assert sent(lodge, person, f"/c/{campaign}/total", epsilon=once[1]).status_code == 303
    assert person.me().allowance == 0.5
    sent(lodge, person, f"/c/{campaign}/limit", step="6", times="1", round="1")
    assert person.me().allowance == 1.0
    assert sent(lodge, person, f"/c/{campaign}/limit", step="6", times="x", round="1").status_code == 422


def test_on_the_page_of_totals_nothing_is_raised_without_being_agreed_to(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    person.register(registered(analyst, []), 5)
    assert sent(lodge, person, "/me/allowance", epsilon="3").status_code == 409
    assert person.me().allowance == 2.0
    assert sent(lodge, person, "/me/allowance", epsilon="3", **{"raise": "yes"}).status_code == 303
    assert sent(lodge, person, "/me/allowance", epsilon="1").status_code == 303
    assert person.me().allowance == 1.0
    stop = re.search(
        r'name="lower".*?name="epsilon" value="([^"]+)"', lodge.ask("GET", "/me", cookie=person._cookie).text
    )
    assert sent(lodge, person, "/me/allowance", epsilon=stop[1], lower="yes").status_code == 303
    assert person.me().remaining == 0.0


def test_an_analyst_sees_in_tens_how_many_can_take_part_and_announces_with_them(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(46)
    for person in crowd[:23]:
        person.raise_allowance(0.0)
    campaign = registered(analyst, crowd)
    with pytest.raises(PromiseBroken, match="between registration and announcement"):
        analyst.able(campaign)
    analyst.take(campaign, "close-registration")
    some = analyst.able(campaign)
    assert some in (20, 30)
    assert f"About {some} of the 40 or more who registered" in told(lodge, analyst, f"/a/c/{campaign}/plan")
    offer = analyst.take(campaign, "announce").announcement
    assert offer.people == 46
    assert sum(person.my_campaign(campaign).deal.grains > 0 for person in crowd) == 23


def test_where_tens_begin_is_a_secret_of_the_campaign(lodge):
    """Nine of one's own and one other would else turn the number: whether the other has something left."""
    analyst, found = lodge.analyst(), set()
    for _ in range(24):
        campaign = registered(analyst, [])
        put_people(lodge.service, campaign, 19)
        analyst.take(campaign, "close-registration")
        assert analyst.able(campaign) == analyst.able(campaign)
        found.add(analyst.able(campaign))
    assert found == {10}, "never more than came"
    few = registered(analyst, lodge.people(9))
    analyst.take(few, "close-registration")
    assert analyst.able(few) is None


def test_how_many_can_take_part_is_fixed_when_registration_closes_and_told_once_in_a_round(lodge):
    """Emptying one's own accounts until the number turns, with and without one more person, would say what they have left."""
    analyst, crowd = lodge.analyst(), lodge.people(31)
    campaign = registered(analyst, crowd[:20])
    analyst.take(campaign, "close-registration")
    some = analyst.able(campaign)
    for person in crowd[:11]:
        person.lower_allowance(0.0)
    assert analyst.able(campaign) == some, "one ten less by now, wherever tens begin"
    analyst.take(campaign, "reopen-registration")
    for person in crowd[20:]:
        person.register(campaign, 5)
    analyst.take(campaign, "close-registration")
    with pytest.raises(PromiseBroken, match="single newcomers out"):
        analyst.able(campaign)
    assert "have something left" not in told(lodge, analyst, f"/a/c/{campaign}/plan")
    assert [line.kind for line in analyst.log(campaign)].count("able") == 1


def test_closed_too_early_for_a_number_a_round_gets_one_when_it_is_closed_again(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(20)
    campaign = registered(analyst, crowd[:9])
    analyst.take(campaign, "close-registration")
    assert analyst.able(campaign) is None
    analyst.take(campaign, "reopen-registration")
    for person in crowd[9:]:
        person.register(campaign, 5)
    analyst.take(campaign, "close-registration")
    assert analyst.able(campaign) == 20


# --- closed too early -------------------------------------------------------------------------------------------------


def test_closing_registration_with_too_few_is_warned_of_and_taken_back(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, [])
    assert analyst.campaign(campaign).warning.startswith("fewer than 10 of the 10 needed registered so far")
    assert "Too early to close" in told(lodge, analyst, f"/a/c/{campaign}")
    assert analyst.take(campaign, "close-registration").steps == ("announce", "reopen-registration", "cancel")
    assert "Open registration again" in told(lodge, analyst, f"/a/c/{campaign}")
    assert sent(lodge, analyst, f"/a/c/{campaign}/step", step="reopen-registration", round="1").status_code == 303
    for person in crowd:
        person.register(campaign, 5)
    assert analyst.campaign(campaign).warning is None
    assert "Too early to close" not in told(lodge, analyst, f"/a/c/{campaign}")
    for step in ("close-registration", "announce"):
        found = analyst.take(campaign, step)
    assert found.announcement.people == 12
    with pytest.raises(PromiseBroken, match="cannot take the step reopen-registration"):
        analyst.take(campaign, "reopen-registration")


def test_registration_is_not_opened_again_once_the_ledger_has_the_announcement(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    lodge.service.change(lambda link: link.execute(text("UPDATE web_campaigns SET state = 'planning'")))
    with pytest.raises(PromiseBroken, match="announced in the ledger already"):
        analyst.take(campaign, "reopen-registration")


def test_cells_seen_before_registration_was_opened_again_single_no_newcomer_out(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(34)
    campaign = registered(analyst, crowd[:24], steps=[3] * 12 + [5] * 12)
    analyst.take(campaign, "close-registration")
    before = analyst.cells(campaign)
    analyst.take(campaign, "reopen-registration")
    crowd[0].withdraw(campaign)
    assert crowd[0].my_campaign(campaign).stated is None
    analyst.take(campaign, "close-registration")
    assert analyst.cells(campaign) == before, "whoever takes a choice back that was seen is counted as declining"
    analyst.take(campaign, "reopen-registration")
    assert crowd[0].register(campaign, 3).answer is None
    for person in crowd[24:32]:
        person.register(campaign, 4)
    analyst.take(campaign, "close-registration")
    with pytest.warns(UserWarning, match="single them out"):
        assert analyst.cells(campaign) == before
    with pytest.raises(PromiseBroken, match="single newcomers out"):
        analyst.able(campaign)
    analyst.take(campaign, "reopen-registration")
    for person in crowd[22:34]:
        person.register(campaign, 4)
    analyst.take(campaign, "close-registration")
    assert sum(cell.people for cell in analyst.cells(campaign)) == 34


def test_answers_closed_below_the_quorum_are_warned_of_and_opened_again_with_all_that_was_given(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    campaign = answering(analyst, crowd, quorum_people=20)
    for person in crowd[:5]:
        person.join(campaign, 5.0)
    assert analyst.campaign(campaign).warning == (
        "fewer than 10 of the 20 needed joined so far, and nothing is published with fewer than 20"
    )
    assert "reopen-answers" in analyst.take(campaign, "close").steps
    with pytest.raises(PromiseBroken, match="too few joined"):
        analyst.take(campaign, "release")
    assert sent(lodge, analyst, f"/a/c/{campaign}/step", step="reopen-answers", round="1").status_code == 303
    for person in crowd[5:]:
        person.join(campaign, 6.0)
    assert analyst.take(campaign, "close").steps == ("release", "new-round", "cancel")
    with pytest.raises(PromiseBroken, match="enough people joined"):
        analyst.take(campaign, "reopen-answers")
    assert analyst.take(campaign, "release").release.joined_people == 24


def test_answers_are_opened_again_where_a_release_was_refused_without_telling_by_how_much(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    for person in crowd[:7]:
        person.raise_allowance(0.0)
    campaign = closed(analyst, crowd, joining=20, quorum_people=20)
    assert "reopen-answers" not in analyst.campaign(campaign).steps
    with pytest.raises(PromiseBroken, match="too few joined"):
        analyst.take(campaign, "release")
    assert analyst.take(campaign, "reopen-answers").state == "answers"


# --- a new round ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sealed", [False, True], ids=["asked later", "sealed"])
def test_a_new_round_tells_people_that_nothing_was_published_and_their_answer_is_gone(lodge, sealed):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = analyst.draft(title="t", question="q", bounds=(0, 12), public=True, quorum_people=10, sealed=sealed).id
    analyst.take(campaign, "open")
    for person in crowd:
        person.register(campaign, 5, value=5.0 if sealed else None)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    for person in crowd:
        person.join(campaign, 5.0)
    for step in ("close", "new-round"):
        analyst.take(campaign, step)
    page = told(lodge, crowd[0], f"/c/{campaign}")
    assert "ended without a result: nothing was published, nothing was spent" in page
    assert ("give both below" if sealed else "Your limit was kept") in page
    assert ("Registration is open" if sealed else "its answers are gone") in told(lodge, crowd[0], "/me")
    for person in crowd:
        person.register(campaign, 5, value=5.0 if sealed else None)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    assert ("This is round 2" in told(lodge, crowd[0], f"/c/{campaign}")) is not sealed
    crowd[0].join(campaign, 5.0)
    assert "ended without a result" not in told(lodge, crowd[0], f"/c/{campaign}")


def test_a_total_picked_on_a_form_that_is_shown_again_stays_picked(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    campaign = registered(analyst, [], sealed=True)
    form = {"step": "5", "round": "1", "times": "1", "key": "k" * 43}
    assert '<option value="1" selected>' in sent(lodge, person, f"/c/{campaign}/answer", a0="7,5", **form).text
    assert sent(lodge, person, f"/c/{campaign}/answer", a0="7.5", **form).status_code == 200
    assert person.me().allowance == 0.5
