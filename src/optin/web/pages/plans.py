"""The plan with the report's pictures, and sliders that ask what if; all seen through cells of at least ten people."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.errors import BadInput, OptinError
from optin.planning import Plan
from optin.report.assumption import assumption_of
from optin.report.images import WIDTH, pixels, told
from optin.report.plan_sections import plan_sections
from optin.report.section import Pictured
from optin.report.sheet_page import plan_sections as sheet_sections
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.cautions import foreseen_little
from optin.web.pages.drafting import preview_words, quorum_words
from optin.web.pages.pictures import png
from optin.web.pages.rendering import said_again, sentence, show
from optin.web.pages.wording import GUARD
from optin.web.service import campaigns, preview
from optin.web.service.able import able
from optin.web.service.asking import sheet_of
from optin.web.service.drafts import PRIVACY_CONSTRAINED
from optin.web.service.failures import NotFound
from optin.web.service.limit_cells import SMALLEST_CELL, cells
from optin.web.service.records import Campaign
from optin.wording.groups import tens_in_words
from optin.wording.language import N_, _, capital
from optin.wording.numbers import at_most, count, people_like, plus_minus

router = APIRouter(prefix="/a/c/{campaign}")
_STEPS = 40
_SEEN = N_("in groups of at least ten people, each taken at its most careful end, so that no mark stands for a person")


@router.get("/plan")
def plan_page(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show the plan as the cells allow it to be seen, with pictures and sliders."""
    view = campaigns.show(service, visitor, campaign)
    context: dict[str, Any] = {
        "campaign": view,
        "sections": [],
        "why": "",
        "holds": None,
        "able": _able(service, visitor, view),
        "quorum": quorum_words(view.draft),
    }
    try:
        plan, description = preview.pictured(service, visitor, campaign)
    except OptinError as refusal:
        return show("desk/plan.html", visitor=visitor, **{**context, "why": sentence(refusal)})
    note = cells(service, visitor, campaign).note
    context["little"] = foreseen_little(plan) if view.announcement is None else ""
    if sheet_of(view.draft).one_number is None:
        context["sections"] = [_shown(section) for section in sheet_sections(plan, description, None)]
        return show("desk/plan.html", visitor=visitor, **context, lead="", seen=capital(_(_SEEN)) + ".", asked=None)
    context["lead"], context["seen"] = _lead(view, plan, note)
    if view.announcement is not None:  # groups tell too little of the weights, and the sliders warn of their own answer
        context |= {"holds": assumption_of(view.announcement, _(GUARD)), "warnings": view.announcement.warnings()}
    context["sections"] = [_shown(section) for section in plan_sections(plan, description)]
    asked = _asked(request, view)
    return show("desk/plan.html", visitor=visitor, **context, asked=asked, **_what_if(service, visitor, view, asked))


def _able(service: ServiceOf, visitor: AnalystOnly, campaign: Campaign) -> str:
    """Say roughly how many have something left to give, before the plan is announced."""
    try:
        some = None if campaign.state != "planning" else able(service, visitor, campaign.id)
    except OptinError:
        some = None
    if some is None:
        return ""
    if some > campaign.registered - SMALLEST_CELL:
        who = _("All who registered, {registered}, or nearly all,", registered=tens_in_words(campaign.registered))
    else:
        who = (
            _(
                "About {some:,} of the {registered} who registered",
                some=some,
                registered=tens_in_words(campaign.registered),
            )
            if some
            else capital(_("fewer than about ten people"))
        )
    return _(
        "{who} have something left of what they allow over all campaigns. The plan is made with those; "
        "the others are promised nothing, and nobody is told who they are. The number is rounded to "
        "tens, so that it says nothing of single people.",
        who=who,
    )


def _lead(campaign: Campaign, plan: Plan, note: str | None = None) -> tuple[str, str]:
    """Say how accurate it will be: as announced, or else as far as groups tell; and what the pictures are drawn from."""
    offer, unit = campaign.announcement, f" {campaign.draft.unit}" if campaign.draft.unit else ""
    half = plan.half_width() if offer is None else offer.half_width()
    people = count(plan.people if offer is None else offer.people)
    with_them = _("With {people}", people=people) if note and offer is None else _("With all {people}", people=people)
    lead = _(
        "{with_them}, the published average will be within about {half}{unit} of the true one, 95 times "
        "out of 100, and nobody gives more than they allowed.",
        with_them=with_them,
        half=plus_minus(half),
        unit=unit,
    )
    seen = _(_SEEN)
    if offer is None:
        return lead, _(
            "Seen {seen}: the plan that is announced uses everyone's own choice, and is usually closer.", seen=seen
        )
    words = _(
        "The sliders below count with what was announced. The pictures see people {seen}: the announced "
        "plan is usually closer.",
        seen=seen,
    )
    return lead, f"{words} {note}" if note else words


def _shown(section: Pictured) -> dict[str, Any]:
    """Make a section ready for the page: in words now, its picture when the browser asks."""
    head = {"name": section.name, "title": section.title, "reading": section.reading, "missing": None}
    try:
        size = {"width": pixels(WIDTH), "height": pixels(section.height)}
        return {**head, "words": told(section.draw), "numbers": section.numbers(), **size}
    except BadInput as why:
        return {**head, "missing": said_again(why)}


@router.get("/pictures/{name}-{ink}.png")
def picture(service: ServiceOf, visitor: AnalystOnly, campaign: str, name: str, ink: str) -> Response:
    """Draw one picture of the plan."""
    try:
        plan, description = preview.pictured(service, visitor, campaign)
    except OptinError:
        raise NotFound from None
    several = plan.sheet.one_number is None
    sections = sheet_sections(plan, description, None) if several else plan_sections(plan, description)
    section = next((section for section in sections if section.name == name), None)
    if section is None:
        raise NotFound
    return png(section, ink, key=f"{campaign} {plan.to_json()} {description}")


@router.get("/what-if")
def what_if_part(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Answer the sliders."""
    view = campaigns.show(service, visitor, campaign)
    answered = _what_if(service, visitor, view, _asked(request, view))
    return show("desk/what_if.html", visitor=visitor, **answered)


def _asked(request: Request, campaign: Campaign) -> dict[str, str]:
    """Read the sliders; where they were not moved they stand at the draft's own numbers."""
    draft, given = campaign.draft, request.query_params
    width = draft.upper - draft.lower
    sd = draft.data_sd if draft.data_sd is not None else width / 2
    return {
        "decline": given.get("decline", "0"),
        "gap": given.get("gap", f"{draft.max_gap:g}"),
        "sd": given.get("sd", f"{sd:g}"),
        "least_gap": f"{_beginning(draft.max_gap, width / _STEPS):.6g}",
        "least_sd": f"{_beginning(sd, width / 2 / _STEPS) or width / 2 / _STEPS:.6g}",
        "most_gap": f"{width:g}",
        "most_sd": f"{width / 2:g}",
        "gap_step": f"{width / _STEPS:g}",
        "sd_step": f"{width / 2 / _STEPS:g}",
    }


def _beginning(number: float, spacing: float) -> float:
    """Choose the least value of a slider so that its steps hit the draft's own number; browsers round to a step.

    >>> round(_beginning(2.0, 0.15), 9), _beginning(6.0, 0.15)
    (0.05, 0.0)
    """
    rest = number - spacing * round(number / spacing)
    return 0.0 if abs(rest) < 1e-9 * spacing else rest % spacing


def _what_if(service: ServiceOf, visitor: AnalystOnly, campaign: Campaign, asked: dict[str, str]) -> dict[str, Any]:
    try:
        gap, sd, decline = (_slider(asked[name]) for name in ("gap", "sd", "decline"))
        share = min(max(decline / 100, 0.0), 0.99)
        ask = functools.partial(preview.what_if, service, visitor, campaign.id)
        change = preview.Change(gap, sd, decline_share=share)
        answer, best = ask(change), None if campaign.announcement else ask(replace(change, careful=False))
        highest = max(cell.high for cell in cells(service, visitor, campaign.id).cells)
    except OptinError as refusal:
        return {"what_if": None, "why_not": sentence(refusal)}
    words = preview_words(
        answer, max_gap=gap, highest=highest if campaign.draft.model == PRIVACY_CONSTRAINED else math.inf
    )
    words |= {"effective": people_like((sd / answer.standard_error) ** 2)}
    return {"what_if": {**words, "best": "" if best is None else at_most(best.half_width)}}


def _slider(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput("the value must be a number") from None
