"""A sheet of questions through its whole life on the command line, over real answers, in memory and in an engine."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import numbers_of
from cli_steps import names, optin, optin_ok
from fair_sheet import KINDS, NAMES, RATINGS, write_fair

import optin as library
from optin.grains.splitting import part

LIMITS = ("--limits", "limit", "--sheet", "sheet.toml")
COLUMNS = {"faith": "religious"}


def live(folder, monkeypatch, engine, answers="people.csv"):
    """Plan, announce and release in one engine, with a ledger; return what the release said."""
    monkeypatch.chdir(folder)
    at = ("--engine", engine)
    optin_ok("plan", answers, *LIMITS, *at, "-o", "plan.json")
    optin_ok(
        "announce", "plan.json", answers, "--ledger", "ledger.sqlite", *at, "--campaign", "fair", "-o", "offer.json"
    )
    kept = ("--ledger", "ledger.sqlite", "--grains", "grains.parquet", "-o", "release.json", "--json")
    return optin_ok("release", "offer.json", answers, "--joined", "joined", *at, *kept).json


@pytest.fixture(scope="module", params=["memory", "duckdb"])
def life(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"fair-{request.param}")
    columns = write_fair(folder)
    with pytest.MonkeyPatch.context() as patch:
        return folder, columns, live(folder, patch, request.param)


@pytest.fixture
def folder(life, monkeypatch):
    monkeypatch.chdir(life[0])
    return life[0]


def opened(folder):
    """The release with its exact numbers, as the ledger opens it."""
    public = library.Release.from_json((folder / "release.json").read_text())
    with library.Ledger.open(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        return library.Release.from_json(library.campaign.opened_act(ledger, public.ledger_number))


def test_every_question_is_published_over_those_who_answered_it(life):
    folder, columns, told = life
    found = told["questions"]
    assert [(each["name"], each["kind"]) for each in found] == list(zip(NAMES, KINDS, strict=True))
    for each in found:
        column = columns[COLUMNS.get(each["name"], each["name"])]
        assert each["people"] == sum(answer != "" for answer in column)
    assert told["joined_people"] == columns["joined"].count("yes")
    assert library.Release.from_json((folder / "release.json").read_text()).charged


def test_what_is_published_is_near_the_truth(life):
    """Six standard errors from what those who answered say, weighted as everyone is: one in 10^8 without a fault."""
    folder, columns, _ = life
    drawn = library.Release.from_json((folder / "release.json").read_text())
    limits = np.array(columns["limit"], dtype=float)
    there = np.array(columns["years"]) != ""
    years = np.average(np.array(columns["years"])[there].astype(float), weights=limits[there])
    assert abs(drawn["years"].estimate - years) < 6 * drawn["years"].standard_error
    there = np.array(columns["affair"]) != ""
    affairs = np.average(np.array(columns["affair"])[there] == "yes", weights=limits[there])
    assert abs(drawn["affair"].proportions["yes"] - affairs) < 6 * drawn["affair"].standard_error("yes")
    assert sum(drawn["rating"].proportions.values()) == pytest.approx(1, abs=1e-12)


def test_people_are_charged_for_what_they_answered_to_the_last_grain(life):
    folder, columns, _ = life
    offer = library.Announcement.from_json((folder / "offer.json").read_text())
    grains = dict(
        zip(*(pq.read_table(folder / "grains.parquet")[name].to_pylist() for name in ("id", "grains")), strict=True)
    )
    asked = [columns[COLUMNS.get(name, name)] for name in NAMES]
    for at in range(0, len(columns["id"]), 97):
        capped = np.array([int(min(float(columns["limit"][at]), offer.cap) * 2**32)])
        given = (int(part(capped, share)[0]) for share, column in zip(offer.shares, asked, strict=True) if column[at])
        assert abs(grains[columns["id"][at]] - sum(given)) <= len(NAMES)  # a limit read from text may lose a grain
    public = library.Release.from_json((folder / "release.json").read_text())
    drawn = opened(folder)
    assert public.sealed is None
    assert drawn == public
    assert sum(grains.values()) == drawn.sealed.total_grains


def test_a_receipt_says_what_each_question_took_and_anyone_can_check_it(life, folder):
    columns = life[1]
    joined = [answer == "yes" for answer in columns["joined"]]
    at = next(row for row, yes in enumerate(joined) if yes and columns["job"][row] == "" and columns["age"][row] != "")
    person = columns["id"][at]
    told = optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", person, "-o", f"{person}.json")
    assert "job       epsilon 0, skipped" in told.out
    checked = optin_ok("check", f"{person}.json", "offer.json", "release.json", "--json").json
    took = {each["name"]: each for each in checked["questions"]}
    held = json.loads((folder / f"{person}.json").read_text())
    assert sum(each["grains"] for each in took.values()) == held["spent"] < held["promised"]
    assert (took["job"]["grains"], took["age"]["why"]) == (0, "answered")
    assert "skipped" in optin_ok("check", f"{person}.json", "offer.json", "release.json").out
    against = ("--against", "release.json", f"{person}.json")
    assert optin_ok("ledger", "verify", "--ledger", "ledger.sqlite", *against, "--json").json["ok"]


def test_whoever_stayed_away_is_told_nothing_of_questions(life, folder):
    person = life[1]["id"][life[1]["joined"].index("no")]
    told = optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", person, "-o", "away.json")
    assert "What each question took" not in told.out
    assert "questions" not in optin_ok("check", "away.json", "offer.json", "release.json", "--json").json


def test_a_release_asked_for_again_is_the_one_that_is_stored(folder):
    kept = ("--ledger", "ledger.sqlite", "-o", "again.json")
    told = optin_ok("release", "offer.json", "people.csv", "--joined", "joined", *kept)
    assert "Already released" in told.out
    assert (folder / "again.json").read_bytes() == (folder / "release.json").read_bytes()


def test_a_report_of_a_sheet_is_drawn(folder):
    optin_ok("report", "release.json", "--plan", "plan.json", "-o", "report.html")
    page = (folder / "report.html").read_text()
    assert all(option in page for option in RATINGS)


def test_engines_announce_and_charge_the_same_integers(tmp_path, monkeypatch):
    found = {}
    for engine in ("memory", "duckdb"):
        here = tmp_path / engine
        here.mkdir()
        write_fair(here, 400)
        live(here, monkeypatch, engine)
        drawn = opened(here)
        offer = library.Announcement.from_json((here / "offer.sealed.json").read_text())
        found[engine] = *numbers_of(offer), drawn.question_people, drawn.sealed.question_sums
    assert found["memory"] == found["duckdb"]


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = write_fair(tmp_path, 300)
    optin_ok("plan", "people.csv", *LIMITS, "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    return tmp_path, columns


def test_a_plan_says_what_each_question_gets_and_costs_the_others(small):
    told = optin_ok("plan", "people.csv", *LIMITS)
    found = optin_ok("plan", "people.csv", *LIMITS, "--json").json
    assert [each["name"] for each in found["questions"]] == list(NAMES)
    assert sum(each["epsilon_share"] for each in found["questions"]) == pytest.approx(1)
    people = library.read("people.csv", id="id", limits="limit")
    plan = library.plan(people, library.Sheet.from_toml("sheet.toml"))
    for each in found["questions"]:
        planned = plan[each["name"]]
        assert each["half_width"] == planned.half_width()
        assert each["standard_error"] == planned.standard_error
        assert each["effective_without"] == planned.effective_without(people)
        assert each["effective_without"] > found["effective_people"] * (1 - 1e-12)
        assert any(line.split()[:2] == [each["name"], each["kind"]] for line in told.out.splitlines())
    assert json.loads((small[0] / "plan.json").read_text())["sheet"]["title"] == "Marriage and affairs"


def test_several_target_errors_are_answered_by_name(small):
    asked = ("--target-error", "years=0.01", "--target-error", "affair=0.9")
    told = optin_ok("plan", "people.csv", *LIMITS, *asked)
    assert "years: reached" in told.out
    assert "affair: reached" in told.out
    found = {
        each["name"]: each["target"]
        for each in optin_ok("plan", "people.csv", *LIMITS, *asked, "--json").json["questions"]
    }
    assert (found["years"]["reached"], found["affair"]["reached"], found["job"]) == (False, True, None)


def test_wished_errors_decide_what_each_question_gets(small):
    wished = [option for name in NAMES for option in ("--wished-error", f"{name}={0.05 if name == 'affair' else 5}")]
    found = optin_ok("plan", "people.csv", *LIMITS, *wished, "--json").json
    shares = {each["name"]: each["epsilon_share"] for each in found["questions"]}
    assert shares["affair"] == max(shares.values())
    assert "wished errors" in optin_ok("plan", "people.csv", *LIMITS, *wished).out


def test_what_is_left_if_people_decline_is_said_of_the_whole_sheet(small):
    found = optin_ok("plan", "people.csv", *LIMITS, "--without", "20%", "--json").json
    left = [each["effective_people"] for each in found["explanation"]["without"]]
    assert all(0 < each < found["effective_people"] for each in left)
    assert (
        "as accurate as" in optin_ok("plan", "people.csv", *LIMITS, "--without", "20%").out.split("If they decline")[1]
    )


def test_an_offer_lists_its_questions_and_a_person_sees_what_each_takes(small):
    told = optin_ok("explain", "offer.json", "--limit", 0.5)
    found = optin_ok("explain", "offer.json", "--limit", 0.5, "--json").json
    assert sum(each["grains"] for each in found["questions"]) == found["grains"] <= 2**31
    assert "How religious are you?" in told.out
    again = ("--ledger", "other.sqlite", "-o", "other.json")
    assert "± if all join" in optin_ok("announce", "plan.json", "people.csv", *again).out
    offer = optin_ok("announce", "plan.json", "people.csv", "--ledger", "third.sqlite", "-o", "3.json", "--json").json
    assert [each["name"] for each in offer["questions"]] == list(NAMES)


def test_a_question_that_too_few_answered_is_dropped_alone_and_charged_to_nobody(small):
    folder, columns = small
    rows = (folder / "people.csv").read_text().splitlines()
    place = rows[0].split(",").index("job")
    cut = [row.split(",") for row in rows[1:]]
    kept = [[*row[:place], row[place] if at < 20 else "", *row[place + 1 :]] for at, row in enumerate(cut)]
    (folder / "people.csv").write_text("\n".join([rows[0], *map(",".join, kept)]) + "\n")
    at = ("--joined", "joined", "--quorum", 50, "--ledger", "ledger.sqlite", "-o", "release.json")
    told = optin_ok("release", "offer.json", "people.csv", *at)
    assert "Not published, and charged to nobody" in told.out
    drawn = library.Release.from_json((folder / "release.json").read_text())
    assert list(drawn.dropped) == ["job"]
    person = columns["id"][columns["joined"].index("yes")]
    receipt = optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", person, "-o", "receipt.json")
    assert "job       epsilon 0, not published: too few people answered it" in receipt.out
    summary = optin_ok("release", "offer.json", "people.csv", *at, "--json").json
    assert [each.get("dropped", "") != "" for each in summary["questions"]] == [name == "job" for name in NAMES]


def test_nothing_is_charged_where_too_few_joined_for_any_question(small):
    at = ("--joined", "joined", "--quorum", 299, "--ledger", "ledger.sqlite", "-o", "release.json")
    refused = optin("release", "offer.json", "people.csv", *at)
    assert refused.code == 4
    assert "release.json" not in names(small[0])
    acts = optin_ok("ledger", "show", "--ledger", "ledger.sqlite", "--json").json
    assert [act["kind"] for act in acts] == ["register", "announce"]


def test_parquet_holds_truths_numbers_and_words_as_they_are(small):
    folder, columns = small
    given = {name: columns[name] for name in ("id", "rating", "religious", "job", "joined")}
    given |= {"limit": [float(each) for each in columns["limit"]]}
    given |= {name: [float(each) if each else None for each in columns[name]] for name in ("age", "years", "children")}
    given |= {"affair": [each == "yes" if each else None for each in columns["affair"]]}
    given["rating"] = pa.array([each or None for each in columns["rating"]]).dictionary_encode()
    pq.write_table(pa.table(given), folder / "people.parquet")
    found = {}
    for table in ("people.csv", "people.parquet"):
        told = optin_ok(
            "release", "offer.json", table, "--joined", "joined", "--no-ledger", "-o", "r.json", "--json"
        ).json
        found[table] = [each["people"] for each in told["questions"]]
    assert found["people.csv"] == found["people.parquet"]


ONE = {
    "yes-no": ("kind = 'yes-no'\nname = 'late'", ["yes", "no"]),
    "choice": ("kind = 'choice'\nname = 'late'\noptions = ['a', 'b', 'c']", ["a", "c"]),
    "number": ("kind = 'number'\nname = 'late'\nbounds = [0, 10]\nunit = 'times'", ["3", "7"]),
    "score": ("kind = 'score'\nname = 'late'\nitems = 2\neach = [0, 3]", ["3", "5"]),
}


@pytest.mark.parametrize("kind", ONE)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_sheet_of_one_question_takes_its_column_or_the_one_that_is_named(kind, engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    question, answers = ONE[kind]
    (tmp_path / "sheet.toml").write_text(f"[[question]]\n{question}\n")
    rows = [f"p{at},{1 + at % 3},{answers[at % 2]}" for at in range(60)]
    (tmp_path / "named.csv").write_text("\n".join(["id,limit,late", *rows]) + "\n")
    (tmp_path / "other.csv").write_text("\n".join(["id,limit,answer", *rows]) + "\n")
    at = ("--engine", engine)
    optin_ok("plan", "named.csv", *LIMITS, *at, "-o", "plan.json")
    optin_ok("announce", "plan.json", "named.csv", "--ledger", "l.sqlite", *at, "-o", "offer.json")
    kept = ("--no-ledger", *at, "-o", "r.json", "--json")
    assert optin_ok("release", "offer.json", "named.csv", *kept).json["joined_people"] == 60
    assert optin_ok("release", "offer.json", "other.csv", "--values", "answer", *kept).json["joined_people"] == 60
    missing = optin("release", "offer.json", "other.csv", *kept)
    assert missing.code == 2
    assert "--values" in missing.err or "has no column late" in missing.err


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_items_of_a_score_and_sets_of_options_are_read_alike_everywhere(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sheet.toml").write_text(
        "[[question]]\nkind='score'\nname='phq'\nitems=2\neach=[0, 3]\n"
        "[[question]]\nkind='multiple-choice'\nname='why'\noptions=['pay', 'way', 'boss']\nat_most=2\n"
    )
    rows = [
        f"p{at},1,{at % 4},{'' if at == 7 else at % 3},{('pay', 'pay;boss', '', ' way ; pay ')[at % 4]}"
        for at in range(40)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["id,limit,phq_1,phq_2,why", *rows]) + "\n")
    at = ("--engine", engine)
    optin_ok("plan", "people.csv", *LIMITS, *at, "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", *at, "-o", "offer.json")
    told = optin_ok("release", "offer.json", "people.csv", "--ledger", "l.sqlite", *at, "-o", "r.json", "--json").json
    assert [each["people"] for each in told["questions"]] == [39, 40]  # to choose nothing is an answer


def test_answers_in_words_are_read_from_a_file_without_loading_pandas(small):
    """Half a second for whoever has it installed, and nothing of it is used."""
    look = (
        "import sys\n"
        "from optin.questions import Sheet\n"
        "from optin.tables import read_table\n"
        "table, sheet = read_table('people.csv'), Sheet.from_toml('sheet.toml')\n"
        "assert len(sheet['job'].coded(table.entries('job'))) == 300\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", look], check=True)


def test_a_sheet_whose_shares_depend_on_limits_says_for_which_it_states_them(tmp_path):
    """With importance, shares move with limits (E19): what is printed holds where noise is nearly all of the error."""
    even = '[[question]]\nname = "a"\nkind = "yes-no"\n[[question]]\nname = "b"\nkind = "yes-no"\n'
    (tmp_path / "even.toml").write_text(even)
    (tmp_path / "uneven.toml").write_text(even + "importance = 3\n")
    assert "where limits are so strict" not in optin_ok("sheet", "check", tmp_path / "even.toml").out
    said = optin_ok("sheet", "check", tmp_path / "uneven.toml").out
    assert "where limits are so strict" in said
    strict = library.plan(library.PrivacyConstrained([1e-4] * 50), library.Sheet.from_toml(tmp_path / "uneven.toml"))
    loose = library.plan(library.PrivacyConstrained([1.0] * 5000), library.Sheet.from_toml(tmp_path / "uneven.toml"))
    stated = float(re.search(r"b +yes-no +8 +([\d.]+) %", said)[1]) / 100
    assert abs(strict["b"].epsilon_share - stated) < 0.005
    assert loose["b"].epsilon_share > stated + 0.1
