"""What the ± of a plan or an offer leaves out (E22)."""

from __future__ import annotations

import math

from optin.announcement import Announcement
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.planning import Plan
from optin.planning.cautions import assumption


def assumption_of(terms: Plan | Announcement, guard: str = "") -> str:
    """Say what the interval that a plan or an offer leads to leaves out, and what would guard against it."""
    gap = terms.half_width() / terms.tilt if terms.tilt > 0 else math.inf
    guard = guard if terms.model == PRIVACY_CONSTRAINED else ""
    return assumption(gap, width=terms.width, max_gap=terms.max_gap, tilt=terms.tilt, guard=guard)
