"""Whether an announcement was made from a plan: everything the plan fixes is in it, up to the rounding to grains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optin.announcement.making import draft_of
from optin.announcement.offer import Announcement
from optin.announcement.terms import QUASI_LINEAR
from optin.kernel.rounding import GRAIN

if TYPE_CHECKING:
    from optin.planning import Plan

_WORDS = {
    "people": "people",
    "model": "model",
    "bounds": "bounds",
    "data_variance": "declared variance",
    "max_gap": "declared gap",
    "cap": "cap",
    "benefit_name": "benefit",
    "outside": "outside option",
}
_ROUNDED = 1e-9
_RAISED = 2.0**-6
"""Where people weigh costs, the promise is raised by up to 2^-7 so that it holds in whole grains; they give less then."""


def differs_from_plan(offer: Announcement, plan: Plan) -> str | None:
    """Name what of an announcement this plan would have announced otherwise; None if it may be its own."""
    draft = draft_of(plan, campaign=offer.campaign, round=offer.round)
    for name, words in _WORDS.items():
        if getattr(draft, name) != getattr(offer, name):
            return words
    if not _close(offer.promised_variance, plan.promised_variance):
        return "promised variance"
    if draft.noiseless != offer.noiseless:
        return "noise"
    return None if draft.cap_lowered or draft.noiseless else _differing_sums(offer, plan)


def _differing_sums(offer: Announcement, plan: Plan) -> str | None:
    """Compare sums of epsilon and of squares: a person's promise is less than a grain below what was planned."""
    grain = 1 / GRAIN
    total, squares = offer.total_grains * grain, offer.total_squared_grains * grain * grain
    planned, planned_squares = plan.epsilon_total, plan.weight_squares * plan.epsilon_total**2
    share = _RAISED if plan.model == QUASI_LINEAR else _ROUNDED
    if abs(total - planned) > plan.people * grain + share * planned:
        return "noise"
    if (
        abs(squares - planned_squares)
        > 2.0 * min(plan.cap, planned) * plan.people * grain + 2.0 * share * planned_squares
    ):
        return "weights"
    return None


def _close(announced: float | None, planned: float | None) -> bool:
    if announced is None or planned is None:
        return announced is planned
    return math.isclose(announced, planned, rel_tol=_RAISED)
