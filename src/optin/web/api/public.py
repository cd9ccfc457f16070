"""What everyone may see."""

from __future__ import annotations

from fastapi import APIRouter

from optin.web.api import given
from optin.web.api.shaping import shown
from optin.web.doors import MaybeVisitor, ServiceOf
from optin.web.service import ladder, people, published

router = APIRouter(prefix="/api", tags=["public"])


@router.get("/ladder")
async def show_ladder() -> given.LadderOut:
    """List the steps from which people choose a limit or a cost."""
    limits, costs = ([shown(given.StepOut, rung) for rung in rungs] for rungs in (ladder.LIMITS, ladder.COSTS))
    return given.LadderOut(limits=limits, costs=costs)


@router.get("/open")
def list_open(service: ServiceOf) -> given.OpenCampaignsOut:
    """List campaigns in which anyone may register."""
    return given.OpenCampaignsOut(campaigns=[shown(given.MyCampaignOut, one) for one in people.open_campaigns(service)])


@router.get("/published")
def list_published(service: ServiceOf) -> given.PublishedListOut:
    """List the newest results of campaigns that were open to everyone."""
    return given.PublishedListOut(campaigns=[shown(given.PublishedOut, one) for one in published.published(service)])


@router.get("/published/{campaign}")
def show_published(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> given.PublishedOut:
    """Show an announced campaign: the offer with its fingerprint and, once there is one, the result.

    One by invitation is shown to those who were invited and to its analyst; to others it does not exist.
    """
    return shown(given.PublishedOut, published.show(service, campaign, visitor))
