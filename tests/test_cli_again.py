"""Announcing again on the command line says what the ledger holds now, not what it held then."""

import pytest
from cli_steps import PLAN, optin, optin_ok, people_csv

ANNOUNCE = ("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite")
AGAIN = (*ANNOUNCE, "--campaign", "drinking")


@pytest.fixture
def announced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path, 40)
    optin_ok("plan", "people.csv", *PLAN, "-o", "plan.json")
    return optin_ok(*AGAIN, "-o", "announcement.json")


def released():
    where = ("--values", "units", "--joined", "joined", "--ledger", "ledger.sqlite", "-o", "release.json")
    return optin_ok("release", "announcement.json", "people.csv", *where)


def test_a_repeated_announcement_says_that_promises_are_held_only_while_they_are(announced):
    assert "the ledger holds 40 promises" in announced.err
    optin_ok("ledger", "decline", "announcement.json", "--id", "p0019", "--ledger", "ledger.sqlite")
    assert "the ledger holds 39 of 40 promises" in optin_ok(*AGAIN, "-o", "second.json").err
    released()
    after = optin_ok(*AGAIN, "-o", "third.json").err
    assert "this round was announced before and is released: its promises are spent or given back" in after
    assert "none is held" in after
    assert "the ledger holds" not in after


def test_a_plan_announced_again_without_its_name_is_told_whether_its_promises_are_held_or_spent(announced):
    blind = optin(*ANNOUNCE, "-o", "second.json")
    assert (blind.code, "and its promises are held: to write that file again" in blind.err) == (4, True)
    released()
    blind = optin(*ANNOUNCE, "-o", "second.json")
    assert (blind.code, "and was released: its promises are spent: to write that" in blind.err) == (4, True)


def test_a_cancelled_announcement_is_no_reason_to_refuse_another(announced):
    optin_ok("ledger", "cancel", "announcement.json", "--ledger", "ledger.sqlite")
    assert "the ledger holds 40 promises" in optin_ok(*ANNOUNCE, "-o", "second.json").err
