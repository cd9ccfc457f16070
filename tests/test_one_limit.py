"""One limit for everyone, given as a number, plans and releases as a column of that number does."""

import json
from pathlib import Path

import pytest

import optin
from optin.cli import main
from optin.errors import BadInput
from optin.ledger import Ledger

ANSWERS = [at % 7 / 6 for at in range(40)]


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"p{at:02},.5,{'ICU' if at % 2 else 'ER'},{value}\n" for at, value in enumerate(ANSWERS))
    (tmp_path / "people.csv").write_text("id,limit,ward,answer\n" + rows)
    return "people.csv"


def run(capsys, *arguments):
    try:
        main([str(each) for each in arguments])
        code = 0
    except SystemExit as leaving:
        code = leaving.code or 0
    said = capsys.readouterr()
    return code, said.out, said.err


def planned(capsys, people, *more):
    code, _, err = run(capsys, "plan", people, "--bounds", 0, 1, "-o", "plan.json", *more)
    assert code == 0, err
    return optin.Plan.from_json(Path("plan.json").read_text())


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("by", [(), ("--by", "ward")])
def test_a_number_plans_as_a_column_of_it(capsys, people, engine, by):
    own = planned(capsys, people, "--limit", ".5", "--engine", engine, *by)
    assert own == planned(capsys, people, "--limits", "limit", "--engine", engine, *by)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_campaign_of_one_limit_charges_everyone_the_same(capsys, people, engine, tmp_path):
    planned(capsys, people, "--limit", ".5", "--engine", engine)
    ledger = ("--ledger", "ledger.sqlite", "--engine", engine)
    code, _, err = run(capsys, "announce", "plan.json", people, "--min-people", 10, "-o", "offer.json", *ledger)
    assert code == 0, err
    release = ("release", "offer.json", people, "--values", "answer", "-o", "release.json", *ledger)
    code, _, err = run(capsys, *release, "--limit", "0.5")
    assert code == 0, err
    assert optin.Release.from_json(Path("release.json").read_text()).joined_people == 40
    with Ledger.open("ledger.sqlite") as opened:
        assert opened.verify().ok
        left = opened.remaining([f"p{at:02}" for at in range(40)])
    assert len(set(left.tolist())) == 1
    assert 0 <= left[0] < 2**31, "everyone gave about their limit, and nobody more"


def test_another_limit_than_was_announced_is_refused_and_nobody_is_charged(capsys, people):
    planned(capsys, people, "--limit", ".5")
    run(capsys, "announce", "plan.json", people, "--min-people", 10, "-o", "offer.json", "--ledger", "ledger.sqlite")
    (code, _, err) = run(
        capsys, "release", "offer.json", people, "--values", "answer", "--ledger", "ledger.sqlite", "--limit", ".1"
    )
    assert code in (2, 4), err
    with Ledger.open("ledger.sqlite") as opened:
        assert [act.kind for act in opened.acts()][-1] == "announce"


def test_the_report_says_that_everyone_has_one_limit(capsys, people):
    planned(capsys, people, "--limit", ".5")
    assert run(capsys, "report", "plan.json", "-o", "report.html")[0] == 0
    assert "Everyone has the same limit, 0.5" in Path("report.html").read_text()
    assert json.loads(Path("plan.json").read_text())["columns"]["limit"] == 0.5


@pytest.mark.parametrize("wrong", [("--limit", "-1"), ("--limit", "nan"), ("--limit", ".5", "--limits", "limit")])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_limit_that_nobody_could_have_or_two_ways_at_once_are_refused(capsys, people, wrong, engine):
    code, _, err = run(capsys, "plan", people, "--bounds", 0, 1, "--engine", engine, *wrong)
    assert code == 2
    assert "--limit" in err


def test_the_library_takes_one_limit_too(people):
    kept = [optin.read(people, limit=0.5, engine=engine) for engine in ("memory", "duckdb")]
    plans = [optin.plan(each, bounds=(0, 1)) for each in kept]
    assert plans[0] == plans[1] == optin.plan(optin.PrivacyConstrained([0.5] * 40), bounds=(0, 1))
    with pytest.raises(BadInput, match="in one way"):
        optin.read(people, limit=0.5, limits="limit")
