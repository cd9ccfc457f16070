"""``optin demo``: a whole campaign on made people, told step by step, with the commands anyone could type."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from optin.cli import screen
from optin.cli.output import Output
from optin.errors import BadInput

PEOPLE = 2000
SEED = 2209
MARK = ".optin-demo"
FILES = (
    "people.csv",
    "sheet.toml",
    "plan.json",
    "announcement.json",
    "release.json",
    "receipt.json",
    "report.html",
    "ledger.sqlite",
    "ledger.sqlite-wal",
    "ledger.sqlite-shm",
)


@dataclass(frozen=True)
class Scene:
    """One step of the story: what happens, and the command that does it."""

    title: str
    story: str
    command: str


STEPS = (
    Scene(
        "Plan",
        "Everyone stated one limit for all questions. One cap, and a share of everyone's epsilon for each question, make all of"
        " them as accurate as these limits allow.",
        "plan people.csv --limits limit --sheet sheet.toml --without 20% -o plan.json",
    ),
    Scene(
        "Announce",
        "The offer is published; it names nobody. The ledger holds everyone's promise.",
        "announce plan.json people.csv --ledger ledger.sqlite -o announcement.json",
    ),
    Scene(
        "Explain",
        "Before answering, a person with limit 0.5 looks at what the offer means for them, question by question.",
        "explain announcement.json --limit 0.5",
    ),
    Scene(
        "Release",
        "About one in twelve declined, and some left a question out. Promises are frozen, so nobody else gives more because"
        " of that, and nobody is charged for a question they skipped.",
        "release announcement.json people.csv --joined joined --ledger ledger.sqlite -o release.json",
    ),
    Scene(
        "Receipt",
        "Someone who joined, and left one question out, asks what it cost them.",
        "receipt --ledger ledger.sqlite --id {person} -o receipt.json",
    ),
    Scene(
        "Check",
        "They check it themselves, with the published files alone.",
        "check receipt.json announcement.json release.json",
    ),
    Scene(
        "Verify",
        "An auditor recomputes the ledger, against the release and the receipt.",
        "ledger verify --ledger ledger.sqlite --against release.json receipt.json",
    ),
    Scene("Report", "One page to show.", "report release.json --plan plan.json -o report.html"),
)


def run_demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where to leave the files.")] = Path("optin-demo"),
) -> None:
    """Run a whole campaign on made people, in seconds, and leave its files to look at.

    2,000 made people answer five questions on drinking and sleep, each under one limit of their own. The demo plans,
    announces, explains, releases, writes and checks a receipt, verifies the ledger and draws the report, and shows every
    command.
    """
    import numpy as np

    from optin.cli.made_people import make_people
    from optin.cli.made_study import SHEET, make_answers

    _prepare(folder)
    generator = np.random.default_rng(SEED)
    made = make_people(PEOPLE, generator)
    study = make_answers(made, generator)
    with Output(folder / "people.csv", private=True) as file:
        file.write(study.to_csv())
    with Output(folder / "sheet.toml") as file:
        file.write(SHEET)
    person = made.ids[int(np.argmax(made.joined & (made.limits > 0.8) & study.skipped_one))]
    screen.heading(f"{PEOPLE:,} people are asked five questions on drinking and sleep (all of them made up)")
    screen.say(
        "Each states a limit on epsilon: half are strict (.01 to .2), a third moderate (.2 to 1), a few lax (1)."
        " The questions are in sheet.toml."
    )
    for at, scene in enumerate(STEPS, start=1):
        _show(at, scene, person)
        with _inside(folder):
            _run(scene.command.format(person=person))
    _finish(folder, made.values.clip(0, 40).mean())


def _prepare(folder: Path) -> None:
    """Start afresh, removing only what an earlier demo wrote; a folder of someone else's is left alone."""
    if folder.exists() and not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(
            "{folder} is there and was not made by optin demo; choose another place with --folder", folder=folder
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).touch()
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror
    else:
        return
    raise BadInput(
        "{folder} cannot be written: {reason}; choose another place with --folder", folder=folder, reason=reason
    )


def _show(at: int, scene: Scene, person: str) -> None:
    screen.say()
    screen.rule(f"{at}. {scene.title}")
    screen.say(scene.story)
    screen.command(f"optin {scene.command.format(person=person)}")


def _run(command: str) -> None:
    """Run a command as if it had been typed."""
    from optin.cli.one_command import call

    call(shlex.split(command))


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    import contextlib

    with contextlib.chdir(folder):
        yield


def _finish(folder: Path, truth: float) -> None:
    screen.say()
    screen.rule("What is left")
    screen.say(
        f"The made people truly drink {truth:.2f} units a week on average; in a real campaign nobody would know."
    )
    screen.say(f"Files: {', '.join(name for name in FILES if (folder / name).exists())}, all in {folder}/.")
    screen.say(
        f"Open {folder / 'report.html'} in a browser. Then try your own{_activation()}: optin sheet example > sheet.toml"
    )


def _activation() -> str:
    """Say how the command is found, where a shell would not find it: in a clone that ``make demo`` set up."""
    activate = Path(sys.prefix) / "bin" / "activate"
    if shutil.which("optin") or not activate.exists():
        return ""
    home = Path.cwd()
    return f", after `. {activate.relative_to(home) if activate.is_relative_to(home) else activate}`"
