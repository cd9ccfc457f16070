"""What ± means on pages, before a release is drawn and after (E22)."""

from __future__ import annotations

import math

from optin.announcement import Announcement
from optin.announcement.offer import PRIVACY_CONSTRAINED
from optin.planning import Plan
from optin.planning.cautions import assumption


def planned_reach(plan: Plan, level: float = 0.95, *, turnout: float = 1.0) -> float:
    """Return half of the interval for the population's mean that this plan leads to: at 95 %, what ± means."""
    return plan.half_width(level, turnout=turnout)


def announced_reach(offer: Announcement, level: float = 0.95, *, turnout: float = 1.0) -> float:
    """Return the same for what was announced, from its own sums."""
    return offer.half_width(level, turnout=turnout)


def assumption_of(terms: Plan | Announcement, guard: str = "") -> str:
    """Say what the interval that a plan or an offer leads to leaves out, and what would guard against it."""
    gap = terms.half_width() / terms.tilt if terms.tilt > 0 else math.inf
    guard = guard if terms.model == PRIVACY_CONSTRAINED else ""
    return assumption(gap, width=terms.width, max_gap=terms.max_gap, tilt=terms.tilt, guard=guard)
