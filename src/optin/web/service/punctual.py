"""What happens by itself after the last day to answer, where a draft says so: close, announce, close again, publish.

Each step is the one that its analyst would take, under the same rules, and no earlier than they could. Where too few people
answered, or a step failed, nothing more happens by itself: whoever asks decides. A service that was down at the deadline does
it when it is back.
"""

from __future__ import annotations

import functools
from typing import Any

from sqlalchemy import Connection, Row, select

from optin.announcement.making import MIN_PEOPLE
from optin.web.schema import campaigns, jobs, registrations
from optin.web.service.campaigns import possible_now
from optin.web.service.core import Service
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.rows import campaign_row, count, job_of, joined_count
from optin.web.service.steps import LONG, leave_as_job, take_now
from optin.web.transactions import hold

_NEXT = {"registration": "close-registration", "planning": "announce", "announced": "close", "closed": "release"}


def take_due_steps(service: Service) -> int:
    """Take the step that is due in every campaign that runs by itself; say how many were."""
    query = select(campaigns).where(campaigns.c.state.in_(tuple(_NEXT)))

    def look(connection: Connection) -> list[str]:
        return [row.id for row in connection.execute(query).all() if _due(service, connection, row)]

    found = service.read(look)
    return sum(service.change(functools.partial(_take, service, name)) for name in found)


def _take(service: Service, name: str, connection: Connection) -> int:
    hold(connection, name)
    row = campaign_row(connection, name)
    step = _due(service, connection, row)
    if step in LONG:
        leave_as_job(service, connection, row, step)
    elif step:
        take_now(service, connection, row, step)
    return int(bool(step))


def _due(service: Service, connection: Connection, row: Row[Any]) -> str:
    """Name the step that is due now; none before the last day is over, while work goes on, and after it failed."""
    draft = Draft.from_json(row.draft)
    last, step = last_moment(draft), _NEXT.get(row.state, "")
    if not draft.automatic or not step or last is None or service.clock() < last:
        return ""
    job = job_of(connection, row.id)
    if (job is not None and job.unfinished) or _failed(connection, row, step):
        return ""
    can = possible_now(service, connection, row)
    return step if step in can and _enough(connection, row, draft) else ""


def _failed(connection: Connection, row: Row[Any], step: str) -> bool:
    mine = (jobs.c.campaign == row.id, jobs.c.round == row.round, jobs.c.kind == step, jobs.c.state == "failed")
    return count(connection, jobs, *mine) > 0


def _enough(connection: Connection, row: Row[Any], draft: Draft) -> bool:
    """Say whether going on leads to a result, by the counts that its analyst sees."""
    if row.state in ("registration", "planning"):
        here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
        return count(connection, registrations, *here) >= max(MIN_PEOPLE, draft.quorum_people)
    return joined_count(connection, row.id, row.round, joined=True) >= draft.quorum_people
