"""What a campaign could give: from assumed people while it is drafted, from cells of ten and more once limits are known.

An analyst who could plan on the real limits again and again, each time a little differently, could work out single ones.
Sliders therefore move over the cells that are shown anyway; the real limits are planned with once, to be announced. From
then on what is announced answers them: its numbers are public, and the design no longer changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, Description, describe
from optin.announcement import Announcement
from optin.campaign import plan
from optin.campaign.checking import variance_left
from optin.errors import BadInput, PromiseBroken
from optin.participation import without
from optin.planning import Plan
from optin.planning.half_widths import tilt_at
from optin.web.service import campaigns
from optin.web.service.asking import sheet_of
from optin.web.service.core import Service
from optin.web.service.drafts import PRIVACY_CONSTRAINED, WORDS, Draft, checked_draft
from optin.web.service.ladder import ladder_of
from optin.web.service.limit_cells import Cells, cells
from optin.web.service.lookups import agents_with
from optin.web.service.records import Preview, Visitor
from optin.wording.language import N_

MOST_PEOPLE = 10**6
_NOBODY_LEFT = N_("with so large a share of decliners nobody is left; choose a smaller one")


def accuracy(draft: Draft, counts: Sequence[int]) -> Preview:
    """Foresee a draft's accuracy for so many people on each step of the ladder."""
    draft = checked_draft(draft)
    rungs = ladder_of(draft.model)
    if len(counts) != len(rungs) or min(counts) < 0 or not 0 < sum(counts) <= MOST_PEOPLE:
        raise BadInput(
            "give {count} counts of people, one for each step, 1 to {most_people} people in all",
            count=len(rungs),
            most_people=MOST_PEOPLE,
        )
    planned = foreseen(draft, counts)
    return _seen(planned, planned.people)


def foreseen(draft: Draft, counts: Sequence[int]) -> Plan:
    """Plan a draft for so many people on each step of the ladder."""
    draft = checked_draft(draft)
    amounts = np.repeat([rung.amount for rung in ladder_of(draft.model)], counts)
    return _planned(draft, agents_with(draft, amounts))


@dataclass(frozen=True)
class Change:
    """Another setting, or a share of decliners; before the announcement everyone is at one end of their cell."""

    max_gap: float | None = None
    sd: float | None = None
    slack: float | None = None
    decline_share: float = 0.0
    careful: bool = True


AS_DRAFTED = Change()


def what_if(service: Service, analyst: Visitor, campaign: str, change: Change = AS_DRAFTED) -> Preview:
    """Ask what another setting, or a share of decliners, would do to the accuracy.

    Before the announcement it is seen through the cells, everyone at the ``careful`` end of theirs or at the other one;
    what will be announced lies between. Afterwards it is what the announced plan gives.
    """
    decline_share = change.decline_share
    if not 0.0 <= decline_share < 1.0:
        raise BadInput("{decline_share} must be at least 0 and below 1", decline_share=WORDS["decline_share"])
    shown = campaigns.show(service, analyst, campaign)
    given: dict[str, Any] = {"max_gap": change.max_gap, "data_sd": change.sd, "slack": change.slack}
    draft = checked_draft(replace(shown.draft, **{name: value for name, value in given.items() if value is not None}))
    if sheet_of(draft).one_number is None or (shown.announcement is not None and shown.announcement.grouped):
        raise BadInput("what if is asked of one number alone; the page of the plan shows each question of a sheet")
    if shown.announcement is not None:
        return _announced(shown.announcement, draft, decline_share)
    groups = cells(service, analyst, campaign)
    agents = agents_with(draft, _amounts(draft, groups, careful=change.careful))
    planned = _planned(draft, agents)
    seen = _seen(planned, len(agents))
    if groups.note:
        seen = replace(seen, warnings=(*seen.warnings, groups.note))
    if not decline_share:
        return seen
    left = without(planned, agents, share=decline_share)[0]
    if left.people >= len(agents):
        raise BadInput(_NOBODY_LEFT)
    stay = len(agents) - left.people
    half = _finite(planned.half_width(turnout=stay / len(agents)))
    tilt = tilt_at(planned, stay / len(agents))
    return replace(seen, people=stay, standard_error=_finite(left.standard_error), tilt=tilt, half_width=half)


def _announced(offer: Announcement, draft: Draft, decline_share: float) -> Preview:
    """Say what the announced plan gives if answers are spread so, and so many decline, whoever they are."""
    stay = offer.people - math.ceil(offer.people * decline_share - 1e-9)
    if not stay:
        raise BadInput(_NOBODY_LEFT)
    turnout = Fraction(stay, offer.people)
    data_variance = offer.data_variance if draft.data_sd is None else draft.data_sd**2
    asked = replace(offer.question, max_gap=draft.max_gap, data_variance=data_variance)
    offer = replace(offer, terms=replace(offer.terms, sheet=replace(offer.sheet, questions=(asked,))))
    told = replace(offer.public, variances=(variance_left(offer, turnout),))
    seen = replace(offer, designs=(replace(offer.only_design, public=told),))
    return Preview(
        people=stay,
        cap=_finite(offer.cap),
        standard_error=_finite(seen.standard_error),
        noise_scale=_finite(offer.noise_scale / float(turnout)),
        effective_people=_finite(data_variance / seen.variance),
        tilt=tilt_at(offer, float(turnout)),
        half_width=_finite(offer.half_width(turnout=float(turnout))),
        warnings=seen.warnings(),
    )


def pictured(service: Service, analyst: Visitor, campaign: str) -> tuple[Plan, Description]:
    """Plan on the cells, for pictures."""
    draft = campaigns.show(service, analyst, campaign).draft
    agents = agents_with(draft, _amounts(draft, cells(service, analyst, campaign)))
    planned = _planned(draft, agents)
    if draft.model == PRIVACY_CONSTRAINED:
        return planned, describe(agents)
    return planned, describe(agents, variance=planned.promised_variance, data_variance=planned.data_variance)


def _amounts(draft: Draft, groups: Cells, *, careful: bool = True) -> NDArray[np.float64]:
    """List people as their cells show them, everyone at the careful end (the lowest limit, or the highest cost) or not."""
    shown = groups.cells
    if not shown:
        raise PromiseBroken("fewer than ten people registered: nothing is shown of so small a group")
    low = careful is (draft.model == PRIVACY_CONSTRAINED)
    return np.repeat([cell.low if low else cell.high for cell in shown], [cell.people for cell in shown])


def _planned(draft: Draft, agents: Agents) -> Plan:
    return plan(agents, sheet_of(draft), slack=draft.slack)


def _seen(planned: Plan, people: int) -> Preview:
    return Preview(
        people=people,
        cap=_finite(planned.cap),
        standard_error=_finite(planned.standard_error),
        noise_scale=_finite(planned.noise_scale),
        effective_people=_finite(planned.effective_people),
        tilt=planned.tilt,
        half_width=_finite(planned.half_width()),
        warnings=planned.warnings(),
    )


def _finite(number: float) -> float:
    """Keep JSON to numbers it can spell; only designs without noise go past the largest."""
    return min(number, math.nextafter(math.inf, 0.0))
