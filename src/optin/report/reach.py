"""How far a planned release will be off, before it is drawn (E14)."""

from __future__ import annotations

import math
from typing import Protocol

from optin.announcement import Announcement
from optin.planning import Plan
from optin.releasing.intervals import FEW_PEOPLE, check_level, hoeffding_reach, laplace_reach, normal_laplace_reach

__all__ = ["announced_reach", "planned_reach"]


def planned_reach(plan: Plan, level: float = 0.95) -> float:
    """Return half the width of the interval for the population's mean that this plan leads to at full turnout.

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230), bounds=(0, 1))
    >>> round(planned_reach(plan), 4)
    0.0355
    """
    return _reach(plan, plan.weight_squares, plan.noise_scale, plan.bias_bound, error=check_level(level))


def announced_reach(offer: Announcement, level: float = 0.95) -> float:
    """Return the same for what was announced, from its own sums.

    >>> import optin
    >>> agents = optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
    >>> plan = optin.plan(agents, bounds=(0, 1))
    >>> math.isclose(announced_reach(plan.announce(agents)), planned_reach(plan), rel_tol=1e-6)
    True
    """
    squares = offer.total_squared_grains / offer.total_grains**2
    scale = 0.0 if offer.noiseless else 1.0 / offer.eta
    return _reach(offer, squares, scale, offer.max_gap * offer.tilt, error=check_level(level))


class _Scaled(Protocol):
    @property
    def width(self) -> float: ...
    @property
    def data_variance(self) -> float: ...


def _reach(terms: _Scaled, weight_squares: float, scale: float, bias: float, *, error: float) -> float:
    """Add up E14's reach of people and noise, and E15's bias; below thirty effective people by Hoeffding."""
    if weight_squares * FEW_PEOPLE > 1.0:
        share = error / 2.0 if scale > 0 else error
        people = hoeffding_reach(share, width=terms.width, sum_squared_weights=weight_squares)
        return people + laplace_reach(share, scale=scale) + bias
    sd = math.sqrt(terms.data_variance * weight_squares)
    return normal_laplace_reach(error, sd=sd, scale=scale) + bias
