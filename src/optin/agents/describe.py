"""A few hundred numbers that say how limits are spread: what pictures and what-if are drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from optin.agents.models import Agents
from optin.agents.protocols import Constrained, LimitTable, Weighing
from optin.errors import BadInput
from optin.wording.numbers import part
from optin.wording.telling import Telling, Told

MOST = 256


@dataclass(frozen=True)
class Bucket:
    """People whose limit lies in (low, high]: how many, the sum of their limits, and the sum of squares."""

    low: float
    high: float
    count: int
    total: float
    squares: float


@dataclass(frozen=True, repr=False)
class Description(Told):
    """At most 256 buckets of equal relative width; for the analyst's eyes only."""

    people: int
    zeros: int
    infinite: int
    buckets: tuple[Bucket, ...]

    @property
    def one_limit(self) -> float | None:
        """The limit of everyone, where all have the same; by the spread of the one bucket there then is."""
        if len(self.buckets) != 1 or self.buckets[0].count != self.people:
            return None
        limit = self.buckets[0].total / self.people
        alike = math.isclose(self.buckets[0].squares, self.people * limit**2, rel_tol=1e-12)
        return limit if alike else None

    def telling(self) -> Telling:
        """Count people, and never say where anyone's limit lies."""
        lines = (
            ("people", f"{self.people:,}"),
            ("with limit 0", part(self.zeros, self.people)),
            ("without any limit", part(self.infinite, self.people)),
            ("groups of near limits", f"{len(self.buckets):,}: .buckets, for the analyst's eyes only"),
        )
        return Telling("Description of limits", lines)

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, for JSON."""
        rows = [[b.low, b.high, b.count, b.total, b.squares] for b in self.buckets]
        return {"people": self.people, "zeros": self.zeros, "infinite": self.infinite, "buckets": rows}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Description:
        """Read back what `as_dict` wrote."""
        buckets = tuple(Bucket(*row) for row in record["buckets"])
        return cls(record["people"], record["zeros"], record["infinite"], buckets)


def describe(agents: Agents, *, variance: float | None = None, data_variance: float | None = None) -> Description:
    """Bucket the limits (quasi-linear: the limits at a promised variance) in one pass.

    >>> from optin.agents import PrivacyConstrained
    >>> [b.count for b in describe(PrivacyConstrained([0, 1, 4, 9, 9])).buckets]
    [1, 1, 2]
    """
    table = agents.table() if isinstance(agents, Constrained) else _table_at(agents, variance, data_variance)
    outline = table.buckets()
    counts = np.diff(outline.counts, prepend=float(table.zeros))
    group = max(math.ceil(len(counts) / MOST), 1)
    totals, squares = np.diff(outline.totals, prepend=0.0), np.diff(outline.squares, prepend=0.0)
    rows = []
    for start in range(0, len(counts), group):
        part = slice(start, start + group)
        count = round(float(counts[part].sum()))
        if count:
            high = float(outline.edges[part][-1])
            low = float(outline.edges[start - 1]) if start else math.nextafter(table.least, 0.0)
            rows.append(Bucket(low, high, count, float(totals[part].sum()), float(squares[part].sum())))
    return Description(len(agents), table.zeros, table.infinite, tuple(rows))


def _table_at(agents: Weighing, variance: float | None, data_variance: float | None) -> LimitTable:
    if variance is None:
        raise BadInput("quasi-linear people have limits only at a variance; give variance=plan.promised_variance")
    return agents.table_at(variance, data_variance=data_variance)
