"""The long steps of a campaign, each made of parts that can be done again: after a crash a job simply starts over.

What must happen once happens in the ledger, which knows what it has done. The campaign's row follows, and the key goes
last: a key destroyed too early would lose answers, one destroyed late is destroyed at the next start.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, select, text, update

from optin import campaign as campaign_steps
from optin.announcement import Announcement
from optin.campaign import Quorum
from optin.campaign.checking import expect_quorum
from optin.campaign.history import announced_body, released, stored_release
from optin.errors import LedgerUnavailable, PromiseBroken
from optin.participation import Turnout
from optin.web.schema import answers, campaigns, jobs
from optin.web.service.announcing import Progress, announce, announced_agents
from optin.web.service.asking import answers_of
from optin.web.service.core import Service
from optin.web.service.deadlines import WAITING, begin_asking
from optin.web.service.drafts import Draft
from optin.web.service.keys import LISTS
from optin.web.service.lookups import PORTION, RoundPeople, campaign_row, in_portions, people_of
from optin.web.service.next_time import Again, count_again, note_next
from optin.web.service.records import Job
from optin.web.service.steps import record_step
from optin.web.transactions import hold
from optin.wording.language import N_
from optin.wording.sentences import Sentence

CHUNK = 5000
LOG = logging.getLogger("optin.web")

# --- release ----------------------------------------------------------------------------------------------------------


def release(service: Service, job: Job, progress: Progress) -> None:
    """Count who joined, and only if that is enough open the answers, draw the one result, and forget the answers."""
    progress(N_("counting answers"), 0, 0)
    row = service.read(lambda connection: campaign_row(connection, job.campaign))
    if finish_release(service, job.campaign, job.round):
        return
    if row.state != "closed" or row.round != job.round:  # killed after the step was taken, before the job was marked
        destroy_spent_keys(service)
        return
    people = service.read(lambda connection: people_of(connection, job.campaign, job.round))
    offer, draft = _offer(service, job), Draft.from_json(row.draft)
    if offer is None:
        raise PromiseBroken("this round was never announced")
    agents, sealed, quorum = announced_agents(service, job, draft, people), _sealed(service, job), quorum_of(draft)
    joined = np.array([person in sealed for person in people.ids], dtype=np.bool_)
    expect_quorum(offer, agents, quorum, ledger=service.ledger, joined=joined)  # before any answer is opened
    progress(N_("opening answers"), 0, 0)
    given = answers_of(offer.sheet, _opened_codes(service, job, people, sealed, progress))
    progress(N_("releasing"), len(people), len(people))
    campaign_steps.release(offer, agents, given, ledger=service.ledger, joined=joined, quorum=quorum)
    finish_release(service, job.campaign, job.round)


def finish_release(service: Service, campaign: str, round: int) -> bool:  # noqa: A002 - the word of the contract
    """Publish the result that the ledger holds, whatever came between, and forget the answers; say whether it holds one.

    Answers are forgotten a few at a time, and what takes long to read is read, before the step is taken: whoever sends theirs
    to another campaign waits for no more.
    """
    after, last = "", service.change(functools.partial(_forget_some, campaign=campaign, round=round, after=""))
    while last is not None:
        after, last = last, service.change(functools.partial(_forget_some, campaign=campaign, round=round, after=last))
    drawn = service.read(functools.partial(_drawn, service, campaign=campaign, round=round))
    if drawn is not None:
        service.change(functools.partial(_publish, service, drawn, campaign=campaign, round=round, after=after))
    destroy_spent_keys(service)
    return drawn is not None


@dataclass(frozen=True)
class _Drawn:
    """A result that the ledger holds, as it is published, and how many of its people can take part again."""

    result: str
    again: tuple[Again, ...]


def _drawn(service: Service, connection: Connection, *, campaign: str, round: int) -> _Drawn | None:  # noqa: A002
    """Read the result of a round, and count what is told beside it."""
    result, row = stored_release(connection, campaign, round), campaign_row(connection, campaign)
    if result is None:
        return None
    return _Drawn(result.to_json(), count_again(service, connection, row) if _waits(row, round) else ())


def _waits(row: Row[Any], round: int) -> bool:  # noqa: A002 - the word of the contract
    return row.state in WAITING and row.round == round


def _publish(
    service: Service,
    drawn: _Drawn,
    connection: Connection,
    *,
    campaign: str,
    round: int,  # noqa: A002
    after: str,
) -> None:
    """Take the step, and forget what is left of the answers: those behind the last one that is forgotten."""
    hold(connection, campaign)
    row = campaign_row(connection, campaign)
    if _waits(row, round):
        _forget_values(connection, row, after)
        record_step(service, connection, row, "release", release=drawn.result)
        note_next(service, connection, row, drawn.again)
        _settle_failed_jobs(connection, row)


def _settle_failed_jobs(connection: Connection, row: Row[Any]) -> None:
    """Mark what failed after the result was drawn as done: it is."""
    failed = (jobs.c.campaign == row.id, jobs.c.round == row.round, jobs.c.kind == "release", jobs.c.state == "failed")
    done = {"state": "done", "step": "done", "error": None}
    connection.execute(update(jobs).where(*failed, jobs.c.created_at >= row.changed_at).values(done))


class QuietQuorum(Quorum):
    """A quorum that does not say by how much it was missed.

    The analyst sees how many joined: beside it, the number of those who count would tell how many have nothing left.
    """

    def expect(self, came: Turnout) -> None:
        """Refuse a turnout below the quorum, without a number of it."""
        try:
            super().expect(came)
        except PromiseBroken:
            few = came.promised < self.people
        else:
            return
        wanted = (
            Sentence("{people} people", people=self.people)
            if few
            else Sentence("a standard error of {error:.6g}", error=self.standard_error)
        )
        raise PromiseBroken(
            "the quorum is {wanted}, and too few joined (who has nothing to give does not count); open answers"
            " again, begin a new round, or cancel",
            wanted=wanted,
        )


def quorum_of(draft: Draft) -> Quorum:
    """Say when a release is worth its price."""
    error = math.inf if draft.quorum_standard_error is None else draft.quorum_standard_error
    return QuietQuorum(people=draft.quorum_people, standard_error=error)


def _sealed(service: Service, job: Job) -> dict[str, bytes]:
    """Read the answers of those who joined, as they lie there."""
    where = (answers.c.campaign == job.campaign, answers.c.round == job.round, answers.c.joined.is_(True))
    query = select(answers.c.person, answers.c.value).where(*where)
    return service.read(lambda connection: {row.person: row.value for row in in_portions(connection, query)})


def _opened_codes(
    service: Service, job: Job, people: RoundPeople, sealed: dict[str, bytes], progress: Progress
) -> list[tuple[float, ...] | None]:
    """Decrypt the answers of those who joined, in announced order; the others have none."""
    codes: list[tuple[float, ...] | None] = []
    for at, person in enumerate(people.ids):
        if at % CHUNK == 0:
            progress(N_("opening answers"), at, len(people))
        codes.append(_opened(service, job, person, sealed[person]) if person in sealed else None)
    return codes


def _opened(service: Service, job: Job, person: str, sealed: bytes) -> tuple[float, ...]:
    """Open one answer; if it cannot be, the step fails: waiting for a key that is gone would keep all work waiting."""
    try:
        return service.keys.unseal(sealed, campaign=job.campaign, round=job.round, person=person)
    except LedgerUnavailable as error:
        reason = str(error)
    raise PromiseBroken(
        "{reason}: answers cannot be opened; bring the key back, begin a new round, or cancel", reason=reason
    )


def _offer(service: Service, job: Job) -> Announcement | None:
    body = service.read(lambda connection: announced_body(connection, job.campaign, job.round))
    return None if body is None else Announcement.from_json(body)


def _forget_values(connection: Connection, row: Row[Any], after: str) -> None:
    """Forget the answers of people with higher ids; the others are not looked at again, for everyone waits."""
    mine = (answers.c.campaign == row.id, answers.c.round == row.round, answers.c.person > after)
    connection.execute(update(answers).where(*mine, answers.c.value.is_not(None)).values(value=None))


def _forget_some(connection: Connection, *, campaign: str, round: int, after: str) -> str | None:  # noqa: A002
    """Forget a few answers of a round whose result is in the ledger; say whose was the last, if more may follow."""
    if not released(connection, campaign, round):
        return None
    mine = (answers.c.campaign == campaign, answers.c.round == round, answers.c.person > after)
    ids: list[str] = list(
        connection.scalars(select(answers.c.person).where(*mine).order_by(answers.c.person).limit(PORTION))
    )
    if len(ids) < PORTION:
        return None  # the step forgets the rest
    connection.execute(update(answers).where(*mine, answers.c.person <= ids[-1]).values(value=None))
    return ids[-1]


# --- new round, cancel ------------------------------------------------------------------------------------------------


def new_round(service: Service, job: Job, progress: Progress) -> None:
    """Give every promise back and open registration again; limits stay (unless sealed), answers go."""
    _give_back(service, job, progress)

    def work(connection: Connection) -> None:
        hold(connection, job.campaign)
        row = campaign_row(connection, job.campaign)
        if row.round != job.round:
            return  # done before
        sealed = Draft.from_json(row.draft).sealed
        if sealed:
            service.keys.ensure(row.id, row.round + 1)
        else:
            _copy_registrations(connection, row.id, row.round)
        connection.execute(delete(answers).where(answers.c.campaign == row.id))
        fresh = {"plan": None, "announcement": None, "round": row.round + 1}
        record_step(service, connection, row, "new-round", **fresh)
        if sealed:
            begin_asking(service, connection, row.id, row.round + 1)

    service.change(work)
    destroy_spent_keys(service)


def cancel(service: Service, job: Job, progress: Progress) -> None:
    """Give every promise back and end the campaign without a result."""
    _give_back(service, job, progress)

    def work(connection: Connection) -> None:
        hold(connection, job.campaign)
        row = campaign_row(connection, job.campaign)
        if row.state not in ("released", "cancelled"):
            connection.execute(delete(answers).where(answers.c.campaign == row.id))
            record_step(service, connection, row, "cancel")

    service.change(work)
    destroy_spent_keys(service)


def _give_back(service: Service, job: Job, progress: Progress) -> None:
    progress(N_("giving promises back"), 0, 0)
    offer = _offer(service, job)
    if offer is not None:
        campaign_steps.cancel(offer, ledger=service.ledger)


def _copy_registrations(connection: Connection, campaign: str, round: int) -> None:  # noqa: A002
    """Take everyone who is still here, with the step they chose, into the next round."""
    query = """INSERT INTO web_registrations (campaign, round, person, step, at, group_name)
        SELECT r.campaign, r.round + 1, r.person, r.step, r.at, r.group_name FROM web_registrations r
        JOIN web_accounts a ON a.id = r.person AND a.left_at IS NULL
        WHERE r.campaign = :campaign AND r.round = :round ON CONFLICT DO NOTHING"""
    connection.execute(text(query), {"campaign": campaign, "round": round})


# --- keys -------------------------------------------------------------------------------------------------------------


def destroy_spent_keys(service: Service) -> None:
    """Destroy the keys of rounds and lists that are over; what a crash left behind is found here too.

    A key that cannot be destroyed now undoes no step that was taken: it is found again, and again, until it is gone.
    """
    stored = service.keys.stored_rounds()
    if not stored:
        return
    query = select(campaigns.c.id, campaigns.c.state, campaigns.c.round)
    known = {row.id: row for row in service.read(lambda connection: connection.execute(query).all())}
    for campaign, number in stored:
        row = known.get(campaign)
        if row is not None and (row.state in ("released", "cancelled") or LISTS < number < row.round):
            try:
                service.keys.destroy(campaign, number)
            except OSError as error:
                LOG.error("a key is not destroyed yet", extra={"reason": error.strerror})


LONG_STEPS: dict[str, Callable[[Service, Job, Progress], None]] = {
    "announce": announce,
    "release": release,
    "new-round": new_round,
    "cancel": cancel,
}
