"""``optin release``: what an announcement allows to publish, drawn once and charged to everyone who joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optin.cli import release_options as options
from optin.cli import screen
from optin.cli.across_groups import Across
from optin.cli.announcing import read_announcement
from optin.cli.answers import AnswerColumns
from optin.cli.before_release import forgotten_options, say_who_counts
from optin.cli.ledgers import open_ledger
from optin.cli.log_keys import sign_if_keyed
from optin.cli.options import (
    AsJson,
    Budgets,
    By,
    CheckIds,
    Costs,
    Engine,
    GrainsFile,
    Id,
    Joined,
    Limit,
    Limits,
    MaybeLedgerUrl,
    NewFile,
    PeoplePath,
    Values,
)
from optin.cli.output import Output, expect_outputs
from optin.cli.people_files import Columns, located
from optin.cli.reading_options import apart, reads_tables
from optin.cli.release_source import Released, draw, quorum_of, read_released, taking_of
from optin.cli.results import show_release, summary
from optin.cli.said_before import shortened
from optin.cli.sealed_files import opened_offer
from optin.errors import BadInput
from optin.tables.how_read import AS_FOUND, HowRead
from optin.wording.groups import listed_groups

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.cli.release_source import Taking
    from optin.ledger import Ledger
    from optin.releasing import Release


@reads_tables
def release_results(
    context: typer.Context,
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    people: PeoplePath,
    output: NewFile,
    values: Values = None,
    joined: Joined = None,
    ledger: MaybeLedgerUrl = None,
    no_ledger: options.NoLedger = False,
    limits: Limits = None,
    limit: Limit = None,
    budgets: Budgets = None,
    costs: Costs = None,
    by: By = None,
    id_column: Id = "id",
    quorum: options.LeastPeople = 1,
    max_standard_error: options.MaxStandardError = None,
    allow_no_noise: options.AllowNoNoise = False,
    differences: options.Differences = False,
    population: options.Population = None,
    grains: GrainsFile = None,
    engine: Engine = None,
    check_ids: CheckIds = False,
    as_json: AsJson = False,
    how: HowRead = AS_FOUND,
) -> None:
    """Draw the one noisy result that an announcement allows, and charge everyone who joined for what they answered.

    Answers stand in columns named after the questions; --values names that of a single one. Of several some may be left empty:
    who skips one is not charged for it (but of CSV an empty cell of a multiple-choice question chose nothing, an answer).
    Columns of limits are found by the announced sums. Asked again, the stored release comes back: nothing is charged twice.

    Example: optin release announcement.json people.csv --joined joined --ledger ledger.sqlite -o release.json
    """
    ledger = _accounted(context, ledger, no_ledger=no_ledger)
    expect_outputs(output, grains, [announcement, people, ledger])
    opened = None if ledger is None else context.with_resource(open_ledger(ledger))
    offer = opened_offer(announcement, read_announcement(announcement), opened)
    wanted, came = quorum_of(quorum, max_standard_error)
    across, asked = Across.asked(offer, population, differences=differences), AnswerColumns(offer.sheet, values, joined)
    accepted: Any = {"limits": limits, "limit": limit, "budgets": budgets, "costs": costs}
    named = Columns(id=id_column, by=_grouped_by(offer, by, asked), **accepted)
    read = Released(people, named, asked, offer, apart(how, [announcement, people, ledger, output]))
    table, agents, given = read_released(read, engine, check_ids=check_ids, ledger=opened)
    say_who_counts(people, joined, how)
    with (
        Output(output, inputs=[announcement, people, ledger]) as file,
        located(table),
        screen.working("releasing", output),
        forgotten_options(announcement, offer, ledger),
    ):
        before = 0 if opened is None else len(opened.acts())
        taking = taking_of(offer, table, agents, given, asked, opened)
        drawn = draw(offer, taking, table, opened, quorum=wanted, allow_no_noise=allow_no_noise)
        file.write(drawn.to_json() + "\n")
        sign_if_keyed(opened, ledger)
        _write_grains(grains, taking, drawn, opened)
    stored = drawn.ledger_number is not None and drawn.ledger_number <= before
    counted = came[-1].promised if came and not stored else None
    _show(drawn, _used_twice(taking, asked), across, stored=stored, as_json=as_json, counted=counted)
    screen.note(f"wrote {output}")


def _write_grains(path: Path | None, taking: Taking, drawn: Release, ledger: Ledger | None) -> None:
    """Write what everyone lost to a private file, where one is asked for."""
    from optin.campaign import write_grains

    if path is not None:
        told = {"answers": taking.answers, "release": drawn}
        write_grains(drawn.announcement, taking.agents, path, joined=taking.joined, ledger=ledger, **told)


def _grouped_by(offer: Announcement, by: list[str] | None, asked: AnswerColumns) -> tuple[str, ...]:
    """Settle which columns hold people's groups: they are named where groups were announced, and hold no answers."""
    from optin.agents.grouping import expect_public

    expect_public(by or (), asked.named, "answers")
    if offer.grouped != bool(by):
        raise BadInput(
            "this announcement is to groups ({groups}): name the column that holds them with --by COL, as when it was planned"
            if offer.grouped
            else "this announcement is not to groups: leave --by out",
            groups=listed_groups(list(offer.groups)),
        )
    return tuple(by or ())


def _accounted(context: typer.Context, ledger: str | None, *, no_ledger: bool) -> str | None:
    """Settle whether a ledger stands behind the release; exactly one answer must be given."""
    source = context.get_parameter_source("ledger")
    if no_ledger and source is not None and source.name == "ENVIRONMENT":  # what is typed wins
        ledger = None
    if no_ledger == (ledger is not None):
        raise BadInput("choose --ledger URL, or --no-ledger for an unaccounted release")
    return ledger


def _used_twice(taking: Taking, asked: AnswerColumns) -> tuple[str, ...]:
    """Say that the limits are used as answers, told by the names of columns alone."""
    from optin.planning.cautions import limits_as_values

    limits = taking.columns.names[1:]
    return tuple(limits_as_values(name) for name in limits if name in asked.named)


def _show(
    drawn: Release, odd: Sequence[str], across: Across | None, *, stored: bool, as_json: bool, counted: int | None
) -> None:
    odd = (*odd, *drawn.warnings())
    if as_json:
        together = {} if across is None else across.summary(drawn)
        screen.print_json(
            summary(drawn) | together | {"counted_people": counted, "stored": stored, "warnings": list(odd)}
        )
    else:
        show_release("Already released (stored result)" if stored else "Released", drawn, counted)
        if across is not None:
            across.show(drawn)
    screen.warn(shortened(odd, drawn.announcement.warnings()))
    if stored:
        screen.note(
            "this is the release as stored: nothing was drawn or charged, and answers and quorums were not used"
        )
