"""What a draft asks, as the terms that are announced: every word of it comes under the offer's fingerprint."""

from __future__ import annotations

from optin.announcement.terms import Conditions
from optin.questions import Number, Sheet
from optin.web.service.records import Draft


def sheet_of(draft: Draft) -> Sheet:
    """Return the sheet of one number that a draft asks for."""
    question = Number(
        "value",
        bounds=(draft.lower, draft.upper),
        sd=draft.data_sd,
        unit=draft.unit,
        text=draft.question,
        max_gap=draft.max_gap,
    )
    return Sheet([question], title=draft.title, purpose=draft.purpose)


def conditions_of(draft: Draft) -> Conditions:
    """Return on which conditions its result is published."""
    mode = "sealed answers" if draft.sealed else "answers after the announcement"
    return Conditions(quorum_people=draft.quorum_people, quorum_error=draft.quorum_standard_error, mode=mode)
