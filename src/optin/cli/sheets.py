"""``optin size`` and ``optin sheet``: a sheet of questions before anyone is asked."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli.options import AsJson
from optin.cli.screen import columns, print_json, say, warn
from optin.errors import Argument, BadInput

if TYPE_CHECKING:
    from optin.planning.size import GroupSize, Size, SizedQuestion
    from optin.questions import Sheet

SheetFile = Annotated[Path, typer.Argument(metavar="SHEET", help="TOML: a [[question]] for each question.")]
PeopleCount = Annotated[int, typer.Option("--people", metavar="N", help="How many people will answer.")]
Mix = Annotated[
    str, typer.Option("--limits", metavar="careful|mixed|open|NUMBER", help="What limits people are likely to choose.")
]
Groups = Annotated[
    str,
    typer.Option(
        "--groups",
        metavar="G|SIZE,SIZE…",
        help="Results for each of G groups of one size, or of groups of these sizes: 1200,400,80.",
    ),
]

EXAMPLE = """\
# A sheet of questions: everyone answers under one personal limit for all of them.
title = "Shifts and breaks"
purpose = "To plan shifts for next year"
asked_by = "The works council"

[[question]]
name = "hours"
kind = "number"                     # the mean is published
text = "How many hours did you work last week?"
unit = "hours"
bounds = [0, 80]                    # answers beyond count as the bound
sd = 9                              # what you expect; left out, the worst case is taken

[[question]]
name = "break"
kind = "yes-no"
text = "Did you skip a break?"

[[question]]
name = "shift"
kind = "choice"                     # 2 to 50 options; "rather not say" is protected like any answer
text = "Which shift do you work most?"
options = ["early", "late", "night", "rather not say"]

[[question]]
name = "mood"
kind = "scale"                      # options in order, the least first
text = "How do you feel after work?"
options = ["very bad", "bad", "fair", "good", "very good"]

# More kinds:
#   kind = "score"            items = 9, each = [0, 3]     items are added up; only the total is an answer
#   kind = "histogram"        edges = [16, 25, 35, 45, 55, 65, 80]
#   kind = "multiple-choice"  options = [...], at_most = 3     answered as pay;hours (nothing chosen is an answer too)
# Every kind takes:
#   importance = 2      as accurate as twice the people
#   max_error = 0.05    publish it only if its ± is at most this (0.05: 5 points), and charge nobody otherwise
#   max_gap = 0.1       allow for cautious and open people whose answers differ by this on average
#   column = "q17"      the column that holds the answers (default: the name)
# Score, if its items have columns of their own: phq9_1, phq9_2, … instead of a column of totals.
"""


def size_sheet(
    sheet: SheetFile,
    people: PeopleCount,
    limits: Mix = "mixed",
    groups: Groups = "1",
    as_json: AsJson = False,
) -> None:
    """Say what a sheet would give, before anyone is asked: ± and a verdict for each question.

    A verdict compares ± with how far answers lie apart (their sd): up to a fifth is good, up to a half poor, more useless. For
    a proportion that is ± 10 points and ± 25 points.

    Example: optin size sheet.toml --people 400 --limits mixed
    """
    from optin.planning import size
    from optin.questions import Sheet

    asked = Sheet.from_toml(sheet)
    sized = size(asked, people=people, limits=_limits(limits), groups=_groups(groups))
    if as_json:
        print_json(asdict(sized))
    else:
        _show(sized, asked)


def _limits(given: str) -> str | float:
    try:
        return float(given)
    except ValueError:
        return given


def _groups(given: str) -> int | list[int]:
    try:
        sizes = [int(each) for each in given.split(",")]
    except ValueError:
        raise BadInput(
            "{groups} must be a number of groups, or their sizes with commas between them", groups=Argument("groups")
        ) from None
    return sizes if len(sizes) > 1 else sizes[0]


UNRELATED = (
    "A score is judged here as if its questions were unrelated (scales: in the worst case); the more they go together, the"
    " better it is"
)


def _show(sized: Size, asked: Sheet) -> None:
    from optin.planning.cautions import takes_most
    from optin.planning.merging import merged_words
    from optin.wording.numbers import plain

    whom = f"{sized.people:,} people" + (f" in {sized.groups:,} groups" if sized.groups > 1 else "")
    if len(sized.sizes) > 1:
        whom += f"; the smallest has {sized.sizes[-1].people:,}"
    header = ["question", "kind", "±", "verdict", "as accurate as", "share", "good from", "without it"]
    lines = [_line(each, asked) for each in sized.questions]
    columns(f"{whom}, limits: {sized.limits}", header, lines, texts=2)
    say(
        "as accurate as: so many people without noise; share: of everyone's epsilon; without it: as accurate as so many people"
        " for the other questions, were it not asked"
    )
    for merging in sized.merging:
        say(merged_words(merging))
    if sized.merging:
        say(UNRELATED)
    if sized.sizes:
        _show_groups(sized, asked)
    for each in sized.questions:
        if each.epsilon_share > 0.5 and len(sized.questions) > 1:
            say(takes_most(each.name, asked[each.name]))
    for question in asked:
        if question.declares_sd and math.isclose(question.price, question.worst_price):
            worst = f"{plain(question.yardstick)} {question.unit}".strip()
            say(
                f'"{question.name}" is judged by the worst case for its bounds, an sd of {worst}: state the sd you expect'
            )


def _show_groups(sized: Size, asked: Sheet) -> None:
    """Show what groups of each size give, and what they give together."""
    if len(sized.sizes) > 1:
        header = ["people in it", "groups", *(question.name for question in asked)]
        columns(
            "± and verdict by the size of a group", header, [_size_line(each, asked) for each in sized.sizes], texts=0
        )
    lines = [
        [each.name, *(_half(half, each.name, asked) for half in (each.half_width, a.difference, a.whole, a.ungrouped))]
        for each in sized.questions
        if (a := each.across) is not None
    ]
    header = ["question", "± in a group", "of a difference", "of all together", "without groups"]
    columns("What groups give together", header, lines, texts=1)
    say(
        "of a difference: between two groups, the smallest; of all together: each group counts by its people, so it is not tilted"
        " where limits go with the group, as a result without groups may be"
    )


def _size_line(each: GroupSize, asked: Sheet) -> list[str]:
    questions = zip(asked, each.half_widths, each.verdicts, strict=True)
    return [
        f"{each.people:,}",
        f"{each.groups:,}",
        *(f"{_half(half, question.name, asked)}, {verdict}" for question, half, verdict in questions),
    ]


def _half(half: float, name: str, asked: Sheet) -> str:
    return asked[name].plus_minus(half).removeprefix("± ")


def _line(each: SizedQuestion, asked: Sheet) -> list[str]:
    from optin.cli.question_table import comparable_people
    from optin.wording.numbers import percent

    return [
        each.name,
        each.kind,
        _half(each.half_width, each.name, asked),
        each.verdict,
        comparable_people(each.effective_people),
        percent(each.epsilon_share),
        "more than 10^9" if each.people_needed is None else f"{each.people_needed:,}",
        "-" if each.effective_without is None else comparable_people(each.effective_without),
    ]


def print_example() -> None:
    """Print a commented sheet to start from.

    Example: optin sheet example > sheet.toml
    """
    typer.echo(EXAMPLE.rstrip())


def check_sheet(sheet: SheetFile, as_json: AsJson = False) -> None:
    """Read a sheet, and say what each question takes of everyone's epsilon.

    Where importance or max_gap differ between questions, that also depends on people's limits, and is said for strict ones.

    Example: optin sheet check sheet.toml
    """
    from optin.kernel.sharing import equal_shares
    from optin.planning.asked import Asked
    from optin.planning.units import check_sds
    from optin.planning.wish import Wish
    from optin.questions import Sheet
    from optin.wording.numbers import percent

    asked = Sheet.from_toml(sheet)
    if len(asked) > 1:
        check_sds(asked)
    if as_json:
        print_json(asked.to_record())
        return
    shares = equal_shares(tuple(question.importance * question.price for question in asked))
    lines = [
        [question.name, question.kind, question.text, f"{question.price:.4g}", percent(share)]
        for question, share in zip(asked, shares, strict=True)
    ]
    columns(asked.title or "Sheet", ["question", "kind", "text", "price", "of epsilon"], lines, texts=3)
    if Asked(asked, Wish()).one_cap:
        say(
            "of epsilon: where limits are so strict that noise is nearly all of the error; else importance and max_gap move it,"
            " and optin size or optin plan say how far"
        )
    warn([_which_points(question.name) for question in asked if question.unit.strip().lower() in POINTS])


POINTS = ("point", "points", "%", "percent", "per cent")
"""Units that proportions are told in."""


def _which_points(name: str) -> str:
    return (
        f'The unit of "{name}" is also what proportions are told in (points of a hundred, per cent): say whose, such as'
        ' "points of the test"'
    )
