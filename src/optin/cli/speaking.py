"""Messages of the library in the words of the command line: options instead of arguments, lines instead of indexes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from optin.cli import screen

__all__ = ["spoken", "warnings_spoken"]

_WORDS = (
    (r"\bmax_gap=0\b", "--max-gap 0"),
    (r"\b(data_variance or data_sd|data_variance|data_sd)\b", "--sd"),
    (
        r"(?<![-\w])(max_gap|target_error|min_people|raise_limits)\b(?!\")",
        lambda found: f"--{found[1].replace('_', '-')}",
    ),
    (r"\(--min-people, --min-people\)", "(--min-people)"),
    (r"set --min-people \(--min-people\)", "set --min-people"),
    (r"\beta must be (.*), or None for the best one", r"--eta must be \1; leave it out for the best one"),
    (r"(?<![-\w])(slack|eta) (is|must)\b", r"--\1 \2"),
    (r"leave out eta\b", "leave out --eta"),
    (
        r"\bbounds must be given as \(lo, hi\) with lo < hi",
        "--bounds takes the lower number first, and then a higher one",
    ),
    (r"\bbounds\[[01]\] must be a number", "--bounds takes two numbers"),
    (r"^(bounds|limit|cost|outside) (must|are)\b", r"--\1 \2"),
    (
        r"the data variance must lie between 0 and ([-+.e\d]+)",
        lambda found: f"--sd must lie between 0 and {float(found[1]) ** 0.5:g}",
    ),
    (r"eta = (\S+) needs; give a smaller eta, or none", r"--eta \1 needs; give a smaller one, or none"),
    (r"(for|plan) (quasi-linear (agents|people))", r"\1 people who weigh costs"),
    (r"privacy-constrained (agents|people)", "people with limits"),
    (r"\bjoined= ", "--joined COL "),
    (r"`joined`", "the column of --joined"),
    (r"pass allow_no_noise=True", "add --allow-no-noise"),
    (r"give your own benefit= and outside=", "explain this offer from Python"),
    (r"give a cost, not a limit", "give --cost, not --limit"),
    (r"give a limit and nothing else", "give --limit and nothing else"),
    (r"write it with to_json\(\)", "give the file that optin wrote"),
    (r"with optin\.plan\b", "with optin plan"),
    (r"raise allowances explicitly", "raise allowances with --raise-limits"),
    (r", not NaN$", ""),
    (r"has no column id; (?=it has|did you)", "has no column id (--id COL names another); "),
)


def spoken(message: str) -> str:
    """Say it as someone who typed a command would.

    >>> spoken("eta must be a positive finite number (the Laplace rate in data units), or None for the best one")
    '--eta must be a positive finite number (the Laplace rate in data units); leave it out for the best one'
    >>> spoken("max_gap is available for privacy-constrained agents only; plan quasi-linear people with max_gap=0")
    '--max-gap is available for people with limits only; plan people who weigh costs with --max-gap 0'
    """
    for pattern, ours in _WORDS:
        message = re.sub(pattern, ours, message)
    return message


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
                screen.warn([spoken(str(message))])

        warnings.showwarning = show
        yield
