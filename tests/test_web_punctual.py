"""Deadlines with a clock that the test moves: a campaign that runs by itself does so in time, late, once, or not at all."""

import threading
import time

import pytest
from sqlalchemy import func, select, update
from test_web_lists import SHEET, Clock
from web_steps import KEY, House

from optin.errors import BadInput, PromiseBroken
from optin.web.schema import campaigns, events, jobs, sessions
from optin.web.service import jobs as working
from optin.web.service.deadlines import publish_by
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.jobs import work_once
from optin.web.service.lookups import campaign_row
from optin.web.service.schedule import PAUSES

DAY = "2027-01-20"
LAST = last_moment(Draft(answer_by=DAY))
HOUR = 3600.0
TERMS = {"automatic": True, "answer_by": DAY, "window_hours": 24.0, "quorum_people": 10, "public": True}


def opened(tmp_path, clock=None):
    clock = clock or Clock()
    return House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY, clock=clock)


@pytest.fixture
def house(tmp_path):
    with opened(tmp_path) as made:
        made.service.clock.now = LAST - HOUR
        made.ada = made.analyst("ada")
        yield made


def asking(house, people, *, sealed=True, **more):
    campaign = house.ada.draft(SHEET, **{**TERMS, "sealed": sealed, **more}).id
    house.ada.take(campaign, "open")
    come(house, campaign, people, sealed=sealed)
    return campaign


def come(house, campaign, people, *, sealed=True):
    crowd = house.people(people)
    for at, person in enumerate(crowd):
        person.register(campaign, 4 + at % 3, **({"answers": {"break": at % 2 == 0}} if sealed else {}))
    return crowd


def state(house, campaign):
    return house.service.read(lambda link: campaign_row(link, campaign).state)


def at(house, moment):
    """Move the clock and let everything be done that is due; the service's own worker may do it first."""
    house.service.clock.now = moment
    here = {"expires_at": moment + 1e7, "rotated_at": moment}
    house.service.change(lambda link: link.execute(update(sessions).values(here)))  # everyone stays signed in
    for _ in range(3000):
        before = house.service.read(_standing)
        if work_once(house.service) and house.service.read(_standing) == before and not before[0]:
            return  # whatever was due in all that time was done by us, or by the other, and then something changed
        time.sleep(0.01)
    raise AssertionError("work stays in the queue")


def _standing(link):
    """The jobs that are not done, how far each campaign is, and how much was written down."""
    unfinished = select(jobs.c.id).where(jobs.c.state.in_(("queued", "running")))
    states = select(campaigns.c.id, campaigns.c.state, campaigns.c.round).order_by(campaigns.c.id)
    return link.execute(unfinished).all(), link.execute(states).all(), link.scalar(select(func.max(events.c.number)))


def kinds(house, campaign):
    query = select(events.c.kind).where(events.c.campaign == campaign).order_by(events.c.number)
    return house.service.read(lambda link: list(link.scalars(query)))


@pytest.mark.parametrize("sealed", [True, False])
def test_a_campaign_that_runs_by_itself_closes_announces_waits_and_publishes_each_once(house, sealed):
    campaign = house.ada.draft(SHEET, **{**TERMS, "sealed": sealed}).id
    house.ada.take(campaign, "open")
    crowd = come(house, campaign, 12, sealed=sealed)
    at(house, LAST - 1.0)
    assert state(house, campaign) == "registration", "a second before the end of its last day"
    assert (house.ada.campaign(campaign).next_step, house.ada.campaign(campaign).next_at) == (
        "close-registration",
        LAST,
    )
    at(house, LAST)
    assert state(house, campaign) == "answers", "the announcement opens answers"
    assert (house.ada.campaign(campaign).next_step, house.ada.campaign(campaign).next_at) == ("close", LAST + 24 * HOUR)
    for person in crowd if not sealed else ():
        person.join(campaign, {"break": True})
    at(house, LAST + 24 * HOUR - 1.0)
    assert state(house, campaign) == "answers", "people have a day to look at their deal"
    at(house, LAST + 24 * HOUR)
    assert state(house, campaign) == "released"
    assert house.ada.campaign(campaign).next_step is None
    for once in ("close-registration", "announce", "open-answers", "close", "release"):
        assert kinds(house, campaign).count(once) == 1


def test_a_service_that_was_down_at_the_deadline_catches_up_and_people_have_all_of_their_hours(tmp_path):
    clock = Clock()
    clock.now = LAST - HOUR
    with opened(tmp_path, clock) as made:
        made.ada = made.analyst("ada")
        campaign = asking(made, 12)
    clock.now = LAST + 5 * 24 * HOUR
    with opened(tmp_path, clock) as made:
        at(made, clock.now)
        assert state(made, campaign) == "answers"
        at(made, LAST + 6 * 24 * HOUR - 1.0)
        assert state(made, campaign) == "answers"
    clock.now = LAST + 8 * 24 * HOUR
    with opened(tmp_path, clock) as made:
        at(made, clock.now)
        assert state(made, campaign) == "released"
        assert [kinds(made, campaign).count(once) for once in ("announce", "close", "release")] == [1, 1, 1]


def test_several_workers_at_a_deadline_take_each_step_once(house):
    campaign = asking(house, 12)
    house.service.clock.now = LAST
    workers = [threading.Thread(target=work_once, args=(house.service,)) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    at(house, LAST + 25 * HOUR)
    at(house, LAST + 25 * HOUR)
    asked = house.service.read(lambda link: sorted(link.scalars(select(jobs.c.kind))))
    assert asked == ["announce", "release"]
    assert state(house, campaign) == "released"


def test_too_few_people_at_the_deadline_publish_nothing_and_a_later_day_opens_it_again(house):
    campaign = asking(house, 9)
    at(house, LAST)
    assert state(house, campaign) == "planning"
    assert kinds(house, campaign).count("missed") == 1
    at(house, LAST + 3 * 24 * HOUR)
    assert (state(house, campaign), kinds(house, campaign).count("missed")) == ("planning", 1)
    with pytest.raises(PromiseBroken, match="move the last day"):
        house.ada.take(campaign, "reopen-registration")
    for wrong in (DAY, "2027-01-19", "soon", ""):
        with pytest.raises(BadInput):
            house.ada.extend(campaign, wrong)
    assert house.ada.extend(campaign, "2027-01-30").state == "registration"
    come(house, campaign, 3)
    at(house, last_moment(Draft(answer_by="2027-01-30")))
    assert state(house, campaign) == "answers"
    with pytest.raises(PromiseBroken):
        house.ada.extend(campaign, "2027-02-20")


def test_a_quorum_missed_at_the_deadline_publishes_nothing_and_answers_opened_again_close_again(house):
    campaign = house.ada.draft(SHEET, **{**TERMS, "sealed": True, "quorum_people": 12}).id
    house.ada.take(campaign, "open")
    crowd = come(house, campaign, 12)
    at(house, LAST)
    crowd[0].decline(campaign)
    at(house, LAST + 24 * HOUR)
    assert state(house, campaign) == "closed"
    assert kinds(house, campaign).count("missed") == 1
    found = house.ada.campaign(campaign)
    assert (found.next_step, found.release) == (None, None)
    house.ada.take(campaign, "reopen-answers")
    assert house.ada.campaign(campaign).next_at == LAST + 48 * HOUR
    crowd[0].join(campaign, {"break": True})
    at(house, LAST + 48 * HOUR - 1.0)
    assert state(house, campaign) == "answers"
    at(house, LAST + 48 * HOUR)
    assert state(house, campaign) == "released"


@pytest.mark.parametrize("step", ["announce", "release"])
def test_a_step_that_failed_is_tried_again_by_itself_ever_later_until_it_succeeds(house, monkeypatch, step):
    campaign = asking(house, 12)
    due, waits = (LAST, "planning") if step == "announce" else (LAST + 24 * HOUR, "closed")
    at(house, LAST - 1.0)
    if step == "release":
        at(house, LAST)

    def broken(*_):
        raise OSError("no space left on device")

    monkeypatch.setitem(working.LONG_STEPS, step, broken)
    at(house, due)
    at(house, due + PAUSES[0] - 1.0)
    assert (state(house, campaign), failures(house, step)) == (waits, 1)
    assert (house.ada.campaign(campaign).next_step, house.ada.campaign(campaign).next_at) == (step, due + PAUSES[0])
    assert "Tried again by itself" in house.ask("GET", f"/a/c/{campaign}", cookie=house.ada._cookie).text
    at(house, due + PAUSES[0])
    at(house, due + PAUSES[0] + PAUSES[1] - 1.0)
    assert (state(house, campaign), failures(house, step)) == (waits, 2)
    monkeypatch.undo()
    at(house, due + PAUSES[0] + PAUSES[1])
    assert state(house, campaign) == {"announce": "answers", "release": "released"}[step]
    assert kinds(house, campaign).count(step) == 1


def test_a_step_that_fails_every_time_is_left_to_whoever_asks(house, monkeypatch):
    campaign = asking(house, 12)

    def broken(*_):
        raise PromiseBroken("too few people are promised anything")

    monkeypatch.setitem(working.LONG_STEPS, "announce", broken)
    now = LAST
    for pause in (*PAUSES, 48 * HOUR):
        at(house, now)
        now += pause
    at(house, now)
    assert (state(house, campaign), failures(house, "announce")) == ("planning", 1 + len(PAUSES))
    assert house.ada.campaign(campaign).next_step is None
    monkeypatch.undo()
    house.ada.take(campaign, "announce")
    assert state(house, campaign) == "answers"


def failures(house, step):
    query = select(func.count()).select_from(jobs).where(jobs.c.kind == step, jobs.c.state == "failed")
    return house.service.read(lambda link: link.scalar(query))


def test_work_that_fails_keeps_no_other_work_waiting(house, monkeypatch):
    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr(working, "DUTIES", (broken, *working.DUTIES, broken))
    campaign = asking(house, 12)
    house.service.clock.now = LAST
    assert not work_once(house.service)
    house.service.bell.set()
    for _ in range(3000):
        if state(house, campaign) == "answers":
            break
        time.sleep(0.01)
    assert state(house, campaign) == "answers"


def test_what_is_too_late_is_cancelled_whatever_was_due(house):
    campaign = asking(house, 12)
    at(house, LAST)
    late = house.service.read(lambda link: publish_by(house.service, link, campaign_row(link, campaign)))
    at(house, late + 1.0)
    assert state(house, campaign) == "cancelled"
    assert "close" not in kinds(house, campaign)


def test_nothing_happens_by_itself_that_was_not_asked_for(house):
    campaign = asking(house, 12, automatic=False)
    at(house, LAST + 1.0)
    assert state(house, campaign) == "registration"
    assert house.ada.campaign(campaign).next_step is None
    with pytest.raises(PromiseBroken, match="is over"):
        come(house, campaign, 1)


def test_a_new_round_waits_for_its_own_last_day(house):
    campaign = asking(house, 12)
    at(house, LAST)
    house.ada.take(campaign, "new-round")
    at(house, LAST + 2 * HOUR)
    assert (state(house, campaign), house.ada.campaign(campaign).next_step) == ("registration", None)
    house.ada.extend(campaign, "2027-01-25")
    come(house, campaign, 12)
    at(house, last_moment(Draft(answer_by="2027-01-25")))
    assert state(house, campaign) == "answers"


def test_what_runs_by_itself_has_a_last_day_that_is_not_over_and_hours_after_the_announcement(house):
    for missing in ({"answer_by": ""}, {"window_hours": 0.0}):
        with pytest.raises(BadInput, match="to run by itself"):
            house.ada.draft(SHEET, **{**TERMS, **missing})
    with pytest.raises(BadInput, match="is over: choose a later one"):
        house.ada.draft(SHEET, **{**TERMS, "answer_by": "2027-01-10"})
    waited = house.ada.draft(SHEET, **TERMS).id
    at(house, LAST)
    with pytest.raises(PromiseBroken, match="is over: edit the draft first"):
        house.ada.take(waited, "open")


def test_moving_the_last_day_is_idempotent_and_only_the_owners(house):
    campaign = asking(house, 2)
    before = kinds(house, campaign)
    assert house.ada.extend(campaign, DAY).draft["answer_by"] == DAY
    assert kinds(house, campaign) == before
    house.ada.extend(campaign, "2027-02-01")
    house.ada.extend(campaign, "2027-02-01")
    assert kinds(house, campaign) == [*before, "extend"]
    stranger = house.analyst("bea")
    with pytest.raises(Exception, match="not yours"):
        stranger.extend(campaign, "2027-03-01")
    query = select(campaigns.c.draft).where(campaigns.c.id == campaign)
    assert Draft.from_json(house.service.read(lambda link: link.scalar(query))).answer_by == "2027-02-01"


def test_nothing_is_announced_by_itself_where_no_group_has_enough_people(house):
    campaign = house.ada.draft(SHEET, **{**TERMS, "sealed": True, "public": False}).id
    house.ada.take(campaign, "open")
    for group, come_ in (("ER", 9), ("ICU", 8)):
        for secret in house.ada.invite(campaign, come_, group=group):
            person = house.client()
            person.enter(secret)
            person.register(campaign, 5, answers={"break": True})
    at(house, LAST)
    assert (state(house, campaign), kinds(house, campaign).count("missed")) == ("planning", 1)
