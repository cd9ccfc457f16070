"""Who is signed in: server-side sessions, of which the store knows only hashes, and whose cookies change as they are used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from optin.store.web_schema import accounts, sessions
from optin.web.service.core import Service, hashed, new_id, new_secret
from optin.web.service.records import Visitor

__all__ = ["Ticket", "end", "end_all", "find", "start"]

LIFETIME = {"analyst": 12 * 3600.0, "person": 30 * 86400.0}
"""Seconds a session lasts, however much it is used."""
ROTATE_AFTER = 900.0
"""Seconds after which a cookie is replaced at its next use."""
GRACE = 60.0
"""Seconds for which the cookie before still counts: requests that were already on their way."""


@dataclass(frozen=True)
class Ticket:
    """A cookie to give out, and whom it stands for; ``token`` is None where the visitor's cookie is still good."""

    token: str | None = field(repr=False)
    visitor: Visitor
    seconds: int = 0


def start(service: Service, connection: Connection, account: Any) -> Ticket:  # noqa: ANN401 - a row of accounts
    """Begin a session with a new cookie, in the caller's transaction."""
    token, name, now = new_secret(), new_id(), service.clock()
    seconds = LIFETIME[account.kind]
    row = {"id": name, "account": account.id, "token": hashed(token), "created_at": now, "rotated_at": now}
    connection.execute(delete(sessions).where(sessions.c.expires_at < now))
    connection.execute(insert(sessions).values({**row, "expires_at": now + seconds}))
    return Ticket(token, _visitor(service, name, account), int(seconds))


def find(service: Service, token: str) -> Ticket | None:
    """Say who holds a cookie; an old one is exchanged, and one that was exchanged long ago ends the session.

    A cookie used again after its exchange was copied by someone: nobody can tell by whom, so both are signed out.
    """
    mark, now = hashed(token), service.clock()
    row = service.read(lambda connection: _row(connection, mark, now))
    if row is None:
        return None
    visitor = _visitor(service, row.session, row)
    if row.token != mark:
        if now > row.rotated_at + GRACE:
            service.change(lambda connection: connection.execute(delete(sessions).where(sessions.c.id == row.session)))
            return None
        return Ticket(None, visitor)
    if now <= row.rotated_at + ROTATE_AFTER:
        return Ticket(None, visitor)
    return Ticket(_rotated(service, row.session, mark, now), visitor, int(row.expires_at - now))


def _row(connection: Connection, mark: str, now: float) -> Row[Any] | None:
    query = (
        select(accounts, sessions.c.id.label("session"), sessions.c.token, sessions.c.rotated_at, sessions.c.expires_at)
        .join(accounts, accounts.c.id == sessions.c.account)
        .where(or_(sessions.c.token == mark, sessions.c.previous == mark))
        .where(sessions.c.expires_at > now, accounts.c.left_at.is_(None))
    )
    return connection.execute(query).first()


def _rotated(service: Service, session: str, mark: str, now: float) -> str | None:
    """Give a session a new cookie; of two requests at once only one gets it, the other's still counts."""
    token = new_secret()
    new = {"token": hashed(token), "previous": mark, "rotated_at": now}
    query = update(sessions).where(sessions.c.id == session, sessions.c.token == mark).values(new)
    return token if service.change(lambda connection: connection.execute(query).rowcount) else None


def end(service: Service, visitor: Visitor) -> None:
    """Sign out."""
    service.change(lambda connection: connection.execute(delete(sessions).where(sessions.c.id == visitor.session)))


def end_all(connection: Connection, account: str) -> None:
    """Sign out everywhere."""
    connection.execute(delete(sessions).where(sessions.c.account == account))


def _visitor(service: Service, session: str, account: Any) -> Visitor:  # noqa: ANN401
    csrf = service.keys.digest("csrf", session)
    return Visitor(account.id, account.kind, account.name, session=session, csrf=csrf)
