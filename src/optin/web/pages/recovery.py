"""The way back: a recovery link, offered after sending and on demand, as text, file, QR code, or by mail where that is set up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.report.markup import Markup
from optin.web.doors import AddressOf, MaybeVisitor, PersonOnly, ServiceOf, let_in
from optin.web.pages.forms import Texts, origin_of
from optin.web.pages.qr import qr_code
from optin.web.pages.rendering import REFUSALS, moved, show, shown_again
from optin.web.service import accounts, recovering
from optin.web.service.failures import NotFound
from optin.wording.language import _

router = APIRouter()
_KEY = re.compile(r"[A-Za-z0-9_-]{43}")
_NO_LINK: dict[str, Any] = {"recovery": None, "can_mail": True}


@dataclass(frozen=True)
class Recovery:
    """A recovery link, as text and as a picture to photograph."""

    key: str = field(repr=False)
    link: str = field(repr=False)
    picture: Markup = field(repr=False)


def recovery_link(origin: str, key: str) -> Recovery:
    """Write a recovery link; its secret stands behind #, which browsers keep to themselves."""
    link = f"{origin}/back#{key}"
    return Recovery(key, link, qr_code(link))


@router.get("/back")
def back_page(service: ServiceOf, visitor: MaybeVisitor) -> Response:
    """Take the secret from behind the # sign of a recovery link; loading the page does nothing."""
    return show("back.html", visitor=visitor, can_mail=service.mail is not None)


@router.post("/back")
def back(service: ServiceOf, visitor: MaybeVisitor, form: Texts) -> Response:
    """Come back to one's account, once someone pressed the button."""
    secret = form.get("secret", "").strip().rpartition("#")[2]
    try:
        ticket = accounts.come_back(service, secret)
    except REFUSALS as refusal:
        return shown_again("back.html", refusal, visitor=visitor, can_mail=service.mail is not None)
    response = moved("/me?done=back")
    let_in(response, ticket)
    return response


@router.post("/back/mail")
def ask_by_mail(service: ServiceOf, visitor: MaybeVisitor, address: AddressOf, form: Texts) -> Response:
    """Send a link to an address that was left here; the page says the same if none was."""
    if service.mail is None:
        raise NotFound
    try:
        recovering.ask(service, form.get("address", ""), place=address)
    except REFUSALS as refusal:
        return shown_again("back.html", refusal, visitor=visitor, can_mail=True)
    return show("back_asked.html", visitor=visitor)


@router.post("/me/address")
def leave_address(request: Request, service: ServiceOf, visitor: PersonOnly, form: Texts) -> Response:
    """Keep an address to come back by, or forget it; a recovery link that was on the page is on the next one too."""
    key = form.get("key", "")
    again: dict[str, Any] | None = None
    if _KEY.fullmatch(key):
        again = {"recovery": recovery_link(origin_of(request), key), "can_mail": True}
    try:
        if form.get("do") == "forget":
            recovering.forget(service, visitor)
            return moved("/me?done=forgotten")
        recovering.remember(service, visitor, form.get("address", ""))
    except REFUSALS as refusal:
        return shown_again("recovery.html", refusal, visitor=visitor, **(again or _NO_LINK))
    if again is None:
        return moved("/me?done=address")
    return show("recovery.html", visitor=visitor, said=True, **again)


@router.post("/back/file")
def file(request: Request, visitor: MaybeVisitor, form: Texts) -> Response:
    """Give a recovery link as a file to keep; what is in it came from the page that asks."""
    key = form.get("key", "")
    if not _KEY.fullmatch(key):
        raise NotFound
    text = _(
        "Your recovery link. Whoever has it can act as you; keep it to yourself.\n\n{origin_of}/back#{key}\n",
        origin_of=origin_of(request),
        key=key,
    )
    headers = {"Content-Disposition": 'attachment; filename="optin-recovery.txt"'}
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


@router.post("/me/recovery")
def another(request: Request, service: ServiceOf, visitor: PersonOnly, form: Texts) -> Response:
    """Make another recovery link; the one before ends."""
    key = accounts.new_key(service, visitor)
    can_mail = service.mail is not None
    return show(
        "recovery.html", visitor=visitor, recovery=recovery_link(origin_of(request), key), fresh=True, can_mail=can_mail
    )
