"""Coming back by mail: a link that works once goes to an address that was left; nobody learns which addresses are known."""

import re
from dataclasses import replace

import pytest
from sqlalchemy import func, select, text
from test_web_lists import Post, wait_until
from test_web_one_visit import FIVE, cookie_of, csrf_of, form
from web_steps import KEY, PASSWORD, Clock, House, free_port

from optin.web.schema import accounts, addresses, links_asked, links_back
from optin.web.service.core import new_secret
from optin.web.service.jobs import work_once
from optin.web.service.mailer import Mailer
from optin.web.service.recovering import PAUSES, SECONDS, ask, erase_addresses, send_links

MINE, OTHERS = "Nurse.Marker@example.org", "nobody@example.org"


@pytest.fixture(scope="module")
def post_office():
    from aiosmtpd.controller import Controller

    post = Post()
    controller = Controller(post, hostname="127.0.0.1", port=free_port())
    controller.start()
    post.port = controller.port
    yield post
    controller.stop()


@pytest.fixture(scope="module")
def house(tmp_path_factory, post_office):
    folder = tmp_path_factory.mktemp("mail-back")
    house = House(f"sqlite:///{folder / 'web.sqlite'}", folder, key=KEY, clock=Clock())
    house.mail = Mailer("127.0.0.1", post_office.port, "optin@example.org", house.origin, security="none")
    with house as made:
        made.ada = made.analyst("ada")
        yield made


def asking(house):
    house.ada.sign_in("ada", PASSWORD)
    campaign = house.ada.draft(FIVE, quorum_people=10, sealed=True, window_hours=48.0).id
    house.ada.take(campaign, "open")
    return campaign


def sent(house, campaign=None):
    """Someone who sent their answers: the page, their cookie and their token."""
    page = house.ask("POST", "/i/send", data=form(house.ada.invite(campaign or asking(house), 1)[0]))
    return page, cookie_of(page), csrf_of(page)


def leave(house, address=MINE, campaign=None):
    _, cookie, csrf = sent(house, campaign)
    left = house.ask("POST", "/me/address", cookie=cookie, data={"csrf": csrf, "address": address})
    assert left.headers["location"] == "/me?done=address"
    return cookie, csrf


def counted(house, table):
    return house.service.read(lambda link: link.scalar(select(func.count()).select_from(table)))


def link_sent(house, post_office, address=MINE):
    """Ask for a link as someone whose phone is lost, and read it from the mail."""
    before = len(post_office.came)
    house.service.clock.now += 700  # nobody asked for long
    assert house.ask("POST", "/back/mail", data={"address": address}).status_code == 200
    wait_until(lambda: len(post_office.came) > before)
    return re.search(r"/back#(\S+)", post_office.came[-1][1].get_content())[1]


def forget_everyone(house):
    house.service.change(lambda link: [link.execute(table.delete()) for table in (addresses, links_back, links_asked)])


@pytest.fixture(autouse=True)
def _nobody_yet(house):
    forget_everyone(house)


def test_a_lost_phone_comes_back_by_a_link_that_works_once(house, post_office):
    mine, _ = leave(house)
    account = house.ask("GET", "/api/me", cookie=mine).json()["account"]
    secret = link_sent(house, post_office, MINE.upper())
    back = house.ask("POST", "/back", data={"secret": f"{house.origin}/back#{secret}"})
    assert back.headers["location"] == "/me?done=back"
    assert house.ask("GET", "/api/me", cookie=cookie_of(back)).json()["account"] == account
    again = house.ask("POST", "/back", data={"secret": secret})
    assert again.status_code == 403
    assert "was used" in again.text


def test_looking_at_a_link_from_a_mail_uses_nothing_up_and_an_hour_ends_it(house, post_office):
    leave(house)
    secret = link_sent(house, post_office)
    for method in ("HEAD", "GET"):
        house.ask(method, "/back", headers={"Purpose": "prefetch"})
    assert counted(house, links_back) == 1
    house.service.clock.now += SECONDS
    assert house.ask("POST", "/back", data={"secret": secret}).status_code == 403


def test_a_link_is_sent_in_the_language_of_whoever_asks_for_it(house, post_office):
    leave(house)
    for tag, subject in (("de", "Ihr Link"), ("en", "Your link")):
        before = len(post_office.came)
        house.service.clock.now += 700
        asked = house.ask("POST", "/back/mail", data={"address": MINE}, headers={"Accept-Language": tag})
        assert asked.status_code == 200
        wait_until(lambda: len(post_office.came) > before)  # noqa: B023 - it is over within the round
        assert post_office.came[-1][1]["Subject"] == subject


def test_a_mail_names_nobody_and_no_campaign_and_holds_no_key(house, post_office):
    page, cookie, csrf = sent(house)
    key = re.search(r"/back#([\w-]{43})", page.text)[1]
    house.ask("POST", "/me/address", cookie=cookie, data={"csrf": csrf, "address": MINE})
    link_sent(house, post_office)
    mail = post_office.came[-1][1]
    for word in (key, "Breaks", "council", "limit", "answer"):
        assert word.lower() not in mail.as_string().lower(), word
    assert (mail["Subject"], mail["List-Unsubscribe"]) == ("Your link", None)
    assert mail["Date"].datetime.tzinfo is not None, "without a date a mail is refused, or taken for unwanted"


def test_a_known_address_and_an_unknown_one_are_told_the_same_after_the_same_work(house, post_office):
    leave(house)
    house.service.clock.now += 700
    worked = []
    from sqlalchemy import event

    def note(connection, cursor, statement, parameters, context, many):
        import threading

        if threading.current_thread().name != "optin-jobs":
            worked.append(statement)

    event.listen(house.service.ledger.engine, "before_cursor_execute", note)
    told = []
    for address in (MINE, OTHERS):
        worked.clear()
        answer = house.ask("POST", "/back/mail", data={"address": address})
        told.append((answer.status_code, answer.text, list(worked)))
    event.remove(house.service.ledger.engine, "before_cursor_execute", note)
    assert told[0] == told[1]
    assert told[0][0] == 200
    wait_until(lambda: counted(house, links_asked) == 0)
    assert [to for to, _ in post_office.came[-1:]] == [[MINE]]


def test_asking_many_times_waits_alike_for_known_and_unknown_addresses(house):
    known, unknown = "often@example.org", "never@example.org"
    leave(house, known)
    told = []
    for address in (known, unknown):
        told.append([house.ask("POST", "/back/mail", data={"address": address}).status_code for _ in range(5)])
    assert told[0] == told[1] == [200, 200, 200, 429, 429]


def test_an_address_is_stored_nowhere_but_under_a_keyed_hash_and_goes_with_the_last_campaign(house):
    one, two = asking(house), asking(house)
    cookie, csrf = leave(house, campaign=one)
    second = house.ada.invite(two, 1)[0]
    assert house.ask("POST", "/i/send", cookie=cookie, data=form(second, csrf=csrf)).status_code == 200
    for file in house.folder.rglob("*"):
        assert file.is_dir() or b"nurse.marker" not in file.read_bytes().lower(), file.name
    house.ada.take(one, "cancel")
    erase_addresses(house.service)
    assert counted(house, addresses) == 1, "one of their campaigns goes on"
    house.ada.take(two, "cancel")
    erase_addresses(house.service)
    assert counted(house, addresses) == 0


def test_who_forgets_an_address_or_leaves_is_found_by_it_no_more(house, post_office):
    cookie, csrf = leave(house)
    secret = link_sent(house, post_office)
    assert "Forget my address" in house.ask("GET", "/me", cookie=cookie).text
    assert house.ask("GET", "/api/me/export", cookie=cookie).json()["address"] == "under a keyed hash"
    house.ask("POST", "/me/address", cookie=cookie, data={"csrf": csrf, "do": "forget"})
    assert house.ask("POST", "/back", data={"secret": secret}).status_code == 403, "nor by a link on its way"
    assert counted(house, addresses) == 0
    cookie, csrf = leave(house)
    house.ask("POST", "/me/leave", cookie=cookie, data={"csrf": csrf, "sure": "yes"})
    assert counted(house, addresses) == 0


def test_an_address_that_two_people_share_gets_a_link_for_each(house, post_office):
    leave(house)
    leave(house)
    link_sent(house, post_office)
    secrets = re.findall(r"/back#(\S+)", post_office.came[-1][1].get_content())
    found = [house.ask("POST", "/back", data={"secret": secret}) for secret in secrets]
    accounts = {house.ask("GET", "/api/me", cookie=cookie_of(one)).json()["account"] for one in found}
    assert len(accounts) == len(secrets) == 2


def test_whoever_answers_a_second_campaign_may_show_a_link_from_a_mail(house, post_office):
    mine, _ = leave(house)
    account = house.ask("GET", "/api/me", cookie=mine).json()["account"]
    secret, invitation = link_sent(house, post_office), house.ada.invite(asking(house), 1)[0]
    wrong = house.ask("POST", "/i/send", data=form(invitation, before="yes", back=secret, step="99"))
    assert wrong.status_code == 422, "what was refused has used nothing up"
    again = house.ask("POST", "/i/send", data=form(invitation, before="yes", back=secret))
    assert again.status_code == 200
    assert house.ask("GET", "/api/me", cookie=cookie_of(again)).json()["account"] == account


def test_a_page_with_a_link_from_a_mail_that_was_lost_on_its_way_is_sent_again(house, post_office):
    mine, _ = leave(house)
    account = house.ask("GET", "/api/me", cookie=mine).json()["account"]
    given = form(house.ada.invite(asking(house), 1)[0], before="yes", back=link_sent(house, post_office))
    persons = counted(house, accounts)
    for _ in range(2):
        sent = house.ask("POST", "/i/send", data=given)
        assert (sent.status_code, counted(house, accounts)) == (200, persons)
        assert house.ask("GET", "/api/me", cookie=cookie_of(sent)).json()["account"] == account
    elsewhere = {**given, "secret": house.ada.invite(asking(house), 1)[0], "key": new_secret()}
    assert house.ask("POST", "/i/send", data=elsewhere).status_code == 403, "the link itself worked once"


def test_a_server_for_mail_that_is_away_is_asked_again_and_then_given_up(house):
    leave(house)
    house.service.clock.now += 700
    away = replace(house.service, mail=replace(house.mail, port=free_port()))
    ask(away, MINE, place="x")
    for pause in (*PAUSES, 0):
        send_links(away)
        house.service.clock.now += pause
    assert counted(house, links_asked) == 0


@pytest.mark.parametrize("address", ["", "nurse", "a@b\nBcc: c@d", "x" * 250 + "@example.org", "a@b, c@d"])
def test_what_cannot_be_written_to_is_refused_and_not_repeated(house, address):
    _, cookie, csrf = sent(house)
    kept = house.ask("POST", "/me/address", cookie=cookie, data={"csrf": csrf, "address": address})
    asked = house.ask("POST", "/back/mail", data={"address": address})
    assert (kept.status_code, asked.status_code) == (422, 422)
    assert counted(house, addresses) == counted(house, links_asked) == 0


def test_the_way_back_by_mail_as_nobody_a_stranger_another_person_and_an_analyst(house, post_office):
    """Only the whole account may leave an address: not who came in by an id alone, nor on a shared device."""
    one, two = asking(house), asking(house)
    first, second = house.ada.invite(one, ids=["nurse 7"])[0], house.ada.invite(two, ids=["nurse 7"])[0]
    house.ask("POST", "/i/send", data=form(first))
    part = house.ask("POST", "/i/send", data=form(second))
    shared = house.ask("POST", "/i/send", data=form(house.ada.invite(one, 1)[0], shared="yes"))
    assert "/me/address" not in part.text + shared.text
    other = house.person()
    visitors = {
        "nobody": (None, "", 303),
        "by an id alone": (cookie_of(part), csrf_of(house.ask("GET", f"/c/{two}", cookie=cookie_of(part))), 401),
        "analyst": (house.ada._cookie, house.ada._csrf, 404),
        "without the token": (other._cookie, "x", 403),
        "another person": (other._cookie, other._csrf, 303),
    }
    for who, (cookie, csrf, status) in visitors.items():
        answer = house.ask("POST", "/me/address", cookie=cookie, data={"csrf": csrf, "address": OTHERS})
        assert answer.status_code == status, who
        assert counted(house, addresses) == (1 if who == "another person" else 0), who


def test_without_a_server_for_mail_no_page_offers_it(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY, clock=Clock()) as house:
        house.ada = house.analyst("ada")
        page, cookie, csrf = sent(house)
        shown = page.text + house.ask("GET", "/back").text + house.ask("GET", "/me", cookie=cookie).text
        assert "by mail" not in shown.lower().replace("asked for it by mail", "")
        refused = house.ask("POST", "/me/address", cookie=cookie, data={"csrf": csrf, "address": MINE})
        assert refused.status_code == 409
        assert house.ask("POST", "/back/mail", data={"address": MINE}).status_code == 404


def test_no_address_stands_in_a_log_or_in_the_events(house, post_office, caplog):
    leave(house)
    link_sent(house, post_office)
    assert "nurse.marker" not in caplog.text.lower()
    events = house.service.read(lambda link: str(link.execute(text("SELECT * FROM web_events")).all()))
    assert "nurse.marker" not in events.lower()


def test_what_was_typed_under_another_key_keeps_nobody_waiting(house, post_office):
    """The service's key was lost, and another made as the docs say: what nobody can read any more is forgotten."""
    leave(house, "waiting@example.org")
    post_office.came.clear()
    lost = {"id": "0" * 32, "sealed": b"sealed under a key that was lost", "tries": 0, "next_at": 0.0}
    house.service.change(lambda link: link.execute(links_asked.insert().values(lost)))
    ask(house.service, "waiting@example.org", place="192.0.2.44")
    send_links(house.service)
    wait_until(lambda: post_office.came)
    assert house.service.read(lambda link: link.scalar(select(func.count()).select_from(links_asked))) == 0


def test_an_address_that_was_typed_is_erased_where_no_mail_leaves_any_more(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY, clock=Clock()) as made:
        now = made.service.clock()
        typed = {"sealed": b"typed", "tries": 0}
        rows = [
            {"id": "1" * 32, "next_at": now - 10, **typed},
            {"id": "2" * 32, "next_at": now - SECONDS - 10, **typed},
        ]
        made.service.change(lambda link: link.execute(links_asked.insert(), rows))
        assert work_once(made.service)
        left = made.service.read(lambda link: link.scalars(select(links_asked.c.id)).all())
    assert left == ["1" * 32]
