"""What an analyst sees of how many came changes only with every tenth person, on every page and in every answer."""

import re
from pathlib import Path

import pytest
from web_steps import House, answering, registered

from optin.web.service.life import progress

SEEN = ("/api/campaigns", "/api/campaigns/{}", "/api/campaigns/{}/log", "/a", "/a/c/{}", "/a/c/{}/progress")
FRESH = re.compile(r'name="page" value="[^"]*"')
"""What tells a page of links from another one: each is new, whatever happened."""


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tens")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        made.ada = made.analyst("ada")
        yield made


def seen(house, campaign):
    """Everything that an analyst can read of a campaign that runs."""
    found = [house.ask("GET", path.format(campaign), cookie=house.ada._cookie) for path in SEEN]
    assert {answer.status_code for answer in found} == {200}
    return [FRESH.sub("", answer.text) for answer in found]


def changes(house, campaign, people, act):
    """At which person of several what is seen changes."""
    looks, before = [], seen(house, campaign)
    for at, person in enumerate(people, 1):
        act(person)
        now = seen(house, campaign)
        if now != before:
            looks.append(at)
        before = now
    return looks


def test_registering_shows_at_every_tenth_person_only(house):
    campaign = registered(house.ada, [], quorum_people=25)
    assert changes(house, campaign, house.people(12), lambda person: person.register(campaign, 4)) == [10]


def test_joining_and_declining_show_at_every_tenth_person_only_and_not_at_the_quorum(house):
    crowd = house.people(23)
    campaign = answering(house.ada, crowd, quorum_people=12)
    assert changes(house, campaign, crowd[:13], lambda person: person.join(campaign, 5.0)) == [10]
    assert "10 or more of 12 needed" in seen(house, campaign)[4]
    assert changes(house, campaign, crowd[13:], lambda person: person.decline(campaign)) == [10]
    found = house.ada.take(campaign, "close")
    assert (found.joined, found.declined, found.registered) == (10, 10, 20)
    assert "release" in found.steps
    assert "Publish the result" in seen(house, campaign)[4], "that enough joined is told once answers are closed"


def test_cells_of_a_closed_registration_are_counted_exactly_and_once_as_the_docs_say(house):
    campaign = registered(house.ada, house.people(17))

    def shown():
        return [cell.people for cell in house.ada.cells(campaign)]

    assert house.ada.take(campaign, "close-registration").registered == 10
    before = shown()
    assert sum(before) == 17
    assert "17 people" in house.ask("GET", f"/a/c/{campaign}/plan", cookie=house.ada._cookie).text
    house.ada.take(campaign, "reopen-registration")
    house.people(1)[0].register(campaign, 4)
    house.ada.take(campaign, "close-registration")
    with pytest.warns(UserWarning, match="Fewer than 10 people"):
        assert shown() == before, "one more person is not told from the seventeen"
    said = " ".join((Path(__file__).parent.parent / "docs/how-to/asking.md").read_text().split())
    assert "is exact, and so is their sum, although `registered` beside it stays in tens" in said


def test_progress_towards_a_quorum_is_never_said_too_high():
    for people in range(60):
        for needed in range(1, 60):
            tens = people // 10 * 10
            words = progress(tens, needed)
            assert words.startswith("fewer than 10" if people < 10 else f"at least {tens}")
