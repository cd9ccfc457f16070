"""What travels between the service and its visitors, each field named once.

The service fills these records, the JSON interface shows them, the client reads them; each of the three says what it holds
where JSON has a plain object: a draft, an announcement, a release.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Rung:
    """One step of the public ladder."""

    index: int
    amount: float
    name: str
    words: str


@dataclass(frozen=True)
class Cell:
    """At least ten people on neighbouring steps of the ladder."""

    low: float
    high: float
    people: int


@dataclass(frozen=True)
class Event:
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


@dataclass(frozen=True)
class Job:
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
class Campaign:
    """A campaign as its analyst sees it; people are counted in tens, rounded down, besides the invitations that were made."""

    id: str
    draft: Any
    state: str
    round: int
    invited: int
    redeemed: int
    registered: int
    joined: int
    declined: int
    job: Any
    announcement: Any
    release: Any
    steps: Any
    warning: str | None
    publish_by: float | None
    next_step: str | None
    next_at: float | None


@dataclass(frozen=True)
class MyCampaign:
    """A campaign as one of its people sees it."""

    id: str
    draft: Any
    state: str
    round: int
    group: str | None
    stated: int | None = field(repr=False)
    deal: Any = field(repr=False)
    counts_about: int | None = field(repr=False)
    answer: Literal["joined", "declined"] | None
    announcement: Any
    release: Any
    spent: float | None = field(repr=False)
    given_back: bool
    remaining: float | None = field(repr=False)
    publish_by: float | None


@dataclass(frozen=True)
class Totals:
    """What a person promised and spent over all campaigns, in epsilon; None is not set, or without limit."""

    account: str
    allowance: float | None = field(repr=False)
    promised: float = field(repr=False)
    spent: float = field(repr=False)
    remaining: float | None = field(repr=False)
    campaigns: Any


@dataclass(frozen=True)
class Published:
    """What may be seen of an announced campaign."""

    id: str
    title: str
    question: str
    purpose: str
    unit: str
    state: str
    round: int
    fingerprint: str
    announcement: Any
    release: Any
