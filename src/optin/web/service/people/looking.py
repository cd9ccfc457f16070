"""What people see: what they promised and spent, each of their campaigns, their deal, and their receipts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, or_, select

from optin.announcement import Announcement, Deal
from optin.campaign import explain
from optin.campaign.history import Holding
from optin.errors import BadInput, PromiseBroken
from optin.grains.units import epsilons_of
from optin.kernel.rounding import epsilon_of
from optin.receipts import Receipt, check
from optin.releasing import Release
from optin.web.schema import answers, campaigns, invitations, registrations
from optin.web.service.core import Service
from optin.web.service.deadlines import BEFORE, WAITING, deadline, is_over, readable_until, window_end
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.failures import NotFound
from optin.web.service.ladder import rung_of
from optin.web.service.lookups import OUT_OF_REACH, belongs, campaign_row, group_of
from optin.web.service.records import Me, MyCampaign, Visitor, counts_about
from optin.web.service.schedule import answers_end
from optin.web.service.totals import Budget, budget_of


def me(service: Service, person: Visitor) -> Me:
    """Show a person what they promised and spent over all campaigns, and each of these campaigns."""

    def look(connection: Connection) -> Me:
        budget = budget_of(connection, person.account)
        rows = campaigns_of(connection, person.account)
        return Me(
            account=person.account,
            allowance=_epsilon(budget.total) if budget.bounded else None,
            promised=epsilon_of(budget.promised),
            spent=epsilon_of(budget.spent),
            remaining=_epsilon(budget.left),
            campaigns=tuple(_view(service, connection, row, person.account, budget) for row in rows),
        )

    return service.read(look)


def budget(service: Service, person: Visitor) -> Budget:
    """Show a person's total over all campaigns and what stands against it, in grains; none to whoever sees one campaign."""
    if person.only is not None:
        return Budget(None, 0, 0, ())
    return service.read(lambda connection: budget_of(connection, person.account))


def _epsilon(grains: int | None) -> float | None:
    return None if grains is None else epsilon_of(grains)


def open_campaigns(service: Service) -> list[MyCampaign]:
    """List the campaigns in which anyone may register."""
    query = select(campaigns).where(campaigns.c.public.is_(True), campaigns.c.state == "registration")

    def look(connection: Connection) -> list[MyCampaign]:
        rows = connection.execute(query.order_by(campaigns.c.created_at.desc())).all()
        return [stranger_view(row, **ends_of(service, connection, row)) for row in rows]

    return service.read(look)


def ends_of(service: Service, connection: Connection, row: Row[Any]) -> dict[str, Any]:
    """Say until when a round is announced and answers can be read at the latest, and whether it is too late to answer."""
    due, over = deadline(service, connection, row), is_over(service, Draft.from_json(row.draft))
    return {
        "announce_by": due.at if due is not None and row.state in BEFORE else None,
        "readable": readable_until(service, connection, row),
        "too_late": over or row.state != "registration",
    }


def campaign(service: Service, person: Visitor, name: str) -> MyCampaign:
    """Show a person one campaign: what is asked, and what is theirs."""

    def look(connection: Connection) -> MyCampaign:
        row = visible(connection, person, name)
        view = _view(service, connection, row, person.account, budget_of(connection, person.account))
        return view if person.only is None else replace(view, remaining=None)

    return service.read(look)


def receipt(service: Service, person: Visitor, name: str) -> Receipt:
    """Write a person's receipt of a release."""
    row = service.read(lambda connection: visible(connection, person, name))
    if row.state != "released":
        raise PromiseBroken("receipts exist once the result is published")
    try:
        return service.ledger.receipt(person.account, campaign=name, round=row.round)
    except BadInput:
        pass
    raise NotFound("you were not part of this release, so there is no receipt")


def checked(service: Service, person: Visitor, name: str) -> tuple[str, ...]:
    """Check a receipt against the published files, as its owner can without us, and say what was proved."""
    row = service.read(lambda connection: visible(connection, person, name))
    own = receipt(service, person, name)
    return check(own, Announcement.from_json(row.announcement), Release.from_json(row.release))


def campaigns_of(connection: Connection, person: str) -> list[Row[Any]]:
    """List the campaigns a person was invited to or registered in, newest first; drafts are nobody's but the analyst's."""
    invited = select(invitations.c.campaign).where(invitations.c.account == person)
    registered = select(registrations.c.campaign).where(registrations.c.person == person)
    where = or_(campaigns.c.id.in_(invited), campaigns.c.id.in_(registered))
    query = select(campaigns).where(where, campaigns.c.state != "draft").order_by(campaigns.c.created_at.desc())
    return list(connection.execute(query).all())


def visible(connection: Connection, person: Visitor, name: str) -> Row[Any]:
    """Find a campaign that this person may see: one they belong to, or one open to everyone."""
    row = campaign_row(connection, name)
    open_to_all = row.public and row.state == "registration"
    if row.state == "draft" or not (open_to_all or belongs(connection, person.account, row)):
        raise NotFound
    return row


def stranger_view(row: Row[Any], *, group: str | None = None, **ends: Any) -> MyCampaign:  # noqa: ANN401 - of `ends_of`
    """Show a campaign to someone who is not in it: what is asked, until when, and nothing of theirs."""
    told: dict[str, Any] = {"id": row.id, "state": row.state, "round": row.round, "group": group, **ends}
    empty: dict[str, Any] = dict.fromkeys(
        (
            "stated",
            "deal",
            "counts_about",
            "answer",
            "announcement",
            "release",
            "spent",
            "remaining",
            "publish_by",
            "due",
        )
    )
    return MyCampaign(draft=Draft.from_json(row.draft), given_back=False, **told, **empty)


def _view(service: Service, connection: Connection, row: Row[Any], person: str, budget: Budget) -> MyCampaign:
    mine = {"campaign": row.id, "round": row.round, "person": person}
    chosen = connection.execute(of_mine(select(registrations), registrations, mine)).first()
    stated, group = (chosen.step, chosen.group_name) if chosen else (None, group_of(connection, row.id, person))
    answered = connection.execute(of_mine(select(answers.c.joined), answers, mine)).first()
    if row.state == "registration" and answered is not None and not answered.joined:
        stated = answered = None  # taken back, after registration had been opened again
    draft = Draft.from_json(row.draft)
    offer = Announcement.from_json(row.announcement) if row.announcement else None
    holding, due = budget.holding(row.id, row.round), deadline(service, connection, row)
    own = offer.of_group(group) if offer is not None and offer.grouped and group else offer
    deal = _deal(draft, own, stated, holding)
    return MyCampaign(
        id=row.id,
        draft=draft,
        state=row.state,
        round=row.round,
        group=group,
        stated=stated,
        deal=deal,
        counts_about=counts_about(deal),
        answer=None if answered is None else "joined" if answered.joined else "declined",
        announcement=offer,
        release=Release.from_json(row.release) if row.release else None,
        spent=epsilon_of(holding.spent) if holding and row.state == "released" else None,
        given_back=holding is not None and holding.returned,
        remaining=_epsilon(budget.left),
        publish_by=due.at if due and row.state in WAITING else None,
        due=due.due if due and row.state in WAITING else None,
        **ends_of(service, connection, row),
        window=_window(connection, row, draft),
    )


def _window(connection: Connection, row: Row[Any], draft: Draft) -> float | None:
    """Say until when answers can be given, changed or withdrawn at least; where it closes by itself, until when exactly."""
    if draft.automatic and row.state == "answers":
        return answers_end(connection, row, draft.window_hours)
    return window_end(connection, row, draft.window_hours) if draft.sealed else None


def of_mine(query: Any, table: Any, values: dict[str, Any]) -> Any:  # noqa: ANN401 - SQLAlchemy's own generics
    """Restrict a query to one person's rows of a round."""
    return query.where(*(table.c[name] == value for name, value in values.items()))


def _deal(draft: Draft, offer: Announcement | None, stated: int | None, holding: Holding | None) -> Deal | None:
    """Say what this person is promised; what remained of the allowance may have cut a limit, or left someone out."""
    if offer is None or stated is None or holding is None:
        return None
    amount = rung_of(draft.model, stated).amount
    if draft.model != PRIVACY_CONSTRAINED:
        return explain(offer, cost=amount if holding.promised else OUT_OF_REACH)
    promised = float(epsilons_of(np.array([holding.promised]))[0])
    return explain(offer, limit=min(amount, promised) if holding.promised < _grains(offer, amount) else amount)


def _grains(offer: Announcement, limit: float) -> int:
    return explain(offer, limit=limit).grains
