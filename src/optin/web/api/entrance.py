"""Signing in and out, invitations, and new accounts."""

from __future__ import annotations

from fastapi import APIRouter, Response

from optin.web.api import given, taken
from optin.web.api.shaping import session_out
from optin.web.doors import AddressOf, AnalystOnly, BrowserOf, MaybeVisitor, ServiceOf, VisitorOnly, let_in, let_out
from optin.web.service import accounts
from optin.web.service.accounts import Entered

router = APIRouter(prefix="/api", tags=["entrance"])


@router.get("/session")
def who_is_there(visitor: VisitorOnly) -> given.SessionOut:
    """Say who is signed in, with the token for changes."""
    return session_out(visitor)


@router.post("/session")
def sign_in(
    response: Response, service: ServiceOf, address: AddressOf, browser: BrowserOf, body: taken.SignInIn
) -> given.SessionOut:
    """Sign an analyst in; the cookie `__Host-optin` comes with the answer, and `__Host-optin-browser` to be known by."""
    ticket = accounts.sign_in(service, body.name, body.password, address=address, browser=browser)
    let_in(response, ticket)
    return session_out(ticket.visitor)


@router.delete("/session", status_code=204)
def sign_out(response: Response, service: ServiceOf, visitor: VisitorOnly) -> None:
    """End this session."""
    accounts.sign_out(service, visitor)
    let_out(response)


@router.post("/analysts", status_code=201)
def create_analyst(response: Response, service: ServiceOf, body: taken.NewAnalystIn) -> given.SessionOut:
    """Turn a one-time secret into an analyst's account, signed in."""
    ticket = accounts.create_analyst(service, body.secret, body.name, body.password)
    let_in(response, ticket)
    return session_out(ticket.visitor)


@router.post("/analysts/invitations", status_code=201)
def invite_analyst(service: ServiceOf, analyst: AnalystOnly) -> given.SecretOut:
    """Make a one-time secret for another analyst, good for a week."""
    return given.SecretOut(secret=accounts.invite_analyst(service, analyst))


@router.post("/people", status_code=201)
def sign_up(response: Response, service: ServiceOf, address: AddressOf) -> given.EnteredOut:
    """Make a person's account; the key to come back with is shown once."""
    return _entered(response, accounts.sign_up(service, address=address))


@router.post("/entry")
def enter(response: Response, service: ServiceOf, visitor: MaybeVisitor, body: taken.EntryIn) -> given.EnteredOut:
    """Come in with an invitation (once) or one's own key (always); with both, the invitation goes to the key's account.

    Asked again with the same `fresh` or `key`, an invitation leads to the account it went to.
    """
    return _entered(response, accounts.enter(service, body.secret, key=body.key, fresh=body.fresh, visitor=visitor))


def _entered(response: Response, entered: Entered) -> given.EnteredOut:
    let_in(response, entered.ticket)
    session = session_out(entered.ticket.visitor)
    return given.EnteredOut(**session.model_dump(), key=entered.key, campaign=entered.campaign)
