"""Designs on one dial: whoever is at or above a floor gives the smaller of limit and cap, the others nothing.

Strictest is cap = least limit, proportional is cap = infinity, a threshold is cap = floor, and the optimum (E1), ADPM, a
grid search and the guard against related values (E15) are caps between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.levels import Levels
from optin.baselines.rule import NOTHING, Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array


@dataclass(frozen=True)
class Capped:
    """Give eps = min(limit, cap) from the floor on, weights in proportion, and noise 1 / sum eps.

    ``noiseless``: only people without any limit count, alike, and there is no noise to hide them.
    """

    cap: float
    floor: float = 0.0
    noiseless: bool = False
    unbiased = True

    @property
    def loss(self) -> Capped:
        """What people lose: this very rule."""
        return self

    def epsilons(self, limits: Array) -> Array:
        """Return min(limit, cap), or 0 below the floor."""
        if self.noiseless:
            return np.where(np.isinf(limits), math.inf, 0.0)
        return np.where(limits >= self.floor, np.minimum(limits, self.cap), 0.0)

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute E5's general form and the tilt of E15 from sums under the cap."""
        n = levels.people
        if self.noiseless:
            return Accuracy(setting.spread / levels.infinite, 0.0, 0.0, 1.0 - levels.infinite / n)
        reach, squares = self.sums(levels)
        if reach == 0.0:
            return NOTHING
        sampling, noise = setting.spread * squares / reach / reach, noise_variance(setting.kappa, reach)
        return Accuracy(sampling, noise, 0.0, self._tilt(levels, reach))

    def _tilt(self, levels: Levels, reach: float) -> float:
        """Measure what eps has above its mean e: n e - sum min(eps, e), relative to n e."""
        if self.cap <= levels.least:
            return 0.0
        lower = Capped(min(reach / levels.people, self.cap), self.floor)
        return max(1.0 - lower.sums(levels)[0] / reach, 0.0)

    def sums(self, levels: Levels) -> tuple[float, float]:
        """Add up eps and its square over everyone."""
        first = int(np.searchsorted(levels.limits, self.floor))
        last = max(int(np.searchsorted(levels.limits, self.cap)), first)
        pooled = levels.people - float(levels.below[last])
        total = float(levels.totals[last] - levels.totals[first])
        squares = float(levels.squares[last] - levels.squares[first])
        return (total + pooled * self.cap, squares + pooled * self.cap * self.cap) if pooled else (total, squares)

    def mean_between(self, levels: Levels, start: int, stop: int) -> float:
        """Average eps over the people from one entry of the levels up to another."""
        if self.noiseless:
            return 0.0
        first, last = np.clip(np.searchsorted(levels.limits, [self.floor, self.cap]), start, stop).tolist()
        pooled = float(levels.below[stop] - levels.below[last])
        total = float(levels.totals[last] - levels.totals[first]) + (pooled * self.cap if pooled else 0.0)
        return total / float(levels.below[stop] - levels.below[start])

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Publish (sum eps d + Laplace(1)) / sum eps over those who joined (E12)."""
        expect_simulated(values, generator)
        gains = np.isinf(values.limits).astype(float) if self.noiseless else self.epsilons(values.limits)
        noise = 0.0 if self.noiseless else generator.laplace(size=values.campaigns)
        return np.asarray((values.sums(gains) + noise) / values.joined_sums(gains))
