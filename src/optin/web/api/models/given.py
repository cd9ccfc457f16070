"""What the JSON interface gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from optin.web.api.models.taken import DraftIn

__all__ = [
    "AbleOut",
    "CampaignOut",
    "CampaignsOut",
    "CellOut",
    "CellsOut",
    "DealOut",
    "DraftOut",
    "EnteredOut",
    "EventOut",
    "EventsOut",
    "Failure",
    "Given",
    "Health",
    "JobOut",
    "LadderOut",
    "MeOut",
    "MyCampaignOut",
    "OpenCampaignsOut",
    "PreviewOut",
    "PublishedListOut",
    "PublishedOut",
    "SecretOut",
    "SecretsOut",
    "SessionOut",
    "StepOut",
]

EXAMPLE_ID = "0f" * 16


class Given(BaseModel):
    """Something sent by us."""

    model_config = ConfigDict(allow_inf_nan=False, hide_input_in_errors=True)


class Failure(Given):
    """Why something was not done."""

    error: Annotated[str, Field(examples=["there is nothing here, or it is not yours"])]


class Health(Given):
    """Whether the service is there."""

    status: Literal["ok"]


class SessionOut(Given):
    """Who is signed in, and the token to send as X-CSRF-Token with every change."""

    account: Annotated[str, Field(examples=[EXAMPLE_ID])]
    kind: Literal["analyst", "person"]
    name: str | None
    csrf_token: str


class EnteredOut(SessionOut):
    """Someone came in; a new account is given the key to come back with, once."""

    key: str | None
    campaign: str | None


class SecretOut(Given):
    """A one-time secret."""

    secret: str


class SecretsOut(Given):
    """One-time secrets, shown once."""

    secrets: list[str]


class StepOut(Given):
    """One step of the public ladder."""

    index: int
    amount: float
    name: str
    words: str


class LadderOut(Given):
    """The steps from which people choose."""

    limits: list[StepOut]
    costs: list[StepOut]


class DraftOut(DraftIn):
    """What a campaign asks and on which terms."""


class JobOut(Given):
    """Long work, and how far it has come."""

    id: str
    kind: str
    round: int
    state: Literal["queued", "running", "done", "failed"]
    step: str
    done: int
    total: int
    error: str | None


class CampaignOut(Given):
    """A campaign as its analyst sees it.

    `warning` says what would be lost by closing now; `publish_by`, in seconds since 1970, when an announced round is cancelled.
    """

    id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    draft: DraftOut
    state: str
    round: int
    invited: int
    redeemed: int
    registered: int
    joined: int
    declined: int
    job: JobOut | None
    announcement: dict[str, Any] | None
    release: dict[str, Any] | None
    steps: list[str]
    warning: str | None
    publish_by: float | None


class CampaignsOut(Given):
    """An analyst's campaigns."""

    campaigns: list[CampaignOut]


class EventOut(Given):
    """One line of a campaign's log."""

    at: float
    kind: str
    round: int | None
    words: str


class EventsOut(Given):
    """A campaign's log."""

    events: list[EventOut]


class CellOut(Given):
    """At least ten people on neighbouring steps."""

    low: float
    high: float
    people: int


class CellsOut(Given):
    """How limits or costs are spread, in cells of at least ten people; `note` says why they are those shown before, if so."""

    cells: list[CellOut]
    note: str | None


class AbleOut(Given):
    """About how many of those who registered have something left of their totals, in tens; null if fewer than ten came."""

    able: int | None


class PreviewOut(Given):
    """What a design would give."""

    people: int
    cap: float
    standard_error: float
    noise_scale: float
    effective_people: float
    tilt: float


class DealOut(Given):
    """What one person is promised; a number past the largest is null."""

    grains: int
    epsilon: float | None
    weight: float
    odds_factor: float | None
    utility: float | None
    margin: float | None


class MyCampaignOut(Given):
    """A campaign as one of its people sees it.

    `remaining` is what is left of one's total over all campaigns (null: not set, or without limit); `given_back` says that
    one declined this round for good; `publish_by`, in seconds since 1970, when an announced round is cancelled.
    """

    id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    draft: DraftOut
    state: str
    round: int
    stated: int | None
    deal: DealOut | None
    counts_about: int | None
    answer: Literal["joined", "declined"] | None
    announcement: dict[str, Any] | None
    release: dict[str, Any] | None
    spent: float | None
    given_back: bool
    remaining: float | None
    publish_by: float | None


class MeOut(Given):
    """What a person promised and spent over all campaigns; null is not set, or without limit."""

    account: str
    allowance: float | None
    promised: float
    spent: float
    remaining: float | None
    campaigns: list[MyCampaignOut]


class OpenCampaignsOut(Given):
    """Campaigns in which anyone may register."""

    campaigns: list[MyCampaignOut]


class PublishedOut(Given):
    """What may be seen of an announced campaign."""

    id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    title: str
    question: str
    purpose: str
    unit: str
    state: str
    round: int
    fingerprint: str
    announcement: dict[str, Any]
    release: dict[str, Any] | None


class PublishedListOut(Given):
    """The newest results of campaigns that were open to everyone."""

    campaigns: list[PublishedOut]
