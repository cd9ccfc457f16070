"""The way back by mail: whoever left an address types it again, and a link that works once is sent there.

An address is kept only under a keyed hash, until every campaign of its owner is over. Asking for a link does the same work and
says the same words whether an address is known or not: one who works elsewhere finds out, and sends or forgets. A mail holds
no key: its link opens the account once, within an hour, and names nobody and no campaign.
"""

from __future__ import annotations

import logging
import smtplib
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from optin.errors import BadInput, LedgerUnavailable, PromiseBroken
from optin.web.languages import language, tags
from optin.web.schema import accounts, addresses, campaigns, invitations, links_asked, links_back, registrations
from optin.web.service.core import Service, hashed, new_id
from optin.web.service.delays import Patience, place_of, wait_your_turn
from optin.web.service.forgetting import erase
from optin.web.service.identities import OVER
from optin.web.service.mailer import Mailer, for_a_while, looks_like_address
from optin.web.service.records import Visitor
from optin.wording.language import N_, _, speaking, spoken_here

SECONDS = 3600.0
"""How long a link in a mail works."""
PAUSES = (60.0, 300.0, 900.0)
"""How long to wait after each try that failed for now, in seconds; then it is given up."""
_AT_A_TIME = 50
LOG = logging.getLogger("optin.web")


# --- an address to come back by ---------------------------------------------------------------------------------------


def remember(service: Service, person: Visitor, address: str) -> None:
    """Keep an address to come back by, under a keyed hash; the one before is forgotten."""
    if service.mail is None:
        raise PromiseBroken("no server for mail is set here: keep the recovery link as a file or as a picture")
    mark = _mark(service, _checked(address))

    def work(connection: Connection) -> None:
        forget_in(connection, person.account)
        connection.execute(insert(addresses).values(account=person.account, mark=mark))

    service.change(work)


def forget(service: Service, person: Visitor) -> None:
    """Forget someone's address, and what was sent to it."""
    service.change(lambda connection: forget_in(connection, person.account))


def forget_in(connection: Connection, account: str) -> None:
    """Forget an address in the caller's transaction; links that are on their way open nothing any more."""
    for table in (addresses, links_back):
        connection.execute(delete(table).where(table.c.account == account))


def has_address(connection: Connection, account: str) -> bool:
    """Say whether an address is kept for an account."""
    return connection.execute(select(addresses.c.mark).where(addresses.c.account == account)).first() is not None


def _checked(address: str) -> str:
    trimmed = address.strip()
    if len(trimmed) > 254 or not looks_like_address(trimmed):
        raise BadInput("this cannot be written to; type an address such as name@example.org")
    return trimmed


def _mark(service: Service, address: str) -> str:
    return service.keys.digest("address to come back by", address.casefold())


# --- asking for a link, and using it ----------------------------------------------------------------------------------


def ask(service: Service, address: str, *, place: str) -> None:
    """Leave word that someone wants a link at this address; whether it is known is not looked up here."""
    if service.mail is None:
        raise PromiseBroken("no server for mail is set here: open the recovery link you kept")
    checked = _checked(address)
    turns = [
        Patience(f"link asked from:{place_of(place)}", free=20, longest=10.0),
        Patience(f"link asked to:{_mark(service, checked)}", free=3, longest=600.0),
    ]
    name = new_id()
    row = {"id": name, "sealed": service.keys.hidden(_asked(checked), bound=f"link asked:{name}"), "tries": 0}

    def work(connection: Connection) -> None:
        wait_your_turn(service, connection, turns, words=N_("links were asked for several times"))
        connection.execute(insert(links_asked).values({**row, "next_at": service.clock()}))

    service.change(work)
    service.bell.set()


def _asked(address: str) -> str:
    """Write who asked and in which language they read: the mail speaks it too."""
    return f"{address} {spoken_here().tag}".strip()


def redeemed(service: Service, connection: Connection, secret: str) -> Row[Any] | None:
    """Find whose account a link of a mail opens, and end the link."""
    where = (links_back.c.secret == hashed(secret), links_back.c.until > service.clock())
    account = connection.scalar(select(links_back.c.account).where(*where).with_for_update())
    if account is None:
        return None
    connection.execute(delete(links_back).where(links_back.c.secret == hashed(secret)))
    return connection.execute(select(accounts).where(accounts.c.id == account, accounts.c.left_at.is_(None))).first()


# --- what is done unasked ---------------------------------------------------------------------------------------------


def send_links(service: Service) -> None:
    """Send a link to whoever asked at an address that is known; forget those who asked at another."""
    if service.mail is None:
        return
    due = select(links_asked).where(links_asked.c.next_at <= service.clock()).order_by(links_asked.c.next_at)
    for row in for_a_while(service.read(lambda connection: connection.execute(due.limit(_AT_A_TIME)).all())):
        _answer(service, service.mail, row)


def _answer(service: Service, mailer: Mailer, row: Row[Any]) -> None:
    address, _blank, tag = _typed(service, row).partition(" ")
    tongue = tag if tag in tags() else mailer.language
    secrets = service.change(lambda connection: _links(service, connection, row, address))
    if not secrets or _is_sent(mailer, address, row.id, secrets, tongue) or row.tries >= len(PAUSES):
        service.change(lambda connection: connection.execute(delete(links_asked).where(links_asked.c.id == row.id)))
        return
    later = {"tries": row.tries + 1, "next_at": service.clock() + PAUSES[row.tries]}
    query = update(links_asked).where(links_asked.c.id == row.id).values(later)
    service.change(lambda connection: connection.execute(query))


def _typed(service: Service, row: Row[Any]) -> str:
    """Read what was typed; nothing where the service's key is another than then: nobody waits behind what nobody can read."""
    try:
        return service.keys.shown(row.sealed, bound=f"link asked:{row.id}")
    except LedgerUnavailable:
        return ""


def _links(service: Service, connection: Connection, row: Row[Any], address: str) -> list[str]:
    """Make a link for each account an address leads to; tried again, they are the same."""
    query = select(addresses.c.account).where(addresses.c.mark == _mark(service, address))
    by_account = {name: service.keys.digest("link back", f"{row.id}:{name}") for name in connection.scalars(query)}
    links = [{"secret": hashed(secret), "account": name} for name, secret in by_account.items()]
    connection.execute(delete(links_back).where(links_back.c.secret.in_([each["secret"] for each in links])))
    if links:
        connection.execute(insert(links_back), [{**each, "until": service.clock() + SECONDS} for each in links])
    return list(by_account.values())


def _is_sent(mailer: Mailer, address: str, name: str, secrets: list[str], tongue: str) -> bool:
    """Send a mail; say whether there is nothing more to try: it went out, or is refused for good."""
    with speaking(language(tongue)):
        subject, body = _("Your link"), link_text([f"{mailer.origin}/back#{secret}" for secret in secrets])
    try:
        with mailer.connected() as server:
            server.send_message(mailer.message(address, subject, body, name=name, language=tongue), to_addrs=[address])
    except (ValueError, smtplib.SMTPNotSupportedError):
        return True  # letters that mail, or this server, has no way to write
    except smtplib.SMTPRecipientsRefused as refused:
        return all(500 <= code < 600 for code, _ in refused.recipients.values())
    except (OSError, smtplib.SMTPException) as error:
        LOG.warning("a link waits", extra={"reason": type(error).__name__})
        return False
    return True


def link_text(links: list[str]) -> str:
    """Write the mail: a link and how long it works, and nothing about anyone.

    >>> print(link_text(["https://example.org/back#…"]))
    You asked for a link to come back:
    <BLANKLINE>
    https://example.org/back#…
    <BLANKLINE>
    It works once, within an hour. If it was not you who asked, do nothing: nobody but you has it.
    <BLANKLINE>
    """
    asked, listed = _("You asked for a link to come back:"), "\n\n".join(links)
    if len(links) == 1:
        ends = _("It works once, within an hour. If it was not you who asked, do nothing: nobody but you has it.")
    else:
        ends = _(
            "Each opens one account. They work once, within an hour. If it was not you who asked, do nothing: nobody but you "
            "has it."
        )
    return f"{asked}\n\n{listed}\n\n{ends}\n"


def erase_addresses(service: Service) -> None:
    """Erase the addresses of those none of whose campaigns goes on, links whose hour is over, and what was typed in vain.

    A service that was started without its server for mail would else keep the last for good.
    """
    erase(service, links_asked, links_asked.c.next_at <= service.clock() - SECONDS)
    going_on = select(campaigns.c.id).where(campaigns.c.state.not_in(OVER))
    registered = select(registrations.c.person).where(registrations.c.campaign.in_(going_on))
    invited = select(invitations.c.account).where(
        invitations.c.campaign.in_(going_on), invitations.c.account.is_not(None)
    )
    over = (addresses.c.account.not_in(registered), addresses.c.account.not_in(invited))
    late = links_back.c.until <= service.clock()
    wanted = select(addresses.c.account).where(*over).union_all(select(links_back.c.account).where(late)).limit(1)
    if service.read(lambda connection: connection.execute(wanted).first()) is None:
        return

    def work(connection: Connection) -> None:
        gone = select(addresses.c.account).where(*over)
        connection.execute(delete(links_back).where(or_(late, links_back.c.account.in_(gone))))
        connection.execute(delete(addresses).where(*over))

    service.change(work)
