"""How far the best design is from making people join, and how many more like them would do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optin.kernel.ladder import Array, Ladder, Limits, Outline, Sums
from optin.kernel.noise import noise_variance
from optin.kernel.offers import AtReach, Offers, OverNoise
from optin.kernel.quasilinear import Gain, Noised, least_crossing, offer_table

COARSE = 2.0**-16
MOST_COPIES = 2.0**50
ROUGH = 20_000
CLOSE = 1e-8


def shortfall(limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None) -> float:
    """Return the least price - gain over all offers: the benefit that the best design lacks (E10).

    A look at some offers gives a bonus that would do. If the search that plans finds an offer for a little less, the look
    missed a better one, and halving finds the smallest bonus that does.
    """
    table = offer_table(limits)

    def joins(bonus: float) -> bool:
        line = None if gain.line is None else (gain.line[0] + bonus, gain.line[1])
        richer = Gain(lambda v: gain.at(v) + bonus, line)
        found = least_crossing(limits, richer, Noised(spread, kappa, reach), table=table, finest=COARSE, budget=ROUGH)
        return found.crossing is not None

    low, high = 0.0, max(_seen(limits, table, gain, spread=spread, kappa=kappa, reach=reach), 0.0)
    if not joins(high * (1 - CLOSE)):
        return high
    least = CLOSE * high  # where less and less would do, so little is as good as nothing
    while high - low > max(CLOSE * high, least):
        middle = low + (high - low) / 2
        low, high = (low, middle) if joins(middle) else (middle, high)
    return high


def _seen(
    limits: Limits, table: Outline | Ladder, gain: Gain, *, spread: float, kappa: float, reach: float | None
) -> float:
    """Return the least that any of a few hundred offers lacks."""
    if spread == 0 and reach is None:
        total = limits.sums(math.inf).total
        return min(math.sqrt(kappa / v) / total - gain.at(v) for v in np.geomspace(1e-12, 1e12, 193).tolist())
    offers: Offers = OverNoise(spread, kappa) if reach is None else AtReach(spread, kappa, reach)
    edges = np.asarray(table.edges, dtype=np.float64)
    edges = edges[edges > 0]
    free = len(limits) - int(table.counts[-1]) if len(table.edges) else len(limits)
    noise = 0.0 if reach is None else noise_variance(kappa, reach)
    lacks = [-gain.at(spread / free + noise)] if free else []
    if len(edges):
        points = np.concatenate((edges[:: max(len(edges) // 128, 1)], edges[-1] * np.geomspace(1.0, 2.0**40, 81)))
        lacks += _close_up(limits, table, points, lambda sums, y: _lack(sums, y, offers, gain, len(limits)))
    return min(lacks)


def _close_up(
    limits: Limits, table: Outline | Ladder, points: Array, lack: Callable[[Sums, float], float]
) -> list[float]:
    """Look at the points, then closer and closer around the best of them."""
    lacks = [lack(table.sums_at(y), y) for y in points.tolist()]
    best = int(np.argmin(lacks))
    low, high = float(points[max(best - 1, 0)]), float(points[min(best + 1, len(points) - 1)])
    near = table if isinstance(table, Ladder) else limits.whole_ladder(low, math.nextafter(high, math.inf))
    for _ in range(8):
        closer = np.linspace(low, high, 17)
        found = [lack(near.sums_at(y), y) for y in closer.tolist()]
        best = int(np.argmin(found))
        low, high = float(closer[max(best - 1, 0)]), float(closer[min(best + 1, 16)])
        lacks += found
    return lacks


def _lack(sums: Sums, y: float, offers: Offers, gain: Gain, people: int) -> float:
    at = (y, float(people - sums.count), sums.total, sums.squares)
    return offers.price(*at) - gain.at(offers.variance(*at))


def fewest_copies(limits: Limits, gain: Gain, *, spread: float, kappa: float, reach: float | None) -> int | None:
    """Return the smallest number of people, mixed as these are, whom some design makes join; None if no number does."""
    if gain.at(max(spread, COARSE) / len(limits) / MOST_COPIES) <= 0:
        return None
    n, table = len(limits), offer_table(limits)

    def joins(people: float) -> bool:
        found = least_crossing(
            limits,
            gain,
            Noised(spread, kappa, reach, people / n),
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
