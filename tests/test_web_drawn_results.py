"""A result that the ledger has drawn and charged for is published, whatever failed before the campaign could follow."""

import re
import time

import pytest
from sqlalchemy import text
from web_steps import PASSWORD, House, answering

from optin.errors import PromiseBroken
from optin.web.service import long_steps
from optin.web.service.overdue import cancel_overdue, publish_drawn

DAY = 86400.0


class Clock:
    ahead = 0.0

    def __call__(self):
        return time.time() + self.ahead


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def house(url, tmp_path, clock):
    with House(url, tmp_path, clock=clock) as opened:
        yield opened


@pytest.fixture
def drawn(house, monkeypatch):
    """A round that the ledger has released and whose campaign could not follow; return it and how to mend the fault."""
    analyst, crowd = house.analyst(), house.people(12)
    campaign = answering(analyst, crowd, steps=[6] * 12)
    for person in crowd[:11]:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    faults, reach = [True], long_steps.record_step

    def failing(service, connection, row, step, **more):
        if step == "release" and faults:
            raise MemoryError
        reach(service, connection, row, step, **more)

    monkeypatch.setattr(long_steps, "record_step", failing)
    with pytest.raises(PromiseBroken, match="unexpected MemoryError"):
        analyst.take(campaign, "release")
    assert crowd[0].me().spent > 0
    return analyst, crowd, campaign, faults.clear


def test_a_round_that_the_ledger_has_released_can_only_be_published(drawn):
    analyst, crowd, campaign, mend = drawn
    assert analyst.campaign(campaign).steps == ("release",)
    for step in ("reopen-answers", "new-round", "cancel"):
        with pytest.raises(PromiseBroken, match="people are charged for it: publish it"):
            analyst.take(campaign, step)
    mend()
    found = analyst.take(campaign, "release")
    assert (found.state, found.release.joined_people, found.job.state) == ("released", 11, "done")
    assert crowd[0].receipt(campaign).spent == crowd[0].me().spent * 2**32
    assert crowd[0].my_campaign(campaign).release == found.release


def test_what_was_drawn_is_published_unasked_even_past_its_time_and_never_cancelled(house, clock, drawn):
    _, _, campaign, mend = drawn
    clock.ahead = 20 * DAY
    for _ in range(3):
        cancel_overdue(house.service)
        publish_drawn(house.service)
    mend()
    publish_drawn(house.service)
    analyst = house.client()
    analyst.sign_in("ada", PASSWORD)
    found = analyst.campaign(campaign)
    assert (found.state, found.release.joined_people, found.job.state) == ("released", 11, "done")
    assert [event.kind for event in analyst.log(campaign)].count("overdue") == 0
    assert house.service.ledger.verify().ok


def test_answers_that_were_opened_again_over_a_drawn_result_change_nothing_of_it(house, drawn):
    analyst, crowd, campaign, mend = drawn
    house.service.change(lambda link: link.execute(text("UPDATE web_campaigns SET state = 'answers'")))
    crowd[0].decline(campaign)
    mend()
    publish_drawn(house.service)
    found = analyst.campaign(campaign)
    assert (found.state, found.release.joined_people) == ("released", 11)
    assert crowd[0].receipt(campaign).spent > 0


def test_a_page_of_answers_opened_again_says_by_when_the_result_is_due(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd, quorum_people=12)

    def note():
        page = lodge.ask("GET", f"/c/{campaign}", cookie=crowd[0]._cookie).text
        return next(words for words in re.findall(r'<p class="note">(.*?)</p>', page) if words.startswith("Answers"))

    def due():
        return time.strftime("%-d %B %Y, %H:%M UTC", time.gmtime(analyst.campaign(campaign).publish_by))

    closed = f"Answers close by {due()}, and when they are closed the result is published within 14 days. If not,"
    assert note().startswith(closed)
    for step in ("close", "reopen-answers"):
        analyst.take(campaign, step)
    published = f"Answers were opened again; they close, and the result is published, by {due()}. If not,"
    assert note().startswith(published)


def test_answers_are_forgotten_a_few_at_a_time_once_the_result_is_drawn_and_not_before(house, monkeypatch):
    """Nobody who writes elsewhere waits for all of them; what a crash left is forgotten with the step."""
    monkeypatch.setattr(long_steps, "PORTION", 5)
    analyst, crowd = house.analyst(), house.people(12)
    campaign = answering(analyst, crowd, steps=[6] * 12)
    for person in crowd:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    count = text("SELECT COUNT(value) FROM web_answers WHERE campaign = :campaign")
    left = []

    def seen(connection, **which):
        found = forget(connection, **which)
        left.append(connection.scalar(count, {"campaign": campaign}))
        return found

    forget = long_steps._forget_some
    monkeypatch.setattr(long_steps, "_forget_some", seen)
    found = analyst.take(campaign, "release")
    assert left == [12, 7, 2, 2], "before the draw nothing, then five and five; the step forgets the rest"
    assert house.service.read(lambda link: link.scalar(count, {"campaign": campaign})) == 0
    assert found.release.joined_people == 12
