"""Groups of people who stay in an engine: the plans and the integers of memory, in as many queries as without groups."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import numbers_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import optin
from optin import campaign
from optin.engine.session import Session
from optin.errors import BadInput, PromiseBroken
from optin.releasing.drawing import measure

SHEET = (optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9))
ONE = SHEET[1:]
ODD = [
    "ICU",
    'say "ward"',
    "line\nbreak",
    "עזרה ראשונה",
    "x" * 10_000,
    "it's; DROP TABLE people",
    "a / b",
    "a // b",
    " ",
]
ENGINES = ["duckdb", pytest.param("spark-local", marks=pytest.mark.xdist_group("spark"))]


def table(seed, count=400, names=tuple(ODD[:4]), limits=(0.0, 0.1, 0.5, 1.0, 3.0)):
    rng = np.random.default_rng(seed)
    columns = {
        "id": [f"p{k}" for k in range(count)],
        "limit": rng.choice(limits, size=count),
        "ward": [names[at] for at in rng.integers(len(names), size=count)],
        "role": [("nurse", "a/b")[at] for at in rng.integers(2, size=count)],
        "break": [None if each < 0.1 else "yes" if each < 0.4 else "no" for each in rng.random(count)],
        "hours": rng.normal(40, 9, count),
        "joined": rng.random(count) < 0.7,
    }
    return pa.table(columns)


def read(path, engine, **more):
    return optin.read(path, limits="limit", groups="ward", engine=engine, **more)


def columns(found, sheet):
    return {question.name: found[question.name].to_pylist() for question in sheet}


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.integers(1, len(ODD)), st.booleans(), st.booleans())
def test_duckdb_has_the_plans_and_the_integers_of_memory(tmp_path, seed, many, one_question, everyone):
    sheet = ONE if one_question else SHEET
    found = table(seed, names=tuple(ODD[:many]), limits=(0.0, 0.125, 0.5, 1.0, 3.0))
    pq.write_table(found, tmp_path / "people.parquet")
    kept, held = (read(tmp_path / "people.parquet", engine) for engine in ("duckdb", "memory"))
    assert kept.groups.names == held.groups.names == tuple(sorted(set(found["ward"].to_pylist())))
    plans = [optin.plan(each, sheet) for each in (kept, held)]
    for name, plan in plans[1].groups.items():
        assert math.isclose(plans[0].groups[name].cap, plan.cap, rel_tol=1e-12)
        assert plans[0].groups[name].pooled_people == plan.pooled_people
    offers = [plans[1].announce(each, campaign="c", min_people=0) for each in (kept, held)]
    assert numbers_of(offers[0]) == numbers_of(offers[1])
    joined = None if everyone else "joined"
    answers = columns(found, sheet)
    those = None if everyone else np.array(found["joined"].to_pylist())
    mine = measure(offers[0], kept, "hours" if one_question else None, joined=joined)
    theirs = measure(offers[1], held, answers, joined=those)
    assert [part.those for part in mine.parts] == [part.those for part in theirs.parts]
    assert mine.decision == theirs.decision


@pytest.mark.parametrize("engine", ENGINES)
def test_a_campaign_of_groups_in_an_engine_is_that_of_memory(tmp_path, engine):
    found = table(1, names=tuple(ODD))
    pq.write_table(found, tmp_path / "people.parquet")
    kept, held = (read(tmp_path / "people.parquet", each) for each in (engine, "memory"))
    joined = np.array(found["joined"].to_pylist())
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        plan = campaign.plan(kept, SHEET, ledger=ledger, allowances=20.0, merge_small=True)
        offer = campaign.announce(plan, kept, ledger=ledger, campaign="c", allowances=20.0)
        assert numbers_of(plan.announce(held, campaign="c")) == numbers_of(offer)
        release = campaign.release(offer, kept, ledger=ledger, joined="joined")
        assert ledger.verify([release]).ok
        assert campaign.release(offer, held, columns(found, SHEET), ledger=ledger, joined=joined) == release
        receipts = ledger.receipts(found["id"].to_pylist(), campaign="c", round=1)
        assert sum(receipt.spent for receipt in receipts) == release.sealed.total_grains


@pytest.mark.parametrize("engine", ENGINES)
def test_people_who_weigh_costs_have_the_integers_of_memory_in_every_group(tmp_path, engine):
    rng = np.random.default_rng(7)
    found = pa.table(
        {
            "id": [f"p{k}" for k in range(90)],
            "cost": np.where(np.arange(90) % 11 == 0, 0.0, rng.uniform(0.1, 2.0, 90)),
            "ward": np.repeat(["a", "b", "c"], 30).tolist(),
            "value": rng.random(90),
        }
    )
    pq.write_table(found, tmp_path / "people.parquet")
    kept, held = (
        optin.read(
            tmp_path / "people.parquet",
            costs="cost",
            benefit=optin.LinearBenefit(2.0, 1.0),
            groups="ward",
            engine=each,
        )
        for each in (engine, "memory")
    )
    plan = optin.plan(held, bounds=(0, 1), slack=0.1)
    for name, own in optin.plan(kept, bounds=(0, 1), slack=0.1).groups.items():
        assert math.isclose(own.promised_variance, plan.groups[name].promised_variance, rel_tol=1e-9)
    assert plan.certificate(held).holds
    assert engine != "duckdb" or plan.certificate(kept).holds
    offers = [plan.announce(each, campaign="c") for each in (kept, held)]
    assert numbers_of(offers[0]) == numbers_of(offers[1])
    mine, theirs = measure(offers[0], kept, "value"), measure(offers[1], held, found["value"].to_pylist())
    assert [part.those for part in mine.parts] == [part.those for part in theirs.parts]


LIMITS = {
    "a few": [0.0, 0.1, 0.5, 1.0, 3.0],
    "some without end": [0.1, 0.5, math.inf],
    "only none and all": [0.0, math.inf],
}


GAPPED = (optin.Number("hours", bounds=(0, 80), sd=9, max_gap=5.0),)
CERTIFIED = [("duckdb", limits, sheet) for limits in LIMITS for sheet in (ONE, SHEET, GAPPED)]
ON_SPARK = pytest.param("spark-local", "some without end", SHEET, marks=pytest.mark.xdist_group("spark"))


@pytest.mark.parametrize(("engine", "limits", "sheet"), [*CERTIFIED, ON_SPARK])
def test_the_certificates_of_groups_in_an_engine_are_those_of_memory(tmp_path, engine, limits, sheet):
    pq.write_table(table(4, names=("a", "b", "a / b"), limits=LIMITS[limits]), tmp_path / "people.parquet")
    kept, held = (read(tmp_path / "people.parquet", each) for each in (engine, "memory"))
    plan = optin.plan(held, sheet)
    mine, theirs = plan.certificate(kept), plan.certificate(held)
    assert mine.holds
    assert theirs.holds
    for name, own in theirs.groups.items():
        assert mine.groups[name].broken_limits == own.broken_limits == 0
        assert math.isclose(mine.groups[name].objective, own.objective, rel_tol=1e-12)
        assert math.isclose(mine.groups[name].lower_bound, own.lower_bound, rel_tol=1e-9)


def queries(agents, work):
    before = agents.rows.session.sent
    work()
    return agents.rows.session.sent - before


@pytest.mark.parametrize("names", [("a",), tuple(f"g{k}" for k in range(40))])
def test_groups_take_as_many_queries_as_none(tmp_path, names):
    found = table(2, count=4000, names=names, limits=np.random.default_rng(1).lognormal(-1, 1, 3000))
    pq.write_table(found, tmp_path / "people.parquet")
    path = tmp_path / "people.parquet"
    grouped, plain = read(path, "duckdb"), optin.read(path, limits="limit")
    assert grouped.rows.session.sent == plain.rows.session.sent
    plans = {}
    counts = [
        queries(each, lambda each=each: plans.update({each: optin.plan(each, SHEET)})) for each in (grouped, plain)
    ]
    assert counts[0] <= counts[1]
    shown = [queries(each, lambda each=each: plans[each].certificate(each)) for each in (grouped, plain)]
    assert shown == [1, 1]
    offers = {each: plans[each].announce(each, min_people=0) for each in (grouped, plain)}
    for joined in (None, "joined"):
        drawn = [
            queries(each, lambda each=each, joined=joined: measure(offers[each], each, None, joined=joined))
            for each in offers
        ]
        assert drawn[0] <= drawn[1]


@pytest.mark.parametrize("kind", ["limits", "costs"])
@pytest.mark.parametrize("levels", [3, 10**9])
def test_only_people_near_the_caps_of_large_groups_are_ever_fetched(tmp_path, monkeypatch, kind, levels):
    rng = np.random.default_rng(6)
    count, most = 60_000, 0
    drawn = rng.lognormal(size=count) if levels > count else rng.choice([0.25, 0.5, 2.0], size=count)
    table = {"id": np.arange(count), "own": drawn, "ward": rng.choice(["a", "b"], size=count)}
    pq.write_table(pa.table(table), tmp_path / "people.parquet")
    fetch = Session.fetch

    def watched(session, query, *, about):
        nonlocal most
        found = fetch(session, query, about=about)
        most = max(most, len(found))
        return found

    monkeypatch.setattr(Session, "fetch", watched)
    given = {kind: "own"} | ({"benefit": optin.LinearBenefit(2.0, 1.0)} if kind == "costs" else {})
    both = [
        optin.read(tmp_path / "people.parquet", groups="ward", engine=each, check_ids=False, **given)
        for each in ("duckdb", "memory")
    ]
    mine, theirs = (optin.plan(each, ONE) for each in both)
    assert most < count / 8
    for name, own in theirs.groups.items():
        assert math.isclose(mine.groups[name].cap, own.cap, rel_tol=1e-9)


@pytest.mark.parametrize(("level", "sd", "scans"), [(1.5, 0.5, 2), (0.0, 0.01, 3)])
def test_large_groups_are_planned_from_a_sample_where_caps_are_low_and_else_from_buckets(tmp_path, level, sd, scans):
    rng = np.random.default_rng(8)
    count, names = 90_000, np.array(["a", "b", "few"], dtype=object)
    ward = np.where(np.arange(count) % 300 == 0, 2, rng.integers(2, size=count))
    limits = rng.lognormal(level, 1.0, count) * (ward + 1)
    limits[::10_000] = 0.0
    found = pa.table({"id": np.arange(count), "limit": limits, "ward": names[ward].tolist()})
    pq.write_table(found, tmp_path / "people.parquet")
    kept, held = (read(tmp_path / "people.parquet", each, check_ids=False) for each in ("duckdb", "memory"))
    mine, theirs = (optin.plan(each, bounds=(0, 1), sd=sd) for each in (kept, held))
    assert kept.rows.session.sent == scans
    for name, own in theirs.groups.items():
        for number in ("cap", "variance", "tilt", "epsilon_total"):
            assert math.isclose(getattr(mine.groups[name], number), getattr(own, number), rel_tol=1e-12)
        assert mine.groups[name].pooled_people == own.pooled_people
    mine, theirs = (optin.plan(each, bounds=(0, 1), sd=sd, merge_small=1000) for each in (kept, held))
    assert [*mine.groups] == [*theirs.groups]


def test_combinations_of_columns_are_the_same_everywhere(tmp_path):
    found = table(3)
    pq.write_table(found, tmp_path / "people.parquet")
    kept, held = (
        optin.read(tmp_path / "people.parquet", limits="limit", groups=["ward", "role"], engine=engine)
        for engine in ("duckdb", "memory")
    )
    assert kept.groups.names == held.groups.names
    assert "ICU / a//b" in held.groups.names


@pytest.mark.parametrize("engine", ["memory", *ENGINES])
def test_a_missing_label_is_refused(tmp_path, engine):
    found = table(4).to_pydict()
    found["ward"][7] = found["ward"][9] = None
    pq.write_table(pa.table(found), tmp_path / "people.parquet")
    where = "row" if engine == "memory" else f"id {min(found['id'][7], found['id'][9])}"
    with pytest.raises(BadInput, match=rf"{where}.*ward is missing; every person belongs to a group \(1 more\)"):
        read(tmp_path / "people.parquet", engine)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("named", [{"limits": "limit"}, {"costs": "cost", "benefit": optin.LinearBenefit(2.0, 1.0)}])
def test_one_group_without_limits_is_named_and_takes_nothing_from_the_others(tmp_path, engine, named):
    limits = [math.inf] * 20 + [0.5, 1.0, 2.0] * 10
    people = {
        "id": range(50),
        "limit": limits,
        "cost": [0.0] * 20 + limits[20:],
        "ward": ["open"] * 20 + ["careful"] * 30,
    }
    pq.write_table(pa.table(people), tmp_path / "people.parquet")
    found = optin.read(tmp_path / "people.parquet", groups="ward", engine=engine, **named)
    planned = optin.plan(found, bounds=(0, 1))
    with pytest.raises(BadInput, match='nobody who counts in group "open" set a limit'):
        planned.announce(found)
    if "limits" in named:
        whole = planned.total(planned.sheet.questions[0].name)
        assert whole.ungrouped_standard_error <= whole.standard_error


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_csv_cells_are_labels_byte_for_byte(tmp_path, engine):
    rows = ["id,limit,ward", *(f"p{k},0.5,{'007' if k % 2 else '7'}" for k in range(40))]
    (tmp_path / "people.csv").write_text("\n".join([*rows, 'p99,1.0,"say ""hi"", twice"']) + "\n")
    found = read(tmp_path / "people.csv", engine)
    assert found.groups.names == ("007", "7", 'say "hi", twice')


def test_a_person_moved_in_the_engine_is_refused_and_nothing_is_lost(tmp_path):
    found = table(5)
    pq.write_table(found, tmp_path / "people.parquet")
    agents = read(tmp_path / "people.parquet", "duckdb")
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        plan = campaign.plan(agents, SHEET, ledger=ledger, allowances=20.0)
        offer = campaign.announce(plan, agents, ledger=ledger, allowances=20.0)
        changed = found.to_pydict()
        at = next(k for k, name in enumerate(changed["ward"]) if name != "ICU")
        changed["ward"][at] = "ICU"
        pq.write_table(pa.table(changed), tmp_path / "moved.parquet")
        acts = len(ledger.acts())
        with pytest.raises(PromiseBroken):
            campaign.release(offer, read(tmp_path / "moved.parquet", "duckdb"), ledger=ledger)
        assert len(ledger.acts()) == acts
        assert campaign.release(offer, agents, ledger=ledger).withheld == {}


def test_a_thousand_groups_are_announced_and_released_with_the_integers_of_memory(tmp_path):
    found = table(5, count=12_000, limits=(0.125, 0.5, 1.0, 3.0))
    wards = pa.array([f"ward {k % 1000:03d}" for k in range(12_000)])
    found = found.set_column(found.schema.get_field_index("ward"), "ward", wards)
    pq.write_table(found, tmp_path / "people.parquet")
    kept, held = (read(tmp_path / "people.parquet", each) for each in ("duckdb", "memory"))
    plan = optin.plan(kept, ONE)
    offers = [plan.announce(each, campaign="c", min_people=0) for each in (kept, held)]
    assert len(offers[0].groups) == 1_000
    assert numbers_of(offers[0]) == numbers_of(offers[1])
    mine, theirs = measure(offers[0], kept, "hours"), measure(offers[1], held, columns(found, ONE))
    assert [part.those for part in mine.parts] == [part.those for part in theirs.parts]
    assert len(optin.release(offers[0], kept, "hours").groups) == 1_000


@pytest.mark.parametrize("groups", [None, "ward"])
def test_the_few_below_caps_are_read_from_all_people_once_and_give_the_integers_of_memory(
    tmp_path, monkeypatch, groups
):
    rng, count = np.random.default_rng(9), 90_000
    ward = rng.integers(3, size=count)
    columns = {"id": np.arange(count), "limit": rng.lognormal(1.5, 1.0, count) * (ward + 1), "value": rng.random(count)}
    table = pa.table(columns | {"ward": np.array(["a", "b", "c"], dtype=object)[ward].tolist()})
    pq.write_table(table, path := tmp_path / "people.parquet")
    monkeypatch.setattr("optin.engine.set_apart.LEAST", 0)
    kept, held = (
        optin.read(path, limits="limit", groups=groups, engine=each, check_ids=False) for each in ("duckdb", "memory")
    )
    plan, written = optin.plan(kept, bounds=(0, 1)), []
    write = Session.write
    monkeypatch.setattr(
        Session,
        "write",
        lambda session, query, to, *, about: (written.append(to), write(session, query, to, about=about)),
    )
    mine, theirs = (numbers_of(plan.announce(each, campaign="low")) for each in (kept, held))
    assert len(written) == (groups is None), "of groups they were listed when they were planned"
    assert mine == theirs
    shown, expected = (plan.certificate(each) for each in (kept, held))
    assert shown.holds
    for name in ("objective", "lower_bound", "weight_error", "claim_error") if groups is None else ():
        assert math.isclose(getattr(shown, name), getattr(expected, name), rel_tol=1e-9, abs_tol=1e-9)
    pq.write_table(table.slice(1), path)
    with pytest.raises(PromiseBroken, match="changed"):
        plan.announce(kept)
