"""What the JSON interface takes and gives; strict, so that nothing is read as something else."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from optin.web.service.records import Draft

__all__ = ["AnswerIn", "DraftIn", "Taken"]

Text = Annotated[str, Field(max_length=4000)]
Secret = Annotated[str, Field(min_length=1, max_length=200, examples=["Wq3v0yqk0dM8bq3oUu1m2h7Yb0E0iVb0aM4w9m1n2oQ"])]
EXAMPLE_ID = "0f" * 16


class Taken(BaseModel):
    """Something sent to us: unknown fields, numbers in quotes and NaN are refused, and nothing is echoed."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)


class Given(BaseModel):
    """Something sent by us."""

    model_config = ConfigDict(allow_inf_nan=False, hide_input_in_errors=True)


# --- taken ------------------------------------------------------------------------------------------------------------


class SignInIn(Taken):
    """An analyst's name and password."""

    name: Annotated[str, Field(max_length=64, examples=["ada"])]
    password: Annotated[str, Field(max_length=256, examples=["correct horse battery"])]


class NewAnalystIn(SignInIn):
    """The one-time secret of a link, with the name and password to be used from now on."""

    secret: Secret


class EntryIn(Taken):
    """An invitation's secret, or one's own key."""

    secret: Secret


class DraftIn(Taken):
    """What a campaign asks and on which terms."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "Sleep",
                    "question": "How many hours did you sleep last night?",
                    "purpose": "To plan the night shift.",
                    "unit": "hours",
                    "lower": 0.0,
                    "upper": 12.0,
                    "data_sd": 2.0,
                    "public": True,
                }
            ]
        }
    )

    title: Annotated[str, Field(min_length=1, max_length=120)]
    question: Annotated[str, Field(min_length=1, max_length=2000)]
    purpose: Text = ""
    unit: Annotated[str, Field(max_length=40)] = ""
    model: Literal["privacy-constrained", "quasi-linear"] = "privacy-constrained"
    lower: Annotated[float, Field(ge=-1e12, le=1e12)]
    upper: Annotated[float, Field(ge=-1e12, le=1e12)]
    data_sd: Annotated[float, Field(ge=0, le=1e12)] | None = None
    max_gap: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    slack: Annotated[float, Field(ge=0, le=10)] = 0.0
    sealed: bool = False
    public: bool = False
    quorum_people: Annotated[int, Field(ge=1, le=10**9)] = 20
    quorum_standard_error: Annotated[float, Field(gt=0, le=1e12)] | None = None
    benefit_base: Annotated[float, Field(ge=-1e12, le=1e12)] = 1.0
    benefit_slope: Annotated[float, Field(ge=0, le=1e12)] = 1.0
    outside: Annotated[float, Field(ge=-1e12, le=1e12)] | Literal["own-data"] = 0.0

    def draft(self) -> Draft:
        """Turn it into the record that the service takes."""
        return Draft(**{name: getattr(self, name) for name in DraftIn.model_fields})


class InviteIn(Taken):
    """How many invitations to make."""

    count: Annotated[int, Field(ge=1, le=1000, examples=[20])]


class StepIn(Taken):
    """The round in which a step is meant, as its campaign was last seen; left out, the one it is in."""

    round: Annotated[Annotated[int, Field(ge=1, le=10**9)] | None, Field(examples=[1])] = None


class RegistrationIn(Taken):
    """A step of the ladder; in a sealed campaign the answer with it."""

    step: Annotated[int, Field(ge=0, le=100, examples=[5])]
    value: float | None = None


class AnswerIn(Taken):
    """Joining with a value, or declining without one."""

    join: Annotated[bool, Field(examples=[True])]
    value: Annotated[float | None, Field(examples=[7.5])] = None


class AllowanceIn(Taken):
    """The most epsilon one allows over all campaigns."""

    epsilon: Annotated[float, Field(ge=0, le=1e6, examples=[2.0])]


class PreviewIn(Taken):
    """A draft, and how many people to assume on each step of its ladder."""

    draft: DraftIn
    people: Annotated[
        list[Annotated[int, Field(ge=0, le=10**6)]],
        Field(min_length=10, max_length=10, examples=[[5, 5, 10, 20, 30, 20, 10, 0, 0, 0]]),
    ]


class WhatIfIn(Taken):
    """What to change; what is left out stays as drafted."""

    max_gap: Annotated[float, Field(ge=0, le=1e12)] | None = None
    data_sd: Annotated[float, Field(ge=0, le=1e12)] | None = None
    slack: Annotated[float, Field(ge=0, le=10)] | None = None
    decline_share: Annotated[float, Field(ge=0, lt=1, examples=[0.2])] = 0.0


# --- given ------------------------------------------------------------------------------------------------------------


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
    """A campaign as its analyst sees it."""

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
    """How limits or costs are spread, in cells of at least ten people."""

    cells: list[CellOut]


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
    """A campaign as one of its people sees it."""

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
    """What everyone may see of an announced campaign."""

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
    """The newest results."""

    campaigns: list[PublishedOut]
