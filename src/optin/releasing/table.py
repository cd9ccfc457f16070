"""Every published figure of a release as rows: for people, and for whoever reads Arrow or pandas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.wording.groups import shown_group

if TYPE_CHECKING:
    from optin.releasing.record import Release

COLUMNS = ("question", "answer", "estimate", "low", "high")
Row = tuple[str, str, float, float, float]


@dataclass(frozen=True)
class ReleaseTable:
    """Rows of question, answer, estimate, low, high; the last two bound the population at ``level``."""

    rows: tuple[Row, ...]
    level: float
    groups: tuple[str, ...] = ()
    """The group of each row, where people are in groups."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns; where people are in groups, the first says of whom a row is."""
        named = {"group": list(self.groups)} if self.groups else {}
        return named | {name: [row[place] for row in self.rows] for place, name in enumerate(COLUMNS)}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is loaded only here
        """Return a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_arrow(self) -> Any:  # noqa: ANN401 - Arrow is loaded only here
        """Return an Arrow table."""
        import pyarrow as pa

        return pa.table(self.columns())

    def __str__(self) -> str:
        heads = (*COLUMNS[:3], f"{self.level:.0%} from", "to")
        cells = [heads, *((row[0], row[1], *(f"{number:.4g}" for number in row[2:])) for row in self.rows)]
        if self.groups:
            named = ["group", *(shown_group(name)[1:-1] for name in self.groups)]
            cells = [(name, *row) for name, row in zip(named, cells, strict=True)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(_line(row, widths) for row in cells)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        named = [f"<td>{escape(name)}</td>" for name in self.groups] or [""] * len(self.rows)
        heads = "".join(f"<th>{escape(name)}</th>" for name in (*["group"] * bool(self.groups), *COLUMNS))
        rows = "".join(
            f"<tr>{group}<td>{escape(row[0])}</td><td>{escape(row[1])}</td>"
            + "".join(f"<td>{number:.4g}</td>" for number in row[2:])
            + "</tr>"
            for group, row in zip(named, self.rows, strict=True)
        )
        return f"<table><tr>{heads}</tr>{rows}</table>"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    texts = len(row) - 3
    cells = zip(row, widths, range(len(row)), strict=True)
    return "  ".join(cell.ljust(width) if at < texts else cell.rjust(width) for cell, width, at in cells).rstrip()


def table_of(release: Release, level: float) -> ReleaseTable:
    """List every published figure, question by question, and group by group where there are groups."""
    if not release.grouped:
        return ReleaseTable(_rows(release, level), level)
    found = [(name, row) for name, each in release.groups.items() for row in _rows(each, level)]
    return ReleaseTable(tuple(row for _, row in found), level, tuple(name for name, _ in found))


def _rows(release: Release, level: float) -> tuple[Row, ...]:
    return tuple(
        (name, each.answer, each.estimate, each.low, each.high)
        for name, result in release.results.items()
        for each in result.readings(level)
    )
