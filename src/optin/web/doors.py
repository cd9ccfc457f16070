"""How handlers learn who is there: dependencies that read the cookie, check the form's token, and know one's role."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from optin.web.middleware import Middleware
from optin.web.service import sessions
from optin.web.service.core import Service
from optin.web.service.failures import NobodyThere, NotFound, Refused
from optin.web.service.records import Visitor
from optin.web.service.sessions import Ticket

COOKIE = "__Host-optin"
BROWSER_COOKIE = "__Host-optin-browser"
SECONDS_KNOWN = 365 * 86400
SAFE = ("GET", "HEAD", "OPTIONS")


def service_of(request: Request) -> Service:
    """Find the service this app was made for."""
    service: Service = request.app.state.service
    return service


ServiceOf = Annotated[Service, Depends(service_of)]


def address_of(request: Request) -> str:
    """Say from where someone asks."""
    return request.client.host if request.client else ""


AddressOf = Annotated[str, Depends(address_of)]


def browser_of(request: Request) -> str:
    """Read what an analyst's browser was given when they signed in before."""
    return request.cookies.get(BROWSER_COOKIE, "")


BrowserOf = Annotated[str, Depends(browser_of)]


def visitor_of(request: Request) -> Visitor | None:
    """Say who is there by the cookie alone; a new cookie, if one is due, goes out with the answer."""
    if not hasattr(request.state, "visitor"):
        token = request.cookies.get(COOKIE, "")
        ticket = sessions.find(service_of(request), token) if token else None
        request.state.holder = ticket.visitor if ticket else None
        request.state.visitor = _here(request, ticket.visitor) if ticket else None
        if ticket and ticket.token:
            request.state.cookie = cookie(ticket)
    visitor: Visitor | None = request.state.visitor
    return visitor


def _here(request: Request, visitor: Visitor) -> Visitor | None:
    """Take whoever sees one campaign alone for nobody everywhere else, but where they sign out."""
    allowed = visitor.only is None or request.path_params.get("campaign") == visitor.only
    return visitor if allowed or request.url.path == "/sign-out" else None


def holder_of(request: Request) -> Visitor | None:
    """Say who is there by the cookie alone, also where they see one campaign: for what a link to that one leads to."""
    visitor_of(request)
    holder: Visitor | None = request.state.holder
    return holder


async def visitor_checked(request: Request, visitor: Annotated[Visitor | None, Depends(visitor_of)]) -> Visitor | None:
    """Say who is there; whoever changes something must show the token that only our own pages know."""
    if visitor is not None and request.method not in SAFE:
        given = request.headers.get("x-csrf-token") or await _form_token(request)
        if not shows_token(visitor, given):
            raise Refused("the CSRF token is missing or expired: load the page again (scripts: send X-CSRF-Token)")
    return visitor


def shows_token(visitor: Visitor, given: str) -> bool:
    """Say whether a form holds the token of whoever is there: one that was loaded before they came in does not."""
    return hmac.compare_digest(given.encode(), visitor.csrf.encode())


async def form_of(request: Request) -> FormData:
    """Read a form as our own pages send it; in other encodings the sender chooses how bytes become letters."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return await request.form() if kind == "application/x-www-form-urlencoded" else FormData()


async def _form_token(request: Request) -> str:
    given = (await form_of(request)).get("csrf")
    return given if isinstance(given, str) else ""


MaybeVisitor = Annotated[Visitor | None, Depends(visitor_checked)]
WhoeverIsThere = Annotated[Visitor | None, Depends(visitor_of)]
"""By the cookie alone: whoever takes this checks the form's token, or changes nothing for its sake."""
Holder = Annotated[Visitor | None, Depends(holder_of)]
"""By the cookie alone, and wherever they go: whoever takes this also looks whether a link leads to the one campaign they see."""


async def someone(visitor: MaybeVisitor) -> Visitor:
    """Let in whoever is signed in."""
    if visitor is None:
        raise NobodyThere
    return visitor


VisitorOnly = Annotated[Visitor, Depends(someone)]


async def analyst(visitor: VisitorOnly) -> Visitor:
    """Let analysts in; to others there is nothing here."""
    if visitor.kind != "analyst":
        raise NotFound
    return visitor


async def person(visitor: VisitorOnly) -> Visitor:
    """Let people in; to others there is nothing here."""
    if visitor.kind != "person":
        raise NotFound
    return visitor


AnalystOnly = Annotated[Visitor, Depends(analyst)]
PersonOnly = Annotated[Visitor, Depends(person)]


def cookie(ticket: Ticket) -> str:
    """Write the cookie of a session: for this host alone, unseen by scripts, not sent with what other sites post."""
    return f"{COOKIE}={ticket.token}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={ticket.seconds}"


def let_in(response: Response, ticket: Ticket) -> None:
    """Give a visitor their cookie; one whose cookie is still good keeps it."""
    if ticket.token:
        response.headers.append("set-cookie", cookie(ticket))
    if ticket.browser:
        known = f"{BROWSER_COOKIE}={ticket.browser}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={SECONDS_KNOWN}"
        response.headers.append("set-cookie", known)


def let_out(response: Response) -> None:
    """Take the cookie back."""
    response.headers.append("set-cookie", f"{COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0")


class FreshCookies(Middleware):
    """Send a rotated cookie with whatever answer a handler gives."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; add the cookie that reading the old one brought up."""

        async def adding(message: Message) -> None:
            fresh = scope.get("state", {}).get("cookie")
            if fresh and message["type"] == "http.response.start":
                given = [value for name, value in message["headers"] if name == b"set-cookie"]
                if not any(value.startswith(COOKIE.encode() + b"=") for value in given):
                    message["headers"] = [*message["headers"], (b"set-cookie", fresh.encode())]
            await send(message)

        await self._app(scope, receive, adding)
