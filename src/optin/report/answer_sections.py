"""A section for each question of a release: its words, its picture, its figures, and how far they may be off."""

from __future__ import annotations

from collections.abc import Iterator

from optin import figures
from optin.figures.answers import answer_height
from optin.planning.cautions import assumption
from optin.questions import Question
from optin.questions.kinds import SPREAD, QuestionResult, Reading
from optin.releasing import Release
from optin.report.markup import Markup, joined, table
from optin.report.section import Pictured, note, section
from optin.wording.language import N_, _
from optin.wording.numbers import count, percent, steady

OUTSIDE = N_(
    "Noise can push an estimate beyond what is possible: it is published as it is, and its interval lies inside."
)


def answer_section(release: Release, question: Question) -> Pictured:
    """Show what was published of one question."""
    result = release[question.name]
    return Pictured(
        name=f"answer-{release.sheet.questions.index(question) + 1}",
        title=release.sheet.text_said(question),
        reading=" ".join((answered_words(release, question), *reading_of(question, result))),
        draw=lambda ax, ink: figures.answer(ax, release, question.name, ink=ink),
        numbers=lambda: _numbers(release, question, result),
        height=answer_height(result),
    )


def dropped_section(release: Release, question: Question) -> Markup:
    """Say why nothing was published of a question."""
    why = _("Not published: {dropped}. Nobody was charged for it.", dropped=release.dropped[question.name])
    return section(question.text or question.name, why)


def answered_words(release: Release, question: Question) -> str:
    """Say how many answered a question, and what it is called in files."""
    people = release.question_people[release.sheet.questions.index(question)]
    return _(
        "{people:,} of {joined_people} who joined answered “{name}”.",
        people=people,
        joined_people=count(release.joined_people),
        name=question.name,
    )


def reading_of(question: Question, result: QuestionResult) -> Iterator[str]:
    """Say how the picture of a question is read, in sentences."""
    yield from question.reading
    low, high = result.bounds
    if any(not low <= each.estimate <= high for each in result.readings(0.95) if is_estimate(each, question)):
        yield _(OUTSIDE)


def is_estimate(each: Reading, question: Question) -> bool:
    """Tell what a question publishes itself, such as proportions, from what is read off it, such as a median."""
    return each.proportion == question.proportion and each.answer != SPREAD


def _numbers(release: Release, question: Question, result: QuestionResult) -> Markup:
    errors, readings = result.standard_errors(), result.readings(0.95)
    rows = [
        (
            release.sheet.answer_said(question, each.answer),
            each.written(release.sheet.unit_said(question))[0],
            each.written()[1],
            _error(errors.get(each.answer), each, question),
        )
        for each in readings
    ]
    head = (_("answer"), _("estimate"), _("95 % interval"), _("standard error"))
    shown = table(_("Estimates and 95 % intervals"), head, rows)
    return joined((shown, note(*accuracy_notes(release, question, result))))


def _error(error: float | None, each: Reading, question: Question) -> str:
    """Write a standard error, never with a ±; only what a question publishes itself has one."""
    if error is None or not is_estimate(each, question):
        return ""
    return _("{half} points", half=steady(100 * error, 2)) if each.proportion else steady(error, 2)


def accuracy_notes(release: Release, question: Question, result: QuestionResult) -> list[str]:
    """Say ±, what the question took, and what the interval leaves out."""
    share = release.announcement[question.name].epsilon_share
    return [
        _(
            "{half_words} It takes {share} of everyone's epsilon.",
            half_words=result.half_words(release.sheet.unit_said(question)),
            share=percent(share),
        ),
        left_out(release, question),
    ]


def left_out(release: Release, question: Question) -> str:
    """Say what the intervals of a question leave out if answers go with limits (E22)."""
    offer, result = release.announcement, release[question.name]
    return assumption(
        result.breakdown_gap,
        width=question.width,
        max_gap=question.max_gap,
        tilt=result.counted.tilt,
        planned_tilt=offer.tilt,
        proportion=question.proportion,
    )
