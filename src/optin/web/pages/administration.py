"""The page of whoever runs the service: how it stands, its analysts, its campaigns by stage; and who works on a campaign."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from optin.web.doors import AnalystOnly, ServiceOf
from optin.web.operating.status import status_of
from optin.web.pages.forms import Texts, origin_of
from optin.web.pages.rendering import REFUSALS, moved, show, shown_again
from optin.web.pages.stages import STATE_NAMES, day
from optin.web.service import accounts, administration, resets, roles
from optin.web.service.core import Service
from optin.web.service.records import Visitor
from optin.wording.language import _

router = APIRouter()


@router.get("/admin")
def admin(request: Request, service: ServiceOf, visitor: AnalystOnly) -> Response:
    """Show an administrator how the service stands."""
    return show("admin/service.html", visitor=visitor, **_service(request, service, visitor))


def _service(request: Request, service: Service, visitor: Visitor) -> dict[str, Any]:
    analysts, standings = administration.analysts(service, visitor), administration.standings(service, visitor)
    status, now = status_of(request.app.state.settings, service.ledger), time.time()
    return {
        "analysts": analysts,
        "standings": standings,
        "state_name": STATE_NAMES,
        "day": day,
        "rows": status.rows(now),
        "to_do": status.advice(now),
    }


@router.post("/admin/invite")
def invite(request: Request, service: ServiceOf, visitor: AnalystOnly) -> Response:
    """Make a one-time link for another analyst, good for a week."""
    administration.expect_administrator(service, visitor)
    link = f"{origin_of(request)}/setup#{accounts.invite_analyst(service, visitor)}"
    title, works = _("A link for a new analyst"), _("It works once, within a week. It is shown only now.")
    return show("admin/link.html", visitor=visitor, link=link, title=title, works=works)


@router.post("/admin/reset")
def reset(request: Request, service: ServiceOf, visitor: AnalystOnly, form: Texts) -> Response:
    """Make a one-time link to a new password."""
    administration.expect_administrator(service, visitor)
    try:
        link = f"{origin_of(request)}/new-password#{resets.reset_link(service, form.get('name', '').strip())}"
    except REFUSALS as refusal:
        return _again(request, service, visitor, refusal)
    title, works = _("A link to a new password"), _("It works once, within a day. It is shown only now.")
    return show("admin/link.html", visitor=visitor, link=link, title=title, works=works)


def _again(request: Request, service: Service, visitor: Visitor, refusal: Exception) -> Response:
    return shown_again("admin/service.html", refusal, visitor=visitor, **_service(request, service, visitor))


_ACTIONS: dict[str, Callable[[Service, Visitor, str], None]] = {
    "revoke": administration.revoke,
    "appoint": administration.appoint,
    "dismiss": administration.dismiss,
}


@router.post("/admin/analyst")
def change_analyst(request: Request, service: ServiceOf, visitor: AnalystOnly, form: Texts) -> Response:
    """Revoke an analyst, let them run the service, or no more."""
    administration.expect_administrator(service, visitor)
    action, name = _ACTIONS.get(form.get("action", "")), form.get("name", "").strip()
    if action is not None:
        try:
            action(service, visitor, name)
        except REFUSALS as refusal:
            return _again(request, service, visitor, refusal)
    return moved("/admin" if action is not administration.dismiss or name != visitor.name else "/a")


@router.get("/a/c/{campaign}/colleagues")
def colleagues(service: ServiceOf, visitor: AnalystOnly, campaign: str) -> Response:
    """Show who works on a campaign."""
    return show("desk/colleagues.html", visitor=visitor, **_colleagues(service, visitor, campaign))


def _colleagues(service: Service, visitor: Visitor, campaign: str) -> dict[str, Any]:
    return {
        "id": campaign,
        "colleagues": roles.colleagues(service, visitor, campaign),
        "role": roles.role_of(service, visitor, campaign),
    }


@router.post("/a/c/{campaign}/colleagues")
def change_colleague(service: ServiceOf, visitor: AnalystOnly, campaign: str, form: Texts) -> Response:
    """Give someone a role in a campaign, or take it back."""
    name, role = form.get("name", "").strip(), form.get("role", "")
    try:
        if role == "none":
            roles.take_back(service, visitor, campaign, name)
        else:
            roles.give(service, visitor, campaign, name, role)
    except REFUSALS as refusal:
        return shown_again("desk/colleagues.html", refusal, visitor=visitor, **_colleagues(service, visitor, campaign))
    return moved(f"/a/c/{campaign}/colleagues")
