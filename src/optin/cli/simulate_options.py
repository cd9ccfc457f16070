"""The options of ``optin simulate``, each worded once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_people = partial(typer.Option, rich_help_panel="People")
_values = partial(typer.Option, rich_help_panel="Values")
_run = partial(typer.Option, rich_help_panel="The run")
NAMES = "standard, standard-open, levels, lognormal, harmonic or two-level."

Population = Annotated[str, _people(metavar="NAME", help=NAMES)]
PeopleCount = Annotated[int, _people(metavar="N", help="How many people.")]
Turnout = Annotated[str, _people(metavar="P[,Q]", help="Chance to join; two of them: strictest, most open person.")]
Group = Annotated[
    list[str] | None,
    _people(
        "--group",
        metavar="NAME,PEOPLE,LIMITS,MEAN",
        help="A group with its own limits (a population, careful, mixed, open, or a number) and mean; give two or more.",
        show_default=False,
    ),
]
SheetFile = Annotated[
    Path | None,
    _values("--sheet", metavar="sheet.toml", help="Several questions (optin sheet example).", show_default=False),
]
Skipping = Annotated[
    float, _values("--skipping", metavar="P", help="For a sheet: part of the people who skip a question.")
]
Bounds = Annotated[tuple[float, float], _values(metavar="LO HI", help="The range of values.")]
Mean = Annotated[float | None, _values(metavar="M", help="Mean of values.", show_default="the middle")]
Sd = Annotated[
    float | None,
    _values(
        metavar="S", help="Uniform values with this standard deviation.", show_default="each value is one of the bounds"
    ),
]
Gap = Annotated[float, _values(metavar="G", help="How much people's means rise with their limits.")]
Campaigns = Annotated[int, _run(metavar="N", help="How many campaigns.")]
Seed = Annotated[int, _run(metavar="N", help="Same seed, same result.")]
Others = Annotated[bool, _run("--all", help="Run what others do beside the optimum.")]
Level = Annotated[float, _run(metavar="P", help="Level of the intervals.")]
Workers = Annotated[int | None, _run(metavar="N", help="Threads.", show_default="one a core")]
