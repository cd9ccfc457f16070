"""How far the best design is from making people join, and how many more like them would do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array, Limits, Outline, Pieces, Sums
from optin.kernel.pricing import AtReach, Noised, OverNoise, Pricing
from optin.kernel.quasilinear import least_crossing, sums_at_edges
from optin.kernel.search import Gain

COARSE = 2.0**-16
MOST_COPIES = 2.0**50
ROUGH = 20_000
CLOSE = 1e-8


def shortfall(limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None) -> float:
    """Return the least price - gain over all designs: the benefit that the best design lacks (E10).

    A look at some designs gives a bonus that would do. If the search that plans finds a design for a little less, the look
    missed a better one, and halving finds the smallest bonus that does.
    """
    table = sums_at_edges(limits)

    def joins(bonus: float) -> bool:
        line = None if gain.line is None else (gain.line[0] + bonus, gain.line[1])
        richer = Gain(lambda v: gain.at(v) + bonus, line)
        outcome = least_crossing(limits, richer, Noised(spread, kappa, reach), table=table, finest=COARSE, budget=ROUGH)
        return outcome.crossing is not None

    low, high = 0.0, max(_seen(limits, table, gain, spread=spread, kappa=kappa, reach=reach), 0.0)
    if not joins(high * (1 - CLOSE)):
        return high
    least = CLOSE * high  # where less and less would do, so little is as good as nothing
    while high - low > max(CLOSE * high, least):
        middle = low + (high - low) / 2
        low, high = (low, middle) if joins(middle) else (middle, high)
    return high


def _seen(
    limits: Limits, table: Outline | Pieces, gain: Gain, *, spread: float, kappa: float, reach: float | None
) -> float:
    """Return the least that any of a few hundred designs lacks."""
    if spread == 0 and reach is None:
        total = limits.sums(math.inf).total
        return min(math.sqrt(kappa / v) / total - gain.at(v) for v in np.geomspace(1e-12, 1e12, 193).tolist())
    pricing: Pricing = OverNoise(spread, kappa) if reach is None else AtReach(spread, kappa, reach)
    edges = np.asarray(table.edges, dtype=np.float64)
    edges = edges[edges > 0]
    free = len(limits) - int(table.counts[-1]) if len(table.edges) else len(limits)
    noise = 0.0 if reach is None else noise_variance(kappa, reach)
    lacks = [-gain.at(spread / free + noise)] if free else []
    if len(edges):
        points = np.concatenate((edges[:: max(len(edges) // 128, 1)], edges[-1] * np.geomspace(1.0, 2.0**40, 81)))
        lacks += _close_up(limits, table, points, lambda sums, y: _lack(sums, y, pricing, gain, len(limits)))
    return min(lacks)


def _close_up(
    limits: Limits, table: Outline | Pieces, points: Array, lack: Callable[[Sums, float], float]
) -> list[float]:
    """Look at the points, then closer and closer around the best of them."""
    lacks = [lack(table.sums_at(y), y) for y in points.tolist()]
    best = int(np.argmin(lacks))
    low, high = float(points[max(best - 1, 0)]), float(points[min(best + 1, len(points) - 1)])
    near = table if isinstance(table, Pieces) else limits.all_pieces(low, math.nextafter(high, math.inf))
    for _ in range(8):
        closer = np.linspace(low, high, 17)
        closer_lacks = [lack(near.sums_at(y), y) for y in closer.tolist()]
        best = int(np.argmin(closer_lacks))
        low, high = float(closer[max(best - 1, 0)]), float(closer[min(best + 1, 16)])
        lacks += closer_lacks
    return lacks


def _lack(sums: Sums, y: float, pricing: Pricing, gain: Gain, people: int) -> float:
    at = (y, float(people - sums.count), sums.total, sums.squares)
    return pricing.price(*at) - gain.at(pricing.variance(*at))


def fewest_copies(limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None) -> int | None:
    """Return the smallest number of people, mixed as these are, whom some design makes join; None if no number does."""
    if gain.at(max(spread, COARSE) / len(limits) / MOST_COPIES) <= 0:
        return None
    n, table = len(limits), sums_at_edges(limits)

    def joins(people: float) -> bool:
        outcome = least_crossing(
            limits,
            gain,
            Noised(spread, kappa, reach, people / n),
            table=table,
            finest=COARSE,
            budget=ROUGH,
        )
        return outcome.crossing is not None

    low, high = n, 2 * n
    while not joins(high):
        low, high = high, 2 * high
        if high > MOST_COPIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if joins(middle) else (middle, high)
    return high
