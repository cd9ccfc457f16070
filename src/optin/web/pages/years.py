"""Planning the year: what several campaigns over the same people give if they share what people allow over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.errors import BadInput
from optin.planning.size import size
from optin.questions import Question, Sheet
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.drafting import imagined
from optin.web.pages.ready_sheets import READY
from optin.web.pages.rendering import REFUSALS, sentence, show
from optin.web.pages.verdicts import imagined_limits
from optin.web.service import campaigns, next_time
from optin.web.service.asking import sheet_of, words_said
from optin.web.service.drafts import PRIVACY_CONSTRAINED
from optin.web.service.next_time import Again
from optin.web.service.records import Visitor
from optin.wording.language import _
from optin.wording.numbers import count

router = APIRouter(prefix="/a")
MOST_CAMPAIGNS = 52
_BESIDE = (1, 2, 4, 6, 12)
_FRESH = {"of": "", "campaigns": "4", "expected": "200", "mix": "mixed"}


@router.get("/year")
def year(request: Request, service: ServiceOf, visitor: AnalystOnly) -> Response:
    """Show what a sheet gives, asked once, and in several campaigns that share one total."""
    given = {**_FRESH, **{name: text for name, text in request.query_params.items() if len(text) < 100}}
    known = [each for each in campaigns.mine(service, visitor) if each.draft.model == PRIVACY_CONSTRAINED]
    context: dict[str, Any] = {
        "form": given,
        "sheets": [
            *((each.id, words_said(each.draft)[0]) for each in known),
            *((name, _(one.title)) for name, one in READY.items()),
        ],
        "again": [],
        "table": None,
        "message": None,
    }
    try:
        sheet = _sheet(service, visitor, given["of"] or context["sheets"][0][0])
        context |= {"table": _table(sheet, given), "names": [sheet.text_said(question) for question in sheet]}
        if given["of"] not in READY and given["of"]:
            context["again"] = again_words(next_time.can_again(service, visitor, given["of"]))
    except REFUSALS as refusal:
        context["message"] = sentence(refusal)
        return show("desk/year.html", visitor=visitor, status=refusal.http_status, **context)
    return show("desk/year.html", visitor=visitor, **context)


def _sheet(service: ServiceOf, visitor: Visitor, of: str) -> Sheet:
    return READY[of].sheet if of in READY else sheet_of(campaigns.show(service, visitor, of).draft)


def _table(sheet: Sheet, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """List what each of so many campaigns would give, beside fewer and more of them."""
    text = given["campaigns"]
    if not (text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MOST_CAMPAIGNS):
        raise BadInput("campaigns in a year must be 1 to {most}", most=MOST_CAMPAIGNS)
    people = sum(imagined(given))
    return [_row(sheet, given, people, many, int(text)) for many in sorted({*_BESIDE, int(text)})]


def _row(sheet: Sheet, given: Mapping[str, str], people: int, many: int, chosen: int) -> dict[str, Any]:
    """Say what one of so many campaigns gives, if each asks for an equal part of what people allow over all of them."""
    sized = size(sheet, people=people, limits=imagined_limits(given) / many)
    cells = [
        _cell(sheet, question, each.half_width, each.verdict)
        for question, each in zip(sheet, sized.questions, strict=True)
    ]
    return {"many": count(many, "campaign", "campaigns"), "chosen": many == chosen, "cells": cells}


def _cell(sheet: Sheet, question: Question, half: float, verdict: str) -> tuple[str, str]:
    return sheet.plus_minus(question, half), verdict


def again_words(counts: tuple[Again, ...]) -> list[str]:
    """Say about how many people can take part again.

    >>> again_words((Again(1, 120), Again(4, 0)))
    ['once more: about 120 people', '4 times more: fewer than about ten people']
    """
    often = {1: _("once more"), 2: _("twice more")}
    return [
        f"{often.get(each.times, _('{times} times more', times=each.times))}: "
        + (_("about {people:,} people", people=each.people) if each.people else _("fewer than about ten people"))
        for each in counts
    ]
