"""A new password for an analyst who was given a link to one."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from optin.web.doors import MaybeVisitor, ServiceOf, let_in
from optin.web.pages.entrance import secret_in
from optin.web.pages.forms import Texts
from optin.web.pages.rendering import REFUSALS, moved, show, shown_again
from optin.web.service import resets

router = APIRouter()


@router.get("/new-password")
def new_password_page(visitor: MaybeVisitor) -> Response:
    """Take the secret from behind the # sign of the address, and a new password; loading the page uses nothing up."""
    return show("new_password.html", visitor=visitor)


@router.post("/new-password")
def new_password(service: ServiceOf, visitor: MaybeVisitor, form: Texts) -> Response:
    """Turn the link into a password; a refused form keeps the link, which still works."""
    try:
        ticket = resets.choose_password(service, secret_in(form), form.get("password", ""))
    except REFUSALS as refusal:
        return shown_again("new_password.html", refusal, visitor=visitor)
    response = moved("/a")
    let_in(response, ticket)
    return response
