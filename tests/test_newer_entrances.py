"""What strangers once proved of the first entrances holds at those that were built after them."""

import json
import re
import zipfile
from decimal import Decimal

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cli_steps import optin as command
from cli_steps import optin_ok

import optin
from optin.errors import BadInput
from optin.questions import Number, Sheet

NINES = "0.99999999999999999999"
STRICT, LAX = 0.125, 8.0
ENGINES = pytest.mark.parametrize("engine", ["memory", "duckdb"])


def told_grains(people):
    """Return what everyone is promised together where nobody is capped."""
    return optin.plan(people, bounds=(0, 1)).announce(people, campaign="newer").sealed.total_grains


def csv_of(tmp_path, limit, people=10):
    path = tmp_path / "people.csv"
    path.write_text("id,limit,answer\n" + "".join(f"p{at},{limit},{at / people}\n" for at in range(people)))
    return str(path)


@ENGINES
@pytest.mark.parametrize("written", [NINES, Decimal(NINES)], ids=["text", "decimal"])
def test_one_limit_for_everyone_is_never_a_grain_more(tmp_path, engine, written):
    path = csv_of(tmp_path, 1)
    assert told_grains(optin.read(path, limit=written, engine=engine)) == 10 * (2**32 - 1)
    assert told_grains(optin.read(path, limit=1, engine=engine)) == 10 * 2**32


@ENGINES
@pytest.mark.parametrize("written", [NINES, Decimal(NINES)], ids=["text", "decimal"])
def test_what_a_blank_limit_counts_as_is_never_a_grain_more(tmp_path, engine, written):
    people = optin.read(csv_of(tmp_path, ""), limits="limit", blank_limit=written, engine=engine)
    assert told_grains(people) == 10 * (2**32 - 1)


@pytest.mark.parametrize("limit", ["much", "-1", "nan", None, -1, Decimal(-1), Decimal("nan"), 1j])
def test_one_limit_that_nobody_could_have_is_refused(tmp_path, limit):
    with pytest.raises(BadInput, match="limit"):
        optin.read(csv_of(tmp_path, 1), limit=limit, engine="memory")


@pytest.mark.parametrize("option", ["--limit", "--total"])
def test_a_limit_or_a_total_that_is_typed_for_everyone_is_never_a_grain_more(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    csv_of(tmp_path, 1)
    given = (option, NINES) if option == "--limit" else ("--limits", "limit", option, NINES)
    optin_ok("plan", "people.csv", *given, "--bounds", 0, 1, "-o", "plan.json")
    kept = json.loads((tmp_path / "plan.json").read_text())["columns"][option.lstrip("-")]
    assert int(kept * 2**32) == 2**32 - 1


def stated_size(path, said):
    """Have a workbook state another size of its only sheet."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w") as book:
        for name, part in parts.items():
            book.writestr(name, re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="%s"' % said, part))


@pytest.mark.parametrize("said", [b"A1:B3", b"A1:A6", b"A1", b"A1:B6", b"A1:D9"])
def test_nobody_is_missing_because_a_workbook_states_another_size(tmp_path, said):
    book = openpyxl.Workbook()
    for row in (["id", "limit"], *([f"p{at}", 0.5] for at in range(5))):
        book.active.append(row)
    path = tmp_path / "people.xlsx"
    book.save(path)
    stated_size(path, said)
    assert optin.read(str(path), limits="limit", engine="memory").ids == ("p0", "p1", "p2", "p3", "p4")


def database_of(path, **tables):
    with duckdb.connect(str(path)) as opened:
        for name, limit in tables.items():
            opened.execute(f"CREATE TABLE {name} AS SELECT 'p' || row AS id, {limit} AS most FROM range(5) AS t(row)")
    return str(path)


@pytest.mark.parametrize("table", [None, "a.b"])
def test_two_tables_that_bear_one_name_are_never_taken_for_one(tmp_path, table):
    with duckdb.connect(str(tmp_path / "two.duckdb")) as opened:
        opened.execute("CREATE SCHEMA a")
    path = database_of(tmp_path / "two.duckdb", **{"a.b": STRICT, '"a.b"': LAX})
    with pytest.raises(BadInput, match=r"two tables that are both called a\.b"):
        optin.read(path, limits="most", table=table, engine="memory")


def test_a_schema_called_as_the_file_is_read(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as opened:
        opened.execute("CREATE SCHEMA shop")
    path = database_of(tmp_path / "shop.duckdb", **{"shop.shop.people": STRICT, "shop.main.people": LAX})
    for table, limit in (("shop.people", STRICT), ("people", LAX)):
        assert optin.read(path, limits="most", table=table, engine="memory").limits.tolist() == [limit] * 5


@ENGINES
def test_a_database_that_writes_fewer_digits_makes_no_limit_larger(postgres, engine):
    import psycopg

    url = postgres.new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(
            "CREATE TABLE people AS SELECT 'p' || row AS id, 0.99999999999999989::float8 AS most"
            " FROM generate_series(1, 10) AS row"
        )
    few = url + ("&" if "?" in url else "?") + "options=-c%20extra_float_digits%3D0"
    few = few if "options" not in url else url + "%20-c%20extra_float_digits%3D0"
    assert told_grains(optin.read(few, limits="most", table="people", engine=engine)) == 10 * (2**32 - 1)


PEOPLE = 40


@pytest.fixture(scope="module")
def frame():
    half = PEOPLE // 2
    return pd.DataFrame(
        {
            "who": [f"p{at:02}" for at in range(PEOPLE)],
            "budget": [STRICT] * half + [LAX] * half,
            "cost": 1.0,
            "answer": [1.0] * half + [0.0] * half,
        }
    )


def estimated(people, answers):
    """Release with so little noise that answers with other people's weights show: it passes 0.4 once in 10^9 times at most."""
    offer = optin.plan(people, Sheet([Number("answer", bounds=(0, 1))])).announce(people)
    return optin.release(offer, people, answers)["answer"].estimate


def test_budgets_of_a_table_keep_its_labels(frame):
    turned = frame.iloc[::-1]
    people = optin.read(turned, id="who", budgets="budget", costs="cost")
    with pytest.raises(BadInput, match="different indexes"):
        estimated(people, frame["answer"])
    named = frame.set_axis([f"x{at}" for at in range(PEOPLE)])
    people = optin.read(named.iloc[::-1], id="who", budgets="budget", costs="cost")
    assert estimated(people, named["answer"]) < 0.5


TABLES = {"pandas": lambda table: table, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}
MADE = {
    "read": lambda table: optin.read(table, id="who", limits="budget"),
    "made": lambda table: optin.PrivacyConstrained(table["budget"].to_numpy(), ids=table["who"]),
    "made of polars": lambda table: optin.PrivacyConstrained(
        table["budget"].to_numpy(), ids=pl.from_pandas(table)["who"]
    ),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("made", ["read", "made", "made of polars"])
def test_a_table_of_answers_is_matched_by_the_column_that_ids_came_from_whatever_its_name(frame, kind, made):
    people, turned = MADE[made](frame), frame.iloc[::-1].reset_index(drop=True)
    assert estimated(people, TABLES[kind](turned)) < 0.5, "strict people answered 1, and weigh a sixty-fifth of it all"


def test_people_with_less_left_keep_the_name_of_their_ids(frame, tmp_path):
    from optin.campaign.allowing import within_allowance

    people = optin.read(frame, id="who", limits="budget")
    assert within_allowance(people, None, allowances=np.full(PEOPLE, 1.0)).id_column == "who"


def told(folder, files, engine, **how):
    """Return what everyone is promised together, or the words of the refusal without places."""
    for name, text in files.items():
        (folder / name).write_text(text)
    try:
        return told_grains(optin.read(str(folder), limits="limit", engine=engine, **how))
    except BadInput as error:
        return re.sub(r"\S*(line \d+|id \w+)", "…", str(error).replace(str(folder / "a.csv"), str(folder)))


def with_limits(sign, limits):
    return f"id{sign}limit\n" + "".join(f"{limit}_{at}{sign}{limit}\n" for at, limit in enumerate(limits))


@pytest.mark.parametrize(
    ("commas", "semicolons"),
    [
        ([".5"] * 9, ["0,5"] * 9),
        ([".5"] * 9, ["1.234"] * 9),
        (["1.234"] * 9, ["1.234"] * 9),
        (["2"] * 9, ["0,5"] * 9),
        ([".5"] * 9, ["2"] * 9),
    ],
)
def test_files_with_different_signs_between_their_cells_are_read_alike_in_memory_and_in_an_engine(
    tmp_path, commas, semicolons
):
    files = {"a.csv": with_limits(",", commas), "b.csv": with_limits(";", semicolons).replace("_", "-")}
    assert told(tmp_path, files, "memory") == told(tmp_path, files, "duckdb")


@pytest.mark.parametrize("blank", ["\N{NO-BREAK SPACE}", "\N{EM SPACE}", " ", "\t"])
@pytest.mark.parametrize("written", ["0,5", "10%", "unlimited", "none"])
def test_what_to_mend_of_a_limit_is_said_alike_in_memory_and_in_an_engine(tmp_path, blank, written):
    files = {"a.csv": f"id|limit\np|{blank}{written}\n" + "".join(f"p{at}|1.5\n" for at in range(9))}
    assert told(tmp_path, files, "memory", decimal=".") == told(tmp_path, files, "duckdb", decimal=".")


SHEET = """
[[question]]
kind = "multiple-choice"
name = "why"
options = ["x", "y", "z"]
at_most = 2
"""


def test_what_to_do_about_an_answer_that_is_none_is_said_alike_in_memory_and_in_an_engine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sheet.toml").write_text(SHEET)
    (tmp_path / "people.csv").write_text("id;limit;why\n" + "".join(f"p{at};0,5;x\n" for at in range(12)))
    optin_ok("plan", "people.csv", "--limits", "limit", "--sheet", "sheet.toml", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    (tmp_path / "people.csv").write_text("id;limit;why\n" + "".join(f"p{at};0,5;w\n" for at in range(12)))
    asked = ("release", "offer.json", "people.csv", "--limits", "limit", "--no-ledger", "-o", "release.json")
    said = [command(*asked, "--engine", engine).err for engine in ("memory", "duckdb")]
    assert "A word for nothing, such as NA, is said with --missing NA" in said[0]
    assert re.sub("line 2", "…", said[0]) == re.sub("id p0", "…", said[1])
