"""What is a person's own: their campaigns, their total over all of them, their data, and the way out."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from optin.web.doors import PersonOnly, ServiceOf, let_out
from optin.web.pages.asked_words import title_said
from optin.web.pages.forms import Texts, number_of
from optin.web.pages.numbers import typed_number
from optin.web.pages.rendering import REFUSALS, moved, sentence, show
from optin.web.pages.stages import stands
from optin.web.pages.totals import guesses_of, left_words
from optin.web.pages.wording import epsilon_words
from optin.web.service import people
from optin.web.service.records import Me, MyCampaign, Visitor
from optin.web.service.recovering import has_address
from optin.wording.language import N_, _
from optin.wording.sentences import Sentence

router = APIRouter()
_SAID = {
    "raised": N_("Your total was raised."),
    "lowered": N_("Your total was lowered."),
    "withdrawn": N_("Your choice was taken back."),
    "back": N_("You are back."),
    "address": N_("Your address is kept, as a code that cannot be read back."),
    "forgotten": N_("Your address is forgotten."),
    "key": N_(
        "You came in with a key. If it was not you who kept it, but someone who sent it to you, they can "
        "see what you do here: sign out and ask them for an invitation."
    ),
}


@dataclass(frozen=True)
class Line:
    """One campaign in a person's list."""

    id: str
    title: str
    stands: str
    words: str
    done: bool
    over: bool


@dataclass(frozen=True)
class Total:
    """What all campaigns together give away, in words and as lengths of a bar."""

    sentence: str
    left: str
    spent: str
    promised: str
    waiting: str
    remaining: str
    allowance: str
    used: int
    committed: int
    known: bool
    stop: str


@router.get("/me")
def me(service: ServiceOf, visitor: PersonOnly, done: str = "") -> Response:
    """Show everything that is this person's."""
    return _page(service, visitor, said=_(_SAID[done]) if done in _SAID else None)


def _page(
    service: ServiceOf,
    visitor: Visitor,
    *,
    said: str | None = None,
    message: str | None = None,
    status: int = 200,
) -> Response:
    mine = people.me(service, visitor)
    known = {campaign.id for campaign in mine.campaigns}
    return show(
        "me.html",
        visitor=visitor,
        status=status,
        campaigns=[_line(campaign) for campaign in mine.campaigns],
        open=[
            campaign
            for campaign in people.open_campaigns(service)
            if campaign.id not in known and not campaign.too_late
        ],
        total=total_words(mine),
        said=said,
        message=message,
        can_mail=service.mail is not None,
        address_kept=service.read(lambda connection: has_address(connection, visitor.account)),
        recovery=None,
    )


def _line(campaign: MyCampaign) -> Line:
    stated = campaign.stated is not None
    word, sentence = stands(campaign.state, campaign.answer, stated=stated, round=campaign.round)
    over = campaign.state == "cancelled" or (campaign.state not in ("registration", "released") and not stated)
    return Line(campaign.id, title_said(campaign.draft), word, sentence, campaign.state == "released", over)


def total_words(mine: Me) -> Total:
    """Say what was spent and promised over all campaigns, and what remains."""
    allowance, committed = mine.allowance, mine.spent + mine.promised
    known = allowance is not None and math.isfinite(allowance)
    free = allowance - committed if allowance is not None and known else 0.0
    waiting = free - (mine.remaining or 0.0)
    return Total(
        sentence=_so_far(mine.spent),
        left=left_words(mine.remaining or 0.0, allowance) if allowance and known else "",
        spent=epsilon_words(mine.spent),
        promised=epsilon_words(mine.promised),
        waiting=epsilon_words(waiting) if waiting > 0 else "",
        remaining=_("not limited yet") if mine.remaining is None else epsilon_words(mine.remaining),
        allowance=_("not limited yet") if allowance is None else epsilon_words(allowance),
        used=_length(mine.spent, allowance) if known else 0,
        committed=_length(committed, allowance) if known else 0,
        known=known,
        stop=repr(committed) if free > 0 else "",
    )


def _so_far(spent: float) -> str:
    if not spent:
        return _("So far, nothing was given away.")
    return _("After all results published so far, {guesses_of}.", guesses_of=guesses_of(spent))


def _length(part: float, total: float | None) -> int:
    return round(400 * min(part / total, 1.0)) if total else 0


@router.post("/me/allowance")
def change_allowance(service: ServiceOf, visitor: PersonOnly, form: Texts) -> Response:
    """Lower the total over all campaigns, or raise it where that was agreed to."""
    text, at_once = form.get("epsilon", ""), form.get("lower") == "yes"
    total, raising = people.me(service, visitor).allowance, False
    try:
        epsilon = number_of(text) if at_once else typed_number(text, Sentence("your total")).number
        raising = form.get("raise") == "yes" and not at_once and (total is None or epsilon >= total)
        (people.raise_allowance if raising else people.lower_allowance)(service, visitor, epsilon)
    except REFUSALS as refusal:
        return _page(service, visitor, message=sentence(refusal), status=refusal.http_status)
    return moved("/me?done=raised" if raising else "/me?done=lowered")


@router.get("/me/export")
def export(service: ServiceOf, visitor: PersonOnly) -> Response:
    """Give a person everything that is stored about them."""
    headers = {"Content-Disposition": 'attachment; filename="optin-my-data.json"'}
    written = json.dumps(people.export(service, visitor), indent=2, allow_nan=False)
    return Response(written, headers=headers, media_type="application/json")


@router.get("/me/leave")
def leave_page(visitor: PersonOnly) -> Response:
    """Say what leaving means before it happens."""
    return show("leave.html", visitor=visitor)


@router.post("/me/leave")
def leave(service: ServiceOf, visitor: PersonOnly, form: Texts) -> Response:
    """Delete the account."""
    if form.get("sure") != "yes":
        return show("leave.html", visitor=visitor, status=422, message=_("Tick the box if you are sure."))
    people.leave(service, visitor)
    response = show("left.html", visitor=None)
    let_out(response)
    return response
