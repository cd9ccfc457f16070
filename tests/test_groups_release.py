"""Releases of public groups: each group is decided on alone, and is what it would be alone (E27, E28)."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optin
from optin.campaign import Quorum, look
from optin.errors import BadInput, PromiseBroken
from optin.releasing.drawing import measure

SHEET = (optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9))
NAMES = ("ER", "ICU", 'ward "7"\n')


def study(seed, count=300, names=NAMES, sheet=SHEET):
    rng = np.random.default_rng(seed)
    limits = rng.choice([0.1, 0.5, 1.0, 3.0], size=count)
    groups = np.asarray(names, dtype=object)[rng.integers(len(names), size=count)]
    answers = {"break": np.where(rng.random(count) < 0.3, "yes", "no"), "hours": rng.normal(40, 9, count)}
    agents = optin.PrivacyConstrained(limits, groups=groups)
    return agents, limits, groups, {name: answers[name] for name in (each.name for each in sheet)}


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_the_exact_sums_of_a_group_are_those_of_a_release_to_its_people_alone(seed, everyone, one_question):
    sheet = SHEET[1:] if one_question else SHEET
    agents, limits, groups, answers = study(seed, sheet=sheet)
    joined = None if everyone else np.random.default_rng(seed + 1).random(len(limits)) < 0.6
    offer = optin.plan(agents, sheet).announce(agents, campaign="c", min_people=1)
    found = measure(offer, agents, answers, joined=joined)
    for place, name in enumerate(offer.groups):
        mine = groups == name
        alone = optin.PrivacyConstrained(limits[mine])
        offered = optin.plan(alone, sheet).announce(alone, campaign="c", min_people=1)
        own = {question: column[mine] for question, column in answers.items()}
        expected = measure(offered, alone, own, joined=None if joined is None else joined[mine])
        assert found.parts[place].those == expected.those
        assert found.parts[place].decision.came == expected.decision.came
        assert found.parts[place].decision.dropped == expected.decision.dropped


def test_a_release_reads_back_and_shows_every_group():
    agents, limits, groups, answers = study(1)
    joined = np.random.default_rng(2).random(len(limits)) < 0.8
    offer = optin.plan(agents, SHEET).announce(agents)
    release = optin.release(offer, agents, answers, joined=joined)
    assert optin.Release.from_json(release.to_json()) == release
    assert release.joined_people == joined.sum()
    parts = sum(each.sealed.total_grains for each in release.groups.values())
    assert release.grains.sum() == release.sealed.total_grains == parts
    assert list(release.groups) == list(NAMES)
    table = release.table()
    assert table.columns()["group"][:1] == ["ER"]
    assert set(table.to_pandas()["group"]) == set(NAMES)
    for name, each in release.groups.items():
        low, high = each["hours"].interval(0.95)
        assert low <= each["hours"].estimate <= high
        assert each.sealed.joined_people == (joined & (groups == name)).sum()
        assert each.joined_people == each.sealed.joined_people // 10 * 10


def test_joiners_of_a_group_are_told_in_tens_and_the_exact_count_is_sealed():
    agents, *_, answers = study(3)
    release = optin.release(optin.plan(agents, SHEET).announce(agents), agents, answers)
    record = json.loads(release.to_sealed_json())
    assert "sealed" not in json.loads(release.to_json())
    told = [each["joined_people"] for each in record["public"]["groups"]]
    exact = [each["joined_people"] for each in record["sealed"]["groups"]]
    assert told == [count // 10 * 10 for count in exact]
    assert record["public"]["joined_people"] == sum(exact) == 300
    for count in {*told, *exact}:
        assert (f" {count} or more " in repr(release)) == (count in told)


def test_a_group_that_nobody_joined_is_withheld_alone_and_charged_nothing():
    agents, _limits, groups, answers = study(4)
    joined = groups != "ER"
    offer = optin.plan(agents, SHEET).announce(agents)
    release = optin.release(offer, agents, answers, joined=joined)
    assert release.withheld == {"ER": "nobody in this group who allows anything joined"}
    assert release.groups["ER"].sealed.total_grains == 0
    assert not release.grains[~joined].any()
    assert release.grains[joined].all()
    assert optin.Release.from_json(release.to_json()) == release
    with pytest.raises(BadInput, match="nobody in this group"):
        release.groups["ER"]["hours"]
    assert release.groups["ICU"]["hours"].estimate


def test_a_group_below_the_quorum_or_below_min_people_is_withheld_alone():
    agents, _limits, groups, answers = study(5)
    few = np.flatnonzero(groups == "ER")[:7]
    joined = groups != "ER"
    joined[few] = True
    offer = optin.plan(agents, SHEET).announce(agents)
    release = optin.release(offer, agents, answers, joined=joined)
    assert release.withheld == {"ER": "too few people answered it"}
    assert not release.grains[few].any(), "whoever joined a group that is withheld is not charged"
    quorum = Quorum(people=90)
    sizes = {name: int((groups == name).sum()) for name in NAMES}
    withheld = look(offer, agents, answers, quorum=quorum).withheld
    assert set(withheld) == {name for name, size in sizes.items() if size < 90}


def test_a_group_with_all_limits_0_is_withheld_alone():
    agents, limits, groups, answers = study(6)
    limits = np.where(groups == "ER", 0.0, limits)
    agents = optin.PrivacyConstrained(limits, groups=groups)
    offer = optin.plan(agents, SHEET).announce(agents, min_people=0)
    release = optin.release(offer, agents, answers)
    assert release.withheld == {"ER": "nobody in this group allows anything"}
    assert optin.Release.from_json(release.to_json()) == release


def test_a_question_that_too_few_of_a_group_answered_is_dropped_there_alone():
    agents, _limits, groups, answers = study(7)
    answers["hours"][np.flatnonzero(groups == "ICU")[5:]] = np.nan
    release = optin.release(optin.plan(agents, SHEET).announce(agents), agents, answers)
    assert release.groups["ICU"].dropped == {"hours": "too few people answered it"}
    assert release.groups["ER"].dropped == {} == release.withheld
    assert optin.Release.from_json(release.to_json()) == release


def test_where_no_group_can_be_published_the_release_is_refused():
    agents, *_, answers = study(8)
    offer = optin.plan(agents, SHEET).announce(agents)
    with pytest.raises(PromiseBroken, match="of any of the groups"):
        optin.release(offer, agents, answers, joined=np.zeros(300, dtype=bool))


def test_a_person_who_was_moved_to_another_group_is_refused():
    agents, limits, groups, answers = study(9)
    offer = optin.plan(agents, SHEET).announce(agents)
    moved = groups.copy()
    moved[np.flatnonzero(groups == "ER")[0]] = "ICU"
    with pytest.raises(PromiseBroken, match="or in another group"):
        optin.release(offer, optin.PrivacyConstrained(limits, groups=moved), answers)
    with pytest.raises(PromiseBroken, match='nobody was announced in a group "new"; the groups are "'):
        optin.release(offer, optin.PrivacyConstrained(limits, groups=["new", *groups[1:]]), answers)
    with pytest.raises(BadInput, match="these people have none"):
        optin.release(offer, optin.PrivacyConstrained(limits), answers)


def test_groups_merged_at_planning_are_released_together():
    agents, limits, groups, answers = study(10, count=60)
    groups = np.where(np.arange(60) < 4, "tiny", groups)
    agents = optin.PrivacyConstrained(limits, groups=groups)
    plan = optin.plan(agents, SHEET, merge_small=True)
    release = optin.release(plan.announce(agents), agents, answers)
    merged = next(design for design in plan.designs if "tiny" in design.labels)
    assert release.groups[merged.group].sealed.joined_people == np.isin(groups, merged.labels).sum()


def test_people_who_weigh_costs_lose_only_the_group_whose_promise_would_break():
    rng = np.random.default_rng(11)
    groups = np.repeat(["a", "b"], 40)
    agents = optin.QuasiLinear(rng.uniform(0.1, 1.0, 80), benefit=optin.LinearBenefit(2.0, 1.0), groups=groups)
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    joined = np.arange(80) != 0
    release = optin.release(offer, agents, rng.random(80), joined=joined)
    assert release.withheld == {"a": "too few joined for the accuracy that people were promised"}
    assert release.groups["b"].estimate is not None


def test_what_has_no_one_meaning_says_where_to_ask():
    agents, *_, answers = study(12)
    release = optin.release(optin.plan(agents, SHEET).announce(agents), agents, answers)
    for ask in (lambda: release["hours"], lambda: release.estimate, lambda: release.results, lambda: release.tilt):
        with pytest.raises(BadInput, match=r'release\.groups\["ER"\]'):
            ask()


def test_a_release_whose_groups_were_changed_is_refused():
    agents, *_, answers = study(13)
    release = optin.release(optin.plan(agents, SHEET).announce(agents), agents, answers)

    def changed(change):
        record = json.loads(release.to_sealed_json())
        change(record)
        return json.dumps(record)

    for change in (
        lambda record: record["sealed"]["groups"][0].update(joined_people=1),
        lambda record: record["public"]["groups"].pop(),
        lambda record: record["public"]["groups"][0].update(joined_people=0),
        lambda record: record["results"][0].update(group="ICU"),
        lambda record: record["results"][0]["results"][0].update(estimate=0.5),
    ):
        with pytest.raises(BadInput):
            optin.Release.from_json(changed(change))
