"""Cells of a workbook that look empty and are not: formulas that nobody computed, and parts of merged cells.

Read as empty they would be limits that were never stated, or answers that were left out. They are read as words instead, which
are no number, no option and no limit, so that whoever needs them is told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optin.extras import expect

FORMULA, MERGED = "= (a formula without its result)", "= (a part of a merged cell)"
SIGNS = (b"<f", b":f", b"mergeCell")
"""What stands in the file where there may be such cells."""
BLOCK = 1 << 20


@dataclass(frozen=True)
class UnsaidCells:
    """Such cells of a sheet: the columns of formulas in each row, and the first and last column of what is merged there."""

    formulas: Mapping[int, set[int]]
    merged: Mapping[int, list[tuple[int, int]]]

    def told(self, row: int, texts: Sequence[str]) -> list[str]:
        """Return a row's cells, with words for those that look empty and are not."""
        if row not in self.formulas and row not in self.merged:
            return list(texts)
        return [text or self._word(row, at) for at, text in enumerate(texts, start=1)]

    def _word(self, row: int, column: int) -> str:
        if column in self.formulas.get(row, ()):
            return FORMULA
        return MERGED if any(left <= column <= right for left, right in self.merged.get(row, ())) else ""


def unsaid_cells(sheet: Any) -> UnsaidCells:  # noqa: ANN401 - openpyxl is not always there
    """Find such cells below the first row; only a file that may have some is looked through."""
    formulas, merged = defaultdict[int, set[int]](set), defaultdict[int, list[tuple[int, int]]](list)
    for name, value in _unsaid(sheet) if _may_have(sheet) else ():
        if name == FORMULA:
            row, column = value
            formulas[row].add(column)
        else:
            left, top, right, bottom = value
            for row in range(max(top, 2), bottom + 1):
                merged[row].append((left, right))
    return UnsaidCells(formulas, merged)


def _may_have(sheet: Any) -> bool:  # noqa: ANN401
    held = b""
    with sheet._get_source() as file:
        while block := file.read(BLOCK):
            seen = held + block
            if any(sign in seen for sign in SIGNS):
                return True
            held = seen[-len(max(SIGNS, key=len)) :]
    return False


def _unsaid(sheet: Any) -> Iterator[tuple[str, tuple[int, ...]]]:  # noqa: ANN401
    expect("excel", "a workbook (XLSX)")
    from openpyxl.utils import coordinate_to_tuple, range_boundaries
    from openpyxl.xml.functions import iterparse

    row = column = 0
    with sheet._get_source() as file:
        for event, element in iterparse(file, events=("start", "end")):
            name, place = element.tag.rpartition("}")[2], element.get("r")
            if event == "start" and name == "row":
                row, column = int(place or row + 1), 0
            elif event == "start" and name == "c":
                row, column = coordinate_to_tuple(place) if place else (row, column + 1)  # some writers name no place
            elif event == "end" and name == "mergeCell":
                yield MERGED, range_boundaries(element.get("ref"))
            elif event == "end" and name == "c" and _is_uncomputed(element):
                yield FORMULA, (row, column)
            elif event == "end" and name == "row":
                element.clear()


def _is_uncomputed(cell: Any) -> bool:  # noqa: ANN401
    """Tell a formula without its result; a text may have the empty one."""
    parts = {part.tag.rpartition("}")[2]: part.text for part in cell}
    return "f" in parts and not parts.get("v") and cell.get("t") != "str"
