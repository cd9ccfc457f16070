"""Groups together on the command line: the whole, differences, a population's shares, and a report, over a whole campaign."""

import csv
import json
import re

import numpy as np
import pytest
from cli_steps import PLAN_BY_WARD, WORK_SHEET, optin, optin_ok

import optin as library

NAMES = ("ER", "ICU", 'ward "7"')
PLAN = (*PLAN_BY_WARD, "-o", "plan.json")
ANNOUNCE = ("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
RELEASE = ("release", "offer.json", "people.csv", "--by", "ward", "--ledger", "ledger.sqlite", "-o", "release.json")


def write_people(path, joined=lambda ward: "yes"):
    rng = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "limit", "ward", "break", "hours", "joined"])
        for k in range(600):
            ward = NAMES[k % 3]
            answers = ["yes" if rng.random() < 0.3 else "no", round(rng.normal(30 + 10 * (k % 3), 5), 1)]
            rows.writerow([f"p{k}", [0.5, 1.0, 4.0][k % 3] * rng.choice([1, 2]), ward, *answers, joined(ward)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path / "people.csv")
    (tmp_path / "sheet.toml").write_text(WORK_SHEET)
    return tmp_path


def read(folder):
    return library.Release.from_json((folder / "release.json").read_text())


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_campaign_prints_the_whole_and_differences(folder, engine):
    planned = optin_ok(*PLAN, "--engine", engine).out
    assert "All groups together" in planned
    assert "as one group, at most" in planned
    optin_ok(*ANNOUNCE, "--engine", engine)
    done = optin_ok(*RELEASE, "--engine", engine, "--differences")
    whole = read(folder).total("hours")
    assert whole.written(whole.readings()[0])[0] in done.out
    assert "all 3 hold together at 95 %" in done.out
    assert 'ward "7"' in done.out
    told = optin_ok(*RELEASE[:-1], "again.json", "--engine", engine, "--differences", "--json").json
    assert told["stored"]
    (_, hours) = told["whole"]
    assert hours["answers"][0]["estimate"] == whole.estimate
    assert hours["answers"][0]["interval_95"] == list(whole.interval(0.95))
    assert hours["answers"][0]["ungrouped_standard_error"] == whole.ungrouped_standard_error
    assert hours["shares"] == pytest.approx(dict.fromkeys(NAMES, 1 / 3))
    assert [len(each["pairs"]) for each in told["differences"]] == [3, 3]
    assert told["differences"][1]["pairs"][0]["estimate"] == read(folder).difference("hours", "ER", "ICU").estimate


def test_a_population_is_checked_before_anything_is_drawn_and_then_counted(folder):
    optin_ok(*PLAN)
    optin_ok(*ANNOUNCE)
    (folder / "shares.csv").write_text("group,share\nER,0.5\nICU,0.5\n")
    refused = optin(*RELEASE, "--population", "shares.csv")
    assert refused.code == 2
    assert "says nothing of the groups" in refused.err
    assert not (folder / "release.json").exists()
    (folder / "shares.csv").write_text('group,people\nER,700\nICU,200\n"ward ""7""",100\n')
    told = optin_ok(*RELEASE, "--population", "shares.csv", "--json").json
    expected = read(folder).total("hours", {"ER": 0.7, "ICU": 0.2, 'ward "7"': 0.1})
    assert told["whole"][1]["answers"][0]["estimate"] == expected.estimate
    assert "differences" not in told
    again = optin_ok(*RELEASE[:-1], "again.json", "--population", "shares.csv").out
    assert "in the population given" in again
    optin_ok("report", "release.json", "--population", "shares.csv", "-o", "report.html")
    page = (folder / "report.html").read_text()
    counted = read(folder).total("hours", folder / "shares.csv")
    assert counted.written(counted.readings(0.95)[0])[0] in page
    plain = read(folder).total("hours")
    (whole,) = re.findall("<h2>All together: hours</h2>(.*?)<h2>", page, re.DOTALL)
    assert counted.written(counted.readings(0.95)[0])[1] in whole
    assert plain.written(plain.readings(0.95)[0])[1] not in whole  # of a group it might be, by chance


def test_a_group_that_nobody_joined_has_no_whole_and_the_reason_is_printed(folder):
    write_people(folder / "people.csv", joined=lambda ward: "no" if ward == "ICU" else "yes")
    optin_ok(*PLAN)
    optin_ok(*ANNOUNCE)
    done = optin_ok(*RELEASE, "--joined", "joined", "--differences").out
    assert "No whole" in done
    assert 'of group "ICU" it was not published' in done
    assert "its interval is made at 95 %, as it is" in done  # two groups are left
    assert "hold together" not in done
    told = optin_ok(*RELEASE[:-1], "again.json", "--joined", "joined", "--json").json
    assert told["whole"] == []
    assert set(told["no_whole"]) == {"break", "hours"}


def test_a_report_of_groups_is_written_from_its_files(folder):
    optin_ok(*PLAN)
    optin_ok(*ANNOUNCE)
    optin_ok(*RELEASE)
    optin_ok("report", "release.json", "--plan", "plan.json", "-o", "page.html")
    page = (folder / "page.html").read_text()
    for words in ("Differences: hours", "All together: break", "which group a person is in is not protected"):
        assert words in page
    optin_ok("report", "plan.json", "-o", "plan.html")
    assert "All groups together, planned" in (folder / "plan.html").read_text()


def test_a_report_takes_the_columns_that_were_planned_by_and_no_others(folder):
    optin_ok(*PLAN)
    optin_ok(*ANNOUNCE)
    optin_ok(*RELEASE)
    both = ("release.json", "--plan", "plan.json")
    optin_ok("report", *both, "-o", "plain.html")
    optin_ok("report", *both, "--by", "ward", "-o", "by.html")
    assert (folder / "by.html").read_text() == (folder / "plain.html").read_text()
    optin_ok("report", "release.json", "--by", "ward", "-o", "alone.html")
    for source in (both, ("plan.json",)):
        refused = optin("report", *source, "--by", "role", "-o", "other.html")
        assert refused.code == 2
        assert "planned by ward" in refused.err
        assert "leave --by out" in refused.err
    assert "named twice" in optin("report", "plan.json", "--by", "ward", "--by", "ward", "-o", "other.html").err
    optin_ok(*(part for part in PLAN if part not in ("--by", "ward")), "-o", "undivided.json")
    refused = optin("report", "undivided.json", "--by", "ward", "-o", "other.html")
    assert refused.code == 2
    assert "this is not by group: leave --by out" in refused.err
    assert not (folder / "other.html").exists()


@pytest.mark.parametrize("option", [("--differences",), ("--population", "people.csv")])
def test_options_of_groups_are_refused_where_there_are_none(folder, option):
    plan = [part for part in PLAN if part not in ("--by", "ward")]
    optin_ok(*plan)
    optin_ok(*ANNOUNCE)
    release = [part for part in RELEASE if part not in ("--by", "ward")]
    refused = optin(*release, *option)
    assert refused.code == 2
    assert f"{option[0]} is about groups" in refused.err
    told = json.loads(optin_ok(*release, "--json").out)
    assert "whole" not in told
