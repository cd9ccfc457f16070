"""Drafting a campaign from a sheet: questions are added, moved and changed on a page that needs no script, or come as TOML.

Nothing is stored before the draft is kept: every button sends the whole form, and what it says comes back in the form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from optin.errors import BadInput
from optin.questions import Sheet
from optin.questions.sheet import MOST_QUESTIONS
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.drafting import MOST_EXPECTED, places, told_of
from optin.web.pages.forms import Texts
from optin.web.pages.numbers import spelled, typed_number
from optin.web.pages.ready_sheets import READY
from optin.web.pages.rendering import REFUSALS, moved, sentence, show
from optin.web.pages.sheet_rows import (
    FORMS,
    SHEET_WORDS,
    Row,
    as_toml,
    languages_in,
    languages_text,
    moved_rows,
    rows_in,
    rows_of,
    toml_of,
)
from optin.web.pages.verdicts import foreseen_words
from optin.web.service import campaigns
from optin.web.service.asking import sheet_of
from optin.web.service.drafts import PRIVACY_CONSTRAINED, WINDOW_HOURS, WORDS, Draft, sheet_from
from optin.web.service.failures import NotFound
from optin.wording.language import N_, _
from optin.wording.sentences import Sentence

router = APIRouter(prefix="/a")
_FRESH = {"sealed": "yes", "public": "", "quorum_people": "20", "expected": "200", "mix": "mixed", "groups": "1"}
_FRESH |= {
    "answer_by": "",
    "language": "",
    "window_hours": f"{WINDOW_HOURS:g}",
    "automatic": "",
    "open_link": "",
    "support": "",
    "toml": "",
    "wished": "",
    "wished_of": "0",
}
_FRESH |= dict.fromkeys((*SHEET_WORDS, "languages"), "")
_COSTS = N_("people of this draft state costs; change it by the JSON interface")


@router.get("/start")
def start(visitor: AnalystOnly) -> Response:
    """Show what a campaign can begin from."""
    return show("desk/start.html", visitor=visitor, ready=READY.values())


@router.get("/new-sheet")
def new(service: ServiceOf, visitor: AnalystOnly, begin: str = "", again: str = "") -> Response:
    """Show a sheet to begin from, one that was asked before, or an empty one."""
    if again:
        draft = campaigns.show(service, visitor, again).draft
        if draft.model != PRIVACY_CONSTRAINED:
            _expect_one_number(draft)
            return moved(f"/a/new?again={again}")
        return _form(visitor, {**_as_texts(draft), "answer_by": ""}, rows_of(sheet_of(draft)), look=True)
    if not begin:
        return _form(visitor, _FRESH, [])
    if begin not in READY:
        raise NotFound
    ready = READY[begin]
    return _form(
        visitor, {**_FRESH, **_words_of(ready.sheet), "support": _(ready.support)}, rows_of(ready.sheet), look=True
    )


@router.post("/new-sheet")
def create(service: ServiceOf, visitor: AnalystOnly, form: Texts) -> Response:
    """Do what a button of the editor says, or keep the sheet as a draft."""
    if form.get("do", "keep") != "keep":
        return _changed(visitor, form)
    try:
        made = campaigns.create(service, visitor, _draft(form))
    except REFUSALS as refusal:
        return _refused(visitor, form, refusal)
    return moved(f"/a/c/{made}")


@router.get("/c/{campaign}/sheet")
def edit(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show a draft's sheet again."""
    draft = campaigns.to_revise(service, visitor, campaign)
    if draft.model != PRIVACY_CONSTRAINED:
        raise BadInput(_COSTS)
    rows = [] if draft.sheet is None else rows_of(draft.sheet)
    given = {**_as_texts(draft), "since": campaigns.mark_of(draft)}
    return _form(visitor, given, rows, campaign=campaign, look=bool(rows))


def _expect_one_number(draft: Draft) -> None:
    """Refuse a sheet whose people state costs: no page writes one."""
    if draft.sheet is not None:
        raise BadInput(_COSTS)


@router.post("/c/{campaign}/sheet")
def revise(service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Do what a button of the editor says, or keep the changed sheet."""
    stored = campaigns.to_revise(service, visitor, campaign)
    if form.get("do", "keep") != "keep":
        return _changed(visitor, form, campaign)
    try:
        campaigns.revise(service, visitor, campaign, _draft(form), since=form.get("since", ""))
    except REFUSALS as refusal:
        return _refused(visitor, told_of(form, stored, refusal), refusal, campaign)
    return moved(f"/a/c/{campaign}")


@router.get("/c/{campaign}/sheet.toml")
def sheet_file(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Give a campaign's sheet as the file that ``optin size``, ``check`` and ``plan`` read."""
    sheet = campaigns.show(service, visitor, campaign).draft.sheet
    if sheet is None:
        raise NotFound
    headers = {"Content-Disposition": 'attachment; filename="sheet.toml"'}
    return Response(as_toml(sheet), media_type="application/toml; charset=utf-8", headers=headers)


def _changed(visitor: AnalystOnly, form: Mapping[str, str], campaign: str | None = None) -> Response:
    """Show the form as a button leaves it."""
    do, rows, given = form.get("do", ""), rows_in(form), dict(form)
    try:
        if do == "import":
            sheet = sheet_from(form.get("toml", ""))
            rows, given = rows_of(sheet), {**given, **_words_of(sheet), "toml": ""}
        else:
            rows = moved_rows(rows, do)
    except REFUSALS as refusal:
        return _refused(visitor, form, refusal, campaign)
    return _form(visitor, given, rows, campaign=campaign, look=do in ("look", "import"))


def _refused(
    visitor: AnalystOnly, form: Mapping[str, str], refusal: Exception, campaign: str | None = None
) -> Response:
    status = getattr(refusal, "http_status", 422)
    return _form(visitor, form, rows_in(form), campaign=campaign, message=sentence(refusal), status=status)


def _draft(form: Mapping[str, str]) -> Draft:
    people = form.get("quorum_people", "")
    return Draft(
        sheet=_sheet(form),
        support=form.get("support", ""),
        sealed=bool(form.get("sealed")),
        public=bool(form.get("public")),
        quorum_people=int(people) if people.isdecimal() and len(people) < 10 else 0,
        answer_by=form.get("answer_by", ""),
        language=form.get("language", ""),
        automatic=bool(form.get("automatic")),
        open_link=places(form.get("open_link", "").strip()),
        window_hours=typed_number(form.get("window_hours") or "0", Sentence(WORDS["window_hours"])).number,
    )


def _sheet(form: Mapping[str, str]) -> Sheet:
    """Read the sheet of a form, and what it says in other languages."""
    sheet = sheet_from(toml_of(form, rows_in(form)))
    words = {name: getattr(sheet, name) for name in SHEET_WORDS}
    return Sheet(sheet.questions, **words, languages=languages_in(form.get("languages", "")))


def _form(
    visitor: AnalystOnly,
    given: Mapping[str, str],
    rows: list[Row],
    *,
    campaign: str | None = None,
    message: str | None = None,
    status: int = 200,
    look: bool = False,
) -> Response:
    context: dict[str, Any] = {
        "form": {**dict.fromkeys(_FRESH, ""), **given},
        "rows": rows,
        "forms": FORMS,
        "room": len(rows) < MOST_QUESTIONS,
        "campaign": campaign,
        "action": f"/a/c/{campaign}/sheet" if campaign else "/a/new-sheet",
        "back": f"/a/c/{campaign}" if campaign else "/a",
        "message": message,
        "seen": None,
    }
    if look:
        try:
            context["seen"] = foreseen_words(_draft({**given, **_fields_of(rows)}), {**_FRESH, **given})
        except REFUSALS as refusal:
            context |= {"message": sentence(refusal), "seen": None}
            status = getattr(refusal, "http_status", 422)
    return show("desk/sheet.html", visitor=visitor, status=status, **context)


def _fields_of(rows: list[Row]) -> dict[str, str]:
    """Write rows as the fields of a form."""
    return {f"q{place}-{column}": text for place, row in enumerate(rows) for column, text in row.items()}


def _words_of(sheet: Sheet) -> dict[str, str]:
    return {name: getattr(sheet, name) for name in SHEET_WORDS} | {"languages": languages_text(sheet)}


def _as_texts(draft: Draft) -> dict[str, str]:
    texts = {name: "yes" if getattr(draft, name) else "" for name in ("sealed", "public", "automatic")}
    texts["open_link"] = str(draft.open_link or "")
    more = {"answer_by": draft.answer_by, "window_hours": spelled(draft.window_hours), "support": draft.support}
    more["language"] = draft.language
    words = _words_of(sheet_of(draft))
    expected = min(max(draft.quorum_people, 200), MOST_EXPECTED)
    counts = {"quorum_people": str(draft.quorum_people), "expected": str(expected)}
    return {**_FRESH, **texts, **more, **words, **counts}
