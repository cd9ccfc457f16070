"""A draft as people will see it: the page of a visit, from the same templates, at a phone's width. Nothing is sent from it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData

from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.entries import entries_of, read_answers
from optin.web.pages.forms import FormOf
from optin.web.pages.rendering import show
from optin.web.pages.totals import total_beside
from optin.web.pages.visit import MORE_CHOICES, choices, intro_context
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


def _page(visitor: Visitor, found: Campaign, form: FormData) -> Response:
    draft = found.draft
    read = read_answers(sheet_of(draft), form)
    nobody: dict[str, Any] = dict.fromkeys(_NOTHING)
    view = MyCampaign(id=found.id, draft=draft, state="registration", round=1, given_back=False, **nobody)
    context = {
        **intro_context(view),
        "entries": read.entries if form else entries_of(sheet_of(draft)),
        "choices": choices(FIRST_CHOICES),
        "more_choices": choices(MORE_CHOICES),
        "more_open": False,
        "key": "",
        "known": False,
        "asks": False,
        "before": "",
        "total": total_beside(_NOBODY, draft, None),
        "action": f"/a/c/{found.id}/try",
        "answered": False,
        "message": read.wrong or None,
        "echoes": () if read.wrong else read.echoes,
        "tried": bool(form) and not read.wrong,
    }
    status = 422 if read.wrong else 200
    return show("desk/try.html", visitor=visitor, status=status, **context)
