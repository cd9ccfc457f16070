"""A reader's choice of language: a form at the foot of every page, kept in a cookie; nobody has to be signed in."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.routing import Match

from optin.web.languages import cookie, tags
from optin.web.pages.forms import Texts
from optin.web.pages.rendering import moved

router = APIRouter()


@router.post("/language")
def choose(request: Request, form: Texts) -> Response:
    """Keep a choice, and go back to where it was made; it says nothing of anyone, so that no token is asked for."""
    chosen = form.get("language", "")
    response = moved(_back(request))
    if chosen in tags():
        response.headers.append("set-cookie", cookie(chosen))
    return response


def _back(request: Request) -> str:
    """Name the page that was read; where that was the answer to a form, the nearest page above it."""
    before = urlsplit(request.headers.get("referer", ""))
    path = before.path if before.netloc == request.headers.get("host") else "/"
    while path.count("/") > 1 and not _can_be_read(request, path):
        path = path.rpartition("/")[0]
    if not _can_be_read(request, path):
        return "/"
    return f"{path}?{before.query}" if before.query and path == before.path else path


def _can_be_read(request: Request, path: str) -> bool:
    asked = {"type": "http", "method": "GET", "path": path, "headers": []}
    return not path.startswith("//") and any(each.matches(asked)[0] == Match.FULL for each in request.app.routes)
