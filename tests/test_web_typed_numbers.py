"""Numbers that people type are read in one way or told back, and what is refused is refused in words of the pages."""

import html
import math
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import text as sql
from web_steps import PASSWORD, House, answering, registered

from optin.errors import BadInput
from optin.web.pages.drafting import _foreseen
from optin.web.pages.numbers import spelled, typed_number
from optin.web.service import accounts
from optin.web.service.drafts import Draft, checked_draft

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "reference"))
reference = import_module("generate")

pytestmark = pytest.mark.xdist_group("typed numbers")  # one house for all of them
INCOME = (0.0, 200_000.0)


@given(st.floats(-1e12, 1e12))
@example(45.125)
@example(1e11)
@example(-999.5)
@example(1e-7)
def test_a_number_as_we_write_it_is_read_back_and_needs_no_second_look(number):
    read = typed_number(spelled(number), "it")
    assert read.plain
    assert math.isclose(read.number, number, rel_tol=1e-14, abs_tol=0)


@pytest.mark.parametrize("text", ["45.000", "45,000", "1.234", "199,999", " 45.000 ", "+45.000", "120.500"])
def test_what_could_be_thousands_is_never_taken_for_a_fraction(text):
    with pytest.raises(BadInput, match=r"can be read in two ways: write \d+, or"):
        typed_number(text, "your answer", low=INCOME[0], high=INCOME[1])
    with pytest.raises(BadInput, match="in two ways"):  # nor where nothing is known about what is meant
        typed_number(text, "the largest answer")


GROUPED = ["1,234,567", "1.234.567", "45 000", "45'000", "1.234,5", "1,234.5", "45\u202f000"]
NONE = ["1_0", "0x10", "nan", "inf", "1e999", "\u0664\u0665", "4 5", "--4", "4-", "1.2.3", "", " ", "four", "1e", "."]


@pytest.mark.parametrize("text", [*GROUPED, *NONE])
def test_what_is_no_number_in_one_way_is_refused_with_a_hint(text):
    with pytest.raises(BadInput, match="number") as caught:
        typed_number(text, "your answer")
    assert ("without anything between the thousands" in str(caught.value)) == (text in GROUPED)


READ = {"7": 7, "7.5": 7.5, "7.50": 7.5, "\u22123": -3, "0.125": 0.125, "7.1250": 7.125, "-0.5": -0.5}
READ_AND_TOLD = {
    "7,5": 7.5,
    "7.125": 7.125,
    "7,125": 7.125,
    "1e1": 10,
    ".5": 0.5,
    "007": 7,
    "+7": 7,
    "7.": 7,
    "7.0000": 7,
}


@pytest.mark.parametrize("text", [*READ, *READ_AND_TOLD])
def test_one_reading_is_taken_and_another_spelling_is_told_back(text):
    read = typed_number(text, "it", low=-12, high=12)
    assert (read.number, read.plain) == ({**READ, **READ_AND_TOLD}[text], text in READ)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder) as opened:
        opened.owner = opened.analyst()
        opened.desk = accounts.sign_in(opened.service, "ada", PASSWORD, address="here")
        opened.guest = accounts.sign_up(opened.service, address="here").ticket
        yield opened


@pytest.fixture(scope="module")
def incomes(house):
    """A campaign about incomes that takes answers, with one person who uses pages."""
    person = house.client()
    person._cookie, person._csrf = house.guest.token, house.guest.visitor.csrf
    return answering(house.owner, [*house.people(12), person], bounds=INCOME, unit="euros")


def post(house, ticket, path, **form):
    return house.ask("POST", path, cookie=ticket.token, data={"csrf": ticket.visitor.csrf, "round": "1", **form})


def stored(house, campaign):
    query = sql("SELECT value FROM web_answers WHERE campaign = :campaign AND person = :person")
    mine = {"campaign": campaign, "person": house.guest.visitor.account}
    found = house.service.read(lambda link: link.execute(query, mine).first())
    if found is None:
        return None
    (only,) = house.service.keys.unseal(bytes(found.value), round=1, **mine)
    return only


def test_an_answer_of_45_000_is_asked_again_and_not_taken_for_45(house, incomes):
    for text in ("45.000", "45,000"):
        refused = post(house, house.guest, f"/c/{incomes}/join", value=text)
        assert (refused.status_code, stored(house, incomes)) == (422, None)
        assert f"Your answer, {text}, can be read in two ways: write 45000, or 45." in refused.text
        assert 'aria-invalid="true"' in refused.text
    assert post(house, house.guest, f"/c/{incomes}/join", value="45000").status_code == 303
    assert stored(house, incomes) == 45_000


def test_an_answer_typed_in_another_way_is_told_back_before_it_is_kept(house, incomes):
    before = stored(house, incomes)
    asked = post(house, house.guest, f"/c/{incomes}/join", value="44100,5")
    assert (asked.status_code, stored(house, incomes)) == (200, before)
    assert "You wrote 44100,5. We read it as <strong>44100.5</strong> euros. Nothing was sent yet." in asked.text
    again = re.search(r'name="value" value="([^"]*)"', asked.text)[1]
    assert post(house, house.guest, f"/c/{incomes}/join", value=again).status_code == 303
    assert stored(house, incomes) == 44_100.5


def test_a_sealed_answer_is_told_back_with_the_limit_that_was_chosen(house):
    sealed = registered(house.owner, [], sealed=True, bounds=(0, 12))
    asked = post(house, house.guest, f"/c/{sealed}/answer", a0="7,5", step="4", key="k" * 43)
    assert "We read 7,5 as 7.5" in asked.text
    assert re.search(r'name="step" value="4" checked', asked.text)
    assert stored(house, sealed) is None
    assert post(house, house.guest, f"/c/{sealed}/answer", a0="7.5", step="4", key="k" * 43).status_code == 200
    assert stored(house, sealed) == 7.5


def test_bounds_and_totals_that_can_be_read_in_two_ways_are_refused_too(house):
    typed = {"title": "Income", "question": "How much?", "lower": "0", "upper": "200000"}
    for name in ("lower", "upper", "data_sd", "max_gap", "quorum_standard_error"):
        refused = post(house, house.desk, "/a/new", **{**typed, name: "45.000"})
        assert (refused.status_code, "can be read in two ways: write 45000, or 45" in refused.text) == (422, True), name
        foreseen = house.ask("GET", f"/a/preview?lower=0&upper=200000&{name}=45.000", cookie=house.desk.token)
        assert "can be read in two ways" in foreseen.text, name
    refused = post(house, house.guest, "/me/allowance", epsilon="2.000")
    assert (refused.status_code, "Your total, 2.000, can be read in two ways: write 2000, or 2." in refused.text) == (
        422,
        True,
    )


def test_a_draft_is_shown_again_in_numbers_that_it_would_take(house):
    draft = house.owner.draft(
        title="t", question="q", bounds=(0, 45.125), data_sd=1.125, quorum_standard_error=2.375
    ).id
    shown = house.ask("GET", f"/a/c/{draft}/edit", cookie=house.desk.token).text
    fields = dict(re.findall(r'name="(\w+)" type="\w+" value="([^"]*)"', shown))
    assert (fields["upper"], fields["data_sd"], fields["quorum_standard_error"]) == ("45.1250", "1.1250", "2.3750")
    kept = post(house, house.desk, f"/a/c/{draft}/edit", **{**fields, "question": "q", "purpose": "p"})
    assert kept.status_code == 303
    assert house.owner.campaign(draft).draft["upper"] == 45.125


def test_the_json_interface_takes_numbers_and_no_texts(house, incomes):
    headers = {"X-CSRF-Token": house.guest.visitor.csrf}
    body = {"join": True, "value": "45.000"}
    answer = house.ask(
        "PUT", f"/api/me/campaigns/{incomes}/answer", cookie=house.guest.token, json=body, headers=headers
    )
    assert (answer.status_code, "valid number" in answer.json()["error"]) == (422, True)
    headers = {"X-CSRF-Token": house.desk.visitor.csrf}
    draft = {"title": "t", "question": "q", "lower": 0, "upper": "45.000"}
    answer = house.ask("POST", "/api/campaigns", cookie=house.desk.token, json=draft, headers=headers)
    assert (answer.status_code, "upper: Input should be a valid number" in answer.json()["error"]) == (422, True)


# --- words of the pages, no names of ours -----------------------------------------------------------------------------

NAMES = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\bNone\b|\bnan\b|privacy-constrained|quasi-linear")
WRONG = ("", " ", "x", "-1", "1e13", "-1e13", "1e999", "45.000", "\x07", "a" * 5000, "0", "99999999999")
FIELDS = [name for name in Draft.__dataclass_fields__ if name not in ("sealed", "public")]


def visible(answer):
    """What a reader sees: text without tags, and without what they typed themselves."""
    text = re.sub(r"(?s)<(textarea|title|code|script|style)\b.*?</\1>", " ", answer.text)
    return html.unescape(re.sub(r"(?s)<[^>]*>", " ", text))


@pytest.mark.parametrize("model", ["privacy-constrained", "quasi-linear"])
def test_whatever_is_wrong_with_a_draft_is_said_without_names_of_ours(house, model):
    good = {"title": "t", "question": "q", "purpose": "p", "lower": "0", "upper": "12", "model": model}
    more = {"max_gap": "3"} if model == "quasi-linear" else {"slack": "1"}
    for name in (*FIELDS, "expected"):
        for wrong in WRONG:
            typed = {**good, name: wrong}
            assert not NAMES.findall(_foreseen(typed).get("why", "")), (name, wrong)
    for typed in (
        {"data_sd": "7"},
        {"max_gap": "13"},
        {"quorum_people": "0"},
        {"quorum_standard_error": "-1"},
        {"benefit_slope": "-1"},
        {"slack": "11"},
        {"title": "\x07"},
        {"purpose": "a" * 5000},
        {"model": "other"},
        more,
    ):
        answer = post(house, house.desk, "/a/new", **{**good, **typed})
        if answer.status_code != 303:
            assert re.search(r'role="alert"', answer.text)
            assert not NAMES.findall(visible(answer)), typed


def test_a_standard_deviation_that_cannot_be_is_called_by_its_name_on_the_page(house):
    typed = {"title": "t", "question": "q", "lower": "0", "upper": "12", "data_sd": "7"}
    said = visible(post(house, house.desk, "/a/new", **typed))
    assert "The standard deviation must lie between 0 and 6, half the distance of the bounds" in said
    assert "data_sd" not in said.lower()


def test_a_gap_is_refused_where_people_state_costs_and_not_only_when_it_is_announced():
    draft = Draft(title="t", question="q", lower=0.0, upper=1.0, model="quasi-linear", max_gap=0.5)
    with pytest.raises(BadInput, match="the largest gap can be declared only where people state limits"):
        checked_draft(draft)


def test_no_page_and_no_form_shows_a_name_of_ours(house, incomes):
    """Every page there is, as each of the two sees it, and every form with something wrong in it."""
    forms = [{}, {"round": "9"}, {"step": "99", "value": "x", "count": "x", "epsilon": "x"}, {"value": "300000"}]
    for path, method, _ in reference.page_routes():
        place = path.format(campaign=incomes, name="limits", ink="light", secret="public", token="guessed", at=1)
        if "png" in place or ".js" in place or "export" in place or place in ("/sign-out", "/me/leave"):
            continue
        ticket = house.desk if place.startswith("/a") else house.guest
        seen = [house.ask("GET", place, cookie=ticket.token)] if method == "GET" else []
        if method == "POST":
            seen = [post(house, ticket, place, **{"round": "1", **form}) for form in forms]
        for answer in seen:
            assert answer.status_code < 500
            assert not NAMES.findall(visible(answer)), (place, answer.status_code)
