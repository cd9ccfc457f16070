"""What a link or an address leads to: who asks, what, why, how long it takes, until when, and what was sent from here before."""

from __future__ import annotations

import contextlib
import math
from datetime import UTC, datetime
from typing import Any

from optin.web.pages.stages import date
from optin.web.pages.times import told_to_people
from optin.web.service import people, visits
from optin.web.service.asking import sheet_of
from optin.web.service.core import Service
from optin.web.service.drafts import Draft
from optin.web.service.failures import NotFound
from optin.web.service.records import MyCampaign, Visitor
from optin.wording.language import _, written_day
from optin.wording.numbers import count

_SECONDS_EACH, _SECONDS_BESIDES = 12, 45


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
    last = datetime.strptime(draft.answer_by, "%Y-%m-%d").replace(tzinfo=UTC)
    return written_day(last)


def intro_context(campaign: MyCampaign, secret: str = "", *, sent: tuple[str, ...] = ()) -> dict[str, Any]:
    """Say who asks, what, why, how long it takes and until when."""
    sheet = sheet_of(campaign.draft)
    return {
        "id": campaign.id,
        "draft": campaign.draft,
        "round": campaign.round,
        "secret": secret,
        "many": count(len(sheet), "question", "questions"),
        "minutes": minutes(campaign.draft),
        "until": day_words(campaign.draft),
        "then": told_to_people(campaign.draft),
        "latest": date(campaign.announce_by),
        "readable": date(campaign.readable),
        "open": not campaign.too_late,
        "group": campaign.group,
        "sent": sent,
    }


def leads_to(service: Service, secret: str, holder: Visitor | None) -> dict[str, Any] | None:
    """Say what a link leads to in one visit, if it does; one that was sent from another device is refused."""
    view = visits.invited_to(service, secret)
    if view is None or not view.draft.sealed:
        return None
    sender = seeing(holder, view)
    sent = visits.sent_from_here(service, secret, sender)
    return intro_context(view, secret, sent=_sent_words(seen_by(service, sender, view)) if sent else ())


def _sent_words(mine: MyCampaign | None) -> tuple[str, str]:
    """Say what stands of what was sent with a link from this device, as a heading and a sentence."""
    from_here = _("From this device, with this link.")
    if mine is None or mine.stated is None or mine.state == "cancelled":
        return _("Nothing of yours is here now"), _("This link was used on this device. What was sent is deleted.")
    if mine.answer == "declined":
        return _("You withdrew"), _("What you had sent is deleted.")
    if mine.answer is None and mine.state in ("closed", "released"):
        return _("You took no part"), _("Nothing of yours was used or spent.")
    if mine.answer is None:
        return _("Your limit is kept"), from_here
    return _("You have sent your answers"), from_here


def seeing(holder: Visitor | None, campaign: MyCampaign) -> Visitor | None:
    """Take whoever sees another campaign alone for nobody here."""
    return holder if holder is not None and holder.only in (None, campaign.id) else None


def seen_by(service: Service, visitor: Visitor | None, campaign: MyCampaign) -> MyCampaign | None:
    """See a campaign as one of its people who is here; None for whoever is none of them."""
    if visitor is None or visitor.kind != "person":
        return None
    with contextlib.suppress(NotFound):
        return people.campaign(service, visitor, campaign.id)
    return None
