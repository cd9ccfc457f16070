"""What people allow over all campaigns: limits are cut to it, and who weighs costs and has too little left is left out."""

import numpy as np
import pytest
from sqlalchemy import select, text, update
from web_steps import answering, finish_jobs, put_people, registered, released

from optin.errors import PromiseBroken
from optin.ledger.holdings import promised_nothing
from optin.receipts import check
from optin.web.schema import accounts
from optin.web.service import announcing
from optin.web.service.ladder import COSTS, LIMITS
from optin.web.service.people import allowing

COSTLY = {"model": "quasi-linear", "benefit_base": 5.0, "benefit_slope": 1.0, "slack": 0.2, "data_sd": 1.0}


def test_people_who_weigh_costs_are_planned_for_announced_to_and_released(house):
    analyst, crowd = house.analyst(), house.people(24)
    campaign = answering(analyst, crowd, steps=[1 + at % 4 for at in range(24)], **COSTLY)
    deal = crowd[0].my_campaign(campaign).deal
    assert deal.utility >= 0.0
    assert deal.margin >= 0.0
    for person in crowd[:23]:
        person.join(campaign, 5.0)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    assert crowd[0].receipt(campaign).spent == deal.grains
    assert analyst.cells(campaign)[0].high <= COSTS[4].amount


def test_who_weighs_costs_and_has_too_little_left_is_left_out_and_nobody_else_notices(house):
    analyst, crowd = house.analyst(), house.people(24)
    crowd[0].raise_allowance(0.001)
    steps = [2 + at % 4 for at in range(24)]
    campaign = answering(analyst, crowd, steps=steps, **COSTLY)
    without = answering(analyst, house.people(23), steps=steps[1:], **COSTLY)
    found, apart = analyst.campaign(campaign), analyst.campaign(without)
    assert (found.registered, found.announcement.people) == (20, 24)
    assert found.announcement.sealed.total_grains == apart.announcement.sealed.total_grains
    assert found.announcement.cap == pytest.approx(apart.announcement.cap, rel=1e-12)
    deal = crowd[0].my_campaign(campaign).deal
    assert (deal.grains, deal.weight) == (0, 0.0)
    assert all(person.my_campaign(campaign).deal.grains > 0 for person in crowd[1:])
    for person in crowd[1:]:
        person.join(campaign, 5.0)
    for step in ("close", "release"):
        found = analyst.take(campaign, step)
    assert found.release.joined_people == 23
    receipt = crowd[0].receipt(campaign)
    assert (receipt.promised, receipt.spent) == (0, 0)
    check(receipt, found.announcement, found.release)
    assert house.service.ledger.verify([found.release, receipt]).ok
    told = " ".join(line.words for line in analyst.log(campaign))
    assert "left" not in told


def test_an_announcement_cut_off_before_it_was_written_down_leaves_out_the_same_people_again(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    crowd[0].raise_allowance(0.001)
    campaign = answering(analyst, crowd, steps=[2 + at % 4 for at in range(24)], **COSTLY)
    before = analyst.campaign(campaign).announcement
    crowd[0].raise_allowance(900.0)
    for query in (
        "UPDATE web_campaigns SET state = 'planning', announcement = NULL",
        "UPDATE web_jobs SET state = 'running', step = 'announcing'",
    ):
        lodge.service.change(lambda link, query=query: link.execute(text(query)))
    finish_jobs(lodge.service)
    found = analyst.campaign(campaign)
    assert (found.state, found.announcement, found.job.error) == ("announced", before, None)
    assert crowd[0].my_campaign(campaign).deal.grains == 0


def test_with_costs_too_what_is_spent_adds_up_to_the_total_that_was_said(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    first = released(analyst, crowd, steps=[4] * 12, **COSTLY)
    asked = crowd[0].my_campaign(first).deal.epsilon
    for person in crowd[:11]:
        person.lower_allowance(2.5 * asked)
    crowd[11].lower_allowance(asked)
    second = answering(analyst, crowd, steps=[4] * 12, **COSTLY)
    deals = [person.my_campaign(second).deal.grains for person in crowd]
    assert all(deals[:11])
    assert deals[11] == 0
    with pytest.raises(PromiseBroken, match="too few people are promised anything"):
        answering(analyst, crowd, steps=[4] * 12, **COSTLY)


def test_whatever_is_left_of_totals_a_plan_with_costs_can_be_announced(lodge, monkeypatch):
    rng, analyst, plans = np.random.default_rng(4), lodge.analyst(), []
    plan = announcing._plan
    monkeypatch.setattr(announcing, "_plan", lambda *given: plans.append(1) or plan(*given))
    for _ in range(6):
        campaign = registered(analyst, [], **{**COSTLY, "data_sd": 6.0})
        crowd = put_people(lodge.service, campaign, 60, step=lambda _: int(rng.integers(0, 10)))
        for account, _, _ in crowd:
            grains = int(2**32 * rng.lognormal(1.0, 1.0))
            query = update(accounts).where(accounts.c.id == account).values(allowance=grains)
            lodge.service.change(lambda link, query=query: link.execute(query))
        analyst.take(campaign, "close-registration")
        offer = analyst.take(campaign, "announce").announcement
        nothing = lodge.service.read(lambda link, name=campaign: promised_nothing(link, name, 1))
        assert (offer.people, 5 < len(nothing) < 40) == (60, True)
    assert len(plans) > 12, "where some are left out others are asked for more, and some of them leave too"
    assert lodge.service.ledger.verify().ok


def test_what_is_spent_adds_up_over_campaigns_and_stops_at_the_allowance(house):
    analyst, crowd = house.analyst(), house.people(15)
    released(analyst, crowd, steps=[5] * 15)
    first = crowd[0].me()
    assert first.allowance == 4 * LIMITS[5].amount
    assert first.spent == pytest.approx(0.5)
    for person in crowd:
        person.lower_allowance(0.5)
    for person in crowd[:10]:
        person.raise_allowance(0.8)
    with pytest.raises(PromiseBroken, match="only be raised"):
        crowd[0].raise_allowance(0.3)
    again = released(analyst, crowd, steps=[5] * 15)
    spent = [person.me().spent for person in crowd]
    assert all(0.65 < amount <= 0.7 for amount in spent[:10])  # 0.3 were left: the step of the ladder below is 0.2
    assert spent[10:] == [first.spent] * 5
    assert crowd[0].my_campaign(again).deal.epsilon <= 0.2
    assert house.service.ledger.verify().ok


def test_what_is_left_counts_in_halves_of_the_total_so_that_no_plan_tells_the_exact_rest(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    first = released(analyst, crowd, steps=[4] * 12, **COSTLY)
    asked = crowd[0].my_campaign(first).deal.epsilon
    for person, times in zip(crowd, [3.1] + [4.0] * 11, strict=True):
        person.lower_allowance(times * asked)
    second = released(analyst, crowd, steps=[4] * 12, **COSTLY)
    assert crowd[0].my_campaign(second).spent == asked
    assert crowd[0].me().remaining > asked
    third = answering(analyst, crowd, steps=[4] * 12, **COSTLY)
    assert [person.my_campaign(third).deal.grains > 0 for person in crowd] == [False] + [True] * 11


@pytest.mark.parametrize("draft", [{}, COSTLY], ids=["limits", "costs"])
def test_how_an_announcement_fails_says_nothing_of_what_people_have_left(lodge, draft):
    analyst, told = lodge.analyst(), []
    for count, allowance in ((1, 900.0), (1, 0.0), (1, 0.001), (12, 0.0), (12, 0.001)):
        crowd = lodge.people(count)
        for person in crowd:
            person.raise_allowance(allowance)
        campaign = registered(analyst, crowd, steps=[4] * count, **draft)
        analyst.take(campaign, "close-registration")
        with pytest.raises(PromiseBroken):
            analyst.take(campaign, "announce")
        job = analyst.campaign(campaign).job
        told.append((job.error, job.step, job.done, job.total))
    assert len(set(told)) == 1


def test_a_plan_that_is_worth_it_to_nobody_fails_alike_whether_or_not_someone_was_left_out(lodge):
    analyst, told = lodge.analyst(), []
    for allowance in (900.0, 0.001):
        crowd = lodge.people(13)
        crowd[0].raise_allowance(allowance)
        campaign = registered(analyst, crowd, steps=[4] * 13, **{**COSTLY, "benefit_base": 0.01})
        analyst.take(campaign, "close-registration")
        with pytest.raises(PromiseBroken) as refusal:
            analyst.take(campaign, "announce")
        told.append(str(refusal.value))
    assert told == [announcing._NOT_WORTH_IT] * 2


def test_a_quorum_that_is_missed_does_not_count_those_who_have_nothing_left(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    for person in crowd[:7]:
        person.raise_allowance(0.0)
    campaign = answering(analyst, crowd, quorum_people=20)
    for person in crowd:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="the quorum is 20 people, and too few joined") as refusal:
        analyst.take(campaign, "release")
    assert "17" not in str(refusal.value)
    assert analyst.campaign(campaign).joined == 20


def test_a_total_said_while_a_plan_is_made_is_refused_rather_than_overlooked(lodge, monkeypatch):
    analyst, crowd, announce = lodge.analyst(), lodge.people(12), announcing._announce
    campaign, refusals = registered(analyst, crowd), []

    def announce_after(*given):
        try:
            crowd[0].lower_allowance(0.001)
        except PromiseBroken as refusal:
            refusals.append(str(refusal))
        return announce(*given)

    monkeypatch.setattr(announcing, "_announce", announce_after)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    mine = crowd[0].me()
    assert mine.promised <= mine.allowance
    assert "being planned" in refusals[0]


def test_a_total_that_an_announcement_wrote_down_meanwhile_is_not_lowered(lodge, monkeypatch):
    person, account = lodge.person(), accounts.c.allowance
    raised = update(accounts).where(account.is_(None), accounts.c.kind == "person").values(allowance=2**32)
    monkeypatch.setattr(allowing, "_expect_no_plan_under_way", lambda link, _: link.execute(raised))
    with pytest.raises(PromiseBroken, match="only be raised"):
        person.raise_allowance(0.5)


def test_a_total_given_as_a_json_number_is_never_read_as_more_than_was_written(lodge):
    person = lodge.person()

    def put(text):
        body = {"content": f'{{"epsilon": {text}, "lower": true}}', "headers": {"X-CSRF-Token": person._csrf}}
        body["headers"]["content-type"] = "application/json"
        answer = lodge.ask("PUT", "/api/me/allowance", cookie=person._cookie, **body)
        assert answer.status_code == 200, answer.text
        query = select(accounts.c.allowance).where(accounts.c.id == person.me().account)
        return lodge.service.read(lambda link: link.scalar(query))

    assert put("1.00000000000000000001") == 2**32
    assert put("0.99999999999999999999") == 2**32 - 1
    assert put("0.5") == 2**31
    for grains in (2**31 - 1, 1234567891, 987654321, 3, 1):
        assert put(repr(grains * 2.0**-32)) == grains, "what the service told is what is sent back"
    assert put("1e-400") == 0
    for wrong in ("1e999999", "1e-999999999999999999999", "NaN", "-Infinity", '"0.5"', "[1.5]"):
        answer = lodge.ask(
            "PUT",
            "/api/me/allowance",
            cookie=person._cookie,
            content=f'{{"epsilon": {wrong}}}',
            headers={"X-CSRF-Token": person._csrf, "content-type": "application/json"},
        )
        assert answer.status_code in (200, 422), (wrong, answer.text)
        assert person.me().allowance == 0.0, wrong
