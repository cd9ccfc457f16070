"""How often a release looks at a table: once to decide, once for the sums, and what is decided by the second look."""

from dataclasses import replace

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import optin
from optin.campaign.checking import terms_of
from optin.engine.session import Session
from optin.errors import PromiseBroken
from optin.kernel.ranks import at_rank
from optin.ledger.bulk_reads import charges_of
from optin.releasing import noise
from optin.releasing.drawing import measure

ENGINES = ["duckdb", pytest.param("spark-local", marks=pytest.mark.xdist_group("spark"))]

TEN = [
    optin.Number("hours", bounds=(0, 80), max_gap=8.0, max_error=1000.0),
    optin.Number("age", bounds=(16, 90)),
    optin.YesNo("late", max_gap=0.5, max_error=0.999),
    *(optin.YesNo(f"yes {k}") for k in range(2)),
    *(optin.Choice(f"choice {k}", options=tuple("abcde")) for k in range(4)),
    optin.Scale("mood", options=("bad", "fair", "good")),
]
"""Ten questions that publish 30 numbers."""


def answered(people=60, seed=3):
    """Limits, who joined and what they answered, some of it skipped but the first question."""
    rng = np.random.default_rng(seed)
    table = {"id": [f"p{at:04}" for at in range(people)], "limit": rng.lognormal(0.0, 1.0, people)}
    table["joined"] = rng.random(people) < 0.9
    for question in TEN:
        drawn = rng.choice(question.options, people) if hasattr(question, "options") else rng.integers(0, 2, people)
        gone = rng.random(people) < 0.1 * (question.name != "hours")
        table[question.name] = [None if no else each for no, each in zip(gone, drawn.tolist(), strict=True)]
    return pa.table(table)


def asked_of(tmp_path, engine, many):
    """People of an engine, the same in memory, and what is announced to them of the first so many questions."""
    table = answered()
    pq.write_table(table, tmp_path / "people.parquet")
    kept = optin.read(str(tmp_path / "people.parquet"), limits="limit", engine=engine)
    held = optin.PrivacyConstrained(table["limit"].to_numpy(), ids=table["id"].to_pylist())
    columns = {question.name: table[question.name].to_pylist() for question in TEN[:many]}
    return kept, held, optin.plan(held, sheet=optin.Sheet(TEN[:many])).announce(held), columns


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("many", [1, 10])
def test_a_release_is_one_look_to_decide_and_one_for_the_sums(tmp_path, engine, many):
    kept, held, offer, columns = asked_of(tmp_path, engine, many)
    assert many == 1 or sum(len(question.cells) for question in offer.sheet) == 30
    joined = answered()["joined"].to_numpy()
    for column, those in (("joined", joined), (None, None)):
        before = kept.rows.session.sent
        found = measure(offer, kept, None, joined=column)
        assert kept.rows.session.sent == before + 2
        expected = measure(offer, held, columns, joined=those)
        assert found.decision == expected.decision
        assert found.those.questions == expected.those.questions


@pytest.mark.parametrize("split", [False, True])
def test_each_look_of_a_release_of_ten_questions_scans_the_table_once_or_where_most_reach_the_cap_twice(
    tmp_path, monkeypatch, split
):
    monkeypatch.setattr("optin.engine.agents.EngineConstrained.mostly_above", lambda *_: split)
    kept, _, offer, _ = asked_of(tmp_path, "duckdb", 10)
    plans, fetch = [], Session.fetch

    def explained(session, query, *, about):
        plans.append(session.backend.raw_sql(f"EXPLAIN {ibis.to_sql(query, dialect='duckdb')}").fetchall()[0][1])
        return fetch(session, query, about=about)

    monkeypatch.setattr(Session, "fetch", explained)
    measure(offer, kept, None, joined="joined")
    assert [plan.count("Function:") for plan in plans] == ([2, 2] if split else [1, 1])


def test_people_are_looked_at_twice_by_one_query_only_in_files_whose_changes_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("optin.engine.set_apart.LEAST", 0)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"id": [str(k) for k in range(100)], "limit": [0.1] * 5 + [2.0] * 95}), path)
    connection = ibis.duckdb.connect()
    connection.create_table("people", pq.read_table(path))
    for source in (connection.table("people"), connection.read_parquet(path)):
        assert not optin.read(source, limits="limit").mostly_above(1.0)
    assert optin.read(path, limits="limit", engine="duckdb").mostly_above(1.0)


@pytest.mark.parametrize("many", [1, 10])
def test_a_ledger_adds_one_look_at_who_may_join_and_one_at_the_rows_it_charges(tmp_path, many):
    kept, held, _, _ = asked_of(tmp_path, "duckdb", many)
    plan = optin.plan(held, sheet=optin.Sheet(TEN[:many]))
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = optin.campaign.announce(plan, held, ledger=ledger)
        before = kept.rows.session.sent
        optin.campaign.release(offer, kept, None, ledger=ledger, joined="joined")
        assert kept.rows.session.sent == before + 4


@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.parametrize("place", ["memory", "duckdb"])
def test_what_only_the_tilt_makes_too_wide_is_dropped_before_the_draw(tmp_path, monkeypatch, many, place):
    monkeypatch.setattr(noise, "draw", lambda size: pytest.fail("nothing may be drawn"))
    table = answered()
    pq.write_table(table, tmp_path / "people.parquet")
    held = optin.PrivacyConstrained(table["limit"].to_numpy(), ids=table["id"].to_pylist())
    kept = optin.read(str(tmp_path / "people.parquet"), limits="limit", engine="duckdb")
    columns = {question.name: table[question.name].to_pylist() for question in TEN}
    given = (kept, None, "joined") if place == "duckdb" else (held, columns, table["joined"].to_numpy())

    def measured(error, ledger=None):
        first = replace(TEN[0], max_error=error)
        plan = optin.plan(held, sheet=optin.Sheet([first, *TEN[1:many]]))
        agents, answers, joined = given
        return measure(plan.announce(held), agents, answers, joined=joined)

    (own, *_) = measured(1000.0).decision.came.questions
    assert own.half_width > own.half_width - TEN[0].max_gap * own.tilt > 0
    assert measured(own.half_width).decision.dropped == ("",) * many
    between = own.half_width - TEN[0].max_gap * own.tilt / 2
    if many == 1:
        with pytest.raises(PromiseBroken, match="95 % interval would be"):
            measured(between)
    else:
        assert measured(between).decision.dropped == ("error", "")


@pytest.mark.parametrize("place", ["memory", "duckdb"])
def test_nobody_is_charged_for_what_only_the_tilt_makes_too_wide(tmp_path, place):
    kept, held, offer, columns = asked_of(tmp_path, "duckdb", 2)
    joined = answered()["joined"].to_numpy()
    own = measure(offer, held, columns, joined=joined).decision.came.questions[0]
    error = own.half_width - TEN[0].max_gap * own.tilt / 2
    agents, answers, those = (kept, None, "joined") if place == "duckdb" else (held, columns, joined)
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        both = optin.Sheet([replace(TEN[0], max_error=error), TEN[1]])
        offer = optin.campaign.announce(optin.plan(held, sheet=both), held, ledger=ledger)
        found = optin.campaign.release(offer, agents, answers, ledger=ledger, joined=those)
        assert [each.dropped for each in found.answered] == ["error", ""]
        charged = measure(offer, held, columns, joined=joined).those.questions[1].grains
        assert sum(charges_of(ledger, terms_of(offer)).values()) == charged


def test_limits_of_a_csv_are_read_from_text_once_and_asked_for_as_numbers(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_text("id,limit\n" + "".join(f"p{at},0.{1 + at % 97}\n" for at in range(3000)))
    people, plans, fetch = optin.read(path, limits="limit", engine="duckdb"), [], Session.fetch

    def explained(session, query, *, about):
        plans.append(session.backend.raw_sql(f"EXPLAIN {ibis.to_sql(query, dialect='duckdb')}").fetchall()[0][1])
        return fetch(session, query, about=about)

    monkeypatch.setattr(Session, "fetch", explained)
    found = optin.plan(people, bounds=(0, 1))
    held = optin.read(path, limits="limit", engine="memory")
    ranks = [at_rank(people.table(), rank) for rank in (1, 750, 1500, 3000)]
    assert found.cap == pytest.approx(optin.plan(held, bounds=(0, 1)).cap, rel=1e-12)
    assert ranks == [np.sort(held.limits)[rank - 1] for rank in (1, 750, 1500, 3000)]
    assert found.certificate(people).holds
    assert len(plans) > 4
    assert not [plan for plan in plans if "READ_CSV" in plan]
