"""What stands between the cells of a text file: found in its first lines, and refused where it could be two things."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from itertools import islice
from pathlib import Path

from optin.errors import Argument, BadInput

COMMA = ","
NAMES = {COMMA: "commas", ";": "semicolons", "\t": "tabs", "|": "pipes"}
LOOKED_AT = 1 << 18  # bytes
ROWS = 200


def delimiter_of(name: Path, file: Path) -> str:
    """Find the one sign that cells can be separated by: it is in the header, and rows have as many of it.

    Where no sign fits, or there is none, a comma is assumed, and whoever reads the file will say what is wrong.
    """
    with file.open("rb") as opened:
        text = opened.read(LOOKED_AT).decode("utf-8-sig", errors="replace")
    signs = [sign for sign in NAMES if sign in _first(text)]
    if signs in ([], [COMMA]):
        return COMMA
    fitting = [sign for sign in signs if len(signs) == 1 or _fits(text, sign)]
    if len(fitting) > 1:
        raise BadInput(
            "{name} could be read with {listed} between its cells; say which with {delimiter}",
            name=name,
            listed=" or with ".join(NAMES[sign] for sign in fitting),
            delimiter=Argument("delimiter", _typed(fitting[0])),
        )
    return fitting[0] if fitting else COMMA


def in_words(delimiter: str) -> str:
    """Name a delimiter.

    >>> in_words(";"), in_words("~")
    ('semicolons', '~ between cells')
    """
    return NAMES.get(delimiter, f"{delimiter} between cells")


def _typed(sign: str) -> str:
    return "tab" if sign == "\t" else sign


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
