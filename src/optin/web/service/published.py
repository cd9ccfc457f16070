"""What everyone may see: announced campaigns, and their results."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from optin.announcement import Announcement
from optin.releasing import Release
from optin.store.web_schema import campaigns
from optin.web.service.core import Service
from optin.web.service.failures import NotFound
from optin.web.service.records import Draft, Published
from optin.web.service.rows import campaign_row

__all__ = ["published", "show"]


def show(service: Service, campaign: str) -> Published:
    """Show an announced campaign; before the announcement there is nothing to see."""

    def look(connection: Connection) -> Published:
        row = campaign_row(connection, campaign)
        if not row.announcement:
            raise NotFound
        return _view(row)

    return service.read(look)


def published(service: Service, *, most: int = 100) -> list[Published]:
    """List the newest results."""
    query = select(campaigns).where(campaigns.c.state == "released").order_by(campaigns.c.changed_at.desc()).limit(most)
    return service.read(lambda connection: [_view(row) for row in connection.execute(query).all()])


def _view(row: Row[Any]) -> Published:
    draft = Draft.from_json(row.draft)
    return Published(
        id=row.id,
        title=draft.title,
        question=draft.question,
        purpose=draft.purpose,
        unit=draft.unit,
        state=row.state,
        round=row.round,
        announcement=Announcement.from_json(row.announcement),
        release=Release.from_json(row.release) if row.release else None,
    )
