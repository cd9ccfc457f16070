"""How long a closed round may wait for its release: after that it is cancelled by itself, and nobody's promise is held.

The time begins with an event of its own when a round is first closed; opening answers again does not begin it anew. Rounds that
were closed before there was such a rule have none: theirs begins when the service first finds them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, func, select

from optin.errors import PromiseBroken
from optin.store.web_schema import events
from optin.web.service.core import Service, log_event

__all__ = ["WAITING", "begin_waiting", "expect_in_time", "publish_by"]

WAITING = ("closed", "answers")
"""States in which the time of a round that was closed runs: closed still, or open for answers again."""
_DUE = "due"
_DAY = 86400.0


def begin_waiting(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Write down from when on a closed round waits for its release: from its first closing."""
    if _begun(connection, row) is not None:
        return
    words = f"to be published within {service.days_to_publish:g} days, or else it is cancelled"
    log_event(connection, service.clock(), _DUE, words, campaign=row.id, round=row.round)


def publish_by(service: Service, connection: Connection, row: Row[Any]) -> float | None:
    """Say until when a round that was closed can be released, in seconds since 1970; None for all others."""
    if row.state not in WAITING:
        return None
    begun = _begun(connection, row)
    return None if begun is None else begun + service.days_to_publish * _DAY


def _begun(connection: Connection, row: Row[Any]) -> float | None:
    """Say when the time began; rounds closed more than once under an earlier rule keep the time they were told."""
    mine = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == _DUE)
    begun = connection.scalar(select(func.max(events.c.at)).where(*mine))
    return None if begun is None else float(begun)


def expect_in_time(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Refuse what comes too late: a release, or answers to be opened again."""
    until = publish_by(service, connection, row)
    if until is not None and service.clock() > until:
        raise PromiseBroken(
            f"this round was closed more than {service.days_to_publish:g} days ago: its time to be published is over, and it"
            " is cancelled"
        )
