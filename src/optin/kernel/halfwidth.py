"""E22: half of an interval for the population's mean that also holds for skewed values, from public numbers alone.

Two half-widths hold: Hoeffding's bound on the people's part beside a Laplace quantile, the error probability split
between them; and the quantile of normal plus Laplace (E14) with an allowance for skewness. Neither looks at a value, so
the least may be taken. (Bernstein's bound holds too and is never the least.) This is the only place that does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from optin.kernel.pieces import Array
from optin.kernel.tails import laplace_quantile, normal_laplace_quantile

METHODS = (
    "normal plus Laplace, declared variance, skewness allowed for",
    "Hoeffding and Laplace, error split",
)
POINTS = 33
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_STEPS = 45
"""Each step leaves 0.618 of the range of shares: a half-width is then found to the last digits."""


@dataclass(frozen=True)
class Weighing:
    """What half-widths depend on: sum of squared weights, the largest weight, and the noise scale, one each or many.

    ``heaviest`` may be any upper bound of the largest weight.
    """

    width: float
    data_variance: float
    squares: float | Array
    heaviest: float | Array
    scale: float | Array


def heaviest_weight(people: float | Array, squares: float | Array, at_cap: float | Array) -> Array:
    """Bound the largest weight by what is public: how many people, the sum of squared weights, the weight at the cap.

    Nobody counts more than whoever reaches the cap; among n weights that add up to 1, none is above
    1/n + sqrt((1 - 1/n) (sum w^2 - 1/n)) (Samuelson), and none above sqrt(sum w^2).

    >>> float(heaviest_weight(4, 0.25, 1.0)), float(heaviest_weight(4, 59 / 225, 1 / 3)) == 1 / 3
    (0.25, True)
    """
    share = 1.0 / np.asarray(people, dtype=float)
    beyond = np.maximum(np.asarray(squares) - share, 0.0)
    return np.minimum(np.minimum(at_cap, np.sqrt(squares)), share + np.sqrt((1.0 - share) * beyond))


@lru_cache(maxsize=256)  # a release asks again for the same interval in every sentence about it
def half_width(error: float, weighing: Weighing) -> tuple[float, str]:
    """Return the least half-width that holds up to this error probability, and the name of its method.

    >>> equal = Weighing(width=1.0, data_variance=0.25, squares=1 / 400, heaviest=1 / 400, scale=1 / 200)
    >>> round(half_width(0.05, equal)[0], 4)  # 0.0510 without the allowance for skewness
    0.0534
    """
    halves, chosen = half_widths(error, weighing)
    return float(halves[0]), METHODS[int(chosen[0])]


def half_widths(error: float, weighing: Weighing) -> tuple[Array, NDArray[np.intp]]:
    """Return the least half-widths for many weighings at once, and which method each is by (its place in METHODS)."""
    squares, heaviest, scale = np.broadcast_arrays(
        *(
            np.atleast_1d(np.asarray(part, dtype=float))
            for part in (weighing.squares, weighing.heaviest, weighing.scale)
        )
    )
    sds, largest = np.sqrt(weighing.data_variance * squares), weighing.width * heaviest
    ways = np.stack(
        (
            _quantiles(sds, scale, error) + skewness_allowance(error) * largest,
            _hoeffding(weighing.width * np.sqrt(squares / 2.0), scale, error),
        )
    )
    chosen = np.argmin(ways, axis=0)
    return np.take_along_axis(ways, chosen[np.newaxis], axis=0)[0], chosen


def skewness_allowance(error: float) -> float:
    """Return c = (z^2 + 2) / 6: so many times the heaviest person's share of the range is added to a normal quantile."""
    return (NormalDist().inv_cdf(error / 2.0) ** 2 + 2.0) / 6.0


def _hoeffding(unit: Array, scale: Array, error: float) -> Array:
    """Split the error probability between people and noise so that their sum is least; any share would do.

    The people's part is unit * sqrt(log(2 / their share of the error)). Both parts are convex in the share, so a golden
    section finds it; without noise, people have all of it.
    """

    def sums(share: Array) -> Array:
        return np.asarray(unit * np.sqrt(np.log(2.0 / error / share)) - scale * np.log(error * (1.0 - share)))

    low, high = np.zeros(scale.shape), np.ones(scale.shape)
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        falling = sums(left) > sums(right)
        low, high = np.where(falling, left, low), np.where(falling, high, right)
    return np.where(scale > 0.0, sums((low + high) / 2.0), unit * math.sqrt(math.log(2.0 / error)))


def _quantiles(sds: Array, scales: Array, error: float) -> Array:
    """Return the quantile of normal plus Laplace for each pair; many pairs by straight lines between a few.

    In units of the noise the quantile depends on r = sd / scale alone and is convex, so the lines lie above it: by parts
    in a million for turnouts of one plan, whose ratios are alike.
    """
    if not scales.any():
        return np.asarray(sds * normal_laplace_quantile(error, sd=1.0, scale=0.0))
    if len(sds) < POINTS:
        pairs = zip(sds.tolist(), scales.tolist(), strict=True)
        return np.array([_quantile(error, sd, scale) for sd, scale in pairs])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = sds / scales
    known = np.isfinite(ratios)
    if not known.any():
        return np.full(len(sds), math.nan)
    places = np.unique(np.linspace(ratios[known].min(), ratios[known].max(), POINTS))
    return np.asarray(scales * np.interp(ratios, places, [_quantile(error, r, 1.0) for r in places.tolist()]))


def _quantile(error: float, sd: float, scale: float) -> float:
    if not (math.isfinite(sd) and math.isfinite(scale)):
        return math.nan
    return laplace_quantile(error, scale=scale) if sd == 0.0 else normal_laplace_quantile(error, sd=sd, scale=scale)
