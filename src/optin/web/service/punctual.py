"""Taking the steps that are due by themselves, each in one transaction that looks again: exactly once, in time or late.

They are the steps that an analyst would take, under the same rules. A service that was down at the deadline takes them when it
is back; people then have all of their hours, counted from the announcement.
"""

from __future__ import annotations

import functools

from sqlalchemy import Connection, select

from optin.web.schema import campaigns
from optin.web.service.core import Service, log_event
from optin.web.service.drafts import Draft
from optin.web.service.lookups import campaign_row
from optin.web.service.schedule import is_due, too_few
from optin.web.service.steps import LONG, leave_as_job, take_now
from optin.web.transactions import hold

_OVER = ("draft", "released", "cancelled")
_MISSED = {
    "close-registration": "too few people came by the last day: nothing is announced, and registration can be opened again",
    "close": "too few people joined in time: nothing is published, and answers can be opened again",
}


def take_due_steps(service: Service) -> int:
    """Take the step that is due in every campaign that runs by itself; say how many were."""
    query = select(campaigns).where(campaigns.c.state.not_in(_OVER))

    def look(connection: Connection) -> list[str]:
        return [row.id for row in connection.execute(query).all() if is_due(service, connection, row)]

    return sum(service.change(functools.partial(_take, service, name)) for name in service.read(look))


def _take(service: Service, name: str, connection: Connection) -> int:
    hold(connection, name)
    row = campaign_row(connection, name)
    step = is_due(service, connection, row)
    if step in LONG:
        leave_as_job(service, connection, row, step)
    elif step:
        take_now(service, connection, row, step)
        if step in _MISSED and too_few(connection, row, Draft.from_json(row.draft)):
            log_event(connection, service.clock(), "missed", _MISSED[step], campaign=row.id, round=row.round)
    return int(bool(step))
