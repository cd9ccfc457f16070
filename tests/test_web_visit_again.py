"""A page that is sent again, late, or where nothing is kept: it is the same person, and nobody is told what is not so."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from test_web_identities import account_of
from test_web_one_visit import asking, cookie_of, csrf_of, form, stored
from web_steps import PASSWORD, exact_counts, with_ada

from optin.web.service.core import new_secret
from optin.web.service.sessions import LIFETIME


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def house(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("again")
    on_postgres = request.param == "postgresql"
    url = request.getfixturevalue("postgres").new_ledger() if on_postgres else f"sqlite:///{folder / 'web.sqlite'}"
    with with_ada(url, folder) as made:
        yield made


@pytest.fixture(autouse=True)
def signed_in(house):
    house.ada.sign_in("ada", PASSWORD)


def invited_twice(house, name):
    """Someone who answered one campaign by their id and is invited to another one by it; return its id and the link."""
    first = house.ada.invite(asking(house), ids=[name])[0]
    assert house.ask("POST", "/i/send", data=form(first)).status_code == 200
    second = asking(house)
    return second, house.ada.invite(second, ids=[name])[0]


def test_an_answer_by_an_id_that_was_lost_on_its_way_is_sent_again_by_the_same_page_and_by_no_other(house):
    campaign, secret = invited_twice(house, "nurse 31")
    given = form(secret, before="")
    house.ask("POST", "/i/send", data=given)
    before = stored(house)
    again = house.ask("POST", "/i/send", data={**given, "a0": "12"})
    assert (again.status_code, stored(house)) == (200, before)
    assert "/back#" not in again.text
    assert house.ask("GET", f"/c/{campaign}", cookie=cookie_of(again)).status_code == 200
    assert house.ask("GET", "/api/me", cookie=cookie_of(again)).status_code == 401, "one campaign, as before"
    assert house.ask("POST", "/i/send", data={**given, "key": new_secret()}).status_code == 403
    for secret_or_key in (given["key"], secret):
        assert house.ask("POST", "/back", data={"secret": secret_or_key}).status_code == 403, "it opens nothing"
    other = house.ada.invite(asking(house), 1)[0]
    stranger = form(other, key=given["key"], before="yes", back=secret)
    assert house.ask("POST", "/i/send", data=stranger).status_code == 403, "nor is it a recovery link"
    house.service.clock.now += LIFETIME["person"]
    house.ada.sign_in("ada", PASSWORD)
    assert house.ask("POST", "/i/send", data=given).status_code == 403


def test_who_came_by_an_id_opens_their_link_again_on_their_own_device(house):
    campaign, secret = invited_twice(house, "nurse 32")
    given = form(secret, before="")
    cookie, before = cookie_of(house.ask("POST", "/i/send", data=given)), stored(house)
    for path in ("/i", "/i/look"):
        again = house.ask("POST", path, cookie=cookie, data={"secret": secret})
        assert "You have sent your answers" in again.text
    back = house.ask("POST", "/i/send", cookie=cookie, data={**given, "csrf": ""})
    assert (back.status_code, stored(house)) == (200, before)
    page = house.ask("POST", "/i/answer", cookie=cookie, data={"secret": secret})
    assert house.ask("POST", "/i/send", cookie=cookie, data=form(secret, csrf=csrf_of(page))).status_code == 200
    forged = form(secret, do="decline")
    assert house.ask("POST", "/i/send", cookie=cookie, data=forged).status_code == 403, "a token or the page itself"
    assert exact_counts(house.service, campaign).joined == 1


def test_whoever_sees_one_campaign_alone_is_a_stranger_to_every_other_link(house):
    _, secret = invited_twice(house, "nurse 33")
    cookie = cookie_of(house.ask("POST", "/i/send", data=form(secret, before="")))
    other = house.ada.invite(asking(house), 1)[0]
    assert (
        "Have you answered here before?" in house.ask("POST", "/i/answer", cookie=cookie, data={"secret": other}).text
    )
    assert house.ask("POST", "/i/send", cookie=cookie, data=form(other)).status_code == 200
    assert account_of(house, other) != account_of(house, secret)


def test_declining_takes_back_what_the_same_page_sent_from_a_device_that_keeps_nothing(house):
    campaign = asking(house)
    given = form(house.ada.invite(campaign, 1)[0], shared="yes")
    house.ask("POST", "/i/send", data=given)
    elsewhere = house.ask("POST", "/i/send", data=form(given["secret"], do="decline"))
    assert (elsewhere.status_code, exact_counts(house.service, campaign).joined) == (403, 1)
    assert "You declined" not in elsewhere.text
    declined = house.ask("POST", "/i/send", data={**given, "do": "decline"})
    assert "What you had sent is deleted" in declined.text
    assert "open the recovery link that you kept" in declined.text
    assert exact_counts(house.service, campaign).registered == 0


def test_when_answers_are_closed_no_page_says_that_they_were_taken_back(house):
    campaign = asking(house)
    secrets = house.ada.invite(campaign, 11)
    cookie, *_ = [cookie_of(house.ask("POST", "/i/send", data=form(secret))) for secret in secrets]
    csrf = csrf_of(house.ask("GET", f"/c/{campaign}/answer", cookie=cookie))
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    house.service.clock.now += 48 * 3600 + 1
    house.ada.sign_in("ada", PASSWORD)
    for step in ("close", "release"):
        house.ada.take(campaign, step)
        late = form(secrets[0], do="decline", csrf=csrf)
        for path in ("/i/send", f"/c/{campaign}/withdraw"):
            refused = house.ask("POST", path, cookie=cookie, data=late)
            assert (refused.status_code, "are counted once, as promised" in refused.text) == (409, True), (step, path)
            assert "is deleted" not in refused.text
    assert house.ada.campaign(campaign).release.joined_people == 11


def test_a_number_that_is_changed_after_it_was_told_back_is_told_back_anew(house):
    given = form(house.ada.invite(asking(house), 1)[0], a0="38,5")
    told = re.search(r'name="echoed" value="([^"]*)"', house.ask("POST", "/i/send", data=given).text)[1]
    other = house.ask("POST", "/i/send", data={**given, "a0": "1e1", "echoed": told})
    assert "1e1 as 10 hours" in other.text
    assert "<h1>Sent</h1>" in house.ask("POST", "/i/send", data={**given, "a0": "38.5", "echoed": told}).text


def test_the_way_back_is_shown_again_where_the_page_that_says_sent_is_reloaded(house):
    given = form(house.ada.invite(asking(house), 1)[0])
    cookie = cookie_of(house.ask("POST", "/i/send", data=given))
    again = house.ask("POST", "/i/send", cookie=cookie, data=given)
    assert f"/back#{given['key']}" in again.text
    assert 'action="/language"' not in again.text, "a change of language would lead away from what is shown only now"
    assert 'action="/language"' in house.ask("GET", "/me", cookie=cookie).text


@pytest.mark.parametrize("path", ["/i/send", "/i/answer"])
def test_the_address_of_a_form_leads_to_where_links_are_opened(house, path):
    assert house.ask("GET", path).headers["location"] == "/i"


def at_once(house, *forms):
    """Send several forms at the same moment."""
    with ThreadPoolExecutor(len(forms)) as phones:
        return list(phones.map(lambda given: house.ask("POST", "/i/send", data=given), forms))


@pytest.mark.parametrize("known", [False, True])
def test_a_page_that_is_sent_several_times_at_once_is_one_person_and_one_answer(house, known):
    """An impatient finger: the same page, by a link of one's own, or by an id that led to an account before."""
    if known:
        campaign, secret = invited_twice(house, "nurse 41")
    else:
        campaign = asking(house)
        secret = house.ada.invite(campaign, 1)[0]
    before, given = stored(house), form(secret)
    sent = at_once(house, *[given] * 4)
    assert [each.status_code for each in sent] == [200] * 4
    people = 0 if known else 1
    assert stored(house) == (before[0] + people, before[1] + 1, before[2] + 1, before[3] + 1)
    for each in sent:
        assert house.ask("GET", f"/c/{campaign}", cookie=cookie_of(each)).status_code == 200


def test_of_several_devices_that_send_by_one_id_at_once_one_is_taken_and_its_page_alone_is_taken_again(house):
    campaign, secret = invited_twice(house, "nurse 42")
    forms = [form(secret, a0=str(at)) for at in range(4)]
    first, again = at_once(house, *forms), at_once(house, *forms)
    for sent in (first, again):
        assert sorted(each.status_code for each in sent) == [200, 403, 403, 403]
    assert [each.status_code for each in first] == [each.status_code for each in again]
    assert exact_counts(house.service, campaign).joined == 1


def test_a_send_and_a_decline_of_one_page_at_once_leave_an_answer_or_none(house):
    """Whichever comes last, what is said to the one who declined is what is so."""
    for _ in range(3):
        campaign = asking(house)
        given = form(house.ada.invite(campaign, 1)[0])
        sent, declined = at_once(house, given, {**given, "do": "decline"})
        assert (sent.status_code, declined.status_code) == (200, 200)
        found = exact_counts(house.service, campaign)
        taken_back = "What you had sent is deleted" in declined.text
        assert (found.registered, found.joined) == ((0, 0) if taken_back else (1, 1))


def test_who_answered_by_another_link_and_is_invited_by_an_id_shows_the_way_back_and_is_one_person(house):
    """An id leads to nothing that was answered by another link: the page asks aside, and never says whether the id is known."""
    given = form(house.ada.invite(asking(house), 1)[0])
    house.ask("POST", "/i/send", data=given)
    second, third = asking(house), asking(house)
    by_id, later = house.ada.invite(second, ids=["nurse 43"])[0], house.ada.invite(third, ids=["nurse 43"])[0]
    aside = "Answered here before, by another link?"

    def asked(secret):
        page = house.ask("POST", "/i/answer", data={"secret": secret}).text
        assert "Have you answered here before?" not in page
        return page.count(aside)

    assert asked(by_id) == 1
    wrong = house.ask("POST", "/i/send", data=form(by_id, before="", back="k" * 43))
    assert (wrong.status_code, aside in wrong.text) == (403, True)
    assert f"<details open><summary>{aside}" in wrong.text, "what is wrong is seen"
    people, link = stored(house)[0], f"{house.origin}/back#{given['key']}"
    mine = form(by_id, before="", back=link)
    for _ in range(2):
        assert house.ask("POST", "/i/send", data=mine).status_code == 200
    assert asked(later) == 1, "a page that no longer asked would say that somebody came by this id"
    assert house.ask("POST", "/i/send", data=form(later, before="")).status_code == 200
    assert stored(house)[0] == people
    assert len({account_of(house, secret) for secret in (given["secret"], by_id, later)}) == 1


def test_when_the_last_day_is_over_no_page_offers_a_form_that_would_be_refused(house):
    last = datetime.fromtimestamp(house.service.clock.now, UTC).date()
    campaign, everyone = (asking(house, answer_by=last.isoformat(), **more) for more in ({}, {"public": True}))
    used, fresh = house.ada.invite(campaign, 2)
    cookie = cookie_of(house.ask("POST", "/i/send", data=form(used)))
    before, came = house.service.clock.now, stored(house)
    house.service.clock.now = before - before % 86400 + 86400  # the first moment after that day
    try:
        late = {path: house.ask("POST", path, data={"secret": fresh}) for path in ("/i", "/i/look", "/i/answer")}
        shown = house.ask("GET", f"/c/{campaign}", cookie=cookie)
        again = house.ask("GET", f"/c/{campaign}/answer", cookie=cookie)
        strangers = [house.ask("GET", path).text for path in (f"/c/{everyone}", "/")]
        taken = house.ask("POST", f"/c/{campaign}/withdraw", cookie=cookie, data={"csrf": csrf_of(shown)})
    finally:
        house.service.clock.now = before
    for path, page in late.items():
        assert (page.status_code, "Too late" in page.text, "Begin" in page.text) == (200, True, False), path
        assert 'name="step"' not in page.text
    assert ("Send anew" in shown.text, "still take it back" in shown.text) == (False, True)
    assert again.headers["location"] == f"/c/{campaign}"
    assert ("Too late" in strangers[0], everyone in strangers[1]) == (True, False)
    assert taken.headers["location"] == f"/c/{campaign}?done=withdrawn"
    assert stored(house)[1:3] == (came[1] - 1, came[2] - 1)


def test_a_form_of_someone_here_that_is_sent_when_registration_is_closed_comes_back_with_why(house):
    campaign = asking(house)
    secrets = house.ada.invite(campaign, 11)
    cookie, *_ = [cookie_of(house.ask("POST", "/i/send", data=form(secret))) for secret in secrets]
    page = house.ask("GET", f"/c/{campaign}/answer", cookie=cookie)
    given = {**form("", a0="12", again="yes"), "csrf": csrf_of(page)}
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    late = house.ask("POST", f"/c/{campaign}/answer", cookie=cookie, data=given)
    assert (late.status_code, "Registration is closed" in late.text, 'value="12"' in late.text) == (409, True, True)
    assert house.ask("GET", f"/c/{campaign}/answer", cookie=cookie).headers["location"] == f"/c/{campaign}"
    declined = house.ask("POST", f"/c/{campaign}/answer", cookie=cookie, data={**given, "do": "decline"})
    assert "What you had sent is deleted" in declined.text
    assert "send it anew" not in declined.text, "registration is closed"
    assert exact_counts(house.service, campaign).declined == 1
    stranger = house.ask("POST", f"/c/{campaign}/answer", data=given)
    assert stranger.status_code == 404


def test_a_new_recovery_link_signs_out_the_device_that_was_lost_and_no_other_person(house):
    campaign = asking(house)
    mine, theirs = (form(secret) for secret in house.ada.invite(campaign, 2))
    lost, other = (cookie_of(house.ask("POST", "/i/send", data=given)) for given in (mine, theirs))
    found = cookie_of(house.ask("POST", "/back", data={"secret": mine["key"]}))
    csrf = csrf_of(house.ask("GET", "/me", cookie=found))
    made = house.ask("POST", "/me/recovery", cookie=found, data={"csrf": csrf})
    assert "every other device is signed out" in made.text
    assert [house.ask("GET", "/me", cookie=cookie).status_code for cookie in (lost, found, other)] == [303, 200, 200]
    again = house.ask("POST", "/i/send", cookie=lost, data=mine)
    assert (again.status_code, cookie_of(again)) == (403, None), "nor does the page that was sent from there lead back"
