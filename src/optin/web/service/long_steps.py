"""The long steps of a campaign, each made of parts that can be done again: after a crash a job simply starts over.

What must happen once happens in the ledger, which knows what it has done. The campaign's row follows, and the key goes
last: a key destroyed too early would lose answers, one destroyed late is destroyed at the next start.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, delete, select, text, update

from optin import campaign as job_of_the_paper
from optin.agents import Agents, PrivacyConstrained
from optin.announcement import Announcement
from optin.campaign import Quorum
from optin.errors import BadInput, BudgetSpent, LedgerUnavailable, PromiseBroken
from optin.planning import Plan
from optin.store import UNLIMITED, Terms, allowance_grains, epsilons_of
from optin.store.changing import hold
from optin.store.holdings import announced_body
from optin.store.web_schema import answers, campaigns
from optin.web.service.core import Service
from optin.web.service.ladder import LIMITS
from optin.web.service.records import Draft, Job
from optin.web.service.rows import People, agents_of, campaign_row, people_of
from optin.web.service.steps import reach

__all__ = ["LONG_STEPS", "Progress", "destroy_spent_keys"]

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it, and of how much."""
CHUNK = 5000
LOG = logging.getLogger("optin.web")
_LEVELS = [step.amount for step in LIMITS]


# --- announce ---------------------------------------------------------------------------------------------------------


def announce(service: Service, job: Job, progress: Progress) -> None:
    """Plan with everyone who registered and make the offer; what the ledger holds is what is announced."""
    progress("planning", 0, 0)
    row = service.read(lambda connection: campaign_row(connection, job.campaign))
    people = service.read(lambda connection: people_of(connection, job.campaign, job.round))
    draft = Draft.from_json(row.draft)
    if not people:
        raise BadInput("nobody has registered; cancel, or draft a new campaign")
    agents = agents_of(draft, people)
    announced = service.ledger.is_announced(Terms(job.campaign, job.round, ""))
    found = Plan.from_json(row.plan) if announced else _plan(service, row, draft, agents, people)
    if math.isinf(found.eta):
        raise PromiseBroken("nobody's choice asks for any noise, and no exact result is published here; cancel")
    progress("announcing", 0, len(people))
    offer = _announce(service, job, found, agents, people)

    def work(connection: Connection) -> None:
        hold(connection, job.campaign)
        row = campaign_row(connection, job.campaign)
        if row.state == "planning" and row.round == job.round:
            _remember_allowances(connection, job, people, _totals(found, agents, people))
            reach(service, connection, row, "announce", announcement=offer.to_json())

    service.change(work)


def _plan(service: Service, row: Row[Any], draft: Draft, agents: Agents, people: People) -> Plan:
    """Find the best design and keep it before it is announced: after a crash the same one is announced."""
    found = job_of_the_paper.plan(
        agents,
        bounds=(draft.lower, draft.upper),
        data_sd=draft.data_sd,
        max_gap=draft.max_gap,
        slack=draft.slack,
        ledger=service.ledger,
        raise_limits=True,
        allowances=_known(people, agents),
        levels=_LEVELS,
    )
    query = update(campaigns).where(campaigns.c.id == row.id).values(plan=found.to_json())
    service.change(lambda connection: connection.execute(query))
    return found


def _announce(service: Service, job: Job, found: Plan, agents: Agents, people: People) -> Announcement:
    try:
        return job_of_the_paper.announce(
            found,
            agents,
            ledger=service.ledger,
            campaign=job.campaign,
            round=job.round,
            raise_limits=True,
            allowances=_totals(found, agents, people),
            levels=_LEVELS,
        )
    except BadInput:
        words = (
            "too few people are promised anything, or too few of them are below the cap: what is announced would give "
            "single limits away. Begin a new campaign with more people"
        )
    except BudgetSpent:
        words = (
            "what some people still allow over all campaigns does not cover what this plan asks of them. Begin a new "
            "campaign; who has little left can decline it, or raise their total"
        )
    raise PromiseBroken(words)  # in our own words: the messages count few people, and what few have left is theirs


def _known(people: People, agents: Agents) -> NDArray[np.float64]:
    """List what each person allows over all campaigns: what they said, or else the limit they state now."""
    stated = agents.limits if isinstance(agents, PrivacyConstrained) else np.full(len(people), math.inf)
    said = [UNLIMITED if grains is None else grains for grains in people.allowances]
    silent = np.array([grains is None for grains in people.allowances], dtype=np.bool_)
    return np.where(silent, stated, epsilons_of(np.array(said, dtype=np.int64)))


def _totals(found: Plan, agents: Agents, people: People) -> NDArray[np.float64]:
    """List totals for the ledger; people with costs who never named one allow what this plan asks of them at most."""
    if isinstance(agents, PrivacyConstrained):
        return _known(people, agents)
    return np.minimum(_known(people, agents), found.limits(agents))


def _remember_allowances(connection: Connection, job: Job, people: People, totals: NDArray[np.float64]) -> None:
    """Keep the first total as what the person allows; they may raise it later. Those on one step have one total."""
    silent = np.array([grains is None for grains in people.allowances], dtype=np.bool_)
    query = """UPDATE web_accounts SET allowance = :grains WHERE allowance IS NULL AND id IN
        (SELECT person FROM web_registrations WHERE campaign = :campaign AND round = :round AND step = :step)"""
    for step in np.unique(people.steps[silent]).tolist():
        grains = int(allowance_grains(totals[silent & (people.steps == step)][:1])[0])
        where = {"campaign": job.campaign, "round": job.round, "step": step}
        connection.execute(text(query), {"grains": grains, **where})


# --- release ----------------------------------------------------------------------------------------------------------


def release(service: Service, job: Job, progress: Progress) -> None:
    """Open the answers, draw the one result, and forget the answers."""
    progress("opening answers", 0, 0)
    row = service.read(lambda connection: campaign_row(connection, job.campaign))
    if row.state != "closed" or row.round != job.round:  # killed after the step was taken, before the job was marked
        destroy_spent_keys(service)
        return
    people = service.read(lambda connection: people_of(connection, job.campaign, job.round))
    offer, draft = _offer(service, job), Draft.from_json(row.draft)
    if offer is None:
        raise PromiseBroken("this round was never announced")
    joined, values = opened_answers(service, job, people, progress)
    progress("releasing", len(people), len(people))
    result = job_of_the_paper.release(
        offer,
        agents_of(draft, people),
        values,
        ledger=service.ledger,
        joined=joined,
        quorum=quorum_of(draft),
    )

    def work(connection: Connection) -> None:
        hold(connection, job.campaign)
        row = campaign_row(connection, job.campaign)
        if row.state == "closed" and row.round == job.round:
            _forget_values(connection, job.campaign)
            reach(service, connection, row, "release", release=result.to_json())

    service.change(work)
    destroy_spent_keys(service)


def quorum_of(draft: Draft) -> Quorum:
    """Say when a release is worth its price."""
    error = math.inf if draft.quorum_standard_error is None else draft.quorum_standard_error
    return Quorum(people=draft.quorum_people, standard_error=error)


def opened_answers(
    service: Service, job: Job, people: People, progress: Progress
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Decrypt the values of those who joined, in announced order; the others have none."""
    where = (answers.c.campaign == job.campaign, answers.c.round == job.round, answers.c.joined.is_(True))
    query = select(answers.c.person, answers.c.value).where(*where)
    sealed = {row.person: row.value for row in service.read(lambda connection: connection.execute(query).all())}
    joined = np.array([person in sealed for person in people.ids], dtype=np.bool_)
    values = np.full(len(people), np.nan)
    for at, person in enumerate(people.ids):
        if at % CHUNK == 0:
            progress("opening answers", at, len(people))
        if joined[at]:
            values[at] = _opened(service, job, person, sealed[person])
    return joined, values


def _opened(service: Service, job: Job, person: str, sealed: bytes) -> float:
    """Open one answer; if it cannot be, the step fails: waiting for a key that is gone would keep all work waiting."""
    try:
        return service.keys.unseal(sealed, campaign=job.campaign, round=job.round, person=person)
    except LedgerUnavailable as error:
        reason = str(error)
    raise PromiseBroken(f"{reason}: answers cannot be opened; bring the key back, begin a new round, or cancel")


def _offer(service: Service, job: Job) -> Announcement | None:
    body = service.read(lambda connection: announced_body(connection, job.campaign, job.round))
    return None if body is None else Announcement.from_json(body)


def _forget_values(connection: Connection, campaign: str) -> None:
    connection.execute(update(answers).where(answers.c.campaign == campaign).values(value=None))


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
        reach(service, connection, row, "new-round", **fresh)

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
            reach(service, connection, row, "cancel")

    service.change(work)
    destroy_spent_keys(service)


def _give_back(service: Service, job: Job, progress: Progress) -> None:
    progress("giving promises back", 0, 0)
    offer = _offer(service, job)
    if offer is not None:
        job_of_the_paper.cancel(offer, ledger=service.ledger)


def _copy_registrations(connection: Connection, campaign: str, round: int) -> None:  # noqa: A002
    """Take everyone who is still here, with the step they chose, into the next round."""
    query = """INSERT INTO web_registrations (campaign, round, person, step, at)
        SELECT r.campaign, r.round + 1, r.person, r.step, r.at FROM web_registrations r
        JOIN web_accounts a ON a.id = r.person AND a.left_at IS NULL
        WHERE r.campaign = :campaign AND r.round = :round ON CONFLICT DO NOTHING"""
    connection.execute(text(query), {"campaign": campaign, "round": round})


# --- keys -------------------------------------------------------------------------------------------------------------


def destroy_spent_keys(service: Service) -> None:
    """Destroy the keys of rounds that are over; what a crash left behind is found here too.

    A key that cannot be destroyed now undoes no step that was taken: it is found again, and again, until it is gone.
    """
    kept = service.keys.kept()
    if not kept:
        return
    query = select(campaigns.c.id, campaigns.c.state, campaigns.c.round)
    known = {row.id: row for row in service.read(lambda connection: connection.execute(query).all())}
    for campaign, number in kept:
        row = known.get(campaign)
        if row is not None and (row.state in ("released", "cancelled") or number < row.round):
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
