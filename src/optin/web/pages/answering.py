"""A campaign as one of its people sees it: what is asked, the limit, the deal, the answer, the receipt."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import FormData

from optin.errors import BadInput
from optin.kernel.rounding import epsilon_of
from optin.report.sheet_release import says_little
from optin.web.doors import MaybeVisitor, PersonOnly, ServiceOf
from optin.web.pages.answer_inputs import Entry, answered_words, entries_of, read_answers
from optin.web.pages.figures import figures_table, one_number
from optin.web.pages.forms import FormOf, Texts, number_of, round_of
from optin.web.pages.intros import day_words, intro_context, minutes
from optin.web.pages.numbers import spelled, typed_number
from optin.web.pages.rendering import REFUSALS, moved, sentence, show
from optin.web.pages.stages import date, day, fresh_round, person_stages
from optin.web.pages.totals import total_beside
from optin.web.pages.wording import deal_words, epsilon_words, result_words, rungs
from optin.web.service import people
from optin.web.service.asking import sheet_of
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.failures import NotFound
from optin.web.service.ladder import ladder_of
from optin.web.service.records import MyCampaign, Visitor
from optin.wording.guesses import guess_words, right_in_100
from optin.wording.language import N_, _, localised
from optin.wording.numbers import count, odds_factor
from optin.wording.sentences import Sentence
from optin.wording.spoken import spoken

router = APIRouter(prefix="/c/{campaign}")
_SAID = {
    "limit": N_("Your choice is kept. You can change it until registration closes."),
    "total": N_("Your total over all campaigns was lowered."),
    "joined": N_(
        "You joined. Your answers are encrypted; those who run this server could still read them until "
        "the result is out."
    ),
    "declined": N_("You declined. Nothing of yours is used."),
    "withdrawn": N_(
        "Your choice was taken back. Your total over all campaigns stays as it is; you can lower it under My campaigns."
    ),
}


@router.get("")
def campaign_page(service: ServiceOf, visitor: MaybeVisitor, campaign: str, done: str = "") -> Response:
    """Show a campaign to one of its people, or to anyone while it is open to everyone."""
    if visitor is None or visitor.kind != "person":
        return _for_strangers(service, campaign)
    return _page(service, visitor, campaign, said=_(_SAID[done]) if done in _SAID else None, changed=done == "changed")


def _for_strangers(service: ServiceOf, campaign: str) -> Response:
    view = next((c for c in people.open_campaigns(service) if c.id == campaign), None)
    if view is None:
        raise NotFound
    if view.draft.sealed:
        return show("visit/intro.html", visitor=None, **intro_context(view))
    context: dict[str, Any] = {
        "id": campaign,
        "state": view.state,
        "round": view.round,
        "stages": person_stages(view.state, view.draft.model),
        "fresh_round": "",
        "entries": entries_of(sheet_of(view.draft)),
        "too_late": view.too_late,
    }
    return show("campaign.html", visitor=None, draft=view.draft, **context, **_bounds(view.draft))


def _page(
    service: ServiceOf,
    visitor: Visitor,
    campaign: str,
    *,
    status: int = 200,
    picked: str = "",
    **more: Any,  # noqa: ANN401
) -> Response:
    mine = people.campaign(service, visitor, campaign)
    context = {
        "id": campaign,
        "mine": mine,
        "draft": mine.draft,
        "state": mine.state,
        "round": mine.round,
        "stages": person_stages(mine.state, mine.draft.model, sealed=mine.draft.sealed),
        "rungs": rungs(mine.draft.model, benefit_base=mine.draft.benefit_base),
        "deal": _deal(mine),
        "result": result_words(mine.release) if mine.release else None,
        "has_receipt": mine.state == "released" and mine.stated is not None,
        "spent_words": spent_words(mine.spent),
        "total": total_beside(
            people.budget(service, visitor), mine.draft, mine.stated, picked=picked, alone=visitor.only is not None
        ),
        "fresh_round": fresh_round(mine),
        "publish_by": day(mine.publish_by),
        "days": localised(f"{service.days_to_publish:g}"),
        "readable": date(mine.readable),
        "latest": date(mine.announce_by),
        "proved": _proved(service, visitor, mine),
        **_one_visit(mine, more.pop("entries", None)),
    }
    return show("campaign.html", visitor=visitor, status=status, **context, **_bounds(mine.draft), **more)


def _proved(service: ServiceOf, visitor: Visitor, mine: MyCampaign) -> tuple[str, ...]:
    """Check a receipt against what was published, on the page; empty where there is none, or where it fails."""
    if mine.state != "released" or mine.spent is None:
        return ()
    try:
        return people.checked(service, visitor, mine.id)
    except (NotFound, *REFUSALS):
        return ()


def _one_visit(mine: MyCampaign, entries: tuple[Entry, ...] | None) -> dict[str, Any]:
    """List what pages need where a whole sheet is asked, or everything is sent in one visit."""
    sheet = sheet_of(mine.draft)
    rungs = ladder_of(mine.draft.model)
    limits = mine.draft.model == PRIVACY_CONSTRAINED
    return {
        "by_sheet": _by_sheet(mine.draft),
        "entries": entries_of(sheet) if entries is None else entries,
        "many": count(len(sheet), "question", "questions"),
        "minutes": minutes(mine.draft),
        "until": day_words(mine.draft),
        "window": day(mine.window),
        "right": right_in_100(rungs[mine.stated].amount) if limits and mine.stated is not None else None,
        "guess": guess_words(mine.deal.epsilon) if mine.deal is not None else "",
        "gave": gave_words(mine.spent),
        "figures": figures_table(mine.release) if mine.release and not one_number(mine.release) else None,
        "little": says_little(mine.release) if mine.release else (),
    }


def _by_sheet(draft: Draft) -> bool:
    """Say whether a campaign speaks of answers and frequencies: a sheet, or one visit."""
    return draft.sealed or draft.sheet is not None


def _deal(mine: MyCampaign) -> Any:  # noqa: ANN401 - what the template calls deal
    if mine.deal is None or mine.announcement is None or mine.stated is None:
        return None
    grouped = mine.announcement.grouped and mine.group is not None
    offer = mine.announcement.of_group(str(mine.group)) if grouped else mine.announcement
    group = mine.announcement.name_of(str(mine.group)) if grouped else ""
    return deal_words(mine.deal, offer, stated=ladder_of(mine.draft.model)[mine.stated].amount, group=group)


def _bounds(draft: Draft) -> dict[str, Any]:
    """Write the bounds as an answer should be written: with nothing between thousands."""
    return {"low": spelled(draft.lower), "high": spelled(draft.upper)}


def spent_words(spent: float | None) -> str:
    """Say what a result gave away about someone, rounded up."""
    if not spent:
        return _("Nothing was spent on you.")
    return _(
        "This result changes anyone's odds about your answer by at most a factor {factor}, as promised.",
        factor=odds_factor(spent),
    )


def gave_words(spent: float | None) -> str:
    """Say what a result gave away about someone, as a frequency beside that of having stayed out.

    >>> print(gave_words(0.25))
    With this result, someone guessing between two answers of yours is right at most 57 times in 100; without you it would be 50.
    """
    if not spent:
        return _("Nothing of yours was used, and nothing was given away.")
    return _(
        "With this result, someone guessing between two answers of yours is right at most {right} times "
        "in 100; without you it would be 50.",
        right=right_in_100(spent),
    )


@router.post("/limit")
def state_limit(service: ServiceOf, visitor: PersonOnly, campaign: str, form: Texts) -> Response:
    """Register with a step of the ladder; where answers come with the limit, both are sent in one visit."""

    def work() -> None:
        chosen_rung, number, times = (
            _number_in(form.get("step", "")),
            round_of(form),
            _number_in(form.get("times") or "0"),
        )
        people.register(service, visitor, campaign, chosen_rung, times=times or None, round=number)

    return _done(service, visitor, campaign, work, "limit")


@router.post("/total")
def lower_total(service: ServiceOf, visitor: PersonOnly, campaign: str, form: Texts) -> Response:
    """Lower one's total over all campaigns, from the page of one of them."""
    epsilon = number_of(form.get("epsilon", ""))
    return _done(service, visitor, campaign, lambda: people.lower_allowance(service, visitor, epsilon), "total")


@router.post("/join")
def join(service: ServiceOf, visitor: PersonOnly, campaign: str, form: Texts, sent: FormOf) -> Response:
    """Join with answers; one out of bounds is told to its owner at once."""
    if "value" not in form:
        return _joined(service, visitor, campaign, form, sent)

    def work(value: float) -> None:
        people.join(service, visitor, campaign, {"value": value}, round=round_of(form))

    return _answered(service, visitor, campaign, form, work, "joined")


def _joined(service: ServiceOf, visitor: Visitor, campaign: str, form: dict[str, str], sent: FormData) -> Response:
    """Read a whole sheet, tell back what was typed in another way than ours, and join with it."""
    read = read_answers(sheet_of(people.campaign(service, visitor, campaign).draft), sent)
    if read.wrong:
        return _page(service, visitor, campaign, status=422, message=read.wrong, entries=read.entries)
    if not read.is_told(form.get("echoed", "")):
        return _page(service, visitor, campaign, entries=read.entries, echoes=read.echoes)
    again = people.campaign(service, visitor, campaign).answer == "joined"
    if not read.is_known_to_leave_out(form.get("left_out", ""), again=again):
        return _page(service, visitor, campaign, entries=read.entries, few=answered_words(read), left_out=read.left_out)
    what = "changed" if again else "joined"
    work = functools.partial(people.join, service, visitor, campaign, read.given)
    return _done(service, visitor, campaign, lambda: work(round=round_of(form)), what)


def _answered(
    service: ServiceOf,
    visitor: Visitor,
    campaign: str,
    form: dict[str, str],
    work: Callable[[float], None],
    what: str,
) -> Response:
    """Read an answer and do with it what was asked; one that was typed in another way than ours is told back first."""
    draft = people.campaign(service, visitor, campaign).draft
    text, chosen = form.get("value", "").strip(), _number_in(form.get("step", ""))
    again: dict[str, Any] = {"chosen": chosen, "picked": form.get("times", "")}
    try:
        typed = typed_number(text, Sentence("your answer"), low=draft.lower, high=draft.upper)
    except BadInput as refusal:
        wrong = sentence(refusal)
        return _page(service, visitor, campaign, status=422, message=wrong, wrong_value=wrong, **again)
    if not typed.plain and draft.lower <= typed.number <= draft.upper:
        echo = {"wrote": text, "read": spelled(typed.number)}
        return _page(service, visitor, campaign, echo=echo, **again)
    return _done(service, visitor, campaign, lambda: work(typed.number), what)


@router.post("/decline")
def decline(service: ServiceOf, visitor: PersonOnly, campaign: str, form: Texts) -> Response:
    """Decline; nothing is used then."""
    return _done(service, visitor, campaign, lambda: people.decline(service, visitor, campaign), "declined")


@router.post("/withdraw")
def withdraw(service: ServiceOf, visitor: PersonOnly, campaign: str, form: Texts) -> Response:
    """Take a registration back."""
    return _done(service, visitor, campaign, lambda: people.withdraw(service, visitor, campaign), "withdrawn")


def _done(service: ServiceOf, visitor: Visitor, campaign: str, work: Callable[[], object], what: str) -> Response:
    """Do what a form asks and go back to the page, or show it again with the reason above."""
    try:
        work()
    except BadInput as refusal:
        return _page(service, visitor, campaign, status=422, message=sentence(refusal), wrong_value=sentence(refusal))
    except REFUSALS as refusal:
        return _page(service, visitor, campaign, status=refusal.http_status, message=sentence(refusal))
    return moved(f"/c/{campaign}?done={what}")


def _number_in(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 4 else -1


@router.get("/receipt")
def receipt_page(service: ServiceOf, visitor: PersonOnly, campaign: str) -> Response:
    """Show a receipt and check it now."""
    mine, receipt = people.campaign(service, visitor, campaign), people.receipt(service, visitor, campaign)
    context: dict[str, Any] = {
        "id": campaign,
        "draft": mine.draft,
        "receipt": receipt,
        "spent_words": gave_words(mine.spent) if _by_sheet(mine.draft) else spent_words(mine.spent),
        "offer_words": spoken(receipt.fingerprint),
    }
    amounts: dict[str, Any] = {
        "promised": epsilon_words(epsilon_of(receipt.promised)),
        "spent": epsilon_words(epsilon_of(receipt.spent)),
    }
    try:
        checks = people.checked(service, visitor, campaign)
    except REFUSALS as refusal:
        return show("receipt.html", visitor=visitor, checks=None, message=str(refusal), **context, **amounts)
    return show("receipt.html", visitor=visitor, checks=checks, **context, **amounts)


@router.get("/receipt.json")
def receipt_file(service: ServiceOf, visitor: PersonOnly, campaign: str) -> Response:
    """Give a person their receipt as the file that ``optin check`` reads."""
    receipt = people.receipt(service, visitor, campaign)
    headers = {"Content-Disposition": 'attachment; filename="receipt.json"'}
    return Response(receipt.to_json(), media_type=JSONResponse.media_type, headers=headers)
