"""One visit on a phone: who asks and why, the sheet, the limit, and send; elsewhere nothing is stored before that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from optin.errors import BadInput
from optin.web.doors import AddressOf, Holder, MaybeVisitor, ServiceOf, WhoeverIsThere, let_in, shows_token
from optin.web.pages.answer_inputs import Entry, Read, answered_words, entries_of, read_answers
from optin.web.pages.forms import FormOf, origin_of
from optin.web.pages.intros import intro_context, leads_to, seeing, seen_by
from optin.web.pages.recovery import recovery_link
from optin.web.pages.rendering import REFUSALS, moved, sentence, show, shown_again
from optin.web.pages.totals import total_beside
from optin.web.service import people, visits
from optin.web.service.asking import sheet_of
from optin.web.service.core import Service, new_secret
from optin.web.service.failures import NotFound
from optin.web.service.ladder import LIMITS
from optin.web.service.people.doing import Chosen
from optin.web.service.records import MyCampaign, Visitor
from optin.web.service.totals import Budget
from optin.web.service.visits import Sent
from optin.wording.guesses import FIRST_CHOICES, SUGGESTED, right_apart
from optin.wording.language import N_, _

router = APIRouter()
_NOBODY = Budget(None, 0, 0, ())
_FROM_BEFORE = N_(
    "Nothing was sent: you came in on this device after this page was opened. Look at it once more, and send."
)


@dataclass(frozen=True)
class Choice:
    """One limit as it is offered: how often a guess is right at most, its name, and how many dots of a hundred that is."""

    index: int
    right: float
    name: str
    suggested: bool


def choices(indices: Sequence[int]) -> tuple[Choice, ...]:
    """List limits to choose from."""
    rungs = (LIMITS[index] for index in indices)
    all_limits = [limit.amount for limit in LIMITS]
    return tuple(
        Choice(rung.index, right_apart(rung.amount, all_limits), _(rung.name), rung.index == SUGGESTED)
        for rung in rungs
    )


MORE_CHOICES = tuple(index for index in range(len(LIMITS)) if index not in FIRST_CHOICES)


@router.post("/i/answer")
def begin(request: Request, service: ServiceOf, visitor: WhoeverIsThere, holder: Holder, form: FormOf) -> Response:
    """Show the sheet to whoever holds an invitation; it is not used up yet, so a page from before they came in may ask too."""
    secret = _text(form, "secret")
    view = _invited(service, secret)
    if view.too_late:
        return _too_late(request, service, holder, secret)
    return _form(request, service, visitor or seeing(holder, view), view, _Again(secret))


def _too_late(request: Request, service: Service, holder: Visitor | None, secret: str) -> Response:
    """Say before anybody fills in a sheet that it is not taken any more, and what became of what they had sent."""
    visitor, part = None if holder is None or holder.only else holder, request.headers.get("x-part") == "yes"
    try:
        intro = leads_to(service, secret, holder)
    except REFUSALS as refusal:
        return shown_again("enter.html", refusal, visitor=visitor)
    return show("visit/intro.html", visitor=visitor, part=part, **(intro or {}))


@router.get("/i/answer")
@router.get("/i/send")
def begin_again() -> Response:
    """Lead whoever opens the address of a form anew to where its link is opened: what was typed is kept in the browser."""
    return moved("/i")


@router.get("/c/{campaign}/answer")
def begin_here(request: Request, service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Show the sheet to one of a campaign's people, or to anyone while it is open to everyone."""
    view = _asked_here(service, visitor, campaign)
    return moved(f"/c/{campaign}") if view.too_late else _form(request, service, visitor, view, _Again())


@router.post("/i/send")
def send(request: Request, service: ServiceOf, holder: Holder, address: AddressOf, form: FormOf) -> Response:
    """Take answers and limit with an invitation, which is tied to this device by that."""
    view = _invited(service, _text(form, "secret"))
    return _sent(request, service, seeing(holder, view), view, form, address)


@router.post("/c/{campaign}/answer")
def send_here(
    request: Request, service: ServiceOf, visitor: WhoeverIsThere, address: AddressOf, campaign: str, form: FormOf
) -> Response:
    """Take answers and limit of someone who is here, or of anyone where everyone may come in."""
    return _sent(request, service, visitor, _asked_here(service, visitor, campaign), form, address)


def _invited(service: Service, secret: str) -> MyCampaign:
    view = visits.invited_to(service, secret)
    if view is None or not view.draft.sealed:
        raise NotFound
    return view


def _asked_here(service: Service, visitor: Visitor | None, campaign: str) -> MyCampaign:
    if visitor is not None and visitor.kind == "person":
        view = people.campaign(service, visitor, campaign)
    else:
        open_now = (each for each in people.open_campaigns(service) if each.id == campaign)
        view = next(open_now, None)  # type: ignore[assignment]
    if view is None or not view.draft.sealed:
        raise NotFound
    return view


def _raw(form: FormData, name: str) -> str:
    entry = form.get(name)
    return entry if isinstance(entry, str) else ""


def _text(form: FormData, name: str) -> str:
    return _raw(form, name).strip().rpartition("#")[2]


def _integer(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else -1


@dataclass(frozen=True)
class _Again:
    """What a form that is shown again had: the secret of its link, what was read, and all its fields."""

    secret: str = field(default="", repr=False)
    entries: tuple[Entry, ...] | None = field(default=None, repr=False)
    given: FormData | None = field(default=None, repr=False)


def _form(
    request: Request,
    service: Service,
    visitor: Visitor | None,
    campaign: MyCampaign,
    again: _Again,
    *,
    status: int = 200,
    **more: Any,  # noqa: ANN401
) -> Response:
    given, secret = again.given, again.secret
    here = visitor is not None and visitor.kind == "person"
    budget = people.budget(service, visitor) if visitor is not None and here else _NOBODY
    chosen = -1 if given is None else _integer(_text(given, "step"))
    context = {
        **intro_context(campaign, secret),
        "entries": entries_of(sheet_of(campaign.draft)) if again.entries is None else again.entries,
        "choices": choices(FIRST_CHOICES),
        "more_choices": choices(MORE_CHOICES),
        "more_open": chosen in MORE_CHOICES,
        "chosen": chosen,
        "key": (given and _text(given, "key")) or new_secret(),
        "known": here,
        **_asked_before(service, visitor, secret),
        "before": "" if given is None else _text(given, "before"),
        "shows_back": given is not None and bool(_text(given, "back")),
        "shared": given is not None and bool(_text(given, "shared")),
        "total": total_beside(
            budget,
            campaign.draft,
            None,
            picked="" if given is None else _text(given, "times"),
            alone=here and visitor is not None and visitor.only is not None,
        ),
        "action": "/i/send" if secret else f"/c/{campaign.id}/answer",
        "part": request.headers.get("x-part") == "yes",
        "answered": _has_sent(service, visitor, campaign),
    }
    return show("visit/form.html", visitor=visitor, status=status, **context, **more)


def _asked_before(service: Service, visitor: Visitor | None, secret: str) -> dict[str, bool]:
    """Say how someone is asked if they have answered before: not who is known here, and aside who is invited by an id.

    An id leads to whatever was answered by it, and to nothing that was answered by another link.
    """
    stranger = visitor is None or visitor.kind != "person"
    by_id = stranger and bool(secret) and visits.by_an_id(service, secret)
    return {"asks": stranger and not by_id, "asks_aside": by_id}


def _sent(
    request: Request, service: Service, visitor: Visitor | None, campaign: MyCampaign, form: FormData, address: str
) -> Response:
    secret, later = _text(form, "secret"), _text(form, "do") == "later"
    read = read_answers(sheet_of(campaign.draft), FormData() if later else form)
    again = _Again(secret, read.entries, form)
    if not _is_of_now(service, visitor, form):
        return _form(request, service, visitor, campaign, again, status=403, message=_(_FROM_BEFORE))
    declines = _text(form, "do") == "decline"
    if read.wrong and not declines:
        return _form(request, service, visitor, campaign, again, status=422, message=read.wrong)
    if not declines and not read.is_told(_raw(form, "echoed")):
        return _form(request, service, visitor, campaign, again, echoes=read.echoes)
    if not (declines or later) and not read.is_known_to_leave_out(
        _text(form, "left_out"), again=bool(_text(form, "again"))
    ):
        return _form(request, service, visitor, campaign, again, few=answered_words(read), left_out=read.left_out)
    try:
        if declines:
            return _declined(service, visitor, campaign, form)
        _expect_said(form, asked=_asked_before(service, visitor, secret)["asks"])
        entered = visits.send(service, _what(campaign, form, read, secret, address), visitor)
    except REFUSALS as refusal:
        status, why = refusal.http_status, sentence(refusal)
        return _form(request, service, visitor, campaign, again, status=status, message=why)
    shared = bool(_text(form, "shared"))
    said = "" if later else answered_words(read)
    return _done(request, campaign, entered, shared=shared, later=later, can_mail=service.mail is not None, said=said)


def _is_of_now(service: Service, visitor: Visitor | None, form: FormData) -> bool:
    """Say whether a form was loaded by whoever is there.

    One that was loaded before they came in is theirs too if it holds the key they came in with: the page before this one, to
    which the back button leads. Another one would make a second person of them.
    """
    if visitor is None or shows_token(visitor, _text(form, "csrf")):
        return True
    given = {name: _text(form, name) for name in ("key", "secret", "back")}
    return visits.is_page_of(service, visitor, **given)


def _expect_said(form: FormData, *, asked: bool) -> None:
    """Make no account for someone who may have one: they say so first."""
    if asked and _text(form, "before") not in ("yes", "no"):
        raise BadInput("say whether you have answered here before")


def _has_sent(service: Service, visitor: Visitor | None, campaign: MyCampaign) -> bool:
    """Say whether someone registered for this round before, also where they come by a link that shows nothing of theirs."""
    mine = seen_by(service, visitor, campaign)
    return mine is not None and mine.stated is not None


def _declined(service: Service, visitor: Visitor | None, campaign: MyCampaign, form: FormData) -> Response:
    """Take back what someone had sent, if they had, also from a device that keeps nothing; whoever had not leaves nothing."""
    sender = visits.sender_of(service, _text(form, "secret"), _text(form, "key"), visitor)
    before = _has_sent(service, sender, campaign)
    if before and sender is not None:
        people.withdraw(service, sender, campaign.id)
    return show("visit/declined.html", visitor=visitor, taken_back=before, **intro_context(campaign))


def _what(campaign: MyCampaign, form: FormData, read: Read, secret: str, address: str) -> Sent:
    """Put together what is sent; who has answered here before says so, and shows where."""
    rung, times, number = (_integer(_text(form, name)) for name in ("step", "times", "round"))
    if rung < 0:
        raise BadInput("choose how much the results may give away, or decline")
    back = "" if _text(form, "before") == "no" else _text(form, "back")
    if _text(form, "before") == "yes" and not back:
        raise BadInput("paste the recovery link you kept, or say that you have not answered here before")
    given = None if _text(form, "do") == "later" else read.given
    chosen = Chosen(rung, given, times if times > 0 else None, number)
    place = {"secret": secret} if secret else {"campaign": campaign.id}
    return Sent(_text(form, "key"), chosen, back=back, address=address, **place)


def _done(
    request: Request,
    campaign: MyCampaign,
    entered: Any,  # noqa: ANN401
    *,
    shared: bool,
    later: bool,
    can_mail: bool,
    said: str,
) -> Response:
    """Say that it is sent, and offer a way back; on a shared device nothing is stored."""
    visitor = None if shared else entered.ticket.visitor
    context = {
        **intro_context(campaign),
        "shared": shared,
        "later": later,
        "can_mail": can_mail,
        "answered_words": said,
        "recovery": recovery_link(origin_of(request), entered.key) if entered.key else None,
    }
    response = show("visit/sent.html", visitor=visitor, **context)
    if not shared:
        let_in(response, entered.ticket)
    return response
