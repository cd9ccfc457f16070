"""The page of a release of a sheet: all results at a glance, then each question with its picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.planning.cautions import DUST
from optin.questions import Question
from optin.releasing import Release
from optin.releasing.telling import charged_words
from optin.releasing.useless import useless_questions, useless_words
from optin.report.answer_sections import answer_section, dropped_section
from optin.report.drawn import MEAN, cap_row, drawn_section, sealed_rows
from optin.report.markup import Markup, grouped_table, joined, paragraphs, tag
from optin.report.section import LARGEST_TILT, section, warned
from optin.wording.numbers import count, percent

LEVEL = (
    "An interval holds what the whole population would have answered, in 95 of 100 cases, one figure at a time: of twenty"
    " figures about one is expected to lie outside its interval."
)
GUARD = (
    "Intervals count no error from cautious and open people answering differently, unless a question allows for it by a"
    " max_gap; each section says how large a difference would matter."
)


def release_title(release: Release) -> str:
    """Name the page by what was asked."""
    sheet = release.sheet
    first = sheet.questions[0]
    several = f"Results of {len(sheet)} questions" if len(sheet) > 1 else first.text or first.name
    return sheet.title or several


def release_header(release: Release) -> Markup:
    """Say in a few sentences what this is, whom it is about and what to beware of."""
    return header_of(release, f". {_published(release)} {_price(release)}", warnings=useless_words(release))


def says_little(release: Release) -> tuple[str, ...]:
    """Say which results say next to nothing, of everyone or of some groups."""
    return release.mostly_noise if release.grouped else tuple(useless_words(release))


def little_said_of(release: Release) -> Mapping[str, bool]:
    """Name the published questions of everyone, or of one group, that say next to nothing, and whether since few answered."""
    return useless_questions(release)


def header_of(release: Release, after: str, *told: str, warnings: Iterable[str]) -> Markup:
    """Name the campaign, say how many joined (and what stands ``after`` that), why it was asked and by whom, and warn."""
    offer, sheet = release.announcement, release.sheet
    lead = f"{release.joined_people:,} of {count(offer.people)} joined{after}"
    asked = [sheet.purpose, f"Asked by {sheet.asked_by}." if sheet.asked_by else ""]
    return tag(
        "header",
        tag("p", f"Campaign {offer.campaign}, round {offer.round}", class_="kicker"),
        tag("h1", release_title(release)),
        tag("p", lead, class_="lead"),
        paragraphs(*filter(None, (*asked, *told))),
        warned(warnings),
    )


def _published(release: Release) -> str:
    published, asked = len(release.results), len(release.sheet)
    if published == asked:
        return f"All {asked} questions were published." if asked > 1 else ""
    return f"{published} of {asked} questions were published."


def _price(release: Release) -> str:
    if release.announcement.noiseless:
        return "No noise was added, for nobody who counts set a limit."
    return "Nobody gave more privacy than they allowed."


def headline(release: Release) -> Markup:
    """List every published figure, question by question, and what was dropped."""
    groups = ((_heading(question), _rows(release, question)) for question in release.sheet)
    shown = grouped_table("All results, with 95 % intervals", ("answer", "estimate", "95 % interval"), groups)
    return section("All results", LEVEL, *_guard(release), below=shown)


def _guard(release: Release) -> list[str]:
    """Say what would guard against answers that go with limits, where nothing does."""
    open_to_it = release.tilt > DUST and any(question.max_gap == 0 for question in release.sheet)
    return [GUARD] if open_to_it and release.announcement.model == PRIVACY_CONSTRAINED else []


def _heading(question: Question) -> Markup:
    if not question.text:
        return joined((question.name,))
    return joined((question.text, " ", tag("span", question.name)))


def _rows(release: Release, question: Question) -> list[tuple[str, ...]]:
    if question.name in release.dropped:
        return [(f"Not published: {release.dropped[question.name]}. Nobody was charged for it.",)]
    return [(each.answer, *each.written(question.unit)) for each in release[question.name].readings(0.95)]


def question_sections(release: Release) -> Markup:
    """Write a section for each question, in their order."""
    return joined(
        dropped_section(release, question)
        if question.name in release.dropped
        else answer_section(release, question).written()
        for question in release.sheet
    )


def sheet_section(release: Release) -> Markup:
    """List what was announced and drawn, and say how figures are recomputed."""
    rows = [
        ("answered", "; ".join(_answered(release))),
        cap_row(release),
        ("tilt" if len(release.sheet) == 1 else LARGEST_TILT, percent(release.tilt)),
        *sealed_rows(release),
        ("fingerprint", release.fingerprint),
        ("charged", charged_words(release)),
    ]
    where = "every figure: " if release.seal is not None else f"{_WHERE} "
    proportion = tag("code", "noisy total / (level * sum of grains)")
    return drawn_section(release, rows, f"{where}a proportion is ", proportion, ", a mean ", tag("code", MEAN))


_WHERE = "every figure from release.json, where the noisy integers stand beside the sum of grains of their question:"


def _answered(release: Release) -> Iterator[str]:
    for question, people in zip(release.sheet, release.question_people, strict=True):
        yield f"{question.name}: {people:,}"
