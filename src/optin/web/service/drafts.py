"""What a campaign asks and on which terms: the draft, and what it must keep to before anyone may read it."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.questions import Sheet
from optin.web.languages import tags
from optin.wording.language import N_
from optin.wording.sentences import Sentence

PRIVACY_CONSTRAINED = "privacy-constrained"
QUASI_LINEAR = "quasi-linear"
FARTHEST, MOST_SLACK, MOST_PEOPLE, MOST_BY_LINK = 1e12, 10, 10**9, 10**6
WINDOW_HOURS, MOST_HOURS = 48.0, 24 * 50
LONGEST = {"title": 120, "question": 2000, "purpose": 4000, "unit": 40, "asked_by": 120, "sheet": 40_000, "group": 80}
LONGEST |= {"support": 2000}
"""What a draft may hold at most; the JSON interface states the same."""
_SLIMMEST = 1e-9
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Not shown themselves, but letters beside them are shaped by them: Persian and Hindi are spelled with them, and emoji are."""
WORDS = {
    "title": N_("the title"),
    "question": N_("the question"),
    "purpose": N_("why it is asked"),
    "unit": N_("the unit"),
    "asked_by": N_("who asks"),
    "support": N_("the text for everyone"),
    "window_hours": N_("the time to change or withdraw after the announcement"),
    "lower": N_("the smallest answer"),
    "upper": N_("the largest answer"),
    "data_sd": N_("the standard deviation"),
    "max_gap": N_("the largest gap"),
    "slack": N_("the room for people who decline"),
    "quorum_people": N_("the least number of people to publish with"),
    "quorum_standard_error": N_("the largest standard error to publish with"),
    "benefit_base": N_("the benefit of a perfect result"),
    "benefit_slope": N_("the benefit lost per unit of variance"),
    "outside": N_("the benefit of staying out"),
    "decline_share": N_("the share of people who decline"),
}
"""What the parts of a draft are called where people read about them: on pages, and in whatever is said about them."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a campaign asks and on which terms; fixed when registration opens."""

    title: str = ""
    question: str = ""
    purpose: str = ""
    asked_by: str = ""
    unit: str = ""
    model: str = PRIVACY_CONSTRAINED
    lower: float = 0.0
    upper: float = 1.0
    data_sd: float | None = None
    max_gap: float = 0.0
    slack: float = 0.0
    sealed: bool = False
    public: bool = False
    quorum_people: int = 20
    quorum_standard_error: float | None = None
    benefit_base: float = 1.0
    benefit_slope: float = 1.0
    outside: float | Literal["own-data"] = 0.0
    answer_by: str = ""
    """The last day to answer in one visit, or to choose a limit, as 2026-03-14; empty where its analyst closes it."""
    window_hours: float = 0.0
    """How long people may change or withdraw sealed answers after the announcement, at least."""
    automatic: bool = False
    """Whether it closes, announces and publishes by itself after the last day to answer, where enough people came."""
    open_link: int = 0
    """How many answers one link that anyone may use takes at most; 0 where there is no such link."""
    support: str = ""
    """A text that everyone is shown, before and after they answer and whatever they answer, such as whom to call."""
    language: str = ""
    """The language of its mails, as a tag; empty for that of whoever runs the service."""
    sheet: Sheet | None = None
    """What is asked where it is more than one number: title, purpose and who asks are then the sheet's."""

    def to_record(self) -> dict[str, Any]:
        """Write the draft as JSON holds it."""
        return {**_fields_of(self), "sheet": None if self.sheet is None else self.sheet.to_record()}

    def to_json(self) -> str:
        """Write the draft as the store keeps it."""
        return json.dumps(self.to_record(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Draft:
        """Read back what `to_json` wrote, also before there were sheets."""
        record = json.loads(text)
        sheet = record.pop("sheet", None)
        return cls(**record, sheet=None if sheet is None else sheet_from(sheet))


def _fields_of(draft: Draft) -> dict[str, Any]:
    return {each.name: getattr(draft, each.name) for each in fields(Draft) if each.name != "sheet"}


def sheet_from(given: str | dict[str, Any]) -> Sheet:
    """Read a sheet from TOML as people write it, or from JSON as a sheet writes itself."""
    return Sheet.from_toml_text(given) if isinstance(given, str) else Sheet.from_fields(Fields(given, "sheet"))


def _checked_sheet(draft: Draft, sheet: Sheet) -> Draft:
    """Take over what a sheet says of itself; answers stand under the names of questions, whatever columns they came from."""
    for question in sheet:
        _text("question", question.text)
        _text("unit", question.unit)
        if len(question.name) > LONGEST["title"]:
            raise BadInput("the name of a question must have at most {most} characters", most=LONGEST["title"])
    if len(json.dumps(sheet.to_record(), ensure_ascii=False)) > LONGEST["sheet"]:
        raise BadInput("the sheet is too long: at most {most:,} characters", most=LONGEST["sheet"])
    if len(sheet) > 1 and draft.quorum_standard_error is not None:
        raise BadInput("a largest standard error is for one question; give the questions of a sheet a max_error")
    questions = [replace(question, column=question.name) for question in sheet]  # type: ignore[type-var]
    words: dict[str, Any] = {name: _text(name, getattr(sheet, name)) for name in ("purpose", "asked_by")}
    title = _text("title", sheet.title, least=1)
    only = sheet.questions[0]
    told = (only.text or only.name) if len(sheet) == 1 else f"{len(sheet)} questions"
    return replace(
        draft,
        title=title,
        question=told,
        **words,
        sheet=Sheet(questions, title=title, **words, languages=sheet.languages),
    )


def checked_draft(draft: Draft) -> Draft:
    """Refuse a draft that could never be planned; numbers become floats, texts lose spaces at their ends."""
    if draft.sheet is not None:
        draft = _checked_sheet(draft, draft.sheet)
    draft = replace(
        draft,
        title=_text("title", draft.title, least=1),
        question=_text("question", draft.question, least=1),
        purpose=_text("purpose", draft.purpose),
        unit=_text("unit", draft.unit),
        asked_by=_text("asked_by", draft.asked_by),
        support=_text("support", draft.support),
    )
    names = ("lower", "upper", "max_gap", "slack", "benefit_base", "benefit_slope")
    numbers: dict[str, Any] = {name: _number(name, getattr(draft, name)) for name in names}
    draft = replace(draft, **numbers)
    if draft.language and draft.language not in tags():
        raise BadInput("the language of mails must be one of {known}, or be left out", known=", ".join(tags()))
    if draft.model not in (PRIVACY_CONSTRAINED, QUASI_LINEAR):
        raise BadInput("people must state a limit or a cost; choose one of the two")
    _check_scale(draft)
    _check_terms(draft)
    _check_times(draft)
    return draft


def _check_times(draft: Draft) -> None:
    if draft.answer_by and last_moment(draft) is None:
        raise BadInput("the last day to answer must be a date such as 2026-03-14, or be left out")
    if draft.automatic and not (draft.answer_by and draft.window_hours):
        raise BadInput(
            "to run by itself a campaign needs a last day to answer, and hours after the announcement in which people look at"
            " their deal; give both, or take each step yourself"
        )
    if not 0 <= draft.open_link <= MOST_BY_LINK:
        raise BadInput("an open link takes a whole number of answers, 1 to {most:,}, or is left out", most=MOST_BY_LINK)
    if draft.open_link and (draft.public or not (draft.sealed and draft.answer_by)):
        raise BadInput(
            "an open link is for answers in one visit, with a last day to answer, where not just anyone may sign up: give it a "
            "last day and one visit, or leave it out"
        )
    if not 0.0 <= _number("window_hours", draft.window_hours) <= MOST_HOURS:
        raise BadInput("{window} must be 0 to {most} hours", window=Sentence(WORDS["window_hours"]), most=MOST_HOURS)


def last_moment(draft: Draft) -> float | None:
    """Return the end of the last day to answer, in seconds since 1970; None where there is none.

    >>> last_moment(Draft(answer_by="1970-01-01")), last_moment(Draft())
    (86400.0, None)
    """
    with contextlib.suppress(ValueError, OverflowError):  # the last day that there is has no end
        return (datetime.strptime(draft.answer_by, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)).timestamp()
    return None


def _check_scale(draft: Draft) -> None:
    width = draft.upper - draft.lower
    if not width >= _SLIMMEST:
        raise BadInput("the lower bound must lie below the upper one, by {slimmest:g} or more", slimmest=_SLIMMEST)
    if draft.data_sd is not None and not 0.0 <= _number("data_sd", draft.data_sd) <= width / 2:
        raise BadInput(
            "{data_sd} must lie between 0 and {width:g}, half the distance of the bounds: no answers between"
            " them can spread more",
            data_sd=Sentence(WORDS["data_sd"]),
            width=width / 2,
        )
    if not 0.0 <= draft.max_gap <= width:
        raise BadInput(
            "{max_gap} must lie between 0 and {width:g}, the distance of the bounds",
            max_gap=Sentence(WORDS["max_gap"]),
            width=width,
        )
    if draft.max_gap and draft.model != PRIVACY_CONSTRAINED:
        raise BadInput(
            "{max_gap} can be declared only where people state limits; with costs leave it at 0",
            max_gap=Sentence(WORDS["max_gap"]),
        )


def _check_terms(draft: Draft) -> None:
    if not 0.0 <= draft.slack <= MOST_SLACK:
        raise BadInput("{slack} must lie between 0 and {most}", slack=Sentence(WORDS["slack"]), most=MOST_SLACK)
    if draft.slack and draft.model == PRIVACY_CONSTRAINED:
        raise BadInput(
            "{slack} is for people who weigh costs; with limits leave it at 0", slack=Sentence(WORDS["slack"])
        )
    if draft.sealed and draft.model != PRIVACY_CONSTRAINED:
        raise BadInput("a sealed campaign needs people with limits: what others accept is not known before the plan")
    if not 1 <= draft.quorum_people <= MOST_PEOPLE:
        raise BadInput(
            "{quorum_people} must be a whole number from 1 to {most}, in digits alone",
            quorum_people=Sentence(WORDS["quorum_people"]),
            most=MOST_PEOPLE,
        )
    if (
        draft.quorum_standard_error is not None
        and not _number("quorum_standard_error", draft.quorum_standard_error) > 0
    ):
        raise BadInput(
            "{quorum_standard_error} must be above 0, or left out",
            quorum_standard_error=Sentence(WORDS["quorum_standard_error"]),
        )
    if draft.benefit_slope < 0:
        raise BadInput(
            "{benefit_slope} must be 0 or more: a benefit may not rise with the variance",
            benefit_slope=Sentence(WORDS["benefit_slope"]),
        )
    if draft.outside != "own-data":
        _number("outside", draft.outside)


def _text(name: str, text: str, *, least: int = 0) -> str:
    text = text.strip().strip(_JOINERS).strip()
    if not least <= len(text) <= LONGEST[name]:
        many = N_("{words} must have 1 to {most} characters")
        raise BadInput(
            many if least else N_("{words} must have at most {most} characters"),
            words=Sentence(WORDS[name]),
            most=LONGEST[name],
        )
    if not all(letter.isprintable() or letter in f"\n{_JOINERS}" for letter in text.replace("\r\n", "\n")):
        raise BadInput("{words} has characters that cannot be shown; remove them", words=Sentence(WORDS[name]))
    return text.replace("\r\n", "\n")


def _number(name: str, number: Any) -> float:  # noqa: ANN401
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise BadInput("{words} must be a finite number", words=Sentence(WORDS[name]))
    if not abs(number) <= FARTHEST:
        raise BadInput(
            "{words} must lie within {farthest:g}; measure in a larger unit",
            words=Sentence(WORDS[name]),
            farthest=FARTHEST,
        )
    return float(number) + 0.0  # minus zero becomes zero
