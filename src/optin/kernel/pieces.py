"""Limits in pieces: sorted breakpoints with exact sums of everything at or below each.

All designs of optin have the form eps = min(limit, x) (E2), so every quantity of a design is a function of the cap x and of
three sums over the limits below it. Between two neighbouring limits these sums do not change: a *piece*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """How many limits lie at or below a bound, their sum and their sum of squares."""

    count: int
    total: float
    squares: float


@dataclass(frozen=True)
class Outline:
    """Estimated sums at rising edges; ``exact`` where an engine counted instead of sampling.

    ``margin`` is how many edges an estimate may be off; None where every edge is one member of a sample.
    """

    edges: Array
    counts: Array
    totals: Array
    squares: Array
    exact: bool
    margin: int | None = None

    def between(self, low: float, high: float) -> Outline:
        """Keep the edges strictly inside (low, high)."""
        kept = (self.edges > low) & (self.edges < high)
        edges, counts, totals, squares = self.edges[kept], self.counts[kept], self.totals[kept], self.squares[kept]
        return Outline(edges, counts, totals, squares, self.exact, self.margin)

    def sums_at(self, bound: float) -> Sums:
        """Estimate the sums over limits at or below ``bound``."""
        j = int(np.searchsorted(self.edges, bound, side="right")) - 1
        if j < 0:
            return Sums(0, 0.0, 0.0)
        return Sums(int(self.counts[j]), float(self.totals[j]), float(self.squares[j]))


@dataclass(frozen=True)
class Pieces:
    """The pieces of the range [low, high]: sums below it, and the distinct limits strictly inside, rising, with counts.

    Ties at ``high`` may be left out: at x = high they add nothing to any height and ``high`` each to the sum of epsilons,
    whether counted below or above.
    """

    low: float
    high: float
    below: Sums
    inside: Array = field(repr=False)
    repeats: NDArray[np.int64] = field(repr=False)
    people: int

    @cached_property
    def edges(self) -> Array:
        """Where pieces begin: ``low``, then every distinct limit inside."""
        return np.concatenate(([self.low], self.inside))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many limits lie at or below each edge."""
        return self.below.count + np.concatenate(([0], np.cumsum(self.repeats)))

    @cached_property
    def totals(self) -> Array:
        """The sum of the limits at or below each edge."""
        return np.cumsum(np.concatenate(([self.below.total], self.inside * self.repeats)))

    @cached_property
    def squares(self) -> Array:
        """The sum of their squares."""
        return np.cumsum(np.concatenate(([self.below.squares], self.inside * self.inside * self.repeats)))

    @cached_property
    def heights(self) -> Array:
        """Evaluate the left side of E1 at every edge, added up from gaps so that nothing cancels."""
        first = max(self.low * self.below.total - self.below.squares, 0.0)
        return first + np.concatenate(([0.0], np.cumsum(self.totals[:-1] * np.diff(self.edges))))

    @cached_property
    def reaches(self) -> Array:
        """Evaluate sum_i min(limit_i, edge) at every edge."""
        return self.totals + (self.people - self.counts) * self.edges

    def piece(self, x: float) -> int:
        """Return the number of the piece that holds x."""
        return max(int(np.searchsorted(self.edges, x, side="right")) - 1, 0)

    def sums_at(self, bound: float) -> Sums:
        """Return the sums over limits at or below a bound inside [low, high]."""
        j = self.piece(bound)
        return Sums(int(self.counts[j]), float(self.totals[j]), float(self.squares[j]))

    def section(self, first: int, last: int) -> Pieces:
        """Return the pieces from ``first`` up to, not including, ``last``."""
        foot = Sums(int(self.counts[first]), float(self.totals[first]), float(self.squares[first]))
        high = float(self.edges[last]) if last < len(self.edges) else self.high
        return Pieces(
            float(self.edges[first]),
            high,
            foot,
            self.inside[first : last - 1],
            self.repeats[first : last - 1],
            self.people,
        )

    def sums_under(self, bound: float) -> Sums:
        """Return the sums over limits strictly below a bound in (low, high]."""
        j = max(int(np.searchsorted(self.edges, bound, side="left")) - 1, 0)
        return Sums(int(self.counts[j]), float(self.totals[j]), float(self.squares[j]))


class Limits(Protocol):
    """What the kernel asks of a table of limits, wherever it is kept."""

    @property
    def glanced(self) -> bool:
        """Whether no more than a sample was looked at, so that buckets would cost a pass of their own."""

    @property
    def few_enough(self) -> int:
        """How many limits are few enough to be taken whole."""

    def __len__(self) -> int:
        """Return the number of people."""

    def outline(self, low: float, high: float) -> Outline:
        """Estimate or count the sums at a few thousand edges strictly inside (low, high)."""

    def sums(self, bound: float) -> Sums:
        """Return the exact sums over limits at or below ``bound``."""

    def counts_at(self, bounds: Array) -> NDArray[np.int64]:
        """Count the limits at or below each of a few rising bounds, exactly and in one pass."""

    def clipped_total(self, bound: float) -> float:
        """Return the sum of min(limit, bound)."""

    def pieces(self, low: float, high: float) -> Pieces | None:
        """Return the exact pieces of [low, high], or None if too many limits lie inside."""

    def all_pieces(self, low: float, high: float) -> Pieces:
        """Return the exact pieces of [low, high], however many limits lie inside."""

    def buckets(self) -> Outline:
        """Return exact sums at the edges of logarithmic buckets over all finite positive limits."""
