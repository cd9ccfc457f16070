"""``optin report``: one page about a plan or a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optin.cli import screen
from optin.cli.options import AsJson, NewFile, column
from optin.cli.output import expect_free
from optin.cli.release_options import Population
from optin.errors import MissingExtra
from optin.extras import expect


def write_page(
    source: Annotated[Path, typer.Argument(metavar="plan.json|release.json", help="What to report on.")],
    output: NewFile,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="plan.json", help="The plan that a release came from, for all pictures."),
    ] = None,
    population: Population = None,
    by: Annotated[
        list[str] | None, column("--by", help="Columns of groups, as planned; checked, and never needed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained HTML page with pictures, numbers, both intervals and a privacy sheet.

    Groups stand in the plan and in the release: the page shows every group, the whole and the differences, with --by or
    without. Given all the same, --by must be what was planned by.

    Example: optin report release.json --plan plan.json -o report.html
    """
    from optin.report import write_report

    expect_free(output, [source, plan, population])
    with screen.working("drawing"):
        written = write_report(source, output, plan=plan, population=population, by=tuple(by or ()))
    if as_json:
        screen.print_json({"report": str(written), "bytes": written.stat().st_size})
    screen.note(f"wrote {written}: open it in a browser")
    _tell_of_missing_pictures()


def _tell_of_missing_pictures() -> None:
    try:
        expect("figures", "a picture")
    except MissingExtra as why:
        screen.note(f"it has every number and no picture: {why}")
