"""Coming in again by an invitation that was used, after an answer that was lost: with the very key that was shown before."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Connection, Row, select

from optin.web.schema import accounts, invitations
from optin.web.service.core import Service, hashed
from optin.web.service.recovering import redeemed
from optin.web.service.sent_before import sent_before

KEY = re.compile(r"[A-Za-z0-9_-]{43}")
"""How a key looks that a page or a program drew for the account it may make."""


def owner_of(connection: Connection, key: str) -> Row[Any] | None:
    """Find whose key this is."""
    return connection.execute(
        select(accounts).where(accounts.c.key == hashed(key), accounts.c.left_at.is_(None))
    ).first()


def whose(service: Service, connection: Connection, secret: str) -> Row[Any] | None:
    """Find whose account a recovery link opens: by a key, always; by a mail, once."""
    return owner_of(connection, secret) or redeemed(service, connection, secret)


def entered_before(
    service: Service, connection: Connection, *, secret: str, key: str | None, fresh: str | None, here: str | None
) -> tuple[Row[Any], str, bool] | None:
    """Find who came in by an invitation with the very key that they show again; whether they see its campaign alone."""
    where = (invitations.c.secret == hashed(secret), invitations.c.kind == "person", invitations.c.used_at.is_not(None))
    used = connection.execute(select(invitations).where(*where)).first()
    if used is None:
        return None
    by_id = sent_before(service, connection, fresh, secret) if fresh is not None and key is None else None
    owners = [owner_of(connection, each) for each in (key, fresh) if each is not None]
    owners += [connection.execute(select(accounts).where(accounts.c.id == here)).first(), by_id]
    owner = next((each for each in owners if each is not None and each.id == used.account), None)
    return None if owner is None else (owner, used.campaign, owner is by_id)
