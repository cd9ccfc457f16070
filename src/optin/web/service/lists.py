"""Lists of people to invite: kept, so that a reload makes no second link, and silent about who came.

An address is stored only under a key of its campaign's, which is destroyed with it. A link is not stored at all: it is worked
out from the service's key and the entry, so that the list can show it again, and a copy of the database holds none. Nothing
here says whether a link was used: a list that did would say who answered.
"""

from __future__ import annotations

import contextlib
import csv
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from optin.errors import BadInput, LedgerUnavailable, PromiseBroken
from optin.web.schema import invitations, invitees
from optin.web.service.campaigns import (
    BEFORE_REGISTRATION_CLOSES,
    MOST_INVITATIONS,
    checked_group,
    expect_grouped,
)
from optin.web.service.core import Service, hashed, log_event, new_id
from optin.web.service.failures import NotFound
from optin.web.service.identities import MOST_LETTERS, OVER, note_ids
from optin.web.service.lookups import owned_row
from optin.web.service.mailer import looks_like_address
from optin.web.service.records import Visitor
from optin.web.transactions import hold
from optin.wording.groups import shown_group
from optin.wording.sentences import Sentence

_COLUMNS = {
    "address": "address adresse mail email e-mail email-address e-mail-address email-adresse e-mail-adresse mailadresse",
    "id": "id employee-id personnel-number kennung personalnummer personal-nr personal-nr.",
    "group": "group team ward department unit gruppe station abteilung bereich",
}
_NAMES = {name: column for column, names in _COLUMNS.items() for name in names.split()}
"""What headings are called, in English and in German."""
_AS_MAILED = re.compile(r"[^<>]*<\s*([^<>\s]+@[^<>\s]+)\s*>")


_BETWEEN = 1e-6
"""Seconds between two entries of one list, which keep it in its order: their names are random."""


@dataclass(frozen=True)
class Entry:
    """Someone to be invited: an address, an id, or both, and perhaps a public group."""

    address: str = field(default="", repr=False)
    id: str = field(default="", repr=False)
    group: str | None = None
    line: int = field(default=0, compare=False, repr=False)
    """In which line of a pasted list they stood; 0 where none was pasted."""

    @property
    def known_by(self) -> str:
        """By what they are told from others: their id or else their address, whose case says nothing."""
        return self.id or self.address.casefold()


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


def entries_in(text: str) -> list[Entry]:
    r"""Read a pasted list or CSV: an address or an id on each line, then a group; or columns named in the first line.

    Addresses beside each other, as programs for mail copy them, are so many people. A group is public: no address is one.

    >>> [each.known_by for each in entries_in("ada@example.org; ICU\nBea@example.org; ER")]
    ['ada@example.org', 'bea@example.org']
    >>> entries_in("id,email,ward\n7,ada@example.org,ICU")[0].group
    'ICU'
    >>> [each.known_by for each in entries_in("Ada Byron <ada@example.org>; bea@example.org")]
    ['ada@example.org', 'bea@example.org']
    """
    lines = [line for line in text.replace("\N{ZERO WIDTH NO-BREAK SPACE}", "").splitlines() if line.strip()]
    if lines and lines[0].casefold().startswith("sep="):  # how a spreadsheet is told its mark
        del lines[0]
    if not lines:
        return []
    mark = max(";\t,", key=lines[0].count)
    rows = _rows(lines, mark)
    names = [_NAMES.get("-".join(cell.casefold().replace("_", " ").split()), "") for cell in rows[0]]
    if any(names) and not any("@" in cell for cell in rows[0]):
        return [_named(dict(zip(names, row, strict=False)), at) for at, row in enumerate(rows[1:], 2)]
    _expect_no_headings(rows)
    return [entry for at, row in enumerate(rows, 1) for entry in _plain(row, at)]


def _expect_no_headings(rows: Sequence[Sequence[str]]) -> None:
    """Refuse headings that are called otherwise: taken for someone, they would be invited."""
    addressed = [any("@" in cell for cell in row) for row in rows]
    if len(rows) > 1 and len([cell for cell in rows[0] if cell]) > 1 and not addressed[0] and all(addressed[1:]):
        raise BadInput("line 1: no column of these is known; name the columns in the first line: address, id, group")


def _rows(lines: Sequence[str], mark: str) -> list[list[str]]:
    """Read lines as cells; what is said of one that is too long for that would be no words for an analyst."""
    with contextlib.suppress(csv.Error):
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]
    raise BadInput("this is no list: a line of it is far too long; give an address or an id on each line, then a group")


def _plain(row: Sequence[str], line: int) -> list[Entry]:
    """Read a line without headings: one address after another, or an address or an id and perhaps a group."""
    cells = [cell for cell in row if cell]
    if len(cells) > 1 and all("@" in cell for cell in cells):
        return [_named({"address": cell}, line) for cell in cells]
    if any(row[2:]):
        raise BadInput(
            "line {line} holds more than an address or id and a group: name the columns in the first line: address, id, group",
            line=line,
        )
    kind = "address" if "@" in row[0] else "id"
    return [_named({kind: row[0], "group": row[1] if len(row) > 1 else ""}, line)]


def _named(cells: dict[str, str], line: int) -> Entry:
    """Refuse a line that names nobody, by its number alone."""
    address, name, group = cells.get("address", ""), cells.get("id", ""), cells.get("group") or None
    mailed = _AS_MAILED.fullmatch(address)
    address = mailed[1] if mailed else address
    if group is not None and "@" in group:
        raise BadInput(
            "line {line}: a group is public, and no address: name the columns in the first line: address, id, group",
            line=line,
        )
    if not (address or name):
        raise BadInput("line {line} names nobody: give an address or an id", line=line)
    if address and not looks_like_address(address):
        raise BadInput("line {line}: the address cannot be written to", line=line)
    if name and not (name.isprintable() and len(name) <= MOST_LETTERS):
        raise BadInput("line {line}: an id is text of at most {most} characters", line=line, most=MOST_LETTERS)
    return Entry(address, name, checked_group(group), line)


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
    if not 1 <= len(entries) <= MOST_INVITATIONS:
        raise BadInput("give 1 to {most} people at a time", most=MOST_INVITATIONS)
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
