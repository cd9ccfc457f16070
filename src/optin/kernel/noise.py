"""The noise and the one variance: whatever is published, planned or imagined, its variance is written out here and nowhere else.

With epsilons e_i, values of variance sigma^2 in a range of width R, and noise of scale R / sum e, the weighted mean has
    V = (sigma^2 sum e^2 + kappa R^2) / (sum e)^2                       (E0, E5, E12; in grains E13)
where kappa is the variance of the noise at scale 1. In units of the range, R = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

from optin.kernel.pieces import Array


@dataclass(frozen=True)
class Noise:
    """A family of noise: its name, and kappa, its variance at scale 1 (E0, E16)."""

    name: str
    kappa: float

    def constant(self, width: Any) -> Any:  # noqa: ANN401 - a float, or a Fraction where it must be exact
        """Return kappa R^2, what noise adds to the variance of the sum."""
        return self.kappa * width * width

    def variance(self, scale: Any) -> Any:  # noqa: ANN401
        """Return the variance of noise of this scale."""
        return self.kappa * scale * scale

    def sum_variance(self, scales: Iterable[float]) -> float:
        """Return the variance of the sum of noises of these scales, each drawn by itself.

        >>> LAPLACE.sum_variance((1.0, 0.5, 0.5))
        3.0
        """
        return self.kappa * math.fsum(scale * scale for scale in scales)

    def scale_of(self, variance: float) -> float:
        """Return the scale of noise that has this variance."""
        return math.sqrt(variance / self.kappa)


LAPLACE = Noise("Laplace", 2)


@overload
def variance(data_variance: float, squares: float, total: float, noise: float) -> float: ...
@overload
def variance(data_variance: float, squares: Array, total: Array, noise: float) -> Array: ...
@overload
def variance(data_variance: Fraction, squares: int, total: int, noise: Fraction | int) -> Fraction: ...
def variance(data_variance: Any, squares: Any, total: Any, noise: Any) -> Any:
    """Return V of a mean weighted by epsilons (or grains) of these sums; ``noise`` is kappa R^2, or 0 without noise.

    Floats, arrays and fractions alike; divided twice, because a square could overflow.

    >>> variance(0.25, 67.0, 15.0, LAPLACE.constant(1.0)) * 12, variance(Fraction(1, 4), 67, 15, 2)
    (1.0, Fraction(1, 12))
    """
    return (data_variance * squares + noise) / total / total


def noise_in_units(noise: float, times: float) -> float:
    """Return what kappa R^2 becomes where limits are multiplied by ``times``: weights stay as they were."""
    return noise * times * times


@overload
def noise_variance(noise: float, total: float) -> float: ...
@overload
def noise_variance(noise: float | Array, total: Array) -> Array: ...
def noise_variance(noise: Any, total: Any) -> Any:
    """Return the noise's part of V; it is also what kappa becomes where limits are measured in units of ``total``."""
    return noise / total / total
