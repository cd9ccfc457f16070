"""Groups through their whole life on the command line, in memory and in an engine."""

import csv
import json

import numpy as np
import pytest
from cli_steps import PLAN_BY_WARD as PLAN
from cli_steps import WORK_SHEET, optin, optin_ok

import optin as library

NAMES = ["ER", "ICU", 'ward "7"\nupstairs', "עזרה", "x" * 10_000]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    with (tmp_path / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "limit", "ward", "role", "break", "hours", "joined"])
        for k in range(400):
            ward = "tiny" if k < 5 else NAMES[k % len(NAMES)]
            answers = [
                "yes" if rng.random() < 0.3 else "no",
                round(rng.normal(40, 9), 1),
                "no" if k % 9 == 0 else "yes",
            ]
            rows.writerow([f"p{k}", [0.5, 1.0, 2.0][k % 3], ward, ["nurse", "doctor"][k % 2], *answers])
    (tmp_path / "sheet.toml").write_text(WORK_SHEET)
    return tmp_path


def test_plan_by_prints_each_group_s_verdict_before_anything_is_announced(folder):
    done = optin_ok(*PLAN, "-o", "plan.json")
    for name in ("ER", "ICU", r'ward "7"\nupstairs', "עזרה", "x" * 26 + "…" + "x" * 13, "tiny"):
        assert any(line.strip().startswith(name) for line in done.out.splitlines()), name
    assert "too few to announce" in done.out
    assert "which group a person is in is not protected" in done.out
    told = optin_ok(*PLAN, "--json").json
    assert {each["verdict"].split(",")[0] for each in told["verdicts"]} <= {"good", "poor", "useless"}
    assert set(told["groups"]) == {*NAMES, "tiny"}
    refused = optin("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    assert refused.code == 2
    assert 'first "tiny"' in refused.err
    assert "--merge-small" in refused.err


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_a_wanted_accuracy_takes_is_said_of_each_group(folder, engine):
    asked = ("--target-error", "hours=0.5", "--engine", engine)
    plan = library.Plan.from_json(optin_ok(*PLAN, "--merge-small", *asked, "-o", "plan.json", "--json").out)
    told = " ".join(optin_ok(*PLAN, "--merge-small", *asked).out.split())
    for name, part in plan.groups.items():
        target = part["hours"].target
        assert not target.reached
        shown = library.wording.groups.shown_group(name)
        assert f"{shown}: hours: with more people {target.people_needed:,} like these would reach it" in told
    wished = [word for each in plan.sheet for word in ("--wished-error", f"{each.name}=0.5")]
    assert f"{shown}: wished errors not met: standard errors are" in " ".join(optin_ok(*PLAN, *wished).out.split())
    assert "The accuracy you asked for" not in optin_ok(*PLAN).out


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_campaign_of_groups(folder, engine):
    at = ("--engine", engine)
    optin_ok(*PLAN, "--merge-small", *at, "-o", "plan.json")
    said = optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", *at, "-o", "offer.json").out
    assert "merged" in said
    assert '"tiny"' in said
    forgot = optin("release", "offer.json", "people.csv", "--ledger", "ledger.sqlite", *at, "-o", "release.json")
    assert (forgot.code, "--by COL" in forgot.err) == (2, True)
    drawn = ("release", "offer.json", "people.csv", "--by", "ward", "--joined", "joined", *at)
    told = optin_ok(*drawn, "--ledger", "ledger.sqlite", "--grains", "g.parquet", "-o", "release.json", "--json").json
    release = library.Release.from_json((folder / "release.json").read_text())
    assert [each["group"] for each in told["groups"]] == list(release.groups)
    assert all(each["joined_people"] % 10 == 0 for each in told["groups"])
    again = optin_ok(*drawn, "--ledger", "ledger.sqlite", "-o", "again.json").out
    assert "Already released" in again
    assert (folder / "again.json").read_text() == (folder / "release.json").read_text()
    optin_ok("receipt", "--ledger", "ledger.sqlite", "--id", "p7", "-o", "receipt.json")
    checked = optin_ok("check", "receipt.json", "offer.json", "release.json").out
    assert 'the person is in group "ward \\"7\\"\\nupstairs"'.replace('\\"', '"') in checked
    assert "hours" in checked
    optin_ok("ledger", "verify", "--against", "release.json", "--against", "receipt.json", "--ledger", "ledger.sqlite")
    import pyarrow.parquet as pq

    optin_ok("ledger", "open", "--act", release.ledger_number, "--ledger", "ledger.sqlite", "-o", "opened.json")
    opened = library.Release.from_json((folder / "opened.json").read_text())
    assert opened == release
    assert release.sealed is None
    assert sum(pq.read_table("g.parquet")["grains"].to_pylist()) == opened.sealed.total_grains


def test_explain_asks_for_the_group(folder):
    optin_ok(*PLAN, "--merge-small", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    assert "--group" in optin("explain", "offer.json", "--limit", "0.5").err
    assert 'no group "nowhere"' in optin("explain", "offer.json", "--limit", "0.5", "--group", "nowhere").err
    own = optin_ok("explain", "offer.json", "--limit", "0.5", "--group", "tiny", "--json").json
    offer = library.Announcement.from_json((folder / "offer.json").read_text())
    assert own["grains"] == library.explain(offer, limit=0.5, group="tiny").grains


def test_two_columns_make_their_combinations(folder):
    one = ("--limits", "limit", "--bounds", "0", "80", "--by", "ward", "--by", "role")
    told = optin_ok("plan", "people.csv", *one, "-o", "plan.json", "--json").json
    assert "ICU / nurse" in told["groups"]
    assert json.loads((folder / "plan.json").read_text())["columns"]["by"] == ["ward", "role"]


def test_a_column_of_groups_that_is_not_there_or_not_meant_is_refused(folder):
    assert (
        "no column wards"
        in optin("plan", "people.csv", "--limits", "limit", "--bounds", "0", "80", "--by", "wards").err
    )
    plain = ("people.csv", "--limits", "limit", "--bounds", "0", "80")
    assert "--by COL" in optin("plan", *plain, "--merge-small").err
    assert "leave out --by" in optin("plan", *plain, "--by", "ward", "--without", "20%").err
    optin_ok("plan", *plain, "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    draw = ("release", "offer.json", "people.csv", "--values", "hours", "--by", "ward", "--no-ledger", "-o", "r.json")
    assert "leave --by out" in optin(*draw).err


def test_a_column_of_groups_is_named_once(folder):
    plain = ("people.csv", "--limits", "limit", "--bounds", "0", "80", "--by", "ward")
    for twice in (("plan", *plain, "--by", "ward"), ("compare", *plain, "--by", "role", "--by", "ward")):
        refused = optin(*twice)
        assert refused.code == 2
        assert "ward is named twice: name each column of groups once" in refused.err


def test_a_person_moved_to_another_group_is_a_bad_file_and_nothing_is_lost(folder):
    optin_ok(*PLAN, "--merge-small", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    text = (folder / "people.csv").read_text()
    (folder / "moved.csv").write_text(text.replace("\np11,2.0,ICU,", "\np11,2.0,ER,"))
    draw = ("--by", "ward", "--ledger", "ledger.sqlite", "-o", "release.json")
    assert optin("release", "offer.json", "moved.csv", *draw).code in (2, 4)
    assert not (folder / "release.json").exists()
    optin_ok("release", "offer.json", "people.csv", *draw)


def test_of_a_person_moved_to_a_group_that_promises_something_else_the_group_is_named_too(folder):
    rows = [row.split(",", 2) for row in (folder / "people.csv").read_text().splitlines()]
    tight = [
        [who, "50" if who == "p11" else "0.1" if rest.startswith("ICU,") else limit, rest] for who, limit, rest in rows
    ]
    text = "\n".join(map(",".join, tight)) + "\n"
    (folder / "people.csv").write_text(text)
    optin_ok(*PLAN, "--merge-small", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    (folder / "moved.csv").write_text(text.replace("\np11,50,ICU,", "\np11,50,ER,"))
    refused = optin(
        "release", "offer.json", "moved.csv", "--by", "ward", "--ledger", "ledger.sqlite", "-o", "release.json"
    )
    assert refused.code == 2
    assert "what this person allows, or their group, is not what was announced" in refused.err


def test_a_release_without_the_column_of_groups_is_told_which_groups_were_announced(folder):
    optin_ok(*PLAN, "--merge-small", "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", "-o", "a.json")
    refused = optin("release", "a.json", "people.csv", "--ledger", "l.sqlite", "-o", "r.json")
    assert refused.code == 2
    assert '("ER + tiny", "ICU", ' in refused.err
    assert "--by COL" in refused.err
