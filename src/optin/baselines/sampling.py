"""Personalised sampling (Jorgensen, Yu and Cormode): keep people by chance, then treat the kept alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.ladder import Array
from optin.kernel.noise import noise_variance

LARGE = 700.0  # e^709 is the largest that fits a float


@dataclass(frozen=True)
class Sampled:
    """Keep person i with chance min(1, (e^limit - 1) / (e^level - 1)) and add noise for epsilon = level.

    The sum of kept values is divided by the *expected* number of kept people. Dividing by the realised number would be more
    accurate, but that number tells who was kept, and the loss of person i would no longer be their limit.
    """

    level: float
    unbiased = True

    @property
    def loss(self) -> Capped:
        """What people lose: min(limit, level), since ln(1 + chance (e^level - 1)) is left of level after sampling."""
        return Capped(self.level, noiseless=math.isinf(self.level))

    def chances(self, limits: Array) -> Array:
        """Return everyone's chance to be kept, written so that no exponential overflows."""
        if math.isinf(self.level):
            return np.isinf(limits).astype(float)
        kept = np.minimum(limits, self.level)
        if self.level < LARGE:
            return np.divide(np.expm1(kept, out=kept), math.expm1(self.level), out=kept)
        return np.exp(kept - self.level) * -np.expm1(-kept)

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute (sigma^2 M + mu^2 sum pi (1 - pi)) / M^2 + kappa / (M t)^2, where M = sum pi and mu counts from below."""
        kept, squares, above = levels.moments(self.chances)
        sampling = setting.spread / kept + setting.mean**2 * max(kept - squares, 0.0) / kept / kept
        noise = 0.0 if math.isinf(self.level) else noise_variance(setting.kappa, kept * self.level)
        return Accuracy(sampling, noise, 0.0, above / kept)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Toss everyone's coin, add up the kept, add noise, and divide by the number to expect."""
        expect_simulated(values, generator)
        chances = self.chances(values.limits)
        drawn = generator.random((values.campaigns, len(chances)))
        np.less(drawn, chances, out=drawn)
        noise = 0.0 if math.isinf(self.level) else generator.laplace(scale=1.0 / self.level, size=values.campaigns)
        return np.asarray((values.sums_of_kept(drawn) + noise) / values.joined_sums(chances))
