"""The options of ``optin simulate``, each worded once."""

from __future__ import annotations

from typing import Annotated

import typer

PEOPLE, VALUES, RUN = "People", "Values", "The run"
NAMES = "standard, standard-open, levels, lognormal, harmonic or two-level."

Population = Annotated[str, typer.Option(metavar="NAME", help=NAMES, rich_help_panel=PEOPLE)]
People = Annotated[int, typer.Option(metavar="N", help="How many people.", rich_help_panel=PEOPLE)]
Turnout = Annotated[
    str,
    typer.Option(
        metavar="P[,Q]", help="Chance to join; two of them: strictest, most open person.", rich_help_panel=PEOPLE
    ),
]
Bounds = Annotated[
    tuple[float, float], typer.Option(metavar="LO HI", help="The range of values.", rich_help_panel=VALUES)
]
Mean = Annotated[
    float | None, typer.Option(metavar="M", help="Mean of values.", show_default="the middle", rich_help_panel=VALUES)
]
Sd = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        help="Uniform values with this standard deviation.",
        show_default="each value is one of the bounds",
        rich_help_panel=VALUES,
    ),
]
Gap = Annotated[
    float, typer.Option(metavar="G", help="How much people's means rise with their limits.", rich_help_panel=VALUES)
]
Campaigns = Annotated[int, typer.Option(metavar="N", help="How many campaigns.", rich_help_panel=RUN)]
Seed = Annotated[int, typer.Option(metavar="N", help="Same seed, same result.", rich_help_panel=RUN)]
Others = Annotated[bool, typer.Option("--all", help="Run what others do beside the optimum.", rich_help_panel=RUN)]
Level = Annotated[float, typer.Option(metavar="P", help="Level of the intervals.", rich_help_panel=RUN)]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Threads.", show_default="one a core", rich_help_panel=RUN)
]
