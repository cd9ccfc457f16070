"""Sheets of a workbook (XLSX), read and never written: the first row names the columns, each further row is a person.

A cell is read as it is shown where that matters: ids shown with leading zeros keep them, and a percentage stays one, so that
whoever wants a number says so.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optin.errors import Argument, BadInput
from optin.extras import expect
from optin.tables.jsonlines import RowWriter
from optin.tables.unsaid_cells import unsaid_cells

NO_COLUMN = "has a cell that no column is for; name its column in row 1, above which nothing may stand, or empty it"
_ZEROS = re.compile("^0+$")


@contextmanager
def sheet_of(file: Path, table: str | None) -> Iterator[Any]:
    """Open the sheet that is named, or the only one."""
    expect("excel", "a workbook (XLSX)")
    import openpyxl

    book = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which nobody reads here
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except Exception:  # noqa: S110 - whatever a damaged archive makes of it; it may quote cells
        pass
    if book is None:
        raise BadInput("{file} is not a workbook that can be read, or is damaged; save it again as XLSX", file=file)
    try:
        yield book[_named(file, [sheet.title for sheet in book.worksheets], table)]
    finally:
        book.close()


def copy_sheet(file: Path, sheet: Any, to: RowWriter) -> None:  # noqa: ANN401 - openpyxl is not always there
    """Write the rows of a sheet as text; rows in which nothing stands are passed over."""
    width, unsaid = 0, unsaid_cells(sheet)
    sheet.reset_dimensions()  # the size that a file states of itself may be wrong, and people below it would be missing
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        texts = [_text(cell) for cell in cells]
        texts = unsaid.told(number, texts + [""] * (width - len(texts)))
        if number == 1:
            width = max((at for at, text in enumerate(texts, start=1) if text), default=0)
            if not width:
                raise BadInput("{file} row 1 is blank; the first row must name the columns", file=file)
            to.head(texts[:width])
        elif any(texts):
            if any(texts[width:]):
                to.refuse(number, texts, NO_COLUMN)
            else:
                to.add(number, (texts + [""] * width)[:width])


def _named(file: Path, names: list[str], table: str | None) -> str:
    if table is None and len(names) == 1:
        return names[0]
    if table in names:
        return str(table)
    known = ", ".join(names)
    if table is None:
        raise BadInput(
            "{file} has {count} sheets; say which with {table}: {known}",
            file=file,
            count=len(names),
            table=Argument("table", "NAME"),
            known=known,
        )
    raise BadInput("{file} has no sheet {table}; it has {known}", file=file, table=table, known=known)


def _text(cell: Any) -> str:  # noqa: ANN401
    """Write a cell as text: numbers with the digits that name them, truths and dates in words."""
    value, shown = cell.value, str(getattr(cell, "number_format", None) or "")
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if not isinstance(value, int | float):
        return str(value)
    if "%" in shown:
        return f"{value * 100:.15g} %"
    integer = isinstance(value, int) or (value.is_integer() and abs(value) < 2**53)
    text = str(int(value)) if integer else repr(value)
    return text.zfill(len(shown)) if integer and _ZEROS.match(shown) and value >= 0 else text
