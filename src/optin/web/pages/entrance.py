"""Coming in and going out: people by invitation, key or sign-up, analysts by a one-time link or a password."""

from __future__ import annotations

import re

from fastapi import APIRouter
from fastapi.responses import Response

from optin.web.doors import (
    AddressOf,
    BrowserOf,
    Holder,
    MaybeVisitor,
    ServiceOf,
    VisitorOnly,
    WhoeverIsThere,
    let_in,
    let_out,
)
from optin.web.pages.forms import Texts
from optin.web.pages.intros import leads_to
from optin.web.pages.rendering import REFUSALS, moved, show, shown_again
from optin.web.service import accounts

router = APIRouter()
_CAMPAIGN = re.compile(r"[0-9a-f]{32}")


@router.get("/i")
def invitation(visitor: MaybeVisitor) -> Response:
    """Take the secret from behind the # sign of the address, or from a field; loading the page uses nothing up."""
    return show("enter.html", visitor=visitor)


@router.post("/i")
def enter(service: ServiceOf, visitor: MaybeVisitor, holder: Holder, form: Texts) -> Response:
    """Show what one visit is about, which uses nothing up; elsewhere exchange an invitation or a key for a cookie.

    Whoever shows an invitation and is not here yet is asked first whether they have a key: each account has a total of
    its own, and one person should have one.
    """
    secret, here = secret_in(form), visitor is not None and visitor.kind == "person"
    key = _after_hash(form["key"]) if form.get("key") and form.get("new") != "yes" else None
    decided = here or key is not None or form.get("new") == "yes"
    try:
        intro = leads_to(service, secret, holder)
        if intro is not None:
            return show("visit/intro.html", visitor=visitor, **intro)
        if not decided and accounts.is_invitation(service, secret):
            return show("invited.html", visitor=visitor, secret=secret)
        entered = accounts.enter(service, secret, key=key, visitor=visitor, by_link=form.get("by") == "link")
    except REFUSALS as refusal:
        if decided and accounts.is_invitation(service, secret):
            return shown_again("invited.html", refusal, visitor=visitor, secret=secret)
        return shown_again("enter.html", refusal, visitor=visitor)
    return _arrived(entered, f"/c/{entered.campaign}" if entered.campaign else "/me?done=key")


@router.post("/i/look")
def look(service: ServiceOf, visitor: WhoeverIsThere, holder: Holder, form: Texts) -> Response:
    """Show what a link is about to a script, before anybody has pressed anything; nothing where it takes more than one visit."""
    secret = secret_in(form)
    try:
        intro = leads_to(service, secret, holder)
    except REFUSALS:
        intro = None
    if intro is None:
        return Response(status_code=204)
    return show("visit/intro.html", visitor=visitor, part=True, **intro)


@router.get("/sign-up")
def sign_up_page(visitor: MaybeVisitor, campaign: str = "") -> Response:
    """Say what an account is before one is made; who has one goes on."""
    if visitor is not None and visitor.kind == "person":
        return moved(_onward(campaign))
    return show("sign_up.html", visitor=visitor, campaign=campaign if _CAMPAIGN.fullmatch(campaign) else "")


@router.post("/sign-up")
def sign_up(service: ServiceOf, visitor: MaybeVisitor, address: AddressOf, form: Texts) -> Response:
    """Make an account for whoever asks."""
    campaign = form.get("campaign", "")
    if visitor is not None and visitor.kind == "person":
        return moved(_onward(campaign))
    try:
        entered = accounts.sign_up(service, address=address)
    except REFUSALS as refusal:
        known = campaign if _CAMPAIGN.fullmatch(campaign) else ""
        return shown_again("sign_up.html", refusal, visitor=visitor, campaign=known)
    return _arrived(entered, _onward(campaign))


def secret_in(form: dict[str, str]) -> str:
    """Take the secret of a link from a form."""
    return _after_hash(form.get("secret", ""))


def _after_hash(text: str) -> str:
    """Take the secret from a field, also where someone pasted the whole link."""
    return text.strip().rpartition("#")[2]


def _onward(campaign: str) -> str:
    return f"/c/{campaign}" if _CAMPAIGN.fullmatch(campaign) else "/me"


def _arrived(entered: accounts.Entered, onward: str) -> Response:
    """Let someone in, by way of their key if it is new."""
    visitor = entered.ticket.visitor
    response: Response = moved(onward)
    if entered.key is not None:
        response = show("key.html", visitor=visitor, key=entered.key, onward=onward)
    let_in(response, entered.ticket)
    return response


@router.get("/login")
def login_page(visitor: MaybeVisitor) -> Response:
    """Ask an analyst for name and password."""
    if visitor is not None and visitor.kind == "analyst":
        return moved("/a")
    return show("login.html", visitor=visitor)


@router.post("/login")
def login(service: ServiceOf, visitor: MaybeVisitor, address: AddressOf, browser: BrowserOf, form: Texts) -> Response:
    """Sign an analyst in."""
    name = form.get("name", "").strip()
    try:
        ticket = accounts.sign_in(service, name, form.get("password", ""), address=address, browser=browser)
    except REFUSALS as refusal:
        return shown_again("login.html", refusal, visitor=visitor, name=name)
    response = moved("/a")
    let_in(response, ticket)
    return response


@router.get("/setup")
def setup_page(visitor: MaybeVisitor) -> Response:
    """Take a one-time secret, a name and a password for an analyst's account."""
    return show("setup.html", visitor=visitor)


@router.post("/setup")
def setup(service: ServiceOf, visitor: MaybeVisitor, form: Texts) -> Response:
    """Turn a one-time secret into an analyst's account; a refused form keeps the secret, which still works."""
    name = form.get("name", "").strip()
    try:
        ticket = accounts.create_analyst(service, secret_in(form), name, form.get("password", ""))
    except REFUSALS as refusal:
        return shown_again("setup.html", refusal, visitor=visitor, name=name)
    response = moved("/a")
    let_in(response, ticket)
    return response


@router.get("/sign-out")
def sign_out_page(visitor: VisitorOnly) -> Response:
    """Ask whether someone can come back before they go."""
    return show("sign_out.html", visitor=visitor)


@router.post("/sign-out")
def sign_out(service: ServiceOf, visitor: MaybeVisitor) -> Response:
    """End the session and take the cookie back."""
    if visitor is not None:
        accounts.sign_out(service, visitor)
    response = moved("/")
    let_out(response)
    return response
