"""Moving the last day to answer: only to a later one, and only before anything is announced.

Everything else that people read stays as it was. Where registration closed with too few people, it is opened again by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, update

from optin.errors import BadInput, PromiseBroken
from optin.ledger import Terms
from optin.web.schema import campaigns
from optin.web.service.core import Service, log_event
from optin.web.service.deadlines import deadline
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.life import Move
from optin.web.service.lookups import expect_round, job_of, owned_row
from optin.web.service.records import Visitor
from optin.web.service.steps import record_step
from optin.web.transactions import hold
from optin.wording.language import Day
from optin.wording.sentences import Sentence


def extend(
    service: Service,
    analyst: Visitor,
    campaign: str,
    answer_by: str,
    *,
    round: int | None = None,  # noqa: A002 - the word of the contract
) -> None:
    """Set a later last day to answer, and open registration again if it was closed; the same day again changes nothing."""

    def work(connection: Connection) -> None:
        owned_row(connection, analyst, campaign)
        hold(connection, campaign)
        row = owned_row(connection, analyst, campaign)
        expect_round(row, round)
        draft = Draft.from_json(row.draft)
        if answer_by == draft.answer_by and row.state == "registration":
            return
        _expect_before_announcement(service, connection, row)
        later = _later(service, draft, answer_by)
        _expect_near(service, connection, row, later)
        connection.execute(update(campaigns).where(campaigns.c.id == row.id).values(draft=later.to_json()))
        words = Sentence("the last day to answer was moved to {day}", day=Day.of(answer_by))
        log_event(connection, service.clock(), "extend", words, campaign=row.id, round=row.round)
        if row.state == "planning":
            record_step(service, connection, row, "reopen-registration")

    service.change(work)
    service.bell.set()


def _expect_before_announcement(service: Service, connection: Connection, row: Row[Any]) -> None:
    job = job_of(connection, row.id)
    if row.state not in ("registration", "planning") or service.ledger.is_announced(Terms(row.id, row.round, "")):
        raise PromiseBroken(
            "the last day to answer is moved while registration is open, or before the plan is announced"
        )
    if job is not None and job.unfinished:
        raise PromiseBroken("the step {kind} is still under way; wait until it is done", kind=Move(job.kind))


def _expect_near(service: Service, connection: Connection, row: Row[Any], later: Draft) -> None:
    """Refuse a day on which sealed answers would be cancelled already: people were told that they wait no longer."""
    end, latest = last_moment(later), deadline(service, connection, row)
    if latest is not None and end is not None and end > latest.at:
        raise PromiseBroken(
            "the last day to answer must lie within {days:g} days of opening: people are told that their answers wait no longer",
            days=latest.days,
        )


def _later(service: Service, draft: Draft, answer_by: str) -> Draft:
    """Return the draft with its new last day: still to come, and not before the one that people were told."""
    later = replace(draft, answer_by=answer_by)
    end, before = last_moment(later), last_moment(draft)
    if end is None:
        raise BadInput("the last day to answer must be a date such as 2026-03-14")
    if end <= service.clock() or (before is not None and end < before):
        raise BadInput("the last day to answer is moved to a later day only, and to one that is not over")
    return later
