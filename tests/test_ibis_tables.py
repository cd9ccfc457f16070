"""People in a table of Ibis, or in any expression over one: the same plan, sums and ledger as in memory."""

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import numbers_of
from ledger_steps import counts, spent
from postgres import PORT

import optin
from optin import campaign
from optin.errors import BadInput
from optin.ledger import Ledger
from optin.releasing.drawing import measure

N = 1_000
RNG = np.random.default_rng(21)
LIMITS = np.concatenate([RNG.lognormal(-1.0, 1.0, N - 2), [0.0, np.inf]])
VALUES, JOINED = RNG.normal(0.5, 0.4, N), RNG.random(N) < 0.8
IDS = [f"p{number:05}" for number in range(N)]
HELD = optin.PrivacyConstrained(LIMITS, ids=IDS)
PEOPLE = pa.table({"id": IDS, "limit": LIMITS, "value": VALUES, "joined": JOINED})


def table(_):
    return ibis.duckdb.connect().create_table("people", PEOPLE)


def expression(_):
    """Half limits in one table, the rest in another, and a row that is filtered away."""
    connection = ibis.duckdb.connect()
    asked = connection.create_table("asked", pa.table({"id": [*IDS, "left"], "half": [*(LIMITS / 2), -1.0]}))
    given = connection.create_table("given", PEOPLE.drop_columns(["limit"]))
    people = asked.filter(asked.id != "left").inner_join(given, "id")
    return people.mutate(limit=people.half * 2).drop("half")


def on_spark(folder):
    pq.write_table(PEOPLE, folder / "people.parquet")
    return str(folder / "people.parquet")


SOURCES = [table, expression, pytest.param(on_spark, marks=pytest.mark.xdist_group("spark"))]
WITH_A_LEDGER = [*SOURCES[:2], pytest.param(on_spark, marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")])]


def read(source, folder):
    engine = "spark-local" if source is on_spark else "duckdb"
    return optin.read(source(folder), limits="limit", engine=engine)


@pytest.mark.parametrize("source", [table, expression])
def test_a_table_of_ibis_gives_the_plan_the_offer_and_the_sums_of_memory(source, tmp_path):
    kept = read(source, tmp_path)
    plan = optin.plan(HELD, bounds=(0, 1))
    assert optin.plan(kept, bounds=(0, 1)).cap == pytest.approx(plan.cap, rel=1e-11)
    assert plan.certificate(kept).holds
    offer = plan.announce(HELD, campaign="c")
    assert numbers_of(plan.announce(kept, campaign="c")) == numbers_of(offer)
    for column, array in ((None, None), ("joined", JOINED)):
        found, expected = measure(offer, kept, "value", joined=column), measure(offer, HELD, VALUES, joined=array)
        assert (found.those, found.those.questions[0].cells[0]) == (
            expected.those,
            expected.those.questions[0].cells[0],
        )
    assert optin.release(offer, kept, "value").joined_people == N


@pytest.mark.parametrize("source", WITH_A_LEDGER)
def test_two_rounds_go_through_a_ledger_as_from_memory(source, tmp_path):
    kept = read(source, tmp_path)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger, Ledger.open(str(tmp_path / "held.sqlite")) as other:
        for name, joined in (("first", "joined"), ("second", None)):
            offers = [
                campaign.announce(campaign.plan(who, bounds=(0, 1), ledger=book), who, ledger=book, campaign=name)
                for who, book in ((kept, ledger), (HELD, other))
            ]
            release = campaign.release(offers[0], kept, "value", joined=joined, ledger=ledger)
            campaign.release(offers[1], HELD, VALUES, joined=JOINED if joined else None, ledger=other)
            assert offers[0].sealed.total_grains == offers[1].sealed.total_grains
        assert spent(ledger) == spent(other)
        assert counts(ledger) == counts(other)
        assert ledger.verify(against=[release]).ok


@pytest.fixture
def remote(postgres):
    """The same people in a PostgreSQL of their own."""
    connection = ibis.postgres.connect(
        user="optin", host=str(postgres.folder), port=PORT, database=postgres.new_database()
    )
    yield connection.create_table("people", PEOPLE)
    connection.disconnect()


def test_a_table_in_postgresql_gives_the_same_and_is_told_where_a_second_round_cannot_be_read(remote, tmp_path):
    kept, plan = optin.read(remote, limits="limit"), optin.plan(HELD, bounds=(0, 1))
    assert optin.plan(kept, bounds=(0, 1)).cap == pytest.approx(plan.cap, rel=1e-11)
    assert plan.certificate(kept).holds
    offer = plan.announce(HELD, campaign="c")
    assert numbers_of(plan.announce(kept, campaign="c")) == numbers_of(offer)
    found, expected = measure(offer, kept, "value", joined="joined"), measure(offer, HELD, VALUES, joined=JOINED)
    assert (found.those, found.those.questions[0].cells[0]) == (expected.those, expected.those.questions[0].cells[0])
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = campaign.announce(plan, kept, ledger=ledger, campaign="c")
        assert (
            campaign.release(offer, kept, "value", joined="joined", ledger=ledger).joined_people
            == expected.decision.came.people
        )
        with pytest.raises(BadInput, match="by DuckDB or Spark, not by postgres: write the table to Parquet"):
            campaign.plan(kept, bounds=(0, 1), ledger=ledger)


def test_truths_are_numbers_and_a_missing_one_is_missing():
    people = pa.table({"id": IDS[:50], "limit": LIMITS[:50], "value": [True, False] * 24 + [True, None]})
    kept = optin.read(ibis.duckdb.connect().create_table("people", people), limits="limit")
    offer = optin.plan(kept, bounds=(0, 1)).announce(kept, min_people=1)
    with pytest.raises(BadInput, match=rf"id {IDS[49]} joined but their value is missing"):
        optin.release(offer, kept, "value")


def test_what_is_wrong_with_a_table_of_ibis_is_said_without_its_rows():
    connection = ibis.duckdb.connect()
    people = connection.create_table("people", pa.table({"id": ["ann", "bob"], "limit": [1.0, -7.25]}))
    with pytest.raises(BadInput, match=r"^the table id bob: limit is negative"):
        optin.read(people, limits="limit")
    with pytest.raises(BadInput, match=r"the table has no column limits; did you mean limit?"):
        optin.read(people, limits="limits")
    with pytest.raises(BadInput, match="limit is stored as timestamp"):
        optin.read(people.mutate(limit=ibis.now()), limits="limit")


def test_a_backend_that_rounds_sums_may_plan_but_promises_nothing():
    people = ibis.sqlite.connect().create_table("people", PEOPLE.slice(0, N - 1))
    kept = optin.read(people, limits="limit")
    held = optin.PrivacyConstrained(LIMITS[: N - 1])
    plan = optin.plan(kept, bounds=(0, 1))
    assert plan.cap == pytest.approx(optin.plan(held, bounds=(0, 1)).cap, rel=1e-11)
    with pytest.raises(BadInput, match="sqlite rounds sums of whole numbers"):
        plan.announce(kept)
