"""DuckDB's cheaper first scan: everything is validated and only a sample is sorted into ranks.

Grouping 10^8 limits costs DuckDB five plain scans, a sample less than one. The sample only proposes where the cap lies; the
second scan adds up exactly, and if the guess was wrong the buckets of the full survey are counted after all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optin.engine.limits import EngineLimits
from optin.engine.rows import Rows
from optin.engine.session import Session, literal
from optin.engine.survey import Survey
from optin.kernel.pieces import Array, Outline, Pieces, Sums

if TYPE_CHECKING:
    from ibis.expr import types as ir

STEPS = 226
SAMPLE = 1 << 17
UNSURE = 1  # step: five standard errors of a rank in such a sample, at every rank
RANKS = np.sin(np.pi * np.arange(1, STEPS) / (2 * STEPS)) ** 2
"""Shares of a sample, as far apart as a sample is unsure of each: DuckDB sorts it anew for every rank, so they are few."""
BETWEEN = np.diff(RANKS, prepend=0.0)
SHARE = 8  # one in so many people is few
MOSTLY = 8  # so many times more people below than inside: subtracting loses nothing
LARGE = 1e150  # sums above it need a closer look
FEW_DIGITS = 2.0**12  # so much larger, and twelve of 53 binary digits are lost
UNLIKE = 0.02  # a share of infinite limits so far from the counted one is no accident
MOST_ENDLESS = 0.9  # above that the sample says too little about the others


@dataclass(frozen=True)
class Glance:
    """How many people there are, whether some have no limit, what all limits add up to, and a sample's limits at `RANKS`.

    Nothing is missing, NaN, negative, or finite and extreme among them, and the sample looks like all of them.
    """

    people: int
    endless: bool
    total: float  # infinite as soon as one of them is; NaN where nobody asked
    ranks: Array

    def expected_below(self, bound: float) -> float:
        """Say about how many limits are below a bound."""
        return self.people * float(np.append(0.0, RANKS)[np.searchsorted(self.ranks, bound)])


def glance(session: Session, limit: ir.FloatingColumn, *, about: str) -> Glance | None:
    """Scan a column once, where the engine samples cheaply; None where it does not, or limits need the full survey."""
    sample_ranks = session.dialect.sample_ranks
    if sample_ranks is None:
        return None
    table = limit.name("tau").as_table()
    row = session.one(
        table.agg(
            people=table.count(),
            present=table.tau.count(),
            negative=(table.tau < literal(0.0)).sum(),
            extreme=(table.tau > literal(LARGE)).sum(),
            infinite=(table.tau == literal(math.inf)).sum(),
            total=table.tau.sum(),
            ranks=sample_ranks(table.tau, RANKS.tolist(), SAMPLE),
        ),
        about=about,
    )
    people, infinite, total = int(row["people"]), int(row["infinite"] or 0), float(row["total"] or 0.0)
    ranks = np.array(row["ranks"] or [], dtype=np.float64)
    valid = row["present"] == people > 0 and not row["negative"]
    plain = valid and row["extreme"] == infinite and (total < LARGE or infinite > 0)
    fair = plain and is_fair(ranks, total / people, infinite / people)
    return Glance(people, infinite > 0, total, ranks) if fair else None


def is_fair(ranks: Array, mean: float, infinite: float) -> bool:
    """Reject an unrepresentative sample by its mean or its share of infinite limits: DuckDB's is one where rows are sorted."""
    endless = float(BETWEEN @ np.isinf(ranks)) + float(1.0 - RANKS[-1]) * math.isinf(ranks[-1])
    if infinite:
        return abs(endless - infinite) < UNLIKE and endless < MOST_ENDLESS
    return bool(0.5 * mean <= float(BETWEEN @ ranks) <= 1.5 * mean)


class GlancedLimits(EngineLimits):
    """Limits known from a glance; the full survey is made only when someone asks for buckets."""

    glanced = True

    def __init__(
        self, rows: Rows, limit: ir.FloatingColumn, looked: Glance, *, seen: Callable[[], Survey], fetched: list[Pieces]
    ) -> None:
        super().__init__(rows, limit, seen=seen, fetched=fetched)
        self._glance = looked
        self._looked = False

    def __len__(self) -> int:
        return self._glance.people

    def outline(self, low: float, high: float) -> Outline:
        """Estimate from the sample, once; whoever asks again was misled by it and gets exact sums."""
        if self._looked:
            return super().outline(low, high)
        self._looked = True
        return self._estimate.between(low, high)

    @cached_property
    def _estimate(self) -> Outline:
        ranks = self._glance.ranks[np.isfinite(self._glance.ranks)]
        middle, people = (ranks + np.concatenate((ranks[:1], ranks[:-1]))) / 2, len(self) * BETWEEN[: len(ranks)]
        counts, totals, squares = (np.cumsum(people * middle**k) for k in range(3))
        return Outline(ranks, counts, totals, squares, exact=False, margin=UNSURE)

    def sums(self, bound: float) -> Sums:
        """Add up the limits at or below ``bound``: from what was fetched, or by a query of its own."""
        for pieces in self._fetched:
            if pieces.low <= bound < pieces.high:
                return pieces.sums_at(bound)
        return self._added_up(min(bound, np.finfo(float).max))

    def clipped_total(self, bound: float) -> float:
        """Add up min(limit, bound) = bound - (gap + |gap|) / 2 with gap = bound - limit, which needs no comparison.

        Where a limit is above the bound its two gaps cancel exactly, however large it is; an endless one would leave NaN. Where
        limits are far below the bound, too few of their digits would be left, and they are added up by themselves.
        """
        fetched = any(pieces.low <= bound < pieces.high for pieces in self._fetched)
        if fetched or self._glance.endless:
            return super().clipped_total(bound)
        table = self._limit.name("tau").as_table()
        gap = literal(bound) - table.tau
        row = self.rows.session.one(table.agg(gaps=self._add_up(gap + gap.abs())), about=self.rows.source)
        bounds = len(self) * bound
        clipped = bounds - float(row["gaps"]) / 2
        return clipped if bounds <= FEW_DIGITS * clipped else super().clipped_total(bound)

    def _pieces(self, low: float, high: float, *, room: int) -> Pieces | None:
        """Fetch the distinct limits inside, and in the same query add up those at or below ``low``."""
        for known in self._fetched:
            if (known.low, known.high) == (low, high):
                return known
        below, inside = self._expected(0.0, low), self._expected(low, high)
        few = MOSTLY * inside <= below and inside <= room
        pieces = self._listed(low, high) if few else self._grouped(low, high, room)
        if pieces is not None:
            self._fetched.append(pieces)
        return pieces

    def _expected(self, low: float, high: float) -> float:
        ranks = self._glance.ranks
        return len(self) * float(BETWEEN @ ((ranks > low) & (ranks < high)))

    def _listed(self, low: float, high: float) -> Pieces:
        """List the few inside and subtract them from all below ``high``: no group is formed.

        Where many are below, both parts of the query start at the table itself, which is cheaper than a list of some of many.
        """
        table, is_below = self._limit.name("tau").as_table(), self.rows.session.below
        near = table.filter(is_below(table.tau, high))
        sums = {"people": near.count(), "total": self._add_up(near.tau), "squares": self._add_up(near.tau * near.tau)}
        if math.isinf(high) or self._glance.expected_below(high) * SHARE <= len(self):
            query = near.agg(**sums, inside=near.tau.collect(where=~is_below(near.tau, low)))
        else:
            # By another name: what two parts of a query share, DuckDB would keep whole.
            again = self._limit.name("near").as_table()
            inside = again.filter(_around(again.near, low, high, is_below))
            query = near.agg(**sums).cross_join(inside.agg(inside=inside.near.collect()))
        answer = self.rows.session.fetch(query, about=self.rows.source)
        listed = np.sort(answer.column("inside").combine_chunks().flatten().to_numpy(zero_copy_only=False))
        listed = listed[np.searchsorted(listed, low, side="right") : np.searchsorted(listed, high)]
        values, repeats = counted(listed)
        people, total, squares = (answer.column(name)[0].as_py() or 0 for name in ("people", "total", "squares"))
        below = Sums(people - len(listed), total - float(listed.sum()), squares - float(listed @ listed))
        return Pieces(low, high, below, values, repeats, len(self))

    def _grouped(self, low: float, high: float, room: int) -> Pieces | None:
        """Group by limit, everyone at or below ``low`` together; however many are alike, they are one row."""
        import ibis

        table = self._limit.name("tau").as_table()
        near = table.filter(self.rows.session.below(table.tau, high))
        near = near.select(tau=near.tau, edge=ibis.ifelse(near.tau <= literal(low), literal(low), near.tau))
        distinct = near.group_by("edge").agg(
            people=near.count(), total=self._add_up(near.tau), squares=self._add_up(near.tau * near.tau)
        )
        answer = self.rows.session.fetch(distinct.order_by("edge").limit(room + 2), about=self.rows.source)
        if len(answer) > room + 1:
            return None
        values, people, totals, squares = (
            answer.column(name).to_numpy(zero_copy_only=False) for name in ("edge", "people", "total", "squares")
        )
        foot = int(len(values) > 0 and values[0] <= low)
        below = Sums(int(people[0]), float(totals[0]), float(squares[0])) if foot else Sums(0, 0.0, 0.0)
        return Pieces(low, high, below, values[foot:], people[foot:].astype(np.int64), len(self))


def counted(rising: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return distinct numbers and how often each occurs; most often all of them are distinct."""
    if (rising[1:] > rising[:-1]).all():
        return rising, np.ones(len(rising), dtype=np.int64)
    values, repeats = np.unique(rising, return_counts=True)
    return values, repeats.astype(np.int64)


def _around(
    tau: ir.FloatingColumn, low: float, high: float, is_below: Callable[[ir.FloatingColumn, float], ir.BooleanColumn]
) -> ir.BooleanColumn:
    """Tell whether a limit lies between two bounds, or next to one of them: a distance is compared once, and it is rounded."""
    middle = (low + high) / 2
    return is_below((tau - literal(middle)).abs(), high - middle + 4 * math.ulp(high))
