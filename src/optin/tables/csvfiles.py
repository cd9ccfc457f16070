"""CSV as text, cell for cell, and with the exact line where it is none.

Python's own reader reads it, after the file was looked through for whatever readers make different things of: so there is
one reading, and engines agree with it.
"""

from __future__ import annotations

import csv
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from optin.errors import BadInput
from optin.tables.csvlines import expect_lines, wrong_widths
from optin.tables.encodings import MARKS, other_text

KINDS = (
    (b"\x1f\x8b", "compressed (gzip), not UTF-8 text"),
    (b"PK\x03\x04", "the start of a spreadsheet or a zip archive, not UTF-8 text"),
    *((mark, f"{encoding}, not UTF-8 text") for mark, encoding in MARKS),
    (b"PAR1", "Parquet under another name, not UTF-8 text"),
    (b"\xd0\xcf\x11\xe0", "an old workbook (XLS) or another document, not UTF-8 text"),
    (b"SQLite format 3", "a database of SQLite, not UTF-8 text"),
    (b"BZh", "compressed (bzip2; gzip and zstd are read), not UTF-8 text"),
    (b"\xfd7zXZ", "compressed (xz; gzip and zstd are read), not UTF-8 text"),
    (b"ARROW1", "Arrow's own format (Feather), not UTF-8 text"),
    *((mark, "a file of SPSS (SAV), not UTF-8 text") for mark in (b"$FL2", b"$FL3")),
)
"""How files begin that are given instead of CSV, and what they are."""
TEXTS = (
    *((mark, "HTML or XML, no CSV") for mark in (b"<!doctype", b"<html", b"<head", b"<meta", b"<table", b"<?xml")),
    *((mark, "JSON, no CSV (a file of JSON lines is called .jsonl)") for mark in (b'{"', b"[{")),
    *((mark, "data as R keeps it, no CSV") for mark in (b"rdx2\n", b"rdx3\n", b"x\n\x00")),
    (b"<stata_dta>", "a file of Stata (DTA), no CSV"),
    (b"%pdf-", "PDF, no CSV"),
)
"""The same of files whose first line is text, in small letters: it would be taken for names of columns, and shown."""
BLOCK = 128  # rows at a time: so few that they stay in the cache of a processor, which saves half of the time
SIGNS = np.arange(256)


def csv_header(path: Path) -> list[str]:
    """Read the column names, which are the first line."""
    expect_kind(path, lambda: path.open("rb"))
    with path.open("rb") as file:
        _expect_lines(path, islice(file, 1))
    for _, row in csv_rows(path, strict=True):
        return row
    raise BadInput("{path} is empty; the first line must name the columns", path=path)


@dataclass(frozen=True)
class TextTable:
    """Some columns of a file, every cell as the text it is."""

    columns: Mapping[str, list[str]]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def column(self, name: str) -> list[str]:
        """Return the cells of a column, from top to bottom."""
        return self.columns[name]


def read_csv(path: Path, names: list[str]) -> TextTable:
    """Read some columns as text, byte for byte; nothing is taken for a number, a date or a missing value."""
    expect_text(path)
    header = csv_header(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)  # else a quote that never closes would hold the rest of the file
        next(reader, None)
        columns, rows = _columns(reader, len(header), [header.index(name) for name in names])
    if rows is None:
        expect_readable(path)
        raise BadInput("{path} cannot be read as CSV; save it again as CSV with commas, in UTF-8", path=path)
    return TextTable(dict(zip(names, columns, strict=True)), rows)


def _columns(reader: Iterator[list[str]], width: int, places: list[int]) -> tuple[list[list[str]], int | None]:
    """Keep the cells at some places of every row that is not blank; None instead of how many if a row is no row."""
    columns: list[list[str]] = [[] for _ in places]
    count = 0
    try:
        while block := list(islice(reader, BLOCK)):
            rows = block if all(block) else [row for row in block if row]
            if not set(map(len, rows)) <= {width}:
                return columns, None
            cells = list(zip(*rows, strict=True))
            for column, place in zip(columns, places, strict=True):
                column.extend(cells[place] if cells else ())
            count += len(rows)
    except csv.Error:
        return columns, None
    return columns, count


def line_count(path: Path, *, enough: int) -> int:
    """Count lines, and stop when there are enough; 0 if the file cannot be read, which reading it will say better."""
    lines = 0
    try:
        with path.open("rb") as file:
            while lines < enough and (block := file.read(1 << 20)):
                lines += block.count(b"\n")
    except OSError:
        return 0
    return lines


def lines_of(path: Path, rows: Sequence[int]) -> list[int]:
    """Find the lines on which rows start, given in order; quoted line breaks and blank lines make them more than row + 2."""
    wanted, lines = set(rows), dict[int, int]()
    for at, (line, _) in enumerate(csv_rows(path), start=-1):
        if at in wanted:
            lines[at] = line
            if len(lines) == len(wanted):
                break
    return [lines.get(row, row + 2) for row in rows]


def expect_readable(path: Path) -> None:
    """Name the lines that are no rows of the table."""
    expect_text(path)
    width = len(csv_header(path))
    wrong = [(line, len(row)) for line, row in csv_rows(path) if len(row) != width]
    if wrong:
        raise wrong_widths(path, wrong, width)
    for _ in csv_rows(path, strict=True):  # a quote that never closes, in what has the right width
        pass


def expect_text(path: Path) -> None:
    """Refuse a file that is not UTF-8 from end to end, or whose quotes or lines could be read in two ways."""
    for expect in (expect_kind, expect_utf8, expect_quotes, expect_lines):
        expect(path, lambda: path.open("rb"))


def expect_kind(name: Path | str, opened: Callable[[], BinaryIO]) -> None:
    """Refuse what is text of another kind: a page that some programs call a spreadsheet holds everyone in its first line."""
    with opened() as file:
        head = file.read(16).removeprefix(BOM_UTF8).lower()
    kind = next((words for mark, words in TEXTS if head.startswith(mark)), None)
    if kind is not None:
        raise BadInput("{name} is {kind}; save the file as CSV in UTF-8", name=name, kind=kind)


def expect_quotes(name: Path | str, opened: Callable[[], BinaryIO], delimiter: str = ",") -> None:
    """Refuse a quote that does not open or close a whole cell: of "p1" and a blank behind it, engines make different ids."""
    with opened() as file:
        line = _odd_quote(file, delimiter)
    if line is not None:
        raise BadInput(
            "{name} line {line}: a quote opens or closes a part of a cell; leave no blank beside quotes, and inside"
            ' a quoted cell write "" for a quote',
            name=name,
            line=line,
        )


def _odd_quote(file: BinaryIO, delimiter: str) -> int | None:
    """Find the line of the first quote that has no delimiter, line end or other quote on its outer side.

    Quotes open and close in turn, so every other one opens; a quote inside a cell is written twice and closes and opens.
    """
    edge = np.isin(SIGNS, list(b'\r\n"' + delimiter.encode()))
    held, quotes, line = b"\n", 0, 1
    while True:
        block = file.read(1 << 20)
        data = (
            held + (block.removeprefix(BOM_UTF8) if line == 1 and held == b"\n" else block) + (b"" if block else b"\n")
        )
        signs = np.frombuffer(data, dtype=np.uint8)
        places = np.flatnonzero(signs[1:-1] == ord('"')) + 1
        opening = (quotes + np.arange(len(places))) % 2 == 0
        odd = places[~edge[np.where(opening, signs[places - 1], signs[places + 1])]]
        if len(odd):
            return line + data.count(b"\n", 1, int(odd[0]))
        if not block:
            return None
        quotes, line, held = quotes + len(places), line + data.count(b"\n", 1, len(data) - 1), data[-2:]


def expect_utf8(name: Path | str, opened: Callable[[], BinaryIO]) -> None:
    """Refuse bytes that are not UTF-8 from end to end, by their first line that is not.

    DuckDB would call it damaged, and Spark would put one and the same sign for every letter that it cannot read.
    """
    with opened() as file:
        if _is_text(file):
            return
    with opened() as file:
        _expect_lines(name, file)


def _is_text(file: BinaryIO) -> bool:
    decoder = getincrementaldecoder("utf-8")()
    try:
        while block := file.read(1 << 20):
            decoder.decode(block)
            if b"\x00" in block:
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _expect_lines(name: Path | str, lines: Iterable[bytes]) -> None:
    """Name the first line that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        if not _is_text(BytesIO(line)):
            kind = next((words for mark, words in KINDS if number == 1 and line.startswith(mark)), "")
            raise BadInput(
                "{name} line {number} is {kind}; save the file as CSV in UTF-8",
                name=name,
                number=number,
                kind=kind or other_text(line),
            )


def csv_rows(path: Path, delimiter: str = ",", *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Walk over rows that are not blank, each with the line it starts on."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader, start = csv.reader(file, delimiter=delimiter, strict=strict), 1
        while True:
            row = _next(reader, path, start)
            if row is None:
                return
            if row:
                yield start, row
            start = reader.line_num + 1


def _next(reader: Any, path: Path, line: int) -> list[str] | None:  # noqa: ANN401 - the csv module names no type
    try:
        row: list[str] | None = next(reader, None)
    except csv.Error:
        row = []
    else:
        return row
    raise BadInput(
        "{path} line {line} starts a cell that never ends; look for a quote that is not closed", path=path, line=line
    )
