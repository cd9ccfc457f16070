"""What the client gives back: plain records, read strictly from what the service sent."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from optin.announcement import Announcement, Deal
from optin.releasing import Release

__all__ = [
    "Admission",
    "CampaignStatus",
    "JobStatus",
    "LadderStep",
    "LimitCell",
    "LogLine",
    "MyCampaignStatus",
    "MyTotals",
    "Outlook",
    "PublishedCampaign",
]


@dataclass(frozen=True)
class Admission:
    """How one came in: the account, the key to come back with (new accounts only), and what one was invited to."""

    account: str
    key: str | None = field(repr=False)
    campaign: str | None


@dataclass(frozen=True)
class JobStatus:
    """Long work of the service and how far it has come."""

    id: str
    kind: str
    round: int
    state: Literal["queued", "running", "done", "failed"]
    step: str
    done: int
    total: int
    error: str | None


@dataclass(frozen=True)
class CampaignStatus:
    """A campaign as its analyst sees it; ``steps`` are what may be done now.

    ``warning`` says what would be lost by closing now; ``publish_by`` (seconds since 1970) when an announced round is
    cancelled.
    """

    id: str
    draft: dict[str, Any]
    state: str
    round: int
    invited: int
    redeemed: int
    registered: int
    joined: int
    declined: int
    job: JobStatus | None
    announcement: Announcement | None
    release: Release | None
    steps: tuple[str, ...]
    warning: str | None
    publish_by: float | None


@dataclass(frozen=True)
class MyCampaignStatus:
    """A campaign as one of its people sees it; ``stated`` is a step of the ladder.

    ``given_back`` says that one declined this round for good, ``remaining`` what is left of one's total over all campaigns,
    ``publish_by`` (seconds since 1970) when an announced round is cancelled.
    """

    id: str
    draft: dict[str, Any]
    state: str
    round: int
    stated: int | None = field(repr=False)
    deal: Deal | None = field(repr=False)
    counts_about: int | None = field(repr=False)
    answer: Literal["joined", "declined"] | None
    announcement: Announcement | None
    release: Release | None
    spent: float | None = field(repr=False)
    given_back: bool
    remaining: float | None = field(repr=False)
    publish_by: float | None


@dataclass(frozen=True)
class MyTotals:
    """What a person promised and spent over all campaigns, in epsilon; None is not set, or without limit."""

    account: str
    allowance: float | None = field(repr=False)
    promised: float = field(repr=False)
    spent: float = field(repr=False)
    remaining: float | None = field(repr=False)
    campaigns: tuple[MyCampaignStatus, ...]


@dataclass(frozen=True)
class PublishedCampaign:
    """What everyone may see of an announced campaign."""

    id: str
    title: str
    question: str
    purpose: str
    unit: str
    state: str
    round: int
    fingerprint: str
    announcement: Announcement
    release: Release | None


@dataclass(frozen=True)
class LadderStep:
    """One step of the public ladder."""

    index: int
    amount: float
    name: str
    words: str


@dataclass(frozen=True)
class LimitCell:
    """At least ten people on neighbouring steps of the ladder."""

    low: float
    high: float
    people: int


@dataclass(frozen=True)
class LogLine:
    """One line of a campaign's log."""

    at: float
    kind: str
    round: int | None
    words: str


@dataclass(frozen=True)
class Outlook:
    """What a design would give."""

    people: int
    cap: float
    standard_error: float
    noise_scale: float
    effective_people: float
    tilt: float


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
