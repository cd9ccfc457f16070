"""Whether an announcement was made from a plan: everything the plan fixes is in it, up to the rounding to grains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optin.announcement.coarsening import is_coarse, possible_caps, possible_shares
from optin.announcement.making import draft_of
from optin.announcement.offer import Announcement
from optin.announcement.terms import QUASI_LINEAR
from optin.kernel.rounding import GRAIN
from optin.kernel.sharing import SHARES
from optin.questions import Number

if TYPE_CHECKING:
    from optin.planning import Plan

_WORDS = {
    "model": "model",
    "benefit_name": "benefit",
    "outside": "outside option",
}
_NUMBER = {"bounds": "bounds", "data_variance": "declared variance", "max_gap": "declared gap"}
_ROUNDED = 1e-9
_TOLD = 0.2
"""How far a sum that follows from rounded numbers may be off, and a sum of squares twice so (`optin.kernel.coarse.COARSEST`)."""
_RAISED = 2.0**-6
"""Where people weigh costs, the promise is raised by up to 2^-7 so that it holds in whole grains; they give less then."""


def differs_from_plan(offer: Announcement, plan: Plan) -> str | None:
    """Name what of an announcement this plan would have announced otherwise; None if it may be its own."""
    if _named(offer) != _named(plan):
        return "groups"
    faults = (_differs(part, own) for part, own in zip(offer.parts, plan.parts, strict=True))
    return next((fault for fault in faults if fault is not None), None)


def _named(divided: Announcement | Plan) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(design.group, design.labels) for design in divided.designs]


def _differs(offer: Announcement, plan: Plan) -> str | None:
    """Compare what is announced to everyone, or to one group."""
    draft = draft_of(plan, campaign=offer.campaign, round=offer.round)
    for name, words in _WORDS.items():
        if getattr(draft, name) != getattr(offer, name):
            return words
    if not offer.public.people <= draft.people <= offer.public.most_people:
        return "people"
    if offer.cap not in possible_caps(plan, draft):
        return "cap"
    if offer.shares not in (draft.shares, *possible_shares(plan, offer)):
        return "shares of the questions"
    if (asked := _differing_questions(offer, plan)) is not None:
        return asked
    if not _close(offer.promised_variance, plan.promised_variance):
        return "promised variance"
    if draft.noiseless != offer.noiseless:
        return "noise"
    if plan.epsilon_total == 0.0:
        return None if offer.public.empty else "noise"
    return None if draft.cap_lowered or draft.noiseless else _differing_sums(offer, plan)


def _differing_questions(offer: Announcement, plan: Plan) -> str | None:
    """Compare what is asked in numbers; a single number may be asked in other words than it was planned with."""
    if len(offer.sheet) != len(plan.sheet):
        return "questions"
    for asked, planned in zip(offer.sheet, plan.sheet, strict=True):
        if not isinstance(asked, Number) or not isinstance(planned, Number):
            if asked != planned:
                return "questions"
            continue
        for name, words in _NUMBER.items():
            if getattr(asked, name) != getattr(planned, name):
                return words
    return None


def _differing_sums(offer: Announcement, plan: Plan) -> str | None:
    """Compare sums of epsilon and of squares: a person gives a question less than two grains below what was planned."""
    faults = (_differing_weights(offer, plan, place) for place in range(len(offer.sheet)))
    return next((fault for fault in faults if fault is not None), None)


def _differing_weights(offer: Announcement, plan: Plan, place: int) -> str | None:
    grain, part = 2.0 / GRAIN, offer.shares[place] / SHARES
    total, squares, told = _told_sums(offer, place)
    planned, planned_squares = part * plan.epsilon_total, plan.weight_squares * (part * plan.epsilon_total) ** 2
    share = told + (_RAISED if plan.model == QUASI_LINEAR else _ROUNDED)
    moved = (
        offer.cap / plan.cap if is_coarse(plan) else 1.0
    )  # whoever is below both caps gives the same, nobody more than so
    if not _lies(total, planned, moved, plan.people * grain + share * planned):
        return "noise"
    most = part * min(max(plan.cap, offer.cap), plan.epsilon_total * max(moved, 1.0))
    room = 2.0 * most * plan.people * grain + 2.0 * share * planned_squares
    return None if _lies(squares, planned_squares, moved * moved, room) else "weights"


def _told_sums(offer: Announcement, place: int) -> tuple[float, float, float]:
    """Return the sums of epsilons and of their squares, and how far off they may be, where only rounded numbers are known."""
    if offer.sealed is None:
        total = offer.public.reach(place)
        return total, offer.public.squares[place] * total * total, _TOLD
    sums = offer.sealed.question_sums[place]
    return sums.total_grains / GRAIN, sums.total_squared_grains / GRAIN / GRAIN, 0.0


def _lies(announced: float, planned: float, moved: float, room: float) -> bool:
    """Say whether a sum is what was planned, or what it can be at a cap so many times as high, but for rounding."""
    return planned * min(moved, 1.0) - room <= announced <= planned * max(moved, 1.0) + room


def _close(announced: float | None, planned: float | None) -> bool:
    if announced is None or planned is None:
        return announced is planned
    return math.isclose(announced, planned, rel_tol=_RAISED)
