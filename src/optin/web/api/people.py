"""What people do, and what is theirs."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Response

from optin.errors import BadInput
from optin.web.api import given, taken
from optin.web.api.exactly import ExactRoute
from optin.web.api.shaping import shown
from optin.web.doors import PersonOnly, ServiceOf, let_out
from optin.web.service import people

router = APIRouter(prefix="/api/me", tags=["people"])
totals = APIRouter(route_class=ExactRoute)


@router.get("")
def show_me(service: ServiceOf, person: PersonOnly) -> given.MeOut:
    """Show what one promised and spent over all campaigns."""
    return shown(given.MeOut, people.me(service, person))


@router.delete("", status_code=204)
def leave(response: Response, service: ServiceOf, person: PersonOnly) -> None:
    """Close one's account."""
    people.leave(service, person)
    let_out(response)


@totals.put("/allowance")
def change_allowance(service: ServiceOf, person: PersonOnly, body: taken.AllowanceIn) -> given.MeOut:
    """Raise what one allows over all campaigns, or lower it, down to what was spent and is promised."""
    change = people.lower_allowance if body.lower else people.raise_allowance
    change(service, person, body.epsilon)
    return shown(given.MeOut, people.me(service, person))


router.include_router(totals)


@router.get("/export")
def export(service: ServiceOf, person: PersonOnly) -> dict[str, Any]:
    """Take along everything kept about oneself."""
    return people.export(service, person)


@router.get("/campaigns/{campaign}")
def show_campaign(service: ServiceOf, person: PersonOnly, campaign: str) -> given.MyCampaignOut:
    """Show a campaign one belongs to, or one that is open to everyone."""
    return shown(given.MyCampaignOut, people.campaign(service, person, campaign))


@router.put("/campaigns/{campaign}/registration")
def register(service: ServiceOf, person: PersonOnly, campaign: str, body: taken.RegistrationIn) -> given.MyCampaignOut:
    """State a limit (or cost) as a step of the ladder; in a sealed campaign the answers come along."""
    given = taken.answers_in(body)
    people.register(service, person, campaign, body.step, given=given, times=body.times, round=body.round)
    return show_campaign(service, person, campaign)


@router.delete("/campaigns/{campaign}/registration", status_code=204)
def withdraw(service: ServiceOf, person: PersonOnly, campaign: str) -> None:
    """Take a registration back; after the announcement this declines."""
    people.withdraw(service, person, campaign)


@router.put("/campaigns/{campaign}/answer")
def answer(service: ServiceOf, person: PersonOnly, campaign: str, body: taken.AnswerIn) -> given.MyCampaignOut:
    """Join with answers or decline, and change one's mind until answers close."""
    given = taken.answers_in(body)
    if body.join != (given is not None):
        raise BadInput("give a value or answers to join, none to decline")
    if given is None:
        people.decline(service, person, campaign)
    else:
        people.join(service, person, campaign, given, round=body.round)
    return show_campaign(service, person, campaign)


@router.get("/campaigns/{campaign}/receipt")
def show_receipt(service: ServiceOf, person: PersonOnly, campaign: str) -> dict[str, Any]:
    """Write one's receipt of the release; `optin check` reads it as it is."""
    receipt: dict[str, Any] = json.loads(people.receipt(service, person, campaign).to_json())
    return receipt
