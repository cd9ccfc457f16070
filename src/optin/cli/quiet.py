"""``--quiet``, for every command: warnings, failures and what was asked for as JSON are said, and nothing else."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from optin.cli import screen

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings, failures and --json.")]


def quietly(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option, which silences what it would show."""
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(*given: Any, quiet: bool = False, **options: Any) -> None:  # noqa: ANN401 - whatever the command takes
        with screen.quiet(quiet):
            command(*given, **options)

    option = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet)
    taken = [*own.parameters.values(), option]
    run.__signature__ = own.replace(parameters=taken)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in taken} | {"return": None}
    return run
