"""What the client gives back: plain records, read strictly from what the service sent."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from optin.announcement import Announcement, Deal
from optin.client import wire
from optin.releasing import Release
from optin.wording.records import Brief, Listed


@dataclass(frozen=True, repr=False)
class Admission(Listed):
    """How one came in: the account, the key to come back with (new accounts only), and what one was invited to."""

    account: str
    key: str | None = field(repr=False)
    campaign: str | None


@dataclass(frozen=True, repr=False)
class JobStatus(Brief, wire.Job):
    """Long work of the service and how far it has come."""


@dataclass(frozen=True, repr=False)
class CampaignStatus(Listed, wire.Campaign):
    """A campaign as its analyst sees it; ``steps`` are what may be done now.

    ``warning`` says what would be lost by closing now; ``publish_by`` (seconds since 1970) when an announced round is
    cancelled; ``next_step`` and ``next_at`` what a campaign that runs by itself does next, and when.
    """

    draft: dict[str, Any]
    job: JobStatus | None
    announcement: Announcement | None
    release: Release | None
    steps: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class MyCampaignStatus(Listed, wire.MyCampaign):
    """A campaign as one of its people sees it; ``stated`` is a step of the ladder.

    ``given_back`` says that one declined this round for good, ``remaining`` what is left of one's total over all campaigns,
    ``publish_by`` (seconds since 1970) when an announced round is cancelled.
    """

    draft: dict[str, Any]
    deal: Deal | None = field(repr=False)
    announcement: Announcement | None
    release: Release | None


@dataclass(frozen=True, repr=False)
class MyTotals(Listed, wire.Totals):
    """What a person promised and spent over all campaigns, in epsilon; None is not set, or without limit."""

    campaigns: tuple[MyCampaignStatus, ...]


@dataclass(frozen=True, repr=False)
class PublishedCampaign(Listed, wire.Published):
    """What everyone may see of an announced campaign."""

    announcement: Announcement
    release: Release | None


@dataclass(frozen=True, repr=False)
class LadderStep(Brief, wire.Rung):
    """One step of the public ladder."""


@dataclass(frozen=True, repr=False)
class LimitCell(Brief, wire.Cell):
    """At least ten people on neighbouring steps of the ladder."""


@dataclass(frozen=True, repr=False)
class LogLine(Brief, wire.Event):
    """One line of a campaign's log."""


@dataclass(frozen=True, repr=False)
class Outlook(Listed, wire.Outlook):
    """What a design would give."""


def campaign_from(record: dict[str, Any]) -> CampaignStatus:
    """Read a campaign as its analyst sees it."""
    job = None if record["job"] is None else JobStatus(**record["job"])
    return CampaignStatus(**{**record, **_published(record), "job": job, "steps": tuple(record["steps"])})


def my_campaign_from(record: dict[str, Any]) -> MyCampaignStatus:
    """Read a campaign as a person sees it."""
    deal = None if record["deal"] is None else _deal(record["deal"])
    return MyCampaignStatus(**{**record, **_published(record), "deal": deal})


def totals_from(record: dict[str, Any]) -> MyTotals:
    """Read what a person promised and spent."""
    return MyTotals(**{**record, "campaigns": tuple(my_campaign_from(one) for one in record["campaigns"])})


def published_from(record: dict[str, Any]) -> PublishedCampaign:
    """Read what is public."""
    return PublishedCampaign(**{**record, **_published(record)})


def _published(record: dict[str, Any]) -> dict[str, Any]:
    offer, result = record["announcement"], record["release"]
    return {
        "announcement": None if offer is None else Announcement.from_json(json.dumps(offer)),
        "release": None if result is None else Release.from_json(json.dumps(result)),
    }


def _deal(record: dict[str, Any]) -> Deal:
    """Read a deal; JSON has no infinity, so the service sends null where only infinity can be meant."""
    endless = {name: math.inf for name in ("epsilon", "odds_factor", "margin") if record[name] is None}
    return Deal(**{**record, **endless})
