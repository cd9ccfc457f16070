"""Lists of people to invite: kept, so that a reload makes no second link, and silent about who came.

An address is stored only under a key of its campaign's, which is destroyed with it. A link is not stored at all: it is worked
out from the service's key and the entry, so that the list can show it again, and a copy of the database holds none. Nothing
here says whether a link was used: a list that did would say who answered.
"""

from __future__ import annotations

import contextlib
import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from optin.errors import BadInput, LedgerUnavailable, PromiseBroken
from optin.web.schema import invitations, invitees
from optin.web.service.campaigns import BEFORE_REGISTRATION_CLOSES, expect_grouped
from optin.web.service.core import Service, hashed, log_event, new_id
from optin.web.service.failures import NotFound
from optin.web.service.identities import OVER, note_ids
from optin.web.service.lookups import owned_row
from optin.web.service.pasted_lists import Entry
from optin.web.service.records import Visitor
from optin.web.transactions import hold
from optin.wording.groups import shown_group
from optin.wording.sentences import Sentence

MOST_AT_ONCE = 5000
_BETWEEN = 1e-6
"""Seconds between two entries of one list, which keep it in its order: their names are random."""


@dataclass(frozen=True)
class Invitee:
    """An entry of a list, with the link that is theirs."""

    name: str
    entry: Entry
    secret: str = field(repr=False)
    unsubscribed: bool = False


@dataclass(frozen=True)
class Added:
    """How many of a list were new, and how many stood in it before or twice."""

    new: int
    known: int


class Known:
    """Who stands in a list: by id, or else by address. One line with an id and one without are one person by their address."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._ids: dict[str, Entry] = {}
        self._addresses: dict[str, Entry] = {}
        self._bare: dict[str, Entry] = {}
        for entry in entries:
            self.add(entry)

    def earlier(self, entry: Entry) -> Entry | None:
        """Find the entry that is of the same person."""
        address = entry.address.casefold()
        if entry.id:
            return self._ids.get(entry.id) or self._bare.get(address)
        return self._addresses.get(address)

    def add(self, entry: Entry) -> bool:
        """Take someone in; say whether they are new."""
        here = self.earlier(entry) is not None
        if entry.id:
            self._ids.setdefault(entry.id, entry)
        if entry.address:
            self._addresses.setdefault(entry.address.casefold(), entry)
        if entry.address and not entry.id:
            self._bare.setdefault(entry.address.casefold(), entry)
        return not here


def _expect_one_group(entries: Sequence[Entry]) -> None:
    """Refuse a list that puts one person into two groups: whichever were taken, the other line would be dropped unsaid."""
    known = Known(())
    for entry in entries:
        before = known.earlier(entry)
        if before is not None and before.group != entry.group:
            one, other = (shown_group(each.group) if each.group else Sentence("none") for each in (before, entry))
            raise BadInput(
                "lines {first} and {second} are of one person, in two groups: {one} and {other}. Leave one of them in the list",
                first=before.line,
                second=entry.line,
                one=one,
                other=other,
            )
        known.add(entry)


def add(service: Service, analyst: Visitor, campaign: str, entries: Sequence[Entry]) -> Added:
    """Keep entries, each with an invitation; whoever stands in the list already is left as they are, but for a draft's groups."""
    if not 1 <= len(entries) <= MOST_AT_ONCE:
        raise BadInput("give 1 to {most:,} people at a time", most=MOST_AT_ONCE)
    _expect_one_group(entries)

    def work(connection: Connection) -> Added:
        owned_row(connection, analyst, campaign)
        hold(connection, campaign)
        row = owned_row(connection, analyst, campaign)
        if row.state not in BEFORE_REGISTRATION_CLOSES:
            raise PromiseBroken("registration is closed: an invitation would lead nowhere")
        before = connection.execute(select(invitees).where(invitees.c.campaign == campaign)).all()
        stood = [opened(service, each) for each in before]
        if row.state == "draft":
            stood = _moved(service, connection, row, stood, entries)
        known, marks = Known(each.entry for each in stood), {each.mark for each in before}
        fresh = [entry for entry in entries if known.add(entry) and _mark(service, row, entry) not in marks]
        if fresh:
            _keep(service, connection, row, fresh)
        return Added(len(fresh), len(entries) - len(fresh))

    return service.change(work)


def _moved(
    service: Service, connection: Connection, row: Row[Any], stood: Sequence[Invitee], entries: Sequence[Entry]
) -> list[Invitee]:
    """Put people of a draft's list into the groups they are given now: their links lead nowhere yet, and nobody came by one."""
    given = Known(entries)
    now = [replace(each, entry=_in_group_of(each.entry, given.earlier(each.entry))) for each in stood]
    if len({each.entry.group is None for each in now}) > 1:
        raise BadInput(
            "everyone who is invited is in a group, or nobody is: give the groups of all who stand in the list, or of none"
        )
    moved = [each for before, each in zip(stood, now, strict=True) if before.entry.group != each.entry.group]
    for each in moved:
        group = {"group_name": each.entry.group}
        connection.execute(update(invitees).where(invitees.c.id == each.name).values(**group))
        connection.execute(update(invitations).where(invitations.c.secret == hashed(each.secret)).values(**group))
    if moved:
        expect_grouped(connection, row, moved[0].entry.group)
    return now


def _in_group_of(entry: Entry, given: Entry | None) -> Entry:
    return entry if given is None or given.group is None else replace(entry, group=given.group)


def _mark(service: Service, row: Row[Any], entry: Entry) -> str:
    return service.keys.digest("invitee", f"{row.id}:{entry.known_by}")


def _keep(service: Service, connection: Connection, row: Row[Any], fresh: Sequence[Entry]) -> None:
    now = service.clock()
    named = [(new_id(), entry) for entry in fresh]
    if len({entry.group is None for entry in fresh}) > 1:
        raise BadInput("everyone who is invited is in a group, or nobody is: some lines have one, and some have none")
    expect_grouped(connection, row, fresh[0].group)
    rows = [
        {
            "id": name,
            "campaign": row.id,
            "mark": _mark(service, row, entry),
            "sealed": service.keys.hidden(
                json.dumps([entry.address, entry.id]), campaign=row.id, bound=f"invitee:{name}"
            ),
            "group_name": entry.group,
            "created_at": now + at * _BETWEEN,
        }
        for at, (name, entry) in enumerate(named)
    ]
    made = [
        {
            "secret": hashed(secret_of(service, name)),
            "kind": "person",
            "campaign": row.id,
            "created_at": now,
            "group_name": entry.group,
        }
        for name, entry in named
    ]
    connection.execute(insert(invitees), rows)
    connection.execute(insert(invitations), made)
    note_ids(
        service,
        connection,
        row,
        [entry.known_by for _, entry in named],
        [secret_of(service, name) for name, _ in named],
    )
    words = Sentence("{people} people were added to the list of invitations", people=len(fresh))
    log_event(connection, now, "invited", words, campaign=row.id, round=row.round)


def secret_of(service: Service, name: str) -> str:
    """Work out the secret of an entry's link; it is stored nowhere."""
    return service.keys.digest("invitation link", name)


def listed(service: Service, analyst: Visitor, campaign: str) -> list[Invitee]:
    """List who is to be invited, in the order in which they were added; with the campaign the list ends."""

    def look(connection: Connection) -> list[Row[Any]]:
        if owned_row(connection, analyst, campaign).state in OVER:
            return []
        query = select(invitees).where(invitees.c.campaign == campaign)
        return list(connection.execute(query.order_by(invitees.c.created_at, invitees.c.id)).all())

    return [opened(service, row) for row in service.read(look)]


def opened(service: Service, row: Row[Any]) -> Invitee:
    """Read an entry as it was given; one whose key is gone, with its campaign or with a disk, says nothing any more."""
    address = name = ""
    with contextlib.suppress(LedgerUnavailable):
        address, name = json.loads(service.keys.shown(row.sealed, campaign=row.campaign, bound=f"invitee:{row.id}"))
    entry = Entry(address, name, row.group_name)
    return Invitee(row.id, entry, secret_of(service, row.id), unsubscribed=row.unsubscribed_at is not None)


def stop_token(service: Service, name: str) -> str:
    """Write the last part of the address by which someone asks for no more mail."""
    return f"{name}{service.keys.digest('no more mail', name)[:32]}"


def expect_stop(service: Service, token: str) -> str:
    """Find whose mail a token stops, by their entry; one that we did not write leads nowhere."""
    name = token[:32]
    if not (token.isascii() and hmac.compare_digest(token, stop_token(service, name))):
        raise NotFound
    return name


def unsubscribe(service: Service, token: str) -> None:
    """Write no more mail to someone, of this campaign."""
    name = expect_stop(service, token)

    def work(connection: Connection) -> None:
        query = update(invitees).where(invitees.c.id == name, invitees.c.unsubscribed_at.is_(None))
        connection.execute(query.values(unsubscribed_at=service.clock()))

    service.change(work)
