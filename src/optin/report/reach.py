"""How far a planned release will be off, before it is drawn (E22)."""

from __future__ import annotations

import math
from typing import Protocol

from optin.announcement import Announcement
from optin.kernel.halfwidth import Weighing, half_width, heaviest_weight
from optin.planning import Plan
from optin.releasing.intervals import check_level

__all__ = ["announced_reach", "planned_reach"]


def planned_reach(plan: Plan, level: float = 0.95) -> float:
    """Return half the width of the interval for the population's mean that this plan leads to at full turnout.

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230), bounds=(0, 1))
    >>> round(planned_reach(plan), 4)
    0.0368
    """
    at_cap = plan.cap / plan.epsilon_total if math.isfinite(plan.eta) else plan.pooled_weight
    half = _half(plan, plan.people, plan.weight_squares, at_cap, plan.noise_scale, error=check_level(level))
    return half + plan.bias_bound


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
    at_cap = offer.largest_promise / offer.total_grains
    return _half(offer, offer.people, squares, at_cap, scale, error=check_level(level)) + offer.bias_bound


class _Scaled(Protocol):
    @property
    def width(self) -> float: ...
    @property
    def data_variance(self) -> float: ...


def _half(terms: _Scaled, people: int, squares: float, at_cap: float, scale: float, *, error: float) -> float:
    heaviest = float(heaviest_weight(people, squares, at_cap))
    return half_width(error, Weighing(terms.width, terms.data_variance, squares, heaviest, scale))[0]
