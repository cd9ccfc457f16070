"""The people of the gallery: limits and costs at even quantiles, so that every run draws the same picture."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def even(n: int) -> Array:
    """Return n even steps strictly between 0 and 1."""
    return (np.arange(n) + 0.5) / n


def mixed(n: int = 1000) -> Array:
    """Return the standard mix of the literature: 54 % from .01 to .2, 37 % from .2 to 1, 9 % at 1."""
    few, some = round(0.54 * n), round(0.37 * n)
    return np.concatenate([0.01 + 0.19 * even(few), 0.2 + 0.8 * even(some), np.ones(n - few - some)])


def lognormal(n: int = 1000, *, middle: float = 1.0, sd: float = 1.0) -> Array:
    """Return quantiles of a lognormal with this median and this standard deviation of the logarithm."""
    normal = NormalDist(0.0, sd)
    return middle * np.exp([normal.inv_cdf(q) for q in even(n)])


def levels(*pairs: tuple[float, int]) -> Array:
    """Return few levels, each with so many people."""
    return np.concatenate([np.full(count, level) for level, count in pairs])


def harmonic(n: int) -> Array:
    """Return 1, 1/2, …, 1/n."""
    return 1.0 / np.arange(1, n + 1)
