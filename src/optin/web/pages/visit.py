"""One visit on a phone: who asks and why, the sheet, the limit, and send; elsewhere nothing is stored before that."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from optin.errors import BadInput
from optin.web.doors import AddressOf, Holder, MaybeVisitor, ServiceOf, WhoeverIsThere, let_in, shows_token
from optin.web.pages.entries import Entry, Read, entries_of, read_answers
from optin.web.pages.forms import FormOf, origin_of, sentence
from optin.web.pages.recovery import kept
from optin.web.pages.rendering import REFUSALS, moved, show
from optin.web.pages.stages import date
from optin.web.pages.times import told_to_people
from optin.web.pages.totals import total_beside
from optin.web.service import people, visits
from optin.web.service.asking import sheet_of
from optin.web.service.core import Service, new_secret
from optin.web.service.drafts import Draft
from optin.web.service.failures import NotFound
from optin.web.service.ladder import LIMITS
from optin.web.service.people.doing import Chosen
from optin.web.service.records import MyCampaign, Visitor
from optin.web.service.totals import Budget
from optin.web.service.visits import Sent
from optin.wording.guesses import FIRST_CHOICES, SUGGESTED, right_apart
from optin.wording.language import N_, _, written_day
from optin.wording.numbers import count

router = APIRouter()
_NOBODY = Budget(None, 0, 0, ())
_FROM_BEFORE = N_(
    "Nothing was sent: you came in on this device after this page was opened. Look at it once more, and send."
)
_SECONDS_EACH, _SECONDS_BESIDES = 12, 45


@dataclass(frozen=True)
class Choice:
    """One limit as it is offered: how often a guess is right at most, its name, and how many dots of a hundred that is."""

    index: int
    right: float
    name: str
    suggested: bool


def choices(indices: Sequence[int]) -> tuple[Choice, ...]:
    """List limits to choose from."""
    steps = (LIMITS[index] for index in indices)
    all_limits = [limit.amount for limit in LIMITS]
    return tuple(
        Choice(step.index, right_apart(step.amount, all_limits), _(step.name), step.index == SUGGESTED)
        for step in steps
    )


MORE_CHOICES = tuple(index for index in range(len(LIMITS)) if index not in FIRST_CHOICES)


def minutes(draft: Draft) -> str:
    """Say about how long a visit takes.

    >>> minutes(Draft())
    'about 1 minute'
    """
    asked = len(sheet_of(draft))
    return _(
        "about {minutes}",
        minutes=count(math.ceil((_SECONDS_EACH * asked + _SECONDS_BESIDES) / 60), "minute", "minutes"),
    )


def day_words(draft: Draft) -> str:
    """Write the last day to answer as people say it.

    >>> day_words(Draft(answer_by="2026-03-04"))
    '4 March 2026'
    """
    if not draft.answer_by:
        return ""
    found = datetime.strptime(draft.answer_by, "%Y-%m-%d").replace(tzinfo=UTC)
    return written_day(found)


def intro_context(found: MyCampaign, secret: str = "", *, sent: bool = False) -> dict[str, Any]:
    """Say who asks, what, why, how long it takes and until when."""
    sheet = sheet_of(found.draft)
    return {
        "id": found.id,
        "draft": found.draft,
        "round": found.round,
        "secret": secret,
        "many": count(len(sheet), "question", "questions"),
        "minutes": minutes(found.draft),
        "until": day_words(found.draft),
        "then": told_to_people(found.draft),
        "latest": date(found.announce_by),
        "readable": date(found.readable),
        "open": found.state == "registration",
        "group": found.group,
        "sent": sent,
    }


@router.post("/i/answer")
def begin(request: Request, service: ServiceOf, visitor: MaybeVisitor, holder: Holder, form: FormOf) -> Response:
    """Show the sheet to whoever holds an invitation; it is not used up yet."""
    secret = _text(form, "secret")
    found = _invited(service, secret)
    return _form(request, service, visitor or _seeing(holder, found), found, _Again(secret))


@router.get("/i/answer")
@router.get("/i/send")
def begin_again() -> Response:
    """Lead whoever opens the address of a form anew to where its link is opened: what was typed is kept in the browser."""
    return moved("/i")


@router.get("/c/{campaign}/answer")
def begin_here(request: Request, service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Show the sheet to one of a campaign's people, or to anyone while it is open to everyone."""
    return _form(request, service, visitor, _asked_here(service, visitor, campaign), _Again())


@router.post("/i/send")
def send(request: Request, service: ServiceOf, holder: Holder, address: AddressOf, form: FormOf) -> Response:
    """Take answers and limit with an invitation, which is tied to this device by that."""
    found = _invited(service, _text(form, "secret"))
    return _sent(request, service, _seeing(holder, found), found, form, address)


@router.post("/c/{campaign}/answer")
def send_here(
    request: Request, service: ServiceOf, visitor: WhoeverIsThere, address: AddressOf, campaign: str, form: FormOf
) -> Response:
    """Take answers and limit of someone who is here, or of anyone where everyone may come in."""
    return _sent(request, service, visitor, _asked_here(service, visitor, campaign), form, address)


def _invited(service: Service, secret: str) -> MyCampaign:
    found = visits.invited_to(service, secret)
    if found is None or not found.draft.sealed:
        raise NotFound
    return found


def _seeing(holder: Visitor | None, found: MyCampaign) -> Visitor | None:
    """Take whoever sees another campaign alone for nobody here."""
    return holder if holder is not None and holder.only in (None, found.id) else None


def _asked_here(service: Service, visitor: Visitor | None, campaign: str) -> MyCampaign:
    if visitor is not None and visitor.kind == "person":
        found = people.campaign(service, visitor, campaign)
    else:
        open_now = (each for each in people.open_campaigns(service) if each.id == campaign)
        found = next(open_now, None)  # type: ignore[assignment]
    if found is None or not found.draft.sealed or found.state != "registration":
        raise NotFound
    return found


def _raw(form: FormData, name: str) -> str:
    found = form.get(name)
    return found if isinstance(found, str) else ""


def _text(form: FormData, name: str) -> str:
    return _raw(form, name).strip().rpartition("#")[2]


def _whole(text: str) -> int:
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
    found: MyCampaign,
    again: _Again,
    *,
    status: int = 200,
    **more: Any,  # noqa: ANN401
) -> Response:
    given, secret = again.given, again.secret
    here = visitor is not None and visitor.kind == "person"
    budget = people.budget(service, visitor) if visitor is not None and here else _NOBODY
    chosen = -1 if given is None else _whole(_text(given, "step"))
    context = {
        **intro_context(found, secret),
        "entries": entries_of(sheet_of(found.draft)) if again.entries is None else again.entries,
        "choices": choices(FIRST_CHOICES),
        "more_choices": choices(MORE_CHOICES),
        "more_open": chosen in MORE_CHOICES,
        "chosen": chosen,
        "key": (given and _text(given, "key")) or new_secret(),
        "known": here,
        "asks": _asks(service, visitor, secret),
        "before": "" if given is None else _text(given, "before"),
        "shared": given is not None and bool(_text(given, "shared")),
        "total": total_beside(budget, found.draft, None, picked="" if given is None else _text(given, "times")),
        "action": "/i/send" if secret else f"/c/{found.id}/answer",
        "part": request.headers.get("x-part") == "yes",
        "answered": _has_sent(service, visitor, found),
    }
    return show("visit/form.html", visitor=visitor, status=status, **context, **more)


def _asks(service: Service, visitor: Visitor | None, secret: str) -> bool:
    """Say whether someone is to be asked if they have answered before: not who is known here, nor who is invited by an id."""
    here = visitor is not None and visitor.kind == "person"
    return not here and not (secret and not visits.asks_before(service, secret))


def _sent(
    request: Request, service: Service, visitor: Visitor | None, found: MyCampaign, form: FormData, address: str
) -> Response:
    secret, later = _text(form, "secret"), _text(form, "do") == "later"
    read = read_answers(sheet_of(found.draft), FormData() if later else form)
    again = _Again(secret, read.entries, form)
    if not _is_of_now(service, visitor, form):
        return _form(request, service, visitor, found, again, status=403, message=_(_FROM_BEFORE))
    declines = _text(form, "do") == "decline"
    if read.wrong and not declines:
        return _form(request, service, visitor, found, again, status=422, message=read.wrong)
    if not declines and not read.is_told(_raw(form, "echoed")):
        return _form(request, service, visitor, found, again, echoes=read.echoes)
    try:
        if declines:
            return _declined(service, visitor, found, form)
        _expect_said(form, asked=_asks(service, visitor, secret))
        entered = visits.send(service, _what(found, form, read, secret, address), visitor)
    except REFUSALS as refusal:
        status, why = refusal.http_status, sentence(refusal)
        return _form(request, service, visitor, found, again, status=status, message=why)
    shared = bool(_text(form, "shared"))
    return _done(request, found, entered, shared=shared, later=later, can_mail=service.mail is not None)


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


def _has_sent(service: Service, visitor: Visitor | None, found: MyCampaign) -> bool:
    """Say whether someone registered for this round before, also where they come by a link that shows nothing of theirs."""
    if visitor is None or visitor.kind != "person":
        return False
    with contextlib.suppress(NotFound):
        return people.campaign(service, visitor, found.id).stated is not None
    return False


def _declined(service: Service, visitor: Visitor | None, found: MyCampaign, form: FormData) -> Response:
    """Take back what someone had sent, if they had, also from a device that keeps nothing; whoever had not leaves nothing."""
    sender = visits.sender_of(service, _text(form, "secret"), _text(form, "key"), visitor)
    before = _has_sent(service, sender, found)
    if before and sender is not None:
        people.withdraw(service, sender, found.id)
    return show("visit/declined.html", visitor=visitor, taken_back=before, **intro_context(found))


def _what(found: MyCampaign, form: FormData, read: Read, secret: str, address: str) -> Sent:
    """Put together what is sent; who has answered here before says so, and shows where."""
    step, times, number = (_whole(_text(form, name)) for name in ("step", "times", "round"))
    if step < 0:
        raise BadInput("choose how much the results may give away, or decline")
    back = _text(form, "back") if _text(form, "before") == "yes" else ""
    if _text(form, "before") == "yes" and not back:
        raise BadInput("paste the recovery link you kept, or say that you have not answered here before")
    given = None if _text(form, "do") == "later" else read.given
    chosen = Chosen(step, given, times if times > 0 else None, number)
    place = {"secret": secret} if secret else {"campaign": found.id}
    return Sent(_text(form, "key"), chosen, back=back, address=address, **place)


def _done(
    request: Request,
    found: MyCampaign,
    entered: Any,  # noqa: ANN401
    *,
    shared: bool,
    later: bool,
    can_mail: bool,
) -> Response:
    """Say that it is sent, and offer a way back; on a shared device nothing is stored."""
    visitor = None if shared else entered.ticket.visitor
    context = {
        **intro_context(found),
        "shared": shared,
        "later": later,
        "can_mail": can_mail,
        "recovery": kept(origin_of(request), entered.key) if entered.key else None,
    }
    response = show("visit/sent.html", visitor=visitor, **context)
    if not shared:
        let_in(response, entered.ticket)
    return response


def leads_to(service: Service, secret: str, holder: Visitor | None) -> dict[str, Any] | None:
    """Say what a link leads to in one visit, if it does; one that was sent from another device is refused."""
    found = visits.invited_to(service, secret)
    if found is None or not found.draft.sealed:
        return None
    return intro_context(found, secret, sent=visits.sent_from_here(service, secret, _seeing(holder, found)))
