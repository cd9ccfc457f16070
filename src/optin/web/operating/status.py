"""How a service stands, for whoever runs it: counts and ages, never a person, a limit or an answer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, func, select, text

from optin.database.connection import read
from optin.ledger import Ledger, Log
from optin.web.operating.backups import BACKED_UP
from optin.web.operating.copies import head_of, kind_of
from optin.web.operating.keys_here import KeysHere, keys_here
from optin.web.schema import accounts, campaigns, events, jobs, mails
from optin.web.service.lookups import count
from optin.web.settings import WebSettings
from optin.wording.groups import tens_in_words
from optin.wording.language import N_, _, localised, ngettext, written_day
from optin.wording.numbers import short

_DAY = 86400.0
_POSTGRESQL_BYTES = """SELECT sum(pg_total_relation_size(quote_ident(tablename)::regclass)) FROM pg_tables
    WHERE schemaname = current_schema()"""
OLD_BACKUP = 2 * _DAY
"""A backup older than this is said to be."""


STATES = (N_("registration"), N_("planning"), N_("answers"), N_("released"))
"""States whose names pages say otherwise; the others are called what they are there too."""


@dataclass(frozen=True)
class Status:
    """What is there, what waits, and what is to be done."""

    database: str
    bytes: int
    acts: int
    people: int
    analysts: tuple[str, ...]
    campaigns: dict[str, int]
    jobs_waiting: int
    jobs_failed: int
    mails_waiting: int
    backed_up_at: float | None
    checkpoints: int
    keys: KeysHere

    def rows(self, now: float) -> list[tuple[str, str]]:
        """Say it in lines."""
        states = ", ".join(f"{number} {_(state)}" for state, number in sorted(self.campaigns.items()))
        backup = (
            _("never")
            if self.backed_up_at is None
            else _("{when}, {age} ago", when=_when(self.backed_up_at), age=age(now - self.backed_up_at))
        )
        return [
            (_("database"), f"{self.database}, {short(self.bytes / 1e6)} MB"),
            (_("acts in the ledger"), localised(f"{self.acts:,}")),
            (_("people with an account"), tens_in_words(self.people)),
            (_("analysts"), ", ".join(self.analysts) or _("none")),
            (_("campaigns"), states or _("none")),
            (_("jobs"), _("{waiting} waiting, {failed} failed", waiting=self.jobs_waiting, failed=self.jobs_failed)),
            (_("mails waiting"), localised(f"{self.mails_waiting:,}")),
            (_("last backup"), backup),
            (_("signed checkpoints"), localised(f"{self.checkpoints:,}")),
            (_("keys"), _("as they should be") if not self._about_keys() else _("not all here")),
        ]

    def advice(self, now: float) -> list[str]:
        """Say what whoever runs it should do."""
        late = self.backed_up_at is None or now - self.backed_up_at > OLD_BACKUP
        backup = [_("there is no backup younger than two days: optin web backup FOLDER")] if late and self.acts else []
        failed = [_("jobs failed: the analyst's page of the campaign says why")] if self.jobs_failed else []
        return [*self._about_keys(), *backup, *failed]

    def _about_keys(self) -> list[str]:
        said = []
        if not self.keys.wrapping:
            said.append(
                _("the key that wraps the others is not here: set OPTIN_WEB_KEY, or bring environment.key back")
            )
        if self.keys.wrapping and self.keys.unreadable_rounds:
            said.append(
                ngettext(
                    "{number} running round has answers that no key here opens",
                    "{number} running rounds have answers that no key here opens",
                    self.keys.unreadable_rounds,
                )
            )
        if not self.keys.signs_log:
            said.append(
                _(
                    "the key that signs the log is not here: put your copy of log.key into the folder of keys; where there is "
                    "none, see docs/how-to/log-keys.md"
                )
            )
        return said


def age(seconds: float) -> str:
    """Say how long ago, in one unit.

    >>> age(30), age(4000), age(3 * 86400)
    ('less than an hour', '1 hour', '3 days')
    """
    if seconds < 3600:
        return _("less than an hour")
    if seconds >= _DAY:
        return ngettext("{number} day", "{number} days", int(seconds // _DAY))
    return ngettext("{number} hour", "{number} hours", int(seconds // 3600))


def _when(at: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return f"{written_day(moment)}, {moment:%H:%M} UTC"


def status_of(settings: WebSettings, ledger: Ledger) -> Status:
    """Look at a service, whether it is serving or not."""
    keys, checkpoints = keys_here(settings, ledger), len(Log(ledger).checkpoints())

    def look(connection: Connection) -> Status:
        names = select(accounts.c.name).where(accounts.c.kind == "analyst", accounts.c.left_at.is_(None))
        states = select(campaigns.c.state, func.count()).group_by(campaigns.c.state)
        backed_up = select(func.max(events.c.at)).where(events.c.kind == BACKED_UP)
        return Status(
            database=kind_of(settings),
            bytes=_bytes(settings, connection),
            acts=head_of(connection).acts,
            people=count(connection, accounts, accounts.c.kind == "person"),
            analysts=tuple(connection.scalars(names.order_by(accounts.c.name))),
            campaigns={row[0]: row[1] for row in connection.execute(states)},
            jobs_waiting=count(connection, jobs, jobs.c.state.in_(("queued", "running"))),
            jobs_failed=count(connection, jobs, jobs.c.state == "failed"),
            mails_waiting=count(connection, mails, mails.c.state == "waiting"),
            backed_up_at=connection.scalar(backed_up),
            checkpoints=checkpoints,
            keys=keys,
        )

    return read(ledger.engine, look)


def _bytes(settings: WebSettings, connection: Connection) -> int:
    if settings.sqlite_path is not None:
        beside = (settings.sqlite_path, settings.sqlite_path.with_name(settings.sqlite_path.name + "-wal"))
        return sum(os.path.getsize(path) for path in beside if path.exists())
    return int(connection.scalar(text(_POSTGRESQL_BYTES)) or 0)
