"""Sampling at its strongest: values measured from the middle, keep-chances raised to what limits allow, at the best threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.levels import Levels
from optin.baselines.rule import Setting
from optin.baselines.sampling import Sampling
from optin.kernel.pieces import Array

TRIES = 40
FEW = 2000


@dataclass(frozen=True)
class CentredSampled(Sampling):
    """Sampling with values measured from the middle, and chances raised until the loss is the limit.

    Whoever is missing by chance then takes only their distance along. Replacing a value moves the kept sum from one end to
    the other, or leaves it where it is; with chance p the loss is ln(((1-p) a + p a^2) / ((1-p) a + p)), a = e^(threshold/2).
    That is below Jorgensen's min(limit, threshold), so more people can be kept.
    """

    origin = 0.5

    def _chances(self, limits: Array) -> Array:
        """Return (e^limit - 1) / ((e^(threshold/2) - 1) (1 + e^(limit - threshold/2))), at most 1, without large exponentials."""
        capped, half = np.minimum(limits, self.threshold), self.threshold / 2.0
        with np.errstate(over="ignore"):
            upper = -np.expm1(-capped) / -math.expm1(-half) / (np.exp(half - capped) + 1.0)
        return np.where(limits >= self.threshold, 1.0, np.minimum(upper, 1.0))


def best_sampling(levels: Levels, setting: Setting) -> CentredSampled:
    """Try thresholds around all limits, twice: evenly on a logarithmic scale, and again near the best.

    For many people the search runs over a few thousand groups of neighbours; the error is then computed over everyone.
    """
    finite = levels.limits[levels.limits > 0]
    if len(finite) == 0:
        return CentredSampled(math.inf)
    fewer = _grouped(levels)
    tries = np.geomspace(float(finite[0]) / 2.0, 4.0 * float(finite[-1]), TRIES)
    candidates = [math.inf] * bool(levels.infinite)
    for _ in range(3):
        best = min([*tries.tolist(), *candidates], key=lambda threshold: _error(threshold, fewer, setting))
        if math.isinf(best):
            break
        candidates, factor = [*candidates, best], (tries[-1] / tries[0]) ** (1.0 / (TRIES - 1))
        tries = np.geomspace(best / factor, best * factor, TRIES)
    return CentredSampled(float(min(candidates, key=lambda threshold: _error(threshold, fewer, setting))))


def _error(threshold: float, levels: Levels, setting: Setting) -> float:
    """Return the worst-case error at a threshold; infinite where nobody could be kept."""
    accuracy = CentredSampled(threshold).accuracy(levels, setting)
    return accuracy.sampling + accuracy.noise + (setting.gap * accuracy.tilt) ** 2


def _grouped(levels: Levels) -> Levels:
    """Take neighbours together at their mean limit where there are very many."""
    if len(levels.limits) <= FEW:
        return levels
    ends = np.linspace(0, len(levels.limits), FEW + 1).round().astype(int)
    counts, totals = np.diff(levels.below[ends]), np.diff(levels.totals[ends])
    return Levels(totals / counts, counts, levels.infinite)
