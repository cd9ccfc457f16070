"""How many came, as an analyst is told while it goes on: in tens, rounded down.

An exact count, looked at again and again, would say when someone answers, and beside a list or a corridor, who. How many must
join is public, and whether that was reached is told once, when answers are closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from optin.web.schema import invitations, registrations
from optin.web.service.lookups import count, joined_count
from optin.wording.groups import in_tens


@dataclass(frozen=True)
class Turnout:
    """People of a round in tens: links used, registered, joined, declined."""

    redeemed: int
    registered: int
    joined: int
    declined: int


def turnout_of(connection: Connection, row: Row[Any]) -> Turnout:
    """Count the people of a round, in tens."""
    used = (invitations.c.campaign == row.id, invitations.c.used_at.is_not(None))
    here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
    return Turnout(
        redeemed=in_tens(count(connection, invitations, *used)),
        registered=in_tens(count(connection, registrations, *here)),
        joined=in_tens(joined_count(connection, row.id, row.round, joined=True)),
        declined=in_tens(joined_count(connection, row.id, row.round, joined=False)),
    )


def registered_by_group(connection: Connection, row: Row[Any]) -> dict[str, int]:
    """Count who registered in each public group of a round, exactly: whoever tells it tells it in tens."""
    here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
    query = select(registrations.c.group_name, func.count()).where(*here, registrations.c.group_name.is_not(None))
    return {name: int(people) for name, people in connection.execute(query.group_by(registrations.c.group_name))}
