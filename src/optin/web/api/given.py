"""What the JSON interface gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from optin.client import wire
from optin.web.api.taken import DraftIn

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


class OpenLinkOut(Given):
    """The secret of a link that anyone may use, while there are places and until the last day."""

    secret: str | None


class SecretsOut(Given):
    """One-time secrets, shown once."""

    secrets: list[str]


@dataclass(frozen=True)
class StepOut(wire.Rung):
    """One step of the public ladder."""


class LadderOut(Given):
    """The steps from which people choose."""

    limits: list[StepOut]
    costs: list[StepOut]


class DraftOut(DraftIn):
    """What a campaign asks and on which terms."""


@dataclass(frozen=True)
class JobOut(wire.Job):
    """Long work, and how far it has come."""


@dataclass(frozen=True)
class CampaignOut(wire.Campaign):
    """A campaign as its analyst sees it.

    `warning` says what would be lost by closing now; `publish_by`, in seconds since 1970, when an announced round is cancelled;
    `next_step` and `next_at`, where it runs by itself, what is done next and when.
    """

    id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    draft: DraftOut
    job: JobOut | None
    announcement: dict[str, Any] | None
    release: dict[str, Any] | None
    steps: list[str]


class CampaignsOut(Given):
    """An analyst's campaigns."""

    campaigns: list[CampaignOut]


@dataclass(frozen=True)
class EventOut(wire.Event):
    """One line of a campaign's log."""


class EventsOut(Given):
    """A campaign's log."""

    events: list[EventOut]


@dataclass(frozen=True)
class CellOut(wire.Cell):
    """At least ten people on neighbouring steps."""


class CellsOut(Given):
    """How limits or costs are spread, in cells of at least ten people; `note` says why they are those shown before, if so."""

    cells: list[CellOut]
    note: str | None


class TimesOut(Given):
    """How many more times, and about how many people can take part so often for as much."""

    times: int
    people: int


class AgainOut(Given):
    """Who can take part again, in tens; empty before the result, for fewer than twenty people, and with costs."""

    again: list[TimesOut]


class AbleOut(Given):
    """About how many of those who registered have something left of their totals, in tens; null if fewer than ten came."""

    able: int | None


@dataclass(frozen=True)
class PreviewOut(wire.Outlook):
    """What a design would give."""


class DealOut(Given):
    """What one person is promised; a number past the largest is null."""

    grains: int
    epsilon: float | None
    weight: float
    odds_factor: float | None
    utility: float | None
    margin: float | None


@dataclass(frozen=True)
class MyCampaignOut(wire.MyCampaign):
    """A campaign as one of its people sees it.

    `remaining` is what is left of one's total over all campaigns (null: not set, or without limit); `given_back` says that
    one declined this round for good; `publish_by`, in seconds since 1970, when an announced round is cancelled.
    """

    id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    draft: DraftOut
    deal: DealOut | None
    announcement: dict[str, Any] | None
    release: dict[str, Any] | None


@dataclass(frozen=True)
class MeOut(wire.Totals):
    """What a person promised and spent over all campaigns; null is not set, or without limit."""

    campaigns: list[MyCampaignOut]


class OpenCampaignsOut(Given):
    """Campaigns in which anyone may register."""

    campaigns: list[MyCampaignOut]


@dataclass(frozen=True)
class PublishedOut(wire.Published):
    """What may be seen of an announced campaign."""

    id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    announcement: dict[str, Any]
    release: dict[str, Any] | None


class PublishedListOut(Given):
    """The newest results of campaigns that were open to everyone."""

    campaigns: list[PublishedOut]
