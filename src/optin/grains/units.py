"""Grains of 2^-32 as whole numbers, and what is left of them as limits; over arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.errors import Argument, BudgetSpent
from optin.kernel.rounding import GRAIN
from optin.tables.columns import column

UNLIMITED = 2**62
"""The allowance, in grains, that is never used up: an infinite limit, or one of 2^30 epsilon or more, is kept so."""
USEFUL = 2**16
"""Fewer grains than this (an epsilon of 2^-16, 0.000015) left of an allowance are rounding dust: nothing is planned on them."""
NOTHING_LEFT = (
    "everyone here has spent or promised all of their allowance in this ledger: nothing is left to plan. An allowance is what"
    " someone allows over all releases, by default their first limit: if they now allow more, give that as {totals} with"
    " {raised}; what a round holds that came to nothing is given back when it is cancelled"
)
"""A template; `nothing_left` fills it in."""


def allowance_grains(limits: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn limits into grains, rounded down; infinity and anything from 2^30 up becomes UNLIMITED.

    The product by 2^32 is exact in binary floating point, so the floor is too.

    >>> allowance_grains(np.array([0.5, float("inf")])).tolist() == [2**31, UNLIMITED]
    True
    """
    most = UNLIMITED / GRAIN
    return np.floor(np.minimum(np.asarray(limits, dtype=np.float64), most) * GRAIN).astype(np.int64)


def epsilons_of(grains: NDArray[np.int64]) -> NDArray[np.float64]:
    """Turn grains into epsilon, never rounding up; UNLIMITED is infinity.

    Above 2^53 grains a float has no room for the last ten bits; they are dropped rather than rounded.
    """
    shortened = np.where(grains >= 2**53, grains & ~np.int64(1023), grains)
    return np.where(grains >= UNLIMITED, np.inf, shortened.astype(np.float64) / GRAIN)


def cut_to(left: NDArray[np.int64], levels: ArrayLike | None) -> NDArray[np.float64]:
    """Turn what is left into limits: epsilon itself, or the highest level that so many grains cover, or nothing.

    >>> cut_to(np.array([2**32, 2**31, 5]), [0.5, 0.75]).tolist()
    [0.75, 0.5, 0.0]
    >>> cut_to(np.array([2**32, 2**16, 2**16 - 1]), None).tolist()
    [1.0, 1.52587890625e-05, 0.0]
    """
    if levels is None:
        return epsilons_of(np.where(left < USEFUL, 0, left))
    grains, known = grains_of_levels(levels)
    limits: NDArray[np.float64] = known[np.searchsorted(grains, left, side="right") - 1]
    return limits


def grains_of_levels(levels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sort levels, from nothing on, and say how many grains each of them takes."""
    limits = np.append(0.0, np.sort(column(levels, "levels")))
    return allowance_grains(limits), limits


def nothing_left() -> BudgetSpent:
    """Say that nobody has anything left to plan, and what leads on."""
    return BudgetSpent(NOTHING_LEFT, totals=Argument("allowances"), raised=Argument("raise_limits", True))
