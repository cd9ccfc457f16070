"""What a draft asks, as the terms that are announced: every word of it comes under the offer's fingerprint.

What someone answers is kept as one code for each question, a number; a sheet has so many of them, whatever was answered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from optin.announcement.terms import SEALED_ANSWERS, Conditions
from optin.errors import BadInput
from optin.questions import Number, Question, Sheet
from optin.web.service.drafts import Draft
from optin.wording.sentences import Sentence


def sheet_of(draft: Draft) -> Sheet:
    """Return the sheet that a draft asks for: its own, or that of the one number it describes."""
    if draft.sheet is not None:
        return draft.sheet
    question = Number(
        "value",
        bounds=(draft.lower, draft.upper),
        sd=draft.data_sd,
        unit=draft.unit,
        text=draft.question,
        max_gap=draft.max_gap,
    )
    return Sheet([question], title=draft.title, purpose=draft.purpose, asked_by=draft.asked_by)


def words_said(draft: Draft) -> tuple[str, str]:
    """Say a campaign's title and purpose in the language spoken here, or else as they were written."""
    sheet = sheet_of(draft)
    return sheet.title_said, sheet.purpose_said


def conditions_of(draft: Draft) -> Conditions:
    """Return on which conditions its result is published."""
    mode = SEALED_ANSWERS if draft.sealed else "answers after the announcement"
    if draft.sealed and draft.window_hours:
        mode += f", to be changed or withdrawn for {draft.window_hours:g} hours after the announcement"
    elif draft.automatic:
        mode += f", for {draft.window_hours:g} hours"
    if draft.open_link:
        mode += f"; by an open link for at most {draft.open_link} answers, one for each device"
    if draft.automatic:
        mode += "; closed and published by itself then, with enough people"
    return Conditions(quorum_people=draft.quorum_people, quorum_error=draft.quorum_standard_error, mode=mode)


def codes_of(sheet: Sheet, answers: Mapping[str, Any]) -> tuple[float, ...]:
    """Code one person's answers, by the names of questions; NaN where they left one out.

    >>> import optin
    >>> sheet = Sheet([optin.YesNo("break"), optin.Choice("shift", options=("early", "late")), Number("hours", bounds=(0, 80))])
    >>> codes_of(sheet, {"break": True, "shift": "late", "hours": 38})
    (0.0, 1.0, 38.0)
    """
    unknown = set(answers) - {question.name for question in sheet}
    if unknown:
        raise BadInput("there is an answer to a question that is not asked; load the page again")
    codes = tuple(_code(question, answers.get(question.name), alone=len(sheet) == 1) for question in sheet)
    if all(math.isnan(code) for code in codes):
        raise BadInput("nothing is answered yet: answer at least one question, or decline")
    return codes


def answers_of(sheet: Sheet, codes: list[tuple[float, ...] | None]) -> dict[str, list[Any]]:
    """Return columns of answers that have these codes, one entry for each person; None where there is none."""
    return {
        question.column: [_answer(question, each[place] if each else math.nan) for each in codes]
        for place, question in enumerate(sheet)
    }


def _answer(question: Question, code: float) -> Any:  # noqa: ANN401 - whatever a kind is answered by
    return None if math.isnan(code) else question.decoded(code)


def _code(question: Question, answer: Any, *, alone: bool) -> float:  # noqa: ANN401
    """Code one answer; what is wrong with it is told without it, and of several questions with the one it is about."""
    if answer is None:
        return math.nan
    try:
        return question.by_hand(answer)
    except BadInput as refusal:
        template, data = refusal.template, refusal.data
    if alone:
        raise BadInput(template, **data)
    raise BadInput("“{asked}”: {why}", asked=asked(question), why=Sentence(template, **data))


def asked(question: Question) -> str:
    """Say what is asked, in its own words or by its name."""
    return question.text or question.name
