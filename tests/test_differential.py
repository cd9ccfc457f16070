"""The same campaign, on arrays and in every engine: the same integers, or the same failure in the same words."""

import itertools
import math
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import optin_ok
from differential import by_command, campaign, outcome, written

import optin
from optin.tables import read_table

SPARK = pytest.mark.xdist_group("spark")  # one worker starts Java, the others never
OWN_LIMITS = ("which an engine cannot tell apart", "Spark reads one type only")
"""What only engines refuse, in Parquet, and say so: names that differ in nothing but capitals, types that differ by file."""


def same(one, other):
    """Compare what came out: integers and words exactly, floats of a plan (sums in another order) to 12 digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15)
    return one == other


def agree(case, folder, engine):
    """Run one campaign in memory and in an engine and compare every step."""
    written(case, folder / "people")
    held = outcome(case, folder, "memory")
    kept = outcome(case, folder, engine, planned=held.plans)
    compare(case, held.found, kept.found)


def compare(case, held, kept):
    """Insist on the same steps with the same outcomes, but for what engines cannot do at all."""
    if case.parquet and any(words in str(kept[-1]) for words in OWN_LIMITS):
        return
    for one, other in zip(held, kept, strict=False):
        assert same(one, other), (case.seed, one, other)
    assert len(held) == len(kept), (case.seed, held[-1], kept[-1])


def batches(count, size):
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


@pytest.mark.parametrize("seeds", batches(10, 5), ids=str)
def test_duckdb_and_arrays_agree_on_random_campaigns(tmp_path, seeds):
    for seed in seeds:
        agree(campaign(seed), tmp_path / str(seed), "duckdb")


def agree_by_command(case, folder):
    written(case, folder / "people")
    compare(case, by_command(case, folder, "memory"), by_command(case, folder, "duckdb"))


def test_commands_agree_on_random_campaigns_in_memory_and_on_duckdb(tmp_path):
    for seed in range(300, 303):
        agree_by_command(campaign(seed), tmp_path / str(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", batches(40, 10), ids=str)
def test_commands_agree_on_many_random_campaigns_in_memory_and_on_duckdb(tmp_path, seeds):
    for seed in seeds:
        agree_by_command(campaign(2_000 + seed), tmp_path / str(seed))


@SPARK
@pytest.mark.parametrize("seeds", batches(20, 10), ids=str)
def test_spark_and_arrays_agree_on_random_campaigns(tmp_path, seeds):
    for seed in planned_quickly(20, 0, apart=without_totals_in_text)[seeds.start : seeds.stop]:
        agree(replace(campaign(seed), rounds=1, parts=1), tmp_path / str(seed), "spark-local")


@pytest.mark.slow
@pytest.mark.parametrize("seeds", batches(200, 20), ids=str)
def test_duckdb_and_arrays_agree_on_two_hundred_random_campaigns(tmp_path, seeds):
    for seed in seeds:
        agree(campaign(1_000 + seed), tmp_path / str(seed), "duckdb")


def planned_quickly(count, start, *, apart=lambda _: True):
    """Seeds of campaigns without budgets in text, whose exact division Spark plans for a minute."""
    cases = filter(apart, map(campaign, itertools.count(start)))
    quick = (case.seed for case in cases if case.model != "budgets" or (case.parquet and case.typed))
    return list(itertools.islice(quick, count))


def without_totals_in_text(case):
    """Totals in text are planned for half a minute too; they are among the two hundred."""
    return case.budget.get("allowances") != "total" or (case.parquet and case.typed)


@SPARK
@pytest.mark.slow
@pytest.mark.parametrize("seeds", batches(200, 20), ids=str)
def test_spark_and_arrays_agree_on_two_hundred_random_campaigns(tmp_path, seeds):
    for seed in planned_quickly(200, 1_000)[seeds.start : seeds.stop]:
        agree(replace(campaign(seed), rounds=1, parts=1), tmp_path / str(seed), "spark-local")


@SPARK
@pytest.mark.soak
@pytest.mark.parametrize("seeds", batches(200, 20), ids=str)
def test_spark_as_it_is_and_arrays_agree_on_all_kinds_of_random_campaigns(tmp_path, seeds):
    for seed in seeds:
        agree(campaign(1_000 + seed), tmp_path / str(seed), "spark-local")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_stands_in_the_cell_of_someone_who_did_not_join_is_not_looked_at(tmp_path, engine):
    rows = "".join(f"p{at},0.5,1,yes\n" for at in range(12))
    (tmp_path / "people.csv").write_text("id,limit,value,joined\n" + rows + "q,0.5,away,no\n")
    at = ("--ledger", tmp_path / "l.sqlite", "--engine", engine)
    people = tmp_path / "people.csv"
    optin_ok("plan", people, "--limits", "limit", "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    optin_ok("announce", tmp_path / "plan.json", people, *at, "-o", tmp_path / "offer.json")
    more = ("--values", "value", "--joined", "joined", "--json", "-o", tmp_path / "release.json")
    assert optin_ok("release", tmp_path / "offer.json", people, *at, *more).json["joined_people"] == 12


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_answers_stored_as_numbers_are_one_and_zero(tmp_path, engine):
    table = {"id": list("abcd"), "limit": [1.0] * 4, "value": [0.5] * 4}
    for kind in (pa.float64(), pa.float32(), pa.int8(), pa.decimal128(5, 2), pa.bool_()):
        answers = pa.array([1, 0, 1, 1]).cast(pa.float64()).cast(kind)
        pq.write_table(pa.table(table | {"joined": answers}), tmp_path / "people.parquet")
        agents = optin.read(tmp_path / "people.parquet", limits="limit", engine=engine)
        offer = optin.plan(agents, bounds=(0, 1)).announce(agents, min_people=1)
        held = read_table(str(tmp_path / "people.parquet"), ["value", "joined"])
        columns = (held.values("value"), held.truths("joined")) if engine == "memory" else ("value", "joined")
        assert optin.release(offer, agents, columns[0], joined=columns[1]).joined_people == 3


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_budget_over_a_tiny_cost_is_refused_and_never_taken_for_no_limit(tmp_path, engine):
    (tmp_path / "people.csv").write_text("id,budget,cost\nann,1,1\nbob,1,5e-324\n")
    with pytest.raises(optin.BadInput, match="cost is positive but below 1e-150; write 0 for no cost at all"):
        optin.read(tmp_path / "people.csv", budgets="budget", costs="cost", engine=engine)


def test_a_cap_far_above_every_limit_adds_up_to_their_sum(tmp_path):
    (tmp_path / "people.csv").write_text("id,limit\nann,1e-9\n")
    agents = optin.read(tmp_path / "people.csv", limits="limit")
    assert agents.table().clipped_total(8e9) == 1e-9


def test_words_are_counted_and_the_first_of_them_is_named(tmp_path):
    (tmp_path / "people.csv").write_text("id,limit\nann,1\nbob,x\ncy,y\n")
    for engine, place in (("memory", "line 3"), ("duckdb", "id bob")):
        with pytest.raises(optin.BadInput) as caught:
            optin.read(tmp_path / "people.csv", limits="limit", engine=engine)
        assert str(caught.value).splitlines()[0] == (
            f"{tmp_path / 'people.csv'} {place}: limit is not a number; write it with digits and a point (1 more)"
        )


ODD_HEADER = ",id,limit,Limit,notes,notes,value,VALUE"
"""What spreadsheets and data frames write: a column without a name, names given twice, names that differ in capitals."""


@pytest.mark.parametrize("engine", ["memory", "duckdb", pytest.param("spark-local", marks=SPARK)])
def test_columns_without_a_name_or_named_alike_are_in_nobodys_way(tmp_path, engine):
    rows = "".join(f"{at},p{at},0.5,100,a,b,1,7\n" for at in range(12))
    path = tmp_path / "people.csv"
    path.write_text(f"{ODD_HEADER}\n{rows}")
    agents = optin.read(path, limits="limit", engine=engine)
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    assert offer.sealed.total_grains == 12 * 2**31
    values = read_table(str(path), ["value"]).values("value") if engine == "memory" else "value"
    assert optin.release(offer, agents, values).joined_people == 12
    with pytest.raises(optin.BadInput, match=r"people\.csv has 2 columns named notes; rename all but one"):
        optin.release(offer, agents, "notes") if engine != "memory" else read_table(str(path), ["notes"])


def test_a_plan_for_people_without_costs_prints_what_they_keep(tmp_path):
    (tmp_path / "people.csv").write_text("id,cost\n" + "".join(f"p{at},0\n" for at in range(12)))
    at = ("--benefit-base", 1, "--benefit-slope", 1, "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    said = optin_ok("plan", tmp_path / "people.csv", "--costs", "cost", *at).out
    assert "keep part of it" in said
    assert "nan" not in said


@pytest.mark.parametrize("engine", ["memory", "duckdb", pytest.param("spark-local", marks=SPARK)])
def test_nan_written_in_a_cell_is_missing_in_every_engine(tmp_path, engine):
    (tmp_path / "people.csv").write_text("id,limit\nann,0.5\nbob,NaN\n")
    with pytest.raises(
        optin.BadInput, match="limit is missing; fill it in, or say with blank_limit='0' what an empty limit counts as"
    ):
        optin.read(tmp_path / "people.csv", limits="limit", engine=engine)
