"""The options that say how a table of people is read, shared by every command that reads one and worded once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from optin.cli.output import expect_free
from optin.tables.how_read import HowRead

_reading = partial(typer.Option, rich_help_panel="How the table is read", show_default="found out, and said")
OPTIONS: dict[str, Any] = {
    "delimiter": Annotated[
        str | None,
        _reading("--delimiter", metavar="SIGN", help="Between cells: comma, semicolon, tab, pipe, blank, or a sign."),
    ],
    "decimal": Annotated[str | None, _reading("--decimal", metavar=". or ,", help="What stands before a fraction.")],
    "table": Annotated[
        str | None,
        _reading(
            "--table",
            metavar="NAME",
            help="The sheet of a workbook, or the table of a database.",
            show_default="the only one",
        ),
    ],
    "query": Annotated[
        str | None,
        _reading("--query", metavar="SQL", help="What to ask a postgresql:// address.", show_default=False),
    ],
    "blank_limit": Annotated[
        str | None,
        _reading(
            "--blank-limit",
            metavar="0|refuse|EPSILON",
            help="What an empty limit counts as.",
            show_default="refuse",
        ),
    ],
    "missing": Annotated[
        list[str] | None,
        _reading(
            "--missing",
            metavar="TEXT",
            help="A text that counts as an empty cell, such as NA or -99; again for each.",
            show_default="none",
        ),
    ],
    "skip_bad": Annotated[
        Path | None,
        _reading(
            "--skip-bad",
            metavar="FILE",
            help="Leave out rows that cannot be used, and write them there to be mended.",
            show_default="refuse them",
        ),
    ],
}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options in the place of its one argument ``how``."""

    @functools.wraps(command)
    def wrapper(*arguments: Any, **given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        how = HowRead.of(**{name: given.pop(name) for name in OPTIONS})
        command(*arguments, how=how, **given)

    signature = inspect.signature(command, eval_str=True)
    kept = [each for name, each in signature.parameters.items() if name != "how"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in OPTIONS.items()
    ]
    wrapper.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in (*kept, *added)}
    return wrapper


def apart(how: HowRead, others: Sequence[Path | str | None]) -> HowRead:
    """Refuse to write rows that are left out over anything this command reads or writes."""
    if how.skip_bad is not None:
        expect_free(how.skip_bad, others)
    return how


def as_planned(record: dict[str, Any], how: HowRead) -> HowRead:
    """Read a table as the plan did, where nothing else is said now; which rows are left out is said each time."""
    before = HowRead.of(**record.get("reading", {}))
    return replace(how, **{name: value for name, value in vars(before).items() if getattr(how, name) is None})
