"""What is done unasked: cancelling rounds that were announced and never released, and sealed ones that were never announced, so
that nobody's promise or answer is held for ever; and publishing results that the ledger holds where something failed before
the campaign could follow.
"""

from __future__ import annotations

import functools
import logging
from typing import Any

from sqlalchemy import Connection, Row, select

from optin.campaign.history import released
from optin.errors import LedgerUnavailable
from optin.web.schema import campaigns
from optin.web.service.core import Service, log_event
from optin.web.service.deadlines import BEFORE, WAITING, begin_answering, begin_asking, begin_waiting, deadline
from optin.web.service.drafts import Draft
from optin.web.service.long_steps import finish_release
from optin.web.service.lookups import campaign_row, job_of
from optin.web.service.steps import leave_as_job
from optin.web.transactions import hold
from optin.wording.sentences import Sentence

LOG = logging.getLogger("optin.web")


def publish_drawn(service: Service) -> None:
    """Publish every result that was drawn and charged for; one that cannot be now keeps no other work waiting."""
    query = select(campaigns).where(campaigns.c.state.in_(WAITING))

    def look(connection: Connection) -> list[tuple[str, int]]:
        rows = connection.execute(query).all()
        return [(row.id, row.round) for row in rows if released(connection, row.id, row.round)]

    for name, number in service.read(look):
        try:
            finish_release(service, name, number)
        except LedgerUnavailable:
            raise
        except Exception as error:  # whatever it was: it is tried again, and the others go on
            LOG.error("a result is not published yet", extra={"reason": type(error).__name__})


def cancel_overdue(service: Service) -> None:
    """Begin to cancel every round whose time is over; work that was asked for in time is finished first."""
    query = select(campaigns).where(campaigns.c.state.in_((*WAITING, *BEFORE)))

    def look(connection: Connection) -> list[str]:
        return [row.id for row in connection.execute(query).all() if _is_due(service, connection, row)]

    for name in service.read(look):
        service.change(functools.partial(_cancel, service, name))


def _is_due(service: Service, connection: Connection, row: Row[Any]) -> bool:
    """Say whether something is to be done: a round's time is over, or was never begun."""
    if released(connection, row.id, row.round) or (row.state in BEFORE and not Draft.from_json(row.draft).sealed):
        return False
    job, latest = job_of(connection, row.id), deadline(service, connection, row)
    return not (job is not None and job.unfinished) and (latest is None or service.clock() > latest.at)


def _cancel(service: Service, name: str, connection: Connection) -> None:
    hold(connection, name)
    row = campaign_row(connection, name)
    if row.state not in (*WAITING, *BEFORE) or not _is_due(service, connection, row):
        return None
    latest = deadline(service, connection, row)
    if latest is None and row.state in BEFORE:
        return begin_asking(service, connection, row.id, row.round)
    if latest is None:
        return (begin_waiting if row.state == "closed" else begin_answering)(service, connection, row)
    words = Sentence(
        "it was not {due} within {days:g} days of being {since}", due=latest.due, days=latest.days, since=latest.since
    )
    log_event(connection, service.clock(), "overdue", words, campaign=row.id, round=row.round)
    return leave_as_job(service, connection, row, "cancel")
