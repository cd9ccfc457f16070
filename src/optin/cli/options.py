"""Options that several commands share, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PeoplePath = Annotated[
    str, typer.Argument(metavar="PEOPLE", help="CSV or Parquet: a file, a folder or a glob; one row per person.")
]
Id = Annotated[
    str,
    typer.Option(
        "--id",
        metavar="COL",
        envvar="OPTIN_ID",
        help="Column of ids: text, kept byte for byte.",
        rich_help_panel="Columns",
    ),
]
Limits = Annotated[
    str | None,
    typer.Option(
        "--limits",
        metavar="COL",
        help="Column of limits: the most epsilon each person accepts.",
        rich_help_panel="Columns",
    ),
]
Budgets = Annotated[
    str | None,
    typer.Option(
        "--budgets",
        metavar="COL",
        help="Column of budgets; with --costs, limit = budget / cost.",
        rich_help_panel="Columns",
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="COL",
        help="Column of costs: what one unit of epsilon costs each person.",
        rich_help_panel="Columns",
    ),
]
Allowances = Annotated[
    str | None,
    typer.Option(
        "--allowances",
        metavar="COL",
        help="Column of totals: what each person allows over all releases of a ledger.",
        show_default="their first limit",
        rich_help_panel="Columns",
    ),
]
LedgerUrl = Annotated[
    str,
    typer.Option(
        "--ledger",
        metavar="URL",
        envvar="OPTIN_LEDGER",
        help="The ledger: a path, sqlite:///path or postgresql://user@host/name.",
    ),
]
MaybeLedgerUrl = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        envvar="OPTIN_LEDGER",
        help="The ledger: a path, sqlite:///path or postgresql://user@host/name.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        envvar="OPTIN_ENGINE",
        metavar="NAME",
        help="What reads the people: memory, duckdb, spark-local, spark://host:port or sc://host:port.",
        show_default="memory below 10^6 rows, else duckdb",
    ),
]
CheckIds = Annotated[
    bool,
    typer.Option("--check-ids", help="Look for ids that two people share; always done below 10^6 rows."),
]
GrainsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write everyone's grains to this private Parquet file.", show_default=False),
]
NewFile = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write; appears whole or not at all.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON; messages go to standard error.")]
RaiseLimits = Annotated[
    bool, typer.Option("--raise-limits", help="Raise allowances to the limits (or --allowances) stated now.")
]
Values = Annotated[
    str,
    typer.Option(
        "--values", metavar="COL", help="Column of values; clamped to the announced bounds.", rich_help_panel="Columns"
    ),
]
Joined = Annotated[
    str | None,
    typer.Option(
        "--joined",
        metavar="COL",
        help="Column that says who joined.",
        show_default="everyone who did not decline",
        rich_help_panel="Columns",
    ),
]
