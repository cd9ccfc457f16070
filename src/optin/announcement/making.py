"""Turn a plan into an announcement: freeze every promise in grains and find a variance that covers the rounding.

People in public groups (E27) are promised by the design of their own; people who are in none are one group here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from optin.agents import Agents, QuasiLinear
from optin.announcement.coarsening import as_before, better, is_coarse, told_shares, under_seal, with_neighbours
from optin.announcement.exact import promised_accuracy
from optin.announcement.fitness import check_fit
from optin.announcement.naming import check_round, checked_campaign, new_campaign
from optin.announcement.numbers import AnnouncedDesign, ExactSums, PublicNumbers
from optin.announcement.offer import Announcement
from optin.announcement.terms import QUASI_LINEAR, Conditions, Terms, expect_one_question
from optin.errors import Argument, BadInput, Infeasible
from optin.grains.arrays import HIGHEST_EPSILON
from optin.grains.exact_sums import SheetSums
from optin.grains.people import promises_of
from optin.grains.promised_groups import PromisesByGroup
from optin.kernel.rounding import nearest
from optin.planning.grouped import as_planned
from optin.planning.shared_numbers import PromisedVariance
from optin.wording.groups import SMALLEST_GROUP, shown_group

if TYPE_CHECKING:
    from optin.planning import Plan

MIN_PEOPLE = SMALLEST_GROUP
"""Fewer people than this are refused unless told otherwise."""
_LARGEST_RISE = 2.0**-7
Offers = tuple[Announcement, ...]


def announce(
    plan: Plan,
    agents: Agents,
    *,
    campaign: str | None = None,
    round: int = 1,  # noqa: A002 - the word of the contract
    min_people: int = MIN_PEOPLE,
    conditions: Conditions | None = None,
    earlier: Announcement | None = None,
) -> Announcement:
    """Freeze a plan into the public offer, refusing groups so small that its sums would give limits away.

    The announced cap is a power of 2^(1/8) next to the planned one, which would tell more about limits (`is_coarse`). Promises
    are rounded down to whole grains, and nobody is promised more than their own limit. ``min_people``
    counts those promised anything at all; below the usual 10 it says that limits are no secret. From 10 on, one to three
    people below a cap that all others reach are refused too, for the sums give their limits away. ``conditions`` (quorum,
    dates, mode) become part of what was announced. ``earlier`` is what was announced of this very round before: it is announced
    again as it was then, with the same cap and under the same seal. Of people in public groups all of this is asked of each
    group, and there is one announcement with an offer to each.
    """
    _check_people(plan, agents)
    _check_count(min_people)
    check_round(round)
    name, stated = (
        new_campaign() if campaign is None else checked_campaign(campaign),
        _conditions(plan, conditions, min_people),
    )
    drafts = tuple(draft_of(each, campaign=name, round=round, conditions=stated) for each in plan.parts)
    crowd = _Crowd(as_planned(agents, plan.designs) if plan.grouped else agents, grouped=plan.grouped)
    again = as_before(plan, drafts, earlier)
    offers = _offered(plan, drafts, crowd) if again is None else _with_tilts(_count(again, crowd), crowd)
    check_fit(crowd.promises(offers), min_people, names=tuple(plan.groups))
    return under_seal(plan, _together(plan, offers), earlier)


def _offered(plan: Plan, drafts: Offers, crowd: _Crowd) -> Offers:
    """Freeze every promise: at the cap that is announced, or with a promised variance that covers the rounding."""
    if plan.model == QUASI_LINEAR:
        return _with_tilts(_cover_rounding(drafts, crowd), crowd)
    if not is_coarse(plan):
        return _with_tilts(_count(drafts, crowd), crowd)
    gapped = plan.asked.gapped
    sides = [_count(side, crowd) for side in with_neighbours(drafts)]
    weighed = [_with_tilts(side, crowd) if gapped else side for side in sides]
    chosen = tuple(better(part, *pair) for part, *pair in zip(plan.parts, *weighed, strict=True))
    return _with_told_shares(plan, chosen if gapped else _with_tilts(chosen, crowd), crowd)


def _with_told_shares(plan: Plan, offers: Offers, crowd: _Crowd) -> Offers:
    """Split what everyone gives by shares that follow from rounded numbers, where the plan's tell more (`told_shares`)."""
    if not plan.asked.one_cap:
        return offers
    shares = [told_shares(part, offer) for part, offer in zip(plan.parts, offers, strict=True)]
    stated = (
        offer.stating(public=replace(offer.public, shares=each)) for offer, each in zip(offers, shares, strict=True)
    )
    return _with_tilts(_count(tuple(stated), crowd), crowd)


@dataclass(frozen=True)
class _Crowd:
    """People, and whether each of their groups has an offer of its own."""

    agents: Agents
    grouped: bool

    def promises(self, offers: Offers) -> PromisesByGroup:
        """Join offers, one for each group, with people's limits."""
        for offer in offers:
            offer.expect_model(self.agents)
        return promises_of(self.agents, offers, grouped=self.grouped)


def _together(plan: Plan, offers: Offers) -> Announcement:
    """Put the offers to all groups into one; an offer to everyone is that already."""
    if not plan.grouped:
        return offers[0]
    _check_alike(plan, offers)
    designs = tuple(
        AnnouncedDesign(offer.public, offer.only_design.exact, design.group, design.own.merged)
        for design, offer in zip(plan.designs, offers, strict=True)
    )
    return replace(offers[0], designs=designs)


def _check_alike(plan: Plan, offers: Offers) -> None:
    """Refuse exact results of some groups beside noisy ones of others: whoever reads "exact" must know of whom."""
    if len({offer.noiseless for offer in offers if not offer.public.empty}) > 1:
        exact = next(name for name, offer in zip(plan.groups, offers, strict=True) if offer.noiseless)
        raise BadInput(
            "nobody who counts in group {group} set a limit, so it would be released exactly, and the others with noise;"
            " announce it by itself, or ask its people for limits",
            group=shown_group(exact),
        )


def _conditions(plan: Plan, conditions: Conditions | None, min_people: int) -> Conditions:
    """State beforehand how many must answer for a result: to a question of several, and in each group."""
    stated, alone = conditions or Conditions(), len(plan.sheet) == 1 and not plan.grouped
    if stated.quorum_error is not None and math.isfinite(stated.quorum_error):
        expect_one_question(len(plan.sheet))
    return stated if alone else replace(stated, min_people=int(min_people))


def _with_tilts(offers: Offers, crowd: _Crowd) -> Offers:
    """State the tilt of each offer, the largest over its questions."""
    promises = crowd.promises(offers)
    totals = [tuple(each.total_grains for each in offer.expect_sealed().question_sums) for offer in offers]
    above = promises.sums_above([bars(total, offer.people) for offer, total in zip(offers, totals, strict=True)])
    all_tilts = [tilts_of(each, total, offer.people) for offer, total, each in zip(offers, totals, above, strict=True)]
    return tuple(
        offer.stating(public=replace(offer.public, tilt=max(tilts)))
        for offer, tilts in zip(offers, all_tilts, strict=True)
    )


def tilts_of(above: Sequence[tuple[int, int]], totals: Sequence[int], people: int) -> tuple[float, ...]:
    """Compute the tilt of each question from what is promised above an equal share."""
    return tuple(tilt_of(*each, total_grains=total, people=people) for each, total in zip(above, totals, strict=True))


def bars(totals: tuple[int, ...], people: int) -> tuple[int, ...]:
    """Return the grains of an equal share of each question's total, rounded down: whoever gives more, tilts (E15).

    TV is the sum of max(w - 1/n, 0): only people with A > total / n count, and for integers that is A > floor(total / n).
    """
    return tuple(total // people for total in totals)


def tilt_of(count: int, above: int, *, total_grains: int, people: int) -> float:
    """Compute E15's TV from how many are promised more than ``total_grains // people`` grains, and how much together."""
    if total_grains == 0:
        return 0.0
    return nearest(Fraction(above * people - count * total_grains, total_grains * people))


def _check_people(plan: Plan, agents: Agents) -> None:
    if len(agents) != plan.people:
        raise BadInput(
            "the plan was made for {people} people, not {count}: announce to those planned for",
            people=plan.people,
            count=len(agents),
        )


def _check_count(min_people: object) -> None:
    """Refuse what is no count: nothing is below NaN, so every group would be large enough for it."""
    if isinstance(min_people, bool) or not isinstance(min_people, (int, np.integer)) or min_people < 0:
        raise BadInput("{min_people} must be a whole number of 0 or more", min_people=Argument("min_people"))


def draft_of(plan: Plan, *, campaign: str, round: int, conditions: Conditions | None = None) -> Announcement:  # noqa: A002
    """State what the plan of undivided people, or of one group, fixes; sums, variance and promise are still to be found."""
    noiseless = math.isinf(plan.epsilon_total)
    lowered = not noiseless and plan.cap > HIGHEST_EPSILON
    public = PublicNumbers(
        people=plan.people,
        cap=HIGHEST_EPSILON if lowered else plan.cap,
        noiseless=noiseless,
        tilt=0.0,
        variances=(0.0,) * len(plan.sheet),
        shares=plan.integer_shares,
        cap_lowered=lowered,
        promise=plan.promise,
    )
    terms = Terms(campaign, round, plan.model, plan.sheet, conditions or Conditions())
    return Announcement.undivided(terms, public, (ExactSums(0, 0),) * len(plan.sheet))


def _count(drafts: Offers, crowd: _Crowd) -> Offers:
    """Add up everyone's grains, group by group, and state the noise and the variance that follow from them.

    Where there are groups, one in which nobody gives a grain is announced as such, and nothing will be published of it.
    """
    sums = [everyone for everyone, _ in crowd.promises(drafts).sums()]
    if not any(everyone.grains for everyone in sums):
        raise Infeasible("every promise is below one grain (2^-32 of epsilon): nothing can be released")
    return tuple(_counted(draft, everyone) for draft, everyone in zip(drafts, sums, strict=True))


def _counted(draft: Announcement, everyone: SheetSums) -> Announcement:
    sums = tuple(ExactSums(each.grains, each.squares) for each in everyone.questions)
    if everyone.grains and not all(each.total_grains for each in sums):
        lacking = next(question for question, each in zip(draft.sheet, sums, strict=True) if not each.total_grains)
        raise Infeasible(
            'nobody could give a single grain (2^-32 of epsilon) for question "{question}": limits are too small for so'
            " many questions",
            question=lacking.name,
        )
    return draft.stating(sums=sums)


def _cover_rounding(drafts: Offers, crowd: _Crowd) -> Offers:
    """Raise the promised variance of each group until the design in whole grains keeps it (E12, slack 0 included).

    Grains are rounded down, so the noise grows by a part in 10^9 or so; people then want a little less, and so on. Each
    step at least doubles the room, so that a slope near 1 takes few steps. Near a tangency no promise close to the
    planned one holds, and a promise far from it would be another plan: that is refused.
    """
    planned = [cast("float", draft.promised_variance) for draft in drafts]
    rising = [_Rising(promise, promise * 2.0**-40) for promise in planned]
    while all(each.promise <= most * (1.0 + _LARGEST_RISE) for each, most in zip(rising, planned, strict=True)):
        stated = tuple(_promise(draft, crowd.agents, at.promise) for draft, at in zip(drafts, rising, strict=True))
        offers = _count(stated, crowd)
        rising = [at.after(offer) for at, offer in zip(rising, offers, strict=True)]
        if all(each.holds for each in rising):
            return offers
    raise Infeasible(
        "rounding the promises to whole grains moves this design away from what people accept: it stands where benefit"
        " and cost only just touch, or promises are too small. Plan again with a little slack"
    )


@dataclass(frozen=True)
class _Rising:
    """A promise on its way up, the room it was given last, and whether whole grains keep it."""

    promise: float
    room: float
    holds: bool = False

    def after(self, offer: Announcement) -> _Rising:
        """Look at what the promise leads to, and raise it if it is not kept."""
        reached = promised_accuracy(offer.sheet, offer.expect_sealed().question_sums, noiseless=offer.noiseless)
        if reached <= Fraction(self.promise):
            return replace(self, holds=True)
        room = 2.0 * self.room
        return _Rising(max(self.promise + room, nearest(reached) * (1.0 + 2.0**-40)), room)


def _promise(draft: Announcement, agents: Agents, promise: float) -> Announcement:
    """State the promise and what people gain by it; a benefit that differs between people stays unstated."""
    people = cast("QuasiLinear", agents)
    surplus = people.surplus_at(promise, data_variance=draft.data_variance)
    worth = None if draft.benefit_at_promise is None else float(people.benefit_at(promise))
    promised = replace(
        cast("PromisedVariance", draft.promise),
        variance=promise,
        surplus=surplus if isinstance(surplus, float) else None,
        benefit_at_promise=worth,
    )
    return draft.stating(public=replace(draft.public, promise=promised))
