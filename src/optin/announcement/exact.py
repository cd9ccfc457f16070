"""E13's arithmetic without rounding: variance and noise from exact sums of grains."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from optin.kernel.noise import LAPLACE, variance
from optin.kernel.rounding import GRAIN, exact_epsilon

if TYPE_CHECKING:
    from optin.announcement.offer import Announcement


def exact_variance(announcement: Announcement, total_grains: int, total_squared_grains: int) -> Fraction:
    """Compute E13's V_A = (sigma^2 sum A^2 + kappa R^2 2^64) / (sum A)^2 without rounding."""
    noise = 0 if announcement.noiseless else LAPLACE.constant(Fraction(announcement.width) * int(GRAIN))
    return variance(Fraction(announcement.data_variance), total_squared_grains, total_grains, noise)


def announced_eta(total_grains: int, width: float) -> float:
    """Return E3's eta = sum eps / R, from grains."""
    return nearest(exact_epsilon(total_grains) / Fraction(width))


def nearest(number: Fraction) -> float:
    """Round to the nearest float; past the largest one, infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
