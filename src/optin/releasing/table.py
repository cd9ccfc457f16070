"""Every published figure of a release as rows: for people, and for whoever reads Arrow or pandas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.extras import expect, expect_package

if TYPE_CHECKING:
    from optin.releasing.record import Release

COLUMNS = ("question", "answer", "estimate", "low", "high")
Row = tuple[str, str, float, float, float]


@dataclass(frozen=True)
class ReleaseTable:
    """Rows of question, answer, estimate, low, high; the last two bound the population at ``level``."""

    rows: tuple[Row, ...]
    level: float

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns."""
        return {name: [row[place] for row in self.rows] for place, name in enumerate(COLUMNS)}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is loaded only here
        """Return a pandas DataFrame."""
        expect_package("pandas", "a data frame")
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_arrow(self) -> Any:  # noqa: ANN401 - Arrow is loaded only here
        """Return an Arrow table."""
        expect("parquet", "an Arrow table")
        import pyarrow as pa

        return pa.table(self.columns())

    def __str__(self) -> str:
        heads = (*COLUMNS[:3], f"{self.level:.0%} from", "to")
        cells = [heads, *((row[0], row[1], *(f"{number:.4g}" for number in row[2:])) for row in self.rows)]
        widths = [max(len(row[place]) for row in cells) for place in range(len(COLUMNS))]
        return "\n".join(_line(row, widths) for row in cells)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        heads = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
        rows = "".join(
            f"<tr><td>{escape(row[0])}</td><td>{escape(row[1])}</td>"
            + "".join(f"<td>{number:.4g}</td>" for number in row[2:])
            + "</tr>"
            for row in self.rows
        )
        return f"<table><tr>{heads}</tr>{rows}</table>"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    texts = [row[place].ljust(widths[place]) for place in (0, 1)]
    return "  ".join([*texts, *(row[place].rjust(widths[place]) for place in (2, 3, 4))]).rstrip()


def table_of(release: Release, level: float) -> ReleaseTable:
    """List every published figure, question by question."""
    rows = [
        (name, each.answer, each.estimate, each.low, each.high)
        for name, result in release.results.items()
        for each in result.readings(level)
    ]
    return ReleaseTable(tuple(rows), level)
