"""One visit: a link is looked at, which uses nothing up, and then sent with answers and limit, in one transaction.

What is sent makes an account, ties the invitation to it and registers, or does none of these: whoever is interrupted can send
again. The page carries the key of the account that it may make. Sent twice, by an impatient finger or after an answer that
was lost on its way, the same key comes with the same invitation, and leads to the same account, also to one that was there
before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Row, select

from optin.errors import BadInput
from optin.web.schema import invitations
from optin.web.service import open_links, sessions
from optin.web.service.accounts import Entered, create_person, expect_turn, use
from optin.web.service.core import Service, hashed
from optin.web.service.entering_again import KEY, owner_of
from optin.web.service.failures import NotFound, Refused
from optin.web.service.identities import account_of, has_id
from optin.web.service.lookups import campaign_row, count
from optin.web.service.people.doing import Chosen, register_in
from optin.web.service.people.looking import ends_of, stranger_view
from optin.web.service.records import MyCampaign, Visitor
from optin.web.service.recovering import redeemed
from optin.web.service.sent_before import remember, sent_before
from optin.wording.language import N_

_USED = N_(
    "this link was used already, on the device it was first sent from; to come back from another one, open the recovery link "
    "that was offered there after sending, or ask for one under /back if you left an address"
)

_ANOTHERS = N_(
    "this campaign was answered from this device by another link. If that was you, change your answers under My campaigns; if "
    "not, sign out first and open your link again. Your link is not used up"
)


@dataclass(frozen=True)
class Sent:
    """What someone sends in one visit.

    ``secret`` is their invitation, or else ``campaign`` one that is open to everyone; ``key`` is what a new account is to have;
    ``back`` the key of the account they say they have.
    """

    key: str = field(repr=False)
    chosen: Chosen = field(repr=False)
    secret: str = field(default="", repr=False)
    campaign: str = ""
    back: str = field(default="", repr=False)
    address: str = field(default="", repr=False)


def invited_to(service: Service, secret: str) -> MyCampaign | None:
    """Show what an invitation leads to, used or not; None where it is no invitation. Looking uses nothing up."""

    def look(connection: Connection) -> MyCampaign | None:
        invitation, led = _invitation(connection, secret), open_links.led_to(service, connection, secret)
        if led is not None:
            return stranger_view(led, **ends_of(service, connection, led))
        if invitation is None or invitation.campaign is None:
            return None
        row = campaign_row(connection, invitation.campaign)
        ends = ends_of(service, connection, row)
        return None if row.state == "draft" else stranger_view(row, group=invitation.group_name, **ends)

    return service.read(look)


def by_an_id(service: Service, secret: str) -> bool:
    """Say whether an invitation was made for an id of a list, whatever it leads to: who looks learns nothing of anyone."""
    return service.read(lambda connection: has_id(connection, secret))


def sent_from_here(service: Service, secret: str, visitor: Visitor | None) -> bool:
    """Say whether a link was sent from before, by whoever is here; one that was sent from another device is refused."""
    by_open_link = service.read(lambda connection: _sent_by_open_link(service, connection, secret, visitor))
    if by_open_link is not None:
        return by_open_link
    invitation = service.read(lambda connection: _invitation(connection, secret))
    if invitation is None:
        return False
    if invitation.used_at is None:
        service.read(lambda connection: _expect_own(connection, invitation, visitor))
        return False
    if visitor is None or visitor.account != invitation.account:
        raise Refused(_USED)
    return True


def _expect_own(connection: Connection, invitation: Row[Any], visitor: Visitor | None) -> None:
    """Refuse a fresh link to a device that answered by another one of this campaign: it is someone else's."""
    if visitor is None or visitor.kind != "person":
        return
    mine = (invitations.c.campaign == invitation.campaign, invitations.c.account == visitor.account)
    if count(connection, invitations, *mine, invitations.c.kind == "person"):
        raise Refused(_ANOTHERS)


def is_page_of(service: Service, visitor: Visitor, *, key: str, secret: str, back: str) -> bool:
    """Say whether a page with this key belongs to whoever is here: it made their account, or was sent as theirs before."""

    def look(connection: Connection) -> bool:
        owner = _page_of(service, connection, key, secret) or sent_before(service, connection, key, back, by_mail=True)
        return owner is not None and owner.id == visitor.account

    return service.read(look)


def _page_of(service: Service, connection: Connection, key: str, secret: str) -> Row[Any] | None:
    return owner_of(connection, key) or sent_before(service, connection, key, secret)


def sender_of(service: Service, secret: str, key: str, visitor: Visitor | None) -> Visitor | None:
    """Find whose answers a page stands for that asks to take them back: of whoever is here, or sent it before without a cookie.

    Raise Refused where its link is somebody else's: nothing of theirs is said to be taken back.
    """

    def look(connection: Connection) -> Visitor | None:
        sender = _here(visitor)
        if sender is None and (owner := _page_of(service, connection, key, secret)) is not None:
            sender = Visitor(owner.id, owner.kind, None, session="", csrf="")
        invitation = _invitation(connection, secret) if secret else None
        if invitation is not None and invitation.used_at is None:
            _expect_own(connection, invitation, sender)
        elif invitation is not None and (sender is None or sender.account != invitation.account):
            raise Refused(_USED)
        return sender

    return service.read(look)


def _sent_by_open_link(service: Service, connection: Connection, secret: str, visitor: Visitor | None) -> bool | None:
    """Say whether someone sent by an open link before; None where this is no such link."""
    row = open_links.led_to(service, connection, secret)
    return None if row is None else open_links.has_place(connection, row, visitor)


def _invitation(connection: Connection, secret: str, *, held: bool = False) -> Row[Any] | None:
    query = select(invitations).where(invitations.c.secret == hashed(secret), invitations.c.kind == "person")
    return connection.execute(query.with_for_update() if held else query).first()


def send(service: Service, sent: Sent, visitor: Visitor | None) -> Entered:
    """Let someone in and register them, or neither."""
    if not KEY.fullmatch(sent.key):
        raise BadInput("this page is out of date; open your link again")

    def work(connection: Connection) -> Entered:
        invitation = _invitation(connection, sent.secret, held=True) if sent.secret else None
        led = open_links.led_to(service, connection, sent.secret)
        if sent.secret and invitation is None and led is None:
            raise NotFound
        name = invitation.campaign if invitation is not None else led.id if led is not None else sent.campaign
        entered = replace(_who(service, connection, sent, invitation, _here(visitor)), campaign=name)
        if led is not None:
            open_links.take_place(service, connection, led, entered.ticket.visitor.account)
        register_in(service, connection, entered.ticket.visitor, name, sent.chosen)
        return entered

    return service.change(work)


def _here(visitor: Visitor | None) -> Visitor | None:
    return visitor if visitor is not None and visitor.kind == "person" else None


def _who(
    service: Service, connection: Connection, sent: Sent, invitation: Row[Any] | None, here: Visitor | None
) -> Entered:
    """Find whose answers these are: of whoever is here, of the account they came back to, or of a new one."""
    name = invitation.campaign if invitation is not None else sent.campaign
    owner = _shown(service, connection, sent)
    known = None if here or owner else _known(service, connection, sent, invitation)
    mine = here.account if here else next((each.id for each in (owner, known) if each is not None), None)
    if invitation is not None and invitation.used_at is not None and (mine is None or invitation.account != mine):
        raise Refused(_USED)
    if invitation is not None and invitation.used_at is None:
        _expect_own(connection, invitation, here)
    if here is not None:
        made_here = owner is not None and owner.id == here.account and not sent.back
        entered = Entered(sessions.Ticket(None, here), sent.key if made_here else None, name)
    elif known is not None:
        remember(service, connection, sent.key, sent.secret, known.id)
        entered = Entered(sessions.start(service, connection, known, only=name), None, name)
    elif owner is not None:
        entered = Entered(sessions.start(service, connection, owner), None if sent.back else sent.key, name)
    else:
        if invitation is None:
            expect_turn(service, connection, sent.address)
        account = create_person(service, connection, sent.key)
        entered = Entered(sessions.start(service, connection, account), sent.key, name)
    if invitation is not None and invitation.used_at is None:
        use(service, connection, sent.secret, entered.ticket.visitor.account)
    return entered


def _shown(service: Service, connection: Connection, sent: Sent) -> Row[Any] | None:
    """Find whose account someone showed that they have: by a recovery link, or by the page that made it."""
    if not sent.back:
        return owner_of(connection, sent.key)
    owner = owner_of(connection, sent.back) or sent_before(service, connection, sent.key, sent.back, by_mail=True)
    if owner is None and (owner := redeemed(service, connection, sent.back)) is not None:
        remember(service, connection, sent.key, sent.back, owner.id, by_mail=True)
    if owner is None:
        raise Refused("this recovery link is not known here; check that it is whole. Your answers were not sent yet")
    return owner


def _known(service: Service, connection: Connection, sent: Sent, invitation: Row[Any] | None) -> Row[Any] | None:
    """Find whom an invitation's id led to; one that was used leads only those there who sent it from this very page."""
    if invitation is None:
        return None
    if invitation.used_at is not None:
        return sent_before(service, connection, sent.key, sent.secret)
    return account_of(connection, sent.secret)
