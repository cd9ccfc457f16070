"""How many of those who registered can take part, roughly: what single people have left is theirs."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from optin.errors import PromiseBroken
from optin.store import UNLIMITED, allowance_grains
from optin.web.service.campaigns import SMALLEST_CELL, expect_no_newcomer
from optin.web.service.core import Service
from optin.web.service.ladder import LIMITS
from optin.web.service.records import Visitor
from optin.web.service.rows import People, owned_row, people_of

__all__ = ["able"]


def able(service: Service, analyst: Visitor, campaign: str) -> int | None:
    """Say how many people have something left of their totals, in tens; None while fewer than ten have registered.

    Where one ten ends and the next begins is secret and stays the same for a campaign: nobody can add people of their own
    until the number turns, and learn from it what one more person has left.
    """

    def look(connection: Connection) -> People:
        row = owned_row(connection, analyst, campaign)
        if row.state != "planning":
            raise PromiseBroken("how many can take part is told between registration and announcement")
        expect_no_newcomer(connection, row)
        return people_of(connection, campaign, row.round)

    people = service.read(look)
    if len(people) < SMALLEST_CELL:
        return None
    start = int(service.keys.digest("able", campaign)[:8], 16) % SMALLEST_CELL
    tens = (_with_something_left(service, people) + start) // SMALLEST_CELL
    return min(tens * SMALLEST_CELL, len(people) // SMALLEST_CELL * SMALLEST_CELL)


def _with_something_left(service: Service, people: People) -> int:
    totals = np.array([UNLIMITED if grains is None else grains for grains in people.allowances], dtype=np.int64)
    left = service.ledger.remaining(people.ids, raised_to=totals, lowered_to=totals)
    least = allowance_grains(np.array([LIMITS[0].amount]))[0]
    return int(np.count_nonzero(np.minimum(left, totals) >= least))
