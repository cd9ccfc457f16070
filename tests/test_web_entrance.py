"""Coming in: one-time links, passwords that wait, cookies that change, forms that prove where they come from."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update
from web_steps import PASSWORD, House, exact_counts

from optin.errors import BadInput
from optin.ledger import Ledger
from optin.web.schema import delays, invitations
from optin.web.schema import sessions as stored
from optin.web.service import accounts, sessions
from optin.web.service.accounts import first_analyst_secret
from optin.web.service.core import Service, hashed
from optin.web.service.delays import wait_your_turn
from optin.web.service.failures import Refused, TooSoon
from optin.web.service.jobs import work_once
from optin.web.service.keys import Keyring
from optin.web.service.passwords import door_for


class Clock:
    """A clock that tests turn."""

    def __init__(self):
        self.now = 1.8e9

    def __call__(self):
        return self.now


pytestmark = pytest.mark.xdist_group("entrance")  # they share one house


@pytest.fixture(scope="module")
def clock():
    return Clock()


@pytest.fixture(scope="module")
def house(tmp_path_factory, clock):
    folder = tmp_path_factory.mktemp("house")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, clock=clock) as opened:
        opened.owner = opened.analyst()
        yield opened


def test_a_one_time_link_makes_one_analyst_and_then_nobody(house):
    secret = house.owner.invite_analyst()
    house.client().become_analyst(secret, "bob", PASSWORD)
    for wrong in (secret, "x" * 43):
        with pytest.raises(BadInput, match="used before"):
            house.client().become_analyst(wrong, "carl", PASSWORD)


def test_an_invitation_of_an_analyst_is_good_for_a_week_and_then_forgotten(tmp_path, url):
    now = [1.8e9]
    with House(url, tmp_path, clock=lambda: now[0]) as late:
        ada = late.analyst()
        first, second, unused = (ada.invite_analyst() for _ in range(3))
        marks = select(invitations.c.secret).where(invitations.c.kind == "analyst", invitations.c.used_at.is_(None))
        now[0] += 7 * 86400 - 1
        late.client().become_analyst(first, "bob", PASSWORD)
        assert work_once(late.service)
        assert hashed(unused) in late.service.read(lambda link: link.scalars(marks).all())
        now[0] += 1
        with pytest.raises(BadInput, match="older than a week"):
            late.client().become_analyst(second, "carl", PASSWORD)
        for _ in range(2):
            assert work_once(late.service)
        assert late.service.read(lambda link: link.scalars(marks).all()) == []


def test_how_long_a_link_is_good_is_said_where_it_is_made_and_where_it_is_used(house):
    form, cookie = {"csrf": house.owner._csrf}, house.owner._cookie
    for path in ("/a/colleague", "/admin/invite"):
        assert "within a week" in house.ask("POST", path, cookie=cookie, data=form).text, path
    reset = house.ask("POST", "/admin/reset", cookie=cookie, data={**form, "name": "ada"})
    assert "within a day" in reset.text
    assert "within a week" in house.ask("GET", "/setup").text


def test_the_first_link_is_replaced_until_it_is_used_and_never_made_again(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as empty:
        old, new = first_analyst_secret(empty.service), first_analyst_secret(empty.service)
        with pytest.raises(BadInput):
            empty.client().become_analyst(old, "ada", PASSWORD)
        empty.client().become_analyst(new, "ada", PASSWORD)
        assert first_analyst_secret(empty.service) is None


@pytest.mark.parametrize(("name", "password"), [("ada", PASSWORD), ("", PASSWORD), (" x", PASSWORD), ("z", "short")])
def test_a_taken_name_a_blank_one_and_a_short_password_are_refused_and_the_link_stays_good(house, name, password):
    secret = house.owner.invite_analyst()
    with pytest.raises(BadInput):
        house.client().become_analyst(secret, name, password)
    house.client().become_analyst(secret, f"good {secret[:8]}", PASSWORD)


def tried(house, name, address, times):
    """Count tries as signing in does, without the hash that makes each take long."""
    _, _, tries = door_for(house.service, name, address=address, browser=None)
    for _ in range(times):
        house.service.change(lambda link: wait_your_turn(house.service, link, [tries], words=""))


def test_wrong_passwords_make_the_next_try_wait_longer_but_never_for_ever(house, clock):
    tried(house, "ada", "1.2.3.4", 28)
    waits = []
    for _ in range(9):
        with pytest.raises(Refused, match="name or password is wrong"):
            accounts.sign_in(house.service, "ada", "wrong password", address="1.2.3.4")
        if not waits:  # many slips cost nothing
            waits.append(0)
            continue
        with pytest.raises(TooSoon) as caught:
            accounts.sign_in(house.service, "ada", PASSWORD, address="1.2.3.4")
        waits.append(caught.value.seconds)
        clock.now += caught.value.seconds
    assert waits == [0, 2, 3, 5, 9, 17, 33, 61, 61]
    assert accounts.sign_in(house.service, "ada", PASSWORD, address="1.2.3.4").visitor.name == "ada"


def test_whoever_fails_elsewhere_or_for_another_name_does_not_keep_the_owner_out(house):
    tried(house, "ada", "6.6.6.6", 30)
    for at in range(5):
        tried(house, f"made up {at}", "7.7.7.7", 30)
    with pytest.raises(TooSoon):
        accounts.sign_in(house.service, "ada", PASSWORD, address="6.6.6.6")
    assert accounts.sign_in(house.service, "ada", PASSWORD, address="7.7.7.7").token


def test_a_colleague_at_the_same_address_does_not_keep_a_known_browser_out(house):
    mark = accounts.sign_in(house.service, "ada", PASSWORD, address="9.9.9.9").browser
    tried(house, "ada", "9.9.9.9", 30)
    with pytest.raises(TooSoon):
        accounts.sign_in(house.service, "ada", PASSWORD, address="9.9.9.9")
    assert accounts.sign_in(house.service, "ada", PASSWORD, address="9.9.9.9", browser=mark).token
    bob = accounts.create_analyst(house.service, house.owner.invite_analyst(), "bob at 9", PASSWORD)
    for wrong in (bob.browser, "x.y", "", mark[:-1], "\ud800.\ud800"):  # anyone else's mark counts for nothing
        with pytest.raises(TooSoon):
            accounts.sign_in(house.service, "ada", PASSWORD, address="9.9.9.9", browser=wrong)


def test_a_known_browser_lets_nobody_in_and_has_to_wait_like_others(house):
    mark = accounts.sign_in(house.service, "ada", PASSWORD, address="9.9.9.8").browser
    for _ in range(10):
        with pytest.raises(Refused):
            accounts.sign_in(house.service, "ada", "wrong password", address="9.9.9.8", browser=mark)
    with pytest.raises(TooSoon):
        accounts.sign_in(house.service, "ada", PASSWORD, address="9.9.9.8", browser=mark)
    assert house.ask("GET", "/api/session", headers={"Cookie": f"__Host-optin-browser={mark}"}).status_code == 401


def test_a_browser_and_the_client_are_known_after_signing_in(house):
    form = {"name": "ada", "password": PASSWORD}
    page = house.ask("POST", "/login", data=form)
    given = next(value for value in page.headers.get_list("set-cookie") if "browser" in value)
    kept = re.fullmatch(
        r"(__Host-optin-browser=\w{32}\.\w{64}); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=31536000", given
    )
    tried(house, "ada", "127.0.0.1", 30)
    assert house.ask("POST", "/login", data=form).status_code == 429
    assert house.ask("POST", "/login", data=form, headers={"Cookie": kept[1]}).status_code == 303
    house.owner.sign_in("ada", PASSWORD)  # it became an analyst with this client
    with pytest.raises(BadInput, match="too many tries"):
        house.client().sign_in("ada", PASSWORD)


def test_too_soon_says_when_to_try_again(house):
    tried(house, "nobody", "127.0.0.1", 30)
    answer = house.ask("POST", "/api/session", json={"name": "nobody", "password": "x"})
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 61


def test_a_class_opens_its_accounts_at_once_and_a_flood_from_one_place_slows_down(house, clock):
    for _ in range(60):
        accounts.sign_up(house.service, address="5.5.5.5")
    waits = []
    for _ in range(6):
        with pytest.raises(TooSoon, match="many accounts were opened from where you are; wait") as caught:
            accounts.sign_up(house.service, address="5.5.5.5")
        waits.append(caught.value.seconds)
        clock.now += caught.value.seconds
        accounts.sign_up(house.service, address="5.5.5.5")
    assert waits == [2, 3, 5, 9, 11, 11]
    assert accounts.sign_up(house.service, address="5.5.5.6").key
    clock.now += 3700
    for _ in range(60):
        accounts.sign_up(house.service, address="5.5.5.5")


def test_a_class_that_comes_at_the_same_moment_does_not_wait_on_either_database(url, tmp_path):
    service = Service(Ledger.open(url), Keyring(tmp_path / "keys", b"k" * 32))
    with ThreadPoolExecutor(12) as class_:
        list(class_.map(lambda _: accounts.sign_up(service, address="192.0.2.7"), range(60)))
    with pytest.raises(TooSoon):
        accounts.sign_up(service, address="192.0.2.7")
    accounts.sign_up(service, address="::ffff:192.0.2.8")
    service.ledger.close()


def test_the_addresses_of_one_household_wait_together(house):
    for host in range(60):
        accounts.sign_up(house.service, address=f"2001:db8::{host:x}")
    with pytest.raises(TooSoon):
        accounts.sign_up(house.service, address="2001:db8::ffff:1")
    assert accounts.sign_up(house.service, address="2001:db8:0:1::1").key


def test_whoever_is_told_to_wait_is_told_on_the_page_and_an_invitation_never_waits(house, clock):
    campaign = house.owner.draft(title="t", question="q", bounds=(0, 1)).id
    invitations = house.owner.invite(campaign, 2)
    for _ in range(61):
        answer = house.ask("POST", "/api/people")
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 11
    page = house.ask("POST", "/sign-up", data={"campaign": campaign})
    assert (page.status_code, "Many accounts were opened" in page.text, campaign in page.text) == (429, True, True)
    assert [house.client().enter(secret).campaign for secret in invitations] == [campaign] * 2
    clock.now += 3700  # the others, who share this house, are strangers again


def test_of_addresses_the_store_keeps_only_keyed_hashes(house):
    accounts.sign_up(house.service, address="203.0.113.77")
    rows = house.service.read(lambda link: link.execute(select(delays.c.key)).scalars().all())
    assert house.service.keys.digest("delay", hashed("sign up:203.0.113.77")) in rows
    assert hashed("sign up:203.0.113.77") not in rows


def test_unknown_names_and_wrong_passwords_look_alike(house):
    with pytest.raises(Refused, match="name or password is wrong"):
        accounts.sign_in(house.service, "no such \x00 analyst", PASSWORD, address="8.8.8.8")


def test_an_invitation_works_once_and_gives_a_key_that_works_always(house):
    campaign = house.owner.draft(title="t", question="q", bounds=(0, 1)).id
    (secret,) = house.owner.invite(campaign, 1)
    first = house.client().enter(secret)
    assert first.campaign == campaign
    with pytest.raises(BadInput, match="used before"):
        house.client().enter(secret)
    assert [house.client().enter(first.key).account for _ in range(2)] == [first.account] * 2
    assert exact_counts(house.service, campaign).redeemed == 1


def test_whoever_is_here_keeps_their_account_when_invited_again(house):
    campaign = house.owner.draft(title="t", question="q", bounds=(0, 1)).id
    person = house.client()
    account = person.sign_up().account
    entered = person.enter(house.owner.invite(campaign, 1)[0])
    assert (entered.account, entered.key) == (account, None)
    house.owner.take(campaign, "open")
    assert person.register(campaign, 2).stated == 2


def test_a_campaign_by_invitation_takes_nobody_else(house):
    campaign = house.owner.draft(title="t", question="q", bounds=(0, 1)).id
    house.owner.take(campaign, "open")
    with pytest.raises(BadInput, match="nothing here"):
        house.person().register(campaign, 2)


def test_the_cookie_belongs_to_this_host_alone_and_scripts_do_not_see_it(house):
    given = house.ask("POST", "/api/people").headers["set-cookie"]
    assert re.fullmatch(r"__Host-optin=[\w-]{43}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000", given)


def test_a_cookie_changes_as_it_is_used_and_the_old_one_soon_counts_no_more(house, clock):
    entered = accounts.sign_up(house.service, address="here")
    old = entered.ticket.token
    clock.now += sessions.ROTATE_AFTER + 1
    answer = house.ask("GET", "/api/session", cookie=old)
    new = re.match(r"__Host-optin=([^;]+)", answer.headers["set-cookie"])[1]
    assert new != old
    assert "set-cookie" not in house.ask("GET", "/api/session", cookie=new).headers
    assert house.ask("GET", "/api/session", cookie=old).status_code == 200, "a request that was on its way"
    clock.now += sessions.GRACE + 1
    assert house.ask("GET", "/api/session", cookie=old).status_code == 401
    assert house.ask("GET", "/api/session", cookie=new).status_code == 401, "someone had a copy: both are out"


def test_a_lost_answer_to_a_changed_cookie_does_not_end_a_visit(house, clock):
    old = accounts.sign_up(house.service, address="here").ticket.token
    clock.now += sessions.ROTATE_AFTER + 1
    lost = {sessions.find(house.service, old).token for _ in range(2)}  # two requests at once: one and the same cookie
    clock.now += sessions.LOST - 1
    answer = house.ask("GET", "/api/session", cookie=old)
    new = re.match(r"__Host-optin=([^;]+)", answer.headers["set-cookie"])[1]
    assert lost == {new}
    assert "set-cookie" not in house.ask("GET", "/api/session", cookie=new).headers
    assert house.ask("GET", "/api/session", cookie=old).status_code == 200, "a request that was on its way"
    clock.now += sessions.GRACE + 1
    assert house.ask("GET", "/api/session", cookie=old).status_code == 401
    assert house.ask("GET", "/api/session", cookie=new).status_code == 401, "someone had a copy: both are out"


def test_a_copied_cookie_is_found_out_also_when_its_thief_was_first(house, clock):
    old = accounts.sign_up(house.service, address="here").ticket.token
    clock.now += sessions.ROTATE_AFTER + 1
    thief = sessions.find(house.service, old).token  # the owner's answer was lost, and someone copied the old cookie
    assert sessions.find(house.service, thief)
    clock.now += sessions.GRACE + 1
    assert sessions.find(house.service, old) is None
    assert sessions.find(house.service, thief) is None


def test_an_old_cookie_ends_the_visit_a_day_after_it_was_replaced_whether_or_not_the_next_one_was_used(house, clock):
    old = accounts.sign_up(house.service, address="here").ticket.token
    clock.now += sessions.ROTATE_AFTER + 1
    new = sessions.find(house.service, old).token  # its owner has the next one, and closed the page
    clock.now += sessions.LOST + 1
    assert house.ask("GET", "/api/session", cookie=old).status_code == 401, "whoever comes with it now has a copy"
    assert house.ask("GET", "/api/session", cookie=new).status_code == 401, "and its owner is told to sign in again"


def test_a_new_cookie_is_good_however_late_it_is_first_used(house, clock):
    old = accounts.sign_up(house.service, address="here").ticket.token
    clock.now += sessions.ROTATE_AFTER + 1
    new = sessions.find(house.service, old).token
    clock.now += 20 * 86400
    assert sessions.find(house.service, new)


def test_a_visit_from_before_cookies_were_derived_goes_on(house, clock):
    ticket = accounts.sign_up(house.service, address="here").ticket
    new, now = "a random cookie of an earlier version", clock.now
    row = {"token": hashed(new), "previous": hashed(ticket.token), "rotated_at": now}
    house.service.change(
        lambda link: link.execute(update(stored).where(stored.c.id == ticket.visitor.session).values(row))
    )
    assert sessions.find(house.service, ticket.token) == sessions.Ticket(None, ticket.visitor)
    assert sessions.find(house.service, new)
    clock.now += sessions.GRACE + 1
    assert sessions.find(house.service, ticket.token) is None


def test_the_token_of_a_page_outlives_the_cookie_that_brought_it(house, clock):
    ticket = accounts.sign_up(house.service, address="here").ticket
    clock.now += sessions.ROTATE_AFTER + 1
    headers = {"X-CSRF-Token": ticket.visitor.csrf}
    assert house.ask("PUT", "/api/me/allowance", cookie=ticket.token, json={"epsilon": 1}, headers=headers).is_success


def test_sessions_end_with_time_and_with_signing_out(house, clock):
    person = house.person()
    person.sign_out()
    with pytest.raises(BadInput, match="sign in first"):
        person.me()
    ticket = accounts.sign_up(house.service, address="here").ticket
    clock.now += sessions.LIFETIME["person"] + 1
    assert sessions.find(house.service, ticket.token) is None


@pytest.mark.parametrize("token", [None, "", "0" * 64])
def test_a_change_without_the_pages_token_is_refused(house, token):
    ticket = accounts.sign_up(house.service, address="here").ticket
    headers = {} if token is None else {"X-CSRF-Token": token}
    answer = house.ask("PUT", "/api/me/allowance", cookie=ticket.token, json={"epsilon": 1}, headers=headers)
    assert (answer.status_code, "token" in answer.json()["error"]) == (403, True)


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
def test_a_change_asked_for_by_another_site_is_refused_even_with_the_token(house, origin):
    ticket = accounts.sign_up(house.service, address="here").ticket
    headers = {"Origin": origin, "X-CSRF-Token": ticket.visitor.csrf}
    answer = house.ask("PUT", "/api/me/allowance", cookie=ticket.token, json={"epsilon": 1}, headers=headers)
    assert (answer.status_code, "Origin" in answer.json()["error"]) == (403, True)


def test_a_name_that_is_not_ours_is_refused(house):
    answer = house.ask("GET", "/api/ladder", headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert house.ask("GET", "/health", headers={"Host": "10.0.0.7:80"}).status_code == 200


def test_every_answer_carries_the_security_headers(house):
    for path in ("/api/ladder", "/api/nothing", "/health", "/"):
        headers = house.ask("GET", path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers


def test_a_body_that_is_too_long_is_refused_whether_or_not_it_says_how_long_it_is(house):
    assert house.ask("POST", "/api/entry", content=b"x" * 70_000).status_code == 413

    def dripping():
        for _ in range(70):
            yield b"x" * 1000

    assert house.ask("POST", "/api/entry", content=dripping()).status_code == 413


def test_what_cannot_be_read_is_refused_without_repeating_it(house):
    for body in (
        b'{"secret": 7731024}',
        b'{"secret-7731024": 1}',
        b"{7731024",
        b'"7731024"',
        b'{"secret": NaN7731024}',
    ):
        answer = house.ask("POST", "/api/entry", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert "7731024" not in answer.text


def test_health_and_readiness_answer_without_a_visitor(house):
    assert [house.ask("GET", path).json() for path in ("/health", "/ready")] == [{"status": "ok"}] * 2


def test_a_service_that_is_gone_is_told_as_such_by_the_client():
    from optin import Client, LedgerUnavailable

    with Client("http://127.0.0.1:9") as client, pytest.raises(LedgerUnavailable, match="cannot be reached"):
        client.ladder()
    with pytest.raises(BadInput, match="address"):
        Client("127.0.0.1")
