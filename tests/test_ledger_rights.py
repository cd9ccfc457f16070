"""A ledger's file is for its owner alone: made so, and where others can read it that is said, once, and not changed."""

import os
import stat
import subprocess
import sys
import warnings

import pytest
from cli_steps import optin, people_csv
from ledger_steps import announce

from optin.database.rights import ReadableByOthers
from optin.ledger import Ledger


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "ledger.sqlite"
    with Ledger.open(str(made)) as ledger:
        announce(ledger)
    return made


def test_a_new_ledger_is_for_its_owner_alone_and_nothing_is_said(path):
    assert mode(path) == 0o600
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Ledger.open(str(path)).close()
    assert said == []


@pytest.mark.parametrize("rights", [0o644, 0o640, 0o660, 0o604])
def test_a_ledger_that_others_can_read_is_opened_with_a_warning_and_stays_as_it_is(path, rights):
    path.chmod(rights)
    with pytest.warns(ReadableByOthers, match=f"chmod 600 {path}"), Ledger.open(str(path)) as ledger:
        assert ledger.remaining(["ann"]).tolist() == [3]
    assert mode(path) == rights


def test_side_files_that_others_can_read_are_named_too(path):
    path.chmod(0o644)
    with pytest.warns(ReadableByOthers):
        first = Ledger.open(str(path))
    with first:
        announce(first, "two", grains=1)  # its log and index copy the rights of the file
        path.chmod(0o600)
        with pytest.warns(ReadableByOthers, match=rf"chmod 600 {path}-wal {path}-shm$"):
            Ledger.open(str(path)).close()


def test_what_is_said_can_be_typed_as_it_is(tmp_path):
    odd = tmp_path / "our ledger; all.sqlite"
    Ledger.open(str(odd)).close()
    odd.chmod(0o644)
    with pytest.warns(ReadableByOthers) as said:
        Ledger.open(str(odd)).close()
    (words,) = {str(one.message) for one in said}
    subprocess.run(["sh", "-c", words.partition("run: ")[2]], check=False, stderr=subprocess.DEVNULL)
    assert mode(odd) == 0o600


@pytest.mark.filterwarnings("default")
def test_a_command_says_once_on_standard_error_that_others_can_read_the_ledger(path, tmp_path):
    path.chmod(0o644)
    people = people_csv(tmp_path, 40)
    plan = ("plan", people, "--limits", "limit", "--bounds", 0, 40, "--ledger", path, "-o", tmp_path / "plan.json")
    for command in (plan, ("announce", tmp_path / "plan.json", people, "--ledger", path, "-o", tmp_path / "a.json")):
        outcome = optin(*command)
        assert outcome.code == 0, outcome.err
        assert outcome.err.count("others on this machine can read this ledger") == 1
        assert "warning: others" in outcome.err
        assert ".py" not in outcome.err
    outcome = optin("ledger", "show", "--ledger", path, "--json")
    assert outcome.json[0]["kind"] == "register"
    assert "chmod 600" in outcome.err


def test_other_programs_warnings_are_left_as_python_shows_them():
    code = (
        "import warnings; from optin.cli.speaking import warnings_spoken\nwith warnings_spoken(): warnings.warn('odd')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "UserWarning: odd" in done.stderr
