"""How many of those who registered can take part, roughly: what single people have left is theirs.

The number is fixed when registration closes, once in a round, and written down. Counted anew whenever it is asked for, it
would turn as an analyst's own accounts are emptied one by one, and where it turns would say what somebody else has left.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from optin.campaign.allowing import how_many_have, what_is_left
from optin.errors import PromiseBroken
from optin.web.schema import events
from optin.web.service.core import Service, log_event, words_of
from optin.web.service.ladder import LIMITS
from optin.web.service.limit_cells import SMALLEST_CELL
from optin.web.service.lookups import READER, owned_row, people_of
from optin.web.service.records import Visitor
from optin.wording.sentences import Sentence

_ABLE = "able"


def able(service: Service, analyst: Visitor, campaign: str) -> int | None:
    """Say how many people had something left of their totals when registration closed, in tens; None for fewer than ten.

    Once registration was opened again nothing more is told in this round: what changed would be the newcomers'.
    """

    def look(connection: Connection) -> int | None:
        row = owned_row(connection, analyst, campaign, least=READER)
        if row.state != "planning":
            raise PromiseBroken("how many can take part is told between registration and announcement")
        noted = _noted(connection, row)
        if "reopen-registration" in [event.kind for event in noted]:
            raise PromiseBroken(
                "how many can take part was told before registration was opened again: a second number would single "
                "newcomers out. The plan can be announced all the same"
            )
        return int(words_of(noted[0]).data["tens"]) if noted else None

    return service.read(look)


def note_able(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Count, as registration closes, and write it down; a round that has its number keeps it.

    Where one ten ends and the next begins is secret, and another in each round: nobody can add people of their own until
    the number turns, and learn from it what one more person has left.
    """
    people = people_of(connection, row.id, row.round)
    if len(people) < SMALLEST_CELL or _noted(connection, row):
        return
    start = int(service.keys.digest("able", f"{row.id}:{row.round}")[:8], 16) % SMALLEST_CELL
    can = how_many_have(what_is_left(connection, people.ids, people.allowances), LIMITS[0].amount)
    tens = min((can + start) // SMALLEST_CELL, len(people) // SMALLEST_CELL)
    words = Sentence("{tens} people or so, counted in tens, can take part", tens=tens * SMALLEST_CELL)
    log_event(connection, service.clock(), _ABLE, words, campaign=row.id, round=row.round)


def _noted(connection: Connection, row: Row[Any]) -> list[Row[Any]]:
    """List what was written down in this round from its number on; nothing, if it has none."""
    here = (events.c.campaign == row.id, events.c.round == row.round)
    query = select(events.c.kind, events.c.words, events.c.told).where(*here).order_by(events.c.number)
    noted: list[Row[Any]] = [*connection.execute(query)]
    first = next((at for at, event in enumerate(noted) if event.kind == _ABLE), len(noted))
    return noted[first:]
