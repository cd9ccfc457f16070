"""What administrators do: they see who the analysts are and how campaigns stand, and let analysts in and out.

Nothing here reads a limit or an answer, and there is no way from here to one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, or_, select, update

from optin.errors import BadInput
from optin.web.schema import accounts, campaigns, invitations, roles
from optin.web.service import sessions
from optin.web.service.asking import words_said
from optin.web.service.core import Service, log_event
from optin.web.service.drafts import Draft
from optin.web.service.failures import NotFound
from optin.web.service.lookups import OWNER, campaign_row, count
from optin.web.service.records import Visitor
from optin.web.service.roles import (
    ADMINISTRATOR,
    RUNNING,
    SERVICE,
    account_named,
    has_another_owner,
    is_administrator,
    runs_the_service,
    set_role,
)
from optin.web.transactions import hold
from optin.wording.sentences import Sentence


@dataclass(frozen=True)
class Analyst:
    """An analyst as an administrator sees them."""

    name: str
    since: float
    administrator: bool
    campaigns: int


@dataclass(frozen=True)
class Standing:
    """How far a campaign has come; not who takes part, nor how many."""

    title: str
    owner: str
    state: str
    changed_at: float


def expect_administrator(service: Service, visitor: Visitor) -> None:
    """Let administrators through; to others there is nothing here."""
    if visitor.kind != "analyst" or not is_administrator(service, visitor):
        raise NotFound


def analysts(service: Service, visitor: Visitor) -> list[Analyst]:
    """List the analysts who can come in, by name."""
    expect_administrator(service, visitor)

    def look(connection: Connection) -> list[Analyst]:
        here = (accounts.c.kind == "analyst", accounts.c.left_at.is_(None))
        running = set(connection.scalars(select(roles.c.account).where(roles.c.campaign == SERVICE)))
        numbers = select(campaigns.c.owner, func.count()).group_by(campaigns.c.owner)
        owned = {row[0]: row[1] for row in connection.execute(numbers)}
        rows = connection.execute(select(accounts).where(*here).order_by(accounts.c.name)).all()
        return [Analyst(row.name, row.created_at, row.id in running, owned.get(row.id, 0)) for row in rows]

    return service.read(look)


def standings(service: Service, visitor: Visitor) -> list[Standing]:
    """List all campaigns, those that changed last first."""
    expect_administrator(service, visitor)
    query = (
        select(campaigns.c.draft, campaigns.c.state, campaigns.c.changed_at, accounts.c.name)
        .join(accounts, accounts.c.id == campaigns.c.owner)
        .order_by(campaigns.c.changed_at.desc())
    )

    def look(connection: Connection) -> list[Standing]:
        rows = connection.execute(query).all()
        return [
            Standing(words_said(Draft.from_json(row.draft))[0], row.name, row.state, row.changed_at) for row in rows
        ]

    return service.read(look)


def _change(service: Service, visitor: Visitor, work: Callable[[Connection], None]) -> None:
    """Write as someone who runs the service, and one after another: whoever was dismissed meanwhile changes nothing."""
    expect_administrator(service, visitor)

    def alone(connection: Connection) -> None:
        hold(connection, RUNNING)
        if not runs_the_service(connection, visitor.account):
            raise NotFound
        work(connection)

    service.change(alone)


def appoint(service: Service, visitor: Visitor, name: str) -> None:
    """Let another analyst run the service too."""

    def work(connection: Connection) -> None:
        set_role(service, connection, SERVICE, account_named(connection, name), ADMINISTRATOR)
        log_event(connection, service.clock(), "appointed", Sentence("{name} was made an administrator", name=name))

    _change(service, visitor, work)


def dismiss(service: Service, visitor: Visitor, name: str) -> None:
    """Let an administrator be an analyst only; one has to stay. Links to new passwords that nobody used yet end."""

    def work(connection: Connection) -> None:
        account = account_named(connection, name)
        _expect_another(connection, account)
        _end_reset_links(connection, account)
        connection.execute(delete(roles).where(roles.c.campaign == SERVICE, roles.c.account == account))
        log_event(connection, service.clock(), "dismissed", Sentence("{name} is no administrator any more", name=name))

    _change(service, visitor, work)


def revoke(service: Service, visitor: Visitor, name: str) -> None:
    """Let an analyst in no more: signed out everywhere at once. Their campaigns go on, with this administrator as an owner.

    What they began stays theirs in name: people invited again by the same id are known by whose list they stood on. Links
    they made, with which somebody could come in, end too: it could be they themselves.
    """

    def work(connection: Connection) -> None:
        account = account_named(connection, name)
        if account == visitor.account:
            raise BadInput("you cannot revoke yourself; another administrator can")
        _expect_another(connection, account)
        for campaign in _to_take_over(connection, account):
            set_role(service, connection, campaign, visitor.account, OWNER)
        _end_reset_links(connection, account)
        _end_invitations(connection, account)
        connection.execute(delete(roles).where(roles.c.account == account))
        connection.execute(
            update(accounts).where(accounts.c.id == account).values(left_at=service.clock(), password=None)
        )
        sessions.end_all(connection, account)
        log_event(connection, service.clock(), "revoked", "an analyst's account was revoked")

    _change(service, visitor, work)


def _to_take_over(connection: Connection, account: str) -> list[str]:
    """List the campaigns that someone began, and those that have no other owner who can still come in."""
    began = set(connection.scalars(select(campaigns.c.id).where(campaigns.c.owner == account)))
    given = (roles.c.account == account, roles.c.role == OWNER)
    owned = set(connection.scalars(select(roles.c.campaign).where(*given))) - began
    for campaign in sorted(began | owned):
        hold(connection, campaign)
    lonely = {name for name in owned if not has_another_owner(connection, campaign_row(connection, name), account)}
    return sorted(began | lonely)


def _end_reset_links(connection: Connection, account: str) -> None:
    """End links to a new password for someone and, if they ran the service, all that nobody used yet: they may hold one."""
    every = runs_the_service(connection, account)
    whose = invitations.c.kind == "reset" if every else invitations.c.account == account
    connection.execute(delete(invitations).where(invitations.c.kind == "reset", whose))


def _end_invitations(connection: Connection, account: str) -> None:
    """End invitations of analysts that someone made, and those of which nobody knows who did: made by an earlier version."""
    made = or_(invitations.c.account == account, invitations.c.account.is_(None))
    unused = (invitations.c.kind == "analyst", invitations.c.used_at.is_(None))
    connection.execute(delete(invitations).where(*unused, made))


def _expect_another(connection: Connection, account: str) -> None:
    """Refuse to leave a service that nobody runs."""
    others = (roles.c.campaign == SERVICE, roles.c.account != account)
    if not count(connection, roles, *others):
        raise BadInput("a service needs one administrator: appoint another one first")
