"""The published figures of a sheet, as a table that needs no picture: every question, in every group."""

from __future__ import annotations

from collections.abc import Iterator

from optin.announcement import Announcement
from optin.questions import Question
from optin.releasing import Release
from optin.report.answer_sections import OUTSIDE
from optin.report.markup import Markup, grouped_table, joined, tag
from optin.wording.groups import shown_group
from optin.wording.language import _
from optin.wording.numbers import count


def one_number(published: Announcement | Release) -> bool:
    """Say whether one average is published, of everyone together: it has a page of its own words."""
    offer = published.announcement if isinstance(published, Release) else published
    return not offer.grouped and offer.sheet.one_number is not None


def figures_table(release: Release) -> Markup:
    """List every published figure with its interval, question by question and, within it, group by group."""
    rows = ((_heading(release, question), list(_rows(release, question))) for question in release.sheet)
    head = (_("answer"), _("estimate"), _("95 % interval"))
    table = grouped_table(_("All results, with 95 % intervals"), head, rows)
    return joined((table, tag("p", _(OUTSIDE), class_="note"))) if goes_outside(release) else table


def parts_of_groups(release: Release) -> tuple[tuple[str, Release], ...]:
    """List what was published of each group by its name, or of everyone under no name."""
    return tuple(release.groups.items()) if release.grouped else (("", release),)


def goes_outside(release: Release) -> bool:
    """Say whether noise pushed an estimate beyond what is possible, where its interval ends."""
    readings = (
        each
        for _name, part in parts_of_groups(release)
        for question in release.sheet
        if question.name not in part.dropped
        for each in part[question.name].readings(0.95)
    )
    return any(not (each.lost or each.low <= each.estimate <= each.high) for each in readings)


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
                why=_(why),
            ),
        )


def _of(release: Release, question: Question, where: str) -> Iterator[tuple[str, ...]]:
    if question.name in release.dropped:
        yield (
            _(
                "{where}Not published: {dropped}. Nobody was charged for it.",
                where=where,
                dropped=_(release.dropped[question.name]),
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
