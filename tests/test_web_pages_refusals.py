"""Pages that say no: politely, in our own words, and alike for what is not there and what is not yours."""

import re

import pytest
from web_steps import PASSWORD, House, answering, registered

from optin.errors import Argument, BadInput, PromiseBroken
from optin.web import pages
from optin.web.service import accounts
from optin.web.service.core import new_id

MARK = "a-detail-nobody-may-see"

pytestmark = [
    pytest.mark.xdist_group("refusals"),
    pytest.mark.usefixtures("owner"),
]  # one house, one analyst, for all of them


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def owner(house):
    return house.analyst()


@pytest.fixture(scope="module")
def campaign(house, owner):
    return registered(owner, house.people(12))


def someone_new(house):
    """A person who belongs nowhere: their cookie and their token."""
    ticket = accounts.sign_up(house.service, address=new_id()).ticket
    return ticket.token, ticket.visitor.csrf


@pytest.fixture(scope="module")
def eve(house, owner):
    """Another analyst: her cookie and her token."""
    ticket = accounts.create_analyst(house.service, owner.invite_analyst(), "eve", PASSWORD)
    return ticket.token, ticket.visitor.csrf


def first_analyst(house):
    ticket = accounts.sign_in(house.service, "ada", PASSWORD, address="here")
    return ticket.token, ticket.visitor.csrf


@pytest.mark.parametrize(
    ("path", "to"), [("/a", "/login"), ("/a/new", "/login"), ("/a/c/x", "/login"), ("/me", "/i"), ("/sign-out", "/i")]
)
def test_nobody_is_sent_to_where_one_comes_in(house, path, to):
    answer = house.ask("GET", path)
    assert (answer.status_code, answer.headers["location"]) == (303, to)


def test_what_is_not_there_and_what_is_not_yours_look_alike(house, owner, eve):
    closed = registered(owner, [], public=False)
    for cookie, _ in (someone_new(house), eve):
        for path in ("/c/{}", "/c/{}/receipt", "/a/c/{}", "/a/c/{}/plan", "/a/c/{}/pictures/limits-light.png", "/r/{}"):
            unknown = house.ask("GET", path.format("0" * 32), cookie=cookie)
            others = house.ask("GET", path.format(closed), cookie=cookie)
            assert (unknown.status_code, others.status_code) == (404, 404), path
            assert unknown.text == others.text
            assert "There is nothing here" in others.text


def test_an_unexpected_failure_shows_no_detail(house):
    def broken():
        raise RuntimeError(MARK)

    house.app.add_api_route("/broken", broken)
    answer = house.ask("GET", "/broken")
    assert answer.status_code == 500
    assert "This is our fault" in answer.text
    assert MARK not in answer.text


def test_a_page_says_a_failure_in_the_words_of_its_forms(house):
    def odd():
        raise BadInput("{max_gap} must be 0 or more", max_gap=Argument("max_gap"))

    house.app.add_api_route("/odd", odd)
    house.app.add_api_route("/api/odd", odd)
    assert "The largest gap must be 0 or more." in house.ask("GET", "/odd").text
    assert house.ask("GET", "/api/odd").json() == {"error": "max_gap must be 0 or more"}


def test_a_form_without_its_token_is_refused_with_a_page(house, campaign):
    cookie, _ = someone_new(house)
    answer = house.ask("POST", f"/c/{campaign}/limit", cookie=cookie, data={"step": "3"})
    assert answer.status_code == 403
    assert "load the page again" in answer.text


def test_an_answer_out_of_bounds_is_shown_at_its_field_and_not_repeated(house, owner):
    person = house.client()
    admission = person.sign_up()
    campaign = answering(owner, [*house.people(12), person])
    ticket = accounts.enter(house.service, admission.key).ticket
    form = {"csrf": ticket.visitor.csrf, "value": "77.125", "round": "1"}
    answer = house.ask("POST", f"/c/{campaign}/join", cookie=ticket.token, data=form)
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert "77.125" not in answer.text
    assert person.my_campaign(campaign).answer is None


def test_a_step_out_of_order_is_explained_on_the_page(house, campaign):
    cookie, csrf = first_analyst(house)
    answer = house.ask(
        "POST", f"/a/c/{campaign}/step", cookie=cookie, data={"csrf": csrf, "step": "release", "round": "1"}
    )
    assert answer.status_code == 409
    assert "in state “registration open” cannot take the step “Publish”" in answer.text
    assert 'role="alert"' in answer.text
    for step in ("release", "reopen-answers"):
        german = house.ask(
            "POST",
            f"/a/c/{campaign}/step",
            cookie=cookie,
            data={"csrf": csrf, "step": step, "round": "1"},
            headers={"Accept-Language": "de"},
        ).text
        assert "„Anmeldung schließen“, „Abbrechen“" in german
        assert not re.search(r"\b(release|reopen-answers|cancel|registration)\b[^\"<>]*nicht gehen", german)


@pytest.mark.parametrize(
    "wrong", [{"lower": "5", "upper": "1"}, {"lower": "x"}, {"title": " "}, {"max_gap": "99"}, {"quorum_people": "-3"}]
)
def test_a_draft_that_cannot_be_is_shown_again_with_what_was_typed(house, wrong):
    cookie, csrf = first_analyst(house)
    typed = {"title": "Sleep", "question": "How long?", "purpose": "To know.", "lower": "0", "upper": "12", **wrong}
    answer = house.ask("POST", "/a/new", cookie=cookie, data={"csrf": csrf, **typed})
    assert answer.status_code == 422
    assert "To know." in answer.text
    assert 'role="alert"' in answer.text


def test_a_preview_of_half_a_form_says_what_is_missing(house):
    cookie, _ = first_analyst(house)
    said = house.ask("GET", "/a/preview?lower=&upper=1", cookie=cookie).text
    assert "The smallest answer is missing" in said
    said = house.ask("GET", "/a/preview?lower=0&upper=1&expected=5", cookie=cookie).text
    assert "Expected people must be 10 to 1,000,000" in said


def test_more_careful_people_make_a_worse_preview(house):
    cookie, _ = first_analyst(house)

    def off_by(query):
        said = house.ask("GET", f"/a/preview?lower=0&upper=1&expected=500&{query}", cookie=cookie).text
        return float(re.search(r"± ([\d.]+)</strong>", said)[1])

    assert off_by("mix=careful") > off_by("mix=mixed") > off_by("mix=open")
    weighing = "model=quasi-linear&benefit_base=0.1"
    assert off_by(f"{weighing}&mix=open") < off_by(f"{weighing}&mix=careful")


def test_a_draft_can_be_read_back_and_changed(house):
    cookie, csrf = first_analyst(house)
    typed = {"title": "Cost", "question": "How long?", "lower": "0", "upper": "12.5", "model": "quasi-linear"}
    typed |= {"benefit_base": "40", "benefit_slope": "2", "outside": "own-data", "slack": "0.1", "public": "yes"}
    made = house.ask("POST", "/a/new", cookie=cookie, data={"csrf": csrf, **typed})
    page = made.headers["location"]
    shown = house.ask("GET", f"{page}/edit", cookie=cookie).text
    fields = dict(re.findall(r'name="(\w+)" type="\w+" value="([^"]*)"', shown))
    assert all(fields[key] == typed[key] for key in ("title", "upper", "benefit_base", "outside", "slack"))
    house.ask("POST", f"{page}/edit", cookie=cookie, data={"csrf": csrf, **typed, "title": "Costs"})
    assert "<h1>Costs</h1>" in house.ask("GET", page, cookie=cookie).text


def test_nothing_of_a_group_below_ten_is_drawn(house, owner):
    few = registered(owner, house.people(9))
    owner.take(few, "close-registration")
    cookie, _ = first_analyst(house)
    assert "fewer than ten people" in house.ask("GET", f"/a/c/{few}/plan", cookie=cookie).text.lower()
    assert house.ask("GET", f"/a/c/{few}/pictures/limits-light.png", cookie=cookie).status_code == 404


LOG = {"/log.json", "/log/checkpoint", "/log/cosignatures", "/static/check.js", "/check.html"}
VISIT = {"/i", "/i/look", "/i/answer", "/i/send", "/back", "/back/file"}
OPEN_TO_ALL = {"/", "/about", "/sign-up", "/login", "/setup", "/new-password", *VISIT, *LOG}
FOR_ANYONE_SIGNED_IN = {"/language", "/sign-out"}
ROUTES = [route for room in pages.ROOMS for route in room.router.routes]
DOORS = [(method, route.path) for route in ROUTES for method in sorted(route.methods)]


@pytest.fixture(scope="module")
def private(house, owner):
    """A campaign whose registration is closed: only its twelve people and its analyst may see it."""
    crowd = house.people(12)
    campaign = registered(owner, crowd)
    owner.take(campaign, "close-registration")
    return campaign


@pytest.mark.parametrize(("method", "path"), DOORS, ids=lambda part: part)
def test_every_page_is_closed_to_whom_it_is_not_for(house, owner, eve, private, method, path):
    if path in OPEN_TO_ALL:
        return
    place = path.format(campaign=private, name="limits", ink="light", secret="public", token="guessed", at=1)
    nobody = house.ask(method, place)
    assert nobody.status_code in (303, 404)
    assert nobody.headers.get("location", "/i") in ("/i", "/login", "/") or path in FOR_ANYONE_SIGNED_IN
    person = someone_new(house)
    of_person = path == "/me" or path.startswith("/me/")
    of_analyst = path == "/a" or path.startswith("/a/")
    for (cookie, csrf), may in ((person, of_person), (eve, of_analyst and "{campaign}" not in path)):
        if may or path in FOR_ANYONE_SIGNED_IN:
            continue
        form = {"data": {"csrf": csrf, "step": "announce", "value": "5", "sure": "yes"}} if method == "POST" else {}
        assert house.ask(method, place, cookie=cookie, **form).status_code == 404
    assert owner.campaign(private).state == "planning"


def test_a_missed_quorum_is_explained_and_a_new_round_offered(house, owner):
    crowd = house.people(12)
    campaign = answering(owner, crowd, quorum_people=12)
    crowd[0].join(campaign, 5.0)
    owner.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="the quorum is 12"):
        owner.take(campaign, "release")
    cookie, csrf = first_analyst(house)
    shown = house.ask("GET", f"/a/c/{campaign}", cookie=cookie).text
    assert "The last step failed" in shown
    assert "the quorum is 12" in shown
    assert 'value="new-round"' in shown
    form = {"csrf": csrf, "step": "new-round", "round": "1"}
    for _ in range(2):  # a double click
        assert house.ask("POST", f"/a/c/{campaign}/step", cookie=cookie, data=form).status_code == 303
    owner.take(campaign, "new-round", round=1)
    assert "round 2" in house.ask("GET", f"/a/c/{campaign}", cookie=cookie).text


def test_a_page_left_open_in_one_round_cannot_act_in_the_next(house, owner):
    campaign = answering(owner, house.people(12))
    cookie, csrf = first_analyst(house)
    left_open = house.ask("GET", f"/a/c/{campaign}", cookie=cookie).text
    forms = re.findall(r'name="round" value="1"><input type="hidden" name="step" value="([a-z-]+)"', left_open)
    assert sorted(forms) == ["cancel", "close", "new-round"]
    assert left_open.count(f'action="/a/c/{campaign}/step"') == len(forms)
    for step in ("new-round", "close-registration", "announce", "open-answers"):
        owner.take(campaign, step)
    for step, status in (("close", 409), ("cancel", 409), ("new-round", 303)):
        form = {"csrf": csrf, "step": step, "round": "1"}
        assert house.ask("POST", f"/a/c/{campaign}/step", cookie=cookie, data=form).status_code == status
    found = owner.campaign(campaign)
    assert (found.state, found.round, found.job.kind) == ("answers", 2, "announce")
    for wrong in ({}, {"round": ""}, {"round": "-1"}, {"round": "1.0"}):
        form = {"csrf": csrf, "step": "close", **wrong}
        assert house.ask("POST", f"/a/c/{campaign}/step", cookie=cookie, data=form).status_code == 422


def test_nobody_joins_a_round_with_a_page_that_shows_the_deal_of_another(house, owner):
    person, crowd = house.client(), house.people(12)
    admission = person.sign_up()
    campaign = answering(owner, [*crowd, person])
    ticket = accounts.enter(house.service, admission.key).ticket
    left_open = house.ask("GET", f"/c/{campaign}", cookie=ticket.token).text
    assert 'name="round" value="1"' in left_open
    for step in ("new-round", "close-registration", "announce", "open-answers"):
        owner.take(campaign, step)
    form = {"csrf": ticket.visitor.csrf, "value": "5", "round": "1"}
    refused = house.ask("POST", f"/c/{campaign}/join", cookie=ticket.token, data=form)
    assert (refused.status_code, "Round 1 is over" in refused.text) == (409, True)
    with pytest.raises(PromiseBroken, match="round 1 is over"):
        person.join(campaign, 5.0, round=1)
    assert person.my_campaign(campaign).answer is None
    assert person.join(campaign, 5.0, round=2).answer == "joined"
    owner.take(campaign, "new-round", round=2)
    with pytest.raises(PromiseBroken, match="round 2 is over"):
        person.register(campaign, 3, round=2)


def test_sealed_answers_can_be_opened_again_or_closed_as_they_are(house, owner):
    campaign = registered(owner, [], sealed=True)
    for at, person in enumerate(house.people(12)):
        person.register(campaign, 3 + at % 4, value=6.0)
    for step in ("close-registration", "announce"):
        owner.take(campaign, step)
    cookie, _ = first_analyst(house)
    shown = house.ask("GET", f"/a/c/{campaign}", cookie=cookie).text
    assert 'value="open-answers"' in shown
    assert 'value="close"' in shown


def test_an_analyst_can_take_part_as_a_person_like_anyone(house, owner):
    campaign = registered(owner, [])
    cookie, csrf = first_analyst(house)
    assert f"/sign-up?campaign={campaign}" in house.ask("GET", f"/c/{campaign}", cookie=cookie).text
    assert csrf in house.ask("GET", f"/sign-up?campaign={campaign}", cookie=cookie).text
    made = house.ask("POST", "/sign-up", cookie=cookie, data={"csrf": csrf, "campaign": campaign})
    assert "Keep your key" in made.text
    assert f'href="/c/{campaign}"' in made.text
