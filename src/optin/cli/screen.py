"""What people see: tables with colour on a terminal, plain lines in a pipe, JSON for scripts; messages on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.cli.streams import silence

if TYPE_CHECKING:
    from rich.console import Console

Row = tuple[str, str]
_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def quiet(wanted: bool) -> Iterator[None]:
    """Show nothing for a while but warnings, failures and JSON."""
    before = _silent.set(wanted or _silent.get())
    try:
        yield
    finally:
        _silent.reset(before)


def rows(title: str, lines: Sequence[Row]) -> None:
    """Show labelled lines under a title."""
    if _silent.get():
        return
    width = max((len(label) for label, _ in lines), default=0)
    if not sys.stdout.isatty():
        _plain(title)
        for label, text in lines:
            _plain(f"  {label:<{width}}  {text}")
        return
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in lines:
        grid.add_row(f"  {label}", _safe(text))
    heading(title)
    _console().print(grid)


def columns(
    title: str, header: Sequence[str], lines: Sequence[Sequence[str]], *, strong: int | None = None, texts: int = 1
) -> None:
    """Show a small table: ``texts`` columns of text, then numbers; ``strong`` is the row to look at.

    On a narrow terminal names are the last to be cut off: two of them may then look alike.
    """
    if _silent.get():
        return
    if not sys.stdout.isatty():
        _plain(title)
        for text in _aligned([header, *lines], texts):
            _plain(f"  {text}")
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim", show_edge=False
    )
    for at, name in enumerate(header):
        table.add_column(name, justify="left" if at < texts else "right", no_wrap=at == 0)
    for at, line in enumerate(lines):
        table.add_row(*(_safe(cell) for cell in line), style="bold green" if at == strong else None)
    heading(title)
    _console().print(table)


def heading(text: str) -> None:
    """Start a part of the output."""
    if _silent.get():
        return
    if sys.stdout.isatty():
        _console().print(f"[bold]{_safe(text)}[/bold]")
    else:
        _plain(text)


def say(text: str = "") -> None:
    """Print a sentence on standard output."""
    if _silent.get():
        return
    if sys.stdout.isatty():
        _console().print(_safe(text), highlight=False)
    else:
        _plain(text)


def rule(title: str) -> None:
    """Start a step, with a line across a terminal."""
    if _silent.get():
        return
    if sys.stdout.isatty():
        _console().rule(f"[bold]{_safe(title)}[/bold]", align="left", style="cyan")
    else:
        _plain(f"== {title}")


def command(text: str) -> None:
    """Show a command as it would be typed."""
    if _silent.get():
        return
    if sys.stdout.isatty():
        _console().print(f"$ {_safe(text)}", style="bold magenta", soft_wrap=True)
    else:
        _plain(f"$ {text}")


def note(text: str, *, bad: bool = False) -> None:
    """Print a message on standard error; one that cannot be written there changes nothing else."""
    if _silent.get() and not bad:
        return
    try:
        if sys.stderr.isatty():
            looks = "bold red" if bad else "dim"
            _console(stderr=True).print(_safe(text), style=looks, highlight=False, soft_wrap=True)
        else:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def warn(sentences: Sequence[str]) -> None:
    """Print what is odd on standard error; nothing is refused for it."""
    for sentence in sentences:
        note(f"warning: {sentence}", bad=True)


def print_json(record: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """Print a record for scripts; infinity becomes the text "inf", which JSON lacks."""
    sys.stdout.write(json.dumps(finite(record), indent=2, allow_nan=False) + "\n")


def finite(record: Any) -> Any:  # noqa: ANN401
    """Replace numbers that JSON does not have by their names."""
    if isinstance(record, dict):
        return {name: finite(value) for name, value in record.items()}
    if isinstance(record, list | tuple):
        return [finite(value) for value in record]
    if isinstance(record, float) and record - record != 0:
        return repr(record)
    return record


@contextmanager
def working(what: str, output: Path | None = None) -> Iterator[None]:
    """Show that something is under way, and how far it is where that is known; it reads no value."""
    from optin.cli.how_far import shown, stopped_before

    before = None if output is None else stopped_before(output)
    if before is not None:
        note(before)
    with shown(what, output):
        yield


def _console(*, stderr: bool = False) -> Console:
    """Make a console for where the output goes now; in a pipe nothing is wrapped."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _plain(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _aligned(lines: Sequence[Sequence[str]], texts: int) -> list[str]:
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(w) if at < texts else cell.rjust(w)
            for at, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
