"""Pages for what went wrong: what it means and where to go, never a detail that is not the reader's."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from optin.errors import Failure
from optin.web.pages.rendering import moved, sentence, show

_WORDS = {
    403: ("This was refused", "The form did not come from this site's own page, or something in it was not right."),
    404: (
        "There is nothing here",
        "There is no such page, or it is not yours to see. If you followed a link, check that it is whole.",
    ),
    405: ("That does not go here", "This address does not take what was sent."),
    409: ("This cannot be done now", "Something else happened first, or it would break what was promised."),
    413: ("That was too much", "What was sent is larger than anything this site asks for."),
    422: ("That could not be read", "Something in what was sent is missing or not as it should be."),
    429: ("Please wait a little", "Too many tries in a short time."),
    503: ("Back in a moment", "The database cannot be reached. Nothing was lost; please try again."),
}
_TELLING = {403, 409, 422, 429, 503}
"""Statuses whose message is meant for the reader; of all others nothing is told."""


def page(request: Request, status: int, why: Failure | str = "") -> Response:
    """Write the page for a status; nobody signed in is sent to where one comes in."""
    if status == 401:
        desk = request.url.path == "/a" or request.url.path.startswith("/a/")
        return moved("/login" if desk else "/i")
    title, words = _WORDS.get(
        status, ("Something went wrong", "This is our fault. Nothing half-done was kept; please try again.")
    )
    told = sentence(why) if why and status in _TELLING else ""
    context = {"title": title, "words": words, "message": told, "back": "/", "back_words": "To the start"}
    visitor = getattr(request.state, "visitor", None)
    shown = show("error.html", visitor=visitor, status=status, **context)
    if request.headers.get("hx-request"):  # a page inside a page would confuse; the old part stays
        shown.headers["HX-Reswap"] = "none"
    return shown
