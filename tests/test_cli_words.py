"""What the command line says: its own words, the place that matters, and JSON wherever a script may ask for it."""

import gzip
import json
import math
import os

import pytest
from cli_steps import PLAN, names, optin, optin_ok, people_csv

from optin.wording.numbers import people_like


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A plan, announced in a ledger."""
    folder = tmp_path_factory.mktemp("words")
    table = people_csv(folder)
    optin_ok("plan", table, *PLAN, "-o", folder / "plan.json")
    optin_ok("announce", folder / "plan.json", table, "--ledger", folder / "l.sqlite", "-o", folder / "offer.json")
    return folder


PYTHON = ("None", "NaN", "=", "_", "True", "False", "(lo, hi)", "[0]", "to_json", "agents")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (("--bounds", 4, 1), "--bounds must be two different numbers, the lower first"),
        (("--bounds", "nan", 1), "--bounds must be two numbers, the lower first"),
        (("--bounds", 0, "inf"), "--bounds must be finite"),
        (("--bounds", 0, 40, "--eta", -1), "--eta must be a positive"),
        (("--bounds", 0, 40, "--eta", "nan"), "--eta must be a number"),
        (("--bounds", 0, 40, "--sd", 21), "--sd must lie between 0 and 20:"),
        (("--bounds", 0, 40, "--sd", -1), "--sd must be 0 or more"),
        (("--bounds", 0, 40, "--max-gap", 41), "--max-gap must lie between"),
        (("--bounds", 0, 40, "--slack", 1), "--slack is for people who weigh costs"),
        (("--bounds", 0, 40, "--target-error", 0), "--target-error must be"),
        (("--bounds", 0, 40, "--target-error", 1, "--max-gap", 1), "leave out --eta and --max-gap"),
    ],
)
def test_a_question_is_refused_in_the_words_of_its_options(question, told, campaign):
    outcome = optin("plan", campaign / "people.csv", "--limits", "limit", *question)
    assert outcome.code == 2
    assert told in outcome.err
    assert not [word for word in PYTHON if word in outcome.err]


def test_limits_that_do_not_reach_a_given_noise_are_told_by_the_option(campaign):
    outcome = optin("plan", campaign / "people.csv", "--limits", "limit", "--bounds", 0, 40, "--eta", 1e9)
    assert outcome.code == 3
    assert "--eta 1e+09 needs" in outcome.err


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (0, "you allow nothing, so you take no part"),
        (1e-12, "your limit is below the smallest step"),
        ("inf", "you set no limit, and give no more than this all the same"),
        (0.01, "it is used in full, and not crossed"),
        (5, "of your limit, unused"),
    ],
)
def test_an_offer_is_explained_at_every_limit(limit, told, campaign):
    shown = optin_ok("explain", campaign / "offer.json", "--limit", limit).out
    assert told in shown
    assert "infinite" not in shown


@pytest.mark.parametrize("words", [("--limit", -1), ("--limit", "nan"), ("--cost", 1), ()])
def test_a_deal_that_cannot_be_explained_names_the_option(words, campaign):
    outcome = optin("explain", campaign / "offer.json", *words)
    assert outcome.code == 2
    assert "--limit" in outcome.err


def test_a_plan_announced_twice_is_said_to_be_announced_already(campaign):
    offer = json.loads((campaign / "offer.json").read_text())
    again = ("announce", campaign / "plan.json", campaign / "people.csv", "--ledger", campaign / "l.sqlite")
    outcome = optin(*again, "-o", campaign / "again.json")
    assert outcome.code == 4
    assert f"announced already, as campaign {offer['terms']['campaign']}, round 1" in outcome.err
    assert not (campaign / "again.json").exists()
    optin_ok(*again, "-o", campaign / "again.json", "--campaign", offer["terms"]["campaign"], "--round", 1)
    assert (campaign / "again.json").read_text() == (campaign / "offer.json").read_text()


def test_a_budget_spent_names_the_line_of_the_first_person(tmp_path):
    lines = ["id,cost", *(f"p{k:02d},{0.5 + k / 50}" for k in range(40))]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines) + "\n")
    costs = ("--costs", "cost", "--benefit-base", 5, "--benefit-slope", 1, "--bounds", 0, 1)
    optin_ok("plan", table, *costs, "-o", tmp_path / "plan.json")
    announce = ("announce", tmp_path / "plan.json", table, "--ledger", tmp_path / "l.sqlite")
    optin_ok(*announce, "--campaign", "one", "-o", tmp_path / "a.json")
    outcome = optin(*announce, "--campaign", "two", "-o", tmp_path / "b.json")
    assert outcome.code == 4
    assert f"first the person at {table} line 6" in outcome.err
    assert "index" not in outcome.err


@pytest.mark.parametrize("engine", ["memory", pytest.param("duckdb", marks=pytest.mark.slow)])
def test_totals_over_all_releases_can_be_stated_apart_from_the_limit(tmp_path, engine):
    lines = ["id,limit,total", *(f"p{k:02d},0.5,{1 if k else 0.25}" for k in range(30))]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines) + "\n")
    ask = ("plan", table, "--limits", "limit", "--allowances", "total", "--bounds", 0, 1, "--engine", engine)
    announce = ("announce", tmp_path / "plan.json", table, "--engine", engine, "--ledger", tmp_path / "l.sqlite")
    kept = ("--ledger", tmp_path / "l.sqlite", "-o", tmp_path / "plan.json")
    for round_number in (1, 2):
        found = optin_ok(*ask, *kept, "--json").json
        assert found["eta"] == pytest.approx(14.75 if round_number == 1 else 14.5, abs=1e-6)
        told = ("--campaign", "c", "--round", round_number, "--min-people", 1, "-o", tmp_path / "a.json")
        optin_ok(*announce, *told)
    assert optin(*ask, *kept).code == 4, "two rounds of a half use up a total of 1"


def test_json_is_there_for_every_command_a_script_may_run(campaign, tmp_path):
    shown = optin_ok("report", campaign / "plan.json", "-o", tmp_path / "r.html", "--json").json
    assert shown == {"report": str(tmp_path / "r.html"), "bytes": os.path.getsize(tmp_path / "r.html")}
    at = (campaign / "offer.json", "--ledger", campaign / "l.sqlite", "--json")
    assert optin_ok("ledger", "decline", *at, "--id", "p0007").json["standing"] == 199
    assert optin_ok("ledger", "cancel", *at).json["cancelled"]


def test_a_check_that_fails_says_so_in_json_too(tmp_path):
    table, ledger = people_csv(tmp_path), tmp_path / "l.sqlite"
    plan, offer, release, receipt = (tmp_path / f"{name}.json" for name in ("plan", "offer", "release", "receipt"))
    optin_ok("plan", table, *PLAN, "-o", plan)
    optin_ok("announce", plan, table, "--ledger", ledger, "-o", offer)
    optin_ok("release", offer, table, "--values", "units", "--joined", "joined", "--ledger", ledger, "-o", release)
    optin_ok("receipt", "--ledger", ledger, "--id", "p0001", "-o", receipt)
    record = json.loads(receipt.read_text())
    receipt.write_text(json.dumps(record | {"spent": record["spent"] + 1}))
    outcome = optin("check", receipt, offer, release, "--json")
    assert outcome.code == 4
    assert outcome.json["ok"] is False
    assert outcome.json["why"] in outcome.err


def test_people_who_allow_nothing_do_not_make_a_quorum_without_a_ledger(tmp_path):
    lines = ["id,limit,value", *(f"p{k:02d},{0 if k < 5 else 0.5},1" for k in range(25))]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines) + "\n")
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    optin_ok("announce", tmp_path / "plan.json", table, "--ledger", tmp_path / "l", "-o", tmp_path / "a.json")
    ask = ("release", tmp_path / "a.json", table, "--values", "value", "--no-ledger", "-o", tmp_path / "r.json")
    outcome = optin(*ask, "--quorum", 21)
    assert outcome.code == 4
    assert "20 of those who joined count and the quorum is 21" in outcome.err
    optin_ok(*ask, "--quorum", 20)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("people.csv.gz", lambda raw: gzip.compress(raw)[:-20], "is damaged: it cannot be unpacked as gzip"),
        ("people.zip", lambda raw: b"PK\x03\x04\xff" + raw, "line 1 is the start of a spreadsheet or a zip archive"),
        ("people.xlsx", lambda raw: b"PK\x03\x04\xff" + raw, "is not a workbook that can be read, or is damaged"),
        ("people.xls", lambda raw: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + raw, "line 1 is an old workbook (XLS)"),
        ("people.db", lambda raw: b"SQLite format 3\x00" + raw, "line 1 is a database of SQLite"),
        ("wide.csv", lambda raw: raw.decode().encode("utf-16-be"), "seems to be UTF-16 without a byte order mark"),
    ],
)
def test_files_of_another_kind_are_told_by_their_kind(name, change, told, tmp_path):
    raw = people_csv(tmp_path).read_bytes()
    (tmp_path / name).write_bytes(change(raw))
    before = names(tmp_path)
    outcome = optin("plan", tmp_path / name, *PLAN, "-o", tmp_path / "plan.json")
    assert outcome.code == 2
    assert told in outcome.err
    assert names(tmp_path) == before


def test_a_stream_is_no_table():
    outcome = optin("plan", "-", *PLAN)
    assert outcome.code == 2
    assert "save it to a file first" in outcome.err


def test_a_gap_gives_every_reference_point_its_bias(campaign):
    found = optin_ok("plan", campaign / "people.csv", *PLAN, "--max-gap", 2, "--json").json["explanation"]["references"]
    by_name = {r["name"]: r for r in found}
    assert by_name["no privacy at all"]["bias_bound"] == by_name["everyone at the strictest limit"]["bias_bound"] == 0
    threshold = by_name["best single threshold"]
    assert threshold["bias_bound"] == pytest.approx(2 * (1 - threshold["people"] / 200))
    for r in found:
        assert r["worst_case_error"] == pytest.approx(math.hypot(r["standard_error"], r["bias_bound"]))
    shown = optin_ok("plan", campaign / "people.csv", *PLAN, "--max-gap", 2).out
    assert "largest bias" in shown
    assert "largest bias" not in optin_ok("plan", campaign / "people.csv", *PLAN).out


def test_people_are_counted_whole(campaign):
    shown = optin_ok("plan", campaign / "people.csv", *PLAN).out
    effective = optin_ok("plan", campaign / "people.csv", *PLAN, "--json").json["data_variance"]
    assert effective
    assert "the exact mean of " in shown
    assert people_like(157.3) == "157 people"
    assert "." not in shown.split("the exact mean of ")[1].split(" ")[0]


def test_a_table_whose_ids_have_another_name_is_met_with_the_option_for_it(tmp_path):
    table = people_csv(tmp_path)
    table.write_text(table.read_text().replace("id,", "email,", 1))
    outcome = optin("plan", table, *PLAN)
    assert outcome.code == 2
    assert "has no column id (--id COL names another); it has email, limit, units, joined" in outcome.err
    optin_ok("plan", table, *PLAN, "--id", "email")


def test_a_cap_above_every_limit_is_said_to_be_that(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("id,limit\n" + "".join(f"p{k},1\n" for k in range(20)))
    assert "above every limit, so everyone gives exactly what they allow" in optin_ok("plan", table, *PLAN).out


def test_a_report_is_a_page_to_show_and_what_is_about_single_people_is_not(campaign, tmp_path):
    mask = os.umask(0o022)
    try:
        optin_ok("report", campaign / "plan.json", "-o", tmp_path / "r.html")
    finally:
        os.umask(mask)
    assert (tmp_path / "r.html").stat().st_mode & 0o777 == 0o644
    assert (campaign / "plan.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "asked", [("--limits", "limit"), ("--costs", "cost", "--benefit-base", 3, "--benefit-slope", 1)]
)
def test_a_plan_is_told_in_the_same_words_wherever_people_are(tmp_path, asked):
    table = tmp_path / "people.csv"
    rows = [f"p{at},{(0, 0.1, 0.2, 0.5, 3)[at % 5]},{1 + at % 7}" for at in range(60)]
    table.write_text("\n".join(["id,limit,cost", *rows]) + "\n")
    asked = (*asked, "--bounds", 0, 1)
    memory, engine = (optin_ok("plan", table, *asked, "--engine", name) for name in ("memory", "duckdb"))
    assert engine.out == memory.out
    assert memory.err == engine.err


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("ledger", [True, False])
def test_a_release_tells_those_who_count_from_those_who_joined(tmp_path, engine, ledger):
    lines = [
        "id,limit,units,joined",
        *(f"p{k:02d},{0 if k < 4 else 0.5},1,{'no' if k % 10 == 9 else 'yes'}" for k in range(40)),
    ]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines) + "\n")
    plan, offer, drawn = (tmp_path / f"{name}.json" for name in ("plan", "offer", "drawn"))
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 2, "-o", plan)
    optin_ok("announce", plan, table, "--ledger", tmp_path / "l.sqlite", "-o", offer)
    kept = ("--ledger", tmp_path / "l.sqlite") if ledger else ("--no-ledger",)
    asked = ("release", offer, table, "--values", "units", "--joined", "joined", "--engine", engine, *kept)
    assert "36 of 40 people; 32 of them count, 4 have nothing to give" in optin_ok(*asked, "-o", drawn).out
    page = tmp_path / "page.html"
    optin_ok("report", drawn, "--plan", plan, "-o", page)
    assert "36 of 40 people joined (of all announced, fewer than 10 have nothing to give" in page.read_text()
    if ledger:
        assert "Charged in a ledger, as act " in page.read_text()
        again = optin_ok(*asked, "-o", drawn, "--json").json
        assert (again["joined_people"], again["counted_people"], again["stored"]) == (36, None, True)
