"""Public groups (E27): each is planned and announced by itself, and is what its people would have alone."""

import json
import math
import pickle
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optin
from optin.agents.grouping import CHUNK, Groups
from optin.announcement.origin import differs_from_plan
from optin.errors import BadInput, Infeasible
from optin.formats.strict_json import fingerprint
from optin.releasing.comparing import total_of

SHEET = (optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9))
ODD = ["ICU", 'say "ward"', "line\nbreak", "עזרה ראשונה", "x" * 10_000, "it's; DROP TABLE people", "‮dekcirt", "a / b"]


def people(rng, count=240, names=("ER", "ICU", "ward 7"), **more):
    limits = rng.choice([0.1, 0.5, 1.0, 3.0], size=count)
    groups = np.asarray(names, dtype=object)[rng.integers(len(names), size=count)]
    return optin.PrivacyConstrained(limits, groups=groups, **more), limits, groups


limits_and_groups = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, 4.0, math.inf]), st.sampled_from(["a", "b", "c", "'", '"'])),
    min_size=1,
    max_size=40,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(limits_and_groups)
def test_a_group_has_the_plan_that_it_would_have_alone(rows):
    limits, groups = np.array([limit for limit, _ in rows]), np.array([group for _, group in rows])
    if not limits.any():
        with pytest.raises(Infeasible, match="limits are 0"):
            optin.plan(optin.PrivacyConstrained(limits, groups=groups), SHEET)
        return
    plan = optin.plan(optin.PrivacyConstrained(limits, groups=groups), SHEET)
    assert list(plan.groups) == sorted(set(groups))
    assert plan.people == len(rows)
    assert optin.Plan.from_json(plan.to_json()) == plan
    for name, own in plan.groups.items():
        mine = limits[groups == name]
        if mine.any():
            assert own == optin.plan(optin.PrivacyConstrained(mine), SHEET)
        else:
            assert (own.cap, own["hours"].half_width()) == (0.0, math.inf)


def test_what_follows_for_each_person_follows_from_their_own_group():
    agents, limits, groups = people(np.random.default_rng(1))
    plan = optin.plan(agents, SHEET)
    for of in (optin.Plan.epsilons, optin.Plan.weights, optin.Plan.shadow_prices):
        together = of(plan, agents)
        for name, own in plan.groups.items():
            alone = of(own, optin.PrivacyConstrained(limits[groups == name]))
            assert np.array_equal(together[groups == name], alone)
    assert plan.certificate(agents).holds
    assert set(plan.certificate(agents).groups) == {"ER", "ICU", "ward 7"}


def test_what_has_no_one_meaning_says_where_to_ask():
    agents, *_ = people(np.random.default_rng(2))
    plan = optin.plan(agents, SHEET)
    offer = plan.announce(agents)
    for ask in (lambda: plan.cap, lambda: plan["hours"], lambda: plan.tilt, lambda: plan.effective_people):
        with pytest.raises(BadInput, match=r'plan\.groups\["ER"\]'):
            ask()
    for ask in (
        lambda: offer.cap,
        lambda: offer["hours"].variance,
        lambda: offer.shares,
        lambda: offer.sealed.question_sums,
    ):
        with pytest.raises(BadInput, match=r'announcement\.groups\["ER"\]'):
            ask()


def test_people_who_weigh_costs_are_promised_by_group():
    rng = np.random.default_rng(3)
    costs, groups = rng.uniform(0.1, 2.0, 90), np.repeat(["a", "b", "c"], 30)
    outside = rng.uniform(0.0, 0.2, 90)
    agents = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(2.0, 1.0), outside=outside, groups=groups)
    plan = optin.plan(agents, bounds=(0, 1))
    offer = plan.announce(agents, campaign="c")
    assert optin.Plan.from_json(plan.to_json()) == plan
    assert optin.Announcement.from_json(offer.to_json()) == offer
    for name in "abc":
        mine = groups == name
        alone = optin.QuasiLinear(costs[mine], benefit=optin.LinearBenefit(2.0, 1.0), outside=outside[mine])
        own = optin.plan(alone, bounds=(0, 1))
        assert plan.groups[name] == own
        assert offer.groups[name].public == own.announce(alone, campaign="c").public
    assert len({own.promised_variance for own in plan.groups.values()}) == 3


def test_a_group_that_no_design_makes_join_is_named():
    agents = optin.QuasiLinear(
        [0.1] * 30 + [1e6] * 30, benefit=optin.LinearBenefit(0.1, 1.0), groups=["a"] * 30 + ["b"] * 30
    )
    with pytest.raises(Infeasible, match='group "b": no design') as caught:
        optin.plan(agents, bounds=(0, 1))
    assert caught.value.people_needed is not None


def in_tens_of(public):
    """The same numbers as they are told of a group."""
    return replace(public, people=public.people // 10 * 10, tens=True)


@pytest.mark.parametrize("sheet", [SHEET, SHEET[1:], SHEET[:1]])
def test_the_offer_to_a_group_is_that_to_its_people_alone_under_the_terms_of_all(sheet):
    agents, limits, groups = people(np.random.default_rng(9))
    offer = optin.plan(agents, sheet).announce(agents, campaign="c")
    for name, own in offer.groups.items():
        part = optin.PrivacyConstrained(limits[groups == name])
        alone = optin.plan(part, sheet).announce(part, campaign="c")
        assert own.terms == offer.terms
        told = replace(alone.designs[0], public=in_tens_of(alone.public))
        assert replace(own, terms=alone.terms, seal=alone.seal) == replace(alone, designs=(told,))  # a salt is random
        assert own.sealed.question_sums == alone.sealed.question_sums
        # One question to undivided people is released or not; a group of too few is withheld from the others' release.
        assert alone.terms.conditions.min_people == (None if len(sheet) == 1 else 10)
        stated = replace(own.terms.conditions, min_people=alone.terms.conditions.min_people)
        assert replace(own.terms, conditions=stated) == alone.terms
    assert offer.terms.conditions.min_people == 10


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_one_announcement_holds_the_offers_that_groups_would_have_alone(seed, many):
    agents, limits, groups = people(np.random.default_rng(seed), names=ODD[:many])
    plan = optin.plan(agents, SHEET)
    offer = plan.announce(agents, campaign="c", min_people=1)
    assert optin.Announcement.from_json(offer.to_json()) == offer
    assert differs_from_plan(offer, plan) is None
    assert offer.sealed.total_grains == sum(own.sealed.total_grains for own in offer.groups.values())
    for name, own in offer.groups.items():
        part = optin.PrivacyConstrained(limits[groups == name])
        alone = optin.plan(part, SHEET).announce(part, campaign="c", min_people=1)
        assert (own.terms, own.public) == (alone.terms, in_tens_of(alone.public))
        assert (own.sealed.public, own.sealed.question_sums) == (alone.sealed.public, alone.sealed.question_sums)
        assert optin.explain(offer, limit=0.7, group=name) == optin.explain(alone, limit=0.7)


def test_the_announcement_grows_with_groups_and_never_with_people():
    few, many = (
        optin.PrivacyConstrained(np.tile([0.1, 0.5, 1.0, 3.0], count), groups=["a", "b"] * (2 * count))
        for count in (50, 5_000)
    )
    sizes = [len(optin.plan(each, SHEET).announce(each, campaign="c", min_people=0).to_json()) for each in (few, many)]
    assert abs(sizes[0] - sizes[1]) < 100


def test_explain_asks_for_the_group_and_refuses_one_that_is_not_there():
    agents, *_ = people(np.random.default_rng(4))
    offer = optin.plan(agents, SHEET).announce(agents)
    with pytest.raises(BadInput, match="say yours with group"):
        optin.explain(offer, limit=0.5)
    with pytest.raises(BadInput, match='no group "ward 8"; it has "ER", "ICU", "ward 7"'):
        optin.explain(offer, limit=0.5, group="ward 8")


def small_groups():
    limits = [0.5, 1.0] * 20 + [0.5] * 4 + [0.0] * 6 + [0.5, 1.0] * 15
    return optin.PrivacyConstrained(limits, groups=["big"] * 40 + ["few"] * 4 + ["none"] * 6 + ["other"] * 30)


def test_groups_too_small_are_refused_with_what_to_merge():
    agents = small_groups()
    plan = optin.plan(agents, SHEET)
    with pytest.raises(BadInput, match=r'2 of 4 groups.*first "few": only 4.*Or merge "few", "none".*merge_small=True'):
        plan.announce(agents)


def test_one_group_alone_is_not_told_to_be_merged_with_nobody():
    agents = optin.PrivacyConstrained([0.5, 1.0], groups=["a", "b"])
    plan = optin.plan(agents, SHEET, merge_small=True)
    with pytest.raises(BadInput, match=r'1 of 1 groups.*first "a \+ b": only 2') as refused:
        plan.announce(agents)
    assert "merge" not in str(refused.value)


def test_merging_small_groups_is_said_and_explained_to_whoever_was_merged():
    agents = small_groups()
    plan = optin.plan(agents, SHEET, merge_small=True)
    assert [design.labels for design in plan.designs] == [("big",), ("few", "none", "other")]
    offer = plan.announce(agents)
    assert offer.designs[1].merged == ("few", "none", "other")
    assert "few + none + other" in repr(offer)
    assert optin.Announcement.from_json(offer.to_json()) == offer
    assert optin.explain(offer, limit=0.5, group="few") == optin.explain(offer, limit=0.5, group="few + none + other")


below_a_grain = st.sampled_from([0.0, 2.0**-40, 2.0**-32, 3 * 2.0**-33, 0.25, 0.5, 4.0])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(below_a_grain, st.sampled_from("abcd"), st.integers(1, 12)), min_size=1, max_size=12))
@pytest.mark.parametrize("sheet", [SHEET, SHEET[1:]])
def test_groups_are_merged_until_all_can_be_announced_also_where_limits_are_below_a_grain(sheet, rows):
    limits = np.repeat([limit for limit, _, _ in rows], [many for _, _, many in rows])
    groups = np.repeat([group for _, group, _ in rows], [many for _, _, many in rows])
    if not limits.any():
        return
    agents = optin.PrivacyConstrained(limits, groups=groups)
    plan = optin.plan(agents, sheet, merge_small=True)
    if len(plan.designs) > 1:
        assert set(plan.announce(agents).groups) == set(plan.groups)


def test_a_group_with_all_limits_0_is_announced_as_nothing_where_limits_are_no_secret():
    agents = small_groups()
    offer = optin.plan(agents, SHEET).announce(agents, min_people=0)
    assert offer.groups["none"].sealed.total_grains == 0
    assert optin.explain(offer, limit=0.5, group="none").epsilon == 0.0
    assert optin.Announcement.from_json(offer.to_json()) == offer


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (["a", None, "a"], r"groups\[1\] is missing"),
        (["a", "", "a"], r"groups\[1\] is missing"),
        (["a", math.nan, "a"], r"groups\[1\] is missing"),
        (["a", 7, "a"], r"groups\[1\] is not text"),
        (["a", "b\0", "a"], r"groups\[1\] holds a character"),
        (["a", "\ud800", "a"], r"groups\[1\] holds a character"),
        (["a", "b" * 20_000, "a"], r"groups\[1\] is a name of more than"),
        (["a", "b"], "groups has 2 entries for 3 people"),
        ("abc", "one label for each person"),
        ([["a"], ["b"], ["c"]], "groups must be texts"),
    ],
)
def test_labels_that_are_none_are_refused_by_place(groups, words):
    with pytest.raises(BadInput, match=words):
        optin.PrivacyConstrained([1.0, 2.0, 3.0], groups=groups)


def test_labels_are_aligned_as_limits_are():
    import pandas as pd

    limits = pd.Series([1.0, 2.0, 3.0], index=["p", "q", "r"])
    groups = pd.Series(["z", "y", "x"], index=["r", "q", "p"])
    found = optin.PrivacyConstrained(limits, groups=groups).groups
    assert [found.names[code] for code in found.codes] == ["x", "y", "z"]


def test_people_of_other_groups_are_refused():
    agents, limits, _ = people(np.random.default_rng(5))
    plan = optin.plan(agents, SHEET)
    with pytest.raises(BadInput, match="no group is called"):
        plan.epsilons(optin.PrivacyConstrained(limits, groups=["elsewhere"] * len(limits)))
    with pytest.raises(BadInput, match="these people have no groups"):
        plan.announce(optin.PrivacyConstrained(limits))


def test_an_announcement_whose_groups_were_changed_is_refused():
    import json

    from optin.formats import strict_json

    agents, *_ = people(np.random.default_rng(6))
    offer = optin.plan(agents, SHEET).announce(agents)
    record, opened = offer.to_record(), json.loads(offer.to_sealed_json())["sealed"]
    for change in (
        lambda groups: groups[0].update(group="ICU"),
        lambda groups: groups[0].update(merged=["ER", "ICU"]),
        lambda groups: groups.pop(),
        lambda groups: groups[0].update(group=""),
    ):
        changed = json.loads(json.dumps(record))
        change(changed["public"]["groups"])
        text = json.dumps(changed | {"sealed": opened, "fingerprint": strict_json.fingerprint(changed)})
        with pytest.raises(BadInput):
            optin.Announcement.from_json(text)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    "shares", [(1, 1, 1, 1, 1), (1, 1, 1, 97, 0), (30, 30, 0, 30, 10), (96, 1, 1, 1, 1), (0, 0, 0, 0, 1)]
)
def test_one_column_is_divided_as_masks_would_also_over_several_chunks(ordered, shares):
    rng = np.random.default_rng(7)
    codes = rng.choice(5, size=3 * CHUNK + 17, p=np.array(shares) / sum(shares)).astype(np.uint16)
    codes = np.sort(codes) if ordered else codes
    column = rng.random(len(codes))
    groups = Groups(tuple("abcdef"), codes)
    for place, part in enumerate(groups.divided(column)):
        assert np.array_equal(part, column[codes == place])
        assert np.array_equal(groups.rows(place), np.flatnonzero(codes == place))


@pytest.mark.parametrize("sizes", [(60_000, 9_000, 300), (20_000, 20_000, 20_000), (100_000, 1, 8_193)])
def test_a_large_group_has_the_plan_that_it_would_have_alone(sizes):
    rng = np.random.default_rng(sum(sizes))
    codes = rng.permutation(np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes))
    limits = np.round(rng.lognormal(-1.0 + codes, 1.0), rng.integers(1, 17))
    limits[rng.random(len(codes)) < 0.1] = 0.25
    limits[rng.random(len(codes)) < 0.01] = math.inf
    plan = optin.plan(optin.PrivacyConstrained(limits, groups=Groups(tuple("abc"), codes)), SHEET)
    for place, own in enumerate(plan.groups.values()):
        assert own == optin.plan(optin.PrivacyConstrained(limits[codes == place]), SHEET)


@pytest.mark.parametrize("shares", [(1,) * 50, (1,) * 20 + (20,)])
def test_groups_need_at_most_twice_the_memory_of_the_same_people_undivided(shares):
    rng = np.random.default_rng(8)
    codes = rng.choice(len(shares), size=2**21, p=np.array(shares) / sum(shares)).astype(np.uint16)
    limits, groups = rng.lognormal(size=len(codes)), Groups(tuple(map(str, range(len(shares)))), codes)

    def most_memory(**more):
        tracemalloc.start()
        optin.plan(optin.PrivacyConstrained(limits, **more), bounds=(0, 1))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most + limits.nbytes

    most_memory()  # whatever is loaded or kept the first time is no part of it
    assert most_memory(groups=groups) + codes.nbytes <= 2 * most_memory()


def test_groups_are_pickled_as_they_were_given():
    groups = Groups(("a", "b"), np.array([1, 0, 1], dtype=np.uint16))
    given = pickle.dumps(groups)
    groups.rows(1)
    assert pickle.dumps(groups) == given
    assert pickle.loads(given).names == groups.names


@pytest.mark.parametrize("pair", [("ICU", "ICU "), ("ICU", "icu"), ("\u00e9", "e\u0301"), ("a  b", "a b")])
def test_groups_that_look_alike_are_planned_apart_and_the_plan_says_so(pair):
    limits = np.tile([0.1, 0.5, 1.0, 3.0], 15)
    plan = optin.plan(optin.PrivacyConstrained(limits, groups=np.repeat([*pair, "ER"], 20)), SHEET)
    assert set(plan.groups) == {*pair, "ER"}
    assert sum("planned apart" in each for each in plan.warnings()) == 1
    other = optin.plan(optin.PrivacyConstrained(limits, groups=np.repeat(["a", "b", "ER"], 20)), SHEET)
    assert not any("planned apart" in each for each in other.warnings())


def told_people(record):
    """How many people a file says that everyone, and that each group, is."""
    return record["public"]["people"], [each["people"] for each in record["public"]["groups"]]


def test_people_of_a_group_are_announced_in_tens_all_together_exactly_and_each_group_exactly_under_seal():
    sizes = {"a": 57, "b": 123, "c": 30}
    limits = np.random.default_rng(1).choice([0.1, 0.5, 1.0], sum(sizes.values()))
    agents = optin.PrivacyConstrained(limits, groups=np.repeat(list(sizes), list(sizes.values())))
    offer = optin.plan(agents, SHEET).announce(agents)
    read = optin.Announcement.from_json(offer.to_json())
    assert told_people(json.loads(offer.to_json())) == (210, [50, 120, 30])
    for each in (offer, read):
        assert (each.people, [part.people for part in each.groups.values()]) == (210, [50, 120, 30])
    assert read.sealed is None
    opened = optin.Announcement.from_json(offer.to_sealed_json())
    for each in (offer, opened):
        assert (each.sealed.people, [part.people for part in each.sealed.groups.values()]) == (210, [57, 123, 30])
    assert "57" not in re.findall(r"\d+", repr(offer))
    assert "50 or more" in repr(offer)


@pytest.mark.parametrize(
    ("everyone", "first"),
    [(209, 50), (238, 50), (0, 50), (210, 57)],
    ids=["too few", "too many", "none", "not in tens"],
)
def test_numbers_of_people_that_groups_cannot_have_are_refused(everyone, first):
    agents = optin.PrivacyConstrained([0.1, 0.5, 1.0] * 70, groups=["a"] * 50 + ["b"] * 160)
    record = json.loads(optin.plan(agents, SHEET).announce(agents).to_json())
    assert told_people(record) == (210, [50, 160])
    record["public"]["people"], record["public"]["groups"][0]["people"] = everyone, first
    record.pop("fingerprint")
    with pytest.raises(BadInput):
        optin.Announcement.from_json(json.dumps(record | {"fingerprint": fingerprint(record)}))


def test_sealed_people_of_a_group_that_were_changed_are_refused():
    agents = optin.PrivacyConstrained([0.1, 0.5, 1.0] * 70, groups=["a"] * 57 + ["b"] * 153)
    record = json.loads(optin.plan(agents, SHEET).announce(agents).to_sealed_json())
    record["sealed"]["designs"][0]["people"] = 56
    with pytest.raises(BadInput, match="not those that the announcement is bound to"):
        optin.Announcement.from_json(json.dumps(record))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_the_public_interval_of_a_whole_contains_the_one_by_exact_numbers_of_people(seed, level):
    rng = np.random.default_rng(seed)
    sizes = {name: int(rng.integers(10, 80)) for name in "abcd"[: rng.integers(1, 5)]}
    wards, people = np.repeat(list(sizes), list(sizes.values())), sum(sizes.values())
    agents = optin.PrivacyConstrained(rng.choice([0.2, 0.5, 1.0, 3.0], people), groups=wards)
    offer = optin.plan(agents, [optin.Number("hours", bounds=(0, 80), sd=9), optin.YesNo("late")]).announce(agents)
    hours = rng.uniform(0, 80, people) * np.array([0.1, 0.5, 0.9, 1.0])[[*"abcd"].index(wards[0])]
    release = optin.release(offer, agents, {"hours": hours, "late": rng.random(people) < 0.4})
    for name in ("hours", "late"):
        told = release.total(name)
        exact = total_of(release.sealed.groups, name, release.sealed.group_people)
        assert sum(told.shares.values()) == pytest.approx(1)
        for mine, theirs in zip(told.readings(level), exact.readings(level), strict=True):
            assert mine.low <= theirs.low + 1e-9 * 80
            assert mine.high >= theirs.high - 1e-9 * 80
    assert optin.Release.from_json(release.to_json()).total("hours") == release.total("hours")
