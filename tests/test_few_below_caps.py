"""The few with low limits of each group: which of them are listed, and that their sums and a known rest are everyone's."""

import math

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import numbers_of
from hypothesis import given
from hypothesis import strategies as st

import optin
from optin.engine.listed_by_label import ListedByLabel, listed_below
from optin.errors import BadInput
from optin.grains.arrays import GrainRule
from optin.grains.few_below_cap import FewBelowCap
from optin.kernel.sharing import SHARES

LIMITS = st.sampled_from([0.0, 1e-12, 2.0**-32, 0.125, 0.5, 0.5 + 2**-40, 1.0, 3.0, 1024.0, 1e9, math.inf])


@given(
    st.lists(LIMITS, max_size=40),
    st.sampled_from([0.0, 2.0**-33, 0.125, 0.5, 2.5, 1024.0]),
    st.sampled_from([(SHARES,), (SHARES // 3, SHARES // 7), (1, SHARES // 2)]),
    st.integers(-1, 2**34),
    st.sampled_from([1.0, 1.1, 5.0]),
)
def test_sums_over_the_few_and_the_cap_of_all_others_are_those_over_everyone(limits, cap, shares, bar, above):
    everyone = np.array(limits)
    few = FewBelowCap(everyone[everyone < cap * above], len(everyone), cap, shares)
    rule = GrainRule(everyone.__getitem__, len(everyone), cap, shares)
    assert few.sums() + FewBelowCap(np.empty(0), 0, cap, shares).sums() == few.sums()
    if limits:
        assert few.sums() == rule.sums()[0]
        assert few.sums_above((bar,) * len(shares)) == rule.sums_above((bar,) * len(shares))


LABELS = ["a", "b", 'it\'s "c"', "line\nbreak", "small", "nobody asks"]


def labelled(tmp_path, count=3000):
    rng = np.random.default_rng(2)
    limits = rng.lognormal(size=count)
    limits[::50], limits[::70] = 0.0, math.inf
    label = rng.choice(np.array(LABELS, dtype=object), size=count)
    table = pa.table({"id": range(count), "limit": limits, "ward": pa.array(label, pa.string())})
    pq.write_table(table, tmp_path / "people.parquet")
    people = optin.read(tmp_path / "people.parquet", limits="limit", groups="ward", engine="duckdb")
    return people, limits, label


@pytest.mark.parametrize("few", [True, False])
def test_each_label_is_listed_up_to_its_own_bound_and_no_further(tmp_path, few):
    people, limits, label = labelled(tmp_path)
    bounds = dict(zip(LABELS, (0.25, 1.0, 0.0, 1e-320, float(np.finfo(float).max)), strict=False)) | {"not there": 0.5}
    table = people.rows.table.select(tau=people.expression, label=people.rows.table["label"])
    listed = listed_below(people.rows, table, bounds, few=few)
    assert set(listed) <= set(bounds)
    for name, bound in bounds.items():
        own = limits[label == name]
        found = listed.get(name, np.empty(0))
        assert np.array_equal(np.sort(found[found <= bound]), np.sort(own[own <= bound]))
        assert len(found) == np.count_nonzero(own <= bound)


def test_what_was_listed_answers_for_lower_bounds_of_the_same_labels_alone(tmp_path):
    people, _, _ = labelled(tmp_path)
    held = ListedByLabel()
    assert held.known(people.rows, {"a": 0.5}) is None
    held.hold({"a": 0.5, "b": 0.1}, {"a": np.array([0.2])})
    for bounds, known in (({"a": 0.5}, True), ({"a": 0.4, "b": 0.1}, True), ({"b": 0.2}, False), ({"c": 0.1}, False)):
        assert (held.known(people.rows, bounds) is not None) is known
    assert held.known(people.rows, {"c": 0.0}) is not None, "nobody is below 0"


def lognormal(tmp_path, names=("a", "b", "c"), count=90_000):
    """People whose limits differ by group, and so many that caps are low in each."""
    rng = np.random.default_rng(9)
    ward = rng.integers(len(names), size=count)
    columns = {"id": np.arange(count), "limit": rng.lognormal(1.5, 1.0, count) * (ward + 1), "value": rng.random(count)}
    table = pa.table(columns | {"ward": np.array(names, dtype=object)[ward].tolist()})
    pq.write_table(table, tmp_path / "people.parquet")
    return [
        optin.read(tmp_path / "people.parquet", limits="limit", groups="ward", engine=each, check_ids=False)
        for each in ("duckdb", "memory")
    ]


@pytest.mark.parametrize(("unsure", "most"), [(2, 1 << 24), (0, 1 << 24), (2, 0)])
def test_people_are_scanned_to_read_them_and_to_list_a_few_and_their_announcement_asks_nothing(
    tmp_path, monkeypatch, unsure, most
):
    monkeypatch.setattr("optin.engine.set_apart.LEAST", 0)
    monkeypatch.setattr("optin.engine.listed_by_label.MOST", most)  # if 0, each is joined to the bound of their group
    monkeypatch.setattr(
        "optin.engine.sampled_groups.UNSURE", unsure
    )  # then some bounds are too low, and asked for again
    kept, held = lognormal(tmp_path)
    plan = optin.plan(kept, bounds=(0, 1))
    sent = kept.rows.session.sent
    assert sent == 2 or (not unsure and sent <= 4)
    offers = [plan.announce(each, campaign="low") for each in (kept, held)]
    assert kept.rows.session.sent == sent
    assert numbers_of(offers[0]) == numbers_of(offers[1])
    for name, own in optin.plan(held, bounds=(0, 1)).groups.items():
        assert math.isclose(plan.groups[name].cap, own.cap, rel_tol=1e-12)


def test_a_plan_that_was_made_before_is_announced_by_one_scan_more(tmp_path, monkeypatch):
    monkeypatch.setattr("optin.engine.set_apart.LEAST", 0)
    kept, held = lognormal(tmp_path)
    plan, sent = optin.plan(held, bounds=(0, 1)), kept.rows.session.sent
    offers = [plan.announce(each, campaign="low") for each in (kept, held)]
    assert kept.rows.session.sent == sent + 1
    assert numbers_of(offers[0]) == numbers_of(offers[1])


def test_limits_of_a_table_that_others_may_write_to_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("optin.engine.set_apart.LEAST", 0)
    kept, _ = lognormal(tmp_path)
    caps = dict.fromkeys(kept.groups.names, 0.5)
    assert kept.few_of_each(caps) is not None
    table = ibis.duckdb.connect().read_parquet(tmp_path / "people.parquet")
    assert optin.read(table, limits="limit", groups="ward", check_ids=False).few_of_each(caps) is None


@pytest.mark.parametrize("odd", [math.nan, -0.5, None])
def test_one_odd_limit_among_groups_is_seen_by_the_scan_that_samples(tmp_path, odd):
    rng = np.random.default_rng(4)
    columns = {"id": range(20_000), "ward": rng.choice(["a", "b"], 20_000)}
    limits = rng.lognormal(size=20_000).tolist()
    limits[777] = odd
    pq.write_table(pa.table(columns | {"limit": pa.array(limits, pa.float64())}), tmp_path / "people.parquet")
    reading = [
        lambda engine=each: optin.read(tmp_path / "people.parquet", limits="limit", groups="ward", engine=engine)
        for each in ("duckdb", "memory")
    ]
    for each in reading:
        with pytest.raises(BadInput, match=r"(id 777|row 778)\b.*limit"):
            each()


def test_a_small_group_among_large_ones_is_listed_whole_by_the_same_scan(tmp_path, monkeypatch):
    monkeypatch.setattr("optin.engine.set_apart.LEAST", 0)
    monkeypatch.setattr("optin.engine.listed_by_label._below_their_own", lambda *_: pytest.fail("nobody is looked up"))
    rng = np.random.default_rng(5)
    ward = np.where(np.arange(90_000) % 300 == 0, "few", rng.choice(["a", "b"], 90_000))
    columns = {"id": range(90_000), "limit": rng.lognormal(1.5, 1.0, 90_000), "ward": ward.tolist()}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    kept, held = (
        optin.read(tmp_path / "people.parquet", limits="limit", groups="ward", engine=each, check_ids=False)
        for each in ("duckdb", "memory")
    )
    plan = optin.plan(kept, bounds=(0, 1))
    offers = [plan.announce(each, campaign="low") for each in (kept, held)]
    assert kept.rows.session.sent == 2
    assert numbers_of(offers[0]) == numbers_of(offers[1])
