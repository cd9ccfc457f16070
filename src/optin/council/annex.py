"""The annex for an ethics board or a works council: one page to print, made from the terms and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from optin.announcement import Announcement
from optin.council.keeping import Keeping
from optin.questions import Sheet
from optin.report.markup import Markup, joined, paragraphs, tag
from optin.report.privacy import privacy_sheet
from optin.report.style import STYLE
from optin.wording.groups import listed_groups
from optin.wording.language import N_, _, after_colon, localised, spoken_here
from optin.wording.numbers import largest, odds_factor
from optin.wording.spoken import LENGTH, spoken

_PRINT = """
main { max-width: 52rem; } ol, ul { max-width: 46rem; padding-left: 1.4rem; } li { margin: .3rem 0; } section { margin-top: 2rem;
  padding-top: 1.25rem; } .words { font-weight: 650; } td { text-align: left; white-space: normal; } th { text-align: left; }
tbody th { width: 30%; }
@media print { body { font-size: 11pt; } h2 { break-after: avoid; } section { margin-top: 1.2rem; padding-top: .8rem; } }
"""
_SEES = (
    (N_("a person"), N_("what is asked, the offer, their own deal, the result, and their own receipt")),
    (N_("others who are asked"), N_("the offer and the result; nothing about one person")),
    (
        N_("whoever asks"),
        N_("how many registered, joined and declined; limits only in groups of people; never an answer"),
    ),
    (
        N_("the operator"),
        N_("everything that the machine holds while the round is open, answers included: they have to be trusted"),
    ),
    (N_("witnesses"), N_("sizes and hashes of the ledger, and nothing of what is in it")),
    (N_("the council"), N_("the offer, the result, signed checkpoints and proofs")),
    (
        N_("the public"),
        N_(
            "the same, where everyone may take part; where people are invited, sizes and hashes of the ledger alone, unless one "
            "of those above passes on what they see"
        ),
    ),
)
_FEW = N_("Only if at least {people:,} people who promised something join.")
_FEW_IN_GROUP = N_(
    "In each group by itself: only if at least {people:,} people of it who promised something join. A group with fewer is not "
    "published."
)
_FEW_ANSWERS = N_("Each question only if at least {people:,} people who promised something answer it.")
_FEW_ANSWERS_IN_GROUP = N_(
    "In each group by itself: each question only if at least {people:,} people of it who promised something answer it."
)


def annex(offer: Announcement, keeping: Keeping) -> str:
    """Write the page in the language spoken; the same offer gives the same text in it."""
    title = offer.sheet.title_said or offer.campaign
    kicker = _(
        "Annex for an ethics board or a works council · {campaign}, round {round}",
        campaign=offer.campaign,
        round=offer.round,
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", _("Annex: {title}", title=title)),
        tag("style", Markup(STYLE + _PRINT)),
    )
    top = tag(
        "header",
        tag("p", kicker, class_="kicker"),
        tag("h1", title),
        *([tag("p", offer.sheet.purpose_said, class_="lead")] if offer.sheet.purpose else []),
    )
    body = tag("body", tag("main", top, *_sections(offer, keeping)))
    return f"<!doctype html>\n{tag('html', head, body, lang=spoken_here().tag or 'en')}\n"


def _sections(offer: Announcement, keeping: Keeping) -> Iterator[Markup]:
    where = _("Answers are in {where}.", where=_(keeping.where))
    yield _section(
        _("What is asked"),
        _rows(_("Questions"), _questions(offer.sheet)),
        paragraphs(_asked_by(offer), *_in_groups(offer)),
    )
    yield _section(_("How data flows"), tag("ol", *(tag("li", _(sentence)) for sentence in keeping.flow_under(offer))))
    yield _section(_("Consent text"), tag("blockquote", paragraphs(*_consent(offer, keeping))))
    yield _section(_("Who sees what"), _rows(_("Who sees what"), [(_(who), _(what)) for who, what in _SEES]))
    yield _section(_("How long"), paragraphs(_(keeping.retention), where))
    yield _section(_("Last moment to withdraw"), paragraphs(keeping.withdrawal(offer)))
    yield _section(_("When a result is published"), paragraphs(*_conditions(offer)))
    yield _section(_("What is promised, and what is not"), privacy_sheet(*offer.parts))
    yield _section(_("How to know that this is the offer everyone saw"), *_fingerprint(offer))


def _section(title: str, *parts: Markup) -> Markup:
    return tag("section", tag("h2", title), *parts)


def _rows(caption: str, rows: Iterable[tuple[str, str]]) -> Markup:
    body = joined(tag("tr", tag("th", name, scope="row"), tag("td", text)) for name, text in rows)
    return tag("table", tag("caption", caption), tag("tbody", body))


def _questions(sheet: Sheet) -> Iterator[tuple[str, str]]:
    for question in sheet:
        answers = _answers(sheet, question)
        yield question.name, f"{sheet.text_said(question)} ({answers})" if question.text else answers


def _answers(sheet: Sheet, question: Any) -> str:  # noqa: ANN401 - kinds differ in what may be answered
    """Say what may be answered, as `answers_of` does, in the language spoken."""
    ends = getattr(question, "bounds", None) or getattr(question, "edges", None)
    if ends is None:
        return ", ".join(sheet.answer_said(question, each) for each in question.options)
    low, high = (localised(f"{end:,.10g}") for end in (ends[0], ends[-1]))
    return _("{low} to {high} {unit}", low=low, high=high, unit=sheet.unit_said(question)).rstrip()


def _asked_by(offer: Announcement) -> str:
    people = _("Announced to {people:,} people.", people=offer.people)
    if offer.sheet.asked_by:
        return " ".join((_("Asked by: {asked_by}.", asked_by=offer.sheet.asked_by), people))
    return " ".join((_("Who asks is not stated in the terms."), people))


def _in_groups(offer: Announcement) -> Iterator[str]:
    if offer.grouped:
        yield _(
            "People are in public groups, with a result of each: {groups}.",
            groups=listed_groups(tuple(offer.groups), len(offer.groups)),
        )


def _consent(offer: Announcement, keeping: Keeping) -> Iterator[str]:
    """Write what a person agrees to, in their own words."""
    yield _("I take part of my own will. Nobody is told why I join or decline, and declining costs me nothing.")
    if offer.noiseless:
        yield _(
            "The result is published without noise: nothing hides my answer, because everyone who counts set no limit."
        )
    else:
        yield " ".join(_changes(max(part.cap for part in offer.parts)))
    yield _("Whoever runs the survey can see my answers until the result is drawn, and I trust them with that.")
    yield _("I can withdraw: {how}", how=after_colon(keeping.withdrawal(offer)))


def _changes(cap: float) -> Iterator[str]:
    yield _(
        "What anyone can conclude about me from the published result changes by a factor of at most e to the power of my "
        "own epsilon: the smaller of the limit that I stated and the cap of this offer."
    )
    if cap < 20:
        yield _("It is at most {cap}, a factor of {factor}.", cap=largest(cap), factor=odds_factor(cap))


def _conditions(offer: Announcement) -> Iterator[str]:
    stated = offer.terms.conditions
    if stated.quorum_people is not None:
        template = _FEW_IN_GROUP if offer.grouped else _FEW
        yield _(template, people=stated.quorum_people)
    if stated.quorum_error is not None:
        yield _("Only if its standard error is at most {error:.6g}.", error=stated.quorum_error)
    if stated.min_people is not None:
        template = _FEW_ANSWERS_IN_GROUP if offer.grouped else _FEW_ANSWERS
        yield _(template, people=stated.min_people)
    if stated.published_until is not None:
        yield _(
            "It is published by {until}, or the round is cancelled and everything given back.",
            until=stated.published_until,
        )
    if (stated.quorum_people, stated.quorum_error, stated.min_people, stated.published_until) == (None,) * 4:
        yield _("No condition was stated beforehand.")


def _fingerprint(offer: Announcement) -> tuple[Markup, ...]:
    return (
        tag("p", spoken(offer.fingerprint), class_="words"),
        tag("p", tag("code", offer.fingerprint)),
        tag(
            "p",
            _(
                "These {length} words stand for every word and number of the offer. Whoever reads other words was shown "
                "another offer. Compare all of them.",
                length=LENGTH,
            ),
            class_="note",
        ),
    )
