"""Caps found on sorted levels, where each candidate is a look-up: E1's, the best threshold, and a grid of noise rates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optin.baselines.capped import Capped
from optin.baselines.levels import CHUNK, Levels
from optin.baselines.rule import Setting
from optin.kernel.noise import noise_variance, variance
from optin.kernel.pieces import Array

GRID = 100
"""How many noise rates the grid search tries."""


def best_cap(levels: Levels, *, target: float) -> Capped:
    """Solve E1 for a kappa / spread that need not be the declared one, on sorted levels."""
    if levels.totals[-1] == 0.0:
        return Capped(math.inf, noiseless=True)
    piece = int(levels.first(lambda j: levels.limits[j] * levels.totals[j] - levels.squares[j] >= target)[0])
    return Capped(float((target + levels.squares[piece]) / levels.totals[piece]))


def best_threshold_rule(levels: Levels, setting: Setting) -> Capped:
    """Keep the m people at or above a limit t, alike: min over t of sigma^2/m + kappa/(m t)^2 + gap^2 (1 - m/n)^2.

    Everyone at or above the threshold is kept: with ties, keeping only some of them would be worse in every term.
    """
    candidates = [_threshold(levels, setting, start) for start in range(0, len(levels.limits), CHUNK)]
    if levels.infinite:
        candidates.append((setting.spread / levels.infinite + float(_lost(levels.infinite, levels, setting)), math.inf))
    best = min(candidates)[1]
    return Capped(best, best, noiseless=math.isinf(best))


def _threshold(levels: Levels, setting: Setting, start: int) -> tuple[float, float]:
    """Return the best threshold among some entries, with its error in front."""
    limits = levels.limits[start : start + CHUNK]
    kept = levels.people - levels.below[start : start + len(limits)]
    with np.errstate(divide="ignore", over="ignore"):
        errors = setting.spread / kept + noise_variance(setting.kappa, kept * limits) + _lost(kept, levels, setting)
    best = int(np.argmin(errors))
    return float(errors[best]), float(limits[best])


def _lost(kept: Array | float, levels: Levels, setting: Setting) -> Array | float:
    """Return the square of the bias from leaving people out: gap times the share of them."""
    return (setting.gap * (1.0 - kept / levels.people)) ** 2 if setting.gap else 0.0


def best_of_grid(levels: Levels, setting: Setting) -> Capped:
    """Try evenly spaced logarithms of eta, with the best weights for each (Theorem 2), as the paper first suggests.

    The ends hold the optimum: below, everyone gives the least positive limit; above, everyone their own, or what the
    first step of E1 shows to be beyond the cap. What is lost is the distance to the next of the `GRID` points.
    """
    positive = levels.limits[levels.limits > 0]
    if len(positive) == 0:
        return Capped(math.inf, noiseless=True)
    ends = _sums(levels, np.array([positive[0], _highest_cap(levels, setting)]))[0]
    caps = _caps(levels, np.geomspace(ends[0], ends[1], GRID))
    return Capped(float(caps[int(np.argmin(_errors(levels, setting, caps)))]))


def _highest_cap(levels: Levels, setting: Setting) -> float:
    """Bound the cap of E1: already the least positive limit alone makes its left side rise that far."""
    first = int(np.searchsorted(levels.limits, 0.0, side="right"))
    total = float(levels.limits[first] * levels.counts[first])
    most = float(levels.limits[-1])
    if not levels.infinite or setting.spread == 0.0:
        return most
    return max(most, float(levels.limits[first]) + setting.kappa / setting.spread / total)


def _caps(levels: Levels, reaches: Array) -> Array:
    """Solve sum min(limit, cap) = reach for many reaches (E8)."""

    def corner(entry: NDArray[np.intp]) -> NDArray[np.bool_]:
        above = levels.people - levels.below[entry]
        return np.asarray(levels.totals[entry] + above * levels.limits[entry] >= reaches * (1 - 1e-14))

    piece = levels.first(corner, len(reaches))
    above = levels.people - levels.below[piece]
    caps = np.full(len(reaches), math.inf)
    np.divide(reaches - levels.totals[piece], above, out=caps, where=above > 0)
    return np.asarray(np.minimum(caps, levels.most))


def _errors(levels: Levels, setting: Setting, caps: Array) -> Array:
    """Compute the worst-case mean squared error at each cap (E5, E15)."""
    reach, squares = _sums(levels, caps)
    lower = _sums(levels, np.minimum(reach / levels.people, caps))[0]
    variances = variance(setting.spread, squares, reach, setting.kappa)
    return np.asarray(variances + (setting.gap * (1.0 - lower / reach)) ** 2)


def _sums(levels: Levels, caps: Array) -> tuple[Array, Array]:
    """Add up min(limit, cap) and its square for each cap."""
    last = np.searchsorted(levels.limits, caps)
    pooled = (levels.people - levels.below[last]) * caps
    return levels.totals[last] + pooled, levels.squares[last] + pooled * caps
