"""The analyst's desk: their campaigns, one campaign's progress in counts, its steps, and invitations."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.announcement.making import MIN_PEOPLE
from optin.questions import Sheet
from optin.report.sheet_release import says_little
from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.pages.cautions import cautions_before
from optin.web.pages.coming import doubles_before
from optin.web.pages.desk_steps import STEPS
from optin.web.pages.figures import figures_table, one_number
from optin.web.pages.forms import Texts, origin_of, round_of
from optin.web.pages.rendering import REFUSALS, moved, said_again, sentence, show
from optin.web.pages.sheet_rows import FORMS
from optin.web.pages.stages import STATE_NAMES, analyst_stages, day
from optin.web.pages.times import last_day, missed_words, next_words, plan_of_times
from optin.web.pages.wording import result_words
from optin.web.pages.years import again_words
from optin.web.service import accounts, campaigns, extending, next_time, open_links, roles, steps
from optin.web.service.asking import sheet_of
from optin.web.service.core import new_secret
from optin.web.service.drafts import Draft
from optin.web.service.log import council_address
from optin.web.service.lookups import READER
from optin.web.service.records import Campaign, Visitor
from optin.wording.groups import SMALLEST_GROUP, tens_in_words
from optin.wording.language import N_, _, localised
from optin.wording.numbers import count, short

router = APIRouter(prefix="/a")


_SIDE_WAYS = ("reopen-registration", "reopen-answers", "new-round", "cancel")
_WORKING = {
    "announce": N_("Announcing the plan"),
    "release": N_("Publishing the result"),
    "new-round": N_("Beginning a new round"),
    "cancel": N_("Cancelling"),
}


@router.get("")
def desk(service: ServiceOf, visitor: AnalystOnly) -> Response:
    """List this analyst's campaigns."""
    mine = campaigns.mine(service, visitor)
    runs = roles.is_administrator(service, visitor)
    return show("desk/list.html", visitor=visitor, campaigns=mine, state_name=STATE_NAMES, summary=_summary, runs=runs)


def _summary(campaign: Campaign) -> str:
    if campaign.state in ("draft", "cancelled"):
        return ""
    if campaign.state in ("registration", "planning"):
        return _("{registered} registered", registered=tens_in_words(campaign.registered))
    return _("{joined} joined", joined=tens_in_words(campaign.joined))


@router.post("/colleague")
def invite_colleague(request: Request, service: ServiceOf, visitor: AnalystOnly) -> Response:
    """Make a one-time link for another analyst, good for a week."""
    link = f"{origin_of(request)}/setup#{accounts.invite_analyst(service, visitor)}"
    return show("desk/colleague.html", visitor=visitor, link=link)


@router.get("/c/{campaign}")
def campaign_page(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show one campaign: counts, what comes next, what happened."""
    return _page(request, service, visitor, campaign)


def _page(
    request: Request,
    service: ServiceOf,
    visitor: Visitor,
    campaign: str,
    *,
    message: str | None = None,
    status: int = 200,
) -> Response:
    view, log = campaigns.show(service, visitor, campaign), campaigns.log(service, visitor, campaign)
    works = roles.role_of(service, visitor, campaign) != READER
    forward = _forward(view) if works else []
    reopened = any((event.kind, event.round) == ("reopen-answers", view.round) for event in log)
    context = {
        "stages": analyst_stages(view.state),
        "state_name": STATE_NAMES,
        "next": STEPS[forward[0]] if forward else None,
        "others": [STEPS[step] for step in view.steps if works and step not in forward and not _in_vain(view, step)],
        "works": works,
        "failed": sentence(view.job.error or N_("it failed")) if view.job and view.job.state == "failed" else None,
        "facts": _facts(view.draft),
        "planned": view.state not in ("draft", "registration", "cancelled"),
        "result": result_words(view.release) if view.release else None,
        "figures": figures_table(view.release) if view.release and not one_number(view.release) else None,
        "events": [{"at": day(event.at), "words": said_again(event.words)} for event in log],
        "message": message,
        "cautions": cautions_before(service, visitor, view),
        "unit": sheet_of(view.draft).questions[0].unit,
        "little": says_little(view.release) if view.release else (),
        "page": new_secret(),
        "publish_by": day(view.publish_by),
        "again": again_words(next_time.can_again(service, visitor, campaign)),
        "by_itself": next_words(view),
        "stopped": missed_words(view),
        "movable": works and bool(view.draft.answer_by) and view.state in ("registration", "planning"),
        "last_day": last_day(view.draft),
        "to_do": _to_do(view, reopened=reopened),
        "time_given": (
            _(
                "Answers are to be closed within {days_to_answer:g} days of the announcement, and the result "
                "published within {days_to_publish:g} days of the first closing.",
                days_to_answer=service.days_to_answer,
                days_to_publish=service.days_to_publish,
            )
        ),
    }
    link = open_links.open_link(service, visitor, campaign) if works else None
    context |= {
        "open_link": link and f"{origin_of(request)}/i#{link}",
        "doubles": doubles_before(view.draft.open_link),
    }
    context["council"] = council_address(service, view.id, public=view.draft.public)
    return show("desk/campaign.html", visitor=visitor, status=status, **_progress(view), **context)


def _forward(campaign: Campaign) -> list[str]:
    """Say which step comes next: where closing came too early, the one that leads back, if no later last day is needed."""
    if campaign.state == "planning" and _surely_too_few(campaign):
        return [step for step in campaign.steps if step == "reopen-registration" and not _in_vain(campaign, step)]
    if "reopen-answers" in campaign.steps:
        return ["reopen-answers"]
    return [step for step in campaign.steps if step not in _SIDE_WAYS][-1:]  # sealed answers may be closed unopened


def _surely_too_few(campaign: Campaign) -> bool:
    """Say whether fewer registered than are needed, as far as a count in tens tells."""
    return campaign.registered + SMALLEST_GROUP - 1 < max(MIN_PEOPLE, campaign.draft.quorum_people)


def _to_do(campaign: Campaign, *, reopened: bool) -> str:
    """Say what is to be done in time."""
    if "reopen-answers" in campaign.steps:
        return _("Open answers again, or publish,")
    if campaign.state == "closed":
        return _("Publish")
    return _("Close answers and publish") if reopened else _("Close answers")


def _in_vain(campaign: Campaign, step: str) -> bool:
    """Say that a step is there and would only be refused: too few people are in."""
    if step == "reopen-registration" and campaign.draft.answer_by:
        return True  # it is opened again by moving the last day
    few = {"announce": campaign.registered < MIN_PEOPLE, "release": not campaign.enough}
    return few.get(step, False)


def _progress(campaign: Campaign) -> dict[str, Any]:
    working = campaign.job is not None and campaign.job.unfinished
    return {
        "campaign": campaign,
        "counts": _counts(campaign),
        "warning": _warning(campaign),
        "working": working,
        "job_name": _(_WORKING.get(campaign.job.kind, N_("Working"))) if campaign.job else "",
    }


def _warning(campaign: Campaign) -> tuple[str, str]:
    """Say, as a heading and a sentence, that too few are in so far, or that too few came; nothing where that is not so."""
    if campaign.warning is None:
        return "", ""
    if campaign.state == "planning":
        return _("Too few for a result"), sentence(
            _("{warning}; open registration again, or cancel", warning=campaign.warning)
        )
    again = _("{warning}; closed too early, it would have to be opened again", warning=campaign.warning)
    return _("Too early to close"), sentence(again)


def _counts(campaign: Campaign) -> list[tuple[str, str]]:
    """List what is counted: in tens, so that no count says when someone answered; invitations are the analyst's own."""
    made = (
        [(_("links used"), tens_in_words(campaign.redeemed)), (_("links made"), localised(f"{campaign.invited:,}"))]
        if campaign.invited
        else []
    )
    if campaign.state in ("draft", "registration", "planning"):
        return [(_("registered"), _of_needed(campaign, campaign.registered)), *made]
    joined = _of_needed(campaign, campaign.joined)
    return [
        (_("joined"), joined),
        (_("declined"), tens_in_words(campaign.declined)),
        (_("registered"), tens_in_words(campaign.registered)),
    ]


def _of_needed(campaign: Campaign, people: int) -> str:
    """Say a count beside the quorum, as long as it is not reached for sure."""
    needed = campaign.draft.quorum_people
    return (
        tens_in_words(people)
        if people >= needed or campaign.release
        else _("{people} of {needed:,} needed", people=tens_in_words(people), needed=needed)
    )


def _facts(draft: Draft) -> list[tuple[str, str]]:
    if draft.sheet is not None:
        return _sheet_facts(draft, draft.sheet)
    unit = f" {draft.unit}" if draft.unit else ""
    deviation = f"{short(draft.data_sd)}{unit}" if draft.data_sd is not None else _("worst case")
    most = (
        _(", standard error at most {quorum_standard_error}", quorum_standard_error=short(draft.quorum_standard_error))
        if draft.quorum_standard_error
        else ""
    )
    rows = [
        (
            _("Answers"),
            _("{lower} to {upper}{unit}", lower=short(draft.lower, 6), upper=short(draft.upper, 6), unit=unit),
        ),
        (_("Standard deviation"), deviation),
        (_("People state"), _("a limit") if draft.model == "privacy-constrained" else _("a cost")),
        (_("Who may come and see the result"), _("anyone") if draft.public else _("by invitation")),
        (
            _("Published only with"),
            _("{quorum_people} or more{most}", quorum_people=count(draft.quorum_people), most=most),
        ),
    ]
    rows += _time_facts(draft)
    if draft.max_gap:
        rows.append((_("Declared gap"), f"{short(draft.max_gap)}{unit}"))
    return [*rows, (_("Sealed"), _("limit and answer in one visit"))] if draft.sealed else rows


def _sheet_facts(draft: Draft, sheet: Sheet) -> list[tuple[str, str]]:
    return [
        (_("Asked"), "; ".join(f"{question.name} ({_(FORMS[question.kind].words)})" for question in sheet)),
        (_("Asked by"), sheet.asked_by or _("nobody is named")),
        (_("People state"), _("a limit") if draft.model == "privacy-constrained" else _("a cost")),
        (
            _("How they answer"),
            _("limit and answers in one visit") if draft.sealed else _("answers after the announcement"),
        ),
        (_("Who may come and see the result"), _("anyone") if draft.public else _("by invitation")),
        (
            _("Published only with"),
            _("{quorum_people} or more, in each group and for each question", quorum_people=count(draft.quorum_people)),
        ),
        *_time_facts(draft),
    ]


def _time_facts(draft: Draft) -> list[tuple[str, str]]:
    """Say until when it is open, and what is done after that by itself."""
    if not draft.answer_by:
        return []
    after = plan_of_times(draft) or _("You take each step yourself; answers that come later are refused.")
    return [(_("Last day to answer"), last_day(draft)), (_("After that"), after)]


@router.get("/c/{campaign}/progress")
def progress(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show the counts alone; when the campaign has moved on, the whole page is loaded again."""
    view = campaigns.show(service, visitor, campaign)
    response = show("desk/progress.html", visitor=visitor, **_progress(view))
    if view.state not in ("registration", "answers"):
        response.headers["HX-Refresh"] = "true"
    return response


@router.get("/c/{campaign}/job")
def job(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show how far the work has come; when it is done, the whole page is loaded again."""
    view = campaigns.show(service, visitor, campaign)
    if view.job is None or not view.job.unfinished:
        return Response(headers={"HX-Refresh": "true"})
    return show("desk/job.html", visitor=visitor, **_progress(view))


@router.post("/c/{campaign}/step")
def take_step(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Take a step; idempotent."""
    try:
        steps.take(service, visitor, campaign, form.get("step", ""), round=round_of(form))
    except REFUSALS as refusal:
        return _page(request, service, visitor, campaign, message=sentence(refusal), status=refusal.http_status)
    return moved(f"/a/c/{campaign}")


@router.post("/c/{campaign}/extend")
def extend_last_day(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Move the last day to answer to a later one."""
    try:
        extending.extend(service, visitor, campaign, form.get("answer_by", ""), round=round_of(form))
    except REFUSALS as refusal:
        return _page(request, service, visitor, campaign, message=sentence(refusal), status=refusal.http_status)
    return moved(f"/a/c/{campaign}")


def _listed(form: dict[str, str]) -> list[str]:
    return [line.strip() for line in form.get("ids", "").splitlines() if line.strip()]


def _integer(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0


@router.post("/c/{campaign}/invitations")
def invite(request: Request, service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Make invitations and show them; the page that is sent again shows the same ones."""
    text = form.get("count", "")
    try:
        group, page = form.get("group") or None, form.get("page", "")[:64]
        made = campaigns.invite(service, visitor, campaign, _integer(text), group=group, ids=_listed(form), page=page)
    except REFUSALS as refusal:
        return _page(request, service, visitor, campaign, message=sentence(refusal), status=refusal.http_status)
    origin = origin_of(request)
    links = [f"{origin}/i#{secret}" for secret in made.secrets]
    return show("desk/invitations.html", visitor=visitor, id=campaign, links=links, before=made.before)
