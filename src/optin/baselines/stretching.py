"""Stretching (Alaggan, Gambs and Kermarrec): shrink each value by the person's limit, then treat everyone alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.ladder import Array

__all__ = ["Stretched"]


@dataclass(frozen=True)
class Stretched:
    """Publish the mean of (limit / most) * value with noise for epsilon = most.

    Shrunken values pull the result towards the lower bound. Divided by the mean shrinkage it is unbiased, and then it is
    the proportional design to the letter.
    """

    most: float

    def shares(self, limits: Array) -> Array:
        """Return what is left of a value: limit / most."""
        return np.isinf(limits).astype(float) if math.isinf(self.most) else limits / self.most

    @property
    def loss(self) -> Capped:
        """What people lose: their whole limit."""
        return Capped(math.inf, noiseless=math.isinf(self.most))

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute bias -mu (1 - mean share) and variance (sigma^2 sum share^2 + kappa / most^2) / n^2."""
        n = levels.people
        total, squares, above = levels.moments(self.shares)
        noise = setting.kappa / self.most / self.most / n / n
        return Accuracy(setting.spread * squares / n**2, noise, -setting.mean * (1.0 - total / n), above / n)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Add up shrunken values, add noise, divide by the number of people who joined."""
        expect_simulated(values, generator)
        shares = self.shares(values.limits)
        noise = 0.0 if math.isinf(self.most) else generator.laplace(scale=1.0 / self.most, size=values.campaigns)
        return np.asarray((values.sums(shares) + noise) / values.joined_sums(np.ones(len(shares))))
