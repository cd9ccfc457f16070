"""Tails of a normal plus several Laplaces: two in closed form (E27), more by their characteristic function (E23)."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache

import numpy as np

from optin.kernel.noise import LAPLACE
from optin.kernel.pieces import Array
from optin.kernel.tails import bisect, normal_laplace_quantile, sum_above

_SMALLEST = math.exp(-37.0)
_MANY = 1000.0
_BLOCK = 128
_ALIKE = 1e-4
"""Scales of two Laplaces that differ by less than this part of their mean are taken to differ by as much (E27)."""


@lru_cache(maxsize=4096)  # a release asks again for the same intervals in every sentence about them
def mixture_quantile(error: float, *, sd: float, scales: tuple[float, ...]) -> float:
    """Return t with P(|Normal(0, sd) + a Laplace for each scale| > t) = error.

    >>> round(mixture_quantile(0.05, sd=0.0, scales=(2 / 3, 1 / 3, 1 / 3)), 12)
    2.359056767867
    """
    positive = tuple(scale for scale in scales if scale > 0.0)
    if len(positive) <= 1:
        return normal_laplace_quantile(error, sd=sd, scale=sum(positive))
    high = sd + max(positive)
    while mixture_beyond(high, sd=sd, scales=positive) > error:
        high *= 2.0
    return bisect(lambda t: mixture_beyond(t, sd=sd, scales=positive) > error, high)


def mixture_beyond(t: float, *, sd: float, scales: tuple[float, ...]) -> float:
    """Return P(|Normal(0, sd) + a Laplace for each scale| > t) for t > 0, to about 1e-15."""
    positive = tuple(scale for scale in scales if scale > 0.0)
    if len(positive) <= 1:
        return _one_beyond(t, sd, sum(positive))
    return _two_beyond(t, sd, *positive) if len(positive) == 2 else _many_beyond(t, sd, positive)


def _one_beyond(t: float, sd: float, scale: float) -> float:
    if sd == 0.0:
        return math.exp(-t / scale) if scale > 0.0 else 0.0
    return 2.0 * sum_above(t, sd=sd, scale=scale)


def _two_beyond(t: float, sd: float, first: float, second: float) -> float:
    """Return E27's (b1^2 P1 - b2^2 P2) / (b1^2 - b2^2), P the tail of the normal and one Laplace.

    By partial fractions: 1 / ((1 + b1^2 t^2) (1 + b2^2 t^2)) is this combination of the two characteristic functions.
    Where the scales are alike, the difference of two nearly equal numbers would lose every digit: they are set apart
    around their mean, which moves the tail by less than 4e-8.
    """
    middle = (first + second) / 2.0
    if abs(first - second) < _ALIKE * middle:
        first, second = middle * (1.0 + _ALIKE / 2.0), middle * (1.0 - _ALIKE / 2.0)
    wide, narrow = max(first, second) / middle, min(first, second) / middle
    tails = (_one_beyond(t, sd, scale * middle) for scale in (wide, narrow))
    above, below = (scale * scale * tail for scale, tail in zip((wide, narrow), tails, strict=True))
    return max((above - below) / ((wide - narrow) * (wide + narrow)), 0.0)


def _many_beyond(t: float, sd: float, scales: tuple[float, ...]) -> float:
    """Add up sines: Poisson's summation of the characteristic function.

    The step is so small that the copies it makes of the law lie beyond all weight.
    """
    widest, variance = max(scales), sd * sd + LAPLACE.sum_variance(scales)
    if sd > _MANY * widest:
        return math.erfc(t / math.sqrt(2.0 * variance))
    deviation = math.sqrt(variance)
    spacing = 2.0 * math.pi / (2.0 * t + 9.0 * sd + 38.0 * widest + 9.0 * deviation)
    total, first, last = 0.0, 0, _BLOCK
    while True:
        odd = np.arange(first, last, dtype=np.float64) + 0.5
        terms = _characteristic(odd * spacing, sd, scales) / odd
        total += float(np.sum(np.sin(odd * (spacing * t)) * terms))
        if terms[-1] < _SMALLEST:
            return max(1.0 - total * 2.0 / math.pi, 0.0)
        first, last = last, 3 * last


def _characteristic(t: Array, sd: float, scales: tuple[float, ...]) -> Array:
    logs = -0.5 * (sd * t) ** 2
    for scale, times in Counter(scales).items():
        logs = logs - times * np.log1p((scale * t) ** 2)
    return np.asarray(np.exp(logs))
