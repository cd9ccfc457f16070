"""Every published figure of a release as rows: for people, and for whoever reads Arrow or pandas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns."""
        return {name: [row[place] for row in self.rows] for place, name in enumerate(COLUMNS)}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is loaded only here
        """Return a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_arrow(self) -> Any:  # noqa: ANN401 - Arrow is loaded only here
        """Return an Arrow table."""
        import pyarrow as pa

        return pa.table(self.columns())

    def telling(self) -> Telling:
        """Write the rows with four digits."""
        heads = (*COLUMNS[:3], f"{self.level:.0%} from", "to")
        rows = tuple((row[0], row[1], *(f"{number:.4g}" for number in row[2:])) for row in self.rows)
        return Telling("Results", (), heads, rows, more=".rows, .to_pandas()")


def table_of(release: Release, level: float) -> ReleaseTable:
    """List every published figure, question by question."""
    rows = [
        (name, each.answer, each.estimate, each.low, each.high)
        for name, result in release.results.items()
        for each in result.readings(level)
    ]
    return ReleaseTable(tuple(rows), level)
