"""Who may do what: owners, colleagues and readers of a campaign, and administrators of the service.

A colleague does all that the owner does but give roles; a reader looks at counts, plan and results. Neither sees an answer or a
limit: nobody does. Whoever runs the service is an administrator, under no campaign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from optin.errors import BadInput
from optin.web.schema import accounts, roles
from optin.web.service.core import Service, hashed, log_event
from optin.web.service.lookups import COLLEAGUE, OWNER, READER, count, owned_row, role_in
from optin.web.service.records import Visitor
from optin.web.transactions import hold
from optin.wording.sentences import Sentence

ADMINISTRATOR = "administrator"
SERVICE = ""
"""What stands for the service where a campaign is named."""
GIVEN = (READER, COLLEAGUE, OWNER)
"""The roles that an owner can give."""
RUNNING = hashed("who runs the service")[:32]
"""What is held while it changes who runs the service: of two who dismiss each other at once, one stays."""


@dataclass(frozen=True)
class Colleague:
    """Someone who works on a campaign, and as what; ``drafted`` marks whoever began it, who stays its owner."""

    name: str
    role: str
    drafted: bool = False


def colleagues(service: Service, analyst: Visitor, campaign: str) -> list[Colleague]:
    """List who works on a campaign, whoever began it first."""

    def look(connection: Connection) -> list[Colleague]:
        row = owned_row(connection, analyst, campaign, least=READER)
        first = connection.scalar(select(accounts.c.name).where(accounts.c.id == row.owner))
        query = select(accounts.c.name, roles.c.role).join(roles, roles.c.account == accounts.c.id)
        others = connection.execute(query.where(roles.c.campaign == campaign).order_by(accounts.c.name)).all()
        return [Colleague(str(first), OWNER, drafted=True), *(Colleague(name, role) for name, role in others)]

    return service.read(look)


def role_of(service: Service, analyst: Visitor, campaign: str) -> str:
    """Say which role an analyst has in a campaign."""

    def look(connection: Connection) -> str:
        row = owned_row(connection, analyst, campaign, least=READER)
        return role_in(connection, analyst.account, row) or READER

    return service.read(look)


def give(service: Service, analyst: Visitor, campaign: str, name: str, role: str) -> None:
    """Give another analyst of this service a role in a campaign, or another one than they had; only its owners can."""
    if role not in GIVEN:
        raise BadInput("a role is reader, colleague or owner")

    def work(connection: Connection) -> None:
        row, account = _someone_else(connection, analyst, campaign, name)
        if role != OWNER:
            _expect_another_owner(connection, row, account)
        set_role(service, connection, campaign, account, role)
        log_event(
            connection,
            service.clock(),
            "role given",
            Sentence("{name} was made {role}", name=name, role=role),
            campaign=campaign,
            round=row.round,
        )

    service.change(work)


def take_back(service: Service, analyst: Visitor, campaign: str, name: str) -> None:
    """End someone's role in a campaign; only its owners can, and whoever began it stays."""

    def work(connection: Connection) -> None:
        row, account = _someone_else(connection, analyst, campaign, name)
        _expect_another_owner(connection, row, account)
        connection.execute(delete(roles).where(roles.c.campaign == campaign, roles.c.account == account))
        log_event(
            connection,
            service.clock(),
            "role taken",
            Sentence("{name} has no role any more", name=name),
            campaign=campaign,
            round=row.round,
        )

    service.change(work)


def _someone_else(connection: Connection, analyst: Visitor, campaign: str, name: str) -> tuple[Row[Any], str]:
    """Find a campaign of one's own, and someone who did not begin it; nobody else changes roles in it meanwhile."""
    owned_row(connection, analyst, campaign, least=OWNER)
    hold(connection, campaign)
    row, account = owned_row(connection, analyst, campaign, least=OWNER), account_named(connection, name)
    if account == row.owner:
        raise BadInput("whoever began a campaign stays its owner")
    return row, account


def _expect_another_owner(connection: Connection, row: Row[Any], account: str) -> None:
    """Refuse to leave a campaign that nobody owns any more: whoever began it may have been revoked."""
    if not has_another_owner(connection, row, account):
        raise BadInput("a campaign needs an owner who can still come in: make someone else one first")


def has_another_owner(connection: Connection, row: Row[Any], account: str) -> bool:
    """Say whether a campaign has an owner besides this account who can still come in."""
    began = (accounts.c.id == row.owner, accounts.c.id != account, accounts.c.left_at.is_(None))
    given = (roles.c.campaign == row.id, roles.c.role == OWNER, roles.c.account != account)
    return count(connection, accounts, *began) + count(connection, roles, *given) > 0


def account_named(connection: Connection, name: str) -> str:
    """Find an analyst who can still come in, by name."""
    here = (accounts.c.kind == "analyst", accounts.c.left_at.is_(None))
    account = connection.scalar(select(accounts.c.id).where(accounts.c.name == name, *here))
    if account is None:
        raise BadInput("there is no analyst of this name here; invite them first, and check the spelling")
    return str(account)


def set_role(service: Service, connection: Connection, campaign: str, account: str, role: str) -> None:
    """Write a role down, in place of another."""
    connection.execute(delete(roles).where(roles.c.campaign == campaign, roles.c.account == account))
    row = {"campaign": campaign, "account": account, "role": role, "since": service.clock()}
    connection.execute(insert(roles).values(row))


def is_administrator(service: Service, visitor: Visitor) -> bool:
    """Say whether someone runs the service."""
    return service.read(lambda connection: runs_the_service(connection, visitor.account))


def runs_the_service(connection: Connection, account: str) -> bool:
    """Say whether an account is an administrator's."""
    own = (roles.c.campaign == SERVICE, roles.c.account == account, roles.c.role == ADMINISTRATOR)
    return count(connection, roles, *own) > 0


def appoint_the_first(service: Service, connection: Connection, account: str) -> None:
    """Let the first analyst run the service."""
    if not count(connection, roles, roles.c.campaign == SERVICE):
        set_role(service, connection, SERVICE, account, ADMINISTRATOR)
