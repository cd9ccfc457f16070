"""What analysts are told beforehand: with how many a result is published, and what ± the sliders mean."""

import re

import pytest
from web_steps import answering, registered

from optin.errors import PromiseBroken
from optin.web.service import preview
from optin.web.service.lookups import campaign_row
from optin.web.service.records import Visitor


def told(house, who, path):
    """A page's words, without its marks."""
    page = house.ask("GET", path, cookie=who._cookie).text
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("&nbsp;", " ").replace("&#39;", "'")


def owner_of(house, campaign):
    account = house.service.read(lambda link: campaign_row(link, campaign).owner)
    return Visitor(account, "analyst", "ada", session="", csrf="")


def test_the_quorum_stands_on_the_draft_and_on_the_plan_page_also_where_nobody_set_it(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    fresh = told(lodge, analyst, "/a/new")
    assert "Nothing is published unless 20 people or more join. You can set this" in fresh
    assert "You expect fewer." in told(lodge, analyst, "/a/preview?lower=0&upper=1&expected=12&quorum_people=13")
    campaign = registered(analyst, crowd, quorum_people=20)
    analyst.take(campaign, "close-registration")
    assert "Nothing is published unless 20 people or more join." in told(lodge, analyst, f"/a/c/{campaign}/plan")


def test_the_refusal_of_a_missed_quorum_names_every_way_to_go_on(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd, quorum_people=12)
    for person in crowd[:11]:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="open answers again, begin a new round, or cancel"):
        analyst.take(campaign, "release")
    assert set(analyst.campaign(campaign).steps) == {"release", "reopen-answers", "new-round", "cancel"}


def test_before_the_announcement_sliders_say_both_ends_of_the_groups_and_the_plan_lies_between(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd)
    analyst.take(campaign, "close-registration")
    ada = owner_of(lodge, campaign)
    worst, best = (
        preview.what_if(lodge.service, ada, campaign, preview.Change(careful=end)).half_width for end in (True, False)
    )
    words = told(lodge, analyst, f"/a/c/{campaign}/what-if")
    assert "the careful end of their group" in words
    assert "the plan that is announced lies between" in words
    real = analyst.take(campaign, "announce").announcement.half_width()
    assert best < real < worst
    assert worst > 2 * real  # twelve people on four steps of the ladder are one group


def test_after_the_announcement_sliders_and_plan_page_have_one_plus_minus(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd)
    offer, ada = analyst.campaign(campaign).announcement, owner_of(lodge, campaign)
    seen = preview.what_if(lodge.service, ada, campaign)
    assert seen.half_width == offer.half_width()
    assert seen.standard_error == pytest.approx(offer.standard_error, rel=1e-12)
    words = told(lodge, analyst, f"/a/c/{campaign}/plan")
    assert "Counted with what was announced" in words
    [lead] = re.findall(r"within about ± (\S+) of the true one", words)
    [tile] = re.findall(r"95 times out of 100 ± (\S+)", words)
    assert lead == tile
    fewer = preview.what_if(lodge.service, ada, campaign, preview.Change(decline_share=0.25))
    assert (fewer.people, fewer.half_width > seen.half_width) == (9, True)
    assert preview.what_if(lodge.service, ada, campaign, preview.Change(sd=1.0)).half_width < seen.half_width
    assert (
        preview.what_if(lodge.service, ada, campaign, preview.Change(max_gap=1.0)).half_width
        == seen.half_width + offer.tilt
    )
