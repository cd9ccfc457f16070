"""One link for many: whoever has it can answer, so many times in all and until the last day, and nobody checks who they are.

The link is not stored: it is worked out from the service's key and the campaign, so that it can be shown again. Every answer
takes a place, which the device that sent it keeps; sent again from there, it takes no second one. Another device
is another person. Whoever takes their answer back gives the place back too, as does a round that ends without a result.
"""

from __future__ import annotations

import hmac
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from optin.errors import PromiseBroken
from optin.web.schema import campaigns, invitations, registrations
from optin.web.service.core import Service, hashed, new_secret
from optin.web.service.drafts import Draft
from optin.web.service.failures import NotFound
from optin.web.service.lookups import READER, campaign_row, count, owned_row, role_in
from optin.web.service.records import Visitor
from optin.web.transactions import hold
from optin.wording.language import N_

_KIND = "open"
_ID = 32
_FULL = N_("this link was made for {most:,} answers, and so many have come: it takes no more")


def open_link(service: Service, analyst: Visitor, campaign: str) -> str | None:
    """Work out the secret of a campaign's open link for those who work on it; None to readers, and where it has none."""

    def look(connection: Connection) -> str | None:
        row = owned_row(connection, analyst, campaign, least=READER)
        reads = role_in(connection, analyst.account, row) == READER
        return _secret(service, row.id) if Draft.from_json(row.draft).open_link and not reads else None

    return service.read(look)


def _secret(service: Service, campaign: str) -> str:
    return f"{campaign}{service.keys.digest('open link', campaign)[:_ID]}"


def led_to(service: Service, connection: Connection, secret: str) -> Row[Any] | None:
    """Find the campaign that an open link leads to; None where it is none of ours."""
    name = secret[:_ID]
    if not (secret.isascii() and hmac.compare_digest(secret, _secret(service, name))):
        return None
    try:
        row = campaign_row(connection, name)
    except NotFound:
        return None
    return row if row.state != "draft" and Draft.from_json(row.draft).open_link else None


def has_place(connection: Connection, row: Row[Any], visitor: Visitor | None) -> bool:
    """Say whether whoever is here answered by this link before; raise PromiseBroken where they did not, and it is full."""
    if visitor is not None and visitor.kind == "person" and _stands(connection, row, visitor.account):
        return True
    _expect_room(connection, row)
    return False


def take_place(service: Service, connection: Connection, row: Row[Any], account: str) -> None:
    """Count someone once, in the transaction that takes their answers; of many at once no more get in than there are places."""
    hold(connection, row.id, shared=True)  # before the row: a step takes them in this order too
    _expect_place(connection, row, account)
    if not _came_by_it(connection, row, account):
        now = service.clock()
        mine = {"secret": hashed(new_secret()), "kind": _KIND, "campaign": row.id, "account": account}
        connection.execute(insert(invitations).values({**mine, "created_at": now, "used_at": now}))


def expect_place(connection: Connection, row: Row[Any], account: str) -> None:
    """Refuse someone who came by an open link, took their answer back, and comes again when it is full."""
    if Draft.from_json(row.draft).open_link and _came_by_it(connection, row, account):
        _expect_place(connection, row, account)


def _expect_place(connection: Connection, row: Row[Any], account: str) -> None:
    connection.execute(select(campaigns.c.id).where(campaigns.c.id == row.id).with_for_update())
    if not _stands(connection, row, account):
        _expect_room(connection, row)


def _came_by_it(connection: Connection, row: Row[Any], account: str) -> bool:
    return count(connection, invitations, *_places(row), invitations.c.account == account) > 0


def _stands(connection: Connection, row: Row[Any], account: str) -> bool:
    return count(connection, registrations, *_taken(row), registrations.c.person == account) > 0


def _expect_room(connection: Connection, row: Row[Any]) -> None:
    most = Draft.from_json(row.draft).open_link
    if count(connection, registrations, *_taken(row)) >= most:
        raise PromiseBroken(_FULL, most=most)


def _taken(row: Row[Any]) -> tuple[Any, ...]:
    """Whoever came by the link and is registered: what was taken back takes no place."""
    came = select(invitations.c.account).where(*_places(row), invitations.c.account.is_not(None))
    return registrations.c.campaign == row.id, registrations.c.round == row.round, registrations.c.person.in_(came)


def _places(row: Row[Any]) -> tuple[Any, ...]:
    return invitations.c.campaign == row.id, invitations.c.kind == _KIND
