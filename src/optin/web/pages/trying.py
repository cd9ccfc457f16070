"""A draft as people will see it: the page of a visit, or of both, from the same templates, at a phone's width."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData

from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.answer_inputs import entries_of, read_answers
from optin.web.pages.forms import FormOf
from optin.web.pages.intros import intro_context
from optin.web.pages.numbers import spelled
from optin.web.pages.rendering import show
from optin.web.pages.stages import person_stages
from optin.web.pages.totals import total_beside
from optin.web.pages.visit import MORE_CHOICES, choices
from optin.web.pages.wording import rungs
from optin.web.service import campaigns
from optin.web.service.asking import sheet_of
from optin.web.service.records import Campaign, MyCampaign, Visitor
from optin.web.service.totals import Budget
from optin.wording.guesses import FIRST_CHOICES

router = APIRouter(prefix="/a")
_NOBODY = Budget(None, 0, 0, ())
_NOTHING = (
    *("group", "stated", "deal", "counts_about", "answer", "announcement", "release", "spent", "remaining"),
    *("publish_by", "due"),
)


@router.get("/c/{campaign}/try")
def look(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show what people will see of a campaign, to be tried out."""
    return _page(visitor, campaigns.show(service, visitor, campaign), FormData())


@router.post("/c/{campaign}/try")
def fill(service: ServiceOf, visitor: AnalystOnly, campaign: str, form: FormOf) -> Response:
    """Read what was filled in as a visit would, and send nothing."""
    return _page(visitor, campaigns.show(service, visitor, campaign), form)


def _page(visitor: Visitor, campaign: Campaign, form: FormData) -> Response:
    draft = campaign.draft
    read = read_answers(sheet_of(draft), form)
    nobody: dict[str, Any] = dict.fromkeys(_NOTHING)
    view = MyCampaign(id=campaign.id, draft=draft, state="registration", round=1, given_back=False, **nobody)
    context = {
        **intro_context(view),
        "entries": read.entries if form else entries_of(sheet_of(draft)),
        "total": total_beside(_NOBODY, draft, None),
        "action": f"/a/c/{campaign.id}/try",
        "message": read.wrong or None,
        "echoes": () if read.wrong else read.echoes,
        "tried": bool(form) and not read.wrong,
        **(_one_form() if draft.sealed else _first_visit(view)),
    }
    template = "desk/try.html" if draft.sealed else "desk/try_two_visits.html"
    return show(template, visitor=visitor, status=422 if read.wrong else 200, **context)


def _one_form() -> dict[str, Any]:
    """List what the form of one visit needs, of somebody who is not known."""
    unknown = dict.fromkeys(("more_open", "known", "asks", "asks_aside", "answered"), False)
    return {
        **unknown,
        "choices": choices(FIRST_CHOICES),
        "more_choices": choices(MORE_CHOICES),
        "key": "",
        "before": "",
    }


def _first_visit(view: MyCampaign) -> dict[str, Any]:
    """List what the page needs on which limits are chosen before anyone answers."""
    return {
        "mine": view,
        "state": view.state,
        "stages": person_stages(view.state, view.draft.model),
        "rungs": rungs(view.draft.model, benefit_base=view.draft.benefit_base),
        "fresh_round": "",
        "low": spelled(view.draft.lower),
        "high": spelled(view.draft.upper),
    }
