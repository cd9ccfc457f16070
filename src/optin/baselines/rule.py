"""What a design is here: how much it takes from one person with a given limit, how wrong it is, and how it would be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from optin.baselines.levels import Levels
from optin.baselines.ruler import mean_in_sds, ruler_of, worst_price
from optin.baselines.simulated import SimulatedValues
from optin.errors import BadInput
from optin.kernel.ladder import Array
from optin.planning import Plan

if TYPE_CHECKING:
    from optin.baselines.capped import Capped


@dataclass(frozen=True)
class Setting:
    """What the error of a design depends on besides limits, in units of the range (R = 1) from the lower bound.

    Of several questions everything is in sds of each (E18). ``worst`` is kappa over the largest spread there can be.
    """

    spread: float
    mean: float
    gap: float
    kappa: float
    worst: float


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
    ruler = ruler_of(plan)
    middle = _mean_of_a_sheet(plan, mean) if ruler.bounds is None else _mean_within(ruler.bounds, mean)
    return Setting(plan.spread, middle, ruler.max_gap / ruler.width, plan.noise_constant, worst_price(plan))


def _mean_within(bounds: tuple[float, float], mean: float | None) -> float:
    lo, hi = bounds
    if mean is None:
        return 0.5
    if not lo <= mean <= hi:  # also for NaN
        raise BadInput("mean must lie within the bounds: it is the mean of values that do")
    return (mean - lo) / (hi - lo)


def _mean_of_a_sheet(plan: Plan, mean: float | None) -> float:
    if mean is not None:
        raise BadInput("mean is that of one number; of a sheet the middle of all answers is taken")
    return mean_in_sds(plan) * math.sqrt(plan.spread)
