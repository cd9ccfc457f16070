"""Announcing: plan once with everyone who registered, leave out whom it asks too much of, and make the offer.

What people allow over all campaigns binds here. A limit is lowered to what is left of it. A cost cannot be lowered: whoever
weighs costs and has too little left for what the plan asks is left out of it, with a promise of nothing. They stay among
the people of the offer, and no message says that it happened; but what is announced are exact sums, and an analyst who
knows what all others stated can see whether one person is in them. What is left therefore counts only in halves of the
total: round after round with other people, such an analyst would otherwise close in on the exact rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, text, update

from optin import campaign
from optin.agents import Agents, PrivacyConstrained
from optin.announcement import Announcement
from optin.announcement.making import MIN_PEOPLE
from optin.announcement.terms import Conditions
from optin.campaign.allowing import asked_too_much, totals_said
from optin.campaign.history import promised_nothing
from optin.errors import BadInput, BudgetSpent, Infeasible, PromiseBroken
from optin.grains.units import allowance_grains
from optin.ledger import Terms
from optin.planning import Plan
from optin.web.schema import campaigns
from optin.web.service.asking import conditions_of, sheet_of
from optin.web.service.core import Service
from optin.web.service.deadlines import begin_answering
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import LIMITS
from optin.web.service.records import Job
from optin.web.service.rows import People, agents_of, campaign_row, people_of
from optin.web.service.steps import record_step
from optin.web.service.totals import give_declined_back
from optin.web.transactions import hold
from optin.wording.language import N_

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it, and of how much."""
_LEVELS = [step.amount for step in LIMITS]
_AT_ONCE = N_("another campaign was announced to some of these people at the same moment; announce again")
_TOO_FEW = N_(
    "too few people are promised anything, or too few of them are below the cap: what is announced would give "
    "single limits away. Open registration again for more people, or cancel"
)
_NOT_WORTH_IT = N_(
    "at these costs too few people would gain from joining; the page of the plan says how much is missing. Open "
    "registration again for more people, or begin a new campaign with a result that is worth more to them"
)


def announce(service: Service, job: Job, progress: Progress) -> None:
    """Plan with everyone who registered and make the offer; what the ledger holds is what is announced."""
    progress("planning", 0, 0)
    row = service.read(lambda connection: campaign_row(connection, job.campaign))
    people = service.read(lambda connection: people_of(connection, job.campaign, job.round))
    draft = Draft.from_json(row.draft)
    if not people:
        raise BadInput("nobody has registered; open registration again, or cancel")
    if len(people) < MIN_PEOPLE:
        raise PromiseBroken(_TOO_FEW)  # before anything is looked up: how it fails would say what one person has left
    if service.ledger.is_announced(Terms(job.campaign, job.round, "")):
        found, agents = Plan.from_json(row.plan), announced_agents(service, job, draft, people)
    else:
        give_declined_back(service)
        found, agents = _planned(service, draft, people)
        _keep(service, row, found)
    progress("announcing", 0, 0)
    offer = _announce(service, job, replace(found, sheet=sheet_of(draft)), agents, people, conditions_of(draft))

    def work(connection: Connection) -> None:
        hold(connection, job.campaign)
        row = campaign_row(connection, job.campaign)
        if row.state == "planning" and row.round == job.round:
            _remember_totals(connection, job, people, _totals(people, found.limits(agents)))
            record_step(service, connection, row, "announce", announcement=offer.to_json())
            begin_answering(service, connection, row)
            if draft.automatic or (draft.sealed and draft.window_hours):
                if not draft.sealed:  # sealed answers have theirs: a new one would hide that it is lost
                    service.keys.ensure(row.id, row.round)
                record_step(service, connection, row, "open-answers")

    service.change(work)


def announced_agents(service: Service, job: Job, draft: Draft, people: People) -> Agents:
    """See the people of a round as they were announced to: those who weigh costs and were left out are so again."""
    if draft.model == PRIVACY_CONSTRAINED:
        return agents_of(draft, people)  # the ledger knows which limits it cut
    nothing = service.read(lambda connection: promised_nothing(connection, job.campaign, job.round))
    return agents_of(draft, people, left_out=np.array([person in nothing for person in people.ids], dtype=np.bool_))


def _planned(service: Service, draft: Draft, people: People) -> tuple[Plan, Agents]:
    """Find the best design for all whom it does not ask too much of; say also how it sees the people.

    Whoever it asks more of than they have left is left out, and the rest are planned for anew: they may then be asked
    for more, or less. People only ever leave, so it ends, and everyone who is still in has enough left.
    """
    left_out = np.zeros(len(people), dtype=np.bool_)
    while True:
        agents = agents_of(draft, people, left_out=left_out)
        found = _plan(service, draft, agents, people)
        _expect_noise(found, draft, people, left_out)  # an exact result asks for everything, and no total covers that
        short = asked_too_much(found, agents, _totals(people, found.limits(agents)), service.ledger)
        if not short.any():
            return found, agents
        left_out |= short
        if left_out.all():
            raise PromiseBroken(_TOO_FEW)


def _plan(service: Service, draft: Draft, agents: Agents, people: People) -> Plan:
    try:
        return campaign.plan(
            agents,
            sheet_of(draft),
            slack=draft.slack,
            merge_small=True,
            ledger=service.ledger,
            raise_limits=True,
            lower_limits=True,
            allowances=_totals(people, agents.limits) if isinstance(agents, PrivacyConstrained) else None,
            levels=_LEVELS,
        )
    except (BudgetSpent, Infeasible):
        words = _TOO_FEW if isinstance(agents, PrivacyConstrained) else _NOT_WORTH_IT
    raise PromiseBroken(words)  # in our own words: the messages say what people have left, or count who is left out


def _expect_noise(found: Plan, draft: Draft, people: People, left_out: NDArray[np.bool_]) -> None:
    """Refuse an exact result; those left out bear a cost only in our books, and ask for no noise."""
    free = draft.model != PRIVACY_CONSTRAINED and not people.steps[~left_out].any()
    if any(part.noiseless for part in found.parts) or free:
        raise PromiseBroken(
            "everyone chose no cost or no limit: the result would need no noise, which this service does not publish; cancel"
        )


def _keep(service: Service, row: Row[Any], found: Plan) -> None:
    """Keep the design before it is announced: after a crash the same one is announced."""
    query = update(campaigns).where(campaigns.c.id == row.id).values(plan=found.to_json())
    service.change(lambda connection: connection.execute(query))


def _announce(
    service: Service, job: Job, found: Plan, agents: Agents, people: People, conditions: Conditions
) -> Announcement:
    try:
        return campaign.announce(
            found,
            agents,
            ledger=service.ledger,
            campaign=job.campaign,
            round=job.round,
            conditions=conditions,
            raise_limits=True,
            lower_limits=True,
            allowances=_totals(people, found.limits(agents)),
            levels=_LEVELS,
        )
    except BadInput:
        words = _TOO_FEW
    except BudgetSpent:
        words = _AT_ONCE
    raise PromiseBroken(words)  # in our own words: the messages count few people, and what few have left is theirs


def _totals(people: People, stated: NDArray[np.float64]) -> NDArray[np.float64]:
    """List what each person allows over all campaigns.

    Whoever chose before totals were said beside a choice was told that the choice is the total: for them it is.
    """
    return totals_said(people.allowances, stated)


def _silent(people: People) -> NDArray[np.bool_]:
    return np.array([grains is None for grains in people.allowances], dtype=np.bool_)


def _remember_totals(connection: Connection, job: Job, people: People, totals: NDArray[np.float64]) -> None:
    """Keep the first total as what the person allows; they may raise it later. Those on one step have one total."""
    silent = _silent(people)
    query = """UPDATE web_accounts SET allowance = :grains WHERE allowance IS NULL AND id IN
        (SELECT person FROM web_registrations WHERE campaign = :campaign AND round = :round AND step = :step)"""
    for step in np.unique(people.steps[silent]).tolist():
        grains = int(allowance_grains(totals[silent & (people.steps == step)][:1])[0])
        if not grains:  # a result that is worth nothing to someone says nothing of what they allow elsewhere
            continue
        where = {"campaign": job.campaign, "round": job.round, "step": step}
        connection.execute(text(query), {"grains": grains, **where})
