"""Invitations are used up by someone who decides to, and never make a second account of one person unasked."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from browser import PHONE, Watch, chromium, press
from web_steps import exact_counts, registered

from optin.errors import BadInput


def hidden(answer, name):
    return re.search(rf'name="{name}" value="([^"]*)"', answer.text)[1]


@pytest.fixture
def campaign(house):
    house.owner = house.analyst()
    return registered(house.owner, [], public=False)


def asked_for_links(house, campaign, **form):
    """Press the button of a campaign's page; return what is sent to have links made, to send it again."""
    page = house.ask("GET", f"/a/c/{campaign}", cookie=house.owner._cookie)
    given = {"csrf": house.owner._csrf, "page": hidden(page, "page"), "count": "5", **form}
    return lambda: house.ask("POST", f"/a/c/{campaign}/invitations", cookie=house.owner._cookie, data=given)


def links(answer):
    return re.findall(r"/i#([\w-]+)", answer.text)


def test_links_without_a_list_are_made_once_however_often_their_page_is_sent(house, campaign):
    send = asked_for_links(house, campaign)
    with ThreadPoolExecutor(4) as many:
        first, *again = [links(each.result()) for each in [many.submit(send) for _ in range(4)]]
    assert (len(first), again) == (5, [first] * 3)
    assert house.owner.campaign(campaign).invited == 5
    assert "no new ones were made" in send().text
    assert house.client().enter(first[0]).campaign == campaign
    more = [links(asked_for_links(house, campaign, **form)()) for form in ({}, {"count": "3"}, {"ids": "a\nb"})]
    assert [len(each) for each in more] == [5, 3, 2]
    assert len({*first, *(secret for each in more for secret in each)}) == 15, "another page makes others"
    house.owner.take(campaign, "close-registration")
    assert links(send()) == first, "a reload after registration was closed shows them too"
    assert house.owner.campaign(campaign).invited == 15


def test_loading_an_invitation_does_not_redeem_it(house, campaign):
    (secret,) = house.owner.invite(campaign, 1)
    for method in ("GET", "HEAD", "OPTIONS"):
        for path in ("/i", f"/i?secret={secret}", f"/i/{secret}", f"/i#{secret}"):
            house.ask(method, path)
    assert exact_counts(house.service, campaign).redeemed == 0
    assert house.client().enter(secret).campaign == campaign


def test_a_program_that_opens_a_link_with_scripts_and_clicks_nothing_uses_nothing_up(open_lodge):
    owner = open_lodge.analyst()
    campaign = registered(owner, [], public=False)
    (secret,) = owner.invite(campaign, 1)
    with chromium() as browser:
        page = Watch(browser, open_lodge.origin).visitor(size=PHONE)
        page.goto(f"{open_lodge.origin}/i#{secret}")
        page.get_by_role("button", name="Open my invitation").wait_for()
        page.wait_for_load_state("networkidle")
        assert (exact_counts(open_lodge.service, campaign).redeemed, page.url) == (0, f"{open_lodge.origin}/i")
        press(page, "Open my invitation")
        assert page.get_by_role("heading").nth(1).inner_text() == "I already have a key", "it comes first"
        assert exact_counts(open_lodge.service, campaign).redeemed == 0, "nor is it used before someone has decided"
        press(page, "Make my account")
        assert exact_counts(open_lodge.service, campaign).redeemed == 1


def test_a_second_invitation_in_another_browser_goes_to_the_account_one_has(house, campaign):
    first, second, third, fourth = house.owner.invite(campaign, 4)
    person = house.client()
    admission = person.enter(first)
    person.raise_allowance(0.5)
    asked = house.ask("POST", "/i", data={"secret": second})  # another browser
    assert asked.text.index("I already have a key") < asked.text.index("I am new here")
    assert hidden(asked, "secret") == second
    arrived = house.ask("POST", "/i", data={"secret": second, "key": admission.key})
    assert (arrived.status_code, arrived.headers["location"]) == (303, f"/c/{campaign}")
    cookie = re.match(r"__Host-optin=([^;]+)", arrived.headers["set-cookie"])[1]
    me = house.ask("GET", "/api/me", cookie=cookie).json()
    assert (me["account"], me["allowance"]) == (admission.account, 0.5), "no fresh total"
    again = house.client().enter(third, key=admission.key)
    assert (again.account, again.key, again.campaign) == (admission.account, None, campaign)
    assert exact_counts(house.service, campaign).redeemed == 3
    assert house.client().enter(fourth).account != admission.account, "whoever says that they are new gets an account"


def test_a_wrong_key_leaves_the_invitation_as_it_was(house, campaign):
    (secret,) = house.owner.invite(campaign, 1)
    refused = house.ask("POST", "/i", data={"secret": secret, "key": "k" * 43})
    assert (refused.status_code, "Your invitation is still good" in refused.text) == (403, True)
    assert hidden(refused, "secret") == secret
    with pytest.raises(BadInput, match="still good"):
        house.client().enter(secret, key="k" * 43)
    made = house.ask("POST", "/i", data={"secret": secret, "new": "yes"})
    assert "Keep your key" in made.text
    for key in ({}, {"key": "k" * 43}):
        used = house.ask("POST", "/i", data={"secret": secret, **key})
        assert (used.status_code, "used before" in used.text) == (403, True)


def test_whoever_is_signed_in_adds_an_invitation_with_one_click(house, campaign):
    person = house.client()
    account = person.sign_up().account
    form = {"secret": house.owner.invite(campaign, 1)[0], "csrf": person._csrf, "by": "link"}
    assert house.ask("POST", "/i", cookie=person._cookie, data=form).headers["location"] == f"/c/{campaign}"
    assert [one.id for one in person.me().campaigns] == [campaign]
    assert person.me().account == account


def test_a_key_in_a_link_is_still_refused(house):
    key = house.client().sign_up().key
    refused = house.ask("POST", "/i", data={"secret": key, "by": "link"})
    assert (refused.status_code, "no invitation" in refused.text) == (403, True)
    assert house.ask("POST", "/i", data={"secret": key, "by": "hand"}).status_code == 303
