"""Sampling at its strongest: values measured from the middle, keep-chances raised to what limits allow, at the best level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.levels import Levels
from optin.baselines.rule import Setting
from optin.baselines.sampling import Sampling
from optin.kernel.ladder import Array

TRIES = 40
FEW = 2000


@dataclass(frozen=True)
class CentredSampled(Sampling):
    """Sampling with values measured from the middle, and chances raised until the loss is the limit.

    Whoever is missing by chance then takes only their distance along. Replacing a value moves the kept sum from one end to
    the other, or leaves it where it is; with chance p the loss is ln(((1-p) a + p a^2) / ((1-p) a + p)), a = e^(level/2).
    That is below Jorgensen's min(limit, level), so more people can be kept.
    """

    origin = 0.5

    def _chances(self, limits: Array) -> Array:
        """Return (e^limit - 1) / ((e^(level/2) - 1) (1 + e^(limit - level/2))), at most 1, without large exponentials."""
        kept, half = np.minimum(limits, self.level), self.level / 2.0
        with np.errstate(over="ignore"):
            upper = -np.expm1(-kept) / -math.expm1(-half) / (np.exp(half - kept) + 1.0)
        return np.where(limits >= self.level, 1.0, np.minimum(upper, 1.0))


def best_sampling(levels: Levels, setting: Setting) -> CentredSampled:
    """Try levels around all limits, twice: evenly on a logarithmic scale, and again near the best.

    For many people the search runs over a few thousand groups of neighbours; the error is then computed over everyone.
    """
    finite = levels.limits[levels.limits > 0]
    if len(finite) == 0:
        return CentredSampled(math.inf)
    fewer = _grouped(levels)
    tries = np.geomspace(float(finite[0]) / 2.0, 4.0 * float(finite[-1]), TRIES)
    candidates = [math.inf] * bool(levels.infinite)
    for _ in range(3):
        best = min([*tries.tolist(), *candidates], key=lambda level: _error(level, fewer, setting))
        if math.isinf(best):
            break
        candidates, step = [*candidates, best], (tries[-1] / tries[0]) ** (1.0 / (TRIES - 1))
        tries = np.geomspace(best / step, best * step, TRIES)
    return CentredSampled(float(min(candidates, key=lambda level: _error(level, fewer, setting))))


def _error(level: float, levels: Levels, setting: Setting) -> float:
    """Return the worst-case error at a level; infinite where nobody could be kept."""
    found = CentredSampled(level).accuracy(levels, setting)
    return found.sampling + found.noise + (setting.gap * found.tilt) ** 2


def _grouped(levels: Levels) -> Levels:
    """Take neighbours together at their mean limit where there are very many."""
    if len(levels.limits) <= FEW:
        return levels
    ends = np.linspace(0, len(levels.limits), FEW + 1).round().astype(int)
    counts, totals = np.diff(levels.below[ends]), np.diff(levels.totals[ends])
    return Levels(totals / counts, counts, levels.infinite)
