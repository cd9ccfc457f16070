"""How far a command is: a bar on a terminal, and beside its output a note that tells the next run where this one was stopped."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.wording.underway import heard_by

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0
"""Seconds: a step that is done by then leaves no note, and notes are not written more often."""


@contextmanager
def shown(what: str, output: Path | None = None) -> Iterator[None]:
    """Show how far something is while it is done; a note beside its output stays only where the process is stopped."""
    note = None if output is None else _Note(output)
    with _bar(what) as bar, heard_by(lambda *told: _hear(bar, note, *told)):
        stopped = True
        try:
            yield
            stopped = False
        except Exception:
            stopped = False
            raise
        finally:
            if note is not None and not stopped:
                note.forget()


def _hear(bar: _Bar | None, note: _Note | None, what: str, done: int, people: int) -> None:
    if bar is not None:
        bar.hear(what, done, people)
    if note is not None:
        note.hear(what, done, people)


class _Note:
    """What is being done and for how many people it was, in a file of counts; it names nobody."""

    def __init__(self, output: Path) -> None:
        self.path = note_path(output)
        self._next, self._written = time.monotonic() + PATIENCE, stopped_before(output) is not None

    def hear(self, what: str, done: int, people: int) -> None:
        """Write it down, unless that was done a moment ago."""
        if time.monotonic() < self._next:
            return
        with suppress(OSError):  # a note is not worth stopping a release for
            self.path.write_text(json.dumps({"step": what, "done": done, "people": people}) + "\n")
            self._written = True
        self._next = time.monotonic() + PATIENCE

    def forget(self) -> None:
        """Take away what was written."""
        if self._written:
            self.path.unlink(missing_ok=True)


def note_path(output: Path) -> Path:
    """Say where the note beside an output is."""
    return output.with_name(output.name + ".progress")


def stopped_before(output: Path) -> str | None:
    """Say how far an earlier run was that was stopped, if one was."""
    try:
        progress = json.loads(note_path(output).read_text())
        step, done, people = str(progress["step"]), int(progress["done"]), int(progress["people"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (
        f"an earlier run was stopped: {step}, {done:,} of {people:,} people. A ledger keeps an act as a whole or not at"
        " all: `optin ledger show` says whether this one is there; it is done again from the start"
    )


class _Bar:
    """A bar for each step, and the time that is left of it."""

    def __init__(self, progress: Progress, task: Any) -> None:  # noqa: ANN401 - a library's
        self._progress, self._task, self._what = progress, task, ""

    def hear(self, what: str, done: int, people: int) -> None:
        """Move the bar; another step starts its own clock."""
        if what != self._what:
            self._progress.remove_task(self._task)
            self._task, self._what = self._progress.add_task(what, total=people), what
        self._progress.update(self._task, completed=done)


@contextmanager
def _bar(what: str) -> Iterator[_Bar | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    looks = (
        TextColumn("{task.description}…"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("left of this step:"),
        TimeRemainingColumn(),
        TextColumn("so far:"),
        TimeElapsedColumn(),
    )
    with Progress(*looks, console=Console(stderr=True), transient=True) as progress:
        yield _Bar(progress, progress.add_task(what, total=None))
