"""Who is signed in: server-side sessions, of which the store knows only hashes, and whose cookies change as they are used."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from optin.web.schema import accounts, sessions
from optin.web.service.core import Service, hashed, new_id, new_secret
from optin.web.service.forgetting import erase
from optin.web.service.records import Visitor

LIFETIME = {"analyst": 12 * 3600.0, "person": 30 * 86400.0}
"""Seconds a session lasts, however much it is used."""
ROTATE_AFTER = 900.0
"""Seconds after which a cookie is replaced at its next use."""
GRACE = 60.0
"""Seconds for which a cookie still counts after its successor was used: requests that were already on their way."""
LOST = 86400.0
"""Seconds for which a cookie whose successor nobody used still brings it: its answer was lost, and the visitor tries again."""


@dataclass(frozen=True)
class Ticket:
    """A cookie to give out, and whom it stands for; ``token`` is None where the visitor's cookie is still good.

    ``browser`` is what an analyst's browser keeps, to be known when they sign in again.
    """

    token: str | None = field(repr=False)
    visitor: Visitor
    seconds: int = 0
    browser: str | None = field(default=None, repr=False)


def start(
    service: Service,
    connection: Connection,
    account: Any,  # noqa: ANN401 - a row of accounts
    *,
    only: str | None = None,
) -> Ticket:
    """Begin a session with a new cookie, in the caller's transaction; ``only`` shows it one campaign."""
    token, name, now = new_secret(), new_id(), service.clock()
    seconds = LIFETIME[account.kind]
    row = {
        "id": name,
        "account": account.id,
        "token": hashed(token),
        "created_at": now,
        "rotated_at": now,
        "only_campaign": only,
    }
    connection.execute(delete(sessions).where(sessions.c.expires_at < now))
    connection.execute(insert(sessions).values({**row, "expires_at": now + seconds}))
    return Ticket(token, _visitor(service, name, account, only), int(seconds))


def find(service: Service, token: str) -> Ticket | None:
    """Say who holds a cookie; an old one is exchanged for the next, and counts until the next one was used, for a day at most.

    An answer can be lost on its way, and the new cookie with it. So the old cookie brings the same new one again, as
    often as it is asked for a day, until the new one comes back: then its holder has it, and the old one counts only for
    requests that were already on their way. One used after that was copied by someone, or may have been: nobody can tell by
    whom, so both are signed out. A copy that is used at least daily, and never long after its owner's, is not found out
    before the session ends.
    """
    mark, now = hashed(token), service.clock()
    row = service.read(lambda connection: _row(connection, mark, now))
    if row is None:
        return None
    visitor, left = _visitor(service, row.session, row, row.only_campaign), int(row.expires_at - now)
    if row.token == mark:
        if _is_unsettled(row):
            _settle(service, row, now)
            return Ticket(None, visitor)
        due = now > row.rotated_at + ROTATE_AFTER
        return Ticket(_rotated(service, row.session, mark, now) if due else None, visitor, left)
    following = _next_token(service, row.session, mark)
    if row.previous == mark and row.token == hashed(following) and now <= row.rotated_at + LOST:
        return Ticket(following, visitor, left)
    if now > row.rotated_at + GRACE:
        service.change(lambda connection: connection.execute(delete(sessions).where(sessions.c.id == row.session)))
        return None
    return Ticket(None, visitor)


def _row(connection: Connection, mark: str, now: float) -> Row[Any] | None:
    columns = (
        sessions.c.token,
        sessions.c.previous,
        sessions.c.rotated_at,
        sessions.c.expires_at,
        sessions.c.only_campaign,
    )
    query = (
        select(accounts, sessions.c.id.label("session"), *columns)
        .join(accounts, accounts.c.id == sessions.c.account)
        .where(or_(sessions.c.token == mark, sessions.c.previous.in_((mark, _retired(mark)))))
        .where(sessions.c.expires_at > now, accounts.c.left_at.is_(None))
    )
    return connection.execute(query).first()


def _retired(mark: str) -> str:
    """Write the hash of a cookie whose successor was used; no hash begins so."""
    return "-" + mark[1:]


def _is_unsettled(row: Row[Any]) -> bool:
    return row.previous is not None and not row.previous.startswith("-")


def _settle(service: Service, row: Row[Any], now: float) -> None:
    """Retire the cookie before, since the one that follows it was used."""
    unsettled = (sessions.c.id == row.session, sessions.c.previous == row.previous)
    new = {"previous": _retired(row.previous), "rotated_at": now}
    service.change(lambda connection: connection.execute(update(sessions).where(*unsettled).values(new)))


def _next_token(service: Service, session: str, mark: str) -> str:
    """Derive the cookie that follows another: asked for twice it is the same, and nobody else can derive it."""
    digest = bytes.fromhex(service.keys.digest("cookie", f"{session}:{mark}"))
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _rotated(service: Service, session: str, mark: str, now: float) -> str:
    """Give a session its next cookie; of two requests at once both get the same."""
    token = _next_token(service, session, mark)
    new = {"token": hashed(token), "previous": mark, "rotated_at": now}
    query = update(sessions).where(sessions.c.id == session, sessions.c.token == mark).values(new)
    service.change(lambda connection: connection.execute(query))
    return token


def end(service: Service, visitor: Visitor) -> None:
    """Sign out."""
    service.change(lambda connection: connection.execute(delete(sessions).where(sessions.c.id == visitor.session)))


def end_others(connection: Connection, visitor: Visitor) -> None:
    """Sign out everywhere else: whoever found a lost device sees nothing on it any more."""
    others = (sessions.c.account == visitor.account, sessions.c.id != visitor.session)
    connection.execute(delete(sessions).where(*others))


def end_all(connection: Connection, account: str) -> None:
    """Sign out everywhere."""
    connection.execute(delete(sessions).where(sessions.c.account == account))


def _visitor(service: Service, session: str, account: Any, only: str | None) -> Visitor:  # noqa: ANN401
    csrf = service.keys.digest("csrf", session)
    return Visitor(account.id, account.kind, account.name, session=session, csrf=csrf, only=only)


def erase_sessions(service: Service) -> None:
    """Forget sessions that are over."""
    erase(service, sessions, sessions.c.expires_at < service.clock())
