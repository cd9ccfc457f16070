"""Mails to a list: put in a queue once, tried again while a server is away, and shown where they came back.

Reminders go to everyone on the list who has not asked for silence: a mail that went only to those who have not answered would
say who has.
"""

from __future__ import annotations

import logging
import smtplib
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, Row, func, insert, select, update

from optin.errors import PromiseBroken
from optin.web.languages import language
from optin.web.schema import campaigns, invitees, mails
from optin.web.service.asking import words_said
from optin.web.service.core import Service, hashed, log_event
from optin.web.service.drafts import Draft
from optin.web.service.identities import OVER
from optin.web.service.lists import opened, stop_token
from optin.web.service.lookups import owned_row
from optin.web.service.mailer import SECONDS_AT_A_TIME, Mailer
from optin.web.service.records import Visitor
from optin.web.transactions import hold
from optin.wording.language import N_, Day, _, speaking
from optin.wording.sentences import Sentence
from optin.wording.stored_sentences import stored, stored_sentence

PAUSES = (60.0, 300.0, 1800.0, 7200.0, 21600.0)
"""How long to wait after each try that failed for now, in seconds; then it is given up."""
_AT_A_TIME = 50
LOG = logging.getLogger("optin.web")


@dataclass(frozen=True)
class Sending:
    """How many mails of one kind wait, went out, came back or are given up; whose came back, and why; and why others wait."""

    number: int
    waiting: int
    sent: int
    back: tuple[tuple[str, str], ...]
    why_waiting: tuple[str, ...] = ()


def queue(service: Service, analyst: Visitor, campaign: str, number: int) -> int:
    """Put a mail to everyone on the list in the queue: 0 is the invitation, then reminders; idempotent by its number.

    Asked for again, the invitation goes to those alone who were added since and to whom nothing was written yet.
    """
    if service.mail is None:
        raise PromiseBroken("no server for mail is set: copy the text and send it yourself")

    def work(connection: Connection) -> int:
        owned_row(connection, analyst, campaign)
        hold(connection, campaign)
        row = owned_row(connection, analyst, campaign)
        if row.state != "registration":
            raise PromiseBroken("mail goes out while registration is open: links lead nowhere before and after")
        before = _numbers(connection, campaign)
        if number > (max(before) + 1 if before else 0):
            raise PromiseBroken("this page is out of date; reload it")
        return _queue(service, connection, row, number)

    new = service.change(work)
    service.bell.set()
    return new


def _numbers(connection: Connection, campaign: str) -> set[int]:
    return set(connection.scalars(select(mails.c.number).where(mails.c.campaign == campaign).distinct()))


def _queue(service: Service, connection: Connection, row: Row[Any], number: int) -> int:
    now = service.clock()
    whom = _unwritten(connection, row.id) if number == 0 else _wanted(connection, row.id)
    known = set(connection.scalars(select(mails.c.id).where(mails.c.campaign == row.id)))
    rows = [
        {
            "id": name,
            "campaign": row.id,
            "invitee": each.id,
            "number": number,
            "state": "waiting",
            "tries": 0,
            "next_at": now,
        }
        for each in whom
        if (name := hashed(f"mail:{each.id}:{number}")) not in known and opened(service, each).entry.address
    ]
    if rows:
        connection.execute(insert(mails), rows)
        words = (
            Sentence("an invitation to everyone on the list was put in the queue")
            if number == 0
            else Sentence("reminder {number} to everyone on the list was put in the queue", number=number)
        )
        log_event(connection, now, "mail", words, campaign=row.id, round=row.round)
    return len(rows)


def _wanted(connection: Connection, campaign: str) -> list[Row[Any]]:
    """List whoever has not asked for silence."""
    query = select(invitees).where(invitees.c.campaign == campaign, invitees.c.unsubscribed_at.is_(None))
    return list(connection.execute(query).all())


def _unwritten(connection: Connection, campaign: str) -> list[Row[Any]]:
    """List those of them to whom no mail was ever put in the queue."""
    query = select(mails.c.invitee).where(mails.c.campaign == campaign)
    written = set(connection.scalars(query))
    return [each for each in _wanted(connection, campaign) if each.id not in written]


def unwritten(service: Service, analyst: Visitor, campaign: str) -> int:
    """Count the addresses on a list to which nothing was written yet."""

    def look(connection: Connection) -> list[Row[Any]]:
        owned_row(connection, analyst, campaign)
        return _unwritten(connection, campaign)

    return sum(bool(opened(service, each).entry.address) for each in service.read(look))


def sendings(service: Service, analyst: Visitor, campaign: str) -> list[Sending]:
    """Say how the mails of a campaign went, until it is over."""

    def look(connection: Connection) -> list[Sending]:
        if owned_row(connection, analyst, campaign).state in OVER:
            return []
        rows = connection.execute(select(mails).where(mails.c.campaign == campaign)).all()
        entries = {row.id: row for row in connection.execute(select(invitees).where(invitees.c.campaign == campaign))}
        return [_sending(service, number, rows, entries) for number in sorted({row.number for row in rows})]

    return service.read(look)


def _sending(service: Service, number: int, rows: Any, entries: dict[str, Row[Any]]) -> Sending:  # noqa: ANN401
    own = [row for row in rows if row.number == number]
    back = tuple(
        (opened(service, entries[row.invitee]).entry.address, stored_sentence(row.reason or "", row.told))
        for row in own
        if row.state == "back"
    )
    waiting, sent = (sum(row.state == state for row in own) for state in ("waiting", "sent"))
    why = {row.reason: stored_sentence(row.reason, row.told) for row in own if row.state == "waiting" and row.reason}
    return Sending(number, waiting, sent, back, tuple(why.values()))


def send_mails(service: Service) -> int:
    """Send what is due, for a while; say how many went out."""
    if service.mail is None:
        return 0
    waiting = deque(service.read(lambda connection: _due(service, connection)))
    until, sent = time.monotonic() + SECONDS_AT_A_TIME, 0
    while waiting and time.monotonic() < until:
        sent += _send_over_one(service, service.mail, waiting, until)
    return sent


def _send_over_one(service: Service, mailer: Mailer, waiting: deque[Row[Any]], until: float) -> int:
    """Send over one connection; if it breaks, the mail that was on its way waits and no other, if there is none, all do."""
    sent, under_way = 0, list[Row[Any]]()
    try:
        with mailer.connected() as server:
            while waiting:
                under_way = [waiting.popleft()]
                sent += _send(service, mailer, server, under_way[0])
                if time.monotonic() > until:
                    break
    except (OSError, smtplib.SMTPException) as error:
        LOG.warning("mail waits", extra={"reason": type(error).__name__})
        for row in under_way or waiting:
            _later(service, row, N_("the server for mail cannot be reached"))
        if not under_way:
            waiting.clear()
    return sent


def _due(service: Service, connection: Connection) -> list[Row[Any]]:
    waiting = (mails.c.state == "waiting", mails.c.next_at <= service.clock())
    query = select(mails).where(*waiting).order_by(mails.c.next_at, mails.c.id).limit(_AT_A_TIME)
    return list(connection.execute(query).all())


def _send(service: Service, mailer: Mailer, server: smtplib.SMTP, row: Row[Any]) -> int:
    """Send one; a server that says no for good sends it back, one that says later is asked later."""
    whom = service.read(lambda connection: _whom(connection, row))
    invitee = None if whom is None else opened(service, whom[0])
    if whom is None or invitee is None or not invitee.entry.address:
        _mark(service, row, state="dropped")
        return 0
    draft = Draft.from_json(whom[1].draft)
    stop = f"{mailer.origin}/u/{stop_token(service, invitee.name)}"
    link = f"{mailer.origin}/i#{invitee.secret}"
    tongue = draft.language or mailer.language
    with speaking(language(tongue)):
        subject, body = mail_text(draft, link, stop, reminder=row.number > 0)
    address = invitee.entry.address
    try:
        message = mailer.message(address, subject, body, name=row.id, stop=stop, language=tongue)
        server.send_message(message, to_addrs=[address])
    except (ValueError, smtplib.SMTPNotSupportedError):  # letters that mail, or this server, has no way to write
        _mark(service, row, state="back", tries=row.tries + 1, reason=N_("the address cannot be written to"))
        return 0
    except smtplib.SMTPRecipientsRefused as refused:
        code = next(iter(refused.recipients.values()))[0]
        return _refused(service, row, code)
    except smtplib.SMTPSenderRefused as refused:
        _later(
            service,
            row,
            Sentence("the server for mail takes nothing from this service ({code})", code=refused.smtp_code),
        )
        return 0
    except smtplib.SMTPResponseException as refused:
        return _refused(service, row, refused.smtp_code)
    _mark(service, row, state="sent", tries=row.tries + 1, reason=None)
    return 1


def _whom(connection: Connection, row: Row[Any]) -> tuple[Row[Any], Row[Any]] | None:
    """Find to whom a mail goes and what is asked; None where they asked for silence, or registration is over."""
    someone = connection.execute(select(invitees).where(invitees.c.id == row.invitee)).first()
    asked = connection.execute(select(campaigns).where(campaigns.c.id == row.campaign)).first()
    if someone is None or asked is None or someone.unsubscribed_at is not None or asked.state != "registration":
        return None
    return someone, asked


def _refused(service: Service, row: Row[Any], code: int) -> int:
    if 500 <= code < 600:
        _mark(service, row, state="back", tries=row.tries + 1, reason=Sentence("refused for good ({code})", code=code))
    else:
        _later(service, row, Sentence("refused for now ({code})", code=code))
    return 0


def _later(service: Service, row: Row[Any], reason: str) -> None:
    if row.tries >= len(PAUSES):
        _mark(service, row, state="back", tries=row.tries + 1, reason=Sentence("given up: {reason}", reason=reason))
        return
    _mark(service, row, tries=row.tries + 1, next_at=service.clock() + PAUSES[row.tries], reason=reason)


def _mark(service: Service, row: Row[Any], **new: object) -> None:
    """Write down how it went; one that went out before a connection broke stays sent."""
    if "reason" in new:
        reason = cast("str | None", new["reason"])
        new |= {"reason": reason and str(reason), "told": stored(reason)}
    query = update(mails).where(mails.c.id == row.id, mails.c.state == "waiting").values(**new)
    service.change(lambda connection: connection.execute(query))


def next_number(service: Service, campaign: str) -> int:
    """Say which mail comes next: 0 is the invitation."""
    query = select(func.max(mails.c.number)).where(mails.c.campaign == campaign)
    last = service.read(lambda connection: connection.scalar(query))
    return 0 if last is None else int(last) + 1


def mail_text(
    draft: Draft, link: str, stop: str = "", *, reminder: bool = False, open_to_all: bool = False
) -> tuple[str, str]:
    """Write subject and text of a mail: who asks, why, a link, until when, and how to get no more; nothing of anyone's.

    Whoever sends it by other means has no address to ``stop`` it by, and says nothing of one.

    >>> subject, body = mail_text(Draft(title="Breaks", asked_by="The council", answer_by="2026-03-04"), "L", "S")
    >>> subject, "Open until 4 March 2026" in body, body.index("L") < body.index("S")
    ('Breaks', True, True)
    """
    title, purpose = words_said(draft)
    asks = _("{asked_by} asks you: {title}", asked_by=draft.asked_by, title=title) if draft.asked_by else title
    whose = _("A link for everyone") if open_to_all else _("Your own link, for you alone")
    parts = [
        asks,
        purpose,
        f"{whose}:\n{link}",
        _(
            "Looking at it uses nothing up. Only averages and counts come out, with noise: you set how much they may say about "
            "you."
        ),
        _("Open until {day} (end of the day, UTC).", day=Day.of(draft.answer_by)) if draft.answer_by else "",
        _("This reminder goes to everyone who was invited: nobody sees who has answered.") if reminder else "",
        _("No more mail about this: {stop}", stop=stop) if stop else "",
    ]
    return _("Reminder: {title}", title=title) if reminder else title, "\n\n".join(filter(None, parts)) + "\n"
