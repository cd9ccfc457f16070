"""The annex for an ethics board or a works council: one page to print, made from the terms and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from optin.announcement import Announcement
from optin.council.keeping import Keeping
from optin.questions.brief import answers_of
from optin.report.markup import Markup, joined, paragraphs, tag
from optin.report.privacy import privacy_sheet
from optin.report.style import STYLE
from optin.wording.numbers import largest, odds_factor
from optin.wording.spoken import LENGTH, spoken

_PRINT = """
main { max-width: 52rem; } ol, ul { max-width: 46rem; padding-left: 1.4rem; } li { margin: .3rem 0; } section { margin-top: 2rem;
  padding-top: 1.25rem; } .words { font-weight: 650; } td { text-align: left; white-space: normal; } th { text-align: left; }
tbody th { width: 30%; }
@media print { body { font-size: 11pt; } h2 { break-after: avoid; } section { margin-top: 1.2rem; padding-top: .8rem; } }
"""
_SEES = (
    ("a person", "what is asked, the offer, their own deal, the result, and their own receipt"),
    ("other people", "the offer and the result; nothing about one person"),
    ("whoever asks", "how many registered, joined and declined; limits only in groups of people; never an answer"),
    (
        "the operator",
        "everything that the machine holds while the round is open, answers included: they have to be trusted",
    ),
    ("witnesses", "sizes and hashes of the ledger, and nothing of what is in it"),
    ("the council, the public", "the offer, the result, signed checkpoints and proofs"),
)


def annex(offer: Announcement, keeping: Keeping) -> str:
    """Write the page; the same offer gives the same text."""
    title = offer.sheet.title or offer.campaign
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"Annex: {title}"),
        tag("style", Markup(STYLE + _PRINT)),
    )
    top = tag(
        "header",
        tag(
            "p",
            f"Annex for an ethics board or a works council · {offer.campaign}, round {offer.round}",
            class_="kicker",
        ),
        tag("h1", title),
        *([tag("p", offer.sheet.purpose, class_="lead")] if offer.sheet.purpose else []),
    )
    body = tag("body", tag("main", top, *_sections(offer, keeping)))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _sections(offer: Announcement, keeping: Keeping) -> Iterator[Markup]:
    yield _section("What is asked", _rows("Questions", _questions(offer)), paragraphs(*_asked_by(offer)))
    yield _section("How data flows", tag("ol", *(tag("li", step) for step in keeping.flow)))
    yield _section("Consent text", tag("blockquote", paragraphs(*_consent(offer, keeping))))
    yield _section("Who sees what", _rows("Who sees what", _SEES))
    yield _section("How long", paragraphs(keeping.retention, f"Answers are in {keeping.where}."))
    yield _section("Last moment to withdraw", paragraphs(keeping.withdrawal(offer)))
    yield _section("When a result is published", paragraphs(*_conditions(offer)))
    yield _section("What is promised, and what is not", privacy_sheet(*offer.parts))
    yield _section("How to know that this is the offer everyone saw", *_fingerprint(offer))


def _section(title: str, *parts: Markup) -> Markup:
    return tag("section", tag("h2", title), *parts)


def _rows(caption: str, rows: object) -> Markup:
    body = joined(tag("tr", tag("th", name, scope="row"), tag("td", text)) for name, text in rows)  # type: ignore[attr-defined]
    return tag("table", tag("caption", caption), tag("tbody", body))


def _questions(offer: Announcement) -> Iterator[tuple[str, str]]:
    for question in offer.sheet:
        yield question.name, f"{question.text} ({answers_of(question)})" if question.text else answers_of(question)


def _asked_by(offer: Announcement) -> tuple[str, ...]:
    who = f"Asked by: {offer.sheet.asked_by}." if offer.sheet.asked_by else "Who asks is not stated in the terms."
    return (f"{who} Announced to {offer.people:,} people.",)


def _consent(offer: Announcement, keeping: Keeping) -> Iterator[str]:
    """Write what a person agrees to, in their own words."""
    yield "I take part of my own will. Nobody is told why I join or decline, and declining costs me nothing."
    if offer.noiseless:
        yield "The result is published without noise: nothing hides my answer, because everyone who counts set no limit."
    else:
        cap = max(part.cap for part in offer.parts)
        most = f" It is at most {largest(cap)}, a factor of {odds_factor(cap)}." if cap < 20 else ""
        yield (
            "What anyone can conclude about me from the published result changes by a factor of at most e to the power of my "
            f"own epsilon: the smaller of the limit that I stated and the cap of this offer.{most}"
        )
    yield "Whoever runs the survey can see my answers until the result is drawn, and I trust them with that."
    yield f"I can withdraw: {keeping.withdrawal(offer)[:1].lower()}{keeping.withdrawal(offer)[1:]}"


def _conditions(offer: Announcement) -> Iterator[str]:
    stated = offer.terms.conditions
    if stated.quorum_people is not None:
        yield f"Only if at least {stated.quorum_people:,} people who promised something join."
    if stated.quorum_error is not None:
        yield f"Only if its standard error is at most {stated.quorum_error:.6g}."
    if stated.min_people is not None:
        yield f"Each question only if at least {stated.min_people:,} people who promised something answer it."
    if stated.published_until is not None:
        yield f"It is published by {stated.published_until}, or the round is cancelled and everything given back."
    if (stated.quorum_people, stated.quorum_error, stated.min_people, stated.published_until) == (None,) * 4:
        yield "No condition was stated beforehand."


def _fingerprint(offer: Announcement) -> tuple[Markup, ...]:
    return (
        tag("p", spoken(offer.fingerprint), class_="words"),
        tag("p", tag("code", offer.fingerprint)),
        tag(
            "p",
            f"These {LENGTH} words stand for every word and number of the offer. Whoever reads other words was shown another"
            " offer. Compare all of them.",
            class_="note",
        ),
    )
