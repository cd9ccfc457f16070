"""What people do: choose a step of the ladder, join or decline, take it back, raise what they allow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, or_, select, text, update

from optin.errors import BadInput, PromiseBroken
from optin.store import allowance_grains
from optin.store.changing import hold
from optin.store.web_schema import accounts, answers, campaigns, registrations
from optin.web.service.core import Service
from optin.web.service.ladder import step_of
from optin.web.service.people.looking import campaign, me, of_mine, visible
from optin.web.service.records import Draft, Me, MyCampaign, Visitor
from optin.web.service.rows import expect_round, job_of

__all__ = ["decline", "join", "raise_allowance", "register", "withdraw"]

_REGISTER = """INSERT INTO web_registrations (campaign, round, person, step, at)
    VALUES (:campaign, :round, :person, :step, :at)
    ON CONFLICT (campaign, round, person) DO UPDATE SET step = excluded.step, at = excluded.at"""
_ANSWER = """INSERT INTO web_answers (campaign, round, person, joined, value, at)
    VALUES (:campaign, :round, :person, :joined, :value, :at)
    ON CONFLICT (campaign, round, person)
    DO UPDATE SET joined = excluded.joined, value = excluded.value, at = excluded.at"""


def register(
    service: Service,
    person: Visitor,
    name: str,
    step: int,
    *,
    value: float | None = None,
    round: int | None = None,  # noqa: A002 - the word of the contract
) -> MyCampaign:
    """State a limit (or a cost); in a sealed campaign the value comes along. Said again, the last word counts."""

    def work(connection: Connection) -> None:
        row = _held_row(connection, person, name)
        expect_round(row, round)
        draft = Draft.from_json(row.draft)
        chosen = step_of(draft.model, step)
        if row.state != "registration":
            raise PromiseBroken("registration is closed")
        if draft.sealed != (value is not None):
            words = "give your answer together with your limit" if draft.sealed else "answers are asked for later"
            raise BadInput(f"{words}, in this campaign")
        mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
        connection.execute(text(_REGISTER), {**mine, "step": chosen.index})
        if value is not None:
            _store_answer(service, connection, row, person, value)

    service.change(work)
    return campaign(service, person, name)


def join(
    service: Service,
    person: Visitor,
    name: str,
    value: float,
    *,
    round: int | None = None,  # noqa: A002
) -> MyCampaign:
    """Join with a value, or change it; the value leaves this function only as ciphertext.

    Each round has its own deal: with ``round``, nobody joins on other terms than those they were shown.
    """

    def work(connection: Connection) -> None:
        row = _held_row(connection, person, name)
        expect_round(row, round)
        _expect_answering(connection, row, person)
        _store_answer(service, connection, row, person, value)

    service.change(work)
    return campaign(service, person, name)


def decline(service: Service, person: Visitor, name: str) -> MyCampaign:
    """Decline, or take a yes back; the value given before is gone."""

    def work(connection: Connection) -> None:
        row = _held_row(connection, person, name)
        sealed = Draft.from_json(row.draft).sealed  # such answers may close without being opened
        _expect_answering(connection, row, person, states=("announced", "answers") if sealed else ("answers",))
        _store_no(service, connection, row, person)

    service.change(work)
    return campaign(service, person, name)


def withdraw(service: Service, person: Visitor, name: str) -> None:
    """Take a registration back while registration is open; afterwards decline.

    Analysts see cells once registration is closed: if people could vanish from them, each would show where they were.
    """
    service.change(lambda connection: _withdraw(service, connection, person, _held_row(connection, person, name)))


def _withdraw(service: Service, connection: Connection, person: Visitor, row: Row[Any]) -> None:
    if row.state in ("released", "cancelled"):
        return
    mine = {"campaign": row.id, "round": row.round, "person": person.account}
    if row.state == "registration":
        for table in (registrations, answers):
            connection.execute(of_mine(delete(table), table, mine))
    elif (
        row.state != "closed" and connection.execute(of_mine(select(registrations.c.step), registrations, mine)).first()
    ):
        _store_no(service, connection, row, person)


def _held_row(connection: Connection, person: Visitor, name: str) -> Row[Any]:
    """Find a campaign and keep it from taking a step until the transaction ends: joining and closing cannot cross."""
    visible(connection, person, name)
    hold(connection, name, shared=True)
    return visible(connection, person, name)


def _expect_answering(
    connection: Connection, row: Row[Any], person: Visitor, *, states: tuple[str, ...] = ("answers",)
) -> None:
    if row.state not in states:
        raise PromiseBroken(
            "answers are not open: they open after the announcement, and end when the analyst closes them"
        )
    mine = {"campaign": row.id, "round": row.round, "person": person.account}
    if connection.execute(of_mine(select(registrations.c.step), registrations, mine)).first() is None:
        raise PromiseBroken("you did not register for this round, so nothing was promised to you")


def _store_answer(service: Service, connection: Connection, row: Row[Any], person: Visitor, value: float) -> None:
    draft = Draft.from_json(row.draft)
    if not math.isfinite(value) or not draft.lower <= value <= draft.upper:
        raise BadInput(
            f"an answer must be a number from {draft.lower:.15g} to {draft.upper:.15g}; yours is not, please check it"
        )
    sealed = service.keys.seal(float(value), campaign=row.id, round=row.round, person=person.account)
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
    connection.execute(text(_ANSWER), {**mine, "joined": True, "value": sealed})


def _store_no(service: Service, connection: Connection, row: Row[Any], person: Visitor) -> None:
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
    connection.execute(text(_ANSWER), {**mine, "joined": False, "value": None})


def raise_allowance(service: Service, person: Visitor, epsilon: float) -> Me:
    """Raise what one allows over all campaigns; it is never lowered, since promises may rest on it."""
    if not math.isfinite(epsilon) or epsilon < 0:
        raise BadInput("an allowance is a number of at least 0")
    grains = int(allowance_grains(np.array([epsilon]))[0])

    def work(connection: Connection) -> None:
        mine = accounts.c.id == person.account
        if connection.scalar(select(accounts.c.allowance).where(mine)) is None:
            _expect_no_plan_under_way(connection, person.account)
        no_less = or_(accounts.c.allowance.is_(None), accounts.c.allowance <= grains)
        if not connection.execute(update(accounts).where(mine, no_less).values(allowance=grains)).rowcount:
            raise PromiseBroken("an allowance can only be raised; to give less, choose lower limits or decline")

    service.change(work)
    return me(service, person)


def _expect_no_plan_under_way(connection: Connection, person: str) -> None:
    """Refuse a first total while a plan is made: the plan has read that there is none, and would promise beyond it."""
    mine = select(registrations.c.campaign).where(registrations.c.person == person)
    before = select(campaigns.c.id).where(campaigns.c.id.in_(mine), campaigns.c.state.in_(("registration", "planning")))
    for name in sorted(connection.scalars(before)):
        hold(connection, name, shared=True)
        job = job_of(connection, name)
        if job is not None and job.unfinished:
            raise PromiseBroken(
                "a campaign of yours is being planned at this moment; say your total when it is announced"
            )
