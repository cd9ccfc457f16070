"""A reader's choice of language: a form at the foot of every page, kept in a cookie; nobody has to be signed in."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from optin.web.languages import cookie, tags
from optin.web.pages.forms import Texts
from optin.web.pages.rendering import moved

router = APIRouter()


@router.post("/language")
def choose(form: Texts) -> Response:
    """Keep a choice, and go back to where it was made; it says nothing of anyone, so that no token is asked for."""
    to, chosen = form.get("to", "/"), form.get("language", "")
    response = moved(to if _is_here(to) else "/")
    if chosen in tags():
        response.headers.append("set-cookie", cookie(chosen))
    return response


def _is_here(address: str) -> bool:
    r"""Say whether an address is a path of this site, whatever a browser makes of slashes.

    >>> _is_here("/c/1?round=2"), _is_here("//elsewhere.example"), _is_here("/\\elsewhere.example"), _is_here("https://a.example")
    (True, False, False, False)
    """
    return address[:1] == "/" and address[1:2] not in ("/", "\\") and address.isprintable() and len(address) < 2000
