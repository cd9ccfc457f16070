"""What a plan, an offer and a release warn of where people are in groups: a sentence a fault, however many groups have it."""

import numpy as np

import optin

WARDS = {"ward": 400, "day": 60, "night": 50, "lab": 12, "a": 4, "b": 3}
SHEET = [optin.Number("hours", bounds=(0, 80), sd=9), optin.YesNo("break")]


def people():
    wards = np.repeat(list(WARDS), list(WARDS.values()))
    return optin.PrivacyConstrained(np.where(wards == "ward", 2.0, 0.02), groups=wards)


def of(plan, words):
    return [each for each in plan.warnings() if words in each]


def test_groups_that_say_nothing_are_warned_of_in_one_sentence_a_question():
    agents = people()
    plan = optin.plan(agents, SHEET, merge_small=True)
    offer = plan.announce(agents)
    release = optin.release(offer, agents, {"hours": np.full(529, 40.0), "break": np.ones(529)})
    for told in (plan, offer, release):
        first, second = of(told, "say next to nothing")
        assert first.startswith(
            'In "a + b + lab", "day", "night": Question "hours": The result will say next to nothing.'
        )
        assert second.startswith('In "a + b + lab", "day", "night": Question "break": ')


def test_groups_too_few_to_announce_are_named_once_with_what_to_do_about_it():
    plan = optin.plan(people(), SHEET)
    (few,) = of(plan, "refused when they are announced")
    assert few.startswith(
        'Groups of fewer than 10 people who allow anything are refused when they are announced: "a", "b". Merge them'
    )
    assert not [each for each in plan.warnings() if each.startswith('In "a')], "what cannot be asked is no warning"
    assert not of(optin.plan(people(), SHEET, merge_small=True), "refused")


def test_a_group_in_which_nobody_allows_anything_is_refused_too_and_named():
    wards = ["ward"] * 60 + ["none"] * 30
    agents = optin.PrivacyConstrained([1.0, 2.0] * 30 + [0.0] * 30, groups=wards)
    (few,) = of(optin.plan(agents, SHEET), "Groups of fewer")
    assert 'announced: "none". Merge' in few


def test_a_group_that_is_lost_as_soon_as_a_few_stay_away_is_named_before_anyone_is_asked():
    (hardly,) = of(optin.plan(people(), SHEET), "Groups of fewer than 20 people")
    assert hardly.startswith('Groups of fewer than 20 people: "lab". If fewer than 10 of one answer')
    agents = people()
    offer = optin.plan(agents, SHEET, merge_small=20).announce(agents)
    assert "ward" in offer.groups
    assert not of(optin.plan(agents, SHEET, merge_small=20), "Groups of fewer")


def test_one_group_alone_is_not_told_of_groups():
    alone = optin.PrivacyConstrained([0.5, 1.0] * 6, groups=["ER"] * 12)
    assert not of(optin.plan(alone, SHEET), "Groups of fewer")
