"""``optin announce`` and ``optin explain``: the public offer, and what it gives one person."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optin.cli import screen
from optin.cli.group_tables import show_offer
from optin.cli.ledgers import existing_ledger, ledger_exists, open_ledger
from optin.cli.log_keys import sign_if_keyed
from optin.cli.options import (
    Allowances,
    AsJson,
    Budgets,
    By,
    CheckIds,
    Costs,
    Engine,
    GrainsFile,
    Id,
    LedgerUrl,
    Limit,
    Limits,
    NewFile,
    PeoplePath,
    RaiseLimits,
    Total,
    typed_limit,
)
from optin.cli.output import Output, expect_free, expect_outputs, read_record
from optin.cli.people_files import Columns, located, read_people, source_of
from optin.cli.question_table import half_of
from optin.cli.reading_options import apart, as_planned, reads_tables
from optin.cli.said_before import shortened
from optin.cli.sealed_files import sealed_path, write_sealed
from optin.errors import BadInput
from optin.tables.how_read import AS_FOUND, HowRead
from optin.wording.groups import SMALLEST_GROUP, shown_group
from optin.wording.numbers import at_most, largest, percent, plain, plus_minus
from optin.wording.shares import times_words

if TYPE_CHECKING:
    from optin.agents import Description
    from optin.announcement import Announcement, Deal
    from optin.announcement.one_question import AnnouncedQuestion
    from optin.planning import Plan

CampaignName = Annotated[
    str | None, typer.Option(metavar="NAME", help="A name for the campaign.", show_default="random")
]
LeastPeople = Annotated[int, typer.Option(metavar="N", help="Refuse to announce to fewer people than this.")]


@reads_tables
def announce_plan(
    plan: Annotated[Path, typer.Argument(metavar="plan.json", help="The plan that optin plan wrote.")],
    people: PeoplePath,
    ledger: LedgerUrl,
    output: NewFile,
    campaign: CampaignName = None,
    round_number: Annotated[int, typer.Option("--round", metavar="N", help="The round of the campaign.")] = 1,
    min_people: LeastPeople = SMALLEST_GROUP,
    raise_limits: RaiseLimits = False,
    limits: Limits = None,
    limit: Limit = None,
    budgets: Budgets = None,
    costs: Costs = None,
    allowances: Allowances = None,
    by: By = None,
    total: Total = None,
    id_column: Id = "id",
    promises: GrainsFile = None,
    engine: Engine = None,
    check_ids: CheckIds = False,
    as_json: AsJson = False,
    how: HowRead = AS_FOUND,
) -> None:
    """Make the public offer and hold everyone's promise in the ledger.

    People new to the ledger are registered, their limit being their allowance. The file names nobody: with it and their
    own limit everyone can see what they are promised (optin explain). Under limits 1, 4, 9, 9 the public cap is 5.188.

    Example: optin announce plan.json people.csv --ledger ledger.sqlite -o announcement.json
    """
    from optin import campaign as steps
    from optin.cli.announced_before import announced_once, held_words
    from optin.cli.plan import described, expect_planned, read_plan, within_allowance
    from optin.grains.people import Allowing

    read: list[Path | str | None] = [plan, people, ledger]
    expect_outputs(output, promises, read)
    planned, record = read_plan(plan)
    given = Columns(id=id_column, limits=limits, limit=limit, budgets=budgets, costs=costs, by=tuple(by or ()))
    source = source_of(plan, Columns.from_plan(record), replace(given, allowances=allowances, total=total))
    apart_from_files = apart(as_planned(record, how), [*read, output])
    table = read_people(people, source, engine=engine, check_ids=check_ids, how=apart_from_files)
    naming = steps.Naming(campaign, round_number, min_people)
    with announced_once(planned, ledger, campaign):
        left = within_allowance(table, ledger, besides=(campaign, round_number), raise_limits=raise_limits)
        expect_planned(plan, planned, left.agents, table)
    expect_free(sealed_path(output), [plan, people, ledger, promises])
    with Output(output, inputs=read) as file, located(table.table), screen.working("announcing", output):
        known, allowing = ledger_exists(ledger), Allowing(table.allowances, raise_limits)
        with existing_ledger(ledger) as opened:  # what would be refused is refused before a ledger is created
            prepared = steps.prepare(planned, table.agents, opened, allowing, naming)
        with open_ledger(ledger, create=True) as opened:
            offer = prepared.held_in(opened)
            _write_offer(file, offer)
            write_sealed(output, offer)
            held = held_words(offer, opened)
            sign_if_keyed(opened, ledger)
            if promises is not None:
                steps.write_grains(offer, table.agents, promises, ledger=opened)
    _tell(offer, planned, described(record), _against(source, known=known, raised=raise_limits), as_json=as_json)
    screen.note(f"wrote {output}; {held}" + ("" if known else f"; new ledger made at {ledger}"))


def _against(source: Columns, *, known: bool, raised: bool) -> str:
    """Say what promises are counted against: each person's total, or what they accept now, which is used up once."""
    stated = "their limits, once (--total NUMBER or --allowances COL for totals)"
    if source.total is not None:
        stated = f"a total of {source.total:g} each"
    elif source.allowances is not None:
        stated = f"their totals, column {source.allowances}"
    if not known:
        return stated
    return f"{stated}; or the total in the ledger" + (" where that is higher" if raised else ", for whoever has one")


def _tell(offer: Announcement, planned: Plan, described: Description | None, against: str, *, as_json: bool) -> None:
    """Print the offer; warnings that the plan gave already are cut short."""
    odd = offer.warnings(described)
    if as_json:
        screen.print_json(_offer_record(offer) | {"fingerprint": offer.fingerprint, "warnings": list(odd)})
    else:
        _show(offer, planned, against)
    screen.warn(shortened(odd, planned.warnings(described)))


def _show(offer: Announcement, planned: Plan, against: str) -> None:
    if offer.grouped:
        show_offer(offer, [("counts against", against), ("fingerprint", offer.fingerprint)])
    else:
        screen.rows("Announced", [*_offer_rows(offer, planned), ("counts against", against)])
        if offer.sheet.one_number is None:
            screen.say()
            header = ("question", "kind", "of epsilon", "± if all join")
            screen.columns("Questions", header, _question_lines(offer), texts=2)


def _offer_record(offer: Announcement) -> dict[str, Any]:
    """Return what is announced for scripts: one number by the names it always had, a sheet as a list of questions."""
    if offer.grouped:
        told_once = {name: getattr(offer, name) for name in ("campaign", "round", "model", "people")}
        parts = [{"group": name} | _offer_record(part) for name, part in offer.groups.items()]
        told = [{key: each[key] for key in each if key not in offer.to_record()} for each in parts]
        return told_once | {"groups": told} | offer.to_record()
    if offer.sheet.one_number is not None:
        return offer.flat() | offer.to_record()
    named = ("campaign", "round", "model", "people", "cap", "cap_lowered", "tilt")
    return (
        {name: getattr(offer, name) for name in named}
        | {"questions": [_question_record(each) for each in offer.questions]}
        | offer.to_record()
    )


def _question_record(each: AnnouncedQuestion) -> dict[str, Any]:
    names = ("name", "epsilon_share", "variance", "standard_error", "effective_people")
    return {name: getattr(each, name) for name in names} | {
        "kind": each.question.kind,
        "half_width": each.half_width(),
        "max_error": each.question.max_error,
    }


def _question_lines(offer: Announcement) -> list[tuple[str, ...]]:
    return [(each.name, each.question.kind, percent(each.epsilon_share), _half(each)) for each in offer.questions]


def _half(each: AnnouncedQuestion) -> str:
    """Write ± as it will be if everyone joins, and the largest at which anything is published, where one was stated."""
    most = each.question.max_error
    stated = "" if most is None else f" (published up to {half_of(each.question, most)})"
    return half_of(each.question, each.half_width()) + stated


def explain_offer(
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    limit: Annotated[float | None, typer.Option(metavar="L", parser=typed_limit, help="Your limit on epsilon.")] = None,
    cost: Annotated[float | None, typer.Option(metavar="C", help="What one unit of epsilon costs you.")] = None,
    outside: Annotated[float | None, typer.Option(metavar="O", help="What you have if you stay away.")] = None,
    group: Annotated[str | None, typer.Option(metavar="NAME", help="Your group, where there are groups.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell one person what an offer gives them; nothing leaves this computer.

    Limits 1, 4, 9, 9 and a cap of 5: someone with limit 9 gives epsilon 5 and keeps 4; someone with limit 1 gives 1.

    Example: optin explain announcement.json --limit 0.5
    """
    from optin.campaign import explain

    offer = read_announcement(announcement)
    deal = explain(offer, limit=limit, cost=cost, outside=outside, group=group)
    offer, of_group = (offer, "") if group is None else (offer.of_group(group), offer.name_of(group))
    if as_json:
        screen.print_json(asdict(deal))
    else:
        screen.rows("What you are offered", _deal_rows(offer, deal, of_group))
        if len(deal.questions) > 1:
            _show_parts(offer, deal)


def _show_parts(offer: Announcement, deal: Deal) -> None:
    """Say what each question takes of someone's epsilon, in the words that people read."""
    worded = any(question.text for question in offer.sheet)
    lines = [
        (
            each.name,
            *([question.text] if worded else []),
            largest(each.epsilon),
            percent(each.grains / max(deal.grains, 1)),
        )
        for each, question in zip(deal.questions, offer.sheet, strict=True)
    ]
    header = ("question", *(["asked"] if worded else []), "epsilon at most", "of the whole")
    screen.say()
    screen.columns("What each question takes, if you answer it", header, lines, texts=2 if worded else 1)
    screen.say("A question that you leave out, or that is not published, takes nothing.")


def read_announcement(path: Path | str) -> Announcement:
    """Read a published offer."""
    from optin.announcement import Announcement

    return read_record(path, Announcement.from_json)


def _write_offer(file: Output, offer: Announcement) -> None:
    """Write the offer; if that fails now, its promises are held already, so say how to get it again."""
    try:
        file.write(offer.to_json() + "\n")
    except BadInput as error:
        reason = str(error)
    else:
        return
    raise BadInput(
        "{reason}. The ledger holds this announcement: announce again with --campaign {campaign} --round {round} to"
        " write it",
        reason=reason,
        campaign=offer.campaign,
        round=offer.round,
    )


def _offer_rows(offer: Announcement, planned: Plan) -> list[tuple[str, str]]:
    lines = [
        ("campaign", f"{offer.campaign}, round {offer.round}"),
        ("people", f"{offer.people:,}"),
        ("cap", f"{largest(offer.cap)}: nobody gives more, and nobody more than their own limit"),
        *_accuracy_rows(offer),
        ("fingerprint", offer.fingerprint),
    ]
    if offer.cap_lowered:
        lines.insert(3, ("", "lowered: no release promises more than epsilon 1024"))
    elif (before := largest(planned.cap)) != largest(offer.cap):
        lines.insert(3, ("", f"planned as {before}; the public step next to it tells less about single limits"))
    return lines


def _accuracy_rows(offer: Announcement) -> list[tuple[str, str]]:
    if offer.sheet.one_number is None:
        least = offer.terms.conditions.min_people
        return [("published", f"a question only if at least {least:,} people answer it")] if least else []
    return [
        ("standard error", f"{plain(offer.standard_error)} if everyone joins"),
        ("95 % interval", f"{plus_minus(offer.half_width())} if everyone joins"),
    ]


def _deal_rows(offer: Announcement, deal: Deal, group: str) -> list[tuple[str, str]]:
    lines = [
        ("epsilon", f"at most {largest(deal.epsilon)}" + ("" if deal.epsilon else ": you are not counted")),
        (
            "in odds",
            (
                f"whatever anyone believes about your {'value' if len(deal.questions) == 1 else 'answers'}, this changes"
                f" their odds by a factor of at most {at_most(deal.odds_factor, 4)}"
            ),
        ),
        ("your weight", _weight(offer, deal.weight, group)),
    ]
    if deal.utility is None:
        return [
            *lines,
            ("you keep", _left_of_limit(deal, deal.epsilon + deal.margin)),
            ("earlier releases", "if you joined any, type what remains of your total as --limit"),
        ]
    return [
        *lines,
        ("worth to you", f"{plain(deal.utility)} after the cost of that epsilon"),
        ("margin", _margin(deal.margin, deal.utility)),
    ]


def _margin(margin: float, utility: float) -> str:
    """Compare joining with staying away; what is left by rounding to grains is nothing."""
    if abs(margin) <= 1e-8 * max(abs(utility), 1.0):
        return "none: you break even, joining is worth as much as staying away"
    if margin < 0:
        return f"staying away is better by {plain(-margin)}"
    return f"{plain(margin)} above staying away"


def _weight(offer: Announcement, weight: float, group: str) -> str:
    if not weight:
        return "none"
    where = f" of your group, {shown_group(group)}" if group else ""
    return f"{plain(weight)} ({times_words(offer.equal_shares(weight))} an equal share{where})"


def _left_of_limit(deal: Deal, limit: float) -> str:
    if limit == 0:
        return "everything: you allow nothing, so you take no part"
    if limit == float("inf"):
        return "you set no limit, and give no more than this all the same"
    if deal.epsilon == 0:
        return "everything: your limit is below the smallest step (2^-32), so you take no part"
    if not deal.kept:
        return "nothing of your limit: it is used in full, and not crossed"
    return f"{plain(deal.kept)} of your limit, unused"
