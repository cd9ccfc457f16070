"""What analysts do with their campaigns."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from optin.web.api import given, taken
from optin.web.api.shaping import shown
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.service import able, campaigns, extending, limit_cells, next_time, open_links, preview, steps
from optin.web.service.core import Service
from optin.web.service.records import Visitor

router = APIRouter(prefix="/api", tags=["campaigns"])
StepName = Literal[
    "open",
    "close-registration",
    "announce",
    "open-answers",
    "close",
    "release",
    "reopen-registration",
    "reopen-answers",
    "new-round",
    "cancel",
]


@router.get("/campaigns")
def list_campaigns(service: ServiceOf, analyst: AnalystOnly) -> given.CampaignsOut:
    """List one's own campaigns, newest first."""
    return given.CampaignsOut(campaigns=[shown(given.CampaignOut, one) for one in campaigns.mine(service, analyst)])


@router.post("/campaigns", status_code=201)
def create_campaign(service: ServiceOf, analyst: AnalystOnly, body: taken.DraftIn) -> given.CampaignOut:
    """Draft a campaign."""
    return _campaign(service, analyst, campaigns.create(service, analyst, body.draft()))


@router.get("/campaigns/{campaign}")
def show_campaign(service: ServiceOf, analyst: AnalystOnly, campaign: str) -> given.CampaignOut:
    """Show one's own campaign: counts, the job under way, and what is published."""
    return _campaign(service, analyst, campaign)


@router.put("/campaigns/{campaign}")
def revise_campaign(service: ServiceOf, analyst: AnalystOnly, campaign: str, body: taken.DraftIn) -> given.CampaignOut:
    """Change a draft."""
    campaigns.revise(service, analyst, campaign, body.draft())
    return _campaign(service, analyst, campaign)


@router.post("/campaigns/{campaign}/steps/{step}", status_code=202)
def take_step(
    service: ServiceOf, analyst: AnalystOnly, campaign: str, step: StepName, body: taken.StepIn | None = None
) -> given.CampaignOut:
    """Take a step; a long one is begun, and `job` in what GET shows tells how far it has come.

    Idempotent: asked again it changes nothing. With `round` it is taken in that round or not at all.
    """
    steps.take(service, analyst, campaign, step, round=body.round if body else None)
    return _campaign(service, analyst, campaign)


@router.post("/campaigns/{campaign}/extend")
def extend_campaign(service: ServiceOf, analyst: AnalystOnly, campaign: str, body: taken.ExtendIn) -> given.CampaignOut:
    """Move the last day to answer to a later one, before the announcement; registration that was closed is opened again."""
    extending.extend(service, analyst, campaign, body.answer_by, round=body.round)
    return _campaign(service, analyst, campaign)


@router.post("/campaigns/{campaign}/invitations", status_code=201)
def invite(service: ServiceOf, analyst: AnalystOnly, campaign: str, body: taken.InviteIn) -> given.SecretsOut:
    """Make one-time secrets to send to people, as `/i#SECRET`."""
    made = campaigns.invite(service, analyst, campaign, body.count, group=body.group, ids=body.ids)
    return given.SecretsOut(secrets=made.secrets)


@router.get("/campaigns/{campaign}/open-link")
def show_open_link(service: ServiceOf, analyst: AnalystOnly, campaign: str) -> given.OpenLinkOut:
    """Show the secret of the link that anyone may use, as `/i#SECRET`; null where the draft asks for none."""
    return given.OpenLinkOut(secret=open_links.open_link(service, analyst, campaign))


@router.get("/campaigns/{campaign}/log")
def show_log(service: ServiceOf, analyst: AnalystOnly, campaign: str) -> given.EventsOut:
    """List what was done, oldest first."""
    events = campaigns.log(service, analyst, campaign)
    return given.EventsOut(events=[shown(given.EventOut, event) for event in events])


@router.get("/campaigns/{campaign}/cells")
def show_cells(service: ServiceOf, analyst: AnalystOnly, campaign: str) -> given.CellsOut:
    """Show how limits are spread, once registration is closed, in cells of at least ten people; or those of before, and why."""
    groups = limit_cells.cells(service, analyst, campaign)
    return given.CellsOut(cells=[shown(given.CellOut, cell) for cell in groups.cells], note=groups.note)


@router.get("/campaigns/{campaign}/able")
def show_able(service: ServiceOf, analyst: AnalystOnly, campaign: str) -> given.AbleOut:
    """Say, before the announcement, about how many of those who registered can take part, in tens."""
    return given.AbleOut(able=able.able(service, analyst, campaign))


@router.get("/campaigns/{campaign}/again")
def show_again(service: ServiceOf, analyst: AnalystOnly, campaign: str) -> given.AgainOut:
    """Say about how many people of a published round can take part again for as much, counted once, in tens."""
    times = next_time.can_again(service, analyst, campaign)
    return given.AgainOut(again=[given.TimesOut(times=each.times, people=each.people) for each in times])


@router.post("/campaigns/{campaign}/what-if")
def ask_what_if(service: ServiceOf, analyst: AnalystOnly, campaign: str, body: taken.WhatIfIn) -> given.PreviewOut:
    """Ask what another setting or some decliners would do: as far as the cells tell, or once announced, as its sums tell."""
    return shown(given.PreviewOut, preview.what_if(service, analyst, campaign, preview.Change(**body.model_dump())))


@router.post("/preview")
def foresee(analyst: AnalystOnly, body: taken.PreviewIn) -> given.PreviewOut:
    """Foresee a draft's accuracy for assumed people."""
    return shown(given.PreviewOut, preview.accuracy(body.draft.draft(), body.people))


def _campaign(service: Service, analyst: Visitor, campaign: str) -> given.CampaignOut:
    return shown(given.CampaignOut, campaigns.show(service, analyst, campaign))
