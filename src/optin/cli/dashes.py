"""File names that begin with a dash, which a command line takes for options."""

from __future__ import annotations

import re
from pathlib import Path

_ENDING = re.compile(r"-[^-=].*\.[A-Za-z]\w*")


def dashed_file(typed: list[str]) -> str:
    """Say how a file is named whose name was taken for options; nothing where no word is such a name.

    A word counts if a file bears it, or if it has one dash and a file's ending. What follows ``--`` is never an option.

    >>> dashed_file(["plan", "-x.csv", "--limits", "limit"])
    ' If -x.csv is a file, write ./-x.csv.'
    >>> dashed_file(["plan", "--bound=0.5", "-1.5", "--", "-x.csv"])
    ''
    """
    words = typed[: typed.index("--")] if "--" in typed else typed
    names = [word for word in words if word.startswith("-") and (_ENDING.fullmatch(word) or _is_file(word))]
    return f" If {names[0]} is a file, write ./{names[0]}." if names else ""


def _is_file(word: str) -> bool:
    try:
        return Path(word).exists()
    except (OSError, ValueError):  # too long a name, or one that no file can bear
        return False
