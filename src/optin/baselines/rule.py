"""What a design is here: how much it takes from one person with a given limit, how wrong it is, and how it would be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from optin.baselines.levels import Levels
from optin.baselines.simulated import SimulatedValues
from optin.errors import BadInput
from optin.kernel.ladder import Array
from optin.planning import Plan

if TYPE_CHECKING:
    from optin.baselines.capped import Capped


@dataclass(frozen=True)
class Setting:
    """What the error of a design depends on besides limits, in units of the range (R = 1) from the lower bound."""

    spread: float
    mean: float
    gap: float
    kappa: float


@dataclass(frozen=True)
class Accuracy:
    """The two parts of the variance, bias for values unrelated to limits, and tilt, in units of the range.

    ``sampling`` is the luck of who was asked, and of who was kept where a design keeps people by chance.
    ``tilt`` is what a unit of distance between people's means adds to the bias at most (E15): with weights w, which need
    not add up to 1, and people's mean held fixed, that is sum max(w_i - mean w, 0).
    """

    sampling: float
    noise: float
    bias: float
    tilt: float


NOTHING = Accuracy(0.0, math.inf, 0.0, 0.0)
"""A design that may take nothing from anyone, and so has nothing to publish."""


class Rule(Protocol):
    """A design as a function of the limit: constant size, whatever the number of people."""

    @property
    def loss(self) -> Capped:
        """What people lose, which in all these designs is their limit, cut off at some cap and below some floor."""

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute the error over these people in closed form."""

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Publish once for each simulated campaign, in units of the range from the lower bound."""


def setting_of(plan: Plan, mean: float | None) -> Setting:
    """Take over what a plan declares; the mean of the values is the middle of the bounds unless given."""
    lo, hi = plan.bounds
    if mean is None:
        middle = 0.5
    elif lo <= mean <= hi:  # False for NaN
        middle = (mean - lo) / plan.width
    else:
        raise BadInput("mean must lie within the bounds: it is the mean of values that do")
    return Setting(plan.spread, middle, plan.max_gap / plan.width, plan.noise_constant)
