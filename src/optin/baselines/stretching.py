"""Stretching (Alaggan, Gambs and Kermarrec): shrink each value by the person's limit, then treat everyone alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.pieces import Array


@dataclass(frozen=True)
class Stretched:
    """Publish the mean of (limit / most) * value with noise for epsilon = most.

    Shrunken values pull the result towards the lower bound. Divided by the mean shrinkage it is unbiased, and then it is
    the proportional design to the letter.
    """

    most: float
    unbiased = False

    def shares(self, limits: Array) -> Array:
        """Return what is left of a value: limit / most."""
        return np.isinf(limits).astype(float) if math.isinf(self.most) else limits / self.most

    @property
    def loss(self) -> Capped:
        """What people lose: their whole limit."""
        return Capped(math.inf, noiseless=math.isinf(self.most))

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Shrink the proportional design by the mean share s: bias -mu (1 - s), tilt times s, variance times s^2."""
        unstretched = self.loss.accuracy(levels, setting)
        share = self._mean_share(levels)
        squared = share * share
        bias = 0.0 - setting.mean * (1.0 - share)  # where nothing is shrunk 0, and not -0
        return Accuracy(unstretched.sampling * squared, unstretched.noise * squared, bias, unstretched.tilt * share)

    def _mean_share(self, levels: Levels) -> float:
        """Average limit / most; exactly 1 where all are alike, which a rounded sum would miss."""
        if levels.infinite:
            return levels.infinite / levels.people
        return 1.0 if levels.least == self.most else float(levels.totals[-1]) / levels.people / self.most

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Add up shrunken values, add noise, divide by the number of people who joined."""
        expect_simulated(values, generator)
        shares = self.shares(values.limits)
        noise = 0.0 if math.isinf(self.most) else generator.laplace(scale=1.0 / self.most, size=values.campaigns)
        return np.asarray((values.sums(shares) + noise) / values.joined_sums(np.ones(len(shares))))
