"""The council's page of a campaign, without an account, and the log that everyone may read and witnesses sign."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from optin.council.annex import annex
from optin.council.browser import check_page, check_script, check_words
from optin.errors import BadInput
from optin.ledger import Log
from optin.transparency.trust import Opened, opened
from optin.transparency.witness import read_cosignature
from optin.web.doors import MaybeVisitor, ServiceOf, service_of
from optin.web.pages.figures import figures_table, one_number
from optin.web.pages.rendering import show
from optin.web.pages.stages import day
from optin.web.pages.wording import offer_rows, result_words
from optin.web.service import log
from optin.web.service.core import Service
from optin.web.service.deadlines import Deadline
from optin.web.service.failures import NotFound
from optin.web.service.records import Published
from optin.web.settings import WebSettings
from optin.web.witnesses import witnesses_of
from optin.wording.language import _
from optin.wording.spoken import LENGTH, spoken

router = APIRouter()
_JSON, _ZIP, _HTML = "application/json", "application/zip", "text/html; charset=utf-8"
SHOWN = 12
"""So many of the newest checkpoints are listed; the log has all of them."""


@router.get("/council/{campaign}/{secret}")
def council(service: ServiceOf, visitor: MaybeVisitor, campaign: str, secret: str) -> Response:
    """Say what was asked and promised, who signed and saw it, and let it be checked here and elsewhere."""
    shown = log.shown_to_council(service, campaign, secret)
    offer, release = shown.announcement, shown.release
    context: dict[str, Any] = {
        "published": shown,
        "here_at": f"/council/{campaign}/{secret}",
        "offer": offer_rows(offer, release, shown.unit),
        "conditions": offer.terms.conditions,
        "ends": _ends(service, shown),
        "result": result_words(release) if release else None,
        "figures": figures_table(release) if release is not None and not one_number(release) else None,
        "offer_words": spoken(offer.fingerprint),
        "result_words": spoken(release.fingerprint) if release else "",
        "length": LENGTH,
        "check_words": check_words(),
        **_signed(service),
    }
    return show("council.html", visitor=visitor, **context)


def _ends(service: Service, shown: Published) -> tuple[str, str]:
    """Say until when answers are taken and when the result comes: as the terms state it, or else by when at the latest."""
    stated, due = shown.announcement.terms.conditions, log.due_of(service, shown.id)
    answers, result = _ends_by_state(service, shown, due)
    return stated.answers_until or answers, stated.published_until or result


def _ends_by_state(service: Service, shown: Published, due: Deadline | None) -> tuple[str, str]:
    if shown.state == "released":
        return _("closed"), _("published on {day}", day=day(shown.released_at))
    if shown.state == "cancelled":
        return _("cancelled"), _("never: it was cancelled")
    if due is None:
        return _("no date stated"), _("no date stated")
    latest = _("{day} at the latest, or the campaign is cancelled", day=day(due.at))
    if due.due == "published":
        return _("closed") if shown.state == "closed" else latest, latest
    within = _(
        "{days:g} days after answers close at the latest, or the campaign is cancelled", days=service.days_to_publish
    )
    return latest, within


def _signed(service: Service) -> dict[str, Any]:
    """List the newest checkpoints, and everyone's keys with their words."""
    signed = Log(service.ledger)
    keys = signed.keys()
    everything = signed.checkpoints()
    notes = [opened(note, keys) for note in everything[-SHOWN:]]
    return {
        "checkpoints": [_line(note) for note in reversed(notes)],
        "more": len(everything) - len(notes),
        "origin": notes[-1].checkpoint.origin if notes else "",
        "keys": [(key.name, spoken(key.fingerprint), key.to_text()) for key in keys],
    }


def _line(note: Opened) -> tuple[int, str, str]:
    seen = ", ".join(map(str, note.witnesses)) or _("no witness yet")
    return note.checkpoint.size, note.checkpoint.root[:16], seen


@router.get("/council/{campaign}/{secret}/{name}")
def council_file(service: ServiceOf, campaign: str, secret: str, name: str) -> Response:
    """Give one of the files: the bundle, or what is in it."""
    bundle = log.bundle(service, campaign, secret)
    if name == "bundle.zip":
        return _file(bundle.to_bytes(), name, _ZIP)
    if name == "annex.html":  # in the reader's language; the one in the bundle is made again by whoever checks it
        return _file(annex(bundle.announcement, bundle.keeping), name, _HTML)
    files = bundle.files() | {"proofs.json": bundle.proofs()}
    if name not in files:
        raise NotFound
    return _file(files[name], name, _HTML if name.endswith(".html") else _JSON)


@router.get("/static/check.js")
def script() -> Response:
    """Give the script that checks signatures and proofs in the browser."""
    return Response(check_script(), media_type="text/javascript; charset=utf-8")


@router.get("/check.html")
def standalone() -> Response:
    """Give the page that checks without a network, to be kept."""
    return _file(check_page(), "check.html", _HTML)


@router.get("/log.json")
def full_log(service: ServiceOf, since: int = 0) -> Response:
    """Give the log as everyone may read it: signed checkpoints, and that each begins with the one before."""
    signed = Log(service.ledger)
    if not signed.checkpoints():
        raise NotFound
    return Response(signed.published(since=since).to_json(), media_type=_JSON)


@router.get("/log/checkpoint")
def newest_checkpoint(service: ServiceOf) -> Response:
    """Give the newest checkpoint as C2SP writes it."""
    notes = Log(service.ledger).checkpoints()
    if not notes:
        raise NotFound
    return Response(notes[-1].to_text(), media_type="text/plain; charset=utf-8")


@router.post("/log/cosignatures")
async def keep_cosignature(request: Request) -> Response:
    """Keep what a witness signed, if it is one that the operator listed."""
    text = (await request.body()).decode("utf-8", "replace")
    settings: WebSettings = request.app.state.settings
    await run_in_threadpool(_keep, service_of(request), settings, text)
    return Response(status_code=204)


def _keep(service: Service, settings: WebSettings, text: str) -> None:
    key, line = read_cosignature(text)
    if key not in witnesses_of(settings):
        raise BadInput("this witness is not one that this service knows: ask the operator to list its public key")
    Log(service.ledger).cosign(line, key)


def _file(content: str | bytes, name: str, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
