"""One link for many: no more answers than it was made for, whoever comes at once; one device once; doubles said plainly."""

import re
import threading

import pytest
from sqlalchemy import update
from test_web_lists import SHEET, Clock
from web_steps import KEY, House, exact_counts, new_secret

from optin.errors import BadInput
from optin.web.schema import sessions
from optin.web.service.drafts import Draft, last_moment

DAY = "2027-01-20"
LAST = last_moment(Draft(answer_by=DAY))


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def house(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("open-links")
    url = f"sqlite:///{folder / 'web.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").new_schema()
    with House(url, folder, key=KEY, clock=Clock()) as made:
        made.service.clock.now = LAST - 3600.0
        made.ada = made.analyst("ada")
        yield made


def asking(house, most, **more):
    terms = {"sealed": True, "answer_by": DAY, "window_hours": 1.0, "quorum_people": 10, "open_link": most, **more}
    campaign = house.ada.draft(SHEET, **terms).id
    house.ada.take(campaign, "open")
    return campaign, house.ada.open_link(campaign)


def form(secret, **more):
    given = {"secret": secret, "key": new_secret(), "round": "1", "step": "5", "before": "no", "do": "send"}
    return {**given, "a0": "0", **more}


def cookie_of(response):
    found = re.search(r"__Host-optin=([^;]+);", response.headers.get("set-cookie", ""))
    return found and found[1]


def fields(house, secret):
    """The names of the questions' fields on the page that an open link leads to."""
    page = house.ask("POST", "/i/answer", data={"secret": secret}).text
    return dict(re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"', page.split('id="limit"')[0]))


def send(house, secret, **more):
    return house.ask("POST", "/i/send", data={**form(secret), **fields(house, secret), **more})


def test_of_many_who_send_at_once_exactly_as_many_get_in_as_the_link_was_made_for(house):
    campaign, secret = asking(house, 5)
    named, answers, together = fields(house, secret), [], threading.Barrier(12)

    def come():
        together.wait()
        answers.append(house.ask("POST", "/i/send", data={**form(secret), **named}))

    racers = [threading.Thread(target=come) for _ in range(12)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [409] * 7
    assert sum("made for 5 answers" in answer.text for answer in answers) == 7
    found = exact_counts(house.service, campaign)
    assert (found.registered, found.joined) == (5, 5)
    assert "made for 5 answers" in house.ask("POST", "/i", data={"secret": secret}).text, (
        "nobody fills in a form in vain"
    )


def test_one_device_counts_once_and_may_change_its_answers_when_the_link_is_full(house):
    campaign, secret = asking(house, 1)
    given = {**form(secret), **fields(house, secret)}
    first = house.ask("POST", "/i/send", data=given)
    assert first.status_code == 200
    assert house.ask("POST", "/i/send", data=given).status_code == 200, "lost on its way and sent again"
    cookie = cookie_of(first)
    again = house.ask("GET", f"/c/{campaign}/answer", cookie=cookie)
    assert again.status_code == 200
    csrf = re.search(r'name="csrf" value="([^"]+)"', again.text)[1]
    assert house.ask("POST", "/i/send", cookie=cookie, data={**given, "csrf": csrf}).status_code == 200
    assert (
        "You have sent your answers"
        in house.ask("POST", "/i", cookie=cookie, data={"secret": secret, "csrf": csrf}).text
    )
    assert exact_counts(house.service, campaign).registered == 1
    assert send(house, secret).status_code == 409, "another device"


def taken_back(house, campaign, cookie):
    page = house.ask("GET", f"/c/{campaign}", cookie=cookie).text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    assert house.ask("POST", f"/c/{campaign}/withdraw", cookie=cookie, data={"csrf": csrf}).status_code == 303
    return csrf


def test_an_answer_that_is_taken_back_gives_its_place_back_and_no_more_than_that(house):
    campaign, secret = asking(house, 2)
    named = fields(house, secret)
    first, second = (house.ask("POST", "/i/send", data={**form(secret), **named}) for _ in range(2))
    assert send(house, secret).status_code == 409
    csrf = taken_back(house, campaign, cookie_of(first))
    assert exact_counts(house.service, campaign).registered == 1
    assert "Begin" in house.ask("POST", "/i", cookie=cookie_of(first), data={"secret": secret, "csrf": csrf}).text
    assert send(house, secret).status_code == 200, "someone else comes instead"
    back = {**form(secret), **named, "csrf": csrf}
    assert house.ask("POST", "/i/send", cookie=cookie_of(first), data=back).status_code == 409, "it is full again"
    asked = {"step": 5, "answers": {"break": True}}
    path, headers = f"/api/me/campaigns/{campaign}/registration", {"X-CSRF-Token": csrf}
    by_api = house.ask("PUT", path, cookie=cookie_of(first), json=asked, headers=headers)
    assert (by_api.status_code, "made for 2 answers" in by_api.text) == (409, True), "nor by another door"
    assert exact_counts(house.service, campaign).registered == 2
    taken_back(house, campaign, cookie_of(second))
    assert house.ask("PUT", path, cookie=cookie_of(first), json=asked, headers=headers).status_code in (200, 204)
    assert exact_counts(house.service, campaign).registered == 2


def test_of_those_who_come_back_and_those_who_come_anew_at_once_no_more_get_in_than_there_are_places(house):
    campaign, secret = asking(house, 4)
    named = fields(house, secret)
    before = [cookie_of(house.ask("POST", "/i/send", data={**form(secret), **named})) for _ in range(4)]
    tokens = [taken_back(house, campaign, cookie) for cookie in before]
    assert exact_counts(house.service, campaign).registered == 0
    answers, together = [], threading.Barrier(8)

    def come(**who):
        together.wait()
        answers.append(house.ask("POST", "/i/send", cookie=who.get("cookie"), data={**form(secret), **named, **who}))

    ways = [{"cookie": cookie, "csrf": csrf} for cookie, csrf in zip(before, tokens, strict=True)] + [{}] * 4
    racers = [threading.Thread(target=come, kwargs=way) for way in ways]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [409] * 4
    assert exact_counts(house.service, campaign).registered == 4


def test_in_a_new_round_every_place_is_free_again(house):
    campaign, secret = asking(house, 10)
    named = fields(house, secret)
    for _ in range(10):
        assert house.ask("POST", "/i/send", data={**form(secret), **named}).status_code == 200
    for step in ("close-registration", "announce", "new-round"):
        house.ada.take(campaign, step)
    for _ in range(10):
        assert house.ask("POST", "/i/send", data={**form(secret, round="2"), **named}).status_code == 200
    assert house.ask("POST", "/i/send", data={**form(secret, round="2"), **named}).status_code == 409


def test_after_its_last_day_and_before_it_is_opened_an_open_link_takes_nothing(house):
    campaign, secret = asking(house, 50)
    assert send(house, secret).status_code == 200
    before, house.service.clock.now = house.service.clock.now, LAST
    assert house.ask("POST", "/i/send", data={**form(secret), "a0": "0"}).status_code in (409, 422)
    house.service.clock.now = before
    assert exact_counts(house.service, campaign).registered == 1
    unopened = house.ada.draft(SHEET, sealed=True, answer_by=DAY, open_link=5).id
    link = house.ada.open_link(unopened)
    assert house.ask("POST", "/i/send", data=form(link)).status_code == 404


def test_a_guessed_or_foreign_open_link_opens_nothing(house):
    campaign, secret = asking(house, 5)
    other = house.ada.draft(SHEET, sealed=True, answer_by=DAY).id
    house.ada.take(other, "open")
    assert house.ada.open_link(other) is None
    for guess in (
        secret[:-1] + ("0" if secret[-1] != "0" else "1"),
        other + secret[32:],
        campaign,
        secret + "0",
        "ß" * 64,
    ):
        assert house.ask("POST", "/i/send", data=form(guess)).status_code == 404
    rival = house.analyst("eve")
    with pytest.raises(BadInput, match="not yours"):
        rival.open_link(campaign)


def test_analyst_and_readers_are_told_what_is_known_about_doubles(house):
    campaign, secret = asking(house, 40)
    page = house.ask("GET", f"/a/c/{campaign}", cookie=house.ada._cookie).text
    assert f"/i#{secret}" in page
    assert "counts twice, and nothing here would show it" in page
    named = fields(house, secret)
    cookies = [cookie_of(house.ask("POST", "/i/send", data={**form(secret), **named})) for _ in range(12)]
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    before = house.service.clock.now
    house.service.clock.now += 2 * 3600.0
    here = {"expires_at": before + 1e7, "rotated_at": house.service.clock.now}
    house.service.change(lambda link: link.execute(update(sessions).values(here)))
    for step in ("close", "release"):
        found = house.ada.take(campaign, step)
    assert "open link for at most 40 answers" in found.announcement.terms.conditions.mode
    for reader in (cookies[0], house.ada._cookie):
        told = house.ask("GET", f"/r/{campaign}", cookie=reader).text
        assert "open link, which took at most 40 answers" in told
        assert "nobody checked that each person answered only once" in told
    house.service.clock.now = before


def test_an_open_link_is_for_one_visit_with_a_last_day_and_without_groups(house):
    terms = {"sealed": True, "answer_by": DAY, "open_link": 5}
    for wrong in ({"sealed": False}, {"answer_by": ""}, {"public": True}):
        with pytest.raises(BadInput, match="open link"):
            house.ada.draft(SHEET, **{**terms, **wrong})
    campaign, _ = asking(house, 5)
    with pytest.raises(BadInput, match="open link"):
        house.ada.invite(campaign, 1, group="ICU")
