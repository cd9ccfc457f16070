"""A campaign from the command line: every step on files, for both kinds of people, accounted for and not."""

import json
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import PLAN, names, optin, optin_ok, people_csv
from ledger_steps import damage

import optin as library
from optin.cli.made_people import make_people
from optin.engine import opening

RELEASE = ("--values", "units", "--joined", "joined")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own with people in it, and no settings from outside."""
    for name in ("OPTIN_LEDGER", "OPTIN_ENGINE", "OPTIN_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path)
    return tmp_path


def announced(ledger="ledger.sqlite", table="people.csv"):
    optin_ok("plan", table, *PLAN, "-o", "plan.json")
    return optin_ok("announce", "plan.json", table, "--ledger", ledger, "-o", "announcement.json")


def test_a_whole_campaign_runs_and_its_receipt_checks(folder):
    announced()
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "release.json")
    joined = next(
        line.split(",")[0] for line in (folder / "people.csv").read_text().splitlines() if line.endswith("yes")
    )
    optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", joined, "-o", "receipt.json")
    shown = optin_ok("check", "receipt.json", "announcement.json", "release.json", "--json").json
    assert shown["ok"]
    found = optin_ok(
        "ledger", "verify", "--ledger", "ledger.sqlite", "--against", "release.json", "receipt.json", "--json"
    ).json
    assert found["ok"]
    assert found["vouched"] == found["acts"]
    kinds = [act["kind"] for act in optin_ok("ledger", "show", "--ledger", "ledger.sqlite", "--json").json]
    assert kinds == ["register", "announce", "absent", "release"]
    optin_ok("report", "release.json", "--plan", "plan.json", "-o", "report.html")
    assert names(folder) == [
        "announcement.json",
        "announcement.sealed.json",
        "ledger.sqlite",
        "people.csv",
        "plan.json",
        "receipt.json",
        "release.json",
        "report.html",
    ]


def test_a_campaign_runs_on_either_database(folder, bare_url):
    announced(ledger=bare_url)
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", bare_url, "-o", "release.json")
    optin_ok("receipt", "--ledger", bare_url, "--id", "p0002", "-o", "receipt.json")
    optin_ok("check", "receipt.json", "announcement.json", "release.json")
    assert optin_ok("ledger", "verify", "--ledger", bare_url, "--against", "release.json", "--json").json["ok"]


def test_files_about_single_people_are_for_their_owner_alone(folder):
    announced()
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "release.json")
    optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", "p0001", "-o", "receipt.json")
    for name in ("plan.json", "announcement.sealed.json", "receipt.json", "ledger.sqlite"):
        assert mode(folder / name) == 0o600, name
    for name in ("announcement.json", "release.json"):
        assert mode(folder / name) & 0o600 == 0o600, name


def test_the_files_are_those_of_the_library(folder):
    announced()
    made = make_people(200, np.random.default_rng(7))
    agents = library.PrivacyConstrained(np.round(made.limits, 4), ids=made.ids)
    plan = library.plan(agents, bounds=(0, 40), data_sd=9)
    kept = library.Plan.from_json((folder / "plan.json").read_text())
    assert kept == plan
    record = json.loads((folder / "plan.json").read_text())
    assert record["describe"] == json.loads(json.dumps(library.describe(agents).as_dict()))
    offer = library.Announcement.from_json((folder / "announcement.json").read_text())
    again = plan.announce(agents, campaign=offer.campaign)
    assert offer.sealed is None
    assert (offer.terms, offer.designs) == (again.terms, again.designs)  # only the salt of the seal differs
    opened = library.Announcement.from_json((folder / "announcement.sealed.json").read_text())
    assert opened.sealed.question_sums == again.sealed.question_sums
    assert opened == offer


def test_the_worked_example_comes_out_of_the_command_line(folder):
    (folder / "four.csv").write_text("id,limit,value\na,1,0\nb,4,1\nc,9,1\nd,9,0\n")
    found = optin_ok("plan", "four.csv", "--limits", "limit", "--bounds", 0, 1, "-o", "p.json", "--json").json
    assert (found["cap"], found["eta"]) == (5.0, 15.0)
    assert {k: found["explanation"][k] for k in ("pooled", "tight", "free_privacy")} == {
        "pooled": 2,
        "tight": 2,
        "free_privacy": 2,
    }
    refused = optin("announce", "p.json", "four.csv", "--ledger", "four.sqlite", "-o", "a.json")
    assert refused.code == 2
    assert "--min-people" in refused.err
    assert "four.sqlite" not in names(folder)
    optin_ok("announce", "p.json", "four.csv", "--ledger", "four.sqlite", "--min-people", 1, "-o", "a.json")
    assert optin_ok("explain", "a.json", "--limit", 9, "--json").json["epsilon"] == int(2.0 ** (19 / 8) * 2**32) / 2**32
    assert optin_ok("explain", "a.json", "--limit", 1, "--json").json["epsilon"] == 1.0


def test_a_release_asked_for_twice_is_the_same_bytes_and_charges_once(folder):
    announced()
    for name in ("one.json", "two.json"):
        optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", name)
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()
    acts = optin_ok("ledger", "show", "--ledger", "ledger.sqlite", "--json").json
    assert [act["kind"] for act in acts].count("release") == 1


def test_the_ledger_may_be_named_by_the_environment(folder, monkeypatch):
    monkeypatch.setenv("OPTIN_LEDGER", "ledger.sqlite")
    optin_ok("plan", "people.csv", *PLAN, "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "-o", "announcement.json")
    assert optin_ok("ledger", "show", "--json").json[-1]["kind"] == "announce"


def test_a_release_says_where_it_is_accounted_for(folder):
    announced()
    neither = optin("release", "announcement.json", "people.csv", *RELEASE, "-o", "r.json")
    both = optin("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "l", "--no-ledger", "-o", "r.json")
    assert (neither.code, both.code) == (2, 2)
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--no-ledger", "-o", "r.json")
    assert json.loads((folder / "r.json").read_text())["charged"] is False


def test_a_quorum_that_is_not_reached_charges_nobody(folder):
    announced()
    at = ("--ledger", "ledger.sqlite", "-o", "r.json", "--quorum", 199)
    assert optin("release", "announcement.json", "people.csv", *RELEASE, *at).code == 4
    assert optin("release", "announcement.json", "people.csv", *RELEASE, "--no-ledger", *at[2:]).code == 4
    assert "r.json" not in names(folder)
    assert [a["kind"] for a in optin_ok("ledger", "show", "--ledger", "ledger.sqlite", "--json").json][-1] == "announce"


@pytest.mark.parametrize(
    ("accounted", "engine"),
    [
        pytest.param(True, "memory", id="ledger-memory"),
        pytest.param(False, "memory", id="no ledger-memory"),
        pytest.param(True, "duckdb", id="ledger-duckdb"),
        pytest.param(False, "duckdb", id="no ledger-duckdb", marks=pytest.mark.slow),
    ],
)
def test_a_quorum_counts_those_who_joined_and_are_promised_something(tmp_path, monkeypatch, engine, accounted):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"p{k:03},{0 if k % 4 == 0 else 0.3 + k / 500},{k / 200},{'no' if k % 5 == 0 else 'yes'}" for k in range(200)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["id,limit,value,joined", *rows]) + "\n")
    people = ("people.csv", "--engine", engine)
    optin_ok("plan", *people, "--limits", "limit", "--bounds", 0, 1, "-o", "plan.json")
    optin_ok("announce", "plan.json", *people, "--ledger", "l.sqlite", "-o", "offer.json")
    where = ("--ledger", "l.sqlite") if accounted else ("--no-ledger",)
    columns = ("--values", "value", "--joined", "joined")
    ask = ("release", "offer.json", *people, *columns, *where, "-o", "r.json", "--quorum")
    refusal = optin(*ask, 121)
    assert refusal.code == 4
    assert "120 of those who joined count and the quorum is 121 (who has nothing to give does not count)" in refusal.err
    optin_ok(*ask, 120)


def test_a_second_round_plans_with_what_the_ledger_leaves(folder):
    people_csv(folder, 2000)  # so many that the cap leaves something to those above it
    announced()
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "r1.json")
    first = json.loads((folder / "plan.json").read_text())
    blind = optin("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "a2.json")
    assert blind.code == 4
    assert "announced already" in blind.err
    optin_ok("plan", "people.csv", *PLAN, "--ledger", "ledger.sqlite", "-o", "plan2.json")
    second = json.loads((folder / "plan2.json").read_text())
    variances = [json_plan["designs"][0]["variances"][0] for json_plan in (first, second)]
    assert variances[0] < variances[1]
    optin_ok("announce", "plan2.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "a2.json")
    optin_ok("release", "a2.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "r2.json")
    assert optin_ok("ledger", "verify", "--ledger", "ledger.sqlite", "--against", "r2.json", "--json").json["ok"]


def test_a_third_round_has_nothing_left_for_the_tight(folder):
    announced()
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "r1.json")
    table = folder / "strict.csv"
    lines = (folder / "people.csv").read_text().splitlines()
    strict = [line for line in lines[1:] if line.endswith("yes") and float(line.split(",")[1]) < 0.1]
    table.write_text("\n".join([lines[0], *strict]) + "\n")
    outcome = optin("plan", table, *PLAN, "--ledger", "ledger.sqlite", "-o", "none.json")
    assert outcome.code == 4
    assert "spent or promised all of their allowance" in outcome.err
    assert "none.json" not in names(folder)


def test_the_same_announcement_again_is_the_same_bytes_and_one_act(folder):
    optin_ok("plan", "people.csv", *PLAN, "--ledger", "ledger.sqlite", "-o", "plan.json")
    again = ("--ledger", "ledger.sqlite", "--campaign", "drinking 2026")
    for name in ("one.json", "two.json"):
        optin_ok("announce", "plan.json", "people.csv", *again, "-o", name)
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()
    acts = optin_ok("ledger", "show", "--ledger", "ledger.sqlite", "--json").json
    assert [act["kind"] for act in acts] == ["register", "announce"]


def test_other_columns_may_be_as_odd_as_they_like(folder):
    lines = (folder / "people.csv").read_text().splitlines()
    wide = [f"{line},x,,ä" for line in lines[1:]]
    (folder / "wide.csv").write_text("\n".join([lines[0] + ",note,note,", *wide]) + "\n", encoding="utf-8")
    announced(table="wide.csv")
    optin_ok("release", "announcement.json", "wide.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "release.json")


def test_budgets_over_costs_plan_announce_and_release(folder):
    generator = np.random.default_rng(3)
    rows = [f"p{k},{b:.3f},{c:.3f},{v:.2f}" for k, (b, c, v) in enumerate(generator.uniform(0.5, 2, (50, 3)))]
    (folder / "b.csv").write_text("\n".join(["id,budget,cost,value", *rows]) + "\n")
    optin_ok("plan", "b.csv", "--budgets", "budget", "--costs", "cost", "--bounds", 0, 2, "-o", "p.json")
    optin_ok("announce", "p.json", "b.csv", "--ledger", "l.sqlite", "-o", "a.json")
    optin_ok("release", "a.json", "b.csv", "--values", "value", "--ledger", "l.sqlite", "-o", "r.json")
    assert json.loads((folder / "r.json").read_text())["public"]["joined_people"] == 50


def test_people_who_weigh_costs_plan_announce_explain_and_release(folder):
    generator = np.random.default_rng(4)
    rows = [f"p{k},{c:.3f},{v:.2f}" for k, (c, v) in enumerate(generator.uniform(0.2, 1, (100, 2)))]
    (folder / "q.csv").write_text("\n".join(["id,cost,value", *rows]) + "\n")
    benefit = ("--costs", "cost", "--benefit-base", 2, "--benefit-slope", 5, "--bounds", 0, 1)
    plain = optin_ok("plan", "q.csv", *benefit, "--slack", 0.2, "--without", "5%", "-o", "p.json")
    for word in ("surplus", "margin", "promised variance"):
        assert word in plain.out
    optin_ok("announce", "p.json", "q.csv", "--ledger", "l.sqlite", "-o", "a.json")
    deal = optin_ok("explain", "a.json", "--cost", 0.5, "--json").json
    assert deal["margin"] >= 0
    optin_ok("release", "a.json", "q.csv", "--values", "value", "--ledger", "l.sqlite", "-o", "r.json")
    assert json.loads((folder / "r.json").read_text())["charged"] is True


def test_an_impossible_plan_leaves_with_3_and_says_what_would_do(folder):
    (folder / "q.csv").write_text("id,cost\na,100\nb,100\n")
    benefit = ("--costs", "cost", "--benefit-base", 1, "--benefit-slope", 5, "--bounds", 0, 1)
    outcome = optin("plan", "q.csv", *benefit, "-o", "p.json")
    assert outcome.code == 3
    assert "people like these or an outside option of at most" in outcome.err
    assert "p.json" not in names(folder)


def test_parquet_folders_and_globs_are_the_same_people_as_one_file(folder):
    one = optin_ok("plan", "people.csv", *PLAN, "--json").json
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "parts").mkdir()
    (folder / "parts" / "1.csv").write_text("\n".join(lines[:80]) + "\n")
    (folder / "parts" / "2.csv").write_text("\n".join([lines[0], *lines[80:]]) + "\n")
    rows = [line.split(",") for line in lines[1:]]
    table = pa.table({"id": [r[0] for r in rows], "limit": [float(r[1]) for r in rows]})
    pq.write_table(table, folder / "people.parquet")
    for path in ("parts", "parts/*.csv", "people.parquet"):
        assert optin_ok("plan", path, *PLAN, "--json").json == one, path


def test_ids_are_kept_byte_for_byte(folder):
    ids = ["7", "007", "7.0", " 7", "1e1", "10", "NULL", "NA", "true", "ä", "a\u0308", "0x1"]
    (folder / "ids.csv").write_text("id,limit,v\n" + "".join(f"{i},1,0\n" for i in ids), encoding="utf-8")
    optin_ok("plan", "ids.csv", "--limits", "limit", "--bounds", 0, 1, "-o", "p.json")
    optin_ok("announce", "p.json", "ids.csv", "--ledger", "l.sqlite", "-o", "a.json")
    optin_ok("release", "a.json", "ids.csv", "--values", "v", "--ledger", "l.sqlite", "-o", "r.json")
    for name in ids:
        receipt = optin_ok("receipt", "--ledger", "l.sqlite", "--id", name, "-o", "receipt.json", "--json").json
        assert receipt["id"] == name
        assert receipt["spent"] > 0
    assert optin("receipt", "--ledger", "l.sqlite", "--id", "07", "-o", "receipt.json").code == 2


def test_whole_numbers_as_ids_in_parquet_are_their_digits(folder):
    pq.write_table(pa.table({"id": [7, 8, *range(100, 110)], "limit": [1.0] * 12, "v": [0.0] * 12}), "i.parquet")
    optin_ok("plan", "i.parquet", "--limits", "limit", "--bounds", 0, 1, "-o", "p.json")
    optin_ok("announce", "p.json", "i.parquet", "--ledger", "l.sqlite", "-o", "a.json")
    optin_ok("release", "a.json", "i.parquet", "--values", "v", "--ledger", "l.sqlite", "-o", "r.json")
    assert optin_ok("receipt", "--ledger", "l.sqlite", "--id", "7", "-o", "x.json", "--json").json["id"] == "7"


def test_the_announced_column_is_found_by_its_sums_among_others(folder):
    lines = (folder / "people.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    mixed = [f"{r[0]},{at % 90},0.5,{r[1]},{r[2]},{r[3]}" for at, r in enumerate(rows)]
    (folder / "wide.csv").write_text("\n".join(["id,age,limit,tau,units,joined", *mixed]) + "\n")
    optin_ok("plan", "wide.csv", "--limits", "tau", *PLAN[2:], "-o", "plan.json")
    optin_ok("announce", "plan.json", "wide.csv", "--ledger", "l.sqlite", "-o", "a.json")
    optin_ok("release", "a.json", "wide.csv", *RELEASE, "--ledger", "l.sqlite", "-o", "r.json")


def test_a_changed_receipt_and_a_changed_ledger_are_found_out_with_exit_code_4(folder):
    announced()
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "release.json")
    person = next(
        line.split(",")[0] for line in (folder / "people.csv").read_text().splitlines() if line.endswith("yes")
    )
    optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", person, "-o", "receipt.json")
    receipt = json.loads((folder / "receipt.json").read_text())
    (folder / "forged.json").write_text(json.dumps(receipt | {"spent": receipt["spent"] - 1}))
    assert optin("check", "forged.json", "announcement.json", "release.json").code == 4
    with library.Ledger.open("ledger.sqlite") as ledger:
        damage(ledger, "UPDATE charges SET grains = grains - 1 WHERE position = 0")
    outcome = optin("ledger", "verify", "--ledger", "ledger.sqlite")
    assert outcome.code == 4
    assert "does not verify" in outcome.err


def test_looking_at_a_ledger_that_is_not_there_creates_none(folder):
    before = names(folder)
    for command in (("ledger", "show"), ("ledger", "verify"), ("receipt", "--id", "x", "-o", "r.json")):
        assert optin(*command, "--ledger", "absent.sqlite").code == 2
    assert names(folder) == before


def test_a_ledger_that_cannot_be_used_is_refused_and_left_as_it_is(folder):
    optin_ok("plan", "people.csv", *PLAN, "-o", "plan.json")
    before = (folder / "people.csv").read_bytes()
    known = names(folder)
    for url in ("people.csv", "postgresql://someone:secret777@127.0.0.1:1/none"):
        outcome = optin("announce", "plan.json", "people.csv", "--ledger", url, "-o", "announcement.json")
        assert outcome.code == 5, outcome.err
        assert "secret777" not in outcome.err
        assert outcome.err.count("\n") == 1
    assert optin("announce", "plan.json", "people.csv", "--ledger", "oracle://x", "-o", "a.json").code == 2
    assert (folder / "people.csv").read_bytes() == before
    assert names(folder) == known


def test_the_survey_of_affairs_is_planned_released_and_reported(folder):
    from statsmodels.datasets import fair

    values = fair.load_pandas().data["affairs"].to_numpy()
    made = make_people(len(values), np.random.default_rng(11))
    rows = [f"{i},{limit:.4f},{value}" for i, limit, value in zip(made.ids, made.limits, values, strict=True)]
    (folder / "fair.csv").write_text("\n".join(["id,limit,affairs", *rows]) + "\n")
    optin_ok("plan", "fair.csv", "--limits", "limit", "--bounds", 0, 60, "--sd", 4, "-o", "plan.json")
    optin_ok("announce", "plan.json", "fair.csv", "--ledger", "ledger.sqlite", "-o", "announcement.json")
    optin_ok(
        "release",
        "announcement.json",
        "fair.csv",
        "--values",
        "affairs",
        "--ledger",
        "ledger.sqlite",
        "-o",
        "release.json",
    )
    optin_ok("report", "release.json", "--plan", "plan.json", "-o", "report.html")
    release = library.Release.from_json((folder / "release.json").read_text())
    low, high = release.total_interval(1 - 1e-9)
    assert low <= values.mean() <= high
    assert high - low < 60, "an interval as wide as the bounds would contain anything"
    assert "<html" in (folder / "report.html").read_text()[:200]


def test_declining_and_cancelling_give_promises_back(tmp_path, monkeypatch):
    """What is held for someone is theirs again once they decline or the round is cancelled."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"p{i},0.5,0.25\n" for i in range(20))
    (tmp_path / "people.csv").write_text("id,limit,value\n" + rows)
    ledger = ["--ledger", "ledger.sqlite"]
    optin_ok("plan", "people.csv", "--limits", "limit", "--bounds", "0", "1", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", *ledger, "-o", "offer.json")
    everyone = [f"p{i}" for i in range(20)]
    assert left_in_ledger(everyone) == [0] * 20
    optin_ok("ledger", "decline", "offer.json", "--id", "p3", *ledger)
    assert left_in_ledger(everyone) == [2**31 if i == 3 else 0 for i in range(20)]
    optin_ok("ledger", "cancel", "offer.json", *ledger)
    assert left_in_ledger(everyone) == [2**31] * 20


def test_no_ledger_typed_wins_over_the_environment(tmp_path, monkeypatch):
    """A draw without accounting can be asked for although the environment names a ledger."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("id,limit,value\n" + "".join(f"p{i},0.5,0.25\n" for i in range(20)))
    optin_ok("plan", "people.csv", "--limits", "limit", "--bounds", "0", "1", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    monkeypatch.setenv("OPTIN_LEDGER", "ledger.sqlite")
    optin_ok("release", "offer.json", "people.csv", "--values", "value", "--no-ledger", "-o", "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["charged"] is False


def left_in_ledger(people):
    with library.Ledger.open("ledger.sqlite", create=False) as ledger:
        return ledger.remaining(people).tolist()


@pytest.mark.parametrize("target", ["ledger.sqlite", "announcement.json", "people.csv", "plan.json"])
def test_nothing_that_a_command_reads_or_keeps_is_written_over(folder, target):
    announced()
    before = {name: (folder / name).read_bytes() for name in ("announcement.json", "people.csv", "plan.json")}
    ledger = ("--ledger", "ledger.sqlite")
    for command in (
        ("release", "announcement.json", "people.csv", *RELEASE, *ledger, "-o", target),
        ("report", "plan.json", "-o", target),
    ):
        read = {"ledger.sqlite"} if command[0] != "report" else set()
        if target in {*command[1:-1]} | read:
            outcome = optin(*command)
            assert outcome.code == 2
            assert "is an input of this command" in outcome.err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert optin_ok("ledger", "verify", *ledger)


def test_a_ledger_that_is_yet_to_be_made_is_not_written_over(folder):
    optin_ok("plan", "people.csv", *PLAN, "-o", "plan.json")
    outcome = optin("announce", "plan.json", "people.csv", "--ledger", "z.sqlite", "-o", "z.sqlite")
    assert outcome.code == 2
    assert "z.sqlite" not in names(folder)


def test_a_file_in_a_folder_of_people_and_a_device_are_not_written_over(folder):
    (folder / "parts").mkdir()
    (folder / "parts" / "1.csv").write_bytes((folder / "people.csv").read_bytes())
    assert optin("plan", "parts", *PLAN, "-o", "parts/1.csv").code == 2
    (folder / "link").symlink_to("/dev/null")
    assert "not an ordinary file" in optin("plan", "people.csv", *PLAN, "-o", "link").err


def test_a_stored_release_says_that_nothing_was_drawn(folder):
    announced()
    again = ("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite")
    first = optin_ok(*again, "--json", "-o", "r1.json")
    second = optin_ok(*again, "--json", "-o", "r2.json")
    assert (first.json["stored"], second.json["stored"]) == (False, True)
    assert "nothing was drawn or charged" in second.err
    assert (folder / "r1.json").read_bytes() == (folder / "r2.json").read_bytes()


def test_a_round_without_its_campaign_is_refused(folder):
    announced()
    optin_ok("release", "announcement.json", "people.csv", *RELEASE, "--ledger", "ledger.sqlite", "-o", "r1.json")
    outcome = optin("receipt", "--ledger", "ledger.sqlite", "--id", "p0001", "--round", 7, "-o", "receipt.json")
    assert outcome.code == 2
    assert "--campaign" in outcome.err


def test_a_failure_about_bounds_names_no_line(folder):
    assert "line" not in optin("plan", "people.csv", "--limits", "limit", "--bounds", 0, "nan").err


@pytest.mark.parametrize("named", [("--limits", "limit"), ()])
def test_people_are_made_once_for_a_release_whether_or_not_their_columns_are_named(folder, monkeypatch, named):
    table = folder / "people.csv"
    table.write_text("".join(f"{line},x\n" for line in table.read_text().splitlines()))  # one column more, to be tried
    announced()
    made, usable = [], opening.usable_agents
    monkeypatch.setattr(
        opening, "usable_agents", lambda *given, **more: made.append(given[1]) or usable(*given, **more)
    )
    optin_ok(
        *("release", "announcement.json", "people.csv", *named, *RELEASE),
        *("--ledger", "ledger.sqlite", "-o", "release.json"),
    )
    assert [each.limits for each in made].count("limit") == 1
