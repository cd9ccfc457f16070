"""Sending anew replaces everything: it is said before, counted before it is final, and said after; nothing goes unsaid."""

import html
import re

import pytest
from test_web_one_visit import TYPED, asking, cookie_of, csrf_of, form
from web_steps import PASSWORD, with_ada

REPLACES = "This replaces all that you sent"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anew")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        yield made


@pytest.fixture(autouse=True)
def signed_in(house):
    house.ada.sign_in("ada", PASSWORD)


def words(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def hidden(page):
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))


def sent(house, **typed):
    """Someone who answered all five questions; return the campaign, and their cookie."""
    campaign = asking(house)
    answer = house.ask("POST", "/i/send", data=form(house.ada.invite(campaign, 1)[0], **typed))
    assert answer.status_code == 200
    return campaign, answer


def test_the_page_of_sending_anew_says_before_that_it_replaces_everything_and_why_nothing_stands_there(house):
    campaign, first = sent(house)
    page = house.ask("GET", f"/c/{campaign}/answer", cookie=cookie_of(first))
    assert REPLACES in words(page)
    assert "sealed, and is shown to nobody before it is counted, not even to you" in words(page)
    other = asking(house)
    fresh = house.ask("POST", "/i/answer", data={"secret": house.ada.invite(other, 1)[0]})
    assert REPLACES not in words(fresh)


def test_questions_left_out_when_sending_anew_are_counted_before_and_after(house):
    campaign, first = sent(house)
    assert "You answered all 5 questions." in words(first)
    cookie, path = cookie_of(first), f"/c/{campaign}/answer"
    page = house.ask("GET", path, cookie=cookie)
    given = {**hidden(page), "csrf": csrf_of(page), "step": "5", "do": "send", "a1": "no"}
    asked = house.ask("POST", path, cookie=cookie, data=given)
    assert "You answered 1 of 5 questions and left out 4." in words(asked)
    assert "Nothing was sent yet" in words(asked)
    given |= hidden(asked)
    other = house.ask("POST", path, cookie=cookie, data={**given, "a2": "night"})
    assert "You answered 2 of 5 questions and left out 3." in words(other), "another number is told anew"
    done = house.ask("POST", path, cookie=cookie, data=given)
    assert "<h1>Sent</h1>" in done.text
    assert "You answered 1 of 5 questions and left out 4." in words(done)
    every = {**given, **TYPED, "left_out": ""}
    assert "You answered all 5 questions." in words(house.ask("POST", path, cookie=cookie, data=every))


def test_a_first_sending_is_not_asked_about_questions_it_leaves_out(house):
    _, few = sent(house, a1="", a2="", a3=[], a4=[])
    assert "<h1>Sent</h1>" in few.text
    assert "You answered 1 of 5 questions and left out 4." in words(few)


def test_changing_answers_after_the_announcement_says_so_too(house):
    campaign = asking(house)
    cookie, *_ = [
        cookie_of(house.ask("POST", "/i/send", data=form(secret))) for secret in house.ada.invite(campaign, 12)
    ]
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    page = house.ask("GET", f"/c/{campaign}", cookie=cookie)
    if REPLACES not in words(page):
        house.ada.take(campaign, "open-answers")
        page = house.ask("GET", f"/c/{campaign}", cookie=cookie)
    assert REPLACES in words(page)
    given = {**hidden(page), "csrf": csrf_of(page), "a1": "no"}
    asked = house.ask("POST", f"/c/{campaign}/join", cookie=cookie, data=given)
    assert (asked.status_code, "left out 4" in words(asked)) == (200, True)
    done = house.ask("POST", f"/c/{campaign}/join", cookie=cookie, data={**given, "left_out": "4"})
    assert done.headers["location"].endswith("done=changed")


def test_a_device_let_in_by_an_id_is_told_what_is_true_and_offered_the_way_back(house):
    house.ask("POST", "/i/send", data=form(house.ada.invite(asking(house), ids=["nurse 7"])[0]))
    campaign = asking(house)
    secret = house.ada.invite(campaign, ids=["nurse 7"])[0]
    cookie = cookie_of(house.ask("POST", "/i/send", data=form(secret, before="")))
    for path in (f"/c/{campaign}", f"/c/{campaign}/answer"):
        page = house.ask("GET", path, cookie=cookie)
        assert "You have not said yet" not in words(page)
        assert "This device was let in by your id, sees this campaign alone" in words(page)
        assert 'href="/back"' in page.text
    mine = house.ask("GET", "/me", cookie=cookie)
    assert (mine.status_code, "This device does not know you yet" in words(mine)) == (401, True)
    assert f'href="/c/{campaign}"' in mine.text
    assert 'href="/back"' in mine.text
    assert house.ask("GET", "/me").headers["location"] == "/i", "whoever has no cookie comes in first, as before"
