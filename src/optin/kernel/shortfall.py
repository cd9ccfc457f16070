"""How far the best design is from making people join, and how many more like them would do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optin.kernel.ladder import Ladder, Limits, Outline
from optin.kernel.offers import AtReach, Offers, OverNoise
from optin.kernel.quasilinear import Gain, least_crossing, offer_table

__all__ = ["fewest_copies", "shortfall"]

COARSE = 2.0**-16
MOST_COPIES = 2.0**50
ROUGH = 20_000


def shortfall(limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None) -> float:
    """Return the least price - gain over all offers: the benefit that the best design lacks (E10).

    The best edge of the table is found first, then the neighbourhood is searched closely; the smallest value seen is
    reported, so with that much more benefit the design seen is accepted.
    """
    if spread == 0 and reach is None:
        total = limits.sums(math.inf).total
        return _least(lambda v: math.sqrt(kappa / v) / total - gain.at(v), np.geomspace(1e-12, 1e12, 4097))
    offers: Offers = OverNoise(spread, kappa) if reach is None else AtReach(spread, kappa, reach)
    table = offer_table(limits)
    edges = np.asarray(table.edges, dtype=np.float64)
    edges = edges[edges > 0]
    free = len(limits) - int(table.counts[-1])
    noise = 0.0 if reach is None else kappa / reach / reach
    endless = -gain.at(spread / free + noise) if free else math.inf
    if len(edges) == 0:
        return endless
    between = np.geomspace(edges[0], edges[-1], 192) if isinstance(table, Ladder) else edges[:1]
    beyond = edges[-1] * np.geomspace(1.0, 2.0**40, 121)
    points = np.unique(np.concatenate((edges[:: max(len(edges) // 256, 1)], between, beyond)))
    lacks = [_lack(_sums(table, y), float(y), offers, gain, len(limits)) for y in points]
    best = int(np.argmin(lacks))
    low, high = float(points[max(best - 1, 0)]), float(points[min(best + 1, len(points) - 1)])
    near = limits.whole_ladder(low / 2 if best == 0 else low, math.nextafter(high, math.inf))
    close = _least(lambda y: _lack(_sums(near, y), y, offers, gain, len(limits)), np.linspace(low, high, 65))
    return min(close, lacks[best], endless)


def _sums(table: Outline | Ladder, y: float) -> tuple[int, float, float]:
    sums = table.sums_at(y)
    return sums.count, sums.total, sums.squares


def _lack(sums: tuple[int, float, float], y: float, offers: Offers, gain: Gain, people: int) -> float:
    count, total, squares = sums
    at = (y, float(people - count), total, squares)
    return offers.price(*at) - gain.at(offers.variance(*at))


def _least(lack: Callable[[float], float], points: np.ndarray) -> float:
    """Return the smallest value on a grid, refined around it until it stops improving."""
    best = math.inf
    for _ in range(8):
        values = [lack(float(y)) for y in points]
        j = int(np.argmin(values))
        if not values[j] < best:
            break
        best = values[j]
        points = np.linspace(points[max(j - 1, 0)], points[min(j + 1, len(points) - 1)], 33)
    return best


def fewest_copies(limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None) -> int | None:
    """Return the smallest number of people, mixed as these are, whom some design makes join; None if no number does."""
    if gain.at(max(spread, COARSE) / len(limits) / MOST_COPIES) <= 0:
        return None
    n, table = len(limits), offer_table(limits)

    def joins(people: float) -> bool:
        found = least_crossing(
            limits,
            gain,
            spread=spread,
            kappa=kappa,
            reach=reach,
            copies=people / n,
            table=table,
            finest=COARSE,
            budget=ROUGH,
        )
        return found.crossing is not None

    low, high = n, 2 * n
    while not joins(high):
        low, high = high, 2 * high
        if high > MOST_COPIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if joins(middle) else (middle, high)
    return high
