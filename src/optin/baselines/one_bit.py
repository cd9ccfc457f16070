"""Without anyone to trust, at its strongest: one bit from each person (Duchi, Jordan and Wainwright), or their own noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import NOTHING, Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.noise import LAPLACE, noise_variance
from optin.kernel.pieces import Array


@dataclass(frozen=True)
class OneBit:
    """Have everyone round their value to a coin of that mean and tell it truly with odds e^limit, scaled to be unbiased.

    It is unbiased for all values in the bounds. A message has variance coth^2(limit/2)/4 - (mu - 1/2)^2, the luck of who
    was asked included, and counts by one over that. ``or_noise``: whoever does better by Laplace noise of their own sends
    that instead.
    """

    spread: float
    mean: float
    kappa: float = LAPLACE.kappa
    or_noise: bool = False
    unbiased = True

    @property
    def loss(self) -> Capped:
        """What people lose: their whole limit."""
        return Capped(math.inf)

    def variances(self, limits: Array) -> Array:
        """Return the variance of one person's message."""
        one_bit = self._one_bit(limits)
        return np.asarray(np.minimum(one_bit, self._by_noise(limits))) if self.or_noise else one_bit

    def _one_bit(self, limits: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(0.25 / np.tanh(limits / 2.0) ** 2 - (self.mean - 0.5) ** 2)

    def _by_noise(self, limits: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(self.spread + noise_variance(self.kappa, limits))

    def precisions(self, limits: Array) -> Array:
        """Return one over that variance, what messages are weighed by."""
        variances = self.variances(limits)
        if (variances == 0.0).any():
            return np.asarray(variances == 0.0, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / variances)

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute 1 / sum of precisions."""
        if float(self.variances(np.array([levels.most]))[0]) == 0.0:
            return Accuracy(0.0, 0.0, 0.0, 1.0 - max(levels.infinite, 1) / levels.people)
        total, squares, above = levels.moments(self.precisions)
        if total == 0.0:
            return NOTHING
        sampling = min(self.spread * squares / total / total, 1.0 / total)
        return Accuracy(sampling, 1.0 / total - sampling, 0.0, above / total)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Weigh everyone's message, bit or noisy value."""
        expect_simulated(values, generator)
        weights = self.precisions(values.limits)
        bits = self._sends_bits(values.limits) & (weights > 0)
        truth = np.tanh(values.limits / 2.0)
        scaled = np.divide(weights, truth, out=np.zeros(len(weights)), where=bits)
        told = values.bit_sums(truth, 0.5 * scaled, generator) + values.joined_sums(np.where(bits, 0.5 * weights, 0.0))
        own = np.where(bits, 0.0, weights)
        scales = np.divide(own, values.limits, out=np.zeros(len(weights)), where=own > 0)
        noisy = values.sums(own) + values.noise_sums(scales, generator) if own.any() else 0.0
        return np.asarray((told + noisy) / values.joined_sums(weights))

    def _sends_bits(self, limits: Array) -> NDArray[np.bool_]:
        if not self.or_noise:
            return np.ones(len(limits), dtype=bool)
        return np.asarray(self._one_bit(limits) < self._by_noise(limits))
