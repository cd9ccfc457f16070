"""What people allow over all campaigns: said beside the first choice, lowered at any time, raised by nobody else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, or_, select, update

from optin.client.wire import Rung
from optin.errors import BadInput, PromiseBroken
from optin.grains.units import allowance_grains
from optin.web.schema import accounts, campaigns, registrations
from optin.web.service.core import Service
from optin.web.service.drafts import Draft
from optin.web.service.lookups import job_of
from optin.web.service.records import Visitor
from optin.web.service.totals import TIMES, Budget, asked_at_most, budget_of, keep_total
from optin.web.transactions import hold


def say_total(connection: Connection, person: str, row: Row[Any], rung: Rung, times: int | None) -> None:
    """Say a total beside a choice: what was given and promised so far, and so many campaigns like this one.

    Without ``times`` a total said before stays as it is, whatever is chosen or taken back: which one was meant cannot be told
    from its number. A first one is for a few campaigns. A campaign that can be worth nothing to this person says nothing
    about a total.
    """
    budget, most = _locked_budget(connection, person), asked_at_most(Draft.from_json(row.draft), rung)
    if not most or (times is None and budget.total is not None):
        return
    total = budget.after(TIMES if times is None else times, most)
    if total != budget.total:
        _expect_no_plan_under_way(connection, person)
        connection.execute(update(accounts).where(accounts.c.id == person).values(allowance=total))


def raise_allowance(service: Service, person: Visitor, epsilon: float) -> None:
    """Raise what one allows over all campaigns; lowering it is said as such, so that no page left open does it."""
    grains = _grains(epsilon)

    def work(connection: Connection) -> None:
        mine = accounts.c.id == person.account
        if connection.scalar(select(accounts.c.allowance).where(mine)) is None:
            _expect_no_plan_under_way(connection, person.account)
        no_less = or_(accounts.c.allowance.is_(None), accounts.c.allowance <= grains)
        if not connection.execute(update(accounts).where(mine, no_less).values(allowance=grains)).rowcount:
            raise PromiseBroken("this can only be raised, and you allow more already; to lower your total, say so")

    service.change(work)


def lower_allowance(service: Service, person: Visitor, epsilon: float) -> None:
    """Lower what one allows over all campaigns, down to what was spent and is promised."""
    grains = _grains(epsilon)

    def work(connection: Connection) -> None:
        budget = _locked_budget(connection, person.account)
        _expect_no_plan_under_way(connection, person.account)
        if grains < budget.committed:
            raise PromiseBroken(
                "more than this is spent or promised already: a total cannot be lower. Decline where answers are open, and "
                "what was promised there no longer counts here"
            )
        mine = accounts.c.id == person.account
        no_more = or_(accounts.c.allowance.is_(None), accounts.c.allowance >= grains)
        if not connection.execute(update(accounts).where(mine, no_more).values(allowance=grains)).rowcount:
            raise PromiseBroken("you allow less than this already; to raise your total, say so")

    service.change(work)


def _grains(epsilon: float) -> int:
    if not math.isfinite(epsilon) or epsilon < 0:
        raise BadInput("an allowance is a number of at least 0")
    return int(allowance_grains(np.array([epsilon]))[0])


def _locked_budget(connection: Connection, person: str) -> Budget:
    """Read what a total is and what stands against it, and keep both until the transaction ends."""
    _held_before_plans(connection, person)
    keep_total(connection, person)
    _held_before_plans(connection, person)  # what was chosen before the total was ours
    return budget_of(connection, person)


def _held_before_plans(connection: Connection, person: str) -> list[str]:
    """Keep those of a person's campaigns from taking a step whose plan is still to be made, and list them."""
    mine = select(registrations.c.campaign).where(registrations.c.person == person)
    before = select(campaigns.c.id).where(campaigns.c.id.in_(mine), campaigns.c.state.in_(("registration", "planning")))
    names = sorted(connection.scalars(before))
    for name in names:
        hold(connection, name, shared=True)
    return names


def _expect_no_plan_under_way(connection: Connection, person: str) -> None:
    """Refuse a total while a plan is made that has read another one, or none, and would promise beyond it."""
    for name in _held_before_plans(connection, person):
        job = job_of(connection, name)
        if job is not None and job.unfinished:
            raise PromiseBroken(
                "a campaign of yours is being planned at this moment; say your total when it is announced"
            )
