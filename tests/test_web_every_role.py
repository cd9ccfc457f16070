"""Every route of a campaign as nobody, a stranger, another analyst, a reader and a colleague: each sees what is theirs."""

import re

import pytest
from sqlalchemy import func, select, update
from test_web_access import API, BODIES, PAGES
from test_web_lists import Clock
from web_steps import House, released

import optin
from optin.web.schema import campaigns, events, invitations, invitees, mails, roles

SHEET = optin.Sheet([optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9)], title="Breaks and hours")
ASKED = [("GET", "/a/new-sheet?again={campaign}"), ("GET", "/a/year?of={campaign}")]
ROUTES = [(method, path) for method, path, _ in API if "{campaign}" in path]
ROUTES += [(method, path) for method, path in PAGES if "{campaign}" in path] + ASKED
PEOPLES = re.compile(r"/api/me/|/c/")
FORMS = {
    "step": {"step": "cancel", "round": "1"},
    "extend": {"answer_by": "2027-02-20", "round": "1"},
    "invitations": {"count": "3"},
    "people": {"list": "new@example.org"},
    "mail": {"number": "0"},
    "colleagues": {"name": "dot", "role": "owner"},
    "edit": {"title": "Mine now", "question": "q", "lower": "0", "upper": "1"},
    "sheet": {"title": "Mine now", "do": "keep"},
    "try": {"a0": "yes", "a1": "7"},
}
OWN = ("/a/c/{campaign}", "/api/campaigns/{campaign}")
PARTS = (
    "",
    "/progress",
    "/job",
    "/plan",
    "/pictures/{name}-{ink}.png",
    "/what-if",
    "/colleagues",
    "/sheet.toml",
    "/try",
)
BY_API = ("", "/open-link", "/log", "/cells", "/able", "/again", "/what-if")
READ = {*(OWN[0] + part for part in PARTS), *(OWN[1] + part for part in BY_API)}
READ_BY_FORM = {f"{OWN[0]}/try", f"{OWN[1]}/what-if"}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roles")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, clock=Clock()) as opened:
        opened.owner = opened.analyst("ada")
        opened.who = {name: opened.analyst(name) for name in ("colleague", "reader", "rival", "dot")}
        crowd, opened.who["stranger"], opened.who["nobody"] = opened.people(12), opened.person(), None
        terms = {"sealed": True, "answer_by": "2027-02-01", "window_hours": 5.0, "open_link": 5, "quorum_people": 10}
        asked = opened.owner.draft(SHEET, **terms).id
        opened.owner.take(asked, "open")
        _post(opened, opened.owner, f"/a/c/{asked}/people", list="ada@example.org")
        opened.campaigns = {"registration": asked, "released": released(opened.owner, crowd)}
        opened.service.change(lambda link: link.execute(update(campaigns).values(public=False)))
        for name in opened.campaigns.values():
            for role in ("colleague", "reader"):
                _post(opened, opened.owner, f"/a/c/{name}/colleagues", name=role, role=role)
        yield opened


def _post(house, who, path, **form):
    assert house.ask("POST", path, cookie=who._cookie, data={"csrf": who._csrf, **form}).status_code == 303, path


def asked(house, who, method, path, campaign, *, well=True):
    """Ask as someone, with what the route takes, or else with nothing in the form."""
    named = path.replace("{campaign}", campaign).replace("{step}", "cancel" if well else "nonsense")
    named = named.replace("{name}", "error").replace("{ink}", "light").replace("{at}", "0").replace("{secret}", "x")
    client, more = house.who.get(who, house.owner), {}
    if path.startswith("/api") and method != "GET":
        more["json"] = BODIES.get(f"{method} {path}", {})
    elif method == "POST":
        form = FORMS.get(path.rsplit("/", 1)[1], {}) if well else {}
        more["data"] = form | ({"csrf": client._csrf} if client else {})
    headers = {"X-CSRF-Token": client._csrf} if client else {}
    return house.ask(method, named, cookie=client._cookie if client else None, headers=headers, **more)


def standing(house):
    """All that a step, a list, a mail or a role would change."""

    def look(link):
        counts = [link.scalar(select(func.count()).select_from(table)) for table in (events, invitations, invitees)]
        more = [link.scalar(select(func.count()).select_from(table)) for table in (mails, roles)]
        return counts, more, link.execute(select(campaigns.c.id, campaigns.c.state, campaigns.c.draft)).all()

    return house.service.read(look)


@pytest.mark.parametrize("state", ["registration", "released"])
@pytest.mark.parametrize("who", ["nobody", "stranger", "rival"])
def test_to_whoever_has_no_part_in_it_a_campaign_does_not_exist_on_any_route(house, who, state):
    before = standing(house)
    for method, path in ROUTES:
        seen, unknown = (asked(house, who, method, path, name) for name in (house.campaigns[state], "0" * 32))
        assert seen.status_code in ((401, 303, 404) if who == "nobody" else (404,)), (method, path, seen.status_code)
        assert (seen.status_code, seen.text) == (unknown.status_code, unknown.text), (method, path)
        if seen.status_code == 303:
            assert seen.headers["location"] in ("/login", "/i", "/"), (method, path)
    assert standing(house) == before


@pytest.mark.parametrize("state", ["registration", "released"])
def test_a_reader_looks_at_what_readers_may_look_at_and_is_refused_everything_else(house, state):
    before = standing(house)
    for method, path in ROUTES:
        status = asked(house, "reader", method, path, house.campaigns[state]).status_code
        if PEOPLES.match(path) or path.startswith("/council/"):
            assert status == 404, (method, path)
        elif path.startswith(OWN) and not (path in READ and (method == "GET" or path in READ_BY_FORM)):
            assert status == 403, (method, path, status)
        else:
            assert status in (200, 404, 409, 422), (method, path, status)
            assert status == asked(house, "ada", method, path, house.campaigns[state]).status_code, (method, path)
    assert standing(house) == before


def test_a_reader_is_told_no_link_address_or_key(house):
    campaign = house.campaigns["registration"]
    shown = "".join(
        asked(house, "reader", "GET", path, campaign).text
        for method, path in ROUTES
        if method == "GET" and not PEOPLES.match(path)
    )
    assert not re.search(r"/i#|ada@example\.org", shown)
    assert house.owner.open_link(campaign) not in shown


@pytest.mark.parametrize("state", ["registration", "released"])
def test_a_colleague_passes_where_the_owner_does_but_gives_no_roles(house, state):
    campaign = house.campaigns[state]
    for method, path in ROUTES:
        if PEOPLES.match(path) or method in ("PUT", "DELETE") or path.endswith("{campaign}/invitations"):
            continue
        seen = [asked(house, who, method, path, campaign, well=False).status_code for who in ("colleague", "ada")]
        assert seen[0] == seen[1], (method, path, seen)
    path = f"{OWN[0]}/colleagues"
    assert asked(house, "colleague", "POST", path, campaign).status_code == 403
    assert "dot" not in house.ask("GET", path.replace("{campaign}", campaign), cookie=house.owner._cookie).text
