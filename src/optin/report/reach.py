"""How far a planned release will be off, before it is drawn (E22)."""

from __future__ import annotations

import math
from typing import Protocol

from optin.announcement import Announcement
from optin.announcement.offer import PRIVACY_CONSTRAINED
from optin.kernel.halfwidth import Weighing, half_width, heaviest_weight
from optin.planning import Plan
from optin.planning.cautions import assumption
from optin.releasing.intervals import check_level

__all__ = ["announced_reach", "assumption_of", "planned_reach"]


def planned_reach(plan: Plan, level: float = 0.95, *, turnout: float = 1.0) -> float:
    """Return half the width of the interval for the population's mean that this plan leads to: at 95 %, what ± means.

    ``turnout`` is the share of people who join; whoever they are, sums are taken at their average.

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230), bounds=(0, 1))
    >>> round(planned_reach(plan), 4)
    0.0368
    """
    at_cap = plan.cap / plan.epsilon_total if math.isfinite(plan.eta) else plan.pooled_weight
    people, squares, scale = plan.people * turnout, plan.weight_squares / turnout, plan.noise_scale / turnout
    return _half(plan, people, squares, at_cap / turnout, scale, error=check_level(level)) + plan.bias_bound


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


def assumption_of(terms: Plan | Announcement, guard: str = "") -> str:
    """Say what the interval that a plan or an offer leads to leaves out, and what would guard against it."""
    half = planned_reach(terms) if isinstance(terms, Plan) else announced_reach(terms)
    gap = half / terms.tilt if terms.tilt > 0 else math.inf
    guard = guard if terms.model == PRIVACY_CONSTRAINED else ""
    return assumption(gap, width=terms.width, max_gap=terms.max_gap, tilt=terms.tilt, guard=guard)


class _Scaled(Protocol):
    @property
    def width(self) -> float: ...
    @property
    def data_variance(self) -> float: ...


def _half(terms: _Scaled, people: float, squares: float, at_cap: float, scale: float, *, error: float) -> float:
    heaviest = float(heaviest_weight(people, squares, at_cap))
    return half_width(error, Weighing(terms.width, terms.data_variance, squares, heaviest, scale))[0]
