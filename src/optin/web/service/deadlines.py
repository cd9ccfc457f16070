"""How long a closed round may wait for its release: after that it is cancelled by itself, and nobody's promise is held.

The time begins with an event of its own. Rounds that were closed before there was such a rule have none: theirs begins when
the service first finds them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, func, select

from optin.errors import PromiseBroken
from optin.store.web_schema import events
from optin.web.service.core import Service, log_event

__all__ = ["begin_waiting", "expect_in_time", "publish_by"]

_DUE = "due"
_DAY = 86400.0


def begin_waiting(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Write down from when on a closed round waits for its release."""
    words = f"to be published within {service.days_to_publish:g} days, or else it is cancelled"
    log_event(connection, service.clock(), _DUE, words, campaign=row.id, round=row.round)


def publish_by(service: Service, connection: Connection, row: Row[Any]) -> float | None:
    """Say until when a closed round can be released, in seconds since 1970; None for all others."""
    if row.state != "closed":
        return None
    mine = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == _DUE)
    begun = connection.scalar(select(func.max(events.c.at)).where(*mine))
    return None if begun is None else float(begun) + service.days_to_publish * _DAY


def expect_in_time(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Refuse a release that comes too late."""
    until = publish_by(service, connection, row)
    if until is not None and service.clock() > until:
        raise PromiseBroken(
            f"this round was closed more than {service.days_to_publish:g} days ago: its time to be published is over, and it"
            " is cancelled"
        )
