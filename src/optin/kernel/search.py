"""Exclusion from the left (E10): decide range after range, down to the resolution a black-box benefit allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from optin.kernel.pieces import Outline, Pieces
from optin.kernel.pricing import AtReach, OverNoise, Pricing

FINEST = 2.0**-30
BUDGET = 1_000_000  # calls of a benefit in one search; what is left then is undecided

Point = tuple[float, float, float, float]  # y, people above it, and the sums T, Q at or below it


@dataclass(frozen=True)
class Gain:
    """The benefit beyond the outside option as a function of the unit variance; ``line`` = (base, slope) if linear."""

    at: Callable[[float], float]
    line: tuple[float, float] | None = None


@dataclass(frozen=True)
class Crossing:
    """The smallest design that people accept: y, its variance (units of R^2), and the surplus that carries it."""

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
    budget: int = BUDGET

    @property
    def undecided(self) -> bool:
        """Whether a design well before the crossing (or any, without one) was neither accepted nor excluded."""
        return self.doubt < (self.crossing.y / 1.001 if self.crossing else math.inf)

    def doubts(self, y: float) -> None:
        """Remember the first design that could not be decided."""
        self.doubt = min(self.doubt, y)


class Edges:
    """Rising y with the sums at each, from 0 to infinity."""

    def __init__(self, table: Outline | Pieces, people: int) -> None:
        edges = [np.asarray(x, dtype=np.float64) for x in (table.edges, table.counts, table.totals, table.squares)]
        if isinstance(table, Outline) and (len(edges[0]) == 0 or edges[0][0] > 0):  # pieces start where they start
            edges = [np.concatenate(([0.0], x)) for x in edges]
        self.y = np.concatenate((edges[0], [math.inf]))
        self.above = people - np.append(edges[1], edges[1][-1])
        self.total = np.append(edges[2], edges[2][-1])
        self.squares = np.append(edges[3], edges[3][-1])

    def __len__(self) -> int:
        return len(self.y) - 1

    def __getitem__(self, j: int) -> Point:
        return float(self.y[j]), float(self.above[j]), float(self.total[j]), float(self.squares[j])


def open_runs(edges: Edges, pricing: Pricing, gain: Gain, search: Search) -> Iterator[tuple[int, int]]:
    """Yield, from the left, the neighbouring edges between which a solution may lie, trying long runs first."""
    stack = [(0, len(edges))]
    while stack:
        first, last = stack.pop()
        if _excluded(pricing, gain, edges[first], edges[last], search):
            continue
        if last - first == 1:
            yield first, last
        else:
            middle = (first + last) // 2
            stack += [(middle, last), (first, middle)]


def _excluded(
    pricing: Pricing, gain: Gain, left: Point, right: Point,
    search: Search,
) -> bool:  # fmt: skip
    """No y in the range is accepted if the gain at its left end is below the price at its right end (E10)."""
    search.evaluations += 1
    price = pricing.price(*right) if right[0] < math.inf else _last_price(pricing, right)
    gained = gain.at(pricing.variance(*left))
    return gained < price or (gained <= 0 and price == 0)


def _last_price(pricing: Pricing, right: Point) -> float:
    """Return the price as y grows without end: nothing, unless everyone already stands at their limit."""
    _, above, total, _ = right
    return pricing.price(*right) if isinstance(pricing, AtReach) and above == 0 and total > 0 else 0.0


def crossing_at(y: float, above: float, total: float, squares: float, pricing: Pricing) -> Crossing:
    """Name the variance and the price of the design y."""
    return Crossing(y, pricing.variance(y, above, total, squares), pricing.price(y, above, total, squares))


def in_piece(left: Point, high: float, pricing: Pricing, gain: Gain, search: Search) -> Crossing | None:
    """Exclude and subdivide one piece from the left until a crossing shows or the resolution is reached."""
    low, *sums = left
    above, total, squares = sums
    if isinstance(pricing, OverNoise) and total == 0:
        return None
    stack = [(low, high)]
    while stack and search.evaluations < search.budget:
        a, b = stack.pop()
        if _excluded(pricing, gain, (a, above, total, squares), (b, above, total, squares), search):
            continue
        if b - a > search.finest * b or math.isinf(b):
            middle = _between(a, b)
            if middle < b and a < 1e300:
                stack += [(middle, b), (a, middle)]
            continue
        crossing = _resolve(a, b, (above, total, squares), pricing, gain, search)
        if crossing is not None:
            return crossing
    if stack:
        search.doubts(stack[-1][0])
    return None


def _between(a: float, b: float) -> float:
    if math.isinf(b):
        return 4.0 * a if a > 0 else 1.0
    return math.sqrt(a) * math.sqrt(b) if 0 < a < b / 4 else a + (b - a) / 2


def _resolve(
    a: float, b: float, sums: tuple[float, float, float], pricing: Pricing, gain: Gain, search: Search
) -> Crossing | None:
    """Decide a range at the finest width: a crossing inside it, a jump that lands on itself, or neither for sure."""

    def accepted(y: float) -> bool:
        return gain.at(pricing.variance(y, *sums)) >= pricing.price(y, *sums)

    y = _first_true(accepted, a, b) if accepted(b) else a
    surplus = gain.at(pricing.variance(y, *sums))
    landed = max(pricing.y_of(surplus, *sums), a) if surplus > 0 else math.inf
    if landed > b * (1 + search.finest):
        search.doubts(a)
        return None
    after = gain.at(pricing.variance(landed, *sums))
    # Right of a crossing the benefit may only fall by rounding; without one, only a benefit that stays put will do.
    if after >= surplus * (1 - 1e-9 if accepted(b) else 1):
        return crossing_at(landed if not accepted(b) or after == surplus else y, *sums, pricing)
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
