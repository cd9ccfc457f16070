"""How long a round may go on: after that it is cancelled by itself, and nobody's promise or sealed answer is held.

Sealed answers wait for an announcement from the opening on, and no longer than the time that begins then: whoever sends one is
told until when it can be read at most. From the announcement answers have a time to be closed; from their first closing the
result has one to be published, which opening answers again does not begin anew. Each begins with an event of its own. Rounds
from before there was such a rule have none: their time begins when the service first finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from optin.campaign.history import released
from optin.errors import PromiseBroken
from optin.web.schema import events
from optin.web.service.core import Service, log_event
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.lookups import READER, owned_row
from optin.web.service.records import Visitor
from optin.wording.language import N_
from optin.wording.sentences import Sentence

WAITING = ("announced", "answers", "closed")
"""States in which promises are held, and time runs."""
BEFORE = ("registration", "planning")
"""States in which sealed answers wait for an announcement, and time runs."""
_DUE = "due"
_DAY = 86400.0


@dataclass(frozen=True)
class Deadline:
    """Until when something is to be done, in seconds since 1970; how many days there were for it, and from what on."""

    at: float
    days: float
    since: str
    due: str


def begin_asking(service: Service, connection: Connection, campaign: str, round: int) -> None:  # noqa: A002
    """Write down from when on sealed answers wait for an announcement."""
    words = Sentence("to be announced within {days:g} days, or else it is cancelled", days=service.days_to_announce)
    log_event(connection, service.clock(), _DUE, words, campaign=campaign, round=round)


def begin_answering(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Write down from when on an announced round waits to be closed."""
    words = Sentence("to be closed within {days:g} days, or else it is cancelled", days=service.days_to_answer)
    log_event(connection, service.clock(), _DUE, words, campaign=row.id, round=row.round)


def begin_waiting(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Write down from when on a closed round waits for its release: from its first closing."""
    if _begun(connection, row, after=_first_closing(connection, row)) is not None:
        return
    words = Sentence("to be published within {days:g} days, or else it is cancelled", days=service.days_to_publish)
    log_event(connection, service.clock(), _DUE, words, campaign=row.id, round=row.round)


def deadline(service: Service, connection: Connection, row: Row[Any]) -> Deadline | None:
    """Find what a round has to reach in time; None where nothing of anyone's is held, and where no time has begun yet.

    What the ledger has released is late for nothing: people are charged, and only its result can follow.
    """
    if row.state in BEFORE:
        return _until_announced(service, connection, row)
    if row.state not in WAITING or released(connection, row.id, row.round):
        return None
    closing = _first_closing(connection, row)
    begun = _begun(connection, row, after=closing)
    if begun is None:
        return None
    if closing or row.state == "closed":
        return Deadline(begun + service.days_to_publish * _DAY, service.days_to_publish, N_("closed"), N_("published"))
    return Deadline(begun + service.days_to_answer * _DAY, service.days_to_answer, N_("announced"), N_("closed"))


def _until_announced(service: Service, connection: Connection, row: Row[Any]) -> Deadline | None:
    begun = _begun(connection, row, after=0) if Draft.from_json(row.draft).sealed else None
    if begun is None:
        return None
    return Deadline(begun + service.days_to_announce * _DAY, service.days_to_announce, N_("opened"), N_("announced"))


def readable_until(service: Service, connection: Connection, row: Row[Any]) -> float | None:
    """Say until when at most answers of a round are there to be read by those who run the server; None if nothing says so."""
    latest = deadline(service, connection, row)
    if latest is None:
        return None
    after = {"announced": service.days_to_answer + service.days_to_publish, "closed": service.days_to_publish}
    return latest.at + after.get(latest.due, 0.0) * _DAY


def expect_near(service: Service, draft: Draft, *, opened: float | None = None) -> None:
    """Refuse a last day to answer on which sealed answers would be cancelled already."""
    end, latest = last_moment(draft), (opened or service.clock()) + service.days_to_announce * _DAY
    if draft.sealed and end is not None and end > latest:
        raise PromiseBroken(
            "the last day to answer must lie within {days:g} days of opening: people are told that their answers wait no longer",
            days=service.days_to_announce,
        )


def is_over(service: Service, draft: Draft) -> bool:
    """Say whether the last day to answer is over."""
    end = last_moment(draft)
    return end is not None and service.clock() >= end


def window_end(connection: Connection, row: Row[Any], hours: float) -> float | None:
    """Say until when people may change or withdraw sealed answers after the announcement; None where it is not announced."""
    mine = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == "announce")
    announced = connection.scalar(select(func.min(events.c.at)).where(*mine))
    return None if announced is None or not hours else float(announced) + hours * 3600.0


def deal_until(service: Service, analyst: Visitor, campaign: str) -> float | None:
    """Say to an analyst until when people may change or withdraw sealed answers; None where it is not announced."""

    def look(connection: Connection) -> float | None:
        row = owned_row(connection, analyst, campaign, least=READER)
        return window_end(connection, row, Draft.from_json(row.draft).window_hours)

    return service.read(look)


def publish_by(service: Service, connection: Connection, row: Row[Any]) -> float | None:
    """Say when an announced round is cancelled by itself unless it is closed or, once it was closed, published."""
    latest = deadline(service, connection, row) if row.state in WAITING else None
    return None if latest is None else latest.at


def _first_closing(connection: Connection, row: Row[Any]) -> int:
    """Find the number of the event that closed a round first; 0 if it never was."""
    mine = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == "close")
    return int(connection.scalar(select(func.min(events.c.number)).where(*mine)) or 0)


def _begun(connection: Connection, row: Row[Any], *, after: int) -> float | None:
    """Say when the time began that runs after an event; rounds closed more than once under an earlier rule keep theirs."""
    mine = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == _DUE, events.c.number > after)
    begun = connection.scalar(select(func.max(events.c.at)).where(*mine))
    return None if begun is None else float(begun)


def expect_in_time(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Refuse what comes too late: an announcement, a release, or answers to be opened or closed."""
    latest = deadline(service, connection, row)
    if latest is not None and service.clock() > latest.at:
        raise PromiseBroken(
            "this round was {since} more than {days:g} days ago: its time to be {due} is over, and it is cancelled",
            since=latest.since,
            days=latest.days,
            due=latest.due,
        )
