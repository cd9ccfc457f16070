"""What a design is here: how much it takes from one person with a given limit, how wrong it is, and how it would be drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optin.baselines.levels import Levels
from optin.baselines.ruler import mean_in_sds, ruler_of, worst_price
from optin.baselines.simulated import SimulatedValues
from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.wording.records import Brief


@dataclass(frozen=True, repr=False)
class Setting(Brief):
    """What the error of a design depends on besides limits, in units of the range (R = 1) from the lower bound.

    Of several questions everything is in sds of each (E18). ``worst`` is kappa over the largest spread there can be, and
    ``mean_given`` says whether the mean is more than a guess.
    """

    spread: float
    mean: float
    gap: float
    kappa: float
    worst: float
    mean_given: bool = True


@dataclass(frozen=True, repr=False)
class Accuracy(Brief):
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


class Loss(Protocol):
    """What a design takes from people with given limits."""

    def epsilons(self, limits: Array) -> Array:
        """Return what people with these limits lose at most."""

    def mean_between(self, levels: Levels, start: int, stop: int) -> float:
        """Average that over the people from one entry of the levels up to another."""


@dataclass(frozen=True, repr=False)
class Epsilons(Brief):
    """A loss as a plain function from limits to epsilons, for a design of one's own.

    >>> Epsilons(lambda limits: limits / 2).epsilons(np.array([1.0, 3.0]))
    array([0.5, 1.5])
    """

    function: Callable[[Array], Array]

    def epsilons(self, limits: Array) -> Array:
        """Apply the function."""
        return np.asarray(self.function(limits), dtype=np.float64)

    def mean_between(self, levels: Levels, start: int, stop: int) -> float:
        """Average over the people of these levels."""
        return float(np.average(self.epsilons(levels.limits[start:stop]), weights=levels.counts[start:stop]))


class Rule(Protocol):
    """A design: what it takes from a person with a given limit, how wrong it is, and how it would be drawn.

    Everything that `compare` and `simulate` show goes through these four, for the optimum, for what others do and for a
    design of your own (``designs={"mine": …}``). Values are in units of the range, from 0 at the lower bound to 1. A
    design knows limits, never ids: it is of constant size whatever the number of people.
    """

    @property
    def unbiased(self) -> bool:
        """Whether values unrelated to limits are met on average, wherever their mean lies."""

    @property
    def loss(self) -> Loss:
        """What people lose; more than a limit is refused."""

    def accuracy(self, levels: Levels, setting: Setting) -> Accuracy:
        """Compute the error over these people in closed form."""

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Publish once for each simulated campaign, in units of the range from the lower bound."""


def setting_of(plan: Plan, mean: float | None) -> Setting:
    """Take over what a plan declares; the mean of the values is the middle of the bounds unless given."""
    ruler = ruler_of(plan)
    middle = _mean_of_a_sheet(plan, mean) if ruler.bounds is None else _mean_within(ruler.bounds, mean)
    gap = ruler.max_gap / ruler.width
    return Setting(plan.spread, middle, gap, plan.noise_constant, worst_price(plan), mean is not None)


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
