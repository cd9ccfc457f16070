"""What the organisation that runs the service says of itself: its logo, its privacy notice, its imprint."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from optin.web.doors import MaybeVisitor
from optin.web.organisation import blocks, organisation_here
from optin.web.pages.rendering import show
from optin.web.service.failures import NotFound
from optin.web.service.records import Visitor
from optin.wording.language import _

router = APIRouter()


@router.get("/static/organisation-logo")
def logo() -> Response:
    """Send the organisation's logo."""
    image = organisation_here().logo
    if image is None:
        raise NotFound
    return Response(image.data, media_type=image.kind, headers={"Cache-Control": "max-age=3600"})


@router.get("/privacy-notice")
def privacy_notice(visitor: MaybeVisitor) -> Response:
    """Show the organisation's privacy notice."""
    return _page(visitor, _("Privacy notice"), organisation_here().privacy_notice)


@router.get("/imprint")
def imprint(visitor: MaybeVisitor) -> Response:
    """Show the organisation's imprint."""
    return _page(visitor, _("Imprint"), organisation_here().imprint)


def _page(visitor: Visitor | None, title: str, text: str) -> Response:
    if not text:
        raise NotFound
    return show("organisation.html", visitor=visitor, title=title, blocks=blocks(text))
