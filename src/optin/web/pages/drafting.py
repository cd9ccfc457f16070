"""Drafting a campaign, with a live preview of its accuracy for people one can imagine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.errors import BadInput, OptinError, PromiseBroken
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.forms import Texts
from optin.web.pages.numbers import spelled, typed_number
from optin.web.pages.rendering import REFUSALS, moved, sentence, show
from optin.web.pages.wording import cap_words
from optin.web.service import campaigns, preview
from optin.web.service.drafts import PRIVACY_CONSTRAINED, WINDOW_HOURS, WORDS, Draft
from optin.web.service.ladder import LIMITS
from optin.web.service.records import Preview
from optin.wording.language import N_, _
from optin.wording.numbers import at_most, count, people_like, short
from optin.wording.sentences import Sentence

router = APIRouter(prefix="/a")
_MIXES = {
    "careful": (N_("mostly careful"), (5, 10, 20, 25, 20, 10, 6, 3, 1, 0)),
    "mixed": (N_("mixed"), (3, 5, 10, 15, 20, 20, 15, 7, 3, 2)),
    "open": (N_("mostly open"), (0, 1, 3, 6, 12, 18, 25, 20, 10, 5)),
}
_FRESH = {"expected": "200", "mix": "mixed", "lower": "0", "upper": "1", "quorum_people": "20", "max_gap": "0"}
_FRESH |= {"sealed": "yes", "window_hours": f"{WINDOW_HOURS:g}"}
_BLANK = dict.fromkeys((field.name for field in fields(Draft)), "")
_COSTLY = ("benefit_base", "benefit_slope", "outside", "slack")
LEAST_EXPECTED, MOST_EXPECTED = 10, 10**6


@router.get("/new")
def new(service: ServiceOf, visitor: AnalystOnly, again: str = "") -> Response:
    """Show an empty draft, or what was asked before."""
    if not again:
        return _form(visitor, _FRESH)
    before = campaigns.show(service, visitor, again).draft
    if before.sheet is not None:
        return moved(f"/a/new-sheet?again={again}")
    return _form(visitor, {**_FRESH, **_as_texts(before), "answer_by": ""})


@router.post("/new")
def create(service: ServiceOf, visitor: AnalystOnly, form: Texts) -> Response:
    """Keep a new draft."""
    given = form
    try:
        made = campaigns.create(service, visitor, draft_of(given))
    except REFUSALS as refusal:
        return _form(visitor, given, message=sentence(refusal), status=refusal.http_status)
    return moved(f"/a/c/{made}")


@router.get("/c/{campaign}/edit")
def edit(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show a draft again."""
    draft = campaigns.to_revise(service, visitor, campaign)
    if draft.sheet is not None:
        return moved(f"/a/c/{campaign}/sheet")
    return _form(visitor, {**_FRESH, **_as_texts(draft), "since": campaigns.mark_of(draft)}, campaign=campaign)


@router.post("/c/{campaign}/edit")
def revise(service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Change a draft."""
    stored = campaigns.to_revise(
        service, visitor, campaign
    )  # what cannot be changed is refused before its form is checked
    try:
        campaigns.revise(service, visitor, campaign, draft_of(form), since=form.get("since", ""))
    except REFUSALS as refusal:
        status, message = refusal.http_status, sentence(refusal)
        return _form(visitor, told_of(form, stored, refusal), campaign=campaign, message=message, status=status)
    return moved(f"/a/c/{campaign}")


def told_of(form: Mapping[str, str], stored: Draft, refusal: Exception) -> dict[str, str]:
    """Take whoever was told that a draft has changed as having seen it: kept once more, theirs takes its place."""
    return {**form, "since": campaigns.mark_of(stored)} if isinstance(refusal, PromiseBroken) else dict(form)


@router.get("/preview")
def preview_part(request: Request, visitor: AnalystOnly) -> Response:
    """Work out the accuracy of what is typed so far, for people one can imagine."""
    given = {key: value for key, value in request.query_params.items() if len(value) < 100}
    return show("desk/preview.html", visitor=visitor, form={**_BLANK, **given}, **_foreseen(given))


def _form(
    visitor: AnalystOnly,
    given: Mapping[str, str],
    *,
    campaign: str | None = None,
    message: str | None = None,
    status: int = 200,
) -> Response:
    more = any(given.get(name) not in (None, "", _FRESH.get(name)) for name in ("quorum_people", "max_gap", *_COSTLY))
    context = {
        "form": {**_BLANK, **_FRESH, **given, "more": more or given.get("model") == "quasi-linear"},
        "mixes": [(key, _(mix[0])) for key, mix in _MIXES.items()],
        "heading": _("Edit the draft") if campaign else _("New campaign"),
        "button": _("Keep the changes") if campaign else _("Keep as a draft"),
        "action": f"/a/c/{campaign}/edit" if campaign else "/a/new",
        "back": f"/a/c/{campaign}" if campaign else "/a",
        "message": message,
    }
    return show("desk/draft.html", visitor=visitor, status=status, **context, **_foreseen(given))


def _as_texts(draft: Draft) -> dict[str, str]:
    """Write a draft as its form had it."""
    spelled = {True: "yes", False: "", None: ""}
    return {
        key: ""
        if key == "open_link" and not value
        else spelled[value]
        if value is None or isinstance(value, bool)
        else _spelled(value)
        for key, value in draft.to_record().items()
        if key != "sheet" and not (key in _COSTLY and draft.model == PRIVACY_CONSTRAINED)
    }


def _spelled(value: object) -> str:
    return spelled(value) if isinstance(value, float) else str(value)


def draft_of(given: Mapping[str, str]) -> Draft:
    """Read a draft from its form; what is wrong with it is told by the service."""
    draft = Draft(
        title=given.get("title", ""),
        question=given.get("question", ""),
        purpose=given.get("purpose", ""),
        asked_by=given.get("asked_by", ""),
        unit=given.get("unit", ""),
        model=given.get("model", PRIVACY_CONSTRAINED),
        lower=_number(given, "lower"),
        upper=_number(given, "upper"),
        data_sd=_maybe(given, "data_sd"),
        max_gap=_number(given, "max_gap", otherwise=0.0),
        sealed=bool(given.get("sealed")) and given.get("model", PRIVACY_CONSTRAINED) == PRIVACY_CONSTRAINED,
        answer_by=given.get("answer_by", ""),
        language=given.get("language", ""),
        window_hours=_number(given, "window_hours", otherwise=0.0),
        automatic=bool(given.get("automatic")),
        open_link=places(given.get("open_link", "").strip()),
        public=bool(given.get("public")),
        quorum_people=_integer(given.get("quorum_people", "20")),
        quorum_standard_error=_maybe(given, "quorum_standard_error"),
    )
    return draft if draft.model == PRIVACY_CONSTRAINED else _with_benefit(draft, given)


def _with_benefit(draft: Draft, given: Mapping[str, str]) -> Draft:
    outside = given.get("outside", "").strip() or "0"
    return replace(
        draft,
        benefit_base=_number(given, "benefit_base", otherwise=1.0),
        benefit_slope=_number(given, "benefit_slope", otherwise=1.0),
        outside="own-data" if outside == "own-data" else _number({"outside": outside}, "outside"),
        slack=_number(given, "slack", otherwise=0.0),
    )


def _number(given: Mapping[str, str], name: str, *, otherwise: float | None = None) -> float:
    text = given.get(name, "").strip()
    return otherwise if not text and otherwise is not None else typed_number(text, Sentence(WORDS[name])).number


def _maybe(given: Mapping[str, str], name: str) -> float | None:
    return typed_number(given[name], Sentence(WORDS[name])).number if given.get(name, "").strip() else None


def places(text: str) -> int:
    """Read how many answers an open link takes: nothing is none, and what is no number above 0 is refused as -1.

    >>> places(""), places("50"), places("0"), places("many")
    (0, 50, -1, -1)
    """
    return (_integer(text) or -1) if text else 0


def _integer(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _foreseen(given: Mapping[str, str]) -> dict[str, Any]:
    """Plan for imagined people; while the form cannot be planned, say why."""
    try:
        draft = replace(draft_of(given), title="preview", question="preview", purpose="", unit="")
        foreseen = preview.accuracy(draft, imagined(given))
        words = preview_words(foreseen, max_gap=draft.max_gap, highest=LIMITS[-1].amount)
        return {"preview": words, "quorum": quorum_words(draft, expected=foreseen.people)}
    except OptinError as refusal:
        return {"preview": None, "why": sentence(refusal)}


def imagined(given: Mapping[str, str]) -> list[int]:
    """Spread so many people over the ladder; from costs, the careful stand at the other end."""
    people = _integer(given.get("expected", "200"))
    if not LEAST_EXPECTED <= people <= MOST_EXPECTED:
        raise BadInput("expected people must be 10 to {most:,}", most=MOST_EXPECTED)
    shares = _MIXES.get(given.get("mix", ""), _MIXES["mixed"])[1]
    if given.get("model") == "quasi-linear":
        shares = shares[::-1]
    ends = [round(people * sum(shares[: k + 1]) / sum(shares)) for k in range(len(shares))]
    return [high - low for low, high in zip([0, *ends], ends, strict=False)]


def quorum_words(draft: Draft, *, expected: int | None = None) -> str:
    """Say with how many people a result is published at all; it can be set, and few know that it is.

    >>> quorum_words(Draft(title="t", question="q", lower=0.0, upper=1.0), expected=12)
    'Nothing is published unless 20 people or more join. You expect fewer.'
    """
    error = draft.quorum_standard_error
    most = "" if error is None else _(", and the standard error is at most {error}", error=short(error))
    few = _(" You expect fewer.") if expected is not None and expected < draft.quorum_people else ""
    return _(
        "Nothing is published unless {quorum_people} or more join{most}.{few}",
        quorum_people=count(draft.quorum_people),
        most=most,
        few=few,
    )


def preview_words(foreseen: Preview, *, max_gap: float, highest: float = math.inf) -> dict[str, Any]:
    """Put a preview in words; a cap above the highest limit asks everyone for all they allow."""
    return {
        "half_width": at_most(foreseen.half_width),
        "standard_error": short(foreseen.standard_error),
        "bias": short(max_gap * foreseen.tilt, 2),
        "effective": people_like(foreseen.effective_people),
        "besides_gap": _(", without the gap") if max_gap > 0 else "",
        "cap": cap_words(foreseen.cap, highest=highest),
        "warnings": foreseen.warnings,
    }
