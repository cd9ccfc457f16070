"""Lines of CSV that engines would read differently: ends of several kinds, a blank first line, one comma too many.

Arrow takes any mixture of line ends, DuckDB gives up on it; Arrow skips blank lines before the header, DuckDB takes the
header for a person; DuckDB drops an empty last cell that no column is for, Arrow refuses it. Here all of them are refused.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO

from optin.errors import BadInput
from optin.tables.bad_rows import FIRST, BadRow, unusable

BLOCK = 1 << 20


def expect_lines(name: Path | str, opened: Callable[[], BinaryIO]) -> None:
    """Refuse lines that engines read differently; only a file that may have some is walked line by line."""
    expect_top(name, opened)
    with opened() as file:
        if _plainly_alike(file):
            return
    with TextIOWrapper(opened(), encoding="utf-8-sig", newline="") as lines:
        _expect_alike(name, lines)


def expect_top(name: Path | str, opened: Callable[[], BinaryIO]) -> None:
    """Refuse a blank first line."""
    with opened() as file:
        top = file.read(len(BOM_UTF8) + 1).removeprefix(BOM_UTF8)[:1]
    if top in (b"\n", b"\r"):
        raise BadInput("{name} line 1 is blank; the first line must name the columns", name=name)


def wrong_widths(name: Path | str, wrong: Sequence[tuple[int, int]], width: int) -> BadInput:
    """Say which lines have more or fewer columns than the header."""
    rows = [BadRow(f"{name} line {line}", "", width_words(columns, width)) for line, columns in wrong[:FIRST]]
    return unusable(rows, len(wrong))


def width_words(columns: int, width: int) -> str:
    """Say that a line has more or fewer columns than the header."""
    counted = "1 column" if columns == 1 else f"{columns} columns"
    names = ", or for row names of R (row.names = FALSE writes none)" if columns == width + 1 else ""
    return (
        f"has {counted} where the header has {width}; look for a missing or an extra separator, a decimal comma, or a quote"
        f" that is not closed{names}"
    )


def _plainly_alike(file: BinaryIO) -> bool:
    """Tell by counting alone that all line ends are of one kind and that no line ends with a comma."""
    returns = feeds = both = commas = 0
    last = b""
    while block := file.read(BLOCK):
        seen = last + block
        returns, feeds, both = returns + block.count(b"\r"), feeds + block.count(b"\n"), both + seen.count(b"\r\n")
        commas += seen.count(b",\n") + seen.count(b",\r")
        last = block[-1:]
    return commas == 0 and last != b"," and (returns == 0 or feeds == 0 or returns == feeds == both)


def _expect_alike(name: Path | str, lines: TextIOWrapper) -> None:
    """Compare the end of every row, and the number of its columns, with those of the first."""
    usual, width, wrong = "", 0, list[tuple[int, int]]()
    for line, end, columns in _rows(lines):
        usual, width = usual or end, width or columns
        if end not in (usual, ""):
            raise BadInput(
                "{name} line {line} does not end as the lines before it do; save the file with line ends of one kind",
                name=name,
                line=line,
            )
        if columns not in (width, 0):
            wrong.append((line, columns))
    if wrong:
        raise wrong_widths(name, wrong, width)


def _rows(lines: TextIOWrapper) -> Iterator[tuple[int, str, int]]:
    """Walk over rows: the line each starts on, how it ends, and how many columns it has, 0 if it is blank.

    Line ends and commas between quotes belong to a cell; of the parts between quotes every other one is outside.
    """
    start, inside, commas, blank = 1, 0, 0, True
    for line, text in enumerate(lines, start=1):
        parts = text.split('"')
        outside = parts[inside::2]
        commas += sum(part.count(",") for part in outside)
        inside = (inside + len(parts) - 1) % 2
        bare = text.rstrip("\r\n")
        blank = blank and not bare
        if not inside:
            yield start, text[len(bare) :], 0 if blank else commas + 1
            start, commas, blank = line + 1, 0, True
