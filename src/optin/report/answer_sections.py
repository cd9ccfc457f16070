"""A section for each question of a release: its words, its picture, its figures, and how far they may be off."""

from __future__ import annotations

from collections.abc import Iterator

from optin import figures
from optin.figures.answers import answer_height
from optin.planning.cautions import assumption
from optin.questions import Histogram, Number, Question, Score
from optin.questions.kinds import SPREAD, QuestionResult, Reading
from optin.questions.multiple_choice import MultipleChoice, Several
from optin.questions.number_result import NumberResult
from optin.questions.proportions import Proportions
from optin.questions.telling import is_proportion
from optin.releasing import Release
from optin.report.markup import Markup, joined, table
from optin.report.section import Pictured, note, section
from optin.wording.amounts import plus_minus_of
from optin.wording.numbers import count, counted_between, percent, steady

OUTSIDE = "Noise can push an estimate beyond what is possible: it is published as it is, and its interval lies inside."
READING = {
    "number": (
        "The dot is the mean and the line through it the 95 % interval of the population's mean. The box reaches one standard"
        " deviation to both sides: how far people differ, published at no further cost."
    ),
    "yes-no": "Bars are proportions of people, lines their 95 % intervals.",
    "histogram": (
        "Steps are proportions of people, lines their 95 % intervals. The broken line is the median, and the dotted band its"
        " interval, in whole bins."
    ),
}
"""How a picture is read, by kind; those that are not named are read as a yes or no, or as a number."""


def answer_section(release: Release, question: Question) -> Pictured:
    """Show what was published of one question."""
    result = release[question.name]
    return Pictured(
        name=f"answer-{release.sheet.questions.index(question) + 1}",
        title=question.text or question.name,
        reading=" ".join((answered_words(release, question), *reading_of(question, result))),
        draw=lambda ax, ink: figures.answer(ax, release, question.name, ink=ink),
        numbers=lambda: _numbers(release, question, result),
        height=answer_height(result),
    )


def dropped_section(release: Release, question: Question) -> Markup:
    """Say why nothing was published of a question."""
    why = f"Not published: {release.dropped[question.name]}. Nobody was charged for it."
    return section(question.text or question.name, why)


def answered_words(release: Release, question: Question) -> str:
    """Say how many answered a question, and what it is called in files."""
    people = release.question_people[release.sheet.questions.index(question)]
    return f"{people:,} of {count(release.joined_people)} who joined answered “{question.name}”."


def reading_of(question: Question, result: QuestionResult) -> Iterator[str]:
    """Say how the picture of a question is read, in sentences."""
    kind = "number" if question.kind == "score" else question.kind
    yield READING.get(kind, READING["yes-no"])
    if isinstance(question, MultipleChoice):
        yield f"People could choose up to {question.at_most}, so proportions need not add up to 100 %."
    if kind == "scale":
        yield "The mean score counts options from 1 in their order."
    if isinstance(question, Number | Score):
        yield f"Answers were {counted_between(question.bounds)}."
    if isinstance(question, Histogram):
        yield "Whatever lies outside counts in the first or the last bin."
    low, high = result.bounds if isinstance(result, NumberResult) else (0.0, 1.0)
    if any(not low <= each.estimate <= high for each in result.readings(0.95) if is_estimate(each, question)):
        yield OUTSIDE


def is_estimate(each: Reading, question: Question) -> bool:
    """Tell what a question publishes itself, such as proportions, from what is read off it, such as a median."""
    return each.proportion == is_proportion(question) and each.answer != SPREAD


def _numbers(release: Release, question: Question, result: QuestionResult) -> Markup:
    errors, readings = standard_errors(result), result.readings(0.95)
    rows = [
        (
            each.answer,
            each.written(question.unit)[0],
            each.written()[1],
            _error(errors.get(each.answer), each, question),
        )
        for each in readings
    ]
    unit = " (points)" if is_proportion(question) else ""
    head = ("answer", "estimate", "95 % interval", f"standard error{unit}")
    shown = table("Estimates and 95 % intervals", head, rows)
    return joined((shown, note(*accuracy_notes(release, question, result))))


def _error(error: float | None, each: Reading, question: Question) -> str:
    """Write a standard error, never with a ±; only what a question publishes itself has one."""
    if error is None or not is_estimate(each, question):
        return ""
    return steady(100 * error if each.proportion else error, 2)


def standard_errors(result: QuestionResult) -> dict[str, float]:
    """List the standard errors of what was published, by answer; medians, means of scores and spreads have intervals alone."""
    if isinstance(result, NumberResult):
        return {"mean": result.standard_error}
    if isinstance(result, Proportions | Several):
        return {option: result.standard_error(option) for option in result.options}
    return {}


def accuracy_notes(release: Release, question: Question, result: QuestionResult) -> list[str]:
    """Say ±, what the question took, and what the interval leaves out."""
    share = release.announcement[question.name].epsilon_share
    return [
        f"{half_words(question, result)} It takes {percent(share)} of everyone's epsilon.",
        left_out(release, question),
    ]


def half_words(question: Question, result: QuestionResult) -> str:
    """Say what ± is: of a number half of the mean's interval, of proportions half of the widest."""
    if isinstance(result, NumberResult):
        cut = " before it is cut at the bounds" if {*result.interval(0.95)} & {*result.bounds} else ""
        half = plus_minus_of(result.half_width(0.95), proportion=False, unit=question.unit)
        return f"{half}: half of the mean's 95 % interval{cut}."
    widest = max((each.high - each.low) / 2 for each in result.readings(0.95) if each.proportion)
    return f"{plus_minus_of(widest, proportion=True)} at most: half of the widest 95 % interval."


def left_out(release: Release, question: Question) -> str:
    """Say what the intervals of a question leave out if answers go with limits (E22)."""
    offer, result = release.announcement, release[question.name]
    return assumption(
        result.breakdown_gap,
        width=1.0 if is_proportion(question) else result.width,
        max_gap=question.max_gap,
        tilt=result.counted.tilt,
        planned_tilt=offer.tilt,
        proportion=is_proportion(question),
    )
