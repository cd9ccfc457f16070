"""Campaigns as their analysts see them: drafts, invitations, counts, cells of limits, and the log."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, func, insert, select, update

from optin.announcement import Announcement
from optin.errors import BadInput, PromiseBroken
from optin.releasing import Release
from optin.store.changing import hold
from optin.store.holdings import released
from optin.store.web_schema import campaigns, events, invitations, jobs, registrations
from optin.web.service.core import Service, hashed, log_event, new_id, new_secret
from optin.web.service.deadlines import WAITING, publish_by
from optin.web.service.ladder import ladder_of
from optin.web.service.life import possible, warning
from optin.web.service.records import Campaign, Cell, Draft, Event, Visitor, checked_draft
from optin.web.service.rows import count, job_of, joined_count, owned_row, people_of

__all__ = [
    "cells",
    "create",
    "expect_no_newcomer",
    "invite",
    "log",
    "merged",
    "mine",
    "note_what_was_shown",
    "possible_now",
    "revise",
    "show",
    "shown_until",
    "to_revise",
]

SMALLEST_CELL = 10
MOST_INVITATIONS = 1000
BEFORE_REGISTRATION_CLOSES = ("draft", "registration")


def create(service: Service, analyst: Visitor, draft: Draft) -> Campaign:
    """Begin a campaign as a draft."""
    draft, name, now = checked_draft(draft), new_id(), service.clock()
    row = {"id": name, "owner": analyst.account, "draft": draft.to_json(), "public": draft.public, "state": "draft"}

    def work(connection: Connection) -> None:
        times = {"created_at": now, "changed_at": now}
        connection.execute(insert(campaigns).values({**row, **times, "round": 1}))
        log_event(connection, now, "created", "the campaign was drafted", campaign=name, round=1)

    service.change(work)
    return show(service, analyst, name)


def revise(service: Service, analyst: Visitor, campaign: str, draft: Draft) -> Campaign:
    """Change a draft; once registration is open people rely on what it says.

    No fingerprint covers the words and the quorum, so nothing but this keeps them as they were announced.
    """
    draft = checked_draft(draft)

    def work(connection: Connection) -> None:
        owned_row(connection, analyst, campaign)
        hold(connection, campaign)
        _expect_draft(owned_row(connection, analyst, campaign))
        new = {"draft": draft.to_json(), "public": draft.public, "changed_at": service.clock()}
        connection.execute(update(campaigns).where(campaigns.c.id == campaign).values(new))

    service.change(work)
    return show(service, analyst, campaign)


def to_revise(service: Service, analyst: Visitor, campaign: str) -> Draft:
    """Return a draft that may still be changed."""

    def look(connection: Connection) -> Draft:
        row = owned_row(connection, analyst, campaign)
        _expect_draft(row)
        return Draft.from_json(row.draft)

    return service.read(look)


def _expect_draft(row: Row[Any]) -> None:
    if row.state != "draft":
        raise PromiseBroken(
            "registration was opened, and people rely on the question, its purpose, unit, bounds and quorum as they were "
            "then: nothing of it can be changed. Cancel, and draft a new campaign"
        )


def mine(service: Service, analyst: Visitor) -> list[Campaign]:
    """List this analyst's campaigns, newest first."""
    query = select(campaigns).where(campaigns.c.owner == analyst.account).order_by(campaigns.c.created_at.desc())
    return service.read(lambda connection: [_view(service, connection, row) for row in connection.execute(query).all()])


def show(service: Service, analyst: Visitor, campaign: str) -> Campaign:
    """Show one campaign."""
    return service.read(lambda connection: _view(service, connection, owned_row(connection, analyst, campaign)))


def invite(service: Service, analyst: Visitor, campaign: str, number: int) -> list[str]:
    """Make one-time secrets to send to people; each is shown now and never again."""
    if not 1 <= number <= MOST_INVITATIONS:
        raise BadInput(f"make 1 to {MOST_INVITATIONS} invitations at a time")
    secrets, now = [new_secret() for _ in range(number)], service.clock()
    rows = [{"secret": hashed(s), "kind": "person", "campaign": campaign, "created_at": now} for s in secrets]

    def work(connection: Connection) -> None:
        row = owned_row(connection, analyst, campaign)
        if row.state not in BEFORE_REGISTRATION_CLOSES:
            raise PromiseBroken("registration is closed: an invitation would lead nowhere")
        connection.execute(insert(invitations), rows)
        words = f"{number} invitations were made"
        log_event(connection, now, "invited", words, campaign=campaign, round=row.round)

    service.change(work)
    return secrets


def log(service: Service, analyst: Visitor, campaign: str) -> list[Event]:
    """List what was done with a campaign, oldest first."""

    def look(connection: Connection) -> list[Event]:
        owned_row(connection, analyst, campaign)
        query = select(events).where(events.c.campaign == campaign).order_by(events.c.number)
        return [Event(row.at, row.kind, row.round, row.words) for row in connection.execute(query)]

    return service.read(look)


def cells(service: Service, analyst: Visitor, campaign: str) -> list[Cell]:
    """Show how limits (or costs) are spread: after registration closed, in cells of at least ten people."""

    def look(connection: Connection) -> list[Cell]:
        row = owned_row(connection, analyst, campaign)
        if row.state in BEFORE_REGISTRATION_CLOSES:
            raise PromiseBroken("limits are shown when registration is closed, so that no newcomer can be singled out")
        expect_no_newcomer(connection, row)
        amounts = [step.amount for step in ladder_of(Draft.from_json(row.draft).model)]
        steps = people_of(connection, campaign, row.round).steps
        return merged(amounts, np.bincount(steps, minlength=len(amounts)).tolist())

    return service.read(look)


_SHOWN = "shown"
"""The event that says up to when choices may have been looked at, in cells."""


def note_what_was_shown(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Write down, before registration opens again, that cells could be looked at; of fewer than ten there were none."""
    here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
    if count(connection, registrations, *here) >= SMALLEST_CELL:
        words = f"choices made so far could be seen, in groups; new ones are shown once there are {SMALLEST_CELL}"
        log_event(connection, service.clock(), _SHOWN, words, campaign=row.id, round=row.round)


def shown_until(connection: Connection, row: Row[Any]) -> float | None:
    """Say up to when choices of this round may have been seen in cells, before registration was opened again."""
    here = (events.c.campaign == row.id, events.c.round == row.round, events.c.kind == _SHOWN)
    found = connection.scalar(select(func.max(events.c.at)).where(*here))
    return None if found is None else float(found)


def expect_no_newcomer(connection: Connection, row: Row[Any]) -> None:
    """Refuse cells that differ from those seen before by a few people: the difference would be theirs."""
    until = shown_until(connection, row)
    here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
    if until is not None and 0 < count(connection, registrations, *here, registrations.c.at > until) < SMALLEST_CELL:
        raise PromiseBroken(
            f"fewer than {SMALLEST_CELL} people chose since registration was opened again: beside the groups of before, new"
            " ones would single them out. The plan can be announced all the same"
        )


def merged(amounts: list[float], counts: list[int]) -> list[Cell]:
    """Join neighbouring steps from below until each cell has ten people; a small rest goes to the cell before it.

    >>> merged([0.1, 0.2, 0.5, 1.0], [12, 3, 8, 4])
    [Cell(low=0.1, high=0.1, people=12), Cell(low=0.2, high=1.0, people=15)]
    >>> merged([0.1, 0.2], [4, 5])
    []
    """
    done: list[Cell] = []
    held: Cell | None = None
    for amount, people in zip(amounts, counts, strict=True):
        if people:
            held = Cell(held.low if held else amount, amount, people + (held.people if held else 0))
        if held and held.people >= SMALLEST_CELL:
            done.append(held)
            held = None
    if held and done:
        before = done.pop()
        done.append(Cell(before.low, held.high, before.people + held.people))
    return done


def possible_now(connection: Connection, row: Row[Any]) -> tuple[str, ...]:
    """List the steps that a campaign may take as it is; what the ledger has released can only be published."""
    if row.state in WAITING and released(connection, row.id, row.round):
        return ("release",)
    draft = Draft.from_json(row.draft)
    too_few = row.state == "closed" and _too_few_joined(connection, row, draft.quorum_people)
    return possible(row.state, sealed=draft.sealed, too_few=too_few)


def _too_few_joined(connection: Connection, row: Row[Any], quorum: int) -> bool:
    """Say whether a closed round cannot be released: by the count that its analyst sees, or since a release was refused.

    Counting only those who are promised something would tell the analyst how many have nothing left.
    """
    refused = (jobs.c.campaign == row.id, jobs.c.kind == "release", jobs.c.state == "failed")
    since_closing = jobs.c.created_at >= row.changed_at
    joined = joined_count(connection, row.id, row.round, joined=True)
    return joined < quorum or count(connection, jobs, *refused, since_closing) > 0


def _view(service: Service, connection: Connection, row: Row[Any]) -> Campaign:
    invited = invitations.c.campaign == row.id
    job, draft = job_of(connection, row.id), Draft.from_json(row.draft)
    here = (registrations.c.campaign == row.id, registrations.c.round == row.round)
    registered = count(connection, registrations, *here)
    joined = joined_count(connection, row.id, row.round, joined=True)
    return Campaign(
        id=row.id,
        draft=draft,
        state=row.state,
        round=row.round,
        invited=count(connection, invitations, invited),
        redeemed=count(connection, invitations, invited, invitations.c.used_at.is_not(None)),
        registered=registered,
        joined=joined,
        declined=joined_count(connection, row.id, row.round, joined=False),
        job=job,
        announcement=Announcement.from_json(row.announcement) if row.announcement else None,
        release=Release.from_json(row.release) if row.release else None,
        created_at=row.created_at,
        changed_at=row.changed_at,
        steps=() if job and job.unfinished else possible_now(connection, row),
        warning=warning(draft, row.state, registered=registered, joined=joined),
        publish_by=publish_by(service, connection, row),
    )
