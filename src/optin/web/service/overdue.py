"""Cancelling rounds that were closed and never released, so that nobody's promise is held for ever."""

from __future__ import annotations

import functools
from typing import Any

from sqlalchemy import Connection, Row, select

from optin.store.changing import hold
from optin.store.web_schema import campaigns
from optin.web.service.core import Service, log_event
from optin.web.service.deadlines import WAITING, begin_waiting, publish_by
from optin.web.service.rows import campaign_row, job_of
from optin.web.service.steps import leave_as_job

__all__ = ["cancel_overdue"]


def cancel_overdue(service: Service) -> None:
    """Begin to cancel every round that was closed and whose time is over; work that was asked for in time is finished first."""
    query = select(campaigns).where(campaigns.c.state.in_(WAITING))

    def look(connection: Connection) -> list[str]:
        return [row.id for row in connection.execute(query).all() if _is_due(service, connection, row)]

    for name in service.read(look):
        service.change(functools.partial(_cancel, service, name))


def _is_due(service: Service, connection: Connection, row: Row[Any]) -> bool:
    """Say whether something is to be done: the time to publish is over, or was never begun."""
    job, until = job_of(connection, row.id), publish_by(service, connection, row)
    due = row.state == "closed" if until is None else service.clock() > until
    return due and not (job is not None and job.unfinished)


def _cancel(service: Service, name: str, connection: Connection) -> None:
    hold(connection, name)
    row = campaign_row(connection, name)
    if row.state not in WAITING or not _is_due(service, connection, row):
        return
    if publish_by(service, connection, row) is None:
        begin_waiting(service, connection, row)
        return
    words = f"it was not published within {service.days_to_publish:g} days of being closed"
    log_event(connection, service.clock(), "overdue", words, campaign=row.id, round=row.round)
    leave_as_job(service, connection, row, "cancel")
