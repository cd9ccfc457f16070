"""The pages anyone can read: the start, and how it works."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from optin.web.doors import MaybeVisitor, ServiceOf
from optin.web.pages.rendering import show
from optin.web.pages.wording import result_words, rungs
from optin.web.service import people, published
from optin.web.service.drafts import PRIVACY_CONSTRAINED

router = APIRouter()


@router.get("/")
def home(service: ServiceOf, visitor: MaybeVisitor) -> Response:
    """Say what this is, take an invitation, and list what is open to everyone and what was published."""
    results = [(each, result_words(each.release)) for each in published.published(service, most=6) if each.release]
    campaigns = [each for each in people.open_campaigns(service) if not each.too_late]
    return show("home.html", visitor=visitor, open=campaigns, results=results)


@router.get("/about")
def about(visitor: MaybeVisitor) -> Response:
    """Say how it works, what is protected and what is not."""
    return show("about.html", visitor=visitor, ladder=rungs(PRIVACY_CONSTRAINED))
