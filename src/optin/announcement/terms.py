"""The terms of an announcement: what was asked and on which conditions, word for word. All of it is under the fingerprint."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from optin.announcement.naming import check_round, checked_campaign
from optin.errors import BadInput
from optin.formats.strict_json import Fields, real
from optin.questions import Sheet
from optin.questions.kinds import checked_words

PRIVACY_CONSTRAINED = "privacy-constrained"
QUASI_LINEAR = "quasi-linear"
SEALED_ANSWERS = "sealed answers"
"""How a mode begins in which answers come with the limit, in one visit, before the announcement."""


def expect_one_question(questions: int) -> None:
    """Refuse one largest standard error for several questions."""
    if questions > 1:
        raise BadInput("a quorum's standard error is for one question; give questions of a sheet a max_error")


@dataclass(frozen=True)
class Conditions:
    """On which conditions a result is published, where they were stated beforehand.

    ``quorum_people``: promised people who must join at least; ``quorum_error``: the largest standard error;
    ``min_people``: promised people who must answer a question of several at least; ``answers_until`` and
    ``published_until``: dates; ``mode``: how answers are given.
    """

    quorum_people: int | None = None
    quorum_error: float | None = None
    min_people: int | None = None
    answers_until: str | None = None
    published_until: str | None = None
    mode: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be compared or read again."""
        error = self.quorum_error
        for people in (self.quorum_people, self.min_people):
            if people is not None and (type(people) is not int or people < 0):
                raise BadInput("the quorum's people must be a whole number of 0 or more")
        if error is not None and (type(error) not in (int, float) or not error >= 0):
            raise BadInput("the quorum's standard error must be a number of 0 or more")
        for name in ("answers_until", "published_until", "mode"):
            if getattr(self, name) is not None:
                checked_words(getattr(self, name), name)

    @classmethod
    def from_fields(cls, fields: Fields) -> Conditions:
        """Read what was written."""
        conditions = cls(
            quorum_people=fields.maybe("quorum_people", fields.take_count),
            quorum_error=fields.maybe("quorum_error", fields.take_real),
            min_people=fields.maybe("min_people", fields.take_count),
            answers_until=fields.maybe("answers_until", fields.take_text),
            published_until=fields.maybe("published_until", fields.take_text),
            mode=fields.maybe("mode", fields.take_text),
        )
        fields.finish()
        return conditions


@dataclass(frozen=True)
class Terms:
    """Everything that was asked and stated: campaign and round, whom it is for, the sheet, the conditions."""

    campaign: str
    round: int
    model: str
    sheet: Sheet
    conditions: Conditions = field(default_factory=Conditions)

    def to_record(self) -> dict[str, Any]:
        """Write them as JSON holds them."""
        return {
            "campaign": self.campaign,
            "round": self.round,
            "model": self.model,
            "sheet": self.sheet.to_record(),
            "conditions": asdict(self.conditions) | {"quorum_error": real(self.conditions.quorum_error)},
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Terms:
        """Read what `to_record` wrote."""
        terms = cls(
            campaign=fields.take_text("campaign"),
            round=fields.take_int("round"),
            model=fields.take_text("model"),
            sheet=Sheet.from_fields(fields.take_object("sheet")),
            conditions=Conditions.from_fields(fields.take_object("conditions")),
        )
        fields.finish()
        return terms


def check_terms(terms: Terms) -> None:
    """Refuse a model that optin does not know, and what cannot name a release."""
    if terms.model not in (PRIVACY_CONSTRAINED, QUASI_LINEAR):
        raise BadInput('this announcement cannot be read: "model" is not one that optin knows')
    checked_campaign(terms.campaign)
    check_round(terms.round)
