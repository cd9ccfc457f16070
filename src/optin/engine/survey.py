"""The first scan: limits counted and added up in buckets, and everything that may be wrong with them, in one query.

A bucket is named by its limits rounded to nine binary digits (of people in groups five, or eight), which two multiplications
and two subtractions of float64 do (Veltkamp's splitting): no logarithm, so that every engine forms the same buckets to the
last bit. Sums are taken of the distance to that name, which is exact and small: adding up 10^8 equal limits then loses nothing
that could be seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optin.engine.session import Session, literal
from optin.kernel.pieces import Array, Outline
from optin.tables.columns import LARGEST

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr import types as ir

DIGITS = 9
COARSE = 5  # of many groups: with more, there would be as many buckets as people
FINER = 8  # of groups of people who weigh costs: what lies between two edges is excluded only if they are near (E10)
HUGE = 1e294  # from about here on the rounding above overflows


@dataclass(frozen=True)
class Survey:
    """What one scan tells of a column: how many rows are unusable, zero or infinite, and buckets of all others."""

    people: int
    unusable: int  # missing, NaN or negative
    zeros: int
    infinite: int
    huge: int  # finite, and above all buckets
    names: Array
    counts: NDArray[np.int64]
    shifts: Array  # sum of (limit - name)
    gap_squares: Array  # sum of (limit - name)^2
    digits: int = DIGITS

    @property
    def least(self) -> float:
        """A float at or below the smallest positive limit, and in its bucket."""
        return float(_split_down(self.names[:1], self.digits)[0]) if len(self.names) else np.inf

    @property
    def most(self) -> float:
        """A float at or above the largest finite limit, and in its bucket."""
        if self.huge:
            return LARGEST
        return float(tops(self.names[-1:], self.digits)[0]) if len(self.names) else 0.0

    def outline(self) -> Outline:
        """Return the exact sums at the upper end of each bucket."""
        totals = self.counts * self.names + self.shifts
        squares = self.counts * self.names**2 + 2 * self.names * self.shifts + self.gap_squares
        counts = self.zeros + np.cumsum(self.counts, dtype=np.float64)
        return Outline(tops(self.names, self.digits), counts, np.cumsum(totals), np.cumsum(squares), exact=True)

    def up_to(self, ceiling: float) -> Survey:
        """Read everything above ``ceiling`` as infinite."""
        kept = self.names <= ceiling
        infinite = self.infinite + int(self.counts[~kept].sum()) + (self.huge if ceiling < LARGEST else 0)
        return replace(
            self,
            infinite=infinite,
            huge=0 if ceiling < LARGEST else self.huge,
            names=self.names[kept],
            counts=self.counts[kept],
            shifts=self.shifts[kept],
            gap_squares=self.gap_squares[kept],
        )


def survey(session: Session, limit: ir.FloatingColumn, *, about: str) -> Survey:
    """Scan a column once."""
    table = limit.name("tau").as_table()
    buckets = session.fetch(_bucketed(table, (), DIGITS), about=about)
    beyond = _beyond(session, table, (), about=about) if _is_beyond(buckets) else None
    return _read(buckets, beyond, DIGITS)


def surveys(session: Session, table: ir.Table, *, about: str, digits: int = COARSE) -> dict[str | None, Survey]:
    """Scan limits ``tau`` and the public labels beside them once; each label has a survey of its own people."""
    import pyarrow.compute as pc

    buckets = session.fetch(_bucketed(table, ("label",), digits), about=about)
    beyond = _beyond(session, table, ("label",), about=about) if _is_beyond(buckets) else None
    order = pc.sort_indices(buckets, sort_keys=[("label", "ascending")])
    parts = buckets.take(order)
    labels = parts.column("label").to_pylist()
    edges = [at for at in range(len(labels)) if at == 0 or labels[at] != labels[at - 1]] + [len(labels)]
    return {labels[a]: _read(parts.slice(a, b - a), _of_label(beyond, labels[a]), digits) for a, b in pairwise(edges)}


def _bucketed(table: ir.Table, by: tuple[str, ...], digits: int) -> ir.Table:
    split = table.tau * literal(_factor(digits))
    named = table.select(*by, tau=table.tau, bucket=split - (split - table.tau))
    gap = named.tau - named.bucket
    return named.group_by(*by, "bucket").agg(people=named.count(), shift=gap.sum(), gap_squares=(gap * gap).sum())


def _is_beyond(buckets: pa.Table) -> bool:
    return bool(np.isnan(buckets.column("bucket").fill_null(-1.0).to_numpy(zero_copy_only=False)).any())


def _read(buckets: pa.Table, beyond: pa.Table | None, digits: int) -> Survey:
    """Take what a scan found: buckets in order, and apart from them what is unusable, zero, infinite or huge."""
    columns = {name: buckets.column(name).to_numpy(zero_copy_only=False) for name in ("people", "shift", "gap_squares")}
    missing = buckets.column("bucket").is_null().to_numpy(zero_copy_only=False)
    names = np.where(missing, -1.0, buckets.column("bucket").fill_null(-1.0).to_numpy(zero_copy_only=False))
    counts = columns["people"].astype(np.int64)
    large = int(counts[np.isnan(names)].sum())
    rows = [] if beyond is None else beyond.to_pylist()
    infinite = sum(int(row["infinite"] or 0) for row in rows)
    huge = sum(int(row["people"]) for row in rows) - infinite
    order = np.argsort(names)
    order = order[names[order] > 0]  # drops NaN, which sorts last and compares false
    return Survey(
        people=int(counts.sum()),
        unusable=int(counts[names < 0].sum()) + large - infinite - huge,
        zeros=int(counts[names == 0].sum()),
        infinite=infinite,
        huge=huge,
        names=names[order],
        counts=counts[order],
        shifts=columns["shift"][order],
        gap_squares=columns["gap_squares"][order],
        digits=digits,
    )


def _beyond(session: Session, table: ir.Table, by: tuple[str, ...], *, about: str) -> pa.Table:
    """Count infinite limits, and finite ones that no bucket holds; NaN, which engines take for the largest, is neither."""
    large = table.filter((table.tau > literal(HUGE)) & ~table.tau.isnan())
    sums = {"people": large.count(), "infinite": (large.tau == literal(math.inf)).sum()}
    return session.fetch(large.group_by(*by).agg(**sums) if by else large.agg(**sums), about=about)


def _of_label(beyond: pa.Table | None, label: str | None) -> pa.Table | None:
    """Keep what is beyond all buckets with one label."""
    import pyarrow.compute as pc

    return None if beyond is None else beyond.filter(pc.equal(beyond.column("label"), label))


def merged_surveys(labelled: Iterable[Survey]) -> Survey:
    """Put the surveys of several labels together."""
    parts = list(labelled)
    if len(parts) == 1:
        return parts[0]
    counts = {name: sum(getattr(each, name) for each in parts) for name in _COUNTS}
    names, place = np.unique(np.concatenate([each.names for each in parts]), return_inverse=True)

    def added_up(name: str) -> NDArray[Any]:
        column = np.concatenate([getattr(each, name) for each in parts])
        sums = np.zeros(len(names), dtype=column.dtype)
        np.add.at(sums, place, column)
        return sums

    columns = {name: added_up(name) for name in ("counts", "shifts", "gap_squares")}
    added: dict[str, Any] = {**counts, "names": names, **columns, "digits": parts[0].digits}
    return Survey(**added)


_COUNTS = ("people", "unusable", "zeros", "infinite", "huge")


def _factor(digits: int) -> float:
    return 2.0 ** (53 - digits) + 1.0


def split(numbers: Array, digits: int = DIGITS) -> Array:
    """Round to so many binary digits, by the steps that engines take."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * _factor(digits)
        return np.asarray(scaled - (scaled - numbers))


def tops(names: Array, digits: int = DIGITS) -> Array:
    """Return the largest float of each bucket: the middle to the next one, or the float before where that is rounded up."""
    middle = names + np.ldexp(1.0, np.frexp(names)[1] - 1 - digits)
    return np.asarray(np.where(split(middle, digits) <= names, middle, np.nextafter(middle, 0.0)))


def _split_down(names: Array, digits: int) -> Array:
    """Return the smallest float of each bucket, or a little less."""
    return np.asarray(names * (1.0 - 2.0**-digits))
