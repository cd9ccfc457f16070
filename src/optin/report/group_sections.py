"""Sections of a page by group: every group beside the others, the whole, and how far groups differ (E27)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

from optin.errors import BadInput
from optin.figures.by_group import MOST_ROWS, by_group, differences, pairs_are_numbered, rows_height
from optin.questions import Question
from optin.questions.combined import Addend, Combined
from optin.questions.kinds import Reading
from optin.releasing import Release
from optin.releasing.across import Difference, Differences, Total
from optin.report.markup import Markup, grouped_table, joined, table
from optin.report.section import Pictured, note, section
from optin.wording.groups import shown_group, tens_in_words
from optin.wording.language import N_, _, capital
from optin.wording.numbers import percent, steady

MOST_LOOKED_AT = 300
"""Of no more differences than this it is looked which leave out 0: each takes about a millisecond."""
MOST_FIGURES = 6
"""A question has a picture for each of its figures up to this many; the others are in the table."""
READING = N_(
    "A dot is a group's estimate and the line through it its 95 % interval, one group at a time. "
    "Each group was asked at its people's full limits, so groups cost each other nothing."
)
TILT = N_(
    "The whole counts every group by its share of the population, whatever limits its people chose, "
    "so it does not lean towards groups whose people allow more. Within a group, whoever allows more "
    "still counts more."
)
DOTS = N_("A filled dot is a difference whose interval leaves out 0.")
APART = N_("Intervals are wider than those of single groups: all of them hold together.")


Shares = Mapping[str, float] | None


def question_sections(release: Release, question: Question, population: Shares = None) -> Iterator[Markup]:
    """Show one question: its figures by group with the whole, by shares of a population where given, then differences."""
    for each in question_parts(release, question, population):
        yield each.written() if isinstance(each, Pictured) else each


def question_parts(release: Release, question: Question, population: Shares = None) -> Iterator[Pictured | Markup]:
    """Return the same sections, those with a picture not drawn yet."""
    whole, why = whole_of(release, question, population)
    if all(question.name in each.dropped for each in release.groups.values()):
        yield section(release.sheet.text_said(question), _("Not published of any group: {why}.", why=why))
        return
    for place, figure in enumerate(_figures(release, question)[:MOST_FIGURES]):
        yield figure_section(release, question, figure, whole, first=place == 0)
    yield section(
        _("All together: {name}", name=question.name), _(TILT), below=whole_numbers(release, question, whole, why)
    )
    yield from difference_section(release, question)


def whole_of(release: Release, question: Question, population: Shares = None) -> tuple[Total | None, str]:
    """Put the whole together, or say why there is none."""
    try:
        return release.total(question.name, population), ""
    except BadInput as why:
        return None, why.sentence.spoken()


def _figures(release: Release, question: Question) -> tuple[Addend, ...]:
    known = next(each for each in release.groups.values() if question.name not in each.dropped)
    return tuple(known[question.name].addends())


def figure_section(
    release: Release, question: Question, figure: Addend, whole: Total | None, *, first: bool
) -> Pictured:
    """Draw one figure of every group; its numbers stand beside it."""
    rows = len(release.groups) + (whole is not None)
    name = release.sheet.text_said(question)
    return Pictured(
        name=f"by-group-{release.sheet.questions.index(question) + 1}-{figure.answer}",
        title=name
        if first and not figure.proportion
        else _("{question} “{answer}”", question=name, answer=release.sheet.answer_said(question, figure.answer)),
        reading=_(READING) if first else "",
        draw=lambda ax, ink: by_group(ax, release.groups, question.name, answer=figure.answer, total=whole, ink=ink),
        numbers=lambda: group_numbers(release, question, figure.answer),
        height=rows_height(min(rows, MOST_ROWS)),
        always=group_numbers(release, question, figure.answer),
    )


def group_numbers(release: Release, question: Question, answer: str) -> Markup:
    """List one figure of every group with its interval; who joined is counted in tens."""
    rows = [(shown_group(name)[1:-1], *_cells(each, question, answer)) for name, each in release.groups.items()]
    shown = table(
        _("By group, with 95 % intervals"), (_("group"), _("joined"), _("estimate"), _("95 % interval")), rows
    )
    missing = [(name, each.dropped.get(question.name)) for name, each in release.groups.items()]
    return joined(
        (
            shown,
            note(
                *(_("{group} was not published: {why}.", group=isolated(name), why=why) for name, why in missing if why)
            ),
        )
    )


def _cells(release: Release, question: Question, answer: str) -> tuple[str, str, str]:
    joined_people = tens_in_words(release.joined_people)
    if question.name in release.dropped:
        return joined_people, _("not published"), ""
    (reading,) = (each for each in release[question.name].readings(0.95) if each.answer == answer)
    return joined_people, *reading.written("" if answer == "mean score" else release.sheet.unit_said(question))


def whole_numbers(release: Release, question: Question, whole: Total | None, why: str) -> Markup:
    """List the whole with its interval and standard error, beside what one group would have cost."""
    if whole is None:
        return note(_("Withheld: {why}.", why=why))
    errors = whole.ungrouped or (math.nan,) * len(whole.figures)
    rows = [
        (
            release.sheet.answer_said(question, reading.answer),
            *whole.written(reading),
            _error(figure, figure.standard_error),
            "" if math.isnan(alone) else _("at most {error}", error=_error(figure, alone)),
        )
        for figure, reading, alone in zip(whole.figures, whole.readings(0.95), errors, strict=True)
    ]
    head = (_("answer"), _("estimate"), _("95 % interval"), _("standard error"), _("as one group"))
    parts = [f"{isolated(name)} {percent(share)}" for name, share in list(whole.shares.items())[:MOST_ROWS]]
    told = _(
        "Shares: {parts}. As one group, the same promises would have this standard error; the difference "
        "is what it costs not to lean towards open groups.",
        parts=", ".join(parts),
    )
    shown = table(_("All groups together, with 95 % intervals"), head, rows)
    return joined((shown, note(told, _breakdown(question, whole))))


def isolated(name: str) -> str:
    """Write a group's name so that its direction does not turn what stands beside it."""
    return f"\N{FIRST STRONG ISOLATE}{shown_group(name)}\N{POP DIRECTIONAL ISOLATE}"


def _breakdown(question: Question, whole: Total) -> str:
    gap = whole.breakdown_gap
    if math.isinf(gap):
        return _("Within groups everyone counts alike.")
    said = question.gap_words(gap)
    return _(
        "Cautious and open people of the same group would have to differ by {said} to make an error as large as ±.",
        said=said,
    )


def _error(figure: Combined, error: float) -> str:
    return _("{half} points", half=steady(100 * error, 2)) if figure.proportion else steady(error, 2)


def difference_section(release: Release, question: Question) -> Iterator[Pictured | Markup]:
    """Show how far groups differ, where at least two were published and they are not too many to look at."""
    try:
        result = release.differences(question.name)
    except BadInput as why:
        yield section(_("Differences: {name}", name=question.name), _("Not listed: {why}.", why=why.sentence.spoken()))
        return
    title = _("Differences: {name}", name=question.name)
    reading = f"{_(APART)} {capital(result.promise)}."
    numbers = difference_numbers(release, question, result)
    if len(result.pairs) > MOST_ROWS or len(result.pairs[0].figures) > 1:
        yield section(title, reading, below=numbers)
        return
    yield Pictured(
        name=f"differences-{release.sheet.questions.index(question) + 1}",
        title=title,
        reading=f"{_(DOTS)} {reading}",
        draw=lambda ax, ink: differences(ax, result, ink=ink),
        numbers=lambda: numbers,
        height=rows_height(len(result.pairs)),
    )


def _less(pair: Difference) -> str:
    one, other = map(isolated, pair.groups)
    return _("{one} less {other}", one=one, other=other)


def difference_numbers(release: Release, question: Question, result: Differences) -> Markup:
    """List differences, pair by pair; where nobody would read them all, those that leave out 0, unless these are too many too."""
    if len(result.pairs) <= MOST_ROWS:
        return _pairs_table(release, question, result, result.pairs)
    if result.comparisons > MOST_LOOKED_AT:
        return note(
            _(
                "{pairs:,} pairs are not listed here; release.differences(…, among=[…]) compares a few.",
                pairs=len(result.pairs),
            )
        )
    apart = [pair for pair in result.pairs if not all(each.low <= 0.0 <= each.high for each in _readings(pair, result))]
    said = note(
        _(
            "Of {pairs:,} pairs {apart:,} have an interval that leaves out 0; these are listed, up to {most}.",
            pairs=len(result.pairs),
            apart=len(apart),
            most=MOST_ROWS,
        )
    )
    return joined((said, _pairs_table(release, question, result, apart[:MOST_ROWS]))) if apart else said


def _readings(pair: Difference, result: Differences) -> list[Reading]:
    return pair.readings(result.each_level)


def _pairs_table(release: Release, question: Question, result: Differences, listed: Sequence[Difference]) -> Markup:
    together = _("{level:.4g} % together", level=100 * result.level)
    level = result.each_level
    places = [f"{place}. " for place in range(1, len(listed) + 1)] if _numbered(result) else repeat("")
    pairs = [(f"{place}{_less(pair)}", pair.rows(level)) for place, pair in zip(places, listed, strict=False)]
    if len(listed[0].figures) == 1:
        rows = [(name, *row[3:]) for name, (row,) in pairs]
        return table(_("Differences of groups"), (_("groups"), _("difference"), together), rows)
    said = release.sheet.answer_said
    groups = ((name, [(said(question, row[2]), *row[3:]) for row in rows]) for name, rows in pairs)
    return grouped_table(_("Differences of groups"), (_("answer"), _("difference"), together), groups)


def _numbered(result: Differences) -> bool:
    """Say whether rows bear the numbers that they have in a picture, where there is one."""
    return len(result.pairs) <= MOST_ROWS and pairs_are_numbered(result)
