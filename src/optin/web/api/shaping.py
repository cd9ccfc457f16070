"""Records of the service, as the JSON interface shows them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from optin.announcement import Deal
from optin.web.api import models
from optin.web.service.records import Campaign, Draft, Job, Me, MyCampaign, Published, Visitor, told

__all__ = ["campaign_out", "me_out", "my_campaign_out", "published_out", "session_out"]


def session_out(visitor: Visitor) -> models.SessionOut:
    """Show who is signed in."""
    return models.SessionOut(account=visitor.account, kind=visitor.kind, name=visitor.name, csrf_token=visitor.csrf)


def campaign_out(campaign: Campaign) -> models.CampaignOut:
    """Show a campaign to its analyst."""
    return models.CampaignOut(
        **_fields(campaign, "id", "state", "round", "invited", "redeemed", "registered", "joined", "declined"),
        **_fields(campaign, "warning", "publish_by"),
        draft=_draft(campaign.draft),
        job=_job(campaign.job),
        announcement=_parsed(campaign.announcement),
        release=_parsed(campaign.release),
        steps=list(campaign.steps),
    )


def my_campaign_out(campaign: MyCampaign) -> models.MyCampaignOut:
    """Show a campaign to one of its people."""
    return models.MyCampaignOut(
        **_fields(campaign, "id", "state", "round", "stated", "answer", "spent", "counts_about"),
        **_fields(campaign, "given_back", "remaining", "publish_by"),
        draft=_draft(campaign.draft),
        deal=_deal(campaign.deal),
        announcement=_parsed(campaign.announcement),
        release=_parsed(campaign.release),
    )


def me_out(me: Me) -> models.MeOut:
    """Show a person what is theirs."""
    numbers = _fields(me, "account", "allowance", "promised", "spent", "remaining")
    return models.MeOut(**numbers, campaigns=[my_campaign_out(one) for one in me.campaigns])


def published_out(campaign: Published) -> models.PublishedOut:
    """Show everyone what is public."""
    return models.PublishedOut(
        **_fields(campaign, "id", "title", "question", "purpose", "unit", "state", "round"),
        fingerprint=campaign.announcement.fingerprint,
        announcement=json.loads(campaign.announcement.to_json()),
        release=_parsed(campaign.release),
    )


def _fields(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _draft(draft: Draft) -> models.DraftOut:
    return models.DraftOut(**asdict(draft))


def _job(job: Job | None) -> models.JobOut | None:
    return None if job is None else models.JobOut(**_fields(job, *models.JobOut.model_fields))


def _deal(deal: Deal | None) -> models.DealOut | None:
    numbers = told(deal)
    return None if numbers is None else models.DealOut(**numbers)


def _parsed(record: Any) -> dict[str, Any] | None:  # noqa: ANN401 - an Announcement or a Release
    found: dict[str, Any] | None = None if record is None else json.loads(record.to_json())
    return found
