"""The options of ``optin release``, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NoLedger = Annotated[
    bool, typer.Option("--no-ledger", help="Draw without accounting: the release says charged: false.")
]
LeastPeople = Annotated[
    int,
    typer.Option(
        "--quorum", metavar="N", help="Release only if so many joined; a question that fewer answered is dropped."
    ),
]
MaxStandardError = Annotated[
    float | None, typer.Option(metavar="E", help="For one number: release only if the standard error is at most this.")
]
AllowNoNoise = Annotated[bool, typer.Option("--allow-no-noise", help="Publish exactly where nobody set a limit.")]
Differences = Annotated[
    bool,
    typer.Option(
        "--differences", help="For groups: also the differences of all pairs, with intervals that hold together."
    ),
]
Population = Annotated[
    Path | None,
    typer.Option(
        metavar="shares.csv",
        help="For groups: each group's share of the population or its people (columns group and share, or group and people).",
        show_default="the people announced",
    ),
]
