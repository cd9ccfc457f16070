"""Long steps say how far they are; one that is stopped leaves nothing in the ledger, and the next run says how far it was."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from ledger_steps import announce, release

from optin.cli import how_far
from optin.cli.one_command import run
from optin.ledger import Ledger, packs
from optin.wording.underway import heard_by, say


@pytest.fixture
def table(tmp_path):
    rows = "".join(f"p{k},0.{k % 9 + 1},0.5\n" for k in range(400))
    (tmp_path / "people.csv").write_text("id,limit,value\n" + rows)
    assert not run(["plan", f"{tmp_path}/people.csv", "--limits", "limit", "--bounds", "0", "1", "-o", f"{tmp_path}/p"])
    return tmp_path


def announcing(folder):
    return [
        "announce",
        f"{folder}/p",
        f"{folder}/people.csv",
        "--ledger",
        f"{folder}/l.sqlite",
        "-o",
        f"{folder}/a.json",
    ]


def test_every_part_of_an_act_is_told_from_nobody_to_everybody(ledger, monkeypatch):
    monkeypatch.setattr(packs, "PACKED_FROM", 1)
    monkeypatch.setattr(packs, "SIZE", 8)
    heard = []
    with heard_by(lambda *told: heard.append(told)):
        announce(ledger, "a", ids=[f"p{k}" for k in range(30)], grains=np.arange(30), allowances=40)
        release(ledger, "a", ids=[f"p{k}" for k in range(30)], grains=np.arange(30))
        assert ledger.verify().ok
    steps = list(dict.fromkeys(what for what, _, _ in heard))
    assert steps == [
        "registering people",
        "sealing what was written",
        "all is stored in the ledger",
        "comparing acts with their hashes",
        "comparing what acts wrote with each other",
        "comparing indexes with their tables",
    ]
    for step in steps:
        told = [(done, people) for what, done, people in heard if what == step]
        assert all(0 <= done <= people for done, people in told)
        assert told[-1][0] == told[-1][1]
    compared = [done for what, done, _ in heard if what == "comparing acts with their hashes"]
    assert compared == sorted(compared)
    assert len(set(compared)) > 10  # blocks of acts, not acts


def test_a_step_that_is_done_leaves_no_note(table, monkeypatch):
    monkeypatch.setattr(how_far, "PATIENCE", 0.0)
    assert run(announcing(table)) == 0
    assert not how_far.note_path(table / "a.json").exists()


def test_a_run_that_is_killed_writes_nothing_and_the_next_one_says_how_far_it_was(table, capsys):
    code = """import os, signal, sys
from optin.cli import how_far
from optin.cli.one_command import run
from optin.database.crash_points import LISTENERS
how_far.PATIENCE = 0.0
LISTENERS.append(lambda point: point == "before commit" and os.kill(os.getpid(), signal.SIGKILL))
from optin.ledger import packs
packs.PACKED_FROM = 100
run(sys.argv[1:])"""
    done = subprocess.run([sys.executable, "-c", code, *announcing(table)], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    note = json.loads(how_far.note_path(table / "a.json").read_text())
    assert note == {"step": "sealing what was written", "done": 400, "people": 400}
    with Ledger.open(f"{table}/l.sqlite") as ledger:
        assert ledger.acts() == []
    capsys.readouterr()
    assert run(announcing(table)) == 0
    assert "an earlier run was stopped: sealing what was written, 400 of 400 people" in capsys.readouterr().err
    assert not how_far.note_path(table / "a.json").exists()
    with Ledger.open(f"{table}/l.sqlite") as ledger:
        assert ledger.verify().ok
        assert [act.kind for act in ledger.acts()] == ["register", "announce"]


def test_a_note_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(how_far, "PATIENCE", 0.0)
    with how_far.shown("announcing", tmp_path / "no such folder" / "a.json"):
        say("registering people", 1, 2)
