"""The options of ``optin plan``, each worded once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

asked = partial(typer.Option, rich_help_panel="The question")
_what_if = partial(typer.Option, rich_help_panel="What if")

SheetFile = Annotated[
    Path | None,
    asked("--sheet", metavar="sheet.toml", help="Several questions (optin sheet example).", show_default=False),
]
Bounds = Annotated[
    tuple[float, float] | None,
    asked(
        "--bounds", metavar="LO HI", help="One number: the range of its values, known beforehand.", show_default=False
    ),
]
BenefitBase = Annotated[float | None, asked(metavar="A", help="Benefit is A - B * variance.")]
BenefitSlope = Annotated[float | None, asked(metavar="B", help="What a unit of variance costs.")]
Outside = Annotated[str, asked(metavar="O|own-data", help="What people have if they stay away.")]
Sd = Annotated[
    float | None,
    asked(metavar="S", help="Standard deviation of values.", show_default="the worst case, (HI-LO)/2"),
]
Eta = Annotated[float | None, asked(metavar="E", help="Fix the Laplace rate instead of finding the best.")]
MaxGap = Annotated[float, asked(metavar="G", help="How far apart people's means may lie (0: unrelated to limits).")]
Slack = Annotated[float, asked(metavar="S", help="Room for decliners; with --benefit-base only.")]
WishedError = Annotated[
    list[str] | None,
    asked(
        "--wished-error",
        metavar="QUESTION=E",
        help="For a sheet: the standard error a question should have; one for each question decides importance.",
        show_default=False,
    ),
]
TargetError = Annotated[
    list[str] | None,
    _what_if(
        "--target-error",
        metavar="[QUESTION=]E",
        help="The standard error you need: what would reach it? For a sheet with a question's name, several times if you like.",
        show_default=False,
    ),
]
Without = Annotated[str | None, _what_if(metavar="20%", help="What is left if so many people decline.")]
Certify = Annotated[
    bool,
    _what_if(
        "--certify",
        help="Compute the plan again from the people, and say how far it is from what no private mechanism can beat.",
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write plan.json.", show_default="nowhere"),
]
MergeSmall = Annotated[
    bool, typer.Option("--merge-small", help="With --by: merge groups too small to be announced, and say so.")
]
