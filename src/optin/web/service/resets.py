"""Letting an analyst in again who lost their password: by a link that works once, made by whoever runs the service."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from optin.errors import BadInput
from optin.web.schema import accounts, invitations
from optin.web.service import sessions
from optin.web.service.core import Service, hashed, log_event, new_secret
from optin.web.service.failures import Refused
from optin.web.service.forgetting import erase
from optin.web.service.passwords import browser_mark, checked_password, hashed_slowly
from optin.web.service.sessions import Ticket

SECONDS = 86400.0
"""How long a link to a new password works."""
_KIND = "reset"


def reset_link(service: Service, name: str) -> str:
    """Make a one-time secret with which an analyst chooses a new password; the one before it ends."""

    def work(connection: Connection) -> str:
        account = analyst_named(connection, name)
        connection.execute(delete(invitations).where(invitations.c.kind == _KIND, invitations.c.account == account))
        secret = new_secret()
        row = {"secret": hashed(secret), "kind": _KIND, "account": account, "created_at": service.clock()}
        connection.execute(insert(invitations).values(row))
        log_event(connection, service.clock(), "password reset", "a link to a new password was made for an analyst")
        return secret

    return service.change(work)


def analyst_named(connection: Connection, name: str) -> str:
    """Find the account of an analyst who can still come in, for whoever runs the service."""
    query = select(accounts.c.id).where(accounts.c.name == name, accounts.c.kind == "analyst")
    account = connection.scalar(query.where(accounts.c.left_at.is_(None)))
    if account is None:
        raise BadInput("there is no analyst of this name; `optin web status` lists them")
    return str(account)


def choose_password(service: Service, secret: str, password: str) -> Ticket:
    """Turn a link into a new password: signed out everywhere, signed in here. The link is looked up before anything is hashed."""
    password = checked_password(password)
    service.read(lambda connection: _expect_link(service, connection, secret))
    password_hash = hashed_slowly(service, password)

    def work(connection: Connection) -> Ticket:
        link = _expect_link(service, connection, secret, held=True)
        connection.execute(update(accounts).where(accounts.c.id == link.account).values(password=password_hash))
        connection.execute(delete(invitations).where(invitations.c.secret == link.secret))
        sessions.end_all(connection, link.account)
        account = connection.execute(select(accounts).where(accounts.c.id == link.account)).one()
        log_event(connection, service.clock(), "password reset", "an analyst chose a new password")
        ticket = sessions.start(service, connection, account)
        return Ticket(ticket.token, ticket.visitor, ticket.seconds, browser_mark(service, account.id))

    return service.change(work)


def erase_reset_links(service: Service) -> None:
    """Forget links whose day is over."""
    erase(service, invitations, invitations.c.kind == _KIND, invitations.c.created_at <= service.clock() - SECONDS)


def _expect_link(service: Service, connection: Connection, secret: str, *, held: bool = False) -> Row[Any]:
    young = invitations.c.created_at > service.clock() - SECONDS
    query = select(invitations).where(invitations.c.secret == hashed(secret), invitations.c.kind == _KIND, young)
    row = connection.execute(query.with_for_update() if held else query).first()
    if row is None:
        raise Refused("this link was used before, is older than a day, or is not valid; ask for a new one")
    return row
