"""Results as rows of a file: what the page shows of each group, of the whole and of differences, and what it says of them."""

from __future__ import annotations

from collections.abc import Iterator

from optin.errors import BadInput
from optin.figures.by_group import MOST_ROWS
from optin.questions import Question
from optin.questions.kinds import Reading
from optin.releasing import Release
from optin.releasing.across import Differences
from optin.report.sheet_release import little_said_of
from optin.web.pages.figures import parts_of_groups

FIELDS = ("group", "question", "answer", "unit", "estimate", "low", "high", "note")
Row = tuple[str, str, str, str, str | float, str | float, str | float, str]
WHOLE = "all groups together"
_WHY = {None: "", False: "says nothing: mostly noise", True: "says nothing: too few answers"}
_OUTSIDE = "beyond the possible, by noise"
_LOST = "too noisy to say"


def result_rows(release: Release) -> Iterator[Row]:
    """List every published figure with the two ends of its 95 % interval, as in release.json; what was not published says why."""
    for name, part in parts_of_groups(release):
        useless = little_said_of(part)
        for question in release.sheet:
            if question.name in part.dropped:
                yield _unpublished(name, question.name, f"not published: {part.dropped[question.name]}")
            else:
                readings = part[question.name].readings(0.95)
                yield from _figures(name, question, readings, _WHY[useless.get(question.name)])
    for name, why in release.withheld.items():
        yield _unpublished(name, "", f"not published: {why}")
    if release.grouped:
        yield from _across(release)


def _unpublished(name: str, question: str, why: str) -> Row:
    return name, question, "", "", "", "", "", why


def _figures(name: str, question: Question, readings: list[Reading], said: str) -> Iterator[Row]:
    for each in readings:
        unit = "proportion" if each.proportion else question.unit
        outside = "" if each.lost or each.low <= each.estimate <= each.high else _OUTSIDE
        note = "; ".join(filter(None, (_LOST if each.lost else "", said, outside)))
        yield name, question.name, each.answer, unit, "" if each.lost else each.estimate, each.low, each.high, note


def _across(release: Release) -> Iterator[Row]:
    """List what follows for groups together: the whole by their shares, and how far each two differ."""
    for question in release.sheet:
        try:
            readings = release.total(question.name).readings(0.95)
        except BadInput as why:
            yield _unpublished(WHOLE, question.name, f"withheld: {why}")
        else:
            yield from _figures(WHOLE, question, readings, "the whole: each group by its share")
        yield from _differences(release, question)


def _differences(release: Release, question: Question) -> Iterator[Row]:
    """List differences where the page does: so many that nobody would read them are left to release.json."""
    try:
        result = release.differences(question.name)
    except BadInput as why:
        yield _unpublished("differences", question.name, f"not listed: {why}")
        return
    if len(result.pairs) > MOST_ROWS:
        yield _unpublished("differences", question.name, f"{len(result.pairs)} pairs are not listed")
        return
    yield from _pairs(question, result)


def _pairs(question: Question, result: Differences) -> Iterator[Row]:
    for pair in result.pairs:
        one, other = pair.groups
        said = f"a difference of groups; {result.promise}"
        yield from _figures(f"{one} less {other}", question, pair.readings(result.each_level), said)
