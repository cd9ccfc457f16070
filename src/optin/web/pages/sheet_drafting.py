"""Drafting a campaign from a sheet that was written elsewhere: pasted as TOML, told back, and foreseen for imagined people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from optin.errors import BadInput, OptinError
from optin.questions import Sheet
from optin.report.sheet_plan import shares_section
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.drafting import imagined, quorum_words
from optin.web.pages.forms import Texts, sentence
from optin.web.pages.numbers import typed_number
from optin.web.pages.rendering import REFUSALS, moved, show
from optin.web.service import campaigns, preview
from optin.web.service.drafts import PRIVACY_CONSTRAINED, WINDOW_HOURS, WORDS, Draft, sheet_from

router = APIRouter(prefix="/a")
_FRESH = {"sheet": "", "sealed": "yes", "public": "", "quorum_people": "20", "expected": "200", "mix": "mixed"}
_FRESH |= {"answer_by": "", "window_hours": f"{WINDOW_HOURS:g}"}
_EXAMPLE = """title = "Breaks on the ward"
purpose = "To plan the rota of next year."
asked_by = "The staff council"

[[question]]
kind = "yes-no"
name = "break"
text = "Did you skip a break last week?"
"""


@router.get("/new-sheet")
def new(visitor: AnalystOnly) -> Response:
    """Show an empty field for a sheet."""
    return _form(visitor, _FRESH)


@router.post("/new-sheet")
def create(service: ServiceOf, visitor: AnalystOnly, form: Texts) -> Response:
    """Look at a sheet, or keep it as a draft."""
    try:
        draft = _draft(form)
        if form.get("look"):
            return _form(visitor, form, draft=draft)
        made = campaigns.create(service, visitor, draft)
    except REFUSALS as refusal:
        return _form(visitor, form, message=sentence(refusal), status=refusal.http_status)
    return moved(f"/a/c/{made}")


@router.get("/c/{campaign}/sheet")
def edit(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show a draft's sheet again."""
    draft = campaigns.to_revise(service, visitor, campaign)
    return _form(visitor, _as_texts(draft), draft=draft if draft.sheet else None, campaign=campaign)


@router.post("/c/{campaign}/sheet")
def revise(service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Change a draft's sheet."""
    campaigns.to_revise(service, visitor, campaign)
    try:
        draft = _draft(form)
        if form.get("look"):
            return _form(visitor, form, draft=draft, campaign=campaign)
        campaigns.revise(service, visitor, campaign, draft)
    except REFUSALS as refusal:
        status = refusal.http_status
        return _form(visitor, form, campaign=campaign, message=sentence(refusal), status=status)
    return moved(f"/a/c/{campaign}")


def _draft(form: Mapping[str, str]) -> Draft:
    if not form.get("sheet", "").strip():
        raise BadInput("there is no sheet yet: paste one")
    people = form.get("quorum_people", "")
    return Draft(
        sheet=sheet_from(form.get("sheet", "")),
        sealed=bool(form.get("sealed")),
        public=bool(form.get("public")),
        quorum_people=int(people) if people.isdecimal() and len(people) < 10 else 0,
        answer_by=form.get("answer_by", ""),
        window_hours=typed_number(form.get("window_hours") or "0", WORDS["window_hours"]).number,
    )


def _form(
    visitor: AnalystOnly,
    given: Mapping[str, str],
    *,
    draft: Draft | None = None,
    campaign: str | None = None,
    message: str | None = None,
    status: int = 200,
) -> Response:
    context = {
        "form": {**dict.fromkeys(_FRESH, ""), **given},
        "example": _EXAMPLE,
        "action": f"/a/c/{campaign}/sheet" if campaign else "/a/new-sheet",
        "back": f"/a/c/{campaign}" if campaign else "/a",
        "message": message,
        "seen": None if draft is None else _seen(draft, given),
    }
    return show("desk/sheet.html", visitor=visitor, status=status, **context)


def _seen(draft: Draft, given: Mapping[str, str]) -> dict[str, Any]:
    """Say what a sheet asks, and how accurate it would be for people one can imagine."""
    try:
        found = preview.foreseen(draft, imagined({**_FRESH, **given, "model": draft.model}))
        numbers, why = shares_section(found).numbers(), ""
    except OptinError as refusal:
        numbers, why = None, sentence(refusal)
    return {"sheet": draft.sheet, "numbers": numbers, "why": why, "quorum": quorum_words(draft)}


def _as_texts(draft: Draft) -> dict[str, str]:
    if draft.model != PRIVACY_CONSTRAINED:
        raise BadInput("people of this draft state costs; change it by the JSON interface")
    texts = {name: "yes" if getattr(draft, name) else "" for name in ("sealed", "public")}
    sheet = "" if draft.sheet is None else as_toml(draft.sheet)
    more = {"answer_by": draft.answer_by, "window_hours": f"{draft.window_hours:g}"}
    return {**_FRESH, **texts, **more, "quorum_people": str(draft.quorum_people), "sheet": sheet}


def as_toml(sheet: Sheet) -> str:
    r"""Write a sheet as people write one; what is as usual is left out.

    >>> print(as_toml(Sheet.from_toml_text('title = "t" \n[[question]]\nkind = "yes-no"\nname = "b"')))
    title = "t"
    <BLANKLINE>
    [[question]]
    kind = "yes-no"
    name = "b"
    <BLANKLINE>
    """
    record = sheet.to_record()
    questions = record.pop("questions")
    parts = [_lines(record)]
    for question in questions:
        usual = {"column": question["name"], "importance": 1.0, "max_gap": 0.0}
        parts.append("[[question]]\n" + _lines({k: v for k, v in question.items() if v != usual.get(k, "")}))
    return "\n".join(parts)


def _lines(record: Mapping[str, Any]) -> str:
    """Write keys and values; JSON's texts, numbers and lists are TOML's."""
    return "".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in record.items()
        if value is not None and value != ""
    )
