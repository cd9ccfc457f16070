"""Biased answers that can be closer: the middle of the bounds, the optimum pulled towards it, the optimum cut at the bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.baselines.capped import Capped
from optin.baselines.levels import Levels
from optin.baselines.rule import Accuracy, Setting
from optin.baselines.simulated import SimulatedValues, expect_simulated
from optin.kernel.pieces import Array
from optin.kernel.tails import sum_above

MIDDLE = 0.5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)
FAR = (0.0, 1.0, 4.0, 12.0, 40.0)
"""Where tails are cut into pieces, in units of the error to expect: beyond the last nothing is left."""


@dataclass(frozen=True)
class Midpoint:
    """Ask nobody and answer with the middle of the bounds: off by half the range at worst."""

    unbiased = False

    @property
    def loss(self) -> Capped:
        """What people lose: nothing."""
        return Capped(0.0)

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Return the bias alone, at worst half the range; known where the mean is."""
        return Accuracy(0.0, 0.0, _off(setting), 0.0)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Answer the same in every campaign."""
        expect_simulated(values, generator)
        return np.full(values.campaigns, MIDDLE)


@dataclass(frozen=True)
class Remade:
    """An answer made from that of a whole design, which it takes as much as: biased."""

    optimum: Capped
    unbiased = False

    @property
    def loss(self) -> Capped:
        """What people lose: as in the design it is made from."""
        return self.optimum


@dataclass(frozen=True)
class Shrunk(Remade):
    """Pull a design towards the middle by as much as is best if the mean may lie anywhere.

    share * estimate + (1 - share) * middle has the worst error share^2 V + (1 - share)^2 / 4, least at share =
    1 / (1 + 4 V): V / (1 + 4 V), always below V and below 1/4. A declared gap adds to the bias. It is biased wherever
    the mean is not in the middle.
    """

    share: float

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Shrink every part, and add what the middle is off."""
        part = self.optimum.accuracy(levels, setting)
        squared = self.share**2
        bias = (1.0 - self.share) * _off(setting)
        return Accuracy(part.sampling * squared, part.noise * squared, bias, part.tilt * self.share)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Publish the design, pulled."""
        return np.asarray(self.share * self.optimum.draw(values, generator) + (1.0 - self.share) * MIDDLE)


@dataclass(frozen=True)
class Clamped(Remade):
    """Cut a design's estimate at the bounds: never farther off, and biased towards the middle, most near a bound.

    What is left of the error is computed for a normal sampling error and Laplace noise (E14), at the mean given, or in
    the middle.
    """

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Add up what is left of errors to either side, each cut where a bound lies."""
        part = self.optimum.accuracy(levels, setting)
        variance = part.sampling + part.noise
        if not math.isfinite(variance) or variance == 0.0:
            return part
        sd, scale = math.sqrt(part.sampling), math.sqrt(part.noise / setting.kappa)
        above, below = (_cut(room, sd, scale) for room in (1.0 - setting.mean, setting.mean))
        bias, error = above[0] - below[0], above[1] + below[1]
        left = min(max(error - bias * bias, 0.0), variance)
        return Accuracy(left * part.sampling / variance, left * part.noise / variance, _plain(bias), part.tilt)

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Publish the design, cut."""
        return np.asarray(np.clip(self.optimum.draw(values, generator), 0.0, 1.0))


def _off(setting: Setting) -> float:
    """Return how far the middle is from the mean: half the range where nothing is known of it."""
    return MIDDLE - setting.mean if setting.mean_given else MIDDLE


def _cut(room: float, sd: float, scale: float) -> tuple[float, float]:
    """Return E min(e, room) and E min(e, room)^2 of a positive error e: int P(e > t) dt and int 2 t P(e > t) dt up to room.

    Pieces are as wide as the error itself, so that it is resolved however small it is against the bounds.
    """
    ends = np.minimum(np.array(FAR) * (sd + scale), room)
    half = np.diff(ends)[:, np.newaxis] / 2.0
    t = (ends[:-1, np.newaxis] + half * (NODES + 1.0)).ravel()
    tails = np.array([_above(float(at), sd, scale) for at in t]) * (half * WEIGHTS).ravel()
    return float(tails.sum()), float(2.0 * t @ tails)


def _above(t: float, sd: float, scale: float) -> float:
    """Return P(error > t)."""
    return 0.5 * math.exp(-t / scale) if sd == 0.0 else sum_above(t, sd=sd, scale=scale)


def _plain(bias: float) -> float:
    """Take the rounding of an integral that is 0 for 0."""
    return 0.0 if abs(bias) < 1e-12 else bias
