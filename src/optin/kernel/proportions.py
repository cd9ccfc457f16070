"""E22–E24: intervals for proportions and for quantiles read off them, from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from optin.kernel.halfwidth import skewness_allowance
from optin.kernel.mixtures import mixture_beyond
from optin.kernel.noise import LAPLACE, noise_variance
from optin.kernel.pieces import Array

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_WIDTH = 1e-12


@dataclass(frozen=True)
class Proportion:
    """What the error of one proportion depends on: sum of squared weights, largest weight, scales of its Laplaces."""

    squares: float
    heaviest: float
    scales: tuple[float, ...]


def cell_scales(options: int, reach: float, changed: float = 2.0) -> tuple[float, ...]:
    """List the Laplace scales in one of K proportions made to add up to 1 (E23); ``reach`` is the sum of epsilons.

    >>> cell_scales(3, 2.0)
    (0.6666666666666667, 0.3333333333333333, 0.3333333333333333)
    """
    scale = changed / reach if math.isfinite(reach) else 0.0
    return (scale * (1.0 - 1.0 / options), *(scale / options for _ in range(options - 1)))


@lru_cache(maxsize=4096)  # a release asks again for the same intervals in every sentence about them
def proportion_interval(error: float, estimate: float, cell: Proportion) -> tuple[float, float]:
    """Bound a proportion: all p in [0, 1] with |estimate - p| <= q(p) + c w_max, q at sampling variance p (1 - p) W2.

    The allowed p form an interval. If none is allowed, the nearer bound is given as a point.

    >>> low, high = proportion_interval(0.05, 0.25, Proportion(1 / 400, 1 / 400, (1 / 200,)))
    >>> round(low, 4), round(high, 4)
    (0.2056, 0.2994)
    """
    allowance = skewness_allowance(error) * cell.heaviest

    def room(p: float) -> float:
        """Is q(p) as large as the distance? One tail tells: P(|X| > distance) at p against the error."""
        sd, distance = math.sqrt(p * (1.0 - p) * cell.squares), abs(estimate - p) - allowance
        return 1.0 if distance <= 0.0 else mixture_beyond(distance, sd=sd, scales=cell.scales) - error

    inside = min(max(estimate, 0.0), 1.0)
    if room(inside) < 0.0:
        inside = _highest(room)
        if room(inside) < 0.0:
            return (0.0, 0.0) if estimate < 0.5 else (1.0, 1.0)
    return _edge(room, inside, 0.0), _edge(room, inside, 1.0)


def _highest(room: Callable[[float], float]) -> float:
    """Find the p with the most room by golden section."""
    low, high = 0.0, 1.0
    for _ in range(60):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (left, high) if room(left) < room(right) else (low, right)
    return (low + high) / 2.0


def _edge(room: Callable[[float], float], inside: float, end: float) -> float:
    """Search towards an end for the last p with room, to 1e-12, rounded outwards.

    Chandrupatla's method: a step by inverse quadratic interpolation where three points allow it, else to the middle. The root
    lies between ``near`` and ``far`` all the time; ``past`` is the point before, on the side of ``near``.
    """
    near, far = _Tried(end, room(end)), _Tried(inside, room(inside))
    if near.room >= 0.0:
        return end
    portion = 0.5
    while True:
        p = near.p + portion * (far.p - near.p)
        tried = _Tried(p, room(p))
        far, past = (far, near) if tried.has_room == near.has_room else (near, far)
        near = tried
        least = _WIDTH / 2.0 / abs(far.p - near.p)
        if least >= 0.5:
            return far.p if near.has_room else near.p
        portion = min(max(_interpolated(near, far, past), least), 1.0 - least)


@dataclass(frozen=True)
class _Tried:
    p: float
    room: float

    @property
    def has_room(self) -> bool:
        return self.room >= 0.0


def _interpolated(near: _Tried, far: _Tried, past: _Tried) -> float:
    """Return how far from ``near`` to ``far`` the root is by the three points, or the middle where they bend too much."""
    along = (near.p - far.p) / (past.p - far.p)
    risen = (near.room - far.room) / (past.room - far.room)
    if not (risen * risen < along and (1.0 - risen) ** 2 < 1.0 - along):
        return 0.5
    first = near.room / (far.room - near.room) * past.room / (far.room - past.room)
    second = near.room / (past.room - near.room) * far.room / (past.room - far.room)
    return first + (past.p - near.p) / (far.p - near.p) * second


@dataclass(frozen=True)
class Running:
    """Proportions at or below each inner edge of J bins, with the noise variance of each (E24)."""

    edges: tuple[float, ...]
    below: Array
    noise: Array
    squares: float
    heaviest: float
    bias: float = 0.0


def running(
    edges: Sequence[float],
    proportions: Sequence[float],
    *,
    reach: float,
    squares: float,
    heaviest: float,
    bias: float = 0.0,
) -> Running:
    """Add up the proportions of J bins; noise variance 4 kappa j (J - j) / (J E^2) at edge j, kappa / E^2 for two bins."""
    bins = len(proportions)
    j = np.arange(1, bins)
    alone = np.ones(1) if bins == 2 else 4.0 * j * (bins - j) / bins
    noise = noise_variance(LAPLACE.kappa * alone, np.full(bins - 1, reach))
    return Running(tuple(map(float, edges)), np.cumsum(proportions)[:-1], noise, squares, heaviest, bias)


def quantile(part: float, of: Running) -> float:
    """Return the value below which this part lies: in the bin of the first running sum that reaches it, linear inside."""
    below = np.concatenate(([0.0], of.below, [1.0]))
    j = int(np.argmax(below[1:] >= part)) if (below[1:] >= part).any() else len(below) - 2
    low, high = float(below[j]), float(below[j + 1])
    inside = min(max((part - low) / (high - low), 0.0), 1.0) if high > low else 0.5
    return of.edges[j] + (of.edges[j + 1] - of.edges[j]) * inside


def quantile_interval(error: float, part: float, of: Running) -> tuple[float, float]:
    """Bound a quantile by whole bins: from the first to the last whose running sums allow it (E24). Never empty."""
    z = -NormalDist().inv_cdf(error / 2.0)
    slack = z * np.sqrt(part * (1.0 - part) * of.squares + of.noise) + skewness_allowance(error) * of.heaviest
    slack = slack + of.bias
    below = np.concatenate(([-math.inf], of.below - slack))  # the foot of each bin
    above = np.concatenate((of.below + slack, [math.inf]))  # its top
    allowed = np.flatnonzero((below <= part) & (above >= part))
    return of.edges[int(allowed[0])], of.edges[int(allowed[-1]) + 1]
