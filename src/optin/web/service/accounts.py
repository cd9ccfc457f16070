"""Who may come in: analysts by name and password, people by an invitation, by their own key, or by signing up."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from optin.errors import BadInput
from optin.web.schema import accounts, invitations
from optin.web.service import sessions
from optin.web.service.core import Service, hashed, log_event, new_id, new_secret
from optin.web.service.delays import Patience, forgive, place_of, wait_your_turn
from optin.web.service.entering_again import KEY, entered_before, owner_of, whose
from optin.web.service.failures import Refused
from optin.web.service.forgetting import erase
from optin.web.service.identities import account_of, tie
from optin.web.service.passwords import (
    WRONG,
    browser_mark,
    checked_name,
    checked_password,
    door_for,
    expect_unchanged,
    hashed_slowly,
    known_browser,
    matches,
    matches_behind_others,
)
from optin.web.service.records import Visitor
from optin.web.service.roles import appoint_the_first
from optin.web.service.sent_before import remember
from optin.web.service.sessions import Ticket
from optin.wording.language import N_

DAYS_WELCOME = 7
"""For how many days an invitation of an analyst is good: a link that lies in old mail must not open this service for ever."""
_CLASSROOM = 60
"""Accounts that may be opened from one place at once; behind one address there may be many people."""


@dataclass(frozen=True)
class Entered:
    """Someone came in: their cookie; for a new account the key to come back with; and what they were invited to."""

    ticket: Ticket
    key: str | None = field(default=None, repr=False)
    campaign: str | None = None


# --- analysts ---------------------------------------------------------------------------------------------------------


def first_analyst_secret(service: Service) -> str | None:
    """Make the one-time secret for the first analyst, replacing an unused one; None once there is an analyst."""

    def work(connection: Connection) -> str | None:
        if connection.scalar(select(func.count()).select_from(accounts).where(accounts.c.kind == "analyst")):
            return None
        unused = (invitations.c.kind == "analyst", invitations.c.used_at.is_(None))
        connection.execute(delete(invitations).where(*unused))
        return _invite(service, connection, "analyst")

    return service.change(work)


def invite_analyst(service: Service, analyst: Visitor) -> str:
    """Make a one-time secret with which another analyst can come in, for a week; it ends with the account of whoever made it."""

    def work(connection: Connection) -> str:
        log_event(connection, service.clock(), "analyst invited", "an analyst invited another")
        return _invite(service, connection, "analyst", by=analyst.account)

    return service.change(work)


def create_analyst(service: Service, secret: str, name: str, password: str) -> Ticket:
    """Turn a one-time secret into an analyst's account, signed in.

    The secret is looked up before the password is hashed: strangers, who have none, cost nothing.
    """
    name, password = checked_name(name), checked_password(password)
    service.read(lambda connection: _expect_welcome(service, connection, secret, name))
    password_hash = hashed_slowly(service, password)

    def work(connection: Connection) -> Ticket:
        _expect_welcome(service, connection, secret, name, held=True)
        account = _create(service, connection, "analyst", name=name, password=password_hash)
        use(service, connection, secret, account.id)
        appoint_the_first(service, connection, account.id)
        log_event(connection, service.clock(), "analyst created", "an analyst's account was created")
        return _remembered(service, sessions.start(service, connection, account))

    return service.change(work)


def _expect_welcome(service: Service, connection: Connection, secret: str, name: str, *, held: bool = False) -> None:
    row = _unused(connection, secret, "analyst", held=held)
    if row is None or row.created_at <= _welcome_since(service):
        raise Refused("this link was used before, is older than a week, or is not valid; ask for a new one")
    if connection.scalar(select(accounts.c.id).where(accounts.c.name == name)) is not None:
        raise BadInput("this name is taken; choose another")


def erase_unused_welcomes(service: Service) -> None:
    """Forget invitations of analysts whose week is over; those that were used stay, to say when."""
    unused = (invitations.c.kind == "analyst", invitations.c.used_at.is_(None))
    erase(service, invitations, *unused, invitations.c.created_at <= _welcome_since(service))


def _welcome_since(service: Service) -> float:
    return service.clock() - DAYS_WELCOME * 86400.0


def sign_in(service: Service, name: str, password: str, *, address: str, browser: str = "") -> Ticket:
    """Sign an analyst in; after many wrong passwords the next try for a name from the same place waits, longer each time.

    Nothing is ever locked: whoever fails elsewhere, or for another name, does not keep the owner out, and whoever fails
    at the same address does not where ``browser`` is a mark given at an earlier sign-in. An unknown name takes as long
    as a known one with a wrong password. The wait grows from the thirtieth failure on.
    """
    here = (accounts.c.kind == "analyst", accounts.c.left_at.is_(None))
    query = select(accounts).where(accounts.c.name == name, *here)
    account = service.read(lambda connection: connection.execute(query).first()) if name.isprintable() else None
    known = known_browser(service, account.id, browser) if account else None
    door, place, tries = door_for(service, name, address=address, browser=known)
    with door.passing(place):
        service.change(lambda connection: wait_your_turn(service, connection, [tries], words=N_("too many tries")))
        right = matches if known else matches_behind_others
        if not right(password, account.password if account else None):
            raise Refused(WRONG)

    def work(connection: Connection) -> Ticket:
        expect_unchanged(connection, account)
        forgive(service, connection, [tries])
        return _remembered(service, sessions.start(service, connection, account))

    return service.change(work)


def _remembered(service: Service, ticket: Ticket) -> Ticket:
    return replace(ticket, browser=browser_mark(service, ticket.visitor.account))


def sign_out(service: Service, visitor: Visitor) -> None:
    """End this session."""
    sessions.end(service, visitor)


# --- people -----------------------------------------------------------------------------------------------------------


def sign_up(service: Service, *, address: str) -> Entered:
    """Make an account for whoever asks; it is worth nothing until its owner registers somewhere.

    A class may open its accounts at once; after that they come one in ten seconds from the same place. An invitation
    never waits: it was counted when it was made.
    """

    def work(connection: Connection) -> Entered:
        expect_turn(service, connection, address)
        key = new_secret()
        return Entered(sessions.start(service, connection, create_person(service, connection, key)), key)

    return service.change(work)


def expect_turn(service: Service, connection: Connection, address: str) -> None:
    """Let accounts be opened from one place only so fast."""
    turn = [Patience(f"sign up:{place_of(address)}", free=_CLASSROOM, longest=10.0)]
    wait_your_turn(service, connection, turn, words=N_("many accounts were opened from where you are"))


def create_person(service: Service, connection: Connection, key: str) -> Any:  # noqa: ANN401 - as a row of accounts
    """Make a person's account, to come back to with this key."""
    return _create(service, connection, "person", key=hashed(key))


def come_back(service: Service, key: str) -> Ticket:
    """Let someone in with their own key or a link they were sent, and nothing else: an invitation is none."""

    def work(connection: Connection) -> Ticket:
        owner = whose(service, connection, key)
        if owner is None:
            raise Refused(
                "this recovery link is not known here, was used, or a newer one was made; check that it is whole"
            )
        return sessions.start(service, connection, owner)

    return service.change(work)


def new_key(service: Service, person: Visitor) -> str:
    """Give a person another key to come back with; the one before ends, and so does every other device's session."""
    key = new_secret()

    def work(connection: Connection) -> None:
        connection.execute(update(accounts).where(accounts.c.id == person.account).values(key=hashed(key)))
        sessions.end_others(connection, person)

    service.change(work)
    return key


def enter(
    service: Service,
    secret: str,
    *,
    key: str | None = None,
    fresh: str | None = None,
    visitor: Visitor | None = None,
    by_link: bool = False,
) -> Entered:
    """Come in with an invitation (once) or with one's own key (always).

    The analyst knows the invitations they send. Each therefore works once, and gives its user a key that nobody else
    has ever seen. Whoever is already here, or shows the ``key`` they have, keeps their account, and the invitation is
    tied to it: two accounts of one person would each have a total. A key in a link was sent by someone who knows it, and
    who could come in after its user and look: ``by_link``, only invitations are taken.

    A program may draw the key of a new account itself and send it as ``fresh``: sent again, because the answer was lost on its
    way, the same key comes with the same invitation, and leads to the same account.
    """
    if fresh is not None and not KEY.fullmatch(fresh):
        raise BadInput("the key of a new account is 43 characters of base64url, drawn at random")
    here = visitor.account if visitor is not None and fresh is not None else None
    look = functools.partial(entered_before, service, secret=secret, key=key, fresh=fresh, here=here)
    if service.read(look) is None:
        service.read(lambda connection: _way_in(connection, secret, key, by_link=by_link))  # guessing takes no lock

    def work(connection: Connection) -> Entered:
        if (before := look(connection)) is not None:
            return _back(service, connection, *before, fresh=fresh, visitor=visitor)
        owner, invitation = _way_in(connection, secret, key, by_link=by_link, held=True)
        if invitation is None:
            return Entered(sessions.start(service, connection, owner))
        if owner is not None:
            use(service, connection, secret, owner.id)
            return Entered(sessions.start(service, connection, owner), campaign=invitation.campaign)
        return _accepted(service, connection, secret, invitation.campaign, visitor, fresh)

    return service.change(work)


def _back(
    service: Service,
    connection: Connection,
    owner: Row[Any],
    campaign: str,
    alone: bool,
    *,
    fresh: str | None,
    visitor: Visitor | None,
) -> Entered:
    """Let someone in again by the invitation that they used."""
    if visitor is not None and visitor.account == owner.id:
        return Entered(Ticket(None, visitor), campaign=campaign)
    made = fresh is not None and owner.key == hashed(fresh)
    ticket = sessions.start(service, connection, owner, only=campaign if alone else None)
    return Entered(ticket, fresh if made else None, campaign)


def is_invitation(service: Service, secret: str) -> bool:
    """Say whether a secret is an invitation that still works; looking does not use it."""
    return service.read(lambda connection: _unused(connection, secret, "person")) is not None


def _way_in(
    connection: Connection, secret: str, key: str | None, *, by_link: bool, held: bool = False
) -> tuple[Row[Any] | None, Row[Any] | None]:
    """Find whose key was shown and which invitation; at least one of them is there."""
    invitation = _unused(connection, secret, "person", held=held)
    if key is not None:
        owner = owner_of(connection, key)
        if invitation is not None and owner is None:
            raise Refused("this key is not known here; check that it is whole. Your invitation is still good")
    else:
        owner = owner_of(connection, secret)
        if owner is not None and by_link:
            raise Refused(
                "this link holds the key of an account and no invitation: whoever sent it can see all that is done "
                "with it. Ask for an invitation; if the key is your own, paste it"
            )
    if invitation is None and (owner is None or key is not None):
        raise Refused("this secret is not valid, or the invitation was used before; use the key you were given then")
    return owner, invitation


def _accepted(
    service: Service,
    connection: Connection,
    secret: str,
    campaign: str | None,
    visitor: Visitor | None,
    fresh: str | None,
) -> Entered:
    if visitor is not None and visitor.kind == "person":
        use(service, connection, secret, visitor.account)
        return Entered(Ticket(None, visitor), campaign=campaign)
    known = account_of(connection, secret)
    if known is not None:  # by the same id before: one person, one account, of which this campaign alone is shown
        use(service, connection, secret, known.id)
        if fresh is not None:
            remember(service, connection, fresh, secret, known.id)
        return Entered(sessions.start(service, connection, known, only=campaign), campaign=campaign)
    if fresh is not None and owner_of(connection, fresh) is not None:
        raise Refused(
            "an account has this key already: draw another one for a new account. Your invitation is still good"
        )
    key = fresh or new_secret()
    account = create_person(service, connection, key)
    use(service, connection, secret, account.id)
    return Entered(sessions.start(service, connection, account), key, campaign)


# --- both -------------------------------------------------------------------------------------------------------------


def _create(service: Service, connection: Connection, kind: str, **more: Any) -> Any:  # noqa: ANN401
    row = {"id": new_id(), "kind": kind, "name": None, "created_at": service.clock(), **more}
    connection.execute(insert(accounts).values(row))
    return SimpleNamespace(**row)


def _invite(service: Service, connection: Connection, kind: str, *, by: str | None = None) -> str:
    """Make an invitation; until it is used its account is that of whoever made it."""
    secret = new_secret()
    row = {"secret": hashed(secret), "kind": kind, "account": by, "created_at": service.clock()}
    connection.execute(insert(invitations).values(row))
    return secret


def _unused(connection: Connection, secret: str, kind: str, *, held: bool = False) -> Row[Any] | None:
    """Find an invitation that was never used; ``held``, keep others from using it until the transaction ends."""
    where = (invitations.c.secret == hashed(secret), invitations.c.kind == kind, invitations.c.used_at.is_(None))
    query = select(invitations).where(*where)
    return connection.execute(query.with_for_update() if held else query).first()


def use(service: Service, connection: Connection, secret: str, account: str) -> None:
    """Tie an invitation to an account, for good."""
    where = invitations.c.secret == hashed(secret)
    connection.execute(update(invitations).where(where).values(account=account, used_at=service.clock()))
    tie(connection, secret, account)
