"""How many came, as an analyst is told while it goes on: in tens, rounded down.

An exact count, looked at again and again, would say when someone answers, and beside a list or a corridor, who. How many must
join is public, and whether that was reached is told once, when answers are closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from optin.web.schema import invitations, registrations
from optin.web.service.rows import count, joined_count
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
