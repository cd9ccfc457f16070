"""The next campaign over the same people: told once, in tens, from what people have left; the year with the same ± as a size."""

import re

import numpy as np
import pytest
from sqlalchemy import select
from web_steps import House, released

import optin
from optin.errors import BadInput
from optin.planning.size import size
from optin.web.pages.verdicts import imagined_limits
from optin.web.schema import events
from optin.wording.amounts import plus_minus_of


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("next")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        made.ada = made.analyst("ada")
        yield made


def test_how_many_can_take_part_again_is_told_once_in_tens_and_lies_within_ten_of_the_truth(house):
    crowd = house.people(34)
    for person in crowd[:12]:
        person.raise_allowance(0.1)  # enough for this one alone
    campaign = released(house.ada, crowd, steps=[4] * 34)
    found, promised = house.ada.can_again(campaign), crowd[-1].me().spent
    left = np.array([person.me().remaining for person in crowd])
    for times, people in found.items():
        truth = np.count_nonzero(left >= times * promised - 1e-9)
        assert people % 10 == 0
        assert abs(people - truth) < 10
    assert sorted(found) == [1, 2, 4]
    assert found[1] >= found[2] >= found[4]
    for person in crowd[12:]:
        person.raise_allowance(100.0)
    assert house.ada.can_again(campaign) == found, "what changes later is not told"
    noted = select(events.c.words).where(events.c.campaign == campaign, events.c.kind == "next")
    assert len(house.service.read(lambda link: link.scalars(noted).all())) == 3


def test_of_fewer_than_twenty_people_and_before_a_result_nothing_is_told(house):
    campaign = released(house.ada, house.people(19))
    assert house.ada.can_again(campaign) == {}
    assert house.ada.can_again(house.ada.draft(title="t", question="q", bounds=(0, 1)).id) == {}
    with pytest.raises(BadInput, match="not yours"):
        house.analyst("eve").can_again(campaign)


def page(house, path):
    return house.ask("GET", path, cookie=house.ada._cookie)


def test_the_year_has_the_plus_minus_of_a_size_with_each_limit_divided(house):
    sheet = optin.Sheet([optin.Number("hours", bounds=(0, 80), sd=9, unit="hours"), optin.YesNo("break")], title="Two")
    campaign = house.ada.draft(sheet, sealed=True).id
    told = page(house, f"/a/year?of={campaign}&campaigns=3&expected=400&mix=open").text
    for many in (1, 3, 12):
        limits = imagined_limits({"mix": "open"}) / many
        found = size(sheet, people=400, limits=limits)
        for question, each in zip(sheet, found.questions, strict=True):
            assert plus_minus_of(each.half_width, proportion=question.proportion, unit=question.unit) in told
    assert "<strong>3 campaigns</strong>" in told


def test_what_was_asked_at_a_cost_is_asked_again_at_a_cost(house):
    """The editor of sheets knows limits alone: it asked for these, and said nothing."""
    terms = {"model": "quasi-linear", "benefit_base": 5.0, "benefit_slope": 2.5, "bounds": (0, 12)}
    campaign = house.ada.draft(title="Sleep", question="Hours?", **terms).id
    led = page(house, f"/a/new-sheet?again={campaign}")
    assert (led.status_code, led.headers["location"]) == (303, f"/a/new?again={campaign}")
    form = page(house, led.headers["location"]).text
    assert re.search(r'value="quasi-linear" checked', form)
    assert 'value="2.5"' in form
    two = optin.Sheet([optin.YesNo("break"), optin.YesNo("night")], title="Two")
    sheet = house.ada.draft(two, model="quasi-linear").id
    assert page(house, f"/a/new?again={sheet}").headers["location"] == f"/a/new-sheet?again={sheet}"
    refused = page(house, f"/a/new-sheet?again={sheet}")
    assert (refused.status_code, "state costs" in refused.text) == (422, True)


def test_what_cannot_be_planned_is_refused_in_words_and_another_analysts_sheet_is_not_there(house):
    campaign = house.ada.draft(title="t", question="q", bounds=(0, 1)).id
    for wrong in ("campaigns=0", "campaigns=53", "campaigns=x", "expected=3"):
        answer = page(house, f"/a/year?of=pulse&{wrong}")
        assert answer.status_code == 422
        assert "must be" in answer.text
    eve = house.analyst("eva")
    assert house.ask("GET", f"/a/year?of={campaign}", cookie=eve._cookie).status_code == 404
    assert house.ask("GET", f"/a/new-sheet?again={campaign}", cookie=eve._cookie).status_code == 404
    again = page(house, f"/a/new-sheet?again={campaign}")
    assert again.status_code == 200
    assert 'value="t"' in again.text
