"""E9–E11: the least fixed point for a common benefit, by exclusion from the left.

The search keeps one promise: everything to the left of what it returns was excluded, by the bound of `offers` on whole
ranges, by the signs of a cubic on a piece (linear benefit), or down to a resolution (a benefit known only by calling it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from optin.kernel.crossing import first_root
from optin.kernel.ladder import Ladder, Limits, Outline
from optin.kernel.offers import AtReach, Offers, OverNoise

__all__ = ["Crossing", "Gain", "Search", "least_crossing"]

RUN = 32
FINEST = 2.0**-30
BUDGET = 2_000_000


@dataclass(frozen=True)
class Gain:
    """The benefit beyond the outside option as a function of the unit variance; ``line`` = (base, slope) if linear."""

    at: Callable[[float], float]
    line: tuple[float, float] | None = None


@dataclass(frozen=True)
class Crossing:
    """The smallest offer that people accept: y, its variance (units of R^2), and the surplus that carries it."""

    y: float
    variance: float
    price: float

    @property
    def cap(self) -> float:
        """The cap x = y B, without end where nobody is held back."""
        return self.y * self.price if self.y < math.inf else math.inf


@dataclass
class Search:
    """What a search learned: the crossing, and where a black-box benefit came too close to decide."""

    crossing: Crossing | None = None
    doubt: float = math.inf
    evaluations: int = 0
    finest: float = FINEST

    @property
    def undecided(self) -> bool:
        """Whether an offer well before the crossing (or any, without one) was neither accepted nor excluded."""
        return self.doubt < (self.crossing.y / 1.001 if self.crossing else math.inf)

    def doubts(self, y: float) -> None:
        """Remember the first offer that could not be decided."""
        self.doubt = min(self.doubt, y)


def least_crossing(
    limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None = None, copies: float = 1.0,
    table: Outline | Ladder | None = None, finest: float = FINEST,
) -> Search:  # fmt: skip
    """Find the smallest y whose gain covers its price; ``limits`` are t = 1/c, ``reach`` fixes eta.

    >>> from optin.kernel.passes import ArrayLimits
    >>> gain = Gain(lambda v: 3.5 - 2 * v, line=(3.5, 2.0))
    >>> least_crossing(ArrayLimits(np.array([1.0])), gain, spread=0.25, kappa=2.0).crossing.variance
    0.75
    """
    search = Search(finest=finest)
    if spread == 0 and reach is None:
        search.crossing = _without_spread(limits, gain, kappa=kappa, copies=copies, search=search)
        return search
    offers: Offers = OverNoise(spread, kappa, copies) if reach is None else AtReach(spread, kappa, reach, copies)
    table = offer_table(limits) if table is None else table
    for ladder in _ladders(limits, table, offers, gain, search):
        found = _in_ladder(ladder, offers, gain, search)
        if found is not None:
            search.crossing = found
            return search
    search.crossing = _noiseless(limits, table, gain, spread=spread, copies=copies) if reach is None else None
    return search


def offer_table(limits: Limits) -> Outline | Ladder:
    """Return exact sums at rising edges: every limit of a small table, buckets of a large one."""
    if len(limits) <= limits.whole:
        return limits.whole_ladder(0.0, math.inf)
    return limits.buckets()


def _ladders(limits: Limits, table: Outline | Ladder, offers: Offers, gain: Gain, search: Search) -> Iterator[Ladder]:
    """Yield, from the left, ladders over the ranges that the bound does not exclude."""
    if isinstance(table, Ladder):
        yield table
        return
    pending: list[tuple[float, float]] = []
    for low, high in _open_ranges(_Edges(table, len(limits)), offers, gain, search):
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


class _Edges:
    """Rising y with the sums at each, from 0 to infinity."""

    def __init__(self, table: Outline | Ladder, people: int) -> None:
        edges = [np.asarray(x, dtype=np.float64) for x in (table.edges, table.counts, table.totals, table.squares)]
        if len(edges[0]) == 0 or edges[0][0] > 0:
            edges = [np.concatenate(([0.0], x)) for x in edges]
        self.y = np.concatenate((edges[0], [math.inf]))
        self.above = people - np.append(edges[1], edges[1][-1])
        self.total = np.append(edges[2], edges[2][-1])
        self.squares = np.append(edges[3], edges[3][-1])

    def __len__(self) -> int:
        return len(self.y) - 1

    def __getitem__(self, j: int) -> tuple[float, float, float, float]:
        return float(self.y[j]), float(self.above[j]), float(self.total[j]), float(self.squares[j])


def _open_ranges(edges: _Edges, offers: Offers, gain: Gain, search: Search) -> Iterator[tuple[float, float]]:
    """Yield the ranges between neighbouring edges that may hold a solution, trying long runs first."""
    for first, last in _open_runs(edges, offers, gain, search):
        yield float(edges.y[first]), float(edges.y[last])


def _open_runs(edges: _Edges, offers: Offers, gain: Gain, search: Search) -> Iterator[tuple[int, int]]:
    stack = [(0, len(edges))]
    while stack:
        first, last = stack.pop()
        if _excluded(offers, gain, edges[first], edges[last], search):
            continue
        if last - first == 1:
            yield first, last
        else:
            middle = (first + last) // 2
            stack += [(middle, last), (first, middle)]


def _excluded(
    offers: Offers, gain: Gain, left: tuple[float, float, float, float], right: tuple[float, float, float, float],
    search: Search,
) -> bool:  # fmt: skip
    """No y in the range is accepted if the gain at its left end is below the price at its right end (E10)."""
    search.evaluations += 1
    price = offers.price(*right) if right[0] < math.inf else _last_price(offers, right)
    gained = gain.at(offers.variance(*left))
    return gained < price or (gained <= 0 and price == 0)


def _last_price(offers: Offers, right: tuple[float, float, float, float]) -> float:
    """Return the price as y grows without end: nothing, unless everyone already stands at their limit."""
    _, above, total, _ = right
    return offers.price(*right) if isinstance(offers, AtReach) and above == 0 and total > 0 else 0.0


def _in_ladder(ladder: Ladder, offers: Offers, gain: Gain, search: Search) -> Crossing | None:
    if gain.line is not None:
        return _by_polynomial(ladder, offers, gain, gain.line)
    edges = _Edges(ladder, ladder.people)
    if ladder.high < math.inf:
        edges.y[-1] = ladder.high
    for first, last in _open_runs(edges, offers, gain, search):
        found = _in_piece(edges[first], float(edges.y[last]), offers, gain, search)
        if found is not None:
            return found
    return None


def _by_polynomial(ladder: Ladder, offers: Offers, gain: Gain, line: tuple[float, float]) -> Crossing | None:
    start = int(np.searchsorted(ladder.totals, 0.0, side="right"))  # below the least t everyone is treated alike
    if start > 0 and isinstance(offers, AtReach):
        alike = _treated_alike(ladder, start, offers, gain)
        if alike is not None:
            return alike
    if start == len(ladder.edges):
        return None
    ladder = ladder.from_piece(start)
    found = first_root(*offers.polynomial(ladder, *line))
    if found is None:
        return None
    piece, variable = found
    above = float(ladder.people - ladder.counts[piece])
    total, squares = float(ladder.totals[piece]), float(ladder.squares[piece])
    return _offer(offers.y_at(variable, total, squares), above, total, squares, offers)


def _treated_alike(ladder: Ladder, start: int, offers: AtReach, gain: Gain) -> Crossing | None:
    """At a given eta equal weights may already be acceptable: then y is below the least t."""
    above = float(ladder.people - ladder.counts[start - 1])
    least = float(ladder.edges[start]) if start < len(ladder.edges) else ladder.high
    surplus = gain.at(offers.variance(0.0, above, 0.0, 0.0)) if above else -math.inf
    if surplus <= 0 or offers.y_of(surplus, above, 0.0, 0.0) > least:
        return None
    return _offer(offers.y_of(surplus, above, 0.0, 0.0), above, 0.0, 0.0, offers)


def _offer(y: float, above: float, total: float, squares: float, offers: Offers) -> Crossing:
    return Crossing(y, offers.variance(y, above, total, squares), offers.price(y, above, total, squares))


def _in_piece(
    left: tuple[float, float, float, float], high: float, offers: Offers, gain: Gain, search: Search
) -> Crossing | None:
    """Exclude and subdivide one piece from the left until a crossing shows or the resolution is reached."""
    low, *sums = left
    above, total, squares = sums
    if isinstance(offers, OverNoise) and total == 0:
        return None
    stack = [(low, high)]
    while stack and search.evaluations < BUDGET:
        a, b = stack.pop()
        if _excluded(offers, gain, (a, above, total, squares), (b, above, total, squares), search):
            continue
        if b - a > search.finest * b or math.isinf(b):
            middle = _between(a, b)
            if middle < b and a < 1e300:
                stack += [(middle, b), (a, middle)]
            continue
        found = _resolve(a, b, (above, total, squares), offers, gain, search)
        if found is not None:
            return found
    if stack:
        search.doubts(stack[-1][0])
    return None


def _between(a: float, b: float) -> float:
    if math.isinf(b):
        return 4.0 * a if a > 0 else 1.0
    return math.sqrt(a) * math.sqrt(b) if 0 < a < b / 4 else a + (b - a) / 2


def _resolve(
    a: float, b: float, sums: tuple[float, float, float], offers: Offers, gain: Gain, search: Search
) -> Crossing | None:
    """Decide a range at the finest width: a crossing inside it, a jump that lands on itself, or neither for sure."""

    def accepted(y: float) -> bool:
        return gain.at(offers.variance(y, *sums)) >= offers.price(y, *sums)

    y = _first_true(accepted, a, b) if accepted(b) else a
    surplus = gain.at(offers.variance(y, *sums))
    landed = max(offers.y_of(surplus, *sums), a) if surplus > 0 else math.inf
    if landed > b * (1 + search.finest):
        search.doubts(a)
        return None
    after = gain.at(offers.variance(landed, *sums))
    # Right of a crossing the benefit may only fall by rounding; without one, only a benefit that stays put will do.
    if after >= surplus * (1 - 1e-9 if accepted(b) else 1):
        return _offer(landed if not accepted(b) or after == surplus else y, *sums, offers)
    search.doubts(a)
    return None


def _first_true(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect to the last bit between a point where ``holds`` fails (or is unknown) and one where it is true."""
    if holds(low):
        return low
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        low, high = (low, middle) if holds(middle) else (middle, high)


def _noiseless(limits: Limits, table: Outline | Ladder, gain: Gain, *, spread: float, copies: float) -> Crossing | None:
    """Offer no noise and weight only to people who lose nothing by it, if nothing else is accepted."""
    free = len(limits) - int(table.counts[-1]) if len(table.edges) else len(limits)
    if free <= 0:
        return None
    variance = spread / (copies * free)
    return Crossing(math.inf, variance, 0.0) if gain.at(variance) >= 0 else None


def _without_spread(limits: Limits, gain: Gain, *, kappa: float, copies: float, search: Search) -> Crossing | None:
    """Solve sigma^2 = 0: everyone at their limit, V = kappa / (surplus T)^2, the least V whose gain covers its price."""
    finite = limits.sums(np.finfo(float).max)
    if finite.count < len(limits):
        return Crossing(math.inf, 0.0, 0.0) if gain.at(0.0) >= 0 else None
    if finite.total == 0:
        return None
    offers = _ByVariance(kappa, copies * finite.total)
    one = np.ones(1)
    edges = _Edges(Outline(edges=1e-300 * one, counts=0 * one, totals=one, squares=0 * one, exact=True), 0)
    for first, last in _open_runs(edges, offers, gain, search):
        found = _in_piece(edges[first], float(edges.y[last]), offers, gain, search)
        if found is not None:
            return replace(found, y=math.inf)
    return None


@dataclass(frozen=True)
class _ByVariance:
    """Offers named by their variance itself, when there is no sampling error (sigma^2 = 0)."""

    kappa: float
    total: float

    def variance(self, y: float, above: float, total: float, squares: float) -> float:
        return y

    def price(self, y: float, above: float, total: float, squares: float) -> float:
        return math.sqrt(self.kappa / y) / self.total if y > 0 else math.inf

    def y_of(self, price: float, above: float, total: float, squares: float) -> float:
        return self.kappa / (price * self.total) / (price * self.total)

    def polynomial(self, ladder: Ladder, base: float, slope: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        raise AssertionError("never asked: without spread there is one piece, searched by calling the benefit")

    def y_at(self, variable: float, total: float, squares: float) -> float:
        return variable
