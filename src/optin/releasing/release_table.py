"""Every published figure of a release as rows: for people, and for whoever reads Arrow or pandas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.extras import expect, expect_package
from optin.wording.groups import shown_group
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    from optin.releasing.record import Release

COLUMNS = ("question", "answer", "estimate", "low", "high")
Row = tuple[str, str, float, float, float]


@dataclass(frozen=True, repr=False)
class ReleaseTable(Told):
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
        expect_package("pandas", "a data frame")
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_arrow(self) -> Any:  # noqa: ANN401 - Arrow is loaded only here
        """Return an Arrow table."""
        expect("parquet", "an Arrow table")
        import pyarrow as pa

        return pa.table(self.columns())

    def telling(self) -> Telling:
        """Write the rows with four digits."""
        heads: tuple[str, ...] = (*COLUMNS[:3], f"{self.level:.0%} from", "to")
        rows: tuple[tuple[str, ...], ...] = tuple(
            (row[0], row[1], *(f"{number:.4g}" for number in row[2:])) for row in self.rows
        )
        if self.groups:
            named = (shown_group(name)[1:-1] for name in self.groups)
            heads, rows = ("group", *heads), tuple((name, *row) for name, row in zip(named, rows, strict=True))
        return Telling("Results", (), heads, rows, numbers=len(heads) - 3, more=".rows, .to_pandas()")


def table_of(release: Release, level: float) -> ReleaseTable:
    """List every published figure, question by question, and group by group where there are groups."""
    if not release.grouped:
        return ReleaseTable(_rows(release, level), level)
    rows = [(name, row) for name, each in release.groups.items() for row in _rows(each, level)]
    return ReleaseTable(tuple(row for _, row in rows), level, tuple(name for name, _ in rows))


def _rows(release: Release, level: float) -> tuple[Row, ...]:
    return tuple(
        (name, each.answer, each.estimate, each.low, each.high)
        for name, result in release.results.items()
        for each in result.readings(level)
    )
