"""The parts of a result's page: a picture for each question, by group where there are groups; who asked, when, and the quorum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optin.errors import BadInput
from optin.releasing import Release
from optin.report.answer_sections import answer_section
from optin.report.group_sections import question_parts
from optin.report.images import WIDTH, pixels, told
from optin.report.markup import Markup
from optin.report.section import Pictured
from optin.web.pages.figures import one_number
from optin.web.pages.rendering import said_again
from optin.web.pages.stages import date
from optin.web.service.records import Published
from optin.wording.language import _
from optin.wording.numbers import count


def parts_of(release: Release) -> Sequence[Pictured | Markup]:
    """List the sections of a result in their order, none where it is one number, which has a page of its own words."""
    if one_number(release):
        return []
    if release.grouped:
        return [part for question in release.sheet for part in question_parts(release, question)]
    return [answer_section(release, each) for each in release.sheet if each.name not in release.dropped]


def shown_part(part: Pictured | Markup) -> dict[str, Any]:
    """Say of a section what its page needs; one that cannot be drawn has its numbers."""
    if isinstance(part, Markup):
        return {"markup": part}
    shown = {"markup": "", "title": part.title, "numbers": part.numbers(), "file": f"{part.name}.png"}
    try:
        words = told(part.draw)
    except BadInput as why:
        return {**shown, "reading": _("Not drawn: {why}.", why=said_again(why)), "words": ""}
    return {
        **shown,
        "reading": part.reading,
        "words": words,
        "width": pixels(WIDTH),
        "height": pixels(part.height),
    }


def asked_rows(published: Published) -> list[tuple[str, str]]:
    """List who asked, when it was published, and how many people that took."""
    offer = published.announcement.parts[0]
    several = published.announcement.grouped or len(offer.sheet) > 1
    where = f", {_('in each group and for each question')}" if several else ""
    stated = offer.terms.conditions
    least = max(stated.quorum_people or 1, stated.min_people or 0)
    rows = [
        (_("Asked by"), offer.sheet.asked_by or _("nobody is named")),
        (_("Published only with"), _("{least} or more{where}", least=count(least), where=where)),
    ]
    return rows if published.released_at is None else [(_("Published on"), date(published.released_at)), *rows]
