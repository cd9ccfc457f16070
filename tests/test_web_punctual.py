"""Deadlines with a clock that the test moves: a campaign that runs by itself does so in time, late, or not at all; its results."""

import csv
import io
import time

import pytest
from sqlalchemy import select, update
from test_web_lists import SHEET, Clock
from web_steps import KEY, House

import optin
from optin.errors import BadInput
from optin.web.schema import campaigns, jobs
from optin.web.service.drafts import Draft, last_moment

DAY = "2027-01-20"
LAST = last_moment(Draft(answer_by=DAY))
TERMS = {"sealed": True, "automatic": True, "answer_by": DAY, "window_hours": 24.0, "quorum_people": 10, "public": True}
TWO = optin.Sheet(
    [SHEET["break"], optin.Number("hours", bounds=(0, 80), sd=9, unit="hours")], title="Two", asked_by="Us"
)


@pytest.fixture
def house(tmp_path):
    clock = Clock()
    clock.now = LAST - 3600.0
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY, clock=clock) as made:
        made.ada = made.analyst("ada")
        yield made


def asking(house, people, sheet=SHEET, **more):
    campaign = house.ada.draft(sheet, **{**TERMS, **more}).id
    house.ada.take(campaign, "open")
    for at, person in enumerate(house.people(people)):
        answers = {"break": at % 2 == 0} | ({"hours": 30.0 + at} if len(sheet) > 1 else {})
        person.register(campaign, 4 + at % 3, answers=answers)
    return campaign


def state(house, campaign):
    return house.service.read(lambda link: link.scalar(select(campaigns.c.state).where(campaigns.c.id == campaign)))


def settled(house, campaign, wished):
    """Wake the one who works until a campaign stands where it is wished."""
    for _ in range(3000):
        house.service.bell.set()
        if state(house, campaign) == wished:
            return True
        time.sleep(0.01)
    return False


def rested(house):
    """Let the one who works look at everything twice."""
    for _ in range(2):
        while house.service.bell.is_set():
            time.sleep(0.002)
        house.service.bell.set()
    while house.service.bell.is_set():
        time.sleep(0.002)


def test_a_campaign_that_runs_by_itself_closes_announces_waits_and_publishes(house):
    campaign = asking(house, 12, TWO)
    rested(house)
    assert state(house, campaign) == "registration", "an hour before the end of its last day"
    house.service.clock.now = LAST + 1.0
    assert settled(house, campaign, "announced")
    house.service.clock.now += 23 * 3600.0
    rested(house)
    assert state(house, campaign) == "announced", "people have a day to change their answers"
    house.service.clock.now += 2 * 3600.0
    assert settled(house, campaign, "released")
    release = house.ada.campaign(campaign).release
    told = house.ask("GET", f"/r/{campaign}").text
    rows = list(csv.reader(io.StringIO(house.ask("GET", f"/r/{campaign}/results.csv").text)))
    assert rows[0] == ["question", "answer", "estimate", "low", "high"]
    assert [float(row[2]) for row in rows[1:]] == [row[2] for row in release.table(0.95).rows]
    for at in range(2):
        drawn = house.ask("GET", f"/r/{campaign}/pictures/question-{at}-light.png")
        assert drawn.content.startswith(b"\x89PNG")
        assert f"pictures/question-{at}-light.png" in told
    for wrong in ("question-2-light", "question-x-light", "question-0-pink"):
        assert house.ask("GET", f"/r/{campaign}/pictures/{wrong}.png").status_code == 404
    draft = told[told.index('id="newsletter"') :]
    assert "Us asked 12 people; 12 took part." in draft
    assert "in 95 of 100 cases" in draft
    assert "Noise was added" in draft


def test_a_service_that_was_down_at_the_deadline_does_it_when_it_is_back(tmp_path):
    clock = Clock()
    clock.now = LAST - 3600.0
    url = f"sqlite:///{tmp_path / 'web.sqlite'}"
    with House(url, tmp_path, key=KEY, clock=clock) as made:
        made.ada = made.analyst("ada")
        campaign = asking(made, 12)
    clock.now = LAST + 5 * 86400.0
    with House(url, tmp_path, key=KEY, clock=clock) as made:
        assert settled(made, campaign, "announced")
        clock.now += 86400.0 + 1
        assert settled(made, campaign, "released")


def test_too_few_people_leave_it_to_whoever_asks(house):
    campaign = asking(house, 9)
    house.service.clock.now = LAST + 1.0
    rested(house)
    assert state(house, campaign) == "registration"
    by_hand = asking_by_hand(house)
    house.service.clock.now = LAST + 2.0
    rested(house)
    assert state(house, by_hand) == "registration", "nothing happens by itself that was not asked for"


def asking_by_hand(house):
    house.service.clock.now = LAST - 1.0
    return asking(house, 12, automatic=False)


def test_a_step_that_failed_is_not_tried_for_ever(house):
    campaign = asking(house, 12)
    failed = {"id": "f" * 32, "campaign": campaign, "round": 1, "kind": "announce", "state": "failed", "step": "failed"}
    failed |= {"done": 0, "total": 0, "created_at": 1.0, "changed_at": 1.0}
    house.service.change(lambda link: link.execute(jobs.insert().values(failed)))
    house.service.clock.now = LAST + 1.0
    assert settled(house, campaign, "planning")
    rested(house)
    assert state(house, campaign) == "planning"
    house.service.change(lambda link: link.execute(update(jobs).values(kind="other")))
    assert settled(house, campaign, "announced")


def test_what_runs_by_itself_has_a_last_day_and_one_visit(house):
    for missing in ({"answer_by": ""}, {"sealed": False}):
        with pytest.raises(BadInput, match="to run by itself"):
            house.ada.draft(SHEET, **{**TERMS, **missing})


def test_results_by_group_come_as_csv_with_the_group_first(house):
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=10).id
    house.ada.take(campaign, "open")
    for group in ("ICU", "ER"):
        for at, secret in enumerate(house.ada.invite(campaign, 12, group=group)):
            person = house.client()
            person.enter(secret)
            person.register(campaign, 5, answers={"break": at % 2 == 0})
    for step in ("close-registration", "announce", "close", "release"):
        house.ada.take(campaign, step)
    cookie = house.ada._cookie
    rows = list(csv.reader(io.StringIO(house.ask("GET", f"/r/{campaign}/results.csv", cookie=cookie).text)))
    assert rows[0][0] == "group"
    assert {row[0] for row in rows[1:]} == {"ICU", "ER"}
    told = house.ask("GET", f"/r/{campaign}", cookie=cookie).text
    assert "published to those who were invited" in told
    assert house.ask("GET", f"/r/{campaign}/results.csv").status_code == 404
