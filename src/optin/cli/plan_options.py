"""The options of ``optin plan``, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

QUESTION = "The question"
WHAT_IF = "What if"

Bounds = Annotated[
    tuple[float, float],
    typer.Option("--bounds", metavar="LO HI", help="The range of values, known beforehand.", rich_help_panel=QUESTION),
]
BenefitBase = Annotated[
    float | None, typer.Option(metavar="A", help="Benefit is A - B * variance.", rich_help_panel=QUESTION)
]
BenefitSlope = Annotated[
    float | None, typer.Option(metavar="B", help="What a unit of variance costs.", rich_help_panel=QUESTION)
]
Outside = Annotated[
    str, typer.Option(metavar="O|own-data", help="What people have if they stay away.", rich_help_panel=QUESTION)
]
Sd = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        help="Standard deviation of values.",
        show_default="the worst case, (HI-LO)/2",
        rich_help_panel=QUESTION,
    ),
]
Eta = Annotated[
    float | None,
    typer.Option(metavar="E", help="Fix the Laplace rate instead of finding the best.", rich_help_panel=QUESTION),
]
MaxGap = Annotated[
    float,
    typer.Option(
        metavar="G", help="How far apart people's means may lie (0: unrelated to limits).", rich_help_panel=QUESTION
    ),
]
Slack = Annotated[
    float, typer.Option(metavar="S", help="Room for decliners; with --benefit-base only.", rich_help_panel=QUESTION)
]
TargetError = Annotated[
    float | None,
    typer.Option(metavar="E", help="The standard error you need: what would reach it?", rich_help_panel=WHAT_IF),
]
Without = Annotated[
    str | None, typer.Option(metavar="20%", help="What is left if so many people decline.", rich_help_panel=WHAT_IF)
]
PlanFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write plan.json.", show_default="nowhere"),
]
