"""Ids of an invitation list: one person who is invited again has one account, and so one total over all campaigns.

An id is kept only under a keyed hash, apart from everything else, and belongs to the analyst who wrote it: the same number
in another analyst's list is another person. Analysts read none of it. With the campaign it is erased, but where it leads to a
total that its owner has said: that stays a while, or the next invitation would make a second person.

Whoever holds a link may not be the person it is for: the analyst made it. Coming in by an id alone shows this one campaign
and nothing of the account besides; all of it is shown to the device it was made on, and to its recovery link.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, or_, select, update

from optin.errors import BadInput
from optin.web.schema import accounts, campaigns, invited_ids, invitees, mails
from optin.web.service.core import Service, hashed
from optin.web.service.forgetting import erase
from optin.web.transactions import hold

MOST_LETTERS = 200
OVER = ("released", "cancelled")
_DAY = 86400.0


def checked_ids(ids: Sequence[str]) -> list[str]:
    """Refuse ids that are empty, too long or given twice; none of them is repeated in the refusal."""
    texts = [text.strip() for text in ids]
    if not all(text and text.isprintable() and len(text) <= MOST_LETTERS for text in texts):
        raise BadInput("every id must be text on one line, of 1 to {most} characters", most=MOST_LETTERS)
    if len(set(texts)) < len(texts):
        raise BadInput("an id stands in the list twice: everyone is invited once")
    return texts


def note_ids(
    service: Service, connection: Connection, row: Row[Any], ids: Sequence[str], secrets: Sequence[str]
) -> None:
    """Keep which invitation is for which id; one who was invited to this campaign before is refused."""
    marks = [service.keys.digest("invited id", f"{row.owner}:{text}") for text in ids]
    known = set(connection.scalars(select(invited_ids.c.mark).where(invited_ids.c.campaign == row.id)))
    if known & set(marks):
        raise BadInput("someone in this list was invited to this campaign before: leave them out")
    pairs = zip(secrets, marks, strict=True)
    rows = [{"invitation": hashed(secret), "campaign": row.id, "mark": mark} for secret, mark in pairs]
    connection.execute(insert(invited_ids), rows)


def has_id(connection: Connection, secret: str) -> bool:
    """Say whether an invitation was made for an id."""
    return has_mark(connection, hashed(secret))


def has_mark(connection: Connection, invitation: str) -> bool:
    """Say whether an invitation, by its hash, was made for an id that is still kept."""
    query = select(invited_ids.c.invitation).where(invited_ids.c.invitation == invitation)
    return connection.execute(query).first() is not None


def account_of(connection: Connection, secret: str) -> Row[Any] | None:
    """Find the account that an invitation's id led to before, in whatever campaign; one that was left is nobody's.

    Until the transaction ends nobody else comes in by the same id: two invitations sent at once would make two people.
    """
    mine = connection.scalar(select(invited_ids.c.mark).where(invited_ids.c.invitation == hashed(secret)))
    if mine is None:
        return None
    hold(connection, mine)
    query = (
        select(accounts)
        .join(invited_ids, invited_ids.c.account == accounts.c.id)
        .where(invited_ids.c.mark == mine, accounts.c.left_at.is_(None))
    )
    return connection.execute(query.order_by(accounts.c.created_at).limit(1)).first()


def tie(connection: Connection, secret: str, account: str) -> None:
    """Keep to which account an invitation's id led."""
    where = invited_ids.c.invitation == hashed(secret)
    connection.execute(update(invited_ids).where(where).values(account=account))


def untie(connection: Connection, account: str) -> None:
    """Forget every id of an account that is left."""
    connection.execute(update(invited_ids).where(invited_ids.c.account == account).values(account=None))


def erase_ids(service: Service) -> None:
    """Erase lists, mails and ids of campaigns that are over.

    Only an id that leads to a total its owner has said stays, for as long as ids are kept: the next invitation must find
    it, or one person would have two totals.
    """
    over = select(campaigns.c.id).where(campaigns.c.state.in_(OVER))
    before = service.clock() - service.days_to_keep_ids * _DAY
    said = select(accounts.c.id).where(accounts.c.allowance.is_not(None))
    leads_nowhere = or_(invited_ids.c.account.is_(None), invited_ids.c.account.not_in(said))
    for gone in (
        (invited_ids, invited_ids.c.campaign.in_(over), leads_nowhere),
        (invited_ids, invited_ids.c.campaign.in_(over.where(campaigns.c.changed_at <= before))),
        (mails, mails.c.campaign.in_(over)),
        (invitees, invitees.c.campaign.in_(over)),
    ):
        erase(service, *gone)
