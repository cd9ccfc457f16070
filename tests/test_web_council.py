"""What a council is shown of a campaign is true of it: how data flows, who sees the result, in which groups, until when."""

import html
import re

import pytest
from web_steps import PASSWORD, answering, with_ada

import optin
from optin.web.pages.stages import day
from optin.web.service.log import council_address

SHEET = optin.Sheet([optin.YesNo("break", text="Did you skip a break?")], title="Breaks")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("council")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        yield made


@pytest.fixture(autouse=True)
def signed_in(house):
    house.ada.sign_in("ada", PASSWORD)


def in_one_visit(house, groups=("",)):
    """A campaign by invitation that is announced, in which answers came with the limits."""
    campaign = house.ada.draft(SHEET, sealed=True, window_hours=0, quorum_people=10).id
    house.ada.take(campaign, "open")
    for group in groups:
        for at, secret in enumerate(house.ada.invite(campaign, 12, group=group or None)):
            person = house.client()
            person.enter(secret)
            person.register(campaign, 6, answers={"break": at % 3 == 0})
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    return campaign


def shown(house, campaign, file="", *, public=False):
    address = council_address(house.service, campaign, public=public)
    return re.sub(r"\s+", " ", html.unescape(house.ask("GET", address + file).text))


def test_the_annex_of_one_visit_says_that_answers_come_before_the_offer(house):
    annex = shown(house, in_one_visit(house), "/annex.html")
    assert "joins with their answers or declines" not in annex
    sent, announced = annex.index("sends in one visit"), annex.index("the offer is announced")
    assert sent < annex.index("encrypted as they arrive") < announced < annex.index("whoever does nothing takes part")


def test_the_annex_of_two_visits_says_that_answers_come_after_the_offer(house):
    campaign = answering(house.ada, house.people(12))
    assert "joins with their answers or declines" in shown(house, campaign, "/annex.html", public=True)


def test_the_annex_does_not_say_that_everyone_sees_the_result_of_a_campaign_by_invitation(house):
    annex = shown(house, in_one_visit(house), "/annex.html")
    assert "the council, the public" not in annex
    assert "where people are invited, sizes and hashes of the ledger alone" in annex


def test_the_annex_names_the_groups_and_says_that_the_quorum_holds_in_each(house):
    campaign = in_one_visit(house, ("ICU", "ER"))
    annex = shown(house, campaign, "/annex.html")
    assert '"ER", "ICU"' in annex
    assert "In each group by itself: only if at least 10 people of it" in annex
    assert "in each group by itself" in shown(house, campaign)
    assert "In each group" not in shown(house, in_one_visit(house), "/annex.html")


def test_the_council_reads_the_dates_that_analyst_and_people_read(house):
    campaign = in_one_visit(house)
    latest = day(house.ada.campaign(campaign).publish_by)
    page = shown(house, campaign)
    assert f"<dt>Answers until</dt><dd>{latest} at the latest" in page
    assert f"<dt>Published until</dt><dd>{house.service.days_to_publish:g} days after answers close" in page
    for step in ("open-answers", "close"):
        house.ada.take(campaign, step)
    latest = day(house.ada.campaign(campaign).publish_by)
    assert f"<dt>Answers until</dt><dd>closed</dd> <dt>Published until</dt><dd>{latest} at the latest" in shown(
        house, campaign
    )
    house.ada.take(campaign, "release")
    assert "<dt>Published until</dt><dd>published on " in shown(house, campaign)
