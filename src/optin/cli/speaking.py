"""Messages of the library in the words of the command line: options instead of arguments."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from optin.cli import screen
from optin.errors import Argument
from optin.wording.sentences import Sentence

_OPTIONS = {"allowances": "--total", "data_variance": "--sd", "wished_errors": "--wished-error"}
"""Arguments whose option has another name."""
NO_OPTION = {
    "benefit": "benefit (from Python)",
    "designs": "designs (from Python)",
    "importance": "importance (from Python)",
    "kind": "the form",
    "max_error": "max_error (in the sheet)",
}
"""Arguments that no command takes."""


def spoken(message: str) -> str:
    """Say it as someone who typed a command would.

    >>> spoken(Sentence("leave out {gap}, or give {none}", gap=Argument("max_gap"), none=Argument("max_gap", 0)))
    'leave out --max-gap, or give --max-gap 0'
    """
    return message.told(_option) if isinstance(message, Sentence) else message


def _option(said: Any) -> Any:  # noqa: ANN401 - whatever a template names
    if not isinstance(said, Argument):
        return said
    option = (_OPTIONS | NO_OPTION).get(said.name, f"--{said.name.replace('_', '-')}")
    if said.value is None or said.value is True:
        return option
    return f"{option} {said.value:g}" if isinstance(said.value, float) else f"{option} {said.value}"


@contextmanager
def warnings_spoken() -> Iterator[None]:
    """Print the library's own warnings as messages, each once in a command; others stay as Python shows them."""
    said: set[str] = set()
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not category.__module__.startswith("optin."):
                usual(message, category, filename, lineno, file, line)
            elif str(message) not in said:
                said.add(str(message))
                screen.warn([str(message)])

        warnings.showwarning = show
        yield
