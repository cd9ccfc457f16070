"""Before a step that cannot be undone, and beside a result, pages say what says next to nothing and what is never enough."""

import re

import pytest
from test_web_lists import Clock
from web_steps import KEY, House

import optin
from optin.web.languages import language
from optin.web.pages.ready_sheets import READY
from optin.wording.language import _, speaking

SHEET = optin.Sheet(
    [optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours?"), optin.YesNo("break")],
    title="Two",
)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cautions")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, key=KEY, clock=Clock()) as made:
        made.ada = made.analyst("ada")
        yield made


def told(house, path):
    page = house.ask("GET", path, cookie=house.ada._cookie).text
    return " ".join(re.sub(r"<[^>]+>", " ", page.split("<main", 1)[1]).split())


def planned(house, sheet=SHEET, *, step, people=24, **more):
    campaign = house.ada.draft(sheet, **{"sealed": True, "quorum_people": 10, "window_hours": 1.0, **more}).id
    house.ada.take(campaign, "open")
    for secret in house.ada.invite(campaign, people):
        person = house.client()
        person.enter(secret)
        person.register(campaign, step, answers={question.name: 1 for question in sheet})
        house.last = person
    house.ada.take(campaign, "close-registration")
    return campaign


def test_a_plan_that_will_say_next_to_nothing_is_called_so_before_it_is_announced(house):
    campaign = planned(house, step=1)
    for path in (f"/a/c/{campaign}", f"/a/c/{campaign}/plan"):
        words = told(house, path)
        assert "2 questions of 2 will say next to nothing with the people who are here" in words
        assert "“How many hours?” ±" in words
    house.ada.take(campaign, "announce")
    assert "will say next to nothing" not in told(house, f"/a/c/{campaign}"), "it is too late to warn"


def test_what_would_say_next_to_nothing_though_everyone_came_is_said_before_anyone_is_asked(house):
    """A campaign that runs by itself was announced and published without a word, and every figure of it was noise."""
    page = lambda name: told(house, f"/a/c/{name}")  # noqa: E731
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=10).id
    assert "next to nothing" not in page(campaign), "nobody is invited yet"
    house.ada.invite(campaign, 30)
    said = (
        "2 questions of 2 will say next to nothing even if all 30 come who can, with limits that are mixed: “How many"
    )
    assert said in page(campaign)
    house.ada.take(campaign, "open")
    assert said in page(campaign)
    house.ada.invite(campaign, 970)
    assert "next to nothing" not in page(campaign)
    grouped = house.ada.draft(SHEET, sealed=True, quorum_people=10).id
    for name, many in (("ICU", 30), ("ER", 25)):
        house.ada.invite(grouped, many, group=name)
    assert "even in the largest group, if all 30 who are invited come" in page(grouped)
    by_link = house.ada.draft(SHEET, sealed=True, answer_by="2027-02-01", open_link=30).id
    assert "even if all 30 come who can" in page(by_link)


def test_groups_in_which_too_few_registered_are_named_before_the_announcement(house):
    """Together they were enough, and only publishing failed: when all had been promised something."""
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=20, window_hours=1.0).id
    house.ada.take(campaign, "open")
    for group, come in (("ER", 21), ("ICU", 12), ("OR", 0)):
        for secret in house.ada.invite(campaign, 25, group=group)[:come]:
            person = house.client()
            person.enter(secret)
            person.register(campaign, 9, answers={question.name: 1 for question in SHEET})
    assert "registered) would have no result" not in told(house, f"/a/c/{campaign}"), "not while people still come"
    house.ada.take(campaign, "close-registration")
    words = told(house, f"/a/c/{campaign}")
    assert "&#34;ICU&#34; (10 or more registered) would have no result alone" in words
    assert (
        "&#34;OR&#34; (fewer than 10 registered) will be put together with the other groups of fewer than 10" in words
    )
    assert "&#34;ER&#34; (" not in words


def test_a_small_group_is_said_to_be_put_together_with_another_before_and_after_it_is(house):
    sheet = optin.Sheet([optin.YesNo("break")], title="Small")
    campaign = house.ada.draft(sheet, sealed=True, quorum_people=10, window_hours=0.0).id
    house.ada.take(campaign, "open")
    links = [
        secret
        for group, many in (("A", 12), ("B", 13), ("C", 3))
        for secret in house.ada.invite(campaign, many, group=group)
    ]
    before = told(house, f"/a/c/{campaign}")
    assert "&#34;C&#34; (3 invited) will be put together with" in before
    for secret in links:
        person = house.client()
        person.enter(secret)
        person.register(campaign, 7, answers={"break": True})
    house.ada.take(campaign, "close-registration")
    closed = told(house, f"/a/c/{campaign}")
    assert "&#34;C&#34; (fewer than 10 registered) will be put together with" in closed
    assert "have a result" not in before
    assert "would have no result" not in closed
    house.ada.take(campaign, "announce")
    said = "&#34;A + C&#34; is &#34;A&#34;, &#34;C&#34; put together"
    desk = told(house, f"/a/c/{campaign}")
    assert desk.count(said) == 2, "above, and in the log"
    assert said in told(house, f"/r/{campaign}")
    for step in ("close", "release"):
        house.ada.take(campaign, step)
    assert said in told(house, f"/r/{campaign}")
    assert sorted(house.ada.campaign(campaign).release.groups) == ["A + C", "B"]


def test_small_groups_that_are_too_few_even_together_are_not_said_to_have_a_result(house):
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=20).id
    house.ada.invite(campaign, 12, group="ICU")
    house.ada.invite(campaign, 3, group="ER")
    words = told(house, f"/a/c/{campaign}")
    assert "&#34;ER&#34; (3 invited), &#34;ICU&#34; (12 invited) cannot have a result alone" in words
    assert "will be put together" not in words


def test_a_plan_of_use_is_announced_without_a_warning(house):
    campaign = planned(house, optin.Sheet([optin.YesNo("break")], title="One"), step=9)
    assert "next to nothing" not in told(house, f"/a/c/{campaign}") + told(house, f"/a/c/{campaign}/plan")


def test_a_result_that_says_next_to_nothing_is_called_so_on_its_page_and_in_the_newsletter(house):
    campaign = planned(house, step=1)
    house.ada.take(campaign, "announce")
    words = told(house, f"/a/c/{campaign}")
    assert "people look at their deal, change answers or withdraw. There is nothing to do before" in words
    before, house.service.clock.now = house.service.clock.now, house.service.clock.now + 3601.0
    assert "There is nothing to do before" not in told(house, f"/a/c/{campaign}")
    for step in ("close", "release"):
        house.ada.take(campaign, step)
    assert "“hours” says next to nothing" in told(house, f"/r/{campaign}")
    assert told(house, f"/r/{campaign}").count("“hours” says next to nothing") == 2, (
        "on the page and in the newsletter's draft"
    )
    assert "“hours” says next to nothing" in told(house, f"/a/c/{campaign}"), "its analyst, where they look first"
    mine = house.ask("GET", f"/c/{campaign}", cookie=house.last._cookie).text
    assert "“hours” says next to nothing" in mine, "who gave something for it is told too"
    house.service.clock.now = before


def test_groups_that_can_never_be_enough_are_named_before_anyone_comes(house):
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=20).id
    house.ada.invite(campaign, 11, group="ICU")
    house.ada.invite(campaign, 20, group="ER")
    words = told(house, f"/a/c/{campaign}")
    assert "ICU&#34; (11 invited) cannot have a result" in words
    assert "ER&#34; (" not in words
    house.ada.invite(campaign, 9, group="ICU")
    assert "cannot have a result" not in told(house, f"/a/c/{campaign}")


@pytest.mark.parametrize("tag", ["en", "de"])
def test_a_text_for_everyone_that_still_says_what_to_write_is_warned_of_before_it_is_opened(house, tag):
    with speaking(language(tag)):
        support = _(READY["health"].support)
    campaign = house.ada.draft(SHEET, sealed=True, support=support).id
    warning = "still says what you should write there"
    assert warning in told(house, f"/a/c/{campaign}")
    finished = house.ada.draft(SHEET, sealed=True, support="To talk to someone: 555 0100.").id
    assert warning not in told(house, f"/a/c/{finished}")


@pytest.mark.parametrize("tag", ["en", "de"])
@pytest.mark.parametrize("name", READY)
def test_a_sheet_to_begin_with_says_what_each_item_of_a_score_is(name, tag):
    """Boxes of items bear their numbers alone: what the number stands for is in the question."""
    with speaking(language(tag)):
        sheet = READY[name].sheet
    for question in sheet:
        for at in range(1, getattr(question, "items", 0) + 1):
            assert re.search(rf"\b{at} [^\W\d_]+.*[;.]", question.text), (question.name, at)
