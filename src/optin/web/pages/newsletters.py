"""A result to be passed on: a draft of a text that states interval and privacy as they are."""

from __future__ import annotations

import math
from collections.abc import Iterator

from optin.announcement import Announcement
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.questions import Question
from optin.releasing import Release
from optin.report.answer_sections import OUTSIDE
from optin.report.sheet_release import says_little
from optin.web.pages.asked_words import purpose_said, title_said
from optin.web.pages.coming import doubles_after
from optin.web.pages.figures import goes_outside, parts_of_groups
from optin.web.pages.wording import cap_words
from optin.web.service.records import Published
from optin.wording.groups import shown_group
from optin.wording.language import N_, _
from optin.wording.limit_steps import HIGHEST_STEP
from optin.wording.numbers import count

_RANGES = N_(
    "Each range holds what the whole population would have answered in 95 of 100 cases, one figure "
    "at a time. It counts the luck of who was asked and the noise that was added; it does not count "
    "what those would have said who did not take part, nor that cautious and open people may answer "
    "differently. Where two ranges overlap, do not speak of a difference."
)
_CHOSEN = (
    N_("chose beforehand how much these figures may tell about them"),
    N_("nobody gives away more than they chose"),
)
_WEIGHED = (
    N_("said beforehand what giving something away costs them, and was free to leave"),
    N_("nobody gives away more than was announced to them"),
)
_BOUND = N_("That is a bound, not secrecy: the figures tell a little about everyone who took part.")


def newsletter(published: Published, release: Release) -> str:
    """Draft a text for people who were not there: what was asked, by whom, of how many, with which intervals and what noise."""
    sheet = release.sheet
    asked = _("{asked_by} asked", asked_by=sheet.asked_by) if sheet.asked_by else _("We asked")
    paragraphs = [
        title_said(published),
        _(
            "{asked}; {people} registered, {joined_people:,} took part. {purpose}",
            asked=asked,
            people=count(release.announcement.people),
            joined_people=release.joined_people,
            purpose=purpose_said(published),
        ).strip(),
        *("\n".join(_lines(release, question)) for question in sheet),
        "\n".join(
            _("Of {group} nothing is published: {why}.", group=shown_group(name), why=_(why))
            for name, why in release.withheld.items()
        ),
        "\n".join(says_little(release)),
        _(OUTSIDE) if goes_outside(release) else "",
        doubles_after(public=published.public, open_link=published.open_link),
        _(_RANGES),
        _privacy(release.announcement),
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _lines(release: Release, question: Question) -> Iterator[str]:
    yield release.sheet.text_said(question)
    for name, part in parts_of_groups(release):
        where = f"{shown_group(name)}, " if name else ""
        if question.name in part.dropped:
            yield _("- {where}not published: {dropped}", where=where, dropped=_(part.dropped[question.name]))
            continue
        for each in part[question.name].readings(0.95):
            estimate, ends = each.written(release.sheet.unit_said(question))
            yield _(
                "- {where}{answer}: {estimate} (range {ends})",
                where=where,
                answer=release.sheet.answer_said(question, each.answer),
                estimate=estimate,
                ends=ends,
            )


def _privacy(offer: Announcement) -> str:
    if offer.noiseless:
        return _("No noise was added: nobody who counts set a limit.")
    chosen, protects = _CHOSEN if offer.model == PRIVACY_CONSTRAINED else _WEIGHED
    cap = cap_words(
        max(part.cap for part in offer.parts), highest=HIGHEST_STEP if offer.model == PRIVACY_CONSTRAINED else math.inf
    )
    most = (
        ""
        if cap == cap_words(math.inf)
        else _(", and nobody more than {cap} on the odds of a guess about them", cap=cap)
    )
    return _(
        "Privacy: everyone {chosen}. Noise was added so that {kept}{most}. {bound}",
        chosen=_(chosen),
        kept=_(protects),
        most=most,
        bound=_(_BOUND),
    )
