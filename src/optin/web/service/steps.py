"""The life of a campaign: steps forward, idempotent, and written down.

Two steps lead back: registration can be opened again before the announcement, answers while too few have joined and nothing
was drawn. No step reads a value. Short steps are one transaction; long ones (announce, release, new round, cancel) are left
as a job.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, insert, update

from optin.errors import BadInput, PromiseBroken
from optin.ledger import Terms
from optin.web.schema import campaigns, jobs
from optin.web.service.able import note_able
from optin.web.service.campaigns import possible_now
from optin.web.service.core import Service, log_event, new_id
from optin.web.service.deadlines import begin_asking, begin_waiting, expect_in_time, expect_near
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.life import FROM, REACHED, Move, Moves, State
from optin.web.service.limit_cells import note_cells
from optin.web.service.lookups import expect_round, job_of, owned_row
from optin.web.service.records import Visitor
from optin.web.transactions import hold
from optin.wording.language import N_, Day
from optin.wording.sentences import Sentence

STEPS = tuple(FROM)
LONG = (N_("announce"), N_("release"), N_("new-round"), N_("cancel"))
WORDS = {
    "open": N_("registration was opened"),
    "close-registration": N_("registration was closed"),
    "open-answers": N_("answers were opened"),
    "close": N_("answers were closed"),
    "announce": N_("the plan was announced"),
    "release": N_("the result was released"),
    "new-round": N_("a new round was begun; the answers of the old one are gone"),
    "cancel": N_("the campaign was cancelled; its answers are gone"),
    "reopen-registration": N_("registration was opened again"),
    "reopen-answers": N_("answers were opened again"),
}


def take(
    service: Service,
    analyst: Visitor,
    campaign: str,
    step: str,
    *,
    round: int | None = None,  # noqa: A002 - the word of the contract
) -> None:
    """Take a step, or begin it if it is long; idempotent.

    The states of a campaign come back in every round. Whoever says which ``round`` they looked at acts in that round or
    not at all: neither a page left open nor a request sent twice reaches into a later one.
    """
    if step not in STEPS:
        raise BadInput("a step is one of {listed}", listed=", ".join(STEPS))

    def work(connection: Connection) -> None:
        owned_row(connection, analyst, campaign)
        hold(connection, campaign)
        row = owned_row(connection, analyst, campaign)
        job = job_of(connection, campaign)
        under_way = job is not None and job.unfinished and job.kind == step and round in (None, job.round)
        if under_way or _taken_before(row, step, round):
            return
        expect_round(row, round)
        if job and job.unfinished:
            raise PromiseBroken("the step {kind} is still under way; wait until it is done", kind=Move(job.kind))
        _expect_possible(service, connection, row, step)
        if step in LONG:
            leave_as_job(service, connection, row, step)
        else:
            take_now(service, connection, row, step)

    service.change(work)
    service.bell.set()


def _taken_before(row: Row[Any], step: str, round: int | None) -> bool:  # noqa: A002
    """Say whether a step was taken: a new round from any earlier one, all others in this round."""
    if step == "new-round":
        return bool(round < row.round if round is not None else row.round > 1 and row.state == REACHED[step])
    return bool(row.state == REACHED[step] and round in (None, row.round))


def _expect_possible(service: Service, connection: Connection, row: Row[Any], step: str) -> None:
    can = possible_now(service, connection, row)
    if can == ("release",) and step != "release":
        raise PromiseBroken("the result of this round is drawn, and people are charged for it: publish it, to finish")
    if step == "open":
        _expect_time_to_come(service, row, Sentence("edit the draft first"))
    if step in ("announce", "open-answers", "close", "release", "reopen-answers"):
        expect_in_time(service, connection, row)
    if step == "reopen-registration" and step in can:
        _expect_time_to_come(service, row, Sentence("move the last day, which opens registration again"))
    if step == "reopen-registration" and step in can and service.ledger.is_announced(Terms(row.id, row.round, "")):
        raise PromiseBroken("this round is announced in the ledger already; announce again, to finish")
    if step == "reopen-answers" and row.state == "closed" and step not in can:
        raise PromiseBroken("enough people joined for a result: answers stay closed; publish, or begin a new round")
    if step == "close" and step not in can and row.state in ("announced", "answers"):
        raise PromiseBroken("people have time to look at their deal, change answers or withdraw: it is not over yet")
    if step not in can:
        further = (
            Sentence("what can be done now: {steps}", steps=Moves(map(Move, can)))
            if can
            else Sentence("nothing can be done any more")
        )
        raise PromiseBroken(
            "a campaign in state {state} cannot take the step {step}; {further}",
            state=State(row.state),
            step=Move(step),
            further=further,
        )


def _expect_time_to_come(service: Service, row: Row[Any], hint: Sentence) -> None:
    """Refuse to open what would be over at once, or cancelled before it closes."""
    draft = Draft.from_json(row.draft)
    last = last_moment(draft)
    if last is not None and service.clock() >= last:
        raise PromiseBroken("the last day to answer, {day}, is over: {hint}", day=Day.of(draft.answer_by), hint=hint)
    if draft.automatic and draft.window_hours >= 24 * service.days_to_answer:
        raise PromiseBroken(
            "an announced campaign is cancelled after {days:g} days here: give people fewer hours after the announcement",
            days=service.days_to_answer,
        )


def take_now(service: Service, connection: Connection, row: Row[Any], step: str) -> None:
    """Take a short step that is possible."""
    draft = Draft.from_json(row.draft)
    if step == "open-answers" or (step == "open" and draft.sealed):
        service.keys.ensure(row.id, row.round)
    if step == "open" and draft.sealed:
        expect_near(service, draft)
        begin_asking(service, connection, row.id, row.round)
    record_step(service, connection, row, step)
    if step == "close-registration":
        note_cells(service, connection, row)
        note_able(service, connection, row)
    if step == "close":
        begin_waiting(service, connection, row)


def record_step(service: Service, connection: Connection, row: Row[Any], step: str, **more: Any) -> None:  # noqa: ANN401
    """Write down that a step was taken, with whatever else it changed."""
    now = service.clock()
    new = {"state": REACHED[step], "changed_at": now, **more}
    connection.execute(update(campaigns).where(campaigns.c.id == row.id).values(new))
    log_event(connection, now, step, WORDS[step], campaign=row.id, round=row.round)


def leave_as_job(service: Service, connection: Connection, row: Row[Any], step: str) -> None:
    """Write a long step down as work to be done."""
    now = service.clock()
    job = {"id": new_id(), "campaign": row.id, "round": row.round, "kind": step, "state": "queued"}
    progress = {"step": N_("waiting"), "done": 0, "total": 0, "created_at": now, "changed_at": now}
    connection.execute(insert(jobs).values({**job, **progress}))
    words = Sentence("the step {step} was asked for", step=step)
    log_event(connection, now, "asked", words, campaign=row.id, round=row.round)
