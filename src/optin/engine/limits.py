"""Limits in an engine, answered by a few queries: the second form of the kernel's `Limits`.

The first scan counts and adds up in buckets, so that every later one fetches only the people of a bucket or two. What is
compared is compared as float64 with exact bounds; whether the buckets were formed as expected is checked against counts, and
where they were not, one more query adds up what lies below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.engine.survey import Survey, survey
from optin.kernel.pieces import Array, Outline, Pieces, Sums

if TYPE_CHECKING:
    from ibis.expr import types as ir

SMALL = 1 << 13
SHARE = 32  # at most one in so many people is fetched


class EngineLimits:
    """A column of limits that stays where it is; ``scale`` and ``ceiling`` as in the kernel's form for arrays."""

    def __init__(
        self, rows: Rows, limit: ir.FloatingColumn, *, scale: float = 1.0, ceiling: float = math.inf,
        seen: Callable[[], Survey] | None = None, fetched: list[Pieces] | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.scale, self.ceiling = rows, scale, ceiling
        self._limit = limit if scale == 1.0 else limit * literal(scale)
        self._seen = seen or (lambda: survey(rows.session, self._limit, about=rows.source))
        self._fetched = [] if fetched is None else fetched
        self._add_up = rows.session.dialect.steady_sum

    @cached_property
    def survey(self) -> Survey:
        """The full survey, made once."""
        return self._seen().up_to(self.ceiling)

    def __len__(self) -> int:
        return self.survey.people

    glanced = False

    @property
    def few_enough(self) -> int:
        """How many distinct limits may be fetched at once."""
        return max(SMALL, len(self) // SHARE)

    @property
    def least(self) -> float:
        """The smallest positive limit, to three digits."""
        return self.survey.least

    @property
    def zeros(self) -> int:
        """How many limits are zero."""
        return self.survey.zeros

    @property
    def infinite(self) -> int:
        """How many limits are infinite."""
        return self.survey.infinite

    def buckets(self) -> Outline:
        """Return the sums of the first scan."""
        return self.survey.outline()

    def outline(self, low: float, high: float) -> Outline:
        """Return those of its sums that lie inside (low, high)."""
        return self.buckets().between(low, high)

    def sums(self, bound: float) -> Sums:
        """Add up the limits at or below ``bound``: from what is known, or by fetching the bucket it lies in."""
        known = self._known(min(bound, self.survey.most))
        return self._around(bound).sums_at(bound) if known is None else known

    def counts_at(self, bounds: Array) -> NDArray[np.int64]:
        """Count the limits at or below each of a few rising bounds by one query."""
        table = self._limit.name("tau").as_table()
        counts = {f"n{at}": (table.tau <= literal(float(bound))).sum() for at, bound in enumerate(bounds)}
        row = self.rows.session.one(table.agg(**counts), about=self.rows.source)
        return np.array([int(row[name] or 0) for name in counts], dtype=np.int64)

    def clipped_total(self, bound: float) -> float:
        """Add up min(limit, bound)."""
        below = self.sums(bound)
        above = len(self) - below.count
        return below.total + (above * bound if above else 0.0)

    def pieces(self, low: float, high: float) -> Pieces | None:
        """Fetch the distinct limits strictly between ``low`` and ``high``, unless there are too many."""
        return self._pieces(low, high, room=self.few_enough)

    def all_pieces(self, low: float, high: float) -> Pieces:
        """Do the same however many limits lie inside."""
        pieces = self._pieces(low, high, room=len(self))
        assert pieces is not None  # noqa: S101 - nobody can be more than everybody
        return pieces

    def _around(self, bound: float) -> Pieces:
        """Return the pieces that hold ``bound``, of its bucket alone unless one was fetched before."""
        for pieces in self._fetched:
            if pieces.low <= bound < pieces.high:
                return pieces
        edges = self.buckets().edges
        j = int(np.searchsorted(edges, bound, side="right"))
        low = float(edges[j - 1]) if j > 0 else 0.0
        return self.all_pieces(low, float(np.nextafter(edges[j], np.inf)))

    def _known(self, bound: float) -> Sums | None:
        """Return the sums at a bound that the first scan counted to, or None between its edges."""
        if bound <= 0:
            return Sums(self.zeros, 0.0, 0.0)
        outline = self.buckets()
        j = int(np.searchsorted(outline.edges, bound))
        if j == len(outline.edges) or outline.edges[j] != bound:
            return None
        return Sums(round(outline.counts[j]), float(outline.totals[j]), float(outline.squares[j]))

    def _pieces(self, low: float, high: float, *, room: int) -> Pieces | None:
        below, top = self._known(low), self._known(min(high, self.survey.most))
        if below is None:
            below = self._around(low).sums_at(low)
        values, repeats = self._distinct(low, high, room=room)
        if len(values) > room:
            return None
        if top is not None and top.count - below.count != repeats.sum():
            below = self._added_up(low)  # the engine rounds in its own way: its buckets are not ours
        inside = values < high
        pieces = Pieces(low, high, below, values[inside], repeats[inside], len(self))
        self._fetched.append(pieces)
        return pieces

    def _added_up(self, bound: float) -> Sums:
        """Add up the limits at or below a bound by a query of its own."""
        table = self._limit.name("tau").as_table()
        below = table.filter(table.tau <= literal(bound))
        add_up = self._add_up
        sums = below.agg(people=below.count(), total=add_up(below.tau), squares=add_up(below.tau * below.tau))
        row = self.rows.session.one(sums, about=self.rows.source)
        return Sums(int(row["people"]), float(row["total"] or 0.0), float(row["squares"] or 0.0))

    def _distinct(self, low: float, high: float, *, room: int) -> tuple[Array, NDArray[np.int64]]:
        """Fetch the distinct finite limits above ``low`` and at most ``high``, rising, and how often each occurs."""
        table = self._limit.name("tau").as_table()
        top = min(high, self.ceiling, np.finfo(float).max)
        near = table.filter((table.tau > literal(low)) & (table.tau <= literal(top)))
        query = near.group_by("tau").agg(people=near.count()).limit(room + 1)
        answer = self.rows.session.fetch(query, about=self.rows.source)
        values = answer.column("tau").to_numpy(zero_copy_only=False).astype(np.float64)
        order = np.argsort(values)
        return values[order], answer.column("people").to_numpy(zero_copy_only=False).astype(np.int64)[order]
