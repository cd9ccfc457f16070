"""Without anyone to trust: people add noise themselves, and what arrives is weighed by how noisy it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import NOTHING, Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.noise import LAPLACE, noise_variance
from optin.kernel.pieces import Array


@dataclass(frozen=True)
class LocalLaplace:
    """Have everyone send value + Laplace(1 / limit), and weigh it by 1 / (spread + kappa / limit^2)."""

    spread: float
    kappa: float = LAPLACE.kappa
    unbiased = True

    @property
    def loss(self) -> Capped:
        """What people lose: their whole limit."""
        return Capped(math.inf)

    def precisions(self, limits: Array) -> Array:
        """Return 1 / (sigma^2 + kappa / limit^2), how much a message of each person is worth."""
        if self.spread == 0.0 and np.isinf(limits).any():
            return np.isinf(limits).astype(float)
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(1.0 / (self.spread + noise_variance(self.kappa, limits)))

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute 1 / sum of precisions."""
        total, squares, above = levels.moments(self.precisions)
        if total == 0.0:
            return NOTHING
        sampling = self.spread * squares / total / total
        exact = self.spread == 0.0 and levels.infinite > 0
        return Accuracy(sampling, 0.0 if exact else max(1.0 / total - sampling, 0.0), 0.0, above / total)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Weigh everyone's own noisy message."""
        expect_simulated(values, generator)
        weights = self.precisions(values.limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            scales = np.where(weights > 0, weights / values.limits, 0.0)
        return np.asarray((values.sums(weights) + values.noise_sums(scales, generator)) / values.joined_sums(weights))


def response_variances(limits: Array) -> Array:
    """Return the variance of one person's randomised response to a question with answers -1 and 1: coth^2(limit / 2).

    Told truly with odds e^limit and scaled to be unbiased. It counts the luck of who was asked too, at mean 0. It suits
    answers of two kinds only. There it beats one Laplace noise for all where people are few: one or two at any limit,
    n at a common limit if n < 2 (sinh(limit / 2) / (limit / 2))^2.

    >>> response_variances(np.array([1.0])).round(4)
    array([4.6827])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.tanh(limits / 2) ** 2)
