"""Whatever users call their columns: no name is taken for one of ours, and what is stored is what memory stores."""

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from ledger_steps import counts, spent
from sqlalchemy import text

import optin
from optin import campaign
from optin.ledger import Ledger

N = 40
RNG = np.random.default_rng(5)
IDS = [f"p{number}" for number in range(N)]
LIMITS, TOTALS = RNG.lognormal(-1.0, 1.0, N), RNG.lognormal(0.0, 1.0, N)
VALUES, JOINED = RNG.random(N), (np.arange(N) % 5 > 0)
OURS = [
    *("optin_stated", "optin_first", "optin_second", "optin_person", "optin_row"),
    *("stated", "first", "second", "person", "row", "c0", "c1", "c2", "c7", "C40"),
    *("id", "a", "b", "c", "mark", "position", "grains", "joined", "level", "missing", "unanswered"),
    *(
        "tau",
        "bucket",
        "people",
        "few",
        "levels",
        "weighted",
        "upper",
        "lower",
        "step",
        "eps",
        "plain",
        "weight",
        "finite",
    ),
    *("limit", "value", "count", "schema", "table", "columns", "staged", "placed", "promises", "wrong_0", "first_0"),
]
ODD = [
    *(
        "Limit of Ann",
        "the.limit",
        'a "quoted" one',
        "it's",
        "back`tick",
        "ünïcode Σ 限",
        "a,b",
        "100 %",
        "select",
        "a\\b",
    ),
    *(" space before", "🙂", "SELECT * FROM people; --", "{x}", "$1", ":name", "x" * 200),
]
NAMES = [*OURS, *ODD]


def five(start):
    """Five names in a row, for id, limits, totals, values and answers."""
    return [NAMES[(start + step) % len(NAMES)] for step in range(5)]


def called(roles, others=()):
    """People whose columns carry these names, after other columns, which allow far too much."""
    columns = dict(zip(roles, (IDS, LIMITS, TOTALS, VALUES, JOINED.astype(int)), strict=True))
    return pa.table({name: np.full(N, 100.0) for name in others} | columns)


def two_rounds(people, ledger, totals, values, joined):
    """Announce and release, then do it again with what is left."""
    for name in ("first", "second"):
        plan = campaign.plan(people, bounds=(0, 1), ledger=ledger, allowances=totals)
        offer = campaign.announce(plan, people, ledger=ledger, campaign=name, allowances=totals)
        yield campaign.release(offer, people, values, joined=joined, ledger=ledger)


def stored(ledger):
    """What a ledger holds of everyone: allowance, and what was spent."""
    with ledger.engine.connect() as connection:
        found = connection.execute(text("SELECT p.id, a.grains FROM allowances a JOIN people p ON p.person = a.person"))
        return {row.id: row.grains for row in found}, spent(ledger), counts(ledger)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What the same campaign stores from memory, with totals given and without."""
    found, held = {}, optin.PrivacyConstrained(LIMITS, ids=IDS)
    for totals in (None, "column"):
        with Ledger.open(str(tmp_path_factory.mktemp("held") / "ledger.sqlite")) as ledger:
            list(two_rounds(held, ledger, None if totals is None else TOTALS, VALUES, JOINED))
            found[totals is None] = stored(ledger)
    return found


def parquet(table, folder):
    pq.write_table(table, folder / "people.parquet")
    return str(folder / "people.parquet")


def csv(table, folder):
    arrow_csv.write_csv(table, folder / "people.csv")
    return str(folder / "people.csv")


def in_a_table(table, _):
    return ibis.duckdb.connect().create_table("people", table)


def expect_the_same(table, roles, engine, folder, expected, *, total):
    """Go through two rounds, and find in the ledger what memory writes."""
    who, limits, totals, values, joined = roles
    people = optin.read(table, id=who, limits=limits, engine=engine)
    with Ledger.open(str(folder / "ledger.sqlite")) as ledger:
        list(two_rounds(people, ledger, totals if total else None, values, joined))
        assert stored(ledger) == expected[not total]


PLAIN = ["ids", "limits", "totals", "values", "answers"]


@pytest.mark.parametrize(("source", "total"), [(parquet, False), (in_a_table, True)])
def test_a_column_with_one_of_our_names_is_never_taken_for_ours(source, total, expected, tmp_path):
    expect_the_same(source(called(PLAIN, NAMES), tmp_path), PLAIN, "duckdb", tmp_path, expected, total=total)


def few_and_many(daily):
    """Some of the names in the daily run (one CSV is enough, it takes as long as all others), and all in the long one."""
    starts = range(0, len(NAMES), 5)
    return [start if start in daily else pytest.param(start, marks=pytest.mark.slow) for start in starts]


@pytest.mark.parametrize("start", few_and_many((20, 40, 60)))
def test_people_may_call_their_columns_as_they_like(start, expected, tmp_path):
    roles, source = five(start), (parquet, csv, in_a_table)[start // 5 % 3]
    expect_the_same(source(called(roles), tmp_path), roles, "duckdb", tmp_path, expected, total=start % 2 == 0)


@pytest.mark.xdist_group("spark")
def test_spark_takes_no_name_for_ours_either(expected, tmp_path):
    roles, others = ODD[2:7], [*OURS, *ODD[:2], *ODD[7:]]
    expect_the_same(parquet(called(roles, others), tmp_path), roles, "spark-local", tmp_path, expected, total=False)


@pytest.mark.soak
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("start", range(0, len(NAMES), 5))
def test_on_spark_people_may_call_their_columns_as_they_like(start, expected, tmp_path):
    roles, source = five(start), (parquet, csv)[start // 5 % 2]
    expect_the_same(source(called(roles), tmp_path), roles, "spark-local", tmp_path, expected, total=True)


def test_what_remains_may_be_laid_over_people_twice(expected, tmp_path):
    people = optin.read(parquet(called(PLAIN), tmp_path), id="ids", limits="limits")
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        list(two_rounds(people, ledger, "totals", "values", "answers"))
        held = optin.PrivacyConstrained(LIMITS, ids=IDS)
        left = [campaign.within_allowance(campaign.within_allowance(who, ledger), ledger) for who in (people, held)]
    query = left[0].rows.table.select(id=left[0].rows.ids(), limit=left[0].expression)
    found = left[0].rows.session.fetch(query, about="the people").to_pylist()
    assert {row["id"]: row["limit"] for row in found} == dict(zip(IDS, left[1].limits.tolist(), strict=True))
