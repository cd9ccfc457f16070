"""What the command line says of the machine it runs on, completes in a shell, and leaves unsaid when asked to be quiet."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_steps import optin, optin_ok, people_csv

from optin.cli.doctor import WHAT_FOR, Part, engines, packages, version_of
from optin.cli.doctor import _first_line as first_line
from optin.extras import PACKAGES as EXTRAS

BIN = Path(sys.executable).parent


def test_the_doctor_lists_every_part_with_its_version_or_the_line_that_installs_it():
    told = optin_ok("doctor").out
    assert set(WHAT_FOR) == set(EXTRAS)
    for name, _, _ in packages():
        assert f"  {name} " in told
        assert version_of(name) in told
    found = optin_ok("doctor", "--json").json
    assert {"optin", "Python", "Java", "psql"} <= {part["name"] for part in found["parts"]}
    assert found["engines"] == engines()


def test_a_missing_part_is_said_with_the_line_that_installs_it():
    part = Part("pyspark", "engine spark-local", version_of("no-such-package"), "pip install 'optin[spark]'")
    assert part.cells() == ("pyspark", "missing", "engine spark-local", "pip install 'optin[spark]'")
    assert first_line(["no-such-program", "--version"]) is None


def test_the_doctor_opens_a_ledger_and_does_not_make_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path, 30)
    assert "there is no ledger at l.sqlite" in optin_ok("doctor", "--ledger", "l.sqlite").out
    assert not Path("l.sqlite").exists()
    optin_ok("plan", "people.csv", "--limits", "limit", "--bounds", 0, 40, "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", "-o", "a.json")
    assert "ok: 2 acts" in optin_ok("doctor", "--ledger", "l.sqlite").out


def completed(words, shell="bash"):
    """What a shell is told for a line that is being typed."""
    typed = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_TYPER_COMPLETE_ARGS": words}
    environment = os.environ | typed | {"_OPTIN_COMPLETE": f"complete_{shell}"}
    return subprocess.run([BIN / "optin"], env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_commands_and_options_are_completed(shell):
    assert "announce" in completed("optin ann", shell)
    assert "--without" in completed("optin plan --wit", shell)


def test_the_script_that_is_printed_completes_in_bash():
    source = (
        'eval "$(optin completion bash)"; COMP_WORDS=(optin doc); COMP_CWORD=1; _optin_completion optin;'
        ' echo "${COMPREPLY[@]}"'
    )
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    told = subprocess.run(["bash", "-c", source], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["doctor"]
    assert "complete -o default -F" in optin_ok("completion", "bash").out
    assert "#compdef optin" in optin_ok("completion", "zsh").out
    assert optin("completion", "tcsh").code == 2


def test_a_quiet_command_says_warnings_failures_and_json_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path, 5)
    plan = ("plan", "people.csv", "--limits", "limit", "--bounds", 0, 40, "-o", "plan.json")
    loud, told = optin_ok(*plan), optin_ok(*plan, "--quiet")
    assert "The plan" in loud.out
    assert told.out == ""
    assert told.err == "".join(line + "\n" for line in loud.err.splitlines() if line.startswith("warning: "))
    assert "warning: " in told.err
    assert json.loads(optin_ok(*plan, "-q", "--json").out)["people"] == 5
    refused = optin("plan", "nobody.csv", "--limits", "limit", "--bounds", 0, 1, "-q")
    assert refused.code == 2
    assert refused.err.startswith("optin: ")
    assert "The plan" in optin_ok(*plan).out


def test_every_command_can_be_quiet():
    for command in (["demo"], ["size"], ["release"], ["ledger", "verify"], ["sheet", "check"], ["doctor"]):
        assert "--quiet" in optin_ok(*command, "--help").out
