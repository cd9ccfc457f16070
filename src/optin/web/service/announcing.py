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
from functools import partial
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
from optin.web.service.core import Service, log_event
from optin.web.service.deadlines import begin_answering
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import LIMITS
from optin.web.service.lookups import RoundPeople, agents_of, campaign_row, people_of
from optin.web.service.records import Job
from optin.web.service.steps import record_step
from optin.web.service.totals import give_declined_back
from optin.web.transactions import hold
from optin.wording.groups import merged_in
from optin.wording.language import N_

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it, and of how much."""
KEPT_AT_ONCE = 2_500
"""People whose totals are kept in one transaction."""
_LEVELS = [rung.amount for rung in LIMITS]
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
        planned, agents = Plan.from_json(row.plan), announced_agents(service, job, draft, people)
    else:
        give_declined_back(service)
        planned, agents = _planned(service, draft, people)
        _keep(service, row, planned)
    progress("announcing", 0, 0)
    offer = _announce(service, job, replace(planned, sheet=sheet_of(draft)), agents, people, conditions_of(draft))
    _remember_totals(service, job, people, _totals(people, planned.limits(agents)))

    def work(connection: Connection) -> None:
        hold(connection, job.campaign)
        row = campaign_row(connection, job.campaign)
        if _is_planned(row, job):
            record_step(service, connection, row, "announce", announcement=offer.to_json())
            _note_merged(service, connection, row, offer)
            begin_answering(service, connection, row)
            if draft.automatic or (draft.sealed and draft.window_hours):
                if not draft.sealed:  # sealed answers have theirs: a new one would hide that it is lost
                    service.keys.ensure(row.id, row.round)
                record_step(service, connection, row, "open-answers")

    service.change(work)


def _note_merged(service: Service, connection: Connection, row: Row[Any], offer: Announcement) -> None:
    """Write down which groups were put together."""
    now = service.clock()
    for words in merged_in(offer.designs):
        log_event(connection, now, "merged", words, campaign=row.id, round=row.round)


def announced_agents(service: Service, job: Job, draft: Draft, people: RoundPeople) -> Agents:
    """See the people of a round as they were announced to: those who weigh costs and were left out are so again."""
    if draft.model == PRIVACY_CONSTRAINED:
        return agents_of(draft, people)  # the ledger knows which limits it cut
    nothing = service.read(lambda connection: promised_nothing(connection, job.campaign, job.round))
    return agents_of(draft, people, left_out=np.array([person in nothing for person in people.ids], dtype=np.bool_))


def _planned(service: Service, draft: Draft, people: RoundPeople) -> tuple[Plan, Agents]:
    """Find the best design for all whom it does not ask too much of; say also how it sees the people.

    Whoever it asks more of than they have left is left out, and the rest are planned for anew: they may then be asked
    for more, or less. People only ever leave, so it ends, and everyone who is still in has enough left.
    """
    left_out = np.zeros(len(people), dtype=np.bool_)
    while True:
        agents = agents_of(draft, people, left_out=left_out)
        planned = _plan(service, draft, agents, people)
        _expect_noise(planned, draft, people, left_out)  # an exact result asks for everything, and no total covers that
        short = asked_too_much(planned, agents, _totals(people, planned.limits(agents)), service.ledger)
        if not short.any():
            return planned, agents
        left_out |= short
        if left_out.all():
            raise PromiseBroken(_TOO_FEW)


def _plan(service: Service, draft: Draft, agents: Agents, people: RoundPeople) -> Plan:
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


def _expect_noise(plan: Plan, draft: Draft, people: RoundPeople, left_out: NDArray[np.bool_]) -> None:
    """Refuse an exact result; those left out bear a cost only in our books, and ask for no noise."""
    free = draft.model != PRIVACY_CONSTRAINED and not people.rungs[~left_out].any()
    if any(part.noiseless for part in plan.parts) or free:
        raise PromiseBroken(
            "everyone chose no cost or no limit: the result would need no noise, which this service does not publish; cancel"
        )


def _keep(service: Service, row: Row[Any], plan: Plan) -> None:
    """Keep the design before it is announced: after a crash the same one is announced."""
    query = update(campaigns).where(campaigns.c.id == row.id).values(plan=plan.to_json())
    service.change(lambda connection: connection.execute(query))


def _announce(
    service: Service, job: Job, plan: Plan, agents: Agents, people: RoundPeople, conditions: Conditions
) -> Announcement:
    try:
        return campaign.announce(
            plan,
            agents,
            ledger=service.ledger,
            campaign=job.campaign,
            round=job.round,
            conditions=conditions,
            raise_limits=True,
            lower_limits=True,
            allowances=_totals(people, plan.limits(agents)),
            levels=_LEVELS,
        )
    except BadInput:
        words = _TOO_FEW
    except BudgetSpent:
        words = _AT_ONCE
    raise PromiseBroken(words)  # in our own words: the messages count few people, and what few have left is theirs


def _totals(people: RoundPeople, stated: NDArray[np.float64]) -> NDArray[np.float64]:
    """List what each person allows over all campaigns.

    Whoever chose before totals were said beside a choice was told that the choice is the total: for them it is.
    """
    return totals_said(people.allowances, stated)


def _silent(people: RoundPeople) -> NDArray[np.bool_]:
    return np.array([grains is None for grains in people.allowances], dtype=np.bool_)


def _remember_totals(service: Service, job: Job, people: RoundPeople, totals: NDArray[np.float64]) -> None:
    """Keep the first total as what the person allows; they may raise it later. Those on one step have one total.

    It is kept of so many people at a time, before the step is taken: whoever writes elsewhere waits for no more. What the
    ledger holds is announced already, and whoever is killed in between goes on where they were.
    """
    silent = _silent(people)
    first_totals = {
        rung: int(allowance_grains(totals[silent & (people.rungs == rung)][:1])[0])
        for rung in np.unique(people.rungs[silent]).tolist()
    }
    rows = [{"grains": grains, "step": rung} for rung, grains in first_totals.items() if grains]
    if not rows:  # a result that is worth nothing to someone says nothing of what they allow elsewhere
        return
    for start in range(0, len(people), KEPT_AT_ONCE):
        some = people.ids[start : start + KEPT_AT_ONCE]
        service.change(partial(_remember_some, job=job, bounds=(some[0], some[-1]), rows=rows))


_REMEMBER = """UPDATE web_accounts SET allowance = :grains WHERE allowance IS NULL AND id IN
    (SELECT person FROM web_registrations WHERE campaign = :campaign AND round = :round AND step = :step
    AND person BETWEEN :first AND :last)"""


def _remember_some(connection: Connection, *, job: Job, bounds: tuple[str, str], rows: list[dict[str, int]]) -> None:
    """Keep the totals of people between two ids, while their campaign is being announced."""
    hold(connection, job.campaign)
    if _is_planned(campaign_row(connection, job.campaign), job):
        where = {"campaign": job.campaign, "round": job.round, "first": bounds[0], "last": bounds[1]}
        for row in rows:
            connection.execute(text(_REMEMBER), {**where, **row})


def _is_planned(row: Row[Any], job: Job) -> bool:
    return bool(row.state == "planning" and row.round == job.round)
