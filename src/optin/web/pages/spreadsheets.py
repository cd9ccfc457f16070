"""Tables to be taken away as CSV: what people typed stays text, and no spreadsheet computes it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from fastapi.responses import Response

_COMPUTED = re.compile(r"(?:^|(?<=[;\t\r\n]))(?= *[=+\-@\t\r\n])")
"""Where a cell begins that a spreadsheet computes: half of the world's take a semicolon for the end of a cell, quoted or not."""


def csv_file(name: str, rows: Iterable[Sequence[str | float]]) -> Response:
    """Give rows as a CSV file to be kept under a name; by the mark at its beginning Excel reads umlauts as they are."""
    out = io.StringIO()
    out.write("\N{ZERO WIDTH NO-BREAK SPACE}")
    writer = csv.writer(out)
    for row in rows:
        writer.writerow([no_formula(cell) if isinstance(cell, str) else cell for cell in row])
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def no_formula(cell: str) -> str:
    """Keep a spreadsheet from computing what someone typed.

    >>> no_formula("=1+1"), no_formula("ada@example.org"), no_formula("night;=1+1")
    ("'=1+1", 'ada@example.org', "night;'=1+1")
    """
    return _COMPUTED.sub("'", cell)
