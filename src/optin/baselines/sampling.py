"""Personalised sampling (Jorgensen, Yu and Cormode): keep people by chance, then treat the kept alike."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import NOTHING, Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array

LARGE = 700.0  # e^709 is the largest that fits a float


@dataclass(frozen=True)
class Sampling(ABC):
    """Keep people by chance, add up how far values lie from ``origin`` with noise for epsilon = threshold, and add it again.

    The sum over kept people is divided by the *expected* number of them. Dividing by the realised number would be more
    accurate, but that number tells who was kept, and the loss of person i would no longer be their limit.
    """

    threshold: float
    origin: ClassVar[float]
    unbiased = True

    @property
    def loss(self) -> Capped:
        """What people lose: min(limit, threshold), which is left of threshold after sampling with these chances."""
        return Capped(self.threshold, noiseless=math.isinf(self.threshold))

    def chances(self, limits: Array) -> Array:
        """Return everyone's chance to be kept; without noise, only people without any limit are."""
        return np.isinf(limits).astype(float) if math.isinf(self.threshold) else self._chances(limits)

    @abstractmethod
    def _chances(self, limits: Array) -> Array:
        """Return the chances at a finite threshold, written so that no exponential overflows."""

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute (sigma^2 M + (mu - origin)^2 sum pi (1 - pi)) / M^2 + kappa / (M t)^2, where M = sum pi."""
        kept, squares, above = levels.moments(self.chances)
        if kept == 0.0:
            return NOTHING
        off = (setting.mean - self.origin) ** 2
        sampling = setting.spread / kept + off * max(kept - squares, 0.0) / kept / kept
        noise = 0.0 if math.isinf(self.threshold) else noise_variance(setting.kappa, kept * self.threshold)
        return Accuracy(sampling, noise, 0.0, above / kept)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Toss everyone's coin, add up distances from the origin, add noise, and divide by the number to expect."""
        expect_simulated(values, generator)
        chances = self.chances(values.limits)
        drawn = generator.random((values.campaigns, len(chances)))
        np.less(drawn, chances, out=drawn)
        noise = (
            0.0 if math.isinf(self.threshold) else generator.laplace(scale=1.0 / self.threshold, size=values.campaigns)
        )
        distances = values.sums_of_kept(drawn) - self.origin * values.numbers_kept(drawn)
        return np.asarray((distances + noise) / values.joined_sums(chances) + self.origin)


@dataclass(frozen=True)
class Sampled(Sampling):
    """Keep person i with chance min(1, (e^limit - 1) / (e^threshold - 1)), as published; values count from the lower bound.

    The loss is ln(1 + chance (e^threshold - 1)) = min(limit, threshold).
    """

    origin = 0.0

    def _chances(self, limits: Array) -> Array:
        capped = np.minimum(limits, self.threshold)
        if self.threshold < LARGE:
            return np.divide(np.expm1(capped, out=capped), math.expm1(self.threshold), out=capped)
        return np.exp(capped - self.threshold) * -np.expm1(-capped)
