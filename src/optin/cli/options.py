"""Options that several commands share, each worded once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from optin.wording.engines import KNOWN


def typed_limit(text: str) -> float:
    """Read a limit or a total, never as one grain more than was typed."""
    from optin.kernel.rounding import limit_of_text

    return limit_of_text(text)


PeoplePath = Annotated[
    str,
    typer.Argument(
        metavar="PEOPLE",
        help="CSV, Parquet, JSON lines or XLSX: a file, a folder or a glob; a DuckDB file; postgresql://…; one row per person.",
    ),
]
column = partial(typer.Option, metavar="COL", rich_help_panel="Columns")
Id = Annotated[str, column("--id", envvar="OPTIN_ID", help="Column of ids: text, kept byte for byte.")]
Limits = Annotated[str | None, column("--limits", help="Column of limits: the most epsilon each person accepts.")]
Limit = Annotated[
    float | None,
    typer.Option(
        "--limit",
        metavar="NUMBER",
        parser=typed_limit,
        rich_help_panel="Columns",
        help="One limit for everyone, where no column has their own.",
        show_default=False,
    ),
]
Budgets = Annotated[str | None, column("--budgets", help="Column of budgets; with --costs, limit = budget / cost.")]
Costs = Annotated[str | None, column("--costs", help="Column of costs: what one unit of epsilon costs each person.")]
TOTALS = "Column of totals: what each person allows over all releases of a ledger."
Allowances = Annotated[str | None, column("--allowances", help=TOTALS, show_default="their first limit")]
Total = Annotated[
    float | None,
    typer.Option(
        "--total",
        metavar="NUMBER",
        parser=typed_limit,
        rich_help_panel="Columns",
        help="What each person allows over all releases of a ledger, one number for all.",
        show_default=False,
    ),
]
_ledger = typer.Option(
    "--ledger",
    metavar="URL",
    envvar="OPTIN_LEDGER",
    help="The ledger: a path, sqlite:///path or postgresql://user@host/name.",
)
LedgerUrl = Annotated[str, _ledger]
MaybeLedgerUrl = Annotated[str | None, _ledger]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        envvar="OPTIN_ENGINE",
        metavar="NAME",
        help=f"What reads the people: {KNOWN}.",
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
    Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write (atomically: whole or not at all).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON; messages go to standard error.")]
RaiseLimits = Annotated[
    bool,
    typer.Option(
        "--raise-limits",
        help="Raise totals in the ledger to --total, --allowances, or the limits stated now.",
    ),
]
VALUES = "Column of answers where one question is asked."
Values = Annotated[str | None, column("--values", help=VALUES, show_default="the question's name")]
WHO = "Column that says who joined."
Joined = Annotated[str | None, column("--joined", help=WHO, show_default="everyone who did not decline")]
BY = "Column of public groups: each is planned and published by itself; repeat it for combinations."
By = Annotated[list[str] | None, column("--by", help=BY, show_default="no groups")]
