"""The published figures of a sheet, as a table that needs no picture: every question, in every group."""

from __future__ import annotations

from collections.abc import Iterator

from optin.announcement import Announcement
from optin.questions import Question
from optin.releasing import Release
from optin.report.markup import Markup, grouped_table, joined, tag
from optin.web.pages.kept import kept_words
from optin.wording.groups import shown_group
from optin.wording.language import _
from optin.wording.numbers import count


def one_number(found: Announcement | Release) -> bool:
    """Say whether one average is published, of everyone together: it has a page of its own words."""
    offer = found.announcement if isinstance(found, Release) else found
    return not offer.grouped and offer.sheet.one_number is not None


def figures_table(release: Release) -> Markup:
    """List every published figure with its interval, question by question and, within it, group by group."""
    rows = ((_heading(release, question), list(_rows(release, question))) for question in release.sheet)
    return grouped_table(_("All results, with 95 % intervals"), (_("answer"), _("estimate"), _("95 % interval")), rows)


def _heading(release: Release, question: Question) -> Markup:
    return joined((tag("span", release.sheet.text_said(question)),))


def _rows(release: Release, question: Question) -> Iterator[tuple[str, ...]]:
    if not release.grouped:
        yield from _of(release, question, "")
        return
    for name, part in release.groups.items():
        yield from _of(part, question, f"{shown_group(name)}: ")
    for name, why in release.withheld.items():
        yield (
            _(
                "Nothing was published of {name}: {why}. Nobody in it was charged.",
                name=shown_group(name),
                why=kept_words(why),
            ),
        )


def _of(release: Release, question: Question, where: str) -> Iterator[tuple[str, ...]]:
    if question.name in release.dropped:
        yield (
            _(
                "{where}Not published: {dropped}. Nobody was charged for it.",
                where=where,
                dropped=kept_words(release.dropped[question.name]),
            ),
        )
        return
    for each in release[question.name].readings(0.95):
        yield (
            f"{where}{release.sheet.answer_said(question, each.answer)}",
            *each.written(release.sheet.unit_said(question)),
        )


def asked_words(offer: Announcement) -> str:
    """Say how much is asked, and of whom."""
    groups = _(" in {groups}", groups=count(len(offer.groups), "group", "groups")) if offer.grouped else ""
    return f"{count(len(offer.sheet), 'question', 'questions')}{groups}"
