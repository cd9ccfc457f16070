"""What administrators do: they see who the analysts are and how campaigns stand, and let analysts in and out.

Nothing here reads a limit or an answer, and there is no way from here to one.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update

from optin.errors import BadInput
from optin.web.schema import accounts, campaigns, invitations, roles
from optin.web.service import sessions
from optin.web.service.core import Service, log_event
from optin.web.service.drafts import Draft
from optin.web.service.failures import NotFound
from optin.web.service.records import Visitor
from optin.web.service.roles import ADMINISTRATOR, SERVICE, account_named, is_administrator, set_role
from optin.web.service.rows import OWNER, count
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
        return [Standing(Draft.from_json(row.draft).title, row.name, row.state, row.changed_at) for row in rows]

    return service.read(look)


def appoint(service: Service, visitor: Visitor, name: str) -> None:
    """Let another analyst run the service too."""
    expect_administrator(service, visitor)

    def work(connection: Connection) -> None:
        set_role(service, connection, SERVICE, account_named(connection, name), ADMINISTRATOR)
        log_event(connection, service.clock(), "appointed", Sentence("{name} was made an administrator", name=name))

    service.change(work)


def dismiss(service: Service, visitor: Visitor, name: str) -> None:
    """Let an administrator be an analyst only; one has to stay."""
    expect_administrator(service, visitor)

    def work(connection: Connection) -> None:
        account = account_named(connection, name)
        _expect_another(connection, account)
        connection.execute(delete(roles).where(roles.c.campaign == SERVICE, roles.c.account == account))
        log_event(connection, service.clock(), "dismissed", Sentence("{name} is no administrator any more", name=name))

    service.change(work)


def revoke(service: Service, visitor: Visitor, name: str) -> None:
    """Let an analyst in no more: signed out everywhere at once. Their campaigns go on, with this administrator as an owner.

    What they began stays theirs in name: people invited again by the same id are known by whose list they stood on.
    """
    expect_administrator(service, visitor)

    def work(connection: Connection) -> None:
        account = account_named(connection, name)
        if account == visitor.account:
            raise BadInput("you cannot revoke yourself; another administrator can")
        _expect_another(connection, account)
        for campaign in connection.scalars(select(campaigns.c.id).where(campaigns.c.owner == account)).all():
            set_role(service, connection, campaign, visitor.account, OWNER)
        connection.execute(delete(roles).where(roles.c.account == account))
        connection.execute(delete(invitations).where(invitations.c.kind == "reset", invitations.c.account == account))
        connection.execute(
            update(accounts).where(accounts.c.id == account).values(left_at=service.clock(), password=None)
        )
        sessions.end_all(connection, account)
        log_event(connection, service.clock(), "revoked", "an analyst's account was revoked")

    service.change(work)


def _expect_another(connection: Connection, account: str) -> None:
    """Refuse to leave a service that nobody runs."""
    others = (roles.c.campaign == SERVICE, roles.c.account != account)
    if not count(connection, roles, *others):
        raise BadInput("a service needs one administrator: appoint another one first")
