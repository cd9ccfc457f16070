"""The script that counts how far a reader walks counts what it says it counts."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from cli_steps import PLAN, optin_ok, people_csv

from optin.announcement import Announcement
from optin.ledger import Ledger
from optin.releasing import Release

HOME = Path(__file__).parents[1]
sys.path.insert(0, str(HOME))

from benchmarks import walks  # noqa: E402 - benchmarks are no package of ours


def test_a_command_walks_from_the_command_line_to_the_kernel_and_each_function_once(tmp_path):
    people = people_csv(tmp_path)
    with walks.walking() as walk:
        optin_ok("plan", people, *PLAN, "-o", tmp_path / "plan.json")
    functions, files, rooms, changes = walk.counts()
    assert functions > changes >= files - 1 > rooms > 3
    assert walk.files[0].parts[0] == "cli"
    assert "kernel" in {file.parts[0] for file in walk.files}
    assert not any("<" in name.rpartition(".")[2] for _, name, _ in walk.steps)


@pytest.mark.parametrize(
    ("path", "code", "asked", "written"),
    [
        ("campaign/steps.py", "if is_kept(agents): pass", 1, 0),
        ("cli/explaining.py", "if agents.kept and more: pass", 1, 0),
        ("campaign/steps.py", "rows = hasattr(agents, 'rows')", 1, 0),
        ("cli/people_files.py", "x = 1 if table is None else 2", 1, 0),
        ("engine/opening.py", "isinstance(agents, KeptConstrained)", 0, 0),
        ("figures/dial.py", "noise = plan.noise_constant / plan.eta**2", 0, 1),
        ("planning/x.py", "noise = asked.kappa / reach / reach + spread", 0, 1),
        ("kernel/noise.py", "noise = kappa * scale * scale", 0, 0),
        ("planning/x.py", "start = asked.kappa / copies", 0, 0),
    ],
)
def test_the_places_that_are_counted_are_those_of_the_stated_rules(path, code, asked, written):
    def found(rule):
        return len(list(walks._outermost(ast.parse(code), lambda node: rule(Path(path), node))))

    assert (found(walks.asks_where_people_are), found(walks.writes_out_the_variance)) == (asked, written)


def counted(monkeypatch, owner, name):
    """Count the calls of a class method from here on."""
    calls, kept = [], getattr(owner, name).__func__

    def counting(cls, *given, **named):
        calls.append(name)
        return kept(cls, *given, **named)

    monkeypatch.setattr(owner, name, classmethod(counting))
    return calls


def test_a_release_opens_its_ledger_once_reads_its_own_announcement_alone_and_the_text_that_is_stored_once(
    tmp_path, monkeypatch
):
    people, ledger = people_csv(tmp_path), ("--ledger", tmp_path / "ledger.sqlite")
    for name in ("first", "second", "third"):
        plan, offer = tmp_path / f"{name}-plan.json", tmp_path / f"{name}.json"
        optin_ok("plan", people, *PLAN, "--total", "100", "-o", plan)
        optin_ok("announce", plan, people, *ledger, "--campaign", name, "-o", offer)
    opened, announced, read = (
        counted(monkeypatch, Ledger, "open"),
        counted(monkeypatch, Announcement, "from_json"),
        counted(monkeypatch, Release, "_read"),
    )
    optin_ok(
        "release", offer, people, "--values", "units", "--joined", "joined", *ledger, "-o", tmp_path / "release.json"
    )
    assert (len(opened), len(announced), len(read)) == (1, 2, 1)  # the public file, and what is under seal


@pytest.mark.slow
def test_every_walk_is_taken_and_printed():
    command = [sys.executable, "-m", "benchmarks", "walks"]
    said = subprocess.run(command, cwd=HOME, check=True, capture_output=True, text=True).stdout
    for name in ("optin plan", "duckdb", "optin announce", "optin release", "POST", "GET", "lines of src"):
        assert name in said
