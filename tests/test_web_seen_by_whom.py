"""Results by invitation are for those invited; what was announced stays as it was; pages say who sees a limit."""

from dataclasses import replace

import pytest
from web_steps import PASSWORD
from web_steps import visitor as as_visitor

from optin.errors import PromiseBroken
from optin.web.service import accounts, campaigns
from optin.web.service.accounts import is_invitation


def invited_and_released(house, analyst, count=12):
    """A campaign by invitation that ran to its end; return it and its people."""
    draft = {"title": "Salaries", "question": "How much?", "bounds": (0.0, 12.0), "quorum_people": 10}
    campaign = analyst.draft(**draft).id
    analyst.take(campaign, "open")
    people = []
    for secret in analyst.invite(campaign, count):
        people.append(house.client())
        people[-1].enter(secret)
        people[-1].register(campaign, 5)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    for person in people:
        person.join(campaign, 6.0)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    return campaign, people


def test_a_result_by_invitation_is_listed_nowhere_and_shown_to_those_invited(house):
    analyst, other = house.analyst(), house.analyst("eve")
    campaign, people = invited_and_released(house, analyst)
    places = [f"/r/{campaign}", f"/r/{campaign}/announcement.json", f"/r/{campaign}/release.json"]
    places += [f"/r/{campaign}/pictures/result-light.png", f"/api/published/{campaign}"]
    for who in (None, house.person(), other):
        cookie = who._cookie if who else None
        for place in ("/", "/about", "/api/published", "/api/open", *([] if who is None else ["/me", "/a"])):
            answer = house.ask("GET", place, cookie=cookie)
            assert campaign not in answer.text, place
            assert "Salaries" not in answer.text, place
        for place in places:
            seen = house.ask("GET", place, cookie=cookie)
            unknown = house.ask("GET", place.replace(campaign, "0" * 32), cookie=cookie)
            assert (seen.status_code, seen.text) == (404, unknown.text), place
    for who in (people[0], analyst):
        for place in places:
            assert house.ask("GET", place, cookie=who._cookie).status_code == 200, place
        assert who.published(campaign).release.joined_people == 12
    assert "only people who were invited" in house.ask("GET", f"/r/{campaign}", cookie=people[0]._cookie).text


def test_an_invitation_that_nobody_took_up_shows_nothing(lodge):
    analyst = lodge.analyst()
    campaign = analyst.draft(title="t", question="q", bounds=(0, 1)).id
    (secret,) = analyst.invite(campaign, 1)
    assert is_invitation(lodge.service, secret)
    assert lodge.ask("GET", f"/r/{campaign}").status_code == 404


CHANGES = {
    "question": "How much, really?",
    "unit": "dollars",
    "purpose": "Another one.",
    "quorum_people": 2,
    "quorum_standard_error": 9.0,
    "title": "Another",
    "upper": 13.0,
}


def test_what_was_announced_can_no_longer_be_changed_by_anyone_in_any_way(house):
    analyst = house.analyst()
    campaign = analyst.draft(title="Sleep", question="How long?", bounds=(0, 12), quorum_people=10, public=True).id
    account = accounts.sign_in(house.service, "ada", PASSWORD, address="here").visitor.account
    owner = as_visitor(account, "analyst")
    crowd = house.people(12)

    def refused():
        before = campaigns.show(house.service, owner, campaign).draft
        for name, value in CHANGES.items():
            changed = replace(before, **{name: value})
            with pytest.raises(PromiseBroken, match="question, its purpose, unit, bounds and quorum"):
                campaigns.revise(house.service, owner, campaign, changed)
            body = {**analyst.campaign(campaign).draft, name: value}
            answer = house.ask(
                "PUT",
                f"/api/campaigns/{campaign}",
                cookie=analyst._cookie,
                json=body,
                headers={"X-CSRF-Token": analyst._csrf},
            )
            assert (answer.status_code, "quorum" in answer.json()["error"]) == (409, True)
            form = {"csrf": analyst._csrf, "title": "t", "question": "q", "lower": "0", "upper": "12", name: str(value)}
            answer = house.ask("POST", f"/a/c/{campaign}/edit", cookie=analyst._cookie, data=form)
            assert (answer.status_code, "nothing of it can be changed" in answer.text) == (409, True)
        page = house.ask("GET", f"/a/c/{campaign}/edit", cookie=analyst._cookie)
        assert (page.status_code, "nothing of it can be changed" in page.text) == (409, True)
        assert campaigns.show(house.service, owner, campaign).draft == before

    analyst.take(campaign, "open")
    refused()
    for person in crowd:
        person.register(campaign, 5)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    refused()
    for person in crowd:
        person.join(campaign, 6.0)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    refused()


def test_pages_say_that_limits_can_be_worked_out_from_what_is_published(lodge):
    analyst, person = lodge.analyst(), lodge.person()
    for model in ("privacy-constrained", "quasi-linear"):
        campaign = analyst.draft(title="t", question="q", bounds=(0, 1), public=True, model=model).id
        analyst.take(campaign, "open")
        said = lodge.ask("GET", f"/c/{campaign}", cookie=person._cookie).text
        assert "exact sums" in said
        assert "analysts only see" not in said
    about = lodge.ask("GET", "/about").text
    assert "can still guess that person's limit" in about.replace("&#39;", "'")
    assert "anyone patient can work out how many people made each choice" in about
    assert "analysts see counts only" not in about
