"""Labels: whose number each is, wherever columns meet people."""

import copy
import pickle
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from changing import numbers_of
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin import LinearBenefit, PrivacyConstrained, QuasiLinear, campaign
from optin.dynamics import game_of, play
from optin.errors import BadInput
from optin.incentives import cost_reports, limit_reports
from optin.ledger import Ledger, Terms
from optin.participation import renormalised_weights, turnout
from optin.relations import dial_points
from optin.releasing.drawing import measure

N = 12
NAMES = [f"p{k}" for k in range(N)]
LIMITS = np.linspace(0.1, 1.2, N)
VALUES = np.linspace(0.0, 1.0, N)
JOINED = np.arange(N) != 4
KINDS = {
    "texts": pd.Index([f"row {k}" for k in range(N)]),
    "numbers": pd.Index(range(100, 100 + N)),
    "dates": pd.date_range("2026-01-01", periods=N),
    "levels": pd.MultiIndex.from_product([["a", "b"], range(N // 2)]),
    "categories": pd.CategoricalIndex([f"c{k}" for k in range(N)]),
    "fractions": pd.Index(np.arange(N) / 4 + 0.125),
}


def labelled(values, labels="texts", order=None):
    series = pd.Series(values, index=KINDS[labels])
    return series if order is None else series.iloc[order]


def shuffled(seed=5):
    return np.random.default_rng(seed).permutation(N)


def people_of(limits=LIMITS, **more):
    return PrivacyConstrained(limits, ids=NAMES, **more)


def offered(people):
    return optin.plan(people, bounds=(0, 1)).announce(people, campaign="labels")


def weighted(people, values, joined=None):
    """Give the exact sum of promise times level: it differs as soon as one value enters with another's weight."""
    return measure(offered(people), people, values, joined=joined).those


PLAIN = weighted(people_of(), VALUES, JOINED)


# Aligned by label.


@pytest.mark.parametrize("kind", KINDS)
def test_labelled_values_are_matched_to_labelled_people_in_whatever_order(kind):
    people, order = people_of(labelled(LIMITS, kind)), shuffled()
    assert weighted(people, labelled(VALUES, kind, order), labelled(JOINED, kind, order[::-1])) == PLAIN


@settings(max_examples=examples(40), deadline=None)
@given(*(st.permutations(range(N)) for _ in range(3)), st.sampled_from(sorted(KINDS)))
def test_any_permutation_of_labelled_columns_gives_the_same_integers(first, second, third, kind):
    limits = labelled(LIMITS, kind, first)
    people = PrivacyConstrained(limits, ids=labelled(NAMES, kind, second))
    assert people.ids == tuple(np.array(NAMES)[first])
    assert weighted(people, labelled(VALUES, kind, third), labelled(JOINED, kind, second)) == PLAIN


@settings(max_examples=examples(10), deadline=None)
@given(st.permutations(range(N)), st.permutations(range(N)))
def test_any_permutation_of_labelled_columns_is_charged_alike_in_the_ledger(first, second):
    spent = []
    for limits, values, joined, totals in (
        (LIMITS, VALUES, JOINED, 2 * LIMITS),
        (labelled(LIMITS, order=first), labelled(VALUES, order=second), labelled(JOINED, order=second[::-1]), None),
    ):
        with Ledger.open(f"{tempfile.mkdtemp()}/ledger.sqlite") as ledger:
            ids = NAMES if totals is not None else labelled(NAMES, order=second)
            people = PrivacyConstrained(limits, ids=ids)
            totals = labelled(2 * LIMITS, order=second) if totals is None else totals
            plan = campaign.plan(people, bounds=(0, 1), ledger=ledger, allowances=totals)
            offer = campaign.announce(plan, people, ledger=ledger, campaign="c", allowances=totals)
            made = campaign.release(offer, people, values, ledger=ledger, joined=joined)
            left = dict(zip(NAMES, ledger.remaining(NAMES).tolist(), strict=True))
            spent.append((left, dict(zip(people.ids, made.grains.tolist(), strict=True)), made.sealed.total_grains))
    assert spent[0] == spent[1]


def test_a_limit_that_the_ledger_cut_keeps_its_label(tmp_path):
    order = shuffled()
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        people = PrivacyConstrained(labelled(LIMITS), ids=labelled(NAMES))
        totals = labelled(1.5 * LIMITS, order=order)
        for round_ in (1, 2):
            plan = campaign.plan(people, bounds=(0, 1), ledger=ledger, allowances=totals)
            offer = campaign.announce(
                plan, people, ledger=ledger, campaign="c", round=round_, allowances=totals, min_people=1
            )
            campaign.release(offer, people, labelled(VALUES, order=order), ledger=ledger)
        assert ledger.remaining(NAMES).max() <= 1
    with Ledger.open(str(tmp_path / "new.sqlite")) as ledger:
        lowered = campaign.within_allowance(people, ledger, allowances=totals / 3)
    assert np.allclose(lowered.limits, LIMITS / 2, rtol=1e-8)
    assert lowered.index.equals(people.index)


def test_budgets_costs_and_ids_are_matched_by_label():
    order = shuffled()
    people = PrivacyConstrained.from_budgets(
        labelled(LIMITS), labelled(VALUES + 1, order=order), ids=labelled(NAMES, order=order[::-1])
    )
    plain = PrivacyConstrained.from_budgets(LIMITS, VALUES + 1, ids=NAMES)
    assert people.limits.tolist() == plain.limits.tolist()
    assert people.ids == plain.ids


def test_benefits_and_outside_options_are_matched_by_label():
    costs, base, slope, outside = LIMITS + 0.5, LIMITS + 4, VALUES + 1, VALUES / 10
    plain = QuasiLinear(costs, benefit=LinearBenefit(base, slope), outside=outside)
    orders = [shuffled(seed) for seed in range(4)]
    benefit = LinearBenefit(labelled(base, order=orders[0]), labelled(slope, order=orders[1]))
    people = QuasiLinear(labelled(costs, order=orders[2]), benefit=benefit, outside=labelled(outside, order=orders[3]))
    back = np.argsort(orders[2])
    assert people.limits_at(0.1)[back].tolist() == plain.limits_at(0.1).tolist()
    assert optin.plan(people, bounds=(0, 1)).cap == optin.plan(plain, bounds=(0, 1)).cap
    calls = QuasiLinear(labelled(costs), benefit=lambda v: labelled(base - slope * v, order=orders[0]), outside=outside)
    assert np.allclose(calls.limits_at(0.1), plain.limits_at(0.1), rtol=1e-12)
    assert np.isclose(optin.plan(calls, bounds=(0, 1)).cap, optin.plan(plain, bounds=(0, 1)).cap, rtol=1e-9)


def test_turnouts_weights_means_and_crowds_are_matched_by_label(tmp_path):
    people, plain, order = people_of(labelled(LIMITS)), people_of(), shuffled()
    offer, joined = offered(plain), labelled(JOINED, order=order)
    assert turnout(offer, people, joined) == turnout(offer, plain, JOINED)
    assert renormalised_weights(offer, people, joined).tolist() == renormalised_weights(offer, plain, JOINED).tolist()
    campaign.write_grains(offer, people, tmp_path / "grains.parquet", joined=joined)
    grains = pd.read_parquet(tmp_path / "grains.parquet").set_index("id")["grains"]
    assert grains.tolist() == (offer.grains(plain) * JOINED).tolist()
    means = labelled(VALUES, order=order)
    assert dial_points(people, means, bounds=(0, 1), max_gap=0.1) == dial_points(
        plain, VALUES, bounds=(0, 1), max_gap=0.1
    )
    costs, benefit = LIMITS + 0.5, LinearBenefit(4, 4)
    games = [game_of(optin.plan(q, bounds=(0, 1)), q) for q in (
        QuasiLinear(labelled(costs), benefit=benefit), QuasiLinear(costs, benefit=benefit)
    )]  # fmt: skip
    assert games[0].variance(joined) == games[1].variance(JOINED)
    assert games[0].gains(joined).tolist() == games[1].gains(JOINED).tolist()
    assert play(games[0], start=joined).counts == play(games[1], start=JOINED).counts


def test_reports_of_people_are_matched_by_label():
    order, told = shuffled(), np.outer(LIMITS, [0.5, 1.0])
    table = pd.DataFrame(told, index=KINDS["texts"]).iloc[order]
    found = limit_reports(people_of(labelled(LIMITS)), bounds=(0, 1), reports=table)
    assert found.reports.tolist() == told.tolist()
    weighing = QuasiLinear(labelled(LIMITS), benefit=LinearBenefit(4, 4))
    assert cost_reports(weighing, bounds=(0, 1), reports=table).reports.tolist() == told.tolist()
    with pytest.raises(BadInput, match="different indexes"):
        limit_reports(people_of(), bounds=(0, 1), reports=table)


def test_a_ledger_matches_its_columns_by_label(tmp_path):
    people, order = PrivacyConstrained(LIMITS), shuffled()
    offer = optin.plan(people, bounds=(0, 1)).announce(people)
    terms, grains = Terms(offer.campaign, offer.round, offer.fingerprint), offer.grains(people)
    held = {"body": offer.to_sealed_json(), "ids": labelled(NAMES), "allowances": labelled(2 * grains)}
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        ledger.announce(terms, **held, grains=labelled(grains, order=order))
        assert ledger.promises(terms) == dict(zip(NAMES, grains.tolist(), strict=True))
        ids = labelled(NAMES, order=order)
        raised = ledger.remaining(ids, raised_to=labelled(3 * grains))
        assert raised.tolist() == (2 * grains)[order].tolist()
        with pytest.raises(BadInput, match="different indexes"):
            ledger.announce(terms, **held, grains=labelled(grains, "dates"))


# By position.


def test_plain_columns_go_by_position_whatever_the_people_carry():
    people = people_of(labelled(LIMITS))
    for values in (VALUES.tolist(), VALUES, pl.Series(VALUES), pa.array(VALUES), pa.chunked_array([VALUES])):
        assert weighted(people, values, JOINED) == PLAIN
    assert weighted(people_of(pl.Series(LIMITS)), VALUES, pl.Series(JOINED)) == PLAIN
    assert PrivacyConstrained(LIMITS, ids=pa.array(NAMES)).ids == tuple(NAMES)


def test_default_labels_go_by_position():
    default = pd.Series(VALUES), pd.Series(JOINED)
    assert weighted(people_of(labelled(LIMITS)), *default) == PLAIN
    assert weighted(people_of(pd.Series(LIMITS)), *default) == PLAIN
    assert weighted(people_of(), *default) == PLAIN
    assert weighted(people_of(pd.Series(LIMITS)), VALUES, JOINED) == PLAIN
    assert people_of(pd.Series(LIMITS), index=KINDS["texts"]).index is KINDS["texts"]


def test_the_labels_of_ids_are_the_people_s_where_limits_are_plain():
    order = shuffled()
    people = PrivacyConstrained(LIMITS, ids=labelled(NAMES))
    assert weighted(people, labelled(VALUES, order=order), JOINED) == PLAIN


# Refused.


@pytest.mark.parametrize("kind", KINDS)
def test_labels_against_people_without_any_are_refused_and_told_the_way_out(kind):
    for people in (people_of(), people_of(pd.Series(LIMITS))):
        offer = offered(people)
        with pytest.raises(BadInput, match=r"values\.to_numpy\(\)"):
            optin.release(offer, people, labelled(VALUES, kind))
        with pytest.raises(BadInput, match=r"joined\.to_numpy\(\)"):
            optin.release(offer, people, VALUES, joined=labelled(JOINED, kind))
        with pytest.raises(BadInput, match=r"joined\.to_numpy\(\)"):
            turnout(offer, people, labelled(JOINED, kind))


def test_the_default_labels_in_another_order_are_refused():
    """Either could be meant: the rows of the sorted table, or the order in which they now stand."""
    for people, values in (
        (people_of(pd.Series(LIMITS)), pd.Series(VALUES).iloc[shuffled()]),
        (PrivacyConstrained(pd.Series(LIMITS).iloc[shuffled()], ids=NAMES), pd.Series(VALUES)),
    ):
        with pytest.raises(BadInput, match=r"different indexes.*to_numpy"):
            optin.release(offered(people), people, values)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["a", "b", "b"], "the label at index 2 of values was used before"),
        (["a", "b", None], "the label at index 2 of values is missing"),
        (["a", "b", "d"], "the label at index 2 of values is not among the others"),
        ([1, 2, 3], "the label at index 0 of values is not among the others"),
        (pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (1, "c")]), "the label at index 0 of values is not among"),
    ],
)
def test_labels_that_do_not_tell_people_apart_are_refused(labels, says):
    people = PrivacyConstrained(pd.Series([1.0, 4.0, 9.0], index=list("abc")))
    offer = optin.plan(people, bounds=(0, 1)).announce(people, min_people=1)
    with pytest.raises(BadInput, match=says) as caught:
        optin.release(offer, people, pd.Series([0.125, 0.25, 0.5], index=labels))
    assert "to_numpy" in str(caught.value)
    assert "0.125" not in str(caught.value)


def test_repeated_labels_of_people_are_refused_where_labels_meet_and_nowhere_else():
    people = PrivacyConstrained(pd.Series([1.0, 4.0, 9.0], index=list("aab")))
    offer = optin.plan(people, bounds=(0, 1)).announce(people, min_people=1)
    assert optin.release(offer, people, [0, 1, 1]).joined_people == 3
    with pytest.raises(BadInput, match="index 1 of the people was used before"):
        optin.release(offer, people, pd.Series([0, 1, 1], index=list("aab")))


def test_large_whole_labels_are_told_from_the_floats_next_to_them():
    people = PrivacyConstrained(pd.Series([1.0, 4.0], index=[2**53, 2**53 + 1]))
    offer = optin.plan(people, bounds=(0, 1)).announce(people, min_people=1)
    with pytest.raises(BadInput, match="different indexes"):
        optin.release(offer, people, pd.Series([0.0, 1.0], index=[2.0**53, 2.0**53 + 2]))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_where_a_column_is_asked_for_is_refused(tmp_path, table):
    made, ledger = table({"limit": LIMITS}), Ledger.open(str(tmp_path / "ledger.sqlite"))
    for wrong in (
        lambda: PrivacyConstrained(made),
        lambda: PrivacyConstrained(LIMITS, ids=made),
        lambda: QuasiLinear(made),
        lambda: QuasiLinear(LIMITS, outside=made),
        lambda: PrivacyConstrained.from_budgets(made, made),
        lambda: LinearBenefit(base=made),
        lambda: weighted(people_of(), made),
        lambda: weighted(people_of(), VALUES, made),
        lambda: campaign.plan(people_of(), bounds=(0, 1), ledger=ledger, allowances=made),
    ):
        with pytest.raises(BadInput, match="is a table; give one column"):
            wrong()


def test_values_of_too_few_or_too_many_people_are_refused_by_the_first_label_that_is_lacking_or_strange():
    """A table that was filtered or joined since: how many there are says nothing of who."""
    limits, values = labelled(LIMITS), labelled(VALUES)
    people, fifth = people_of(limits), limits.index[5]
    with pytest.raises(BadInput, match=f"the label at index 5 of the people is not among those of values: {fifth!r}"):
        weighted(people, values.drop(fifth).iloc[::-1])
    more = pd.concat([pd.Series([0.5], index=["stranger"]), values])
    with pytest.raises(BadInput, match="the label at index 0 of values is not among the others: 'stranger'"):
        weighted(people, more)
    with pytest.raises(BadInput, match=f"the label at index {len(VALUES)} of values was used before"):
        weighted(people, pd.concat([values, values.iloc[:1]]))
    with pytest.raises(BadInput, match="the label at index 5 of the people is not among those of joined"):
        weighted(people, values, labelled(JOINED).drop(fifth))


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_of_any_kind_that_is_lacking_is_named(kind):
    values = labelled(VALUES, kind)
    with pytest.raises(BadInput, match="the label at index 5 of the people is not among those of values: ") as caught:
        weighted(people_of(labelled(LIMITS, kind)), values.drop(values.index[5]))
    assert repr(values.index.tolist()[5]) in str(caught.value)


def test_ids_as_labels_are_refused_by_the_first_id_that_is_lacking_strange_or_used_twice():
    values = pd.Series(VALUES, index=NAMES)
    with pytest.raises(BadInput, match="index 5 of the ids of the people is not among those of values: 'p5'"):
        weighted(people_of(), values.drop("p5"))
    with pytest.raises(BadInput, match="the label at index 3 of values is not among the others: 'stranger'"):
        weighted(people_of(), values.rename({"p3": "stranger"}))
    with pytest.raises(BadInput, match="the label at index 3 of values was used before"):
        weighted(people_of(), values.rename({"p3": "p2"}))


def test_labels_of_the_wrong_number_are_refused():
    with pytest.raises(BadInput, match="values have shape"):
        weighted(people_of(labelled(LIMITS)), VALUES[:5])
    with pytest.raises(BadInput, match="index"):
        PrivacyConstrained(LIMITS, index=KINDS["texts"][:3])
    with pytest.raises(BadInput, match="index"):
        PrivacyConstrained(LIMITS, index=list("abcdefghijkl"))


# Tables of polars and Arrow: by their id column.


@pytest.mark.parametrize("table", [pl.DataFrame, pa.table])
def test_a_table_of_polars_or_arrow_is_matched_by_its_ids(table):
    order = shuffled()
    ids = [NAMES[k] for k in order]
    values, joined = table({"id": ids, "value": VALUES[order]}), table({"joined": JOINED[order], "id": ids})
    assert weighted(people_of(), values, joined) == PLAIN
    assert weighted(people_of(labelled(LIMITS)), values, JOINED) == PLAIN


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_ids_that_are_whole_numbers_find_their_people_in_the_table_they_were_read_from(table):
    given = table({"id": [30, 10, 20], "limit": [0.5, 1.0, 2.0], "late": [True, False, True]})
    people = optin.read(given, limits="limit")
    offer = optin.plan(people, [optin.YesNo("late")]).announce(people, min_people=1)
    assert people.ids == ("30", "10", "20")
    assert optin.release(offer, people, given).joined_people == 3
    with pytest.raises(BadInput, match=r"the table has no column id \(id='COL' names another\); it has limit"):
        optin.read(table({"limit": [0.5]}), limits="limit")


@pytest.mark.parametrize("table", [pl.DataFrame, pa.table])
def test_a_table_of_other_people_is_refused(table):
    for ids, first in (
        ([*NAMES[1:], "p99"], "row 11 holds 'p99'"),
        (NAMES[1:] + NAMES[1:2], "row 11 repeats 'p1'"),
        (NAMES[1:], "'p0' has no row"),
    ):
        with pytest.raises(BadInput, match=f"of the table of values are not those of the people, each once: {first}"):
            weighted(people_of(), table({"id": ids, "value": VALUES[: len(ids)]}))
    with pytest.raises(BadInput, match="one column more"):
        weighted(people_of(), table({"id": NAMES, "valeu": VALUES, "other": VALUES}))
    assert weighted(people_of(), table({"id": NAMES, "value": VALUES, "other": -VALUES}), JOINED) == PLAIN
    with pytest.raises(BadInput, match="is a table"):
        weighted(PrivacyConstrained(LIMITS), table({"id": NAMES, "value": VALUES}))


# What labels must not change.


@pytest.mark.parametrize(
    "kind", [list, np.array, pa.array, pl.Series, lambda ids: pd.Series(ids, index=KINDS["texts"])]
)
def test_labels_of_a_column_are_never_ignored_because_ids_stand_beside_it(kind):
    people, order = people_of(), shuffled()
    ids = kind(NAMES)
    labels = KINDS["texts"] if isinstance(ids, pd.Series) else NAMES
    turned = pd.Series(VALUES, index=labels).iloc[order]
    assert weighted(people, {"id": ids, "value": turned}) == weighted(people, VALUES)
    sheet = [optin.Number("value", bounds=(0, 1)), optin.Score("tired", items=2, each=(0, 1))]
    offer = optin.plan(people, sheet).announce(people, campaign="labels")
    items = {"tired_1": VALUES, "tired_2": turned}
    table = pd.DataFrame({"value": VALUES, "tired_1": VALUES, "tired_2": VALUES})
    assert measure(offer, people, {"id": ids, "value": turned} | items).those == measure(offer, people, table).those


def test_labels_that_are_no_ids_beside_plain_ids_are_refused_and_told_the_way_out():
    people = people_of()
    for labels in (KINDS["texts"], KINDS["numbers"], pd.RangeIndex(N - 1, -1, -1), pd.Index([*NAMES[1:], "nobody"])):
        with pytest.raises(BadInput, match=r"value and id have different indexes.*value\.to_numpy\(\)"):
            weighted(people, {"id": NAMES, "value": pd.Series(VALUES, index=labels)})
    plain = pd.Series(VALUES)
    assert weighted(people, {"id": NAMES, "value": plain}) == weighted(people, VALUES)
    twice = pd.Index(["a", "a"] * 6)
    frame = pd.DataFrame({"id": NAMES, "value": VALUES}, index=twice)
    assert weighted(people, {"id": frame["id"], "value": frame["value"]}) == weighted(people, VALUES)


def test_limits_labelled_by_ids_belong_to_ids_that_arrow_or_a_generator_hands_over():
    turned = pd.Series(LIMITS, index=NAMES).iloc[shuffled()]
    for ids in (pa.array(NAMES), pa.chunked_array([NAMES]), iter(NAMES)):
        people = PrivacyConstrained(turned, ids=ids)
        assert (people.ids, people.limits.tolist()) == (tuple(NAMES), LIMITS.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_people_keep_their_labels_when_copied_and_publish_none(kind):
    people = people_of(labelled(LIMITS, kind))
    for same in (copy.copy(people), copy.deepcopy(people), pickle.loads(pickle.dumps(people))):
        assert same.index.equals(people.index)
        assert weighted(same, labelled(VALUES, kind, shuffled()), JOINED) == PLAIN
    plan, plain = (optin.plan(p, bounds=(0, 1)) for p in (people, people_of()))
    assert plan.to_json() == plain.to_json()
    assert numbers_of(offered(people)) == numbers_of(offered(people_of()))
    assert "row 3" not in repr(people)


def test_plain_columns_load_no_pandas():
    code = (
        "import sys, optin; p = optin.PrivacyConstrained([0.5] * 12, ids=[str(k) for k in range(12)]);"
        "o = optin.plan(p, bounds=(0, 1)).announce(p); optin.release(o, p, [1] * 12, joined=[True] * 12);"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", [list, tuple, pd.Series, np.array])
def test_limits_labelled_by_ids_belong_to_these_ids_whatever_their_order(kind):
    ids = [f"p{at}" for at in range(40)]
    limits = pd.Series(np.where(np.arange(40) < 20, 0.1, 5.0), index=ids)
    shuffled = limits.sample(frac=1, random_state=1)
    people = optin.PrivacyConstrained(shuffled, ids=kind(ids))
    assert people.ids == tuple(ids)
    assert people.limits.tolist() == limits.tolist()
    budgets = optin.PrivacyConstrained.from_budgets(shuffled, pd.Series(1.0, index=ids[::-1]), ids=kind(ids))
    assert budgets.limits.tolist() == limits.tolist()
    costs = optin.QuasiLinear(shuffled, ids=kind(ids), benefit=optin.LinearBenefit(1.0, 1.0))
    assert costs.costs.tolist() == limits.tolist()


def test_labels_of_which_some_are_ids_are_refused():
    limits = pd.Series([0.1, 5.0, 5.0], index=["ann", "bob", "dan"])
    with pytest.raises(optin.BadInput, match=r"limits and ids have different indexes: .* 'dan'"):
        optin.PrivacyConstrained(limits, ids=["bob", "ann", "cy"])
    with pytest.raises(optin.BadInput, match="different indexes"):
        optin.PrivacyConstrained(pd.Series([0.1, 5.0], index=[8, 7]), ids=["7", "8"])


def test_grains_labelled_by_ids_are_charged_to_these_ids(tmp_path):
    ids = [f"p{at}" for at in range(12)]
    limits = pd.Series(np.linspace(0.1, 2.0, 12), index=ids).sample(frac=1, random_state=1)
    people = optin.PrivacyConstrained(limits, ids=ids)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = campaign.announce(campaign.plan(people, bounds=(0, 1), ledger=ledger), people, ledger=ledger)
        campaign.release(offer, people, pd.Series(0.5, index=ids[::-1]), ledger=ledger)
        left = ledger.remaining(ids) / 2**32
    assert (left >= 0).all()
    assert (np.array([limits[name] for name in ids]) >= left).all()
    assert left[0] == pytest.approx(0.0, abs=1e-9), "the strictest person gave what they allow"
