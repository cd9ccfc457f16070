"""Who may do what: every route is tried as nobody, as another person, and as another campaign's analyst."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import update
from web_steps import House, answering, exact_counts, registered, released

from optin.web.schema import campaigns

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "reference"))
reference = import_module("generate")

API = [
    (method.upper(), path, operation["tags"][0])
    for path, operations in reference.interface().openapi()["paths"].items()
    for method, operation in operations.items()
]
PAGES = [(method, path) for path, method, _ in reference.page_routes()]
BODIES = {
    "POST /api/campaigns": {"title": "t", "question": "q", "lower": 0, "upper": 1},
    "PUT /api/campaigns/{campaign}": {"title": "t", "question": "q", "lower": 0, "upper": 1},
    "POST /api/campaigns/{campaign}/invitations": {"count": 1},
    "POST /api/campaigns/{campaign}/what-if": {},
    "POST /api/campaigns/{campaign}/extend": {"answer_by": "2099-01-01"},
    "POST /api/preview": {"draft": {"title": "t", "question": "q", "lower": 0, "upper": 1}, "people": [9] * 10},
    "PUT /api/me/allowance": {"epsilon": 1.0},
    "PUT /api/me/campaigns/{campaign}/registration": {"step": 1},
    "PUT /api/me/campaigns/{campaign}/answer": {"join": True, "value": 1.0},
}
LOG = {"/log.json", "/log/checkpoint", "/log/cosignatures", "/static/check.js", "/check.html"}
OPEN = {"/", "/about", "/i", "/i/look", "/back", "/sign-up", "/login", "/setup", "/new-password", *LOG}
"""Pages that anyone may load and post to."""


class Town:
    """One house with three campaigns by invitation, an analyst and people inside, and others outside."""

    def __init__(self, house):
        self.house = house
        self.analyst, self.rival = house.analyst(), house.analyst("eve")
        self.insiders, self.outsider = house.people(12), house.person()
        for person in self.insiders:
            person.raise_allowance(8.0)
        self.campaigns = {
            "registration": registered(self.analyst, self.insiders, public=True),
            "answers": answering(self.analyst, self.insiders, public=True),
            "released": released(self.analyst, self.insiders, public=True),
        }
        house.service.change(lambda link: link.execute(update(campaigns).values(public=False)))  # by invitation

    def ask(self, client, method, path, *, campaign, **more):
        """Ask as a visitor, with their cookie and token, as a browser of theirs would."""
        path = path.replace("{campaign}", campaign).replace("{step}", "cancel")
        path = path.replace("{name}", "error").replace("{ink}", "light")
        headers = {"X-CSRF-Token": client._csrf} if client else {}
        body = BODIES.get(f"{method} {path.replace(campaign, '{campaign}')}")
        return self.house.ask(
            method, path, cookie=client._cookie if client else None, json=body, headers=headers, **more
        )


pytestmark = pytest.mark.xdist_group("access")  # they share one house


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def town(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    url = f"sqlite:///{folder / 'web.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").new_schema()
    with House(url, folder) as house:
        yield Town(house)


CLOSED = [(method, path, tag) for method, path, tag in API if tag in ("campaigns", "people")]
OTHERS = [(method, path, tag) for method, path, tag in CLOSED if "{campaign}" in path]


@pytest.mark.parametrize("state", ["registration", "answers", "released"])
def test_nobody_is_let_into_no_route_of_analysts_and_people(town, state):
    for method, path, _ in CLOSED:
        answer = town.ask(None, method, path, campaign=town.campaigns[state])
        assert answer.status_code == 401, (method, path)
        assert answer.json() == {"error": "sign in first"}


@pytest.mark.parametrize("state", ["registration", "answers", "released"])
def test_what_is_not_yours_looks_exactly_like_what_does_not_exist(town, state):
    for visitor in (town.outsider, town.rival):
        for method, path, _ in OTHERS:
            seen = [town.ask(visitor, method, path, campaign=name) for name in (town.campaigns[state], "0" * 32)]
            assert [answer.status_code for answer in seen] == [404, 404], (method, path)
            assert seen[0].content == seen[1].content
            assert _headers(seen[0]) == _headers(seen[1])


def _headers(answer):
    return {name: value for name, value in answer.headers.items() if name != "date"}


def test_analysts_and_people_do_not_pass_through_one_anothers_doors(town):
    for method, path, tag in CLOSED:
        visitor = town.outsider if tag == "campaigns" else town.rival
        assert town.ask(visitor, method, path, campaign=town.campaigns["answers"]).status_code == 404, (method, path)


def test_before_the_announcement_a_campaign_is_not_published_and_then_to_those_invited(town):
    def seen(who, state):
        return town.ask(who, "GET", "/api/published/{campaign}", campaign=town.campaigns[state]).status_code

    for who in (None, town.outsider, town.rival, town.insiders[0], town.analyst):
        assert seen(who, "registration") == 404
        inside = who in (town.insiders[0], town.analyst)
        assert [seen(who, state) for state in ("answers", "released")] == [200 if inside else 404] * 2


def test_every_page_sends_nobody_away_or_is_meant_for_everyone(town):
    for method, path in PAGES:
        answer = town.ask(None, method, path, campaign=town.campaigns["registration"])
        if path in OPEN:
            assert answer.status_code in ((200,) if method == "GET" else (200, 204, 303, 403, 422)), (method, path)
        elif path.startswith("/r/"):
            assert answer.status_code == 404, (method, path)
        else:
            assert answer.status_code == 303 or answer.status_code == 404, (method, path, answer.status_code)
            assert answer.status_code == 404 or answer.headers["location"] in ("/login", "/i", "/"), (method, path)


def test_every_page_of_a_campaign_is_closed_to_people_and_analysts_of_others(town):
    mine = re.compile(r"^/(a/)?c/")
    for visitor in (town.outsider, town.rival):
        for method, path in PAGES:
            if mine.match(path) and "{campaign}" in path:
                answer = town.ask(visitor, method, path, campaign=town.campaigns["answers"])
                assert answer.status_code in (404, 422), (method, path, answer.status_code)
                assert "Sleep" not in answer.text


def test_what_an_analyst_is_shown_has_no_value_no_limit_and_nobodys_name(town):
    names = [person.me().account for person in town.insiders]
    shown = ""
    for method, path, tag in API:
        if tag == "campaigns" and method == "GET":
            for name in town.campaigns.values():
                shown += town.ask(town.analyst, method, path, campaign=name).text
    for method, path in PAGES:
        if path.startswith("/a") and method == "GET":
            shown += town.ask(town.analyst, method, path, campaign=town.campaigns["released"]).text
    assert not [name for name in names if name in shown]
    assert not re.search(r'"(stated|allowance|remaining|value)"\s*:|name="value"', shown)


def test_the_town_was_left_as_it_was(town):
    """None of what was refused above was done all the same."""
    for state, name in town.campaigns.items():
        found = exact_counts(town.house.service, name)
        assert (town.analyst.campaign(name).state, found.registered, found.declined) == (state, 12, 0)
