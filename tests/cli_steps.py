"""Short words for the command line tests: run a command in this process, write a table, list a folder."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from optin.cli import main
from optin.cli.made_people import make_people

PLAN = ("--limits", "limit", "--bounds", "0", "40", "--sd", "9")
WORK_SHEET = """title = "Work"
[[question]]
name = "break"
kind = "yes-no"
[[question]]
name = "hours"
kind = "number"
bounds = [0, 80]
sd = 9
unit = "hours"
"""
PLAN_BY_WARD = ("plan", "people.csv", "--limits", "limit", "--sheet", "sheet.toml", "--by", "ward")


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def optin(*arguments):
    """Run a command as the entry point would."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
    return Outcome(code, out.getvalue(), err.getvalue())


def optin_ok(*arguments):
    outcome = optin(*arguments)
    assert outcome.code == 0, outcome.err
    return outcome


def people_csv(folder, count=200, *, name="people.csv", seed=7):
    """Write made people and return the path."""
    path = Path(folder) / name
    path.write_text(make_people(count, np.random.default_rng(seed)).to_csv())
    return path


def names(folder):
    """List what is in a folder, without the side files SQLite keeps while it looks."""
    return sorted(path.name for path in Path(folder).iterdir() if not path.name.endswith(("-wal", "-shm")))
