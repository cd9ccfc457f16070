"""What people do: choose a step of the ladder, see their deal, join or decline, look at what is theirs, leave."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, or_, select, text, update

from optin.announcement import Announcement, Deal, explain
from optin.errors import BadInput, PromiseBroken
from optin.receipts import Receipt, check
from optin.releasing import Release
from optin.store import UNLIMITED, allowance_grains, epsilons_of
from optin.store.changing import hold
from optin.store.holdings import Holding, holdings
from optin.store.web_schema import accounts, answers, campaigns, invitations, registrations
from optin.web.service import sessions
from optin.web.service.core import Service
from optin.web.service.failures import NotFound
from optin.web.service.ladder import step_of
from optin.web.service.records import PRIVACY_CONSTRAINED, Draft, Me, MyCampaign, Visitor
from optin.web.service.rows import campaign_row

__all__ = [
    "campaign",
    "checked",
    "decline",
    "export",
    "join",
    "leave",
    "me",
    "open_campaigns",
    "raise_allowance",
    "receipt",
    "register",
    "withdraw",
]

_REGISTER = """INSERT INTO web_registrations (campaign, round, person, step, at)
    VALUES (:campaign, :round, :person, :step, :at)
    ON CONFLICT (campaign, round, person) DO UPDATE SET step = excluded.step, at = excluded.at"""
_ANSWER = """INSERT INTO web_answers (campaign, round, person, joined, value, at)
    VALUES (:campaign, :round, :person, :joined, :value, :at)
    ON CONFLICT (campaign, round, person)
    DO UPDATE SET joined = excluded.joined, value = excluded.value, at = excluded.at"""


# --- looking ----------------------------------------------------------------------------------------------------------


def me(service: Service, person: Visitor) -> Me:
    """Show a person what they promised and spent over all campaigns, and each of these campaigns."""

    def look(connection: Connection) -> Me:
        held = holdings(connection, person.account)
        allowance = connection.scalar(select(accounts.c.allowance).where(accounts.c.id == person.account))
        spent = sum(h.spent for h in held)
        promised = sum(h.promised for h in held if not h.returned and not h.spent)
        left = None if allowance is None or allowance >= UNLIMITED else max(allowance - spent - promised, 0)
        views = [_view(connection, row, person.account, held) for row in _rows_of(connection, person.account)]
        known = None if allowance is None or allowance >= UNLIMITED else allowance * 2.0**-32
        return Me(
            account=person.account,
            allowance=known,
            promised=promised * 2.0**-32,
            spent=spent * 2.0**-32,
            remaining=None if left is None else left * 2.0**-32,
            campaigns=tuple(views),
        )

    return service.read(look)


def open_campaigns(service: Service) -> list[MyCampaign]:
    """List the campaigns in which anyone may register."""
    query = select(campaigns).where(campaigns.c.public.is_(True), campaigns.c.state == "registration")
    rows = service.read(lambda connection: connection.execute(query.order_by(campaigns.c.created_at.desc())).all())
    return [_stranger_view(row) for row in rows]


def campaign(service: Service, person: Visitor, name: str) -> MyCampaign:
    """Show a person one campaign: what is asked, and what is theirs."""

    def look(connection: Connection) -> MyCampaign:
        row = _visible(connection, person, name)
        return _view(connection, row, person.account, holdings(connection, person.account))

    return service.read(look)


def receipt(service: Service, person: Visitor, name: str) -> Receipt:
    """Write a person's receipt of a release."""
    row = service.read(lambda connection: _visible(connection, person, name))
    if row.state != "released":
        raise PromiseBroken("there is no result yet; a receipt is of a release")
    try:
        return service.ledger.receipt(person.account, campaign=name, round=row.round)
    except BadInput:
        pass
    raise NotFound("this release was not announced to you: there is nothing to receipt")


def checked(service: Service, person: Visitor, name: str) -> tuple[str, ...]:
    """Check a receipt against the published files, as its owner can without us, and say what was proved."""
    row = service.read(lambda connection: _visible(connection, person, name))
    found = receipt(service, person, name)
    return check(found, Announcement.from_json(row.announcement), Release.from_json(row.release))


def _rows_of(connection: Connection, person: str) -> list[Row[Any]]:
    """List the campaigns a person was invited to or registered in, newest first; drafts are nobody's but the analyst's."""
    invited = select(invitations.c.campaign).where(invitations.c.account == person)
    registered = select(registrations.c.campaign).where(registrations.c.person == person)
    where = or_(campaigns.c.id.in_(invited), campaigns.c.id.in_(registered))
    query = select(campaigns).where(where, campaigns.c.state != "draft").order_by(campaigns.c.created_at.desc())
    return list(connection.execute(query).all())


def _visible(connection: Connection, person: Visitor, name: str) -> Row[Any]:
    """Find a campaign that this person may see: one they belong to, or one open to everyone."""
    row = campaign_row(connection, name)
    open_to_all = row.public and row.state == "registration"
    if row.state == "draft" or not (open_to_all or _belongs(connection, person.account, row)):
        raise NotFound
    return row


def _belongs(connection: Connection, person: str, row: Row[Any]) -> bool:
    invited = (invitations.c.account == person, invitations.c.campaign == row.id)
    registered = (registrations.c.person == person, registrations.c.campaign == row.id)
    queries = (select(invitations.c.secret).where(*invited), select(registrations.c.step).where(*registered))
    return any(connection.execute(query.limit(1)).first() is not None for query in queries)


def _stranger_view(row: Row[Any]) -> MyCampaign:
    empty: dict[str, Any] = dict.fromkeys(("stated", "deal", "answer", "announcement", "release", "spent"))
    return MyCampaign(id=row.id, draft=Draft.from_json(row.draft), state=row.state, round=row.round, **empty)


def _view(connection: Connection, row: Row[Any], person: str, held: list[Holding]) -> MyCampaign:
    mine = {"campaign": row.id, "round": row.round, "person": person}
    stated = connection.scalar(_where(select(registrations.c.step), registrations, mine))
    answered = connection.execute(_where(select(answers.c.joined), answers, mine)).first()
    draft = Draft.from_json(row.draft)
    offer = Announcement.from_json(row.announcement) if row.announcement else None
    holding = next((h for h in held if (h.campaign, h.round) == (row.id, row.round)), None)
    return MyCampaign(
        id=row.id,
        draft=draft,
        state=row.state,
        round=row.round,
        stated=stated,
        deal=_deal(draft, offer, stated, holding),
        answer=None if answered is None else "joined" if answered.joined else "declined",
        announcement=offer,
        release=Release.from_json(row.release) if row.release else None,
        spent=holding.spent * 2.0**-32 if holding and row.state == "released" else None,
    )


def _where(query: Any, table: Any, values: dict[str, Any]) -> Any:  # noqa: ANN401 - SQLAlchemy's own generics
    return query.where(*(table.c[name] == value for name, value in values.items()))


def _deal(draft: Draft, offer: Announcement | None, stated: int | None, holding: Holding | None) -> Deal | None:
    """Say what this person is promised; the ledger may have cut a limit to what remained of the allowance."""
    if offer is None or stated is None or holding is None:
        return None
    amount = step_of(draft.model, stated).amount
    if draft.model != PRIVACY_CONSTRAINED:
        return explain(offer, cost=amount)
    promised = float(epsilons_of(np.array([holding.promised]))[0])
    return explain(offer, limit=min(amount, promised) if holding.promised < _grains(offer, amount) else amount)


def _grains(offer: Announcement, limit: float) -> int:
    return explain(offer, limit=limit).grains


# --- doing ------------------------------------------------------------------------------------------------------------


def register(service: Service, person: Visitor, name: str, step: int, *, value: float | None = None) -> MyCampaign:
    """State a limit (or a cost); in a sealed campaign the value comes along. Said again, the last word counts."""

    def work(connection: Connection) -> None:
        row = _held_row(connection, person, name)
        draft = Draft.from_json(row.draft)
        chosen = step_of(draft.model, step)
        if row.state != "registration":
            raise PromiseBroken("registration is closed")
        if draft.sealed != (value is not None):
            words = "give your answer together with your limit" if draft.sealed else "answers are asked for later"
            raise BadInput(f"{words}, in this campaign")
        mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
        connection.execute(text(_REGISTER), {**mine, "step": chosen.index})
        if value is not None:
            _store_answer(service, connection, row, person, value)

    service.change(work)
    return campaign(service, person, name)


def join(service: Service, person: Visitor, name: str, value: float) -> MyCampaign:
    """Join with a value, or change it; the value leaves this function only as ciphertext."""

    def work(connection: Connection) -> None:
        row = _held_row(connection, person, name)
        _expect_answering(connection, row, person)
        _store_answer(service, connection, row, person, value)

    service.change(work)
    return campaign(service, person, name)


def decline(service: Service, person: Visitor, name: str) -> MyCampaign:
    """Decline, or take a yes back; the value given before is gone."""

    def work(connection: Connection) -> None:
        row = _held_row(connection, person, name)
        sealed = Draft.from_json(row.draft).sealed  # such answers may close without being opened
        _expect_answering(connection, row, person, states=("announced", "answers") if sealed else ("answers",))
        _store_no(service, connection, row, person)

    service.change(work)
    return campaign(service, person, name)


def withdraw(service: Service, person: Visitor, name: str) -> None:
    """Take a registration back while registration is open; afterwards decline.

    Analysts see cells once registration is closed: if people could vanish from them, each would show where they were.
    """
    service.change(lambda connection: _withdraw(service, connection, person, _held_row(connection, person, name)))


def _withdraw(service: Service, connection: Connection, person: Visitor, row: Row[Any]) -> None:
    if row.state in ("released", "cancelled"):
        return
    mine = {"campaign": row.id, "round": row.round, "person": person.account}
    if row.state == "registration":
        for table in (registrations, answers):
            connection.execute(_where(delete(table), table, mine))
    elif (
        row.state != "closed" and connection.execute(_where(select(registrations.c.step), registrations, mine)).first()
    ):
        _store_no(service, connection, row, person)


def _held_row(connection: Connection, person: Visitor, name: str) -> Row[Any]:
    """Find a campaign and keep it from taking a step until the transaction ends: joining and closing cannot cross."""
    _visible(connection, person, name)
    hold(connection, name, shared=True)
    return _visible(connection, person, name)


def _expect_answering(
    connection: Connection, row: Row[Any], person: Visitor, *, states: tuple[str, ...] = ("answers",)
) -> None:
    if row.state not in states:
        raise PromiseBroken(
            "answers are not open: they open after the announcement, and end when the analyst closes them"
        )
    mine = {"campaign": row.id, "round": row.round, "person": person.account}
    if connection.execute(_where(select(registrations.c.step), registrations, mine)).first() is None:
        raise PromiseBroken("you did not register for this round, so nothing was promised to you")


def _store_answer(service: Service, connection: Connection, row: Row[Any], person: Visitor, value: float) -> None:
    draft = Draft.from_json(row.draft)
    if not math.isfinite(value) or not draft.lower <= value <= draft.upper:
        raise BadInput(
            f"an answer must be a number from {draft.lower:g} to {draft.upper:g}; yours is not, please check it"
        )
    sealed = service.keys.seal(float(value), campaign=row.id, round=row.round, person=person.account)
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
    connection.execute(text(_ANSWER), {**mine, "joined": True, "value": sealed})


def _store_no(service: Service, connection: Connection, row: Row[Any], person: Visitor) -> None:
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
    connection.execute(text(_ANSWER), {**mine, "joined": False, "value": None})


def raise_allowance(service: Service, person: Visitor, epsilon: float) -> Me:
    """Raise what one allows over all campaigns; it is never lowered, since promises may rest on it."""
    if not math.isfinite(epsilon) or epsilon < 0:
        raise BadInput("an allowance is a number of at least 0")
    grains = int(allowance_grains(np.array([epsilon]))[0])

    def work(connection: Connection) -> None:
        before = connection.scalar(select(accounts.c.allowance).where(accounts.c.id == person.account))
        if before is not None and grains < before:
            raise PromiseBroken("an allowance can only be raised; to give less, choose lower limits or decline")
        connection.execute(update(accounts).where(accounts.c.id == person.account).values(allowance=grains))

    service.change(work)
    return me(service, person)


# --- taking along, leaving --------------------------------------------------------------------------------------------


def export(service: Service, person: Visitor) -> dict[str, Any]:
    """Give a person everything kept about them; a value is kept only sealed and can only be replaced."""
    mine = me(service, person)
    record = {name: getattr(mine, name) for name in ("account", "allowance", "promised", "spent", "remaining")}
    return {**record, "campaigns": [_exported(service, person, one) for one in mine.campaigns]}


def _exported(service: Service, person: Visitor, one: MyCampaign) -> dict[str, Any]:
    stated = None if one.stated is None else asdict(step_of(one.draft.model, one.stated))
    record: dict[str, Any] = {"id": one.id, "title": one.draft.title, "state": one.state, "round": one.round}
    record |= {"stated": stated, "answer": one.answer, "deal": asdict(one.deal) if one.deal else None}
    if one.spent is not None:
        record["receipt"] = json.loads(receipt(service, person, one.id).to_json())
    return record


def leave(service: Service, person: Visitor) -> None:
    """Close an account: open registrations go, open answers become no, sessions, the key and the invitations' ties end.

    What was stated, promised and spent stays under a random id. The analyst who sent an invitation knows to whom: that
    it led to this id is forgotten, so that the id is nobody's.
    """
    names = [row.id for row in service.read(lambda connection: _rows_of(connection, person.account))]
    for name in names:
        withdraw(service, person, name)

    def work(connection: Connection) -> None:
        sessions.end_all(connection, person.account)
        gone = {"key": None, "left_at": service.clock()}
        connection.execute(update(accounts).where(accounts.c.id == person.account).values(gone))
        connection.execute(update(invitations).where(invitations.c.account == person.account).values(account=None))

    service.change(work)
