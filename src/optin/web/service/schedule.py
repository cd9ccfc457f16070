"""What a campaign does by itself, and when: for whoever asked for it in the draft, everything after the last day to answer.

At the end of that day registration closes and the plan is announced; people then have the hours that the draft states to look at
their deal, to change or to withdraw; after them answers close and the result is published. Where too few people came, nothing
goes on by itself: nothing is announced or published, and whoever asks opens it again, or cancels. A step that failed is tried
again by itself a few times, ever later: what was in its way may be gone, a disk that was full or a key that was not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from optin.announcement.making import MIN_PEOPLE
from optin.campaign.history import released
from optin.web.schema import events, jobs, registrations
from optin.web.service.core import Service
from optin.web.service.deadlines import deadline
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.lookups import count, job_of, joined_count
from optin.web.service.turnout import registered_by_group

PAUSES = (600.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
"""How long after each failure a step is tried again by itself, in seconds; after the last it is left to whoever asks."""


@dataclass(frozen=True)
class Due:
    """The next step that is taken by itself, and from when on, in seconds since 1970."""

    step: str
    at: float


def next_by_itself(connection: Connection, row: Row[Any]) -> Due | None:
    """Say what a campaign does next by itself; None where its analyst decides, while work goes on, after many failures."""
    draft = Draft.from_json(row.draft)
    last = last_moment(draft)
    if not draft.automatic or last is None or released(connection, row.id, row.round):
        return None
    if row.state == "registration":
        return Due("close-registration", last) if row.changed_at < last else None  # opened again later: not by itself
    if row.state == "announced":
        return Due("open-answers", row.changed_at)
    if row.state == "answers":
        return Due("close", answers_end(connection, row, draft.window_hours))
    step = {"planning": "announce", "closed": "release"}.get(row.state)
    if step is None or too_few(connection, row, draft):
        return None
    begun = max(last, row.changed_at) if step == "announce" else row.changed_at
    later = _again(connection, row, step)
    return None if later is None else Due(step, max(begun, later))


def answers_end(connection: Connection, row: Row[Any], hours: float) -> float:
    """Say when answers close by themselves: so many hours after they were opened, the last time."""
    opened = ("announce", "open-answers", "reopen-answers")
    mine = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind.in_(opened))
    return float(connection.scalar(select(func.max(events.c.at)).where(*mine)) or row.changed_at) + hours * 3600.0


def too_few(connection: Connection, row: Row[Any], draft: Draft) -> bool:
    """Say whether going on could lead to no result: too few registered, or too few of them joined."""
    if row.state in ("registration", "planning"):
        here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
        groups = registered_by_group(connection, row)
        few = bool(groups) and max(groups.values()) < draft.quorum_people  # nothing is published of any of them
        return few or count(connection, registrations, *here) < max(MIN_PEOPLE, draft.quorum_people)
    return joined_count(connection, row.id, row.round, joined=True) < draft.quorum_people


def _again(connection: Connection, row: Row[Any], step: str) -> float | None:
    """Say from when on a long step may be begun by itself: not while one is under way, and later after each failure."""
    job = job_of(connection, row.id)
    if job is not None and job.unfinished:
        return None
    mine = (jobs.c.campaign == row.id, jobs.c.round == row.round, jobs.c.kind == step, jobs.c.state == "failed")
    failed: list[float] = list(
        connection.scalars(select(jobs.c.changed_at).where(*mine, jobs.c.created_at >= row.changed_at))
    )
    if not failed:
        return float(row.changed_at)
    return max(failed) + PAUSES[len(failed) - 1] if len(failed) <= len(PAUSES) else None


def is_due(service: Service, connection: Connection, row: Row[Any]) -> str:
    """Name the step that is to be taken by itself now, or nothing."""
    next_step, job, late = (
        next_by_itself(connection, row),
        job_of(connection, row.id),
        deadline(service, connection, row),
    )
    if next_step is None or service.clock() < next_step.at or (job is not None and job.unfinished):
        return ""
    return (
        "" if late is not None and service.clock() > late.at else next_step.step
    )  # too late is cancelled, whatever else
