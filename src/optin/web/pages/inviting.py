"""Inviting by a list: it stays visible, a reload changes nothing, and nothing on it says who answered."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.web.doors import AnalystOnly, MaybeVisitor, ServiceOf
from optin.web.languages import language
from optin.web.organisation import organisation_here
from optin.web.pages.forms import Texts, origin_of
from optin.web.pages.qr import AT_ONCE, qr_code
from optin.web.pages.rendering import REFUSALS, moved, sentence, show
from optin.web.pages.spreadsheets import csv_file
from optin.web.service import campaigns, lists, mails, open_links
from optin.web.service.core import Service
from optin.web.service.mailer import signed
from optin.web.service.pasted_lists import entries_in
from optin.web.service.records import Visitor
from optin.wording.language import N_, _, speaking
from optin.wording.numbers import count

router = APIRouter()
_DIGITS = 9


@router.get("/a/c/{campaign}/people")
def people(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, done: str = "") -> Response:
    """Show the list of people to be invited, their links, the text of a mail, and how mails went."""
    return _page(request, service, visitor, campaign, said=_said(done))


_SAID = {
    "added": N_(
        "The list is kept. Whoever stood in it before was left as they were; in a draft, their group is the one given now."
    ),
    "mail": N_("The mail is in the queue, once for each address."),
}


def _said(done: str) -> str:
    """Say what was done; of a list also how many of it were new, so that one that was cut off or doubled is seen to be.

    >>> _said("added-25-2").partition(" The list")[0]
    'New: 25 people. In it before, or twice: 2 people.'
    """
    what, *counted = done.split("-")
    counts = [count(int(each)) for each in counted if each.isdecimal() and len(each) < _DIGITS]
    added = (
        _("New: {new}. In it before, or twice: {known}.", new=counts[0], known=counts[1]) if len(counts) == 2 else ""
    )
    return f"{added} {_(_SAID[what])}".strip() if what in _SAID else ""


@router.post("/a/c/{campaign}/people")
def add(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Add a pasted list or CSV; sent twice, it changes nothing."""
    try:
        added = lists.add(service, visitor, campaign, entries_in(form.get("list", "")))
    except REFUSALS as refusal:
        return _page(request, service, visitor, campaign, given=form.get("list", ""), refusal=refusal)
    return moved(f"/a/c/{campaign}/people?done=added-{added.new}-{added.known}")


@router.post("/a/c/{campaign}/people/mail")
def mail(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Send the invitation, or a reminder, to everyone on the list; each number once."""
    text = form.get("number", "")
    try:
        mails.queue(service, visitor, campaign, int(text) if text.isdecimal() and len(text) < 4 else 10**4)
    except REFUSALS as refusal:
        return _page(request, service, visitor, campaign, refusal=refusal)
    return moved(f"/a/c/{campaign}/people?done=mail")


@router.get("/a/c/{campaign}/links.csv")
def links(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Give addresses, ids, groups and links as CSV, to be sent by other means."""
    rows = [
        (each.entry.address, each.entry.id, each.entry.group or "", _link(request, each))
        for each in lists.listed(service, visitor, campaign)
    ]
    return csv_file("links.csv", [("address", "id", "group", "link"), *rows])


@router.get("/a/c/{campaign}/qr")
def codes(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, part: str = "1") -> Response:
    """Show a page of QR codes to print and cut, one for each person of the list; a long list has several."""
    view, everyone_listed = campaigns.show(service, visitor, campaign), lists.listed(service, visitor, campaign)
    parts = max(1, -(-len(everyone_listed) // AT_ONCE))
    now = int(part) if part.isdecimal() and len(part) < _DIGITS and 1 <= int(part) <= parts else 1
    cards = [
        {
            "name": each.entry.id or each.entry.address,
            "group": each.entry.group,
            "open": False,
            "code": qr_code(_link(request, each)),
        }
        for each in everyone_listed[(now - 1) * AT_ONCE : now * AT_ONCE]
    ]
    link = open_links.open_link(service, visitor, campaign)
    if link is not None:
        everyone = {
            "name": _("For everyone"),
            "group": None,
            "open": True,
            "code": qr_code(f"{origin_of(request)}/i#{link}"),
        }
        cards = [everyone, *cards]
    return show(
        "desk/qr.html", visitor=visitor, id=campaign, draft=view.draft, cards=cards, now=now, parts_of_list=parts
    )


@router.get("/u/{token}")
def stop_page(service: ServiceOf, visitor: MaybeVisitor, token: str) -> Response:
    """Ask whether someone wants no more mail; programs that follow links stop nothing."""
    lists.expect_stop(service, token)
    return show("stop.html", visitor=visitor, token=token, stopped=False)


@router.post("/u/{token}")
def stop(service: ServiceOf, visitor: MaybeVisitor, token: str) -> Response:
    """Write no more mail of this campaign to someone."""
    lists.unsubscribe(service, token)
    return show("stop.html", visitor=visitor, token=token, stopped=True)


def _link(request: Request, each: lists.Invitee) -> str:
    return f"{origin_of(request)}/i#{each.secret}"


def _page(
    request: Request,
    service: Service,
    visitor: Visitor,
    campaign: str,
    *,
    given: str = "",
    said: str = "",
    refusal: Exception | None = None,
) -> Response:
    view = campaigns.show(service, visitor, campaign)
    rows, number = lists.listed(service, visitor, campaign), mails.next_number(service, campaign)
    link = open_links.open_link(service, visitor, campaign)
    own = f"{origin_of(request)}/i#{link}" if link else f"{origin_of(request)}/i#LINK"
    with speaking(language(view.draft.language or request.app.state.settings.language)):
        subject, text = mails.mail_text(view.draft, own, open_to_all=link is not None)
        text = signed(text, organisation_here().signature(origin_of(request)))
    context: dict[str, Any] = {
        "campaign": view,
        "rows": [(each, _link(request, each)) for each in rows],
        "how_many": count(len(rows)),
        "addresses": sum(bool(each.entry.address) and not each.unsubscribed for each in rows),
        "grouped": any(each.entry.group for each in rows),
        "given": given,
        "open_link": link is not None,
        "subject": subject,
        "text": text,
        "can_mail": service.mail is not None,
        "number": number,
        "unwritten": mails.unwritten(service, visitor, campaign),
        "sendings": mails.sendings(service, visitor, campaign),
        "said": said,
        "message": sentence(refusal) if refusal else None,
    }
    return show("desk/people.html", visitor=visitor, status=getattr(refusal, "http_status", 200), **context)
