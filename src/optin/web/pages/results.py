"""The published offer and result: what everyone, or everyone who was invited, may see, with the files to check it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from optin.report.images import WIDTH, pixels, told
from optin.report.privacy import privacy_sheet
from optin.report.release_sections import result_section
from optin.report.section import Pictured
from optin.report.sheet_release import says_little
from optin.web.doors import MaybeVisitor, ServiceOf
from optin.web.pages.coming import doubles_after
from optin.web.pages.figure_rows import FIELDS, result_rows
from optin.web.pages.figures import figures_table, one_number
from optin.web.pages.newsletters import newsletter
from optin.web.pages.pictures import png
from optin.web.pages.rendering import show
from optin.web.pages.result_parts import asked_rows, parts_of, shown_part
from optin.web.pages.spreadsheets import csv_file
from optin.web.pages.wording import offer_rows, result_words
from optin.web.service import published
from optin.web.service.failures import NotFound
from optin.web.service.records import Visitor
from optin.wording.groups import merged_in
from optin.wording.language import ENGLISH, speaking
from optin.wording.spoken import spoken

router = APIRouter(prefix="/r/{campaign}")


@router.get("")
def result(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Show the offer, and the result once there is one."""
    view = published.show(service, campaign, visitor)
    offer, release = view.announcement, view.release
    context: dict[str, Any] = {
        "published": view,
        "doubles": doubles_after(public=view.public, open_link=view.open_link),
        "parts_shown": [shown_part(each) for each in parts_of(release)] if release is not None else [],
        "newsletter": newsletter(view, release) if release is not None and _is_analyst(visitor) else "",
        "result": result_words(release) if release else None,
        "offer": [*asked_rows(view), *offer_rows(offer, release, view.unit)],
        "sheet": privacy_sheet(*offer.parts),
        "figures": figures_table(release) if release is not None and not one_number(release) else None,
        "merged": [each.spoken() for each in merged_in(offer.designs)],
        "little": says_little(release) if release is not None else (),
        "spoken": {"offer": spoken(offer.fingerprint), "result": spoken(release.fingerprint) if release else ""},
    }
    if release is not None and one_number(release):
        section = result_section(release)
        size = {"width": pixels(WIDTH), "height": pixels(section.height)}
        context["picture"] = {"words": told(section.draw), "numbers": section.numbers(), **size}
    return show("result.html", visitor=visitor, **context)


def _is_analyst(visitor: Visitor | None) -> bool:
    return visitor is not None and visitor.kind == "analyst"


@router.get("/pictures/result-{ink}.png")
def picture(service: ServiceOf, visitor: MaybeVisitor, campaign: str, ink: str) -> Response:
    """Draw the estimate with both intervals."""
    release = published.show(service, campaign, visitor).release
    if release is None or not one_number(release):
        raise NotFound
    return png(result_section(release), ink, key=release.fingerprint)


@router.get("/pictures/part-{at}-{ink}.png")
def part_picture(service: ServiceOf, visitor: MaybeVisitor, campaign: str, at: str, ink: str) -> Response:
    """Draw one part of a result: a question, one of its figures in every group, or how far groups differ."""
    release = published.show(service, campaign, visitor).release
    sections = {} if release is None else {str(place): each for place, each in enumerate(parts_of(release))}
    section = sections.get(at)
    if release is None or not isinstance(section, Pictured):
        raise NotFound
    return png(section, ink, key=release.fingerprint)


@router.get("/results.csv")
def results_file(service: ServiceOf, visitor: MaybeVisitor, campaign: str) -> Response:
    """Give every published figure with its interval as CSV, group by group where there are groups."""
    release = published.show(service, campaign, visitor).release
    if release is None:
        raise NotFound
    with speaking(ENGLISH):  # a file says the same to everyone
        return csv_file("results.csv", [FIELDS, *result_rows(release)])


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
