"""The published offer and result: what everyone, or everyone who was invited, may see, with the files to check it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from optin.questions import Question
from optin.releasing import Release
from optin.report.answer_sections import answer_section
from optin.report.images import WIDTH, pixels, told
from optin.report.privacy import privacy_sheet
from optin.report.release_sections import result_section
from optin.web.doors import MaybeVisitor, ServiceOf
from optin.web.pages.drawing import png
from optin.web.pages.figures import figures_table, one_number
from optin.web.pages.newsletters import newsletter, results_csv
from optin.web.pages.rendering import show
from optin.web.pages.wording import offer_rows, result_words
from optin.web.service import published
from optin.web.service.failures import NotFound
from optin.wording.spoken import spoken

router = APIRouter(prefix="/r/{campaign}")


@router.get("")
def result(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Show the offer, and the result once there is one."""
    found = published.show(service, campaign, visitor)
    offer, release = found.announcement, found.release
    context: dict[str, Any] = {
        "published": found,
        "pictures": [],
        "newsletter": newsletter(release, found.public) if release is not None else "",
        "result": result_words(release) if release else None,
        "offer": offer_rows(offer, release, found.unit),
        "sheet": privacy_sheet(*offer.parts),
        "figures": figures_table(release) if release is not None and not one_number(release) else None,
        "spoken": {"offer": spoken(offer.fingerprint), "result": spoken(release.fingerprint) if release else ""},
    }
    if release is not None and not release.grouped and not one_number(release):
        context["pictures"] = [_pictured(release, at) for at, _ in _answered(release)]
    if release is not None and one_number(release):
        section = result_section(release)
        size = {"width": pixels(WIDTH), "height": pixels(section.height)}
        context["picture"] = {"words": told(section.draw), "numbers": section.numbers(), **size}
    return show("result.html", visitor=visitor, **context)


@router.get("/pictures/result-{ink}.png")
def picture(service: ServiceOf, visitor: MaybeVisitor, campaign: str, ink: str) -> Response:
    """Draw the estimate with both intervals."""
    release = published.show(service, campaign, visitor).release
    if release is None or not one_number(release):
        raise NotFound
    return png(result_section(release), ink, key=release.fingerprint)


def _answered(release: Release) -> list[tuple[int, Question]]:
    """List the questions that were published, with their places."""
    return [(at, each) for at, each in enumerate(release.sheet) if each.name not in release.dropped]


def _pictured(release: Release, at: int) -> dict[str, Any]:
    section = answer_section(release, release.sheet.questions[at])
    size = {"width": pixels(WIDTH), "height": pixels(section.height)}
    return {"at": at, "title": section.title, "reading": section.reading, "words": told(section.draw), **size}


@router.get("/pictures/question-{at}-{ink}.png")
def question_picture(service: ServiceOf, visitor: MaybeVisitor, campaign: str, at: str, ink: str) -> Response:
    """Draw what was published of one question."""
    release = published.show(service, campaign, visitor).release
    if release is None or release.grouped or at not in (str(place) for place, _ in _answered(release)):
        raise NotFound
    return png(answer_section(release, release.sheet.questions[int(at)]), ink, key=release.fingerprint)


@router.get("/results.csv")
def results_file(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Give every published figure with its interval as CSV, group by group where there are groups."""
    release = published.show(service, campaign, visitor).release
    if release is None:
        raise NotFound
    headers = {"Content-Disposition": 'attachment; filename="results.csv"'}
    return Response(results_csv(release), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/announcement.json")
def announcement_file(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Give the offer as the file that ``optin explain`` and ``optin check`` read."""
    return _file(published.show(service, campaign, visitor).announcement.to_json(), "announcement.json")


@router.get("/release.json")
def release_file(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Give the result as the file that ``optin check`` reads."""
    release = published.show(service, campaign, visitor).release
    if release is None:
        raise NotFound
    return _file(release.to_json(), "release.json")


def _file(text: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/json", headers=headers)
