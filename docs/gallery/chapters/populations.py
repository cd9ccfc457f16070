"""The people of the gallery: those of the laboratory, spread out evenly, so that every run draws the same picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optin.simulation import POPULATIONS, Harmonic, Lognormal

Array = NDArray[np.float64]


def mixed(n: int = 1000) -> Array:
    """Return the standard mix of the literature: 54 % from .01 to .2, 37 % from .2 to 1, 9 % at 1."""
    return POPULATIONS["standard"].limits(n)


def lognormal(n: int = 1000, *, middle: float = 1.0, sd: float = 1.0) -> Array:
    """Return quantiles of a lognormal with this median and this standard deviation of the logarithm."""
    return Lognormal(median=middle, sigma=sd).limits(n)


def levels(*pairs: tuple[float, int]) -> Array:
    """Return few levels, each with so many people."""
    values, counts = zip(*pairs, strict=True)
    return np.repeat(np.array(values, dtype=np.float64), counts)


def harmonic(n: int) -> Array:
    """Return 1/n, …, 1/2, 1."""
    return Harmonic().limits(n)
