"""Limits by rank, wherever they are kept: the k-th smallest one, and sums over the k smallest of min(limit, cap).

Both follow from the buckets that a table counts once and from the limits of one bucket, so that a table in an engine answers
with the same numbers as an array, and nobody's row is fetched but as one of a bucket of distinct limits.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from optin.kernel.pieces import Limits, Pieces, Sums


class Ranked(Limits, Protocol):
    """A table that also knows how many limits are 0, and how many have no end."""

    @property
    def zeros(self) -> int:
        """How many limits are zero."""

    @property
    def infinite(self) -> int:
        """How many limits are infinite."""


def at_rank(table: Ranked, rank: int) -> float:
    """Return the ``rank``-th smallest limit, counted from 1.

    >>> from optin.kernel.passes import ArrayLimits
    >>> table = ArrayLimits(np.array([4.0, 0.0, 9.0, math.inf, 4.0]))
    >>> [at_rank(table, rank) for rank in range(1, 6)]
    [0.0, 4.0, 4.0, 9.0, inf]
    """
    if rank <= table.zeros:
        return 0.0
    if rank > len(table) - table.infinite:
        return math.inf
    bucket = int(np.searchsorted(table.buckets().counts, rank))
    pieces = bucket_at(table, bucket)
    while rank <= pieces.below.count:  # an engine may round an edge in its own way: look into the neighbour
        bucket -= 1
        pieces = bucket_at(table, bucket)
    while rank > pieces.counts[-1]:
        bucket += 1
        pieces = bucket_at(table, bucket)
    return float(pieces.edges[int(np.searchsorted(pieces.counts, rank))])


def bucket_at(table: Ranked, bucket: int) -> Pieces:
    """Return the distinct limits of one bucket, its upper edge included."""
    edges = table.buckets().edges
    low = float(edges[bucket - 1]) if bucket > 0 else 0.0
    return table.all_pieces(low, float(np.nextafter(edges[bucket], np.inf)))


def lowest(table: Ranked, number: int, cap: float) -> Sums:
    """Add up min(limit, cap) and its square over the ``number`` smallest limits.

    With e the smaller of the last limit and the cap, whoever lies at or below e is counted by the table's sums; of those, or
    beyond them, ``number`` are made up by people who give e.

    >>> from optin.kernel.passes import ArrayLimits
    >>> table = ArrayLimits(np.array([1.0, 4.0, 9.0, 9.0]))
    >>> lowest(table, 3, 5.0), lowest(table, 1, 5.0).total
    (Sums(count=3, total=10.0, squares=42.0), 1.0)
    """
    if number <= 0:
        return Sums(0, 0.0, 0.0)
    end = min(at_rank(table, number), cap)
    known = table.sums(end)
    more = number - known.count
    return Sums(number, known.total + more * end, known.squares + more * end * end)
