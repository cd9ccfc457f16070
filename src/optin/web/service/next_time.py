"""The next campaign over the same people: how many can still take part, and for how much, roughly.

It is counted once, in the moment in which a result is published, over the people of that round, and written down. Counted when
it is asked for, or over a list that an analyst writes, it would say of single people what they have left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select

from optin.announcement import Announcement
from optin.campaign.allowing import how_many_have, what_is_left
from optin.web.schema import events
from optin.web.service.core import Service, log_event, words_of
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import LIMITS
from optin.web.service.lookups import READER, owned_row, people_of
from optin.web.service.records import Visitor
from optin.wording.groups import SMALLEST_GROUP
from optin.wording.sentences import Sentence

TIMES = (1, 2, 4)
"""How many more campaigns like this one are asked about."""
LEAST = 2 * SMALLEST_GROUP
_NEXT = "next"


@dataclass(frozen=True)
class Again:
    """About how many people can take part so many more times, for as much as this time; in tens."""

    times: int
    people: int


def count_again(service: Service, connection: Connection, row: Row[Any]) -> tuple[Again, ...]:
    """Count, as a result is published, who has as much left as they were asked for, in tens.

    Where one ten ends and the next begins is secret, and another in each round, as for those who can take part in this one.
    """
    people = people_of(connection, row.id, row.round)
    if Draft.from_json(row.draft).model != PRIVACY_CONSTRAINED or len(people) < LEAST:
        return ()
    cap = max(part.cap for part in Announcement.from_json(row.announcement).parts)
    asked = np.minimum(np.array([rung.amount for rung in LIMITS])[people.rungs], cap)
    start = int(service.keys.digest(_NEXT, f"{row.id}:{row.round}")[:8], 16) % SMALLEST_GROUP
    left = what_is_left(connection, people.ids, people.allowances)
    can = ((times, how_many_have(left, times * asked) + start) for times in TIMES)
    most = len(people) // SMALLEST_GROUP
    return tuple(Again(times, min(number // SMALLEST_GROUP, most) * SMALLEST_GROUP) for times, number in can)


def note_next(service: Service, connection: Connection, row: Row[Any], counted: Sequence[Again]) -> None:
    """Write down what was counted, in the step that publishes."""
    for each in counted:
        words = Sentence(
            "{tens} people or so can take part {times} more times for as much, counted in tens",
            tens=each.people,
            times=each.times,
        )
        log_event(connection, service.clock(), _NEXT, words, campaign=row.id, round=row.round)


def _again(noted: Sentence) -> Again:
    return Again(int(noted.data["times"]), int(noted.data["tens"]))


def can_again(service: Service, analyst: Visitor, campaign: str) -> tuple[Again, ...]:
    """Say about how many people of a published round can take part again; nothing for fewer than twenty people, or costs."""

    def look(connection: Connection) -> tuple[Again, ...]:
        row = owned_row(connection, analyst, campaign, least=READER)
        here = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == _NEXT)
        query = select(events.c.words, events.c.told).where(*here).order_by(events.c.number)
        noted: list[Row[Any]] = [*connection.execute(query)]
        return tuple(_again(words_of(event)) for event in noted)

    return service.read(look)
