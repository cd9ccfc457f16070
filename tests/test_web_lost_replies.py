"""A program that comes in with an invitation asks again after a lost answer, and is let in as the same person."""

import httpx
import pytest
from web_steps import PASSWORD, Indoors, exact_counts, with_ada

import optin
from optin.errors import BadInput, LedgerUnavailable

SHEET = optin.Sheet([optin.YesNo("break", text="Did you skip a break?")], title="Breaks")


class Losing(Indoors):
    """Does what is asked, and loses so many answers on their way back."""

    def __init__(self, house, lost):
        super().__init__(house)
        self.lost = lost

    def handle_request(self, request):
        answer = super().handle_request(request)
        if self.lost:
            self.lost -= 1
            raise httpx.RemoteProtocolError("the service hung up")
        return answer


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lost")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        yield made


@pytest.fixture(autouse=True)
def signed_in(house):
    house.ada.sign_in("ada", PASSWORD)


def losing(house, lost):
    client = house.client()
    client._http = httpx.Client(base_url=house.origin, transport=Losing(house, lost), trust_env=False)
    return client


def asking(house):
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=10).id
    house.ada.take(campaign, "open")
    return campaign


def test_one_lost_answer_is_asked_for_again_by_the_client_itself(house):
    campaign = asking(house)
    person = losing(house, 1)
    entered = person.enter(house.ada.invite(campaign, 1)[0])
    assert entered.campaign == campaign
    assert house.client().enter(entered.key).account == entered.account
    assert exact_counts(house.service, campaign).redeemed == 1


def test_whoever_asks_again_with_the_same_client_is_the_same_person_and_nobody_else_is(house):
    campaign = asking(house)
    person, secret = losing(house, 2), house.ada.invite(campaign, 1)[0]
    with pytest.raises(LedgerUnavailable, match="ask again with this client"):
        person.enter(secret)
    entered = person.enter(secret)
    assert (entered.campaign, person.enter(secret).account) == (campaign, entered.account)
    assert person.register(campaign, 5, answers={"break": True}).answer == "joined"
    assert exact_counts(house.service, campaign).registered == 1
    with pytest.raises(BadInput, match="used before"):
        house.client().enter(secret)


def test_whoever_is_known_by_an_id_asks_again_too_and_sees_this_campaign_alone(house):
    first, second = asking(house), asking(house)
    before = house.client().enter(house.ada.invite(first, ids=["nurse 9"])[0])
    person, secret = losing(house, 2), house.ada.invite(second, ids=["nurse 9"])[0]
    with pytest.raises(LedgerUnavailable):
        person.enter(secret)
    again = person.enter(secret)
    assert (again.account, again.key) == (before.account, None)
    assert person.my_campaign(second).id == second
    with pytest.raises(BadInput):
        person.me()


def test_whoever_has_a_key_or_is_here_already_asks_again_and_keeps_the_account(house):
    key = house.client().sign_up()
    with_key = losing(house, 2)
    secret = house.ada.invite(asking(house), 1)[0]
    with pytest.raises(LedgerUnavailable):
        with_key.enter(secret, key=key.key)
    assert with_key.enter(secret, key=key.key).account == key.account
    here = losing(house, 0)
    account, secret = here.sign_up().account, house.ada.invite(asking(house), 1)[0]
    here._http._transport.lost = 2
    with pytest.raises(LedgerUnavailable):
        here.enter(secret)
    assert here.enter(secret).account == account


def test_what_makes_something_new_is_not_said_to_be_done_once(house):
    with pytest.raises(LedgerUnavailable, match="may have been made: look before you ask again"):
        losing(house, 1).sign_up()


def test_the_key_of_a_new_account_is_long_and_nobody_elses(house):
    secret = house.ada.invite(asking(house), 1)[0]
    for fresh in ("short", "k" * 44, "ö" * 43):
        assert house.ask("POST", "/api/entry", json={"secret": secret, "fresh": fresh}).status_code == 422
    taken = house.client().sign_up().key
    refused = house.ask("POST", "/api/entry", json={"secret": secret, "fresh": taken})
    assert (refused.status_code, "has this key already" in refused.text) == (403, True)
    assert house.client().enter(secret).key
