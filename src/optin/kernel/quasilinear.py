"""E9–E11: the least fixed point for a common benefit, by exclusion from the left.

The search keeps one promise: everything to the left of what it returns was excluded, by the bound of `pricing` on whole
ranges, by the signs of a cubic on a piece (linear benefit), or down to a resolution (a benefit known only by calling it).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from optin.kernel.cap import SumsAt, pieces_around
from optin.kernel.crossing import first_root
from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Limits, Outline, Pieces
from optin.kernel.pricing import AtReach, ByVariance, Noised, Pricing
from optin.kernel.search import BUDGET, FINEST, Crossing, Edges, Gain, Search, crossing_at, in_piece, open_runs

RUN = 32
BLOCK = 8192
MEDIUM = 1 << 17


def least_crossing(
    limits: Limits,
    gain: Gain,
    noise: Noised,
    *,
    table: Outline | Pieces | None = None,
    finest: float = FINEST,
    budget: int = BUDGET,
) -> Search:
    """Find the smallest y whose gain covers its price; ``limits`` are t = 1/c.

    >>> from optin.kernel.passes import ArrayLimits
    >>> gain = Gain(lambda v: 3.5 - 2 * v, line=(3.5, 2.0))
    >>> round(least_crossing(ArrayLimits(np.array([1.0])), gain, Noised(0.25, 2.0)).crossing.variance, 12)
    0.75
    """
    search = Search(finest=finest, budget=budget)
    if noise.spread == 0 and noise.reach is None:
        search.crossing = _without_spread(limits, gain, kappa=noise.kappa, copies=noise.copies, search=search)
        return search
    pricing = noise.pricing()
    if table is None and limits.glanced:
        near = _near_the_best_gain(limits, pricing, gain, replace(search))
        if near is not None:
            return near
    table = sums_at_edges(limits) if table is None else table
    for pieces in _open_pieces(limits, table, pricing, gain, search):
        search.crossing = _in_pieces(pieces, pricing, gain, search)
        if search.crossing is not None:
            return search
    free = len(limits) - int(table.counts[-1]) if len(table.edges) else len(limits)
    search.crossing = _only_free(noise.copies * free, gain, noise)
    return search


def _near_the_best_gain(limits: Limits, pricing: Pricing, gain: Gain, search: Search) -> Search | None:
    """Look only around where the price falls to what people gain at the least variance of all; None if nothing is decided.

    Nowhere is the variance below that of equal weights, so no y is accepted whose price is above the gain there (E10). The
    price falls: exact sums at one place exclude all that is left of it, and with many people it is nearly the solution.
    """
    people = len(limits)
    best = gain.at(pricing.variance(0.0, people, 0.0, 0.0))
    if not best > 0:
        return None

    def beyond(y: float, sums_at: SumsAt) -> bool:
        sums = sums_at(y)
        return pricing.price(y, people - sums.count, sums.total, sums.squares) <= best

    search.crossing = _in_pieces(pieces_around(limits, beyond), pricing, gain, search)
    return search if search.crossing is not None and not search.undecided else None


def sums_at_edges(limits: Limits) -> Outline | Pieces:
    """Return exact sums at rising edges: every limit of a small table, buckets of a large one."""
    if len(limits) <= limits.few_enough:
        return limits.all_pieces(0.0, math.inf)
    few_pieces = limits.pieces(0.0, math.inf) if len(limits) <= MEDIUM else None
    return limits.buckets() if few_pieces is None else few_pieces


def _open_pieces(
    limits: Limits, table: Outline | Pieces, pricing: Pricing, gain: Gain, search: Search
) -> Iterator[Pieces]:
    """Yield, from the left, the pieces of the ranges that the bound does not exclude."""
    if isinstance(table, Pieces):
        yield table
        return
    pending: list[tuple[float, float]] = []
    for low, high in _open_ranges(Edges(table, len(limits)), pricing, gain, search):
        if pending and (low > pending[-1][1] or len(pending) >= RUN):
            yield from _fetched(limits, pending)
            pending = []
        pending.append((low, high))
    if pending:
        yield from _fetched(limits, pending)


def _fetched(limits: Limits, ranges: list[tuple[float, float]]) -> Iterator[Pieces]:
    low, high = ranges[0][0], ranges[-1][1]
    pieces = limits.pieces(low, high) if len(ranges) > 1 else limits.all_pieces(low, high)
    if pieces is not None:
        yield pieces
    else:
        for one in ranges:
            yield limits.all_pieces(*one)


def _open_ranges(edges: Edges, pricing: Pricing, gain: Gain, search: Search) -> Iterator[tuple[float, float]]:
    """Yield the ranges between neighbouring edges that may hold a solution, trying long runs first."""
    for first, last in open_runs(edges, pricing, gain, search):
        yield float(edges.y[first]), float(edges.y[last])


def _in_pieces(pieces: Pieces, pricing: Pricing, gain: Gain, search: Search) -> Crossing | None:
    """Return the first solution inside; so far out that the surplus rounds to nothing, the design is the one without noise."""
    crossing = _first_in_pieces(pieces, pricing, gain, search)
    return (
        crossing if crossing is not None and crossing.variance < math.inf and gain.at(crossing.variance) > 0 else None
    )


def _first_in_pieces(pieces: Pieces, pricing: Pricing, gain: Gain, search: Search) -> Crossing | None:
    if gain.line is not None:
        return _by_polynomial(pieces, pricing, gain, gain.line)
    edges = Edges(pieces, pieces.people)
    if pieces.high < math.inf:
        edges.y[-1] = pieces.high
    for first, last in open_runs(edges, pricing, gain, search):
        crossing = in_piece(edges[first], float(edges.y[last]), pricing, gain, search)
        if crossing is not None:
            return crossing
    return None


def _by_polynomial(pieces: Pieces, pricing: Pricing, gain: Gain, line: tuple[float, float]) -> Crossing | None:
    start = int(np.searchsorted(pieces.totals, 0.0, side="right"))  # below the least t everyone is treated alike
    if start > 0 and isinstance(pricing, AtReach):
        alike = _treated_alike(pieces, start, pricing, gain)
        if alike is not None:
            return alike
    for first in range(start, len(pieces.edges), BLOCK):
        crossing = _first_in(pieces.section(first, min(first + BLOCK, len(pieces.edges))), pricing, line)
        if crossing is not None:
            return crossing
    return None


def _first_in(section: Pieces, pricing: Pricing, line: tuple[float, float]) -> Crossing | None:
    root = first_root(*pricing.polynomial(section, *line))
    if root is None:
        return None
    piece, variable = root
    above = float(section.people - section.counts[piece])
    total, squares = float(section.totals[piece]), float(section.squares[piece])
    return crossing_at(pricing.y_at(variable, total, squares), above, total, squares, pricing)


def _treated_alike(pieces: Pieces, start: int, pricing: AtReach, gain: Gain) -> Crossing | None:
    """At a given eta equal weights may already be acceptable: then y is below the least t."""
    above = float(pieces.people - pieces.counts[start - 1])
    least = float(pieces.edges[start]) if start < len(pieces.edges) else pieces.high
    surplus = gain.at(pricing.variance(0.0, above, 0.0, 0.0)) if above else -math.inf
    if surplus <= 0 or pricing.y_of(surplus, above, 0.0, 0.0) > least:
        return None
    return crossing_at(pricing.y_of(surplus, above, 0.0, 0.0), above, 0.0, 0.0, pricing)


def _only_free(free: float, gain: Gain, noise: Noised) -> Crossing | None:
    """Offer weight only to people who lose nothing by it, when nobody else gains enough to bear any loss."""
    if free <= 0:
        return None
    variance = noise.spread / free + (0.0 if noise.reach is None else noise_variance(noise.kappa, noise.reach))
    return Crossing(math.inf, variance, 0.0) if gain.at(variance) >= 0 else None


def _without_spread(limits: Limits, gain: Gain, *, kappa: float, copies: float, search: Search) -> Crossing | None:
    """Solve sigma^2 = 0: everyone at their limit, V = kappa / (surplus T)^2, the least V whose gain covers its price."""
    finite = limits.sums(np.finfo(float).max)
    if finite.count < len(limits):
        return Crossing(math.inf, 0.0, 0.0) if gain.at(0.0) >= 0 else None
    if finite.total == 0:
        return None
    pricing = ByVariance(kappa, copies * finite.total)
    one = np.ones(1)
    edges = Edges(Outline(edges=1e-300 * one, counts=0 * one, totals=one, squares=0 * one, exact=True), 0)
    for first, last in open_runs(edges, pricing, gain, search):
        crossing = in_piece(edges[first], float(edges.y[last]), pricing, gain, search)
        if crossing is not None:
            return replace(crossing, y=math.inf)
    return None
