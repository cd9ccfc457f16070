"""Cells of ten and more, seen again and again: no two sets of them differ by a few people, in any round."""

import pytest
from sqlalchemy import text
from web_steps import registered

from optin.errors import PromiseBroken

FEW = "Fewer than 10 people joined, left or chose anew since these groups were shown"


def seen(analyst, campaign):
    return [(cell.low, cell.high, cell.people) for cell in analyst.cells(campaign)]


def again(analyst, campaign):
    """Cells that are shown again, with the words that they are those of before."""
    with pytest.warns(UserWarning, match=FEW):
        return seen(analyst, campaign)


def reopened(analyst, campaign, *choices):
    analyst.take(campaign, "reopen-registration")
    for person, step in choices:
        person.register(campaign, step)
    analyst.take(campaign, "close-registration")


def new_round(analyst, campaign, *choices):
    for step in ("announce", "new-round"):
        analyst.take(campaign, step)
    for person, step in choices:
        person.register(campaign, step)
    analyst.take(campaign, "close-registration")


def test_closing_registration_twice_does_not_show_the_one_who_came_between(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd, steps=[3] * 12)
    analyst.take(campaign, "close-registration")
    before = seen(analyst, campaign)
    assert before == [(0.1, 0.1, 12)]
    for choices in ([(lodge.person(), 9)], [], [], [(crowd[0], 1)], []):
        reopened(analyst, campaign, *choices)
        assert again(analyst, campaign) == before
    reopened(analyst, campaign, *[(person, 9) for person in lodge.people(9)])
    assert seen(analyst, campaign) == [(0.02, 0.1, 12), (8.0, 8.0, 10)]
    reopened(analyst, campaign)
    assert seen(analyst, campaign) == [(0.02, 0.1, 12), (8.0, 8.0, 10)]


def test_a_new_round_does_not_show_the_one_who_joined_it(house):
    analyst, crowd = house.analyst(), house.people(12)
    campaign = registered(analyst, crowd, steps=[3] * 12)
    analyst.take(campaign, "close-registration")
    new_round(analyst, campaign, (house.person(), 9))
    assert again(analyst, campaign) == [(0.1, 0.1, 12)]
    new_round(analyst, campaign)
    assert again(analyst, campaign) == [(0.1, 0.1, 12)]
    new_round(analyst, campaign, *[(person, 9) for person in house.people(9)])
    assert seen(analyst, campaign) == [(0.1, 0.1, 12), (8.0, 8.0, 10)]


def test_a_new_round_does_not_show_the_one_who_left(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(13)
    campaign = registered(analyst, crowd, steps=[3] * 12 + [8])
    analyst.take(campaign, "close-registration")
    crowd[12].leave()
    assert seen(analyst, campaign) == [(0.1, 4.0, 13)]
    new_round(analyst, campaign)
    assert again(analyst, campaign) == [(0.1, 4.0, 13)]


def test_who_chooses_the_same_again_does_not_count_towards_the_ten(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(14)
    campaign = registered(analyst, crowd, steps=[3] * 14)
    analyst.take(campaign, "close-registration")
    reopened(analyst, campaign, (lodge.person(), 9), *[(person, 3) for person in crowd])
    assert again(analyst, campaign) == [(0.1, 0.1, 14)]
    new_round(analyst, campaign)
    assert again(analyst, campaign) == [(0.1, 0.1, 14)]


def test_plans_sliders_and_pictures_see_no_newer_cells_than_those_shown(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd, steps=[3] * 12)
    analyst.take(campaign, "close-registration")

    def looks():
        page, part, picture = (
            lodge.ask("GET", f"/a/c/{campaign}/{path}", cookie=analyst._cookie)
            for path in ("plan", "what-if?decline=20", "pictures/limits-dark.png")
        )
        assert picture.content.startswith(b"\x89PNG")
        return page.text, part.text, picture.content

    before, outlook = looks(), analyst.what_if(campaign)
    reopened(analyst, campaign, (lodge.person(), 9))
    reopened(analyst, campaign)
    page, part, picture = looks()
    assert analyst.what_if(campaign) == outlook
    assert picture == before[2]
    assert FEW in page
    assert FEW in part
    assert "With all 12" in before[0]
    assert "With 12" in page
    analyst.take(campaign, "announce")
    page, part, picture = looks()
    assert picture == before[2]
    assert FEW in page
    assert "With all 13" in page


def test_cells_looked_at_before_this_was_written_down_are_not_told_apart_either(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd, steps=[3] * 12)
    analyst.take(campaign, "close-registration")
    forget = text("DELETE FROM web_events WHERE kind = 'cells'")
    lodge.service.change(lambda link: link.execute(forget))
    assert seen(analyst, campaign) == [(0.1, 0.1, 12)]
    reopened(analyst, campaign, (lodge.person(), 9))
    with pytest.raises(PromiseBroken, match="single them out"):
        analyst.cells(campaign)
    new_round(analyst, campaign)
    with pytest.raises(PromiseBroken, match="single them out"):
        analyst.cells(campaign)
    page = lodge.ask("GET", f"/a/c/{campaign}/what-if", cookie=analyst._cookie)
    assert page.status_code == 200
    assert "single them out" in page.text
