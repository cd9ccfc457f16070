"""Help with frames and colour on a terminal, and as plain lines in a pipe."""

from __future__ import annotations

import sys
from typing import Any

from typer.core import TyperCommand, TyperGroup

from optin.cli.environment import SETTINGS


class Command(TyperCommand):
    """A command whose help is plain unless a terminal shows it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer keeps these types to itself
        """Write the help, decorated on a terminal alone."""
        self.rich_markup_mode = _looks()
        super().format_help(ctx, formatter)


class CommandGroup(TyperGroup):
    """A group of commands whose help is plain unless a terminal shows it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the help, decorated on a terminal alone."""
        self.rich_markup_mode = _looks()
        super().format_help(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """End the plain help of the whole program with its environment variables, as a table."""
        if ctx.parent is None:
            with formatter.section("Environment"):
                formatter.write_dl([(setting.name, setting.meaning) for setting in SETTINGS])


def _looks() -> Any:  # noqa: ANN401
    """Choose how help is drawn; a pipe also saves the time of loading Rich."""
    return "rich" if sys.stdout.isatty() else None
