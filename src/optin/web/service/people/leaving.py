"""What people take along, and how they leave."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, select, update

from optin.campaign.history import Holding, holdings
from optin.kernel.rounding import epsilon_of
from optin.web.schema import accounts, answers, invitations, registrations, sessions
from optin.web.service.core import Service
from optin.web.service.identities import has_mark, untie
from optin.web.service.ladder import rung_of
from optin.web.service.people.doing import give_up
from optin.web.service.people.looking import campaigns_of, me, receipt
from optin.web.service.records import MyCampaign, Visitor, told
from optin.web.service.recovering import forget_in, has_address
from optin.web.service.sessions import end_all

_TOTALS = ("account", "allowance", "promised", "spent", "remaining")


def export(service: Service, person: Visitor) -> dict[str, Any]:
    """Give a person everything kept about them, of all rounds; a value is kept only sealed and can only be replaced."""
    mine = me(service, person)
    record: dict[str, Any] = {name: getattr(mine, name) for name in _TOTALS}
    stored = service.read(lambda connection: _stored(connection, person.account))
    shown = [_exported(service, person, one) for one in mine.campaigns]
    return {**record, **stored, "campaigns": shown}


def _stored(connection: Connection, person: str) -> dict[str, Any]:
    """Read what hangs on the account itself; of cookies and keys there are only hashes, which are of no use to anyone."""
    since = connection.scalar(select(accounts.c.created_at).where(accounts.c.id == person))
    visits = connection.execute(select(sessions).where(sessions.c.account == person).order_by(sessions.c.created_at))
    taken = select(invitations).where(invitations.c.account == person).order_by(invitations.c.used_at)
    return {
        "since": _when(since),
        "address": "under a keyed hash" if has_address(connection, person) else None,
        "sessions": [{"since": _when(row.created_at), "until": _when(row.expires_at)} for row in visits],
        "invitations": [
            {"campaign": row.campaign, "at": _when(row.used_at), "by_id": has_mark(connection, row.secret)}
            for row in connection.execute(taken).all()
        ],
    }


def _exported(service: Service, person: Visitor, one: MyCampaign) -> dict[str, Any]:
    record: dict[str, Any] = {"id": one.id, "title": one.draft.title, "state": one.state, "round": one.round}
    record |= {"stated": _stated(one, one.stated), "answer": one.answer, "deal": told(one.deal)}
    record["rounds"] = service.read(lambda connection: _rounds(connection, person.account, one))
    if one.spent is not None:
        record["receipt"] = json.loads(receipt(service, person, one.id).to_json())
    return record


def _rounds(connection: Connection, person: str, one: MyCampaign) -> list[dict[str, Any]]:
    """List what was stated, promised and answered, round by round; the answers of rounds that are over are gone."""
    rounds: dict[int, dict[str, Any]] = {}
    for table in (registrations, answers):
        rows = connection.execute(select(table).where(table.c.campaign == one.id, table.c.person == person))
        for row in rows:
            rounds.setdefault(row.round, {"round": row.round}).update(_line(one, table, row))
    for held in holdings(connection, person):
        if held.campaign == one.id:
            rounds.setdefault(held.round, {"round": held.round})["promise"] = _promise(held)
    return [rounds[number] for number in sorted(rounds)]


def _line(one: MyCampaign, table: Table, row: Row[Any]) -> dict[str, Any]:
    if table is registrations:
        group = {} if row.group_name is None else {"group": row.group_name}
        return {"stated": _stated(one, row.step), "stated_at": _when(row.at), **group}
    answer = "joined" if row.joined else "declined"
    return {"answer": answer, "answered_at": _when(row.at), "value": "sealed" if row.value else None}


def _promise(held: Holding) -> dict[str, Any]:
    epsilons = {"promised": epsilon_of(held.promised), "spent": epsilon_of(held.spent)}
    return {"at": held.at, **epsilons, "given_back": held.returned}


def _stated(one: MyCampaign, rung: int | None) -> dict[str, Any] | None:
    return None if rung is None else asdict(rung_of(one.draft.model, rung))


def _when(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def leave(service: Service, person: Visitor) -> None:
    """Close an account: open registrations go, open answers become no, sessions, the key and the invitations' ties end.

    What was stated, promised and spent stays under a random id. The analyst who sent an invitation knows to whom: that
    it led to this id is forgotten, so that the id is nobody's.
    """
    names = [row.id for row in service.read(lambda connection: campaigns_of(connection, person.account))]
    for name in names:
        give_up(service, person, name)

    def work(connection: Connection) -> None:
        end_all(connection, person.account)
        untie(connection, person.account)
        forget_in(connection, person.account)
        gone = {"key": None, "left_at": service.clock()}
        connection.execute(update(accounts).where(accounts.c.id == person.account).values(gone))
        connection.execute(update(invitations).where(invitations.c.account == person.account).values(account=None))

    service.change(work)
