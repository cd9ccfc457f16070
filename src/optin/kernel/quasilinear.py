"""E9–E11: the least fixed point for a common benefit, by exclusion from the left.

The search keeps one promise: everything to the left of what it returns was excluded, by the bound of `offers` on whole
ranges, by the signs of a cubic on a piece (linear benefit), or down to a resolution (a benefit known only by calling it).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from optin.kernel.cap import SumsAt, ladder_around
from optin.kernel.crossing import first_root
from optin.kernel.ladder import Ladder, Limits, Outline
from optin.kernel.noise import noise_variance
from optin.kernel.offers import AtReach, ByVariance, Noised, Offers
from optin.kernel.search import BUDGET, FINEST, Crossing, Edges, Gain, Search, in_piece, offer_at, open_runs

__all__ = ["Crossing", "Gain", "Noised", "Search", "least_crossing", "offer_table"]

RUN = 32
BLOCK = 8192
MEDIUM = 1 << 17


def least_crossing(
    limits: Limits,
    gain: Gain,
    noise: Noised,
    *,
    table: Outline | Ladder | None = None,
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
    offers = noise.offers()
    if table is None and limits.glanced:
        near = _near_the_best_gain(limits, offers, gain, replace(search))
        if near is not None:
            return near
    table = offer_table(limits) if table is None else table
    for ladder in _ladders(limits, table, offers, gain, search):
        search.crossing = _in_ladder(ladder, offers, gain, search)
        if search.crossing is not None:
            return search
    free = len(limits) - int(table.counts[-1]) if len(table.edges) else len(limits)
    search.crossing = _only_free(noise.copies * free, gain, noise)
    return search


def _near_the_best_gain(limits: Limits, offers: Offers, gain: Gain, search: Search) -> Search | None:
    """Look only around where the price falls to what people gain at the least variance of all; None if nothing is decided.

    Nowhere is the variance below that of equal weights, so no y is accepted whose price is above the gain there (E10). The
    price falls: exact sums at one place exclude all that is left of it, and with many people it is nearly the solution.
    """
    people = len(limits)
    best = gain.at(offers.variance(0.0, people, 0.0, 0.0))
    if not best > 0:
        return None

    def beyond(y: float, sums_at: SumsAt) -> bool:
        sums = sums_at(y)
        return offers.price(y, people - sums.count, sums.total, sums.squares) <= best

    search.crossing = _in_ladder(ladder_around(limits, beyond), offers, gain, search)
    return search if search.crossing is not None and not search.undecided else None


def offer_table(limits: Limits) -> Outline | Ladder:
    """Return exact sums at rising edges: every limit of a small table, buckets of a large one."""
    if len(limits) <= limits.whole:
        return limits.whole_ladder(0.0, math.inf)
    few_levels = limits.ladder(0.0, math.inf) if len(limits) <= MEDIUM else None
    return limits.buckets() if few_levels is None else few_levels


def _ladders(limits: Limits, table: Outline | Ladder, offers: Offers, gain: Gain, search: Search) -> Iterator[Ladder]:
    """Yield, from the left, ladders over the ranges that the bound does not exclude."""
    if isinstance(table, Ladder):
        yield table
        return
    pending: list[tuple[float, float]] = []
    for low, high in _open_ranges(Edges(table, len(limits)), offers, gain, search):
        if pending and (low > pending[-1][1] or len(pending) >= RUN):
            yield from _fetched(limits, pending)
            pending = []
        pending.append((low, high))
    if pending:
        yield from _fetched(limits, pending)


def _fetched(limits: Limits, ranges: list[tuple[float, float]]) -> Iterator[Ladder]:
    low, high = ranges[0][0], ranges[-1][1]
    ladder = limits.ladder(low, high) if len(ranges) > 1 else limits.whole_ladder(low, high)
    if ladder is not None:
        yield ladder
    else:
        for one in ranges:
            yield limits.whole_ladder(*one)


def _open_ranges(edges: Edges, offers: Offers, gain: Gain, search: Search) -> Iterator[tuple[float, float]]:
    """Yield the ranges between neighbouring edges that may hold a solution, trying long runs first."""
    for first, last in open_runs(edges, offers, gain, search):
        yield float(edges.y[first]), float(edges.y[last])


def _in_ladder(ladder: Ladder, offers: Offers, gain: Gain, search: Search) -> Crossing | None:
    """Return the first solution inside; so far out that the surplus rounds to nothing, the offer is the one without noise."""
    found = _first_in_ladder(ladder, offers, gain, search)
    return found if found is not None and found.variance < math.inf and gain.at(found.variance) > 0 else None


def _first_in_ladder(ladder: Ladder, offers: Offers, gain: Gain, search: Search) -> Crossing | None:
    if gain.line is not None:
        return _by_polynomial(ladder, offers, gain, gain.line)
    edges = Edges(ladder, ladder.people)
    if ladder.high < math.inf:
        edges.y[-1] = ladder.high
    for first, last in open_runs(edges, offers, gain, search):
        found = in_piece(edges[first], float(edges.y[last]), offers, gain, search)
        if found is not None:
            return found
    return None


def _by_polynomial(ladder: Ladder, offers: Offers, gain: Gain, line: tuple[float, float]) -> Crossing | None:
    start = int(np.searchsorted(ladder.totals, 0.0, side="right"))  # below the least t everyone is treated alike
    if start > 0 and isinstance(offers, AtReach):
        alike = _treated_alike(ladder, start, offers, gain)
        if alike is not None:
            return alike
    for first in range(start, len(ladder.edges), BLOCK):
        found = _first_in(ladder.section(first, min(first + BLOCK, len(ladder.edges))), offers, line)
        if found is not None:
            return found
    return None


def _first_in(section: Ladder, offers: Offers, line: tuple[float, float]) -> Crossing | None:
    found = first_root(*offers.polynomial(section, *line))
    if found is None:
        return None
    piece, variable = found
    above = float(section.people - section.counts[piece])
    total, squares = float(section.totals[piece]), float(section.squares[piece])
    return offer_at(offers.y_at(variable, total, squares), above, total, squares, offers)


def _treated_alike(ladder: Ladder, start: int, offers: AtReach, gain: Gain) -> Crossing | None:
    """At a given eta equal weights may already be acceptable: then y is below the least t."""
    above = float(ladder.people - ladder.counts[start - 1])
    least = float(ladder.edges[start]) if start < len(ladder.edges) else ladder.high
    surplus = gain.at(offers.variance(0.0, above, 0.0, 0.0)) if above else -math.inf
    if surplus <= 0 or offers.y_of(surplus, above, 0.0, 0.0) > least:
        return None
    return offer_at(offers.y_of(surplus, above, 0.0, 0.0), above, 0.0, 0.0, offers)


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
    offers = ByVariance(kappa, copies * finite.total)
    one = np.ones(1)
    edges = Edges(Outline(edges=1e-300 * one, counts=0 * one, totals=one, squares=0 * one, exact=True), 0)
    for first, last in open_runs(edges, offers, gain, search):
        found = in_piece(edges[first], float(edges.y[last]), offers, gain, search)
        if found is not None:
            return replace(found, y=math.inf)
    return None
