"""The announced cap: a power of 2^(1/8) next to the planned one, whichever is more accurate.

The planned cap is the root of an equation in everyone's limits, so that it tells about them to its last digit. A
neighbouring power of 2^(1/8) tells little, and costs little: near an optimum accuracy hardly changes. It may lie above the
planned cap, and still nobody gives more than their own limit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from optin.announcement.offer import Announcement
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.grains.arrays import HIGHEST_EPSILON
from optin.kernel.coarse import neighbours, told_within
from optin.kernel.sharing import SHARES, integer_shares, shares_at, theta_of

if TYPE_CHECKING:
    from optin.planning import Plan

Offers = tuple[Announcement, ...]


def is_coarse(plan: Plan) -> bool:
    """Say whether a plan's cap is announced coarsely, and its sums are kept apart.

    Not so at a given eta, which is the sum itself, nor without noise, where every cap is the same. People with costs are
    promised a variance that follows from their costs, and each computes their own epsilon from it: their sums are public.
    """
    noiseless = any(math.isinf(design.sums.epsilon_total) for design in plan.designs)
    return plan.model == PRIVACY_CONSTRAINED and not plan.eta_given and not noiseless


def with_neighbours(drafts: Offers) -> tuple[Offers, Offers]:
    """Return the same drafts at the power of 2^(1/8) below each cap, and at the one above."""
    pairs = [_neighbours(draft) for draft in drafts]
    return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)


def _neighbours(draft: Announcement) -> tuple[Announcement, Announcement]:
    """Leave a cap of nobody, and the highest there is, which is a power of 2^(1/8) itself."""
    if draft.cap == 0.0 or draft.cap == HIGHEST_EPSILON:
        return draft, draft
    low, high = (replace(draft.public, cap=cap) for cap in neighbours(draft.cap))
    return draft.stating(public=low), draft.stating(public=high)


_SIDES = (Fraction(1, 4), Fraction(3, 4))


def possible_shares(plan: Plan, offer: Announcement) -> tuple[tuple[int, ...], ...]:
    """List E19's shares as they follow from rounded numbers: of little noise and large squares, and of the opposite.

    Those of the plan would tell sums to six figures. Where all questions matter alike, shares follow from the questions alone,
    and are the plan's.
    """
    if not is_coarse(plan) or not plan.asked.one_cap or offer.public.empty:
        return (offer.shares,)
    told = offer.public.rounded(offer.sheet)
    noise, squares, people = max(told.noises), max(told.squares), told.people
    shares = (
        shares_at(
            plan.asked.demand,
            noise=told_within(noise, people, side),
            squares=told_within(squares, people, 1 - side),
            tilt=told_within(told.tilt, people),
        )
        for side in _SIDES
    )
    return tuple(integer_shares(each) or offer.shares for each in shares)


def told_shares(plan: Plan, offer: Announcement) -> tuple[int, ...]:
    """Return the better of the possible shares by the exact numbers of a draft: which of the two it is tells one bit of them.

    What matters most decides how accurate a sheet is, so that shares a tenth off cost a tenth of it and not a hundredth.
    """
    exact = {"noise": max(offer.public.noises), "squares": max(offer.public.squares), "tilt": offer.tilt}
    possible = possible_shares(plan, offer)
    if len(possible) == 1:
        return possible[0]
    demand = plan.asked.demand
    return min(possible, key=lambda shares: theta_of(demand, tuple(each / SHARES for each in shares), **exact))


def possible_caps(plan: Plan, draft: Announcement) -> tuple[float, ...]:
    """List the caps that a plan may be announced with: its own, as earlier versions did, or one next to it."""
    beside = with_neighbours((draft,)) if is_coarse(plan) else ()
    return (draft.cap, *(each.cap for side in beside for each in side))


def as_before(plan: Plan, drafts: Offers, earlier: Announcement | None) -> Offers | None:
    """Return drafts with the caps of an earlier announcement; None where there is none, or it is not this plan's."""
    if earlier is None or not is_coarse(plan) or len(earlier.designs) != len(drafts):
        return None
    caps = [design.public.cap for design in earlier.designs]
    if any(cap not in possible_caps(plan, draft) for cap, draft in zip(caps, drafts, strict=True)):
        return None
    return tuple(
        draft.stating(public=replace(draft.public, cap=design.public.cap, shares=design.public.shares))
        for draft, design in zip(drafts, earlier.designs, strict=True)
    )


def under_seal(plan: Plan, offer: Announcement, earlier: Announcement | None = None) -> Announcement:
    """Keep exact numbers apart where the cap is coarse; what was announced before is as it was, with the salt it had."""
    if not is_coarse(plan) or (earlier is not None and earlier.seal is None):
        return offer
    return offer.under_seal(None if earlier is None or earlier.seal is None else earlier.seal.salt)


def better(plan: Plan, low: Announcement, high: Announcement) -> Announcement:
    """Return the offer with the smaller worst-case error, of two alike the one with the lower cap."""
    return low if worst_case(plan, low) <= worst_case(plan, high) else high


def worst_case(plan: Plan, offer: Announcement) -> float:
    """Return what a plan makes least, in whole grains: the largest importance times v, a gap's bias included (E15, E19).

    Of one question it is the worst-case MSE.
    """
    variances = offer.public.variances
    if offer.public.empty:
        return math.inf
    if len(variances) == 1:
        return variances[0] + (offer.sheet.alone.max_gap * offer.tilt) ** 2
    declared = (question.data_variance for question in offer.sheet)
    ratios = tuple(variance / each for variance, each in zip(variances, declared, strict=True))
    return plan.asked.demand.theta(ratios, offer.tilt)
