"""Reading campaigns, their people and their jobs from the store; what cannot be found and what is not yours look alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, case, func, select

from optin.agents import Agents, LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.errors import PromiseBroken
from optin.web.schema import accounts, answers, campaigns, invitations, jobs, registrations, roles
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.failures import NotFound, Refused
from optin.web.service.ladder import ladder_of
from optin.web.service.records import Job, Visitor
from optin.wording.stored_sentences import stored_sentence

PORTION = 1000
_ID = re.compile(r"[0-9a-f]{32}")


def campaign_row(connection: Connection, campaign: str) -> Row[Any]:
    """Find a campaign."""
    row = None
    if _ID.fullmatch(campaign):
        row = connection.execute(select(campaigns).where(campaigns.c.id == campaign)).first()
    if row is None:
        raise NotFound
    return row


def expect_round(row: Row[Any], round: int | None) -> None:  # noqa: A002 - the word of the contract
    """Refuse what was meant for another round than the one a campaign is in; None is whichever it is."""
    if round is not None and round < row.round:
        raise PromiseBroken("round {round} is over; look at the campaign as it is now", round=round)
    if round is not None and round > row.round:
        raise PromiseBroken("there is no round {round} yet: this is round {current}", round=round, current=row.round)


READER, COLLEAGUE, OWNER = "reader", "colleague", "owner"
_RANKS = {READER: 1, COLLEAGUE: 2, OWNER: 3}


def role_in(connection: Connection, account: str, row: Row[Any]) -> str | None:
    """Say what an analyst may do with a campaign: whoever drafted it owns it, others as they were given a role."""
    if row.owner == account:
        return OWNER
    return connection.scalar(select(roles.c.role).where(roles.c.campaign == row.id, roles.c.account == account))


def owned_row(connection: Connection, analyst: Visitor, campaign: str, *, least: str = COLLEAGUE) -> Row[Any]:
    """Find a campaign that this analyst may work on; with ``least`` as a reader, one that they may look at.

    To whoever has no role in it, it does not exist; whoever has a lesser one is told so.
    """
    row = campaign_row(connection, campaign)
    role = role_in(connection, analyst.account, row) if analyst.kind == "analyst" else None
    if role is None:
        raise NotFound
    if _RANKS[role] < _RANKS[least]:
        raise Refused("your role in this campaign is {role}: ask its owner, or have them change your role", role=role)
    return row


def belongs(connection: Connection, person: str, row: Row[Any]) -> bool:
    """Say whether a person was invited to a campaign or registered in it."""
    invited = (invitations.c.account == person, invitations.c.campaign == row.id)
    registered = (registrations.c.person == person, registrations.c.campaign == row.id)
    queries = (select(invitations.c.secret).where(*invited), select(registrations.c.step).where(*registered))
    return any(connection.execute(query.limit(1)).first() is not None for query in queries)


_UNFINISHED = case((jobs.c.state.in_(("queued", "running")), 0), else_=1)
_NEWEST = (_UNFINISHED, jobs.c.created_at.desc(), jobs.c.id)
"""What is under way comes first: a clock may show one time for two jobs."""


def job_of(connection: Connection, campaign: str) -> Job | None:
    """Find the newest job of a campaign."""
    query = select(jobs).where(jobs.c.campaign == campaign).order_by(*_NEWEST).limit(1)
    row = connection.execute(query).first()
    return None if row is None else as_job(row)


def as_job(row: Row[Any]) -> Job:
    """Turn a row into the record that is shown."""
    error = None if row.error is None else stored_sentence(row.error, row.told)
    return Job(**{each.name: getattr(row, each.name) for each in fields(Job)} | {"error": error})


def count(connection: Connection, table: Any, *where: Any) -> int:  # noqa: ANN401
    """Count rows."""
    return int(connection.scalar(select(func.count()).select_from(table).where(*where)) or 0)


@dataclass(frozen=True)
class RoundPeople:
    """The people of one round in the order in which they are announced, and the step of the ladder each chose."""

    ids: list[str] = field(repr=False)
    rungs: NDArray[np.int64] = field(repr=False)
    allowances: list[int | None] = field(repr=False)
    groups: list[str | None] = field(default_factory=list, repr=False)
    """The public group of each, None for everyone where there are none."""

    def __len__(self) -> int:
        return len(self.ids)


def people_of(connection: Connection, campaign: str, round: int) -> RoundPeople:  # noqa: A002 - the word of the contract
    """Read who registered for a round; the order is that of the ids, which are random and say nothing.

    They are kept as columns: a hundred thousand rows at once would be looked through for garbage, while every other thread waits.
    """
    query = (
        select(registrations.c.person, registrations.c.step, registrations.c.group_name, accounts.c.allowance)
        .join(accounts, accounts.c.id == registrations.c.person)
        .where(registrations.c.campaign == campaign, registrations.c.round == round)
        .order_by(registrations.c.person)
    )
    columns: tuple[list[Any], ...] = ([], [], [], [])
    for rows in _portions(connection, query):
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(cells)
    ids, rungs, groups, allowances = columns
    order = sorted(range(len(ids)), key=ids.__getitem__)  # a database may have an order of its own
    chosen = np.array(rungs, dtype=np.int64)[order]
    return RoundPeople(
        [ids[at] for at in order], chosen, [allowances[at] for at in order], [groups[at] for at in order]
    )


def in_portions(connection: Connection, query: Any) -> Iterator[Row[Any]]:  # noqa: ANN401 - SQLAlchemy's own generics
    """Read many rows a few at a time: fetched and made into objects at once, a hundred thousand would keep every other thread
    waiting.
    """
    for rows in _portions(connection, query):
        yield from rows


def _portions(connection: Connection, query: Any) -> Iterator[Sequence[Row[Any]]]:  # noqa: ANN401
    yield from connection.execute(query, execution_options={"yield_per": PORTION}).partitions()


OUT_OF_REACH = 1e60
"""A cost at which nobody is asked for a single grain, whatever the benefit: how people are seen who are left out."""


def agents_of(draft: Draft, people: RoundPeople, *, left_out: NDArray[np.bool_] | None = None) -> Agents:
    """See the people of a round as the model of their campaign does; those left out, as if they would refuse anything."""
    amounts = np.array([rung.amount for rung in ladder_of(draft.model)])[people.rungs]
    if left_out is not None and left_out.any():
        amounts = np.where(left_out, OUT_OF_REACH, amounts)
    groups = people.groups if any(people.groups) else None
    return agents_with(draft, amounts, ids=tuple(people.ids), groups=groups)


def agents_with(
    draft: Draft,
    amounts: NDArray[np.float64],
    *,
    ids: tuple[str, ...] | None = None,
    groups: list[str | None] | None = None,
) -> Agents:
    """See amounts (limits, or costs) as people of a draft's model."""
    if draft.model == PRIVACY_CONSTRAINED:
        return PrivacyConstrained(amounts, ids=ids, groups=groups)
    benefit = LinearBenefit(base=draft.benefit_base, slope=draft.benefit_slope)
    return QuasiLinear(amounts, benefit=benefit, outside=draft.outside, ids=ids, groups=groups)


def group_of(connection: Connection, campaign: str, person: str) -> str | None:
    """Read in which public group a person was invited to a campaign; None where there are none."""
    where = (invitations.c.campaign == campaign, invitations.c.account == person)
    return connection.scalar(select(invitations.c.group_name).where(*where).order_by(invitations.c.used_at).limit(1))


def joined_count(connection: Connection, campaign: str, round: int, *, joined: bool) -> int:  # noqa: A002
    """Count those who joined, or who declined."""
    where = (answers.c.campaign == campaign, answers.c.round == round, answers.c.joined == joined)
    return count(connection, answers, *where)
