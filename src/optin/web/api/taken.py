"""What the JSON interface takes; strict, so that nothing is read as something else."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from optin.errors import BadInput
from optin.web.service.drafts import (
    FARTHEST,
    LONGEST,
    MOST_BY_LINK,
    MOST_HOURS,
    MOST_PEOPLE,
    MOST_SLACK,
    Draft,
    sheet_from,
)

Number = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST)]
NotNegative = Annotated[float, Field(ge=0, le=FARTHEST)]
Sd = Annotated[NotNegative | None, Field(validation_alias=AliasChoices("sd", "data_sd"))]
"""How far answers lie apart; ``data_sd`` is what it was called before."""
Slack = Annotated[float, Field(ge=0, le=MOST_SLACK)]
Round = Annotated[Annotated[int, Field(ge=1, le=10**9)] | None, Field(examples=[1])]
Secret = Annotated[str, Field(min_length=1, max_length=200, examples=["Wq3v0yqk0dM8bq3oUu1m2h7Yb0E0iVb0aM4w9m1n2oQ"])]


AnswerTo = bool | float | str | list[float] | list[str]
AnswersIn = Annotated[dict[str, AnswerTo | None], Field(max_length=60, examples=[{"hours": 38.5, "break": True}])]
"""Answers by the names of questions: a number, yes or no as true or false, an option, or a list of options or items."""


class Taken(BaseModel):
    """Something sent to us: unknown fields, numbers in quotes and NaN are refused, and nothing is echoed."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)


class SignInIn(Taken):
    """An analyst's name and password."""

    name: Annotated[str, Field(max_length=64, examples=["ada"])]
    password: Annotated[str, Field(max_length=256, examples=["correct horse battery"])]


class NewAnalystIn(SignInIn):
    """The one-time secret of a link, with the name and password to be used from now on."""

    secret: Secret


class EntryIn(Taken):
    """An invitation's secret, or one's own key; with an invitation, also the key of the account that takes it.

    `fresh` is the key that a new account is to have: 43 characters of base64url, drawn at random by whoever asks, who then can
    ask again if the answer was lost.
    """

    secret: Secret
    key: Secret | None = None
    fresh: Secret | None = None


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
                    "sd": 2.0,
                    "public": True,
                }
            ]
        }
    )

    title: Annotated[str, Field(max_length=LONGEST["title"])] = ""
    question: Annotated[str, Field(max_length=LONGEST["question"])] = ""
    asked_by: Annotated[str, Field(max_length=LONGEST["asked_by"])] = ""
    purpose: Annotated[str, Field(max_length=LONGEST["purpose"])] = ""
    unit: Annotated[str, Field(max_length=LONGEST["unit"])] = ""
    model: Literal["privacy-constrained", "quasi-linear"] = "privacy-constrained"
    lower: Number | None = None
    upper: Number | None = None
    sd: Sd = None
    max_gap: NotNegative = 0.0
    slack: Slack = 0.0
    sealed: bool = False
    public: bool = False
    quorum_people: Annotated[int, Field(ge=1, le=MOST_PEOPLE)] = 20
    quorum_standard_error: Annotated[float, Field(gt=0, le=FARTHEST)] | None = None
    benefit_base: Number = 1.0
    benefit_slope: NotNegative = 1.0
    outside: Number | Literal["own-data"] = 0.0
    answer_by: Annotated[str, Field(max_length=10, examples=["2026-03-14"])] = ""
    window_hours: Annotated[float, Field(ge=0, le=MOST_HOURS)] = 0.0
    automatic: bool = False
    open_link: Annotated[int, Field(ge=0, le=MOST_BY_LINK)] = 0
    support: Annotated[str, Field(max_length=LONGEST["support"])] = ""
    language: Annotated[str, Field(max_length=35, examples=["de"])] = ""
    sheet: Annotated[str, Field(max_length=LONGEST["sheet"])] | dict[str, Any] | None = None

    def draft(self) -> Draft:
        """Turn it into the record that the service takes; one number has bounds, a sheet has its own."""
        given = {name: getattr(self, name) for name in DraftIn.model_fields}
        given["data_sd"] = given.pop("sd")
        if self.sheet is not None:
            if self.lower is not None or self.upper is not None or self.question:
                raise BadInput("a draft has a sheet, or else a question with lower and upper; give one of the two")
            return Draft(**{**given, "lower": 0.0, "upper": 1.0, "sheet": sheet_from(self.sheet)})
        if self.lower is None or self.upper is None:
            raise BadInput("a draft of one number has lower and upper; give both, or a sheet")
        return Draft(**given)


class InviteIn(Taken):
    """How many invitations to make, or for which ids, and to which public group, if people are in groups."""

    count: Annotated[int, Field(ge=1, le=1000, examples=[20])] = 1
    ids: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=1000, examples=[["p0001"]])] = []
    group: Annotated[Annotated[str, Field(max_length=LONGEST["group"])] | None, Field(examples=["ICU"])] = None


class ExtendIn(Taken):
    """A later last day to answer; with a round, in that round or not at all."""

    answer_by: Annotated[str, Field(max_length=10, examples=["2026-03-14"])]
    round: Round = None


class StepIn(Taken):
    """The round in which a step is meant, as its campaign was last seen; left out, the one it is in."""

    round: Round = None


class RegistrationIn(Taken):
    """A step of the ladder; in a sealed campaign the answer with it. With a round, in that round or not at all.

    `times` sets one's total over all campaigns: what was given and promised so far, and so many campaigns like this one.
    Left out, a total said before stays, and a first one is 4 times this limit. Several campaigns are counted up to epsilon
    200, or as this one alone where it could ask for more.
    """

    step: Annotated[int, Field(ge=0, le=100, examples=[5])]
    value: float | None = None
    answers: AnswersIn | None = None
    times: Annotated[Annotated[int, Field(ge=1, le=100)] | None, Field(examples=[4])] = None
    round: Round = None


class AnswerIn(Taken):
    """Joining with answers (one number: a value), or declining without. With a round, on that round's terms or not at all."""

    join: Annotated[bool, Field(examples=[True])]
    value: Annotated[float | None, Field(examples=[7.5])] = None
    answers: AnswersIn | None = None
    round: Round = None


class AllowanceIn(Taken):
    """The most epsilon one allows over all campaigns; a total is lowered only where that is said.

    A decimal that no double holds is read downwards: a total is never more than was written.
    """

    epsilon: Annotated[float, Field(ge=0, le=1e6, examples=[2.0])]
    lower: bool = False


class PreviewIn(Taken):
    """A draft, and how many people to assume on each step of its ladder."""

    draft: DraftIn
    people: Annotated[
        list[Annotated[int, Field(ge=0, le=10**6)]],
        Field(min_length=10, max_length=10, examples=[[5, 5, 10, 20, 30, 20, 10, 0, 0, 0]]),
    ]


class WhatIfIn(Taken):
    """What to change; what is left out stays as drafted."""

    max_gap: NotNegative | None = None
    sd: Sd = None
    slack: Slack | None = None
    decline_share: Annotated[float, Field(ge=0, lt=1, examples=[0.2])] = 0.0


def answers_in(body: RegistrationIn | AnswerIn) -> dict[str, Any] | None:
    """Return what was answered, by the names of questions; a value answers the question of that name."""
    if body.value is not None and body.answers is not None:
        raise BadInput("give a value, or else answers by the names of questions")
    return body.answers if body.value is None else {"value": body.value}
