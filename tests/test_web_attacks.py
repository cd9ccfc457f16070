"""What someone with bad intentions tries on the service, and what it comes to."""

import shutil
import threading
import time

import pytest
from sqlalchemy import select
from web_steps import DRAFT, PASSWORD, House, answering, exact_counts, opened_acts, registered, released

from optin.errors import BadInput, LedgerUnavailable, PromiseBroken
from optin.web.guards import HEADERS
from optin.web.schema import invitations
from optin.web.service import accounts
from optin.web.service.failures import Refused, TooSoon
from optin.web.settings import WebSettings, own_origins


@pytest.fixture
def house(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as opened:
        yield opened


# --- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [b'{"name":' + b"9" * 5000 + b"}", b"[" * 30000 + b"]" * 30000, b'{"name":"\xff"}', b'{"name":"\\ud800"}']
)
def test_a_body_that_no_reader_can_read_is_refused_with_a_documented_status(house, body):
    answer = house.ask("POST", "/api/session", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("charset", ["utf-7", "unicode_escape", "undefined"])
def test_a_form_in_an_encoding_of_the_senders_choice_is_not_read(house, charset):
    part = 'Content-Disposition: form-data; name="name"\r\n\r\n'
    body = f"--x\r\n{part}\\ud800+2AA-\r\n--x--\r\n".encode()
    kind = {"content-type": f"multipart/form-data; boundary=x; charset={charset}"}
    assert house.ask("POST", "/login", content=body, headers=kind).status_code == 403


def test_even_a_failure_that_nobody_foresaw_carries_the_security_headers(house, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a marker that nobody may see")

    monkeypatch.setattr("optin.web.service.people.open_campaigns", broken)
    for path in ("/api/open", "/"):
        answer = house.ask("GET", path)
        assert answer.status_code == 500
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert answer.headers["cache-control"] == "no-store"
        assert "marker" not in answer.text


def test_asking_what_if_everyone_declined_is_refused_and_nothing_breaks(house):
    analyst, crowd = house.analyst(), house.people(12)
    campaign = registered(analyst, crowd)
    analyst.take(campaign, "close-registration")
    with pytest.raises(BadInput, match="nobody is left"):
        analyst.what_if(campaign, decline_share=0.999)
    assert analyst.what_if(campaign, decline_share=0.9).people == 1
    page = house.ask("GET", f"/a/c/{campaign}/what-if?decline=99", cookie=analyst._cookie)
    assert (page.status_code, "obody is left" in page.text) == (200, True)


# --- passwords --------------------------------------------------------------------------------------------------------


def test_many_tries_at_once_are_no_more_than_a_few_tries(url, tmp_path, monkeypatch):
    """No password is looked at before nine of the twelve tries were refused: they are truly at once."""
    ended, looks = [], accounts.matches_behind_others

    def look(password, stored):
        for _ in range(3000):  # a door that lets too many in fails the test, and does not stop it
            if ended.count(TooSoon) >= 9:
                break
            time.sleep(0.01)
        return looks(password, stored)

    with House(url, tmp_path, clock=lambda: 1e9) as house:
        house.analyst()
        monkeypatch.setattr(accounts, "matches_behind_others", look)

        def guess(at):
            try:
                accounts.sign_in(house.service, "ada", f"guess {at}", address="10.0.0.1")
            except (Refused, TooSoon) as refusal:
                ended.append(type(refusal))

        threads = [threading.Thread(target=guess, args=(at,)) for at in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (ended.count(Refused), ended.count(TooSoon)) == (3, 9)
        monkeypatch.undo()
        assert accounts.sign_in(house.service, "ada", PASSWORD, address="10.0.0.2").token


@pytest.mark.parametrize(
    "origin", ["http://example.org", "https://example.org/path", "example.org", "https://a@example.org", "https://"]
)
def test_an_origin_that_no_browser_sends_or_that_is_not_secret_on_its_way_is_refused(origin):
    with pytest.raises(BadInput, match="OPTIN_WEB_ORIGIN"):
        own_origins(WebSettings(host="0.0.0.0", origin=origin))
    assert own_origins(WebSettings(origin="https://Example.org/")) == {"https://example.org"}


# --- what analysts could work out -------------------------------------------------------------------------------------


def test_nobody_vanishes_from_the_cells_once_they_are_shown(house):
    analyst, crowd = house.analyst(), house.people(22)
    campaign = registered(analyst, crowd, steps=[3] * 11 + [5] * 11)
    analyst.take(campaign, "close-registration")
    before = analyst.cells(campaign)
    crowd[0].withdraw(campaign)
    crowd[21].leave()
    assert analyst.cells(campaign) == before
    assert exact_counts(house.service, campaign).declined == 2
    for step in ("announce", "open-answers"):
        analyst.take(campaign, step)
    assert analyst.campaign(campaign).announcement.people == 22
    crowd[0].join(campaign, 5.0)  # a mind can be changed until answers close


def test_what_one_person_has_left_cannot_be_read_off_the_announced_sums(house):
    analyst, crowd = house.analyst(), house.people(40)
    released(analyst, [crowd[0], *house.people(9)], steps=[3] * 10)
    crowd[0].lower_allowance(0.1371)
    left = crowd[0].me().remaining
    campaign = answering(analyst, crowd, steps=[3 + at % 4 for at in range(40)])
    offer, cells = opened_acts(house.service.ledger, campaign)[0], analyst.cells(campaign)
    assert analyst.campaign(campaign).announcement.sealed is None
    stated = sum(int(min(cell.low, offer.cap) * 2**32) * cell.people for cell in cells)
    rest = 0.1 - (stated - offer.sealed.total_grains) / 2**32
    assert left == pytest.approx(0.0371, abs=1e-6)
    assert rest == pytest.approx(0.02, abs=1e-6)
    crowd[0].join(campaign, 5.0)
    for person in crowd[1:]:
        person.join(campaign, 6.0)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    assert crowd[0].receipt(campaign).spent <= 0.02 * 2**32


@pytest.mark.parametrize(
    ("base", "words"), [(5.0, "too few people are promised"), (0.3, "too few people would gain from joining")]
)
def test_a_plan_that_asks_more_than_most_have_left_fails_without_saying_of_whom_or_how_many(house, base, words):
    analyst, crowd = house.analyst(), house.people(24)
    for person in crowd[:17]:
        person.raise_allowance(1e-6)
    terms = {"model": "quasi-linear", "benefit_base": base, "data_sd": 1.0}
    campaign = registered(analyst, crowd, steps=[2] * 24, **terms)
    analyst.take(campaign, "close-registration")
    with pytest.raises(PromiseBroken, match=words) as caught:
        analyst.take(campaign, "announce")
    told = str(caught.value) + " ".join(line.words for line in analyst.log(campaign) if line.kind != "cells")
    assert not [part for part in ("index", "24", "17", " 7 ", "left", "allow") if part in told]


@pytest.mark.parametrize("others", [0, 2], ids=["alone", "beside people who are left out"])
def test_people_whom_nothing_costs_are_not_promised_an_exact_result(house, others):
    analyst, crowd = house.analyst(), house.people(12 + others)
    for person in crowd[12:]:
        person.raise_allowance(1e-6)
    steps = [0] * 12 + [5] * others
    campaign = registered(analyst, crowd, steps=steps, model="quasi-linear", benefit_base=5.0, data_sd=1.0)
    analyst.take(campaign, "close-registration")
    with pytest.raises(PromiseBroken, match="which this service does not publish"):
        analyst.take(campaign, "announce")
    assert crowd[0].me().promised == 0.0


def test_a_key_sent_as_a_link_is_refused_and_a_pasted_one_is_met_with_a_warning(house):
    key = house.client().sign_up().key  # made by whoever sends it
    sent = house.ask("POST", "/i", data={"secret": key, "by": "link"})
    assert (sent.status_code, "set-cookie" in sent.headers) == (403, False)
    assert "holds the key of an account" in sent.text
    pasted = house.ask("POST", "/i", data={"secret": key, "by": "hand"})
    assert pasted.headers["location"] == "/me?done=key"
    cookie = pasted.headers["set-cookie"].partition(";")[0].partition("=")[2]
    assert "ask them for an invitation" in house.ask("GET", "/me?done=key", cookie=cookie).text


def test_which_invitation_led_to_an_account_is_forgotten_when_its_owner_leaves(house):
    analyst, person = house.analyst(), house.client()
    campaign = analyst.draft(**{**DRAFT, "public": False}).id
    analyst.take(campaign, "open")
    account = person.enter(analyst.invite(campaign, 1)[0]).account
    tied = select(invitations.c.secret).where(invitations.c.account == account)
    assert house.service.read(lambda link: link.execute(tied).all())
    person.leave()
    assert not house.service.read(lambda link: link.execute(tied).all())
    assert exact_counts(house.service, campaign).redeemed == 1


def test_a_sealed_answer_can_be_taken_back_when_its_owner_sees_the_deal(house):
    analyst, crowd, stranger = house.analyst(), house.people(12), house.person()
    campaign = analyst.draft(**DRAFT, sealed=True).id
    analyst.take(campaign, "open")
    for person in crowd:
        person.register(campaign, 5, value=7.0)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    assert "You can still decline" in house.ask("GET", f"/c/{campaign}", cookie=crowd[0]._cookie).text
    crowd[0].decline(campaign)
    with pytest.raises(BadInput, match="nothing here"):
        stranger.decline(campaign)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    assert analyst.campaign(campaign).release.joined_people == 11
    assert crowd[0].receipt(campaign).spent == 0


# --- keys and work ----------------------------------------------------------------------------------------------------


def test_a_round_whose_key_is_lost_does_not_keep_others_from_being_released(house):
    analyst, crowds = house.analyst(), (house.people(10), house.people(10))
    lost, sound = (answering(analyst, crowd) for crowd in crowds)
    for campaign, crowd in ((lost, crowds[0]), (sound, crowds[1])):
        for person in crowd:
            person.join(campaign, 5.0)
        analyst.take(campaign, "close")
    house.service.keys.destroy(lost, 1)
    with pytest.raises(PromiseBroken, match="key of this round is missing"):
        analyst.take(lost, "release", timeout=20.0)
    assert analyst.take(sound, "release").state == "released"
    assert analyst.take(lost, "new-round").state == "registration"


def test_without_its_folder_of_keys_the_service_is_not_ready_and_goes_on_when_it_is_back(house, tmp_path):
    analyst, crowd = house.analyst(), house.people(12)
    shutil.move(tmp_path / "keys", tmp_path / "elsewhere")
    assert house.ask("GET", "/ready").status_code == 503
    with pytest.raises(LedgerUnavailable):
        house.service.keys.stored_rounds()
    shutil.move(tmp_path / "elsewhere", tmp_path / "keys")
    assert analyst.campaign(released(analyst, crowd)).state == "released"


def test_a_key_that_could_not_be_destroyed_undoes_no_release_and_is_destroyed_later(house, monkeypatch):
    analyst, crowd, keys = house.analyst(), house.people(10), type(house.service.keys)

    def refused(*_):
        raise OSError(13, "Permission denied")

    with monkeypatch.context() as locked:
        locked.setattr(keys, "destroy", refused)
        campaign = released(analyst, crowd)
        assert analyst.campaign(campaign).job.state == "done"
        assert house.service.keys.stored_rounds() == [(campaign, 1)]
    house.service.bell.set()
    while house.service.keys.stored_rounds():
        time.sleep(0.05)
    assert analyst.campaign(campaign).state == "released"
