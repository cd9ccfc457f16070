"""``optin release``, ``optin receipt`` and ``optin check``: the published mean, and what people can hold against it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.drawing import draw, quorum_of, read_released, taking_of
from optin.cli.ledgers import open_ledger
from optin.cli.offers import read_announcement
from optin.cli.options import (
    AsJson,
    Budgets,
    CheckIds,
    Costs,
    Engine,
    GrainsFile,
    Id,
    Joined,
    LedgerUrl,
    Limits,
    MaybeLedgerUrl,
    NewFile,
    PeoplePath,
    Values,
)
from optin.cli.output import Output, expect_free, read_record
from optin.cli.people import Columns, located, named
from optin.errors import BadInput, PromiseBroken
from optin.wording.numbers import plain

if TYPE_CHECKING:
    from optin.cli.drawing import Taking
    from optin.receipts import Receipt
    from optin.releasing import Interval, Release


def release_mean(
    context: typer.Context,
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    people: PeoplePath,
    values: Values,
    output: NewFile,
    joined: Joined = None,
    ledger: MaybeLedgerUrl = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Draw without accounting: the release says charged: false.")
    ] = False,
    limits: Limits = None,
    budgets: Budgets = None,
    costs: Costs = None,
    id_column: Id = "id",
    quorum: Annotated[int, typer.Option(metavar="N", help="Release only if at least so many joined.")] = 1,
    max_standard_error: Annotated[
        float | None, typer.Option(metavar="E", help="Release only if the standard error is at most this.")
    ] = None,
    allow_no_noise: Annotated[
        bool, typer.Option("--allow-no-noise", help="Publish exactly where nobody set a limit.")
    ] = False,
    grains: GrainsFile = None,
    engine: Engine = None,
    check_ids: CheckIds = False,
    as_json: AsJson = False,
) -> None:
    """Draw the one noisy mean that an announcement allows, and charge everyone who joined.

    Columns of limits are found by the announced sums; name them if you like. Asked again, the stored release comes back:
    nothing is drawn or charged twice.

    Example: optin release announcement.json people.csv --values units --joined joined --ledger ledger.sqlite -o release.json
    """
    from optin.campaign import write_grains

    ledger = _accounted(context, ledger, no_ledger=no_ledger)
    offer = read_announcement(announcement)
    wanted, came = quorum_of(quorum, max_standard_error)
    given = Columns(id=id_column, limits=limits, budgets=budgets, costs=costs)
    more = [values, *([joined] if joined else [])]
    table, kept, given = read_released(people, given, more, offer, engine, check_ids=check_ids, ledger=ledger)
    if grains is not None:
        expect_free(grains, [announcement, people, ledger, output])
    with (
        Output(output, inputs=[announcement, people, ledger]) as file,
        located(table),
        screen.working("releasing"),
        nullcontext() if ledger is None else open_ledger(ledger) as opened,
    ):
        before = 0 if opened is None else len(opened.acts())
        taking = taking_of(offer, table, kept, given, values, joined, opened)
        drawn = draw(offer, taking, table, opened, quorum=wanted, allow_no_noise=allow_no_noise)
        file.write(drawn.to_json() + "\n")
        if grains is not None:
            write_grains(offer, taking.agents, grains, joined=taking.joined, ledger=opened)
    stored = drawn.ledger_number is not None and drawn.ledger_number <= before
    counted = came[-1].promised if came and not stored else None
    _show(drawn, _used_twice(taking, values), stored=stored, as_json=as_json, counted=counted)
    screen.note(f"wrote {output}")


def _accounted(context: typer.Context, ledger: str | None, *, no_ledger: bool) -> str | None:
    """Settle whether a ledger stands behind the release; exactly one answer must be given."""
    source = context.get_parameter_source("ledger")
    if no_ledger and source is not None and source.name == "ENVIRONMENT":  # what is typed wins
        ledger = None
    if no_ledger == (ledger is not None):
        raise BadInput("choose --ledger URL, or --no-ledger for an unaccounted release")
    return ledger


def _used_twice(taking: Taking, values: str) -> tuple[str, ...]:
    """Say that the limits are used as values, told by the names of columns alone."""
    from optin.planning.cautions import limits_as_values

    return (limits_as_values(values),) if values in taking.columns.names[1:] else ()


def _show(drawn: Release, odd: Sequence[str], *, stored: bool, as_json: bool, counted: int | None) -> None:
    odd = (*odd, *drawn.warnings())
    if as_json:
        screen.print_json(_summary(drawn) | {"counted_people": counted, "stored": stored, "warnings": list(odd)})
    else:
        screen.rows("Already released (stored result)" if stored else "Released", _release_rows(drawn, counted))
    screen.warn(odd)
    if stored:
        screen.note(
            "this is the release as stored: nothing was drawn or charged, and --values and quorums were not used"
        )


def write_receipt(
    ledger: LedgerUrl,
    person: Annotated[str, typer.Option("--id", metavar="ID", help="Whose receipt.")],
    output: NewFile,
    campaign: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which campaign.", show_default="this person's newest release")
    ] = None,
    round_number: Annotated[
        int | None, typer.Option("--round", metavar="N", help="Which round of it.", show_default="the newest released")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one person's receipt: what was promised, what was spent, what remains, and the proof.

    Example: optin receipt --ledger ledger.sqlite --id p0007 -o receipt.json
    """
    if round_number is not None and campaign is None:
        raise BadInput("--round is of a campaign: name it with --campaign, or leave both out for the newest release")
    with Output(output, private=True, inputs=[ledger]) as file:
        with open_ledger(ledger) as opened, named([person]):
            receipt = opened.receipt(person, campaign=campaign, round=round_number)
        text = receipt.to_json()
        file.write(text + "\n")
    if as_json:
        typer.echo(text)
    else:
        screen.rows("Receipt", _receipt_rows(receipt))
    screen.note(f"wrote {output}: for this person's eyes only")


def check_receipt(
    receipt: Annotated[Path, typer.Argument(metavar="receipt.json", help="The receipt.")],
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    release: Annotated[Path, typer.Argument(metavar="release.json", help="The published release.")],
    as_json: AsJson = False,
) -> None:
    """Check a receipt against the published files alone; no ledger and no network is needed. Exit code 4 if it fails.

    Example: optin check receipt.json announcement.json release.json
    """
    from optin.receipts import Receipt, check
    from optin.releasing import Release

    offer, drawn = read_announcement(announcement), read_record(release, Release.from_json)
    try:
        shown = check(read_record(receipt, Receipt.from_json), offer, drawn)
    except PromiseBroken as error:
        if as_json:
            screen.print_json({"ok": False, "why": str(error)})
        raise
    if as_json:
        screen.print_json({"ok": True, "shown": list(shown)})
        return
    screen.heading("This receipt is good")
    for line in shown:
        screen.say(f"  {line}")


def _summary(drawn: Release) -> dict[str, object]:
    return {
        "id": drawn.id,
        "estimate": drawn.estimate,
        "standard_error": drawn.standard_error,
        "noise_interval_95": list(drawn.noise_interval(0.95)),
        "total_interval_95": list(drawn.total_interval(0.95)),
        "breakdown_gap": drawn.breakdown_gap,
        "joined_people": drawn.joined_people,
        "people": drawn.announcement.people,
        "bias_bound": drawn.bias_bound,
        "charged": drawn.charged,
        "ledger_number": drawn.ledger_number,
        "ledger_head": drawn.ledger_head,
        "fingerprint": drawn.fingerprint,
    }


def _release_rows(drawn: Release, counted: int | None) -> list[tuple[str, str]]:
    from optin.wording.numbers import counted_between, plus_minus

    error, counted_values = drawn.standard_error, f"of values {counted_between(drawn.announcement.bounds)}"
    lines = [
        ("estimate", f"{_to(drawn.estimate, error)}: the mean {counted_values}"),
        ("standard error", plain(error)),
        ("95 % for the noise", f"{_ends(drawn.noise_interval(0.95), error)}: the weighted mean of these people"),
        ("95 % in total", f"{_ends(drawn.total_interval(0.95), error)}: the mean of people like these"),
        ("half of it", f"{plus_minus(drawn.half_width(0.95))}, before it is cut at the bounds"),
        (_covering(drawn), drawn.assumption("optin plan --max-gap")),
        ("joined", f"{drawn.joined_people:,} of {drawn.announcement.people:,} people{_idle(drawn, counted)}"),
    ]
    if drawn.charged:
        return [*lines, ("charged", f"everyone who joined, as act {drawn.ledger_number} of the ledger")]
    return [
        *lines,
        ("charged", "nobody: no ledger stands behind this draw; publish it only if you know what that means"),
    ]


def _covering(drawn: Release) -> str:
    """Name the line that says what the interval leaves out, or that it does not, as that line says."""
    from optin.planning.cautions import DUST

    if drawn.announcement.max_gap > 0:
        return "which allows for"
    return "which leaves out" if drawn.tilt >= DUST else "which holds"


def _idle(drawn: Release, counted: int | None) -> str:
    """Tell those who count from those who joined and have nothing to give."""
    if counted is None or counted == drawn.joined_people:
        return ""
    return f"; {counted:,} of them count, {drawn.joined_people - counted:,} have nothing to give"


def _ends(interval: Interval, error: float) -> str:
    low, high = interval
    return f"{_to(low, error)} to {_to(high, error)}"


def _to(value: float, error: float) -> str:
    """Write a number to a hundredth of its standard error: more digits would only be noise."""
    from math import floor, log10

    return f"{value:,.{max(1 - floor(log10(error)), 0)}f}" if 0 < error < float("inf") else f"{value:.6g}"


def _receipt_rows(receipt: Receipt) -> list[tuple[str, str]]:
    from optin.kernel.rounding import epsilon_of
    from optin.receipts import outcome

    left = "without limit" if receipt.remaining is None else f"{epsilon_of(receipt.remaining):.9g}"
    return [
        ("release", f"{receipt.campaign}, round {receipt.round}"),
        ("promised", f"epsilon {epsilon_of(receipt.promised):.9g}"),
        ("spent", f"epsilon {epsilon_of(receipt.spent):.9g}" + ("" if receipt.spent else f": {outcome(receipt)}")),
        ("remaining", left if receipt.remaining is None else f"epsilon {left}"),
        ("sealed in", f"act {receipt.ledger_number} of the ledger, {_among(receipt)}"),
    ]


def _among(receipt: Receipt) -> str:
    """Say whether this person is one of those charged: an entry of nothing is one, for whoever joined with nothing to give."""
    if receipt.index is None:
        return f"not one of its {receipt.charged_people:,} charges"
    return f"one of {receipt.charged_people:,} charges" + ("" if receipt.spent else ", of nothing")
