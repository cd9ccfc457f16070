"""What is easily forgotten or mistyped is said before it costs anyone anything, and names what leads on."""

import pytest
from cli_steps import optin, optin_ok

COUNT = 20


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Twenty people, one of whom allows nothing, and who joined."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"p{k},{0 if k == 0 else 1},0.5,{'early' if k % 2 else 'night'},{'no' if k == 3 else 'yes'}"
        for k in range(COUNT)
    ]
    path = tmp_path / "people.csv"
    path.write_text("id,limit,value,shift,joined\n" + "\n".join(rows) + "\n")
    return path


PLAN = ("plan", "people.csv", "--limits", "limit", "--bounds", 0, 1)
LEDGER = ("--ledger", "l.sqlite")
ANNOUNCE = ("announce", "plan.json", "people.csv", *LEDGER, "-o", "a.json", "--campaign", "c")
RELEASE = ("release", "a.json", "people.csv", "--values", "value", *LEDGER, "-o", "r.json")


def announced(*more):
    optin_ok(*PLAN, *more, "-o", "plan.json")
    return optin_ok(*ANNOUNCE, *more)


def test_a_release_without_joined_says_that_everyone_counts_where_a_column_seems_to_know_better(table):
    announced()
    told = optin_ok(*RELEASE)
    assert (
        "everyone announced is counted as joined, and charged; --joined COL names a column that says who did"
        in told.err
    )
    assert 'this table has one called "joined"' in told.err
    assert "charged             all 20 who joined, as act 3 of the ledger" in told.out


def test_a_release_that_names_who_joined_says_how_many_are_charged_and_nothing_else(table):
    announced()
    told = optin_ok(*RELEASE, "--joined", "joined")
    assert "counted as joined" not in told.err
    assert "all 19 who joined" in told.out


def test_a_new_ledger_is_said_to_be_new(table):
    assert "new ledger made at l.sqlite" in announced().err
    assert "new ledger" not in optin_ok(*ANNOUNCE).err
    assert "there is no ledger at typo.sqlite yet" in optin_ok(*PLAN, "--ledger", "typo.sqlite").err
    assert "no ledger" not in optin_ok(*PLAN, "--total", 3, "--raise-limits", *LEDGER).err


@pytest.mark.parametrize(
    "command",
    [
        RELEASE,
        ("receipt", "--id", "p1", *LEDGER, "-o", "receipt.json"),
        ("ledger", "verify", *LEDGER),
        ("ledger", "show", *LEDGER),
        ("ledger", "cancel", "a.json", *LEDGER),
    ],
    ids=lambda command: command[0] + command[1],
)
def test_a_mistyped_ledger_is_refused_and_not_made(table, command):
    announced()
    typed = ["nowhere.sqlite" if word == "l.sqlite" else word for word in command]
    told = optin(*typed)
    assert told.code == 2
    assert "there is no ledger at nowhere.sqlite" in told.err
    assert not (table.parent / "nowhere.sqlite").exists()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_forgotten_option_leads_to_cancelling_and_a_second_round(table, engine):
    (table.parent / "sheet.toml").write_text(
        '[[question]]\nname = "shift"\nkind = "choice"\noptions = ["early", "late"]\n'
    )
    optin_ok("plan", "people.csv", "--limits", "limit", "--sheet", "sheet.toml", "-o", "plan.json")
    optin_ok(*ANNOUNCE)
    told = optin("release", "a.json", "people.csv", *LEDGER, "-o", "r.json", "--joined", "joined", "--engine", engine)
    assert told.code == 2
    assert "is none of the options" in told.err
    assert "optin ledger cancel a.json --ledger l.sqlite" in told.err
    assert "announce with --campaign c --round 2" in told.err
    assert "night" not in told.err
    optin_ok("ledger", "cancel", "a.json", *LEDGER)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_limit_of_nothing_is_told_from_nothing_left(table, engine):
    more = ("--engine", engine)
    assert "20 (1 with limit 0 take no part)" in optin_ok(*PLAN, *more).out
    announced()
    (table.parent / "two.csv").write_text(table.read_text() + "p20,2,0.5,early,yes\n")
    told = optin_ok("plan", "two.csv", *PLAN[2:], *LEDGER, *more)
    assert "21 (1 with limit 0 and 19 with nothing left take no part)" in told.out
    assert "19 people with nothing left of their total, limits are cut to 9.5 % of what was stated" in told.out
    assert "--total NUMBER (or --allowances COL) with --raise-limits" in told.out


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_second_question_to_the_same_people_is_led_to_a_total(table, engine):
    more = ("--engine", engine)
    announced()
    refused = optin(*PLAN, *LEDGER, *more)
    assert refused.code == 4
    assert "if they now allow more, give that as --total with --raise-limits" in refused.err
    optin_ok(*PLAN, *LEDGER, *more, "--total", 2, "--raise-limits", "-o", "plan.json")
    second = optin_ok(
        "announce", "plan.json", "people.csv", *LEDGER, *more, "--raise-limits", "--campaign", "d", "-o", "b.json"
    )
    assert "counts against  a total of 2 each; or the total in the ledger where that is higher" in second.out


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_total_stated_from_the_start_leaves_room_for_a_second_question(table, engine):
    more = ("--engine", engine, "--total", 2)
    told = announced(*more)
    assert "counts against  a total of 2 each\n" in told.out
    told = optin_ok(*PLAN, *LEDGER, *more)
    assert "everyone has all that they state" in told.out


def test_one_total_and_a_column_of_totals_are_one_too_many(table):
    told = optin(*PLAN, "--total", 2, "--allowances", "limit")
    assert told.code == 2
    assert "give one of the two" in told.err
