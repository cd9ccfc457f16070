"""Pages for what went wrong: what it means and where to go, never a detail that is not the reader's."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from optin.errors import Failure
from optin.web.pages.rendering import moved, sentence, show
from optin.wording.language import N_, _

_WORDS = {
    403: (
        N_("This was refused"),
        N_("The form did not come from this site's own page, or something in it was not right."),
    ),
    404: (
        N_("There is nothing here"),
        N_("There is no such page, or it is not yours to see. If you followed a link, check that it is whole."),
    ),
    405: (N_("That does not go here"), N_("This address does not take what was sent.")),
    408: (
        N_("That took too long"),
        N_("What was sent did not come in time, and nothing of it was kept. Please send it again."),
    ),
    409: (N_("This cannot be done now"), N_("Something else happened first, or it would break what was promised.")),
    413: (
        N_("That was too much"),
        N_(
            "What was sent is larger than anything this site asks for, and nothing of it was kept. Go back to what you typed; "
            "send a long list in parts."
        ),
    ),
    422: (N_("That could not be read"), N_("Something in what was sent is missing or not as it should be.")),
    429: (N_("Please wait a little"), N_("Too many tries in a short time.")),
    503: (N_("Back in a moment"), N_("The database cannot be reached. Nothing was lost; please try again.")),
}
_TELLING = {403, 409, 422, 429, 503}
"""Statuses whose message is meant for the reader; of all others nothing is told."""


def page(request: Request, status: int, why: Failure | str = "") -> Response:
    """Write the page for a status; nobody signed in is sent to where one comes in."""
    if status == 401:
        desk = request.url.path == "/a" or request.url.path.startswith("/a/")
        holder = getattr(request.state, "holder", None)
        if holder is not None and holder.only is not None and not desk:
            return _of_one_campaign(holder.only)
        return moved("/login" if desk else "/i")
    title, words = _WORDS.get(
        status, (N_("Something went wrong"), N_("This is our fault. Nothing half-done was kept; please try again."))
    )
    told = sentence(why) if why and status in _TELLING else ""
    context = {"title": _(title), "words": _(words), "message": told, "back": "/", "back_words": _("To the start")}
    visitor = getattr(request.state, "visitor", None)
    shown = show("error.html", visitor=visitor, status=status, **context)
    if request.headers.get("hx-request"):  # a page inside a page would confuse; the old part stays
        shown.headers["HX-Reswap"] = "none"
    return shown


def _of_one_campaign(campaign: str) -> Response:
    """Say to a device that was let in by an id why it sees one campaign alone, and how to see the rest."""
    return show("one_campaign.html", visitor=None, status=401, campaign=campaign)
