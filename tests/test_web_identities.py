"""One person in several campaigns: an id of an invitation list leads to one account, and shows its holder nothing else of it."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import select, text
from test_web_one_visit import FIVE, cookie_of, counted, form
from web_steps import PASSWORD, House, exact_counts, with_ada

from optin.errors import BadInput
from optin.web.schema import accounts, answers, invitations, invited_ids
from optin.web.service import visits
from optin.web.service.core import hashed
from optin.web.service.identities import erase_ids


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identities")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        yield made


def asking(house, analyst=None):
    analyst = analyst or house.ada
    campaign = analyst.draft(FIVE, quorum_people=10, sealed=True, window_hours=48.0).id
    analyst.take(campaign, "open")
    return campaign


def account_of(house, secret):
    query = select(invitations.c.account).where(invitations.c.secret == hashed(secret))
    return house.service.read(lambda link: link.scalar(query))


def test_the_same_id_in_two_campaigns_is_one_account_and_one_total(house):
    one, two = asking(house), asking(house)
    first, second = house.ada.invite(one, ids=["nurse 17"])[0], house.ada.invite(two, ids=["nurse 17"])[0]
    assert "Have you answered here before?" not in house.ask("POST", "/i/answer", data={"secret": first}).text
    before = counted(house, accounts)
    for secret in (first, second):
        assert house.ask("POST", "/i/send", data=form(secret, before="")).status_code == 200
    assert counted(house, accounts) == before + 1
    assert account_of(house, first) == account_of(house, second)


def test_the_same_id_of_another_analyst_is_another_person(house):
    ben = house.analyst("ben")
    one, two = asking(house), asking(house, ben)
    secrets = [
        analyst.invite(campaign, ids=["nurse 18"])[0]
        for analyst, campaign in ((house.ada, one), (house.ada, asking(house)), (ben, two))
    ]
    for secret in secrets:
        assert house.ask("POST", "/i/send", data=form(secret, before="")).status_code == 200
    hers, hers_again, his = (account_of(house, secret) for secret in secrets)
    assert hers == hers_again, "the two of one analyst are one person"
    assert his not in (None, hers), "and only those"


def test_who_comes_in_by_an_id_alone_sees_this_campaign_and_nothing_else_of_the_account(house):
    one, two = asking(house), asking(house)
    first, second = house.ada.invite(one, ids=["nurse 19"])[0], house.ada.invite(two, ids=["nurse 19"])[0]
    whole = cookie_of(house.ask("POST", "/i/send", data=form(first)))
    sent = house.ask("POST", "/i/send", data=form(second, times="10"))
    part = cookie_of(sent)
    assert "/back#" not in sent.text, "no second way back into somebody's account"
    assert house.ask("GET", f"/c/{two}", cookie=part).status_code == 200
    for path in (
        "/me",
        "/me/export",
        "/me/leave",
        f"/c/{one}",
        "/api/me",
        f"/api/me/campaigns/{one}",
        "/api/me/export",
    ):
        refused = house.ask("GET", path, cookie=part)
        assert refused.status_code in (303, 401, 404), path
        assert house.ask("GET", path, cookie=whole).status_code == 200, path
    shown = house.ask("GET", f"/api/me/campaigns/{two}", cookie=part).json()
    assert shown["remaining"] is None
    assert "Over all campaigns together, you allow" not in house.ask("GET", f"/c/{two}", cookie=part).text
    total = house.ask("GET", "/api/me", cookie=whole).json()["allowance"]
    assert total == 2.0, "the first choice's four, and not what the second link asked for"


def test_a_program_that_enters_by_an_id_leads_to_the_same_account_too(house):
    one, two = asking(house), asking(house)
    first, second = house.ada.invite(one, ids=["nurse 20"])[0], house.ada.invite(two, ids=["nurse 20"])[0]
    admitted, again = house.client().enter(first), house.client().enter(second)
    assert (admitted.account, again.key) == (again.account, None)


@pytest.mark.parametrize("ids", [["a", "a"], [""], ["a\nb"], ["x" * 201]])
def test_ids_that_cannot_be_told_apart_are_refused_without_being_repeated(house, ids):
    campaign = asking(house)
    with pytest.raises(BadInput) as refusal:
        house.ada.invite(campaign, ids=ids)
    assert "xxx" not in str(refusal.value)
    house.ada.invite(campaign, ids=["twice"])
    with pytest.raises(BadInput, match="invited to this campaign before"):
        house.ada.invite(campaign, ids=["twice"])


def test_ids_are_stored_only_under_a_keyed_hash(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, ids=["nurse-marker-21"])[0]
    house.ask("POST", "/i/send", data=form(secret))
    for file in house.folder.rglob("*"):
        assert file.is_dir() or b"nurse-marker-21" not in file.read_bytes(), file.name
    engine = house.service.ledger.engine
    with engine.connect() as link:
        names = [row[0] for row in link.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))]
        dump = " ".join(str(row) for name in names for row in link.execute(text(f'SELECT * FROM "{name}"')))
    assert "nurse-marker-21" not in dump


def kept_ids(house, campaign):
    query = select(invited_ids.c.account).where(invited_ids.c.campaign == campaign)
    return house.service.read(lambda link: list(link.scalars(query)))


def test_ids_are_erased_with_their_campaign_but_those_that_lead_to_a_total_are_kept_a_year(house):
    """An id that is erased finds no account: the next invitation would make a second person with a second total."""
    campaign = asking(house)
    came, looked, _ = house.ada.invite(campaign, ids=["came", "looked", "stayed away"])
    house.ask("POST", "/i/send", data=form(came))
    house.client().enter(looked)
    house.ada.take(campaign, "cancel")
    erase_ids(house.service)
    assert kept_ids(house, campaign) == [account_of(house, came)]
    again = house.ada.invite(asking(house), ids=["came"])[0]
    house.ask("POST", "/i/send", data=form(again))
    assert account_of(house, again) == account_of(house, came), "one person, one total"
    erase_ids(replace(house.service, days_to_keep_ids=0.0))
    assert kept_ids(house, campaign) == [], "where it is set so, nothing is left"


def test_ids_that_lead_to_a_total_are_erased_a_year_after_their_campaign(house):
    campaign = asking(house)
    house.ask("POST", "/i/send", data=form(house.ada.invite(campaign, ids=["last year"])[0]))
    house.ada.take(campaign, "cancel")
    house.service.clock.now += 364 * 86400
    erase_ids(house.service)
    assert len(kept_ids(house, campaign)) == 1
    house.service.clock.now += 2 * 86400
    erase_ids(house.service)
    assert kept_ids(house, campaign) == []
    house.ada.sign_in("ada", PASSWORD)


def test_who_leaves_is_found_by_no_id_any_more(house):
    one, two = asking(house), asking(house)
    first, second = house.ada.invite(one, ids=["nurse 22"])[0], house.ada.invite(two, ids=["nurse 22"])[0]
    person = house.client()
    gone = person.enter(first).account
    person.leave()
    assert house.client().enter(second).account != gone


def test_every_route_of_a_visit_as_nobody_a_stranger_another_person_and_an_analyst(house):
    """Without the secret nobody sees or sends anything; with a used one, only the device that used it."""
    campaign = asking(house)
    used, fresh = house.ada.invite(campaign, 2)
    mine = cookie_of(house.ask("POST", "/i/send", data=form(used)))
    other, ben = house.person(), house.analyst("eve")
    visitors = {"nobody": (None, ""), "other person": (other._cookie, other._csrf), "analyst": (ben._cookie, ben._csrf)}
    before = exact_counts(house.service, campaign).registered
    for who, (cookie, csrf) in visitors.items():

        def post(path, cookie=cookie, csrf=csrf, **more):
            return house.ask("POST", path, cookie=cookie, data={**form(more.pop("secret", ""), csrf=csrf), **more})

        assert post("/i/answer", secret="x" * 43).status_code == 404, who
        assert post("/i/send", secret="x" * 43).status_code == 404, who
        assert post("/i/send", secret=used).status_code == 403, who
        assert post("/i/look", secret=used).status_code == 204, who
        assert post("/i", secret=used).status_code == 403, who
        assert post("/back", secret="x" * 43).status_code == 403, who
        assert post(f"/c/{campaign}/answer").status_code == 404, who
        assert house.ask("GET", f"/c/{campaign}/answer", cookie=cookie).status_code == 404, who
        made = post("/me/recovery")
        assert made.status_code == (200 if who == "other person" else 404 if cookie else 303), who
        shown = post("/i/answer", secret=used).text
        assert "Take it back" not in shown, who
        assert "checked" not in shown, who
    assert exact_counts(house.service, campaign).registered == before
    assert house.ask("GET", f"/c/{campaign}/answer", cookie=mine).status_code == 200
    assert house.ask("POST", "/i/send", data=form(fresh)).status_code == 200


def test_two_invitations_by_one_id_sent_at_the_same_moment_make_one_person(url, tmp_path, monkeypatch):
    make = visits.create_person

    def slowly(*given):
        time.sleep(0.5)
        return make(*given)

    monkeypatch.setattr(visits, "create_person", slowly)
    with House(url, tmp_path) as house:
        house.ada = house.analyst("ada")
        secrets = [house.ada.invite(asking(house), ids=["nurse 23"])[0] for _ in range(2)]
        with ThreadPoolExecutor() as phones:
            sent = list(phones.map(lambda secret: house.ask("POST", "/i/send", data=form(secret)), secrets))
        assert [each.status_code for each in sent] == [200, 200]
        assert len({account_of(house, secret) for secret in secrets}) == 1


def test_of_two_devices_that_send_by_one_link_at_the_same_moment_one_is_taken(url, tmp_path):
    with House(url, tmp_path) as house:
        house.ada = house.analyst("ada")
        campaign = asking(house)
        secret = house.ada.invite(campaign, 1)[0]
        with ThreadPoolExecutor() as phones:
            sent = list(phones.map(lambda _: house.ask("POST", "/i/send", data=form(secret)), range(4)))
        assert sorted(each.status_code for each in sent) == [200, 403, 403, 403]
        assert counted(house, answers) == 1
