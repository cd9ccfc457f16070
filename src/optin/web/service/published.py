"""What everyone may see: announced campaigns that were open to everyone, and their results.

What was asked by invitation is published to those who were invited, and to its analyst: it is listed nowhere, and to
others it does not exist.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from optin.announcement import Announcement
from optin.releasing import Release
from optin.web.schema import campaigns
from optin.web.service.core import Service
from optin.web.service.drafts import Draft
from optin.web.service.failures import NotFound
from optin.web.service.lookups import belongs, campaign_row, role_in
from optin.web.service.records import Published, Visitor


def show(service: Service, campaign: str, visitor: Visitor | None) -> Published:
    """Show an announced campaign to whom it is for; before the announcement there is nothing to see."""

    def look(connection: Connection) -> Published:
        row = campaign_row(connection, campaign)
        if not row.announcement or not (row.public or _is_for(connection, visitor, row)):
            raise NotFound
        return as_published(row)

    return service.read(look)


def _is_for(connection: Connection, visitor: Visitor | None, row: Row[Any]) -> bool:
    if visitor is None:
        return False
    if visitor.kind == "analyst":
        return role_in(connection, visitor.account, row) is not None
    return belongs(connection, visitor.account, row)


def published(service: Service, *, most: int = 100) -> list[Published]:
    """List the newest results of campaigns that were open to everyone."""
    query = select(campaigns).where(campaigns.c.state == "released", campaigns.c.public.is_(True))
    newest = query.order_by(campaigns.c.changed_at.desc()).limit(most)
    return service.read(lambda connection: [as_published(row) for row in connection.execute(newest).all()])


def as_published(row: Row[Any]) -> Published:
    """Read what may be seen of an announced campaign."""
    draft, offer = Draft.from_json(row.draft), Announcement.from_json(row.announcement)
    return Published(
        id=row.id,
        title=draft.title,
        question=draft.question,
        purpose=draft.purpose,
        unit=draft.unit,
        state=row.state,
        round=row.round,
        public=bool(row.public),
        open_link=draft.open_link,
        fingerprint=offer.fingerprint,
        announcement=offer,
        release=Release.from_json(row.release) if row.release else None,
        released_at=row.changed_at if row.release else None,  # a released campaign changes no more
    )
