"""What stands between the cells of a text file: found in its first lines, and refused where it could be two things."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from itertools import islice
from pathlib import Path

from optin.errors import Argument, BadInput

COMMA = ","
BLANK = " "
NAMES = {COMMA: "commas", ";": "semicolons", "\t": "tabs", "|": "pipes"}
WORDS = {"comma": COMMA, "semicolon": ";", "tab": "\t", "pipe": "|", "blank": BLANK}
"""Delimiters as words: a shell takes some of the signs for its own."""
LOOKED_AT = 1 << 18  # bytes
ROWS = 200


def delimiter_of(name: Path, file: Path) -> str:
    """Find the one sign that cells can be separated by: it is in the header, and rows have as many of it.

    Where no sign fits, or there is none, a comma is assumed, and whoever reads the file will say what is wrong.
    """
    with file.open("rb") as opened:
        text = opened.read(LOOKED_AT).decode("utf-8-sig", errors="replace")
    first = _first(text)
    _expect_names(name, text)
    signs = [sign for sign in NAMES if sign in first]
    if signs in ([], [COMMA]):
        return BLANK if first and not first.strip(BLANK) else COMMA  # nothing but blanks between names in quotes
    fitting = [sign for sign in signs if len(signs) == 1 or _fits(text, sign)]
    if len(fitting) > 1:
        raise BadInput(
            "{name} could be read with {listed} between its cells; say which with {delimiter} or {other}",
            name=name,
            listed=" or with ".join(NAMES[sign] for sign in fitting),
            delimiter=_typed(fitting[0]),
            other=_typed(fitting[1]),
        )
    return fitting[0] if fitting else COMMA


def in_words(delimiter: str) -> str:
    """Name a delimiter.

    >>> in_words(";"), in_words("~")
    ('semicolons', '~ between cells')
    """
    return "blanks" if delimiter == BLANK else NAMES.get(delimiter, f"{delimiter} between cells")


def _typed(sign: str) -> Argument:
    return Argument("delimiter", next(word for word, typed in WORDS.items() if typed == sign))


def _expect_names(name: Path, text: str) -> None:
    """Refuse a first line that tells spreadsheets what stands between cells, and names no columns."""
    first = text.splitlines()[0].strip('"').lower() if text.splitlines() else ""
    if first.startswith("sep=") and len(first) <= len("sep=;"):
        raise BadInput(
            "{name} line 1 tells spreadsheets what stands between cells (sep=); delete it: the first line must name the"
            " columns",
            name=name,
        )


def _first(text: str) -> str:
    """Return what of the first line stands outside quotes."""
    line = text.splitlines()[0] if text.splitlines() else ""
    return "".join(line.split('"')[::2])


def _fits(text: str, sign: str) -> bool:
    """Tell whether at least half of the rows have as many cells as the header, and more than one."""
    try:
        rows = [row for row in islice(csv.reader(StringIO(text, newline=""), delimiter=sign), ROWS) if row]
    except csv.Error:
        return False
    widths = Counter(len(row) for row in rows[1:-1] or rows[1:])  # the last one may have been cut off
    width = len(rows[0]) if rows else 0
    return width > 1 and (not widths or 2 * widths[width] >= widths.total())
