"""What a campaign says of itself, in its reader's language where its sheet has it, and in its own words where not."""

from __future__ import annotations

from optin.questions import Sheet
from optin.web.service.drafts import Draft
from optin.web.service.records import Published
from optin.wording.numbers import count


def title_said(asking: Draft | Published) -> str:
    """Say the title."""
    sheet = _sheet(asking)
    return asking.title if sheet is None else sheet.title_said or asking.title


def purpose_said(asking: Draft | Published) -> str:
    """Say why it is asked."""
    sheet = _sheet(asking)
    return asking.purpose if sheet is None else sheet.purpose_said or asking.purpose


def question_said(asking: Draft | Published) -> str:
    """Say what is asked: the question, or how many there are.

    >>> question_said(Draft(question="How many hours did you sleep?"))
    'How many hours did you sleep?'
    """
    sheet = _sheet(asking)
    if sheet is None:
        return asking.question
    if len(sheet) > 1:
        return count(len(sheet), "question", "questions")
    only = sheet.questions[0]
    return sheet.text_said(only) if only.text or isinstance(asking, Draft) else asking.question


def _sheet(asking: Draft | Published) -> Sheet | None:
    return asking.sheet if isinstance(asking, Draft) else asking.announcement.parts[0].sheet
