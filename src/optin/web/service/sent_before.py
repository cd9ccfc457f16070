"""Pages that were sent as someone who has an account already: sent again, they lead there again.

The key of a page opens the account that the page makes. Where the answers went to an account that was there before (by an id of
a list, or by a link from a mail, which works once), that key opens nothing, and an answer that was lost on its way would shut
its sender out. So it is remembered which account such a page led to, under a keyed hash of the page's key and its link
together, for as long as a session lasts. Whoever made the link does not know the key of a page that was sent with it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from optin.web.schema import accounts, links_back
from optin.web.service.core import Service
from optin.web.service.sessions import LIFETIME


def remember(
    service: Service, connection: Connection, key: str, link: str, account: str, *, by_mail: bool = False
) -> None:
    """Keep which account a page led to; what opens all of an account is kept apart from what shows one campaign."""
    mark = _mark(service, key, link, by_mail=by_mail)
    connection.execute(delete(links_back).where(links_back.c.secret == mark))
    until = service.clock() + LIFETIME["person"]
    connection.execute(insert(links_back).values(secret=mark, account=account, until=until))


def sent_before(
    service: Service, connection: Connection, key: str, link: str, *, by_mail: bool = False
) -> Row[Any] | None:
    """Find the account that a page led to when it was sent before."""
    here = (links_back.c.secret == _mark(service, key, link, by_mail=by_mail), links_back.c.until > service.clock())
    query = select(accounts).join(links_back, links_back.c.account == accounts.c.id)
    return connection.execute(query.where(*here, accounts.c.left_at.is_(None))).first()


def _mark(service: Service, key: str, link: str, *, by_mail: bool) -> str:
    """Hash a page; no text that someone could type has this hash."""
    return service.keys.digest("page sent by a mail" if by_mail else "page sent by an id", f"{link}:{key}")
