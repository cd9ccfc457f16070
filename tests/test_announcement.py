"""The public offer: exact promises, exact sums, one fingerprint, and what a person makes of it alone."""

import decimal
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from changing import changed_offer, part_with, parts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin.announcement import Announcement
from optin.announcement.exact import exact_variance
from optin.errors import BadInput, Infeasible
from optin.grains.arrays import GrainRule, everyone_grains
from optin.kernel.coarse import two_figures_up

NAMES = ["epsilon at most", "odds factor", "weight", "utility", "margin"]
WORKED = [1.0, 4.0, 9.0, 9.0]
limits_with_edges = st.one_of(
    st.sampled_from([0.0, math.inf, 5e-324, 2.0**-32, 2.0**-33, 1.0, 1024.0, math.nextafter(1024.0, 2000.0), 1e308]),
    st.floats(min_value=0.0, max_value=2000.0),
)


def announced(limits, *, bounds=(0.0, 1.0), min_people=1, **settings):
    agents = optin.PrivacyConstrained(limits)
    return optin.plan(agents, bounds=bounds, **settings).announce(agents, min_people=min_people), agents


def quasi_linear(costs, benefit, *, min_people=1, outside=0.0, **settings):
    agents = optin.QuasiLinear(costs, benefit=benefit, outside=outside)
    return optin.plan(agents, bounds=(0.0, 1.0), **settings).announce(agents, min_people=min_people), agents


def four_crossings():
    """M1 of the theory: costs [1, 1/128 x3] and a steep line."""
    return quasi_linear([1.0, 1 / 128, 1 / 128, 1 / 128], optin.LinearBenefit(base=17.05, slope=200.0))


def floor_of_grains(limits):
    """Compute floor(limit * 2^32) from mantissa and exponent in integers, another way than the package does."""
    mantissa, exponent = np.frexp(limits)
    whole = (mantissa * 2.0**53).astype(np.int64)
    return whole >> np.clip(21 - exponent, 0, 63)


def test_the_worked_example_is_announced_as_in_the_theory():
    offer, agents = announced(WORKED)
    assert optin.plan(agents, bounds=(0.0, 1.0)).cap == 5.0
    low, high = 2.0 ** (18 / 8), 2.0 ** (19 / 8)
    mse = [(0.25 * (17 + 2 * cap**2) + 2) / (5 + 2 * cap) ** 2 for cap in (low, high)]
    assert offer.cap == (low if mse[0] < mse[1] else high)
    capped = int(offer.cap * 2**32)
    assert offer.grains(agents).tolist() == [2**32, 4 * 2**32, capped, capped]
    assert offer.sealed.eta == float(Fraction(5 * 2**32 + 2 * capped, 2**32))
    assert offer.sealed.variance == pytest.approx(min(mse), rel=1e-9)
    assert offer.sealed.total_grains == 5 * 2**32 + 2 * capped
    assert offer.sealed.total_squared_grains == 17 * 2**64 + 2 * capped**2
    assert (offer.variance, offer.noise_scale) == (two_figures_up(min(mse)), two_figures_up(1 / offer.sealed.eta))


def test_grains_of_a_million_people_never_pass_the_floor_of_their_limit():
    rng = np.random.default_rng(1)
    limits = np.concatenate([rng.lognormal(-2, 3, 10**6 - 10), 2.0 ** np.arange(-40, -30)])
    limits = np.minimum(limits, 2.0**20)
    offer, agents = announced(limits)
    grains = offer.grains(agents)
    assert np.all(grains <= floor_of_grains(limits))
    assert np.all(grains == np.minimum(floor_of_grains(limits), int(offer.cap * 2.0**32)))


@pytest.mark.parametrize(("smallest", "loss"), [(1e-3, 1e-6), (1e-4, 5e-6)])
def test_rounding_to_grains_costs_almost_no_variance(smallest, loss):
    limits = smallest * np.exp(np.random.default_rng(2).exponential(1.0, 10_000))
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=(0.0, 1.0))
    offer = plan.announce(agents)
    given = np.minimum(limits, offer.cap)
    ideal = (0.25 * np.sum(given**2) + 2.0) / given.sum() ** 2
    assert ideal * (1 - 1e-12) <= offer.sealed.variance < ideal * (1 + loss)


def weighed(rule, values, bounds=(0.0, 1.0), joined=None):
    """The sums of the one question of a sheet, its cells included."""
    (found,) = rule.weighed((optin.Number("value", bounds=bounds),), (values,), joined=joined).questions
    return found


@given(st.lists(limits_with_edges, min_size=1, max_size=40), st.floats(min_value=1e-9, max_value=1024.0))
def test_sums_are_the_sums_of_exact_integers(limits, cap):
    rule = GrainRule(limits=np.array(limits).__getitem__, people=len(limits), cap=cap)
    exact = [math.floor(Fraction(min(limit, cap)) * 2**32) for limit in limits]
    everyone, present = rule.sums()
    (only,) = everyone.questions
    assert everyone_grains(rule).tolist() == exact
    assert (only.grains, only.squares) == (sum(exact), sum(a * a for a in exact))
    assert present == everyone
    assert rule.sums_above((exact[0],)) == ((sum(a > exact[0] for a in exact), sum(a for a in exact if a > exact[0])),)


@given(
    st.lists(
        st.tuples(limits_with_edges, st.floats(allow_nan=False), st.booleans()),
        min_size=1,
        max_size=40,
    )
)
def test_weighted_levels_of_the_joined_are_summed_exactly(people):
    limits, values, joined = (np.array(column) for column in zip(*people, strict=True))
    rule = GrainRule(limits=limits.__getitem__, people=len(limits), cap=1024.0)
    everyone, those = rule.sums(joined=joined)[0], weighed(rule, values, (-1.0, 3.0), joined)
    grains = everyone_grains(rule).tolist()
    level = [math.floor((min(max(d, -1.0), 3.0) + 1.0) / 4.0 * 2.0**20 + 0.5) for d in values.tolist()]
    assert everyone.grains == sum(grains)
    assert those.grains == sum(a for a, j in zip(grains, joined, strict=True) if j)
    assert those.cells[0] == sum(a * z for a, z, j in zip(grains, level, joined, strict=True) if j)
    assert those.people == sum(joined)


def test_sums_above_a_bar_do_not_depend_on_how_people_are_cut():
    rng = np.random.default_rng(8)
    n = 2**21 + 12345
    limits, joined = np.minimum(rng.lognormal(3, 3, n), 1024.0), rng.random(n) < 0.7
    rule = GrainRule(limits=limits.__getitem__, people=n, cap=1024.0)
    grains = everyone_grains(rule)
    above = grains[(grains > 2**35) & joined]
    assert rule.sums_above((2**35,), joined) == ((len(above), int(above.sum())),)


def test_sums_do_not_depend_on_how_people_are_cut_into_chunks_and_threads():
    rng = np.random.default_rng(3)
    n = 2**21 + 12345
    limits, values = np.minimum(rng.lognormal(3, 3, n), 1024.0), rng.random(n)
    rule = GrainRule(limits=limits.__getitem__, people=n, cap=1024.0)
    (everyone,), those = rule.sums()[0].questions, weighed(rule, values)
    grains, level = everyone_grains(rule), np.floor(values * 2.0**20 + 0.5).astype(np.int64)
    assert everyone.grains == int(grains.sum())
    assert everyone.squares == sum(int(a) ** 2 for a in grains.tolist())
    assert those.cells[0] == sum(a * z for a, z in zip(grains.tolist(), level.tolist(), strict=True))


def test_everyone_at_the_highest_promise_still_sums_exactly():
    rule = GrainRule(limits=np.full(10_000, np.inf).__getitem__, people=10_000, cap=1024.0)
    (everyone,), those = rule.sums()[0].questions, weighed(rule, np.ones(10_000))
    assert everyone.grains == 10_000 * 2**42
    assert everyone.squares == 10_000 * 2**84
    assert those.cells[0] == 10_000 * 2**62


def test_a_cap_above_1024_is_lowered_and_the_announcement_says_so():
    offer, agents = announced([1.0, 5000.0], data_variance=1e-5)
    assert offer.cap == 1024.0
    assert offer.cap_lowered
    assert offer.grains(agents).max() == 1024 * 2**32
    assert not announced(WORKED)[0].cap_lowered


def test_without_noise_only_people_without_a_limit_count():
    offer, agents = announced([0.0, math.inf, math.inf])
    assert offer.noiseless
    assert offer.grains(agents).tolist() == [0, 2**42, 2**42]
    assert offer.variance == 0.125
    assert Announcement.from_json(offer.to_json()) == offer
    assert optin.explain(offer, limit=math.inf).odds_factor == math.inf
    assert optin.explain(offer, limit=7.0).grains == 0


def test_promises_below_one_grain_cannot_be_announced():
    with pytest.raises(Infeasible, match="below one grain"):
        announced([1e-12, 2e-12])


def test_small_groups_are_refused_with_the_reason_and_zeros_do_not_count():
    with pytest.raises(BadInput, match="give single limits away"):
        announced([1.0] * 9, min_people=10)
    with pytest.raises(BadInput, match="only 9 people"):
        announced([1.0] * 9 + [0.0] * 5, min_people=10)
    assert announced([1.0] * 10, min_people=10)[0].people == 10


@pytest.mark.parametrize("min_people", [math.nan, None, "5", True, 2.5, -1])
def test_what_is_no_count_does_not_open_the_gate_to_small_groups(min_people):
    with pytest.raises(BadInput, match="min_people must be a whole number"):
        announced(WORKED, min_people=min_people)


@pytest.mark.parametrize("below", [1, 2, 3])
def test_a_few_people_below_a_cap_that_all_others_reach_are_refused(below):
    limits = [2.0, 1.5, 1.25][:below] + [9.0] * 99
    with pytest.raises(BadInput, match=f"all but {below} of {99 + below} people"):
        announced(limits, min_people=10)
    with pytest.raises(BadInput, match="give the limits"):
        announced([*limits, 0.0], min_people=50)
    assert announced(limits, min_people=9)[0].people == 99 + below


def test_four_people_below_the_cap_or_none_at_all_are_announced():
    assert announced([2.0, 1.5, 1.25, 1.0] + [9.0] * 99, min_people=10)[0].people == 103
    assert announced([9.0] * 99, min_people=10)[0].people == 99
    assert announced([0.01, 0.02, 0.03] * 5, min_people=10)[0].people == 15


def test_campaign_ids_are_random_and_given_ones_are_kept():
    agents = optin.PrivacyConstrained(WORKED)
    plan = optin.plan(agents, bounds=(0.0, 1.0))
    first, second = (plan.announce(agents, min_people=1) for _ in range(2))
    assert first.campaign != second.campaign
    assert len(bytes.fromhex(first.campaign)) == 16
    named = plan.announce(agents, campaign="wages 2026", round=3, min_people=1)
    assert named.id == "wages 2026-3"


@pytest.mark.parametrize("bad", ["", "  ", " a", "a\n", "x" * 129, 5])
def test_unusable_campaign_names_are_refused(bad):
    agents = optin.PrivacyConstrained(WORKED)
    with pytest.raises(BadInput, match="campaign"):
        optin.plan(agents, bounds=(0.0, 1.0)).announce(agents, campaign=bad, min_people=1)


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, 2**31, 2**63])
def test_rounds_are_whole_numbers_from_one_that_every_database_holds(bad):
    agents = optin.PrivacyConstrained(WORKED)
    with pytest.raises(BadInput, match="round"):
        optin.plan(agents, bounds=(0.0, 1.0)).announce(agents, round=bad, min_people=1)


def test_a_plan_is_announced_only_to_as_many_people_as_it_was_made_for():
    plan = optin.plan(optin.PrivacyConstrained(WORKED), bounds=(0.0, 1.0))
    with pytest.raises(BadInput, match="made for 4 people, not 3"):
        plan.announce(optin.PrivacyConstrained(WORKED[:3]), min_people=1)


def test_bounds_whose_distance_is_no_float_are_refused():
    agents = optin.PrivacyConstrained(WORKED)
    with pytest.raises(BadInput, match="bounds"):
        optin.plan(agents, bounds=(-1e308, 1e308)).announce(agents, min_people=1)


def test_announcements_read_back_unchanged_and_stay_small():
    for offer in (announced(WORKED)[0], announced(np.full(10_000, 0.3))[0], four_crossings()[0]):
        assert Announcement.from_json(offer.to_json()) == offer
        assert len(offer.to_json()) < 2000


ANNOUNCED = [
    *("campaign", "round", "model", "title", "purpose", "asked_by", "kind", "name", "text", "unit", "column", "bounds"),
    *(
        "importance",
        "max_gap",
        "data_variance",
        "people",
        "cap",
        "cap_lowered",
        "noiseless",
        "tilt",
        "variances",
        "shares",
    ),
    *("variance", "surplus", "benefit_name", "benefit_at_promise", "outside", "total_grains", "total_squared_grains"),
    *("quorum_people", "quorum_error", "min_people", "max_error", "answers_until", "published_until", "mode"),
]


@pytest.mark.parametrize("name", ANNOUNCED)
def test_changing_any_announced_field_is_noticed(name):
    record = json.loads(four_crossings()[0].to_json())
    part = part_with(record, name)
    found = part[name]
    part[name] = {
        str: lambda: str(int(found) + 1) if found.isdecimal() else found + "x",
        bool: lambda: not found,
        int: lambda: found + 1,
        float: lambda: found + 0.5,
        list: lambda: [*found[:-1], found[-1] + 1.0],
        type(None): lambda: "x",
    }[type(found)]()
    with pytest.raises(BadInput, match="fingerprint"):
        Announcement.from_json(json.dumps(record))


def test_every_announced_field_is_among_those_changed():
    record = json.loads(four_crossings()[0].to_json())
    leaves = {name for part in parts_of(record) for name, value in part.items() if not list(parts_of(value))}
    assert leaves == {*ANNOUNCED, "format", "fingerprint"}


@pytest.mark.parametrize("forgery", [{"variance": 0.01}, {"noiseless": True}])
@pytest.mark.parametrize("eta", [None, 8.0])
def test_a_forged_accuracy_is_noticed_even_with_a_fresh_fingerprint(forgery, eta):
    forged = changed_offer(announced(WORKED, eta=eta)[0], **forgery)
    with pytest.raises(BadInput, match=r"do(es)? not follow|cap"):
        Announcement.from_json(forged.to_json())


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["public"].pop("cap"),
        lambda record: record.update(extra=1),
        *(lambda record, part=part: record[part].update(extra=1) for part in ("terms", "public", "sealed")),
        lambda record: record.update(commitment="ab"),
        lambda record: record.update(format="optin.announcement/3"),
        lambda record: record.pop("format"),
        lambda record: record.update(format="optin.release/1"),
        lambda record: part_with(record, "cap").update(cap=None),
        lambda record: part_with(record, "cap").update(cap="5"),
        lambda record: part_with(record, "people").update(people=4.5),
        lambda record: part_with(record, "campaign").update(campaign=7),
        lambda record: part_with(record, "cap_lowered").update(cap_lowered=0),
        lambda record: part_with(record, "bounds").update(bounds=[1.0, 0.0]),
        lambda record: part_with(record, "bounds").update(bounds=[0.0]),
        lambda record: part_with(record, "bounds").update(bounds=[0, 10**400]),
        lambda record: part_with(record, "bounds").update(bounds=[-1e308, 1e308]),
        lambda record: part_with(record, "bounds").update(bounds=[0.0, 1e200]),
        lambda record: part_with(record, "bounds").update(bounds=[0.0, 5e-324]),
        lambda record: part_with(record, "cap").update(cap=10**400),
        lambda record: part_with(record, "people").update(people=10**400),
    ],
)
@pytest.mark.parametrize("eta", [None, 8.0])
def test_malformed_announcements_are_refused(change, eta):
    record = json.loads(announced(WORKED, eta=eta)[0].to_sealed_json())
    change(record)
    with pytest.raises(BadInput, match="announcement"):
        Announcement.from_json(json.dumps(record))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", '{"cap": NaN}', '{"a": 1, "a": 2}', "[" * 100_000])
def test_text_that_is_no_announcement_is_refused(text):
    with pytest.raises(BadInput, match="announcement"):
        Announcement.from_json(text)


def test_an_unknown_model_and_impossible_counts_are_refused_even_with_a_fresh_fingerprint():
    offer, _ = announced(WORKED, eta=8.0)
    for change in ({"model": "other"}, {"people": 0}, {"total_grains": 0}, {"cap": -1.0}, {"round": 0}):
        with pytest.raises(BadInput, match=r"cannot be read|round must be"):
            Announcement.from_json(changed_offer(offer, **change).to_json())


IMPOSSIBLE = [
    *({"max_gap": -1.0}, {"max_gap": 1.5}, {"tilt": 5.0}, {"tilt": -0.1}, {"data_variance": -0.001}),
    *({"data_variance": 1e6}, {"cap": 5000.0}, {"cap": 4.0}, {"total_squared_grains": 1}, {"people": 3}),
    *({"total_squared_grains": 2**90}, {"cap_lowered": True}, {"surplus": 1.0}, {"promised_variance": 0.1}),
    *({"round": 2**31}, {"round": 10**50}, {"campaign": "a\nb"}, {"campaign": "\x1b[31m"}, {"campaign": "x" * 10**6}),
    {"benefit_name": "other"},
]


def stated_again(offer, change):
    """Forge an announcement as well as one can: with every number that follows from the others made to follow."""
    forged = changed_offer(offer, **change)
    variance = float(exact_variance(forged.question, forged.sealed.question_sums[0]))
    return changed_offer(forged, variance=variance if offer.seal is None else two_figures_up(max(variance, 0.0)))


@pytest.mark.parametrize("change", IMPOSSIBLE, ids=lambda change: next(iter(change)))
@pytest.mark.parametrize("eta", [None, 15.0])
def test_what_no_plan_could_announce_is_refused_even_with_a_fresh_fingerprint(change, eta):
    with pytest.raises(BadInput, match=r"contradicts itself|round must|campaign must|must lie between|is not a number"):
        Announcement.from_json(stated_again(announced(WORKED, eta=eta)[0], change).to_sealed_json())


@pytest.mark.parametrize(
    "change",
    [
        *({"promised_variance": None}, {"promised_variance": 1e-9}, {"promised_variance": math.inf}),
        *({"surplus": 99.0}, {"outside": math.inf}, {"benefit_at_promise": 0.0}),
    ],
)
def test_a_promise_to_people_with_costs_that_does_not_follow_is_refused(change):
    with pytest.raises(BadInput, match=r"contradicts itself|is not a number"):
        Announcement.from_json(changed_offer(four_crossings()[0], **change).to_json())


@settings(max_examples=examples(200))
@given(st.lists(limits_with_edges.filter(lambda t: t >= 2.0**-32 and t != 1e308), min_size=1, max_size=12))
def test_each_person_computes_alone_exactly_what_the_announcement_gives_them(limits):
    offer, agents = announced(limits)
    grains = offer.grains(agents).tolist()
    deals = [optin.explain(offer, limit=limit) for limit in limits]
    assert [deal.grains for deal in deals] == grains
    assert sum(Fraction(a, offer.sealed.total_grains) for a in grains) == 1
    coarse = 1.1 if len(limits) < 10 else 15 / 12  # two figures, or twelve to a decade: 12 is followed by 15
    for deal, limit, a in zip(deals, limits, grains, strict=True):
        told = float(Fraction(a, offer.sealed.total_grains))
        assert deal.weight == told if offer.seal is None else told <= deal.weight <= min(coarse * told, 1.0)
        assert deal.epsilon <= limit
        assert deal.margin >= 0
        if not offer.noiseless:
            assert Fraction(deal.epsilon) == Fraction(a, 2**32)


@given(st.floats(min_value=1e-9, max_value=1000.0))
def test_the_odds_factor_is_rounded_up_also_in_print(limit):
    offer, _ = announced([0.5, 1024.0])
    deal = optin.explain(offer, limit=limit)
    with decimal.localcontext(prec=60):
        exact = decimal.Decimal(deal.epsilon).exp()
        assert deal.odds_factor == math.inf or decimal.Decimal(deal.odds_factor) >= exact
        assert deal.odds_factor <= float(exact) * (1 + 1e-14)
        printed = next(line for line in str(deal).splitlines() if line.startswith("odds")).split()[2]
        assert decimal.Decimal(printed.replace(",", "").replace("∞", "Infinity")) >= exact


def test_a_deal_prints_every_number_in_the_direction_of_caution():
    offer, _ = four_crossings()
    text = str(optin.explain(offer, cost=1.0))
    assert [line.split("  ")[0] for line in text.splitlines()] == [
        "epsilon at most",
        "odds factor",
        "weight",
        "utility",
        "margin",
    ]


def test_four_crossings_is_announced_at_the_least_fixed_point():
    offer, _ = four_crossings()
    assert offer.promised_variance == pytest.approx(0.0724891738191508, rel=1e-7)
    assert offer.surplus == pytest.approx(2.552165236169844, rel=1e-6)
    assert offer.benefit_at_promise - offer.outside == offer.surplus
    assert exact_variance(offer.question, offer.sealed.question_sums[0]) <= Fraction(offer.promised_variance)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.floats(min_value=0.01, max_value=100.0), min_size=3, max_size=12),
    st.floats(min_value=0.0, max_value=0.3),
    st.sampled_from([0.0, 0.01, 0.2]),
)
def test_at_full_turnout_every_quasi_linear_person_gains_in_exact_arithmetic(costs, slope, slack):
    benefit = optin.LinearBenefit(base=40.0, slope=slope)
    offer, agents = quasi_linear(costs, benefit, outside=0.1, slack=slack)
    promised = Fraction(offer.promised_variance)
    assert exact_variance(offer.question, offer.sealed.question_sums[0]) <= promised
    gain = Fraction(float(benefit(offer.promised_variance))) - Fraction(0.1)
    for cost, a in zip(costs, offer.grains(agents).tolist(), strict=True):
        assert Fraction(cost) * Fraction(a, 2**32) <= gain
        deal = optin.explain(offer, cost=cost)
        assert deal.grains == a
        assert deal.margin >= 0
        assert deal.utility >= 0.1


def test_a_tangent_plan_is_refused_and_slack_mends_it():
    costs, benefit = [1.0, 1 / 128, 1 / 128, 1 / 128], optin.LinearBenefit(base=17.0, slope=200.0)
    with pytest.raises(Infeasible, match="slack"):
        quasi_linear(costs, benefit)
    offer, _ = quasi_linear(costs, benefit, slack=0.001)
    assert offer.variance <= offer.promised_variance


def test_close_to_a_tangent_the_promise_still_covers_the_rounding():
    costs, benefit = [1.0, 1 / 128, 1 / 128, 1 / 128], optin.LinearBenefit(base=17 + 2.0**-20, slope=200.0)
    offer, _ = quasi_linear(costs, benefit)
    assert offer.promised_variance == pytest.approx(0.0749874016274416, rel=1e-4)


def test_people_with_benefits_of_their_own_need_them_to_explain_the_offer():
    benefit = optin.LinearBenefit(base=np.array([5.0, 5.0, 1.0]), slope=np.array([8.0, 8.0, 4.0]))
    offer, agents = quasi_linear([1.0, 1.0, 1.0], benefit, outside=np.array([0.0, 0.0, 0.5]))
    assert offer.surplus is None
    assert offer.promised_variance == pytest.approx(0.161340580070384645, rel=1e-7)
    grains = offer.grains(agents).tolist()
    first = optin.explain(offer, cost=1.0, benefit=optin.LinearBenefit(base=5.0, slope=8.0), outside=0.0)
    third = optin.explain(offer, cost=1.0, benefit=1 - 4 * offer.promised_variance, outside=0.5)
    assert [first.grains, third.grains] == [grains[0], grains[2]]
    assert grains[2] == 0
    assert third.margin < 0
    with pytest.raises(BadInput, match="give your own"):
        optin.explain(offer, cost=1.0)


def test_costs_of_zero_may_be_used_without_limit():
    offer, agents = quasi_linear([0.0, 1.0], optin.LinearBenefit(base=0.25, slope=1.0))
    assert offer.noiseless
    assert offer.grains(agents).tolist() == [2**42, 0]
    assert optin.explain(offer, cost=0.0).margin == 0.0


def test_a_person_may_value_a_shared_offer_in_their_own_way():
    offer, _ = four_crossings()
    content, reluctant = optin.explain(offer, cost=1.0), optin.explain(offer, cost=1.0, outside=100.0)
    assert reluctant.grains == content.grains
    assert reluctant.margin < 0 <= content.margin


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"cost": 1.0},
        {"limit": 1.0, "outside": 0.0},
        {"limit": -1.0},
        {"limit": math.nan},
        {"limit": "x"},
        {"limit": 10**400},
    ],
)
def test_people_with_limits_explain_by_limit_only(given):
    with pytest.raises(BadInput, match="limit"):
        optin.explain(announced(WORKED)[0], **given)


@pytest.mark.parametrize(
    "given",
    [
        *({}, {"limit": 1.0}, {"cost": -1.0}, {"cost": math.nan}, {"cost": "x"}),
        *(
            {"cost": 1.0, "benefit": math.inf},
            {"cost": 1.0, "outside": "x"},
            {"cost": 1.0, "benefit": lambda _: [1, 2]},
        ),
    ],
)
def test_people_with_costs_explain_by_cost(given):
    with pytest.raises(BadInput, match=r"cost|finite|outside|benefit"):
        optin.explain(four_crossings()[0], **given)


def test_an_infinite_cost_is_promised_nothing_and_loses_nothing():
    deal = optin.explain(four_crossings()[0], cost=math.inf)
    assert (deal.grains, deal.odds_factor) == (0, 1.0)
    assert deal.margin > 0


def test_an_announcement_for_limits_refuses_people_with_costs():
    offer, _ = announced(WORKED)
    _, others = four_crossings()
    with pytest.raises(BadInput, match="privacy-constrained"):
        offer.grains(others)


def test_tilt_is_the_distance_of_the_weights_from_equal_ones():
    offer, agents = announced([1.0, 4.0, 9.0, 9.0], max_gap=0.0)
    weights = [Fraction(a, offer.sealed.total_grains) for a in offer.grains(agents).tolist()]
    assert offer.sealed.tilt == float(sum(max(w - Fraction(1, 4), 0) for w in weights))
    assert offer.tilt == two_figures_up(offer.sealed.tilt)
    assert offer.bias_bound == 0.0


def test_a_missing_limit_is_never_charged_the_cap():
    offer, _ = announced(WORKED)
    rule = GrainRule(limits=np.array([1.0, math.nan, 9.0, 9.0]).__getitem__, people=4, cap=offer.cap)
    with pytest.raises(optin.errors.PromiseBroken, match="not a number"):
        rule.sums()


def test_the_rule_behind_the_promises_prints_nobodys_cost():
    offer, agents = quasi_linear([0.123456789] * 12, optin.LinearBenefit(base=1.0, slope=1.0))
    assert "123456789" not in repr(offer.grain_rule(agents))
