"""Turn a plan into an announcement: freeze every promise in grains and find a variance that covers the rounding."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from optin.agents import Agents, QuasiLinear
from optin.announcement.exact import exact_variance, promised_accuracy
from optin.announcement.naming import check_round, checked_campaign, new_campaign
from optin.announcement.numbers import ExactSums, PublicNumbers
from optin.announcement.offer import Announcement
from optin.announcement.terms import QUASI_LINEAR, Conditions, Terms
from optin.errors import Argument, BadInput, Infeasible
from optin.grains.arrays import HIGHEST_EPSILON, Answers, Codes
from optin.grains.people import Promises
from optin.grains.splitting import part
from optin.kernel.rounding import nearest
from optin.planning.promise import PromisedVariance
from optin.wording.groups import SMALLEST_GROUP

if TYPE_CHECKING:
    from optin.planning import Plan

MIN_PEOPLE = SMALLEST_GROUP
"""Fewer people than this are refused unless told otherwise."""
_FEW_BELOW_CAP = 3
_LARGEST_RISE = 2.0**-7


def announce(
    plan: Plan,
    agents: Agents,
    *,
    campaign: str | None = None,
    round: int = 1,  # noqa: A002 - the word of the contract
    min_people: int = MIN_PEOPLE,
    conditions: Conditions | None = None,
) -> Announcement:
    """Freeze a plan into the public offer, refusing groups so small that its sums would give limits away.

    Promises are rounded down to whole grains, so nobody is promised more than the plan allows them. ``min_people``
    counts those promised anything at all; below the usual 10 it says that limits are no secret. From 10 on, one to three
    people below a cap that all others reach are refused too, for the sums give their limits away. ``conditions`` (quorum,
    dates, mode) become part of what was announced.
    """
    _check_people(plan, agents)
    _check_count(min_people)
    check_round(round)
    name = new_campaign() if campaign is None else checked_campaign(campaign)
    draft = draft_of(plan, campaign=name, round=round, conditions=_conditions(plan, conditions, min_people))
    offer = _cover_rounding(draft, agents) if plan.model == QUASI_LINEAR else _count(draft, agents)
    rule = offer.promises(agents)
    _check_enough(rule, min_people)
    totals = tuple(each.total_grains for each in offer.sealed)
    return replace(offer, public=replace(offer.public, tilt=max(tilts(rule, totals, people=offer.people))))


def _conditions(plan: Plan, conditions: Conditions | None, min_people: int) -> Conditions:
    """State beforehand how many must answer a question of several for it to be published."""
    stated = conditions or Conditions()
    return stated if len(plan.sheet) == 1 else replace(stated, min_people=int(min_people))


def tilts(
    rule: Promises, totals: tuple[int, ...], *, people: int, joined: Answers = None, codes: Codes = None
) -> tuple[float, ...]:
    """Compute E15's TV = sum of max(w - 1/n, 0) of each question from grains, exactly until the last step.

    Only people with A > total / n count, and for integers that is A > floor(total / n).
    """
    above = rule.sums_above(bars(totals, people), joined, codes)
    return tuple(tilt_of(*each, total_grains=total, people=people) for each, total in zip(above, totals, strict=True))


def bars(totals: tuple[int, ...], people: int) -> tuple[int, ...]:
    """Return the grains of an equal share of each question's total, rounded down: whoever gives more, tilts."""
    return tuple(total // people for total in totals)


def tilt_of(count: int, above: int, *, total_grains: int, people: int) -> float:
    """Compute it from how many are promised more than ``total_grains // people`` grains, and how much together."""
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


def _check_enough(rule: Promises, min_people: int) -> None:
    nothing = (0,) * len(rule.shares)
    promised = min(count for count, _ in rule.sums_above(nothing))
    if promised < min_people:
        raise BadInput(
            "only {promised} people are promised anything and at least {least} are needed ({min_people}): in so small a"
            " group the published sums can give single limits away. Ask more people, or lower {min_people} if limits"
            " are no secret",
            promised=promised,
            least=min_people,
            min_people=Argument("min_people"),
        )
    below = promised - max(count for count, _ in rule.sums_above(_below_the_cap(rule)))
    if min_people >= MIN_PEOPLE and 0 < below <= _FEW_BELOW_CAP < promised:
        raise BadInput(
            "all but {below} of {promised} people are promised the cap: the published sums then give the limits of the"
            " few below it away. Ask more people with low limits, or set {min_people} below {least} if limits are no"
            " secret",
            below=below,
            promised=promised,
            min_people=Argument("min_people"),
            least=MIN_PEOPLE,
        )


def _below_the_cap(rule: Promises) -> tuple[int, ...]:
    """Return, for each question, one grain less than whoever reaches the cap gives."""
    capped = np.array([rule.most], dtype=np.int64)
    return tuple(int(part(capped, share)[0]) - 1 for share in rule.shares)


def draft_of(plan: Plan, *, campaign: str, round: int, conditions: Conditions | None = None) -> Announcement:  # noqa: A002
    """State what the plan fixes; sums, variance and promise are still to be found."""
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
    return Announcement(terms, public, (ExactSums(0, 0),) * len(plan.sheet))


def _count(draft: Announcement, agents: Agents) -> Announcement:
    """Add up everyone's grains, and state the noise and the variance that follow from them."""
    everyone, _ = draft.promises(agents).sums()
    sums = tuple(ExactSums(each.grains, each.squares) for each in everyone.questions)
    if not any(each.total_grains for each in sums):
        raise Infeasible("every promise is below one grain (2^-32 of epsilon): nothing can be released")
    if not all(each.total_grains for each in sums):
        lacking = next(question for question, each in zip(draft.sheet, sums, strict=True) if not each.total_grains)
        raise Infeasible(
            'nobody could give a single grain (2^-32 of epsilon) for question "{question}": limits are too small for so'
            " many questions",
            question=lacking.name,
        )
    return replace(draft, public=replace(draft.public, variances=variances_of(draft, sums)), sealed=sums)


def variances_of(offer: Announcement, sums: tuple[ExactSums, ...]) -> tuple[float, ...]:
    """Return the variance of each question, rounded to the nearest float."""
    questions = zip(offer.sheet, sums, strict=True)
    return tuple(nearest(exact_variance(question, each, noiseless=offer.noiseless)) for question, each in questions)


def _cover_rounding(draft: Announcement, agents: Agents) -> Announcement:
    """Raise the promised variance until the design in whole grains keeps it (E12, slack 0 included).

    Grains are rounded down, so the noise grows by a part in 10^9 or so; people then want a little less, and so on. Each
    step at least doubles the room, so that a slope near 1 takes few steps. Near a tangency no promise close to the
    planned one holds, and a promise far from it would be another plan: that is refused.
    """
    planned = promise = cast("float", draft.promised_variance)
    room = promise * 2.0**-40
    while promise <= planned * (1.0 + _LARGEST_RISE):
        offer = _count(_promise(draft, agents, promise), agents)
        reached = promised_accuracy(offer.sheet, offer.sealed, noiseless=offer.noiseless)
        if reached <= Fraction(promise):
            return offer
        room *= 2.0
        promise = max(promise + room, nearest(reached) * (1.0 + 2.0**-40))
    raise Infeasible(
        "rounding the promises to whole grains moves this design away from what people accept: it stands where benefit"
        " and cost only just touch, or promises are too small. Plan again with a little slack"
    )


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
    return replace(draft, public=replace(draft.public, promise=promised))
