"""``optin plan``: find the best design and explain it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.cli import plan_options as options
from optin.cli.asking import Asking
from optin.cli.certifying import NOT_ASKED, certified
from optin.cli.group_tables import show_plan
from optin.cli.left import Left, left_of
from optin.cli.options import (
    Allowances,
    AsJson,
    Budgets,
    By,
    CheckIds,
    Costs,
    Engine,
    Id,
    Limit,
    Limits,
    MaybeLedgerUrl,
    PeoplePath,
    RaiseLimits,
    Total,
)
from optin.cli.output import Output, read_record, read_text
from optin.cli.people_files import Columns, ReadPeople, located, read_people
from optin.cli.reading_options import apart, reads_tables
from optin.cli.screen import finite, note, print_json, warn, working
from optin.errors import BadInput
from optin.tables.how_read import AS_FOUND, HowRead

NOTHING_WRITTEN = "nothing was written; add -o plan.json to go on with this plan"

if TYPE_CHECKING:
    from optin.agents import Agents, Description
    from optin.cli.explaining import Explanation
    from optin.ledger import Terms
    from optin.planning import Plan


@reads_tables
def plan_people(
    people: PeoplePath,
    bounds: options.Bounds = None,
    sheet: options.SheetFile = None,
    limits: Limits = None,
    limit: Limit = None,
    budgets: Budgets = None,
    costs: Costs = None,
    allowances: Allowances = None,
    by: By = None,
    total: Total = None,
    id_column: Id = "id",
    benefit_base: options.BenefitBase = None,
    benefit_slope: options.BenefitSlope = None,
    outside: options.Outside = "0",
    sd: options.Sd = None,
    eta: options.Eta = None,
    max_gap: options.MaxGap = 0.0,
    slack: options.Slack = 0.0,
    wished_error: options.WishedError = None,
    target_error: options.TargetError = None,
    without: options.Without = None,
    certify: options.Certify = False,
    merge_small: options.MergeSmall = False,
    ledger: MaybeLedgerUrl = None,
    raise_limits: RaiseLimits = False,
    engine: Engine = None,
    check_ids: CheckIds = False,
    output: options.PlanFile = None,
    as_json: AsJson = False,
    how: HowRead = AS_FOUND,
) -> None:
    """Find the best design for these people and explain it.

    Everyone gets epsilon = the smaller of their limit and one cap; the noise and everyone's weight follow from that. Limits
    1, 4, 9, 9 with bounds 0 1 give cap 5, epsilons 1, 4, 5, 5, noise scale 1/15, variance 1/12. Best means best among
    weighted means with fixed weights and one Laplace noise. A sheet of questions shares everyone's epsilon out among them:
    answers are not read yet. With --by each public group has its own plan and a verdict before anything is announced.

    Example: optin plan people.csv --limits limit --sheet sheet.toml -o plan.json
    """
    accepted = {"limits": limits, "limit": limit, "budgets": budgets, "costs": costs, "total": total}
    worth = {"benefit_base": benefit_base, "benefit_slope": benefit_slope, "outside": outside_option(outside)}
    given = Columns(id=id_column, by=tuple(by or ()), allowances=allowances, **accepted, **worth).check()  # type: ignore[arg-type]
    share = _left_out(without, ledger, raise_limits=raise_limits)
    number = {"bounds": bounds, "sd": sd, "eta": eta, "max_gap": max_gap}
    asked = Asking(sheet, number, slack, target_error, wished_error).arguments() | _grouping(by, merge_small, share)
    apart_from_files = apart(how, [people, ledger, sheet, output])
    read = read_people(people, given, engine=engine, check_ids=check_ids, how=apart_from_files)
    allowed, plan = _plan(read, asked, ledger=ledger, raise_limits=raise_limits)
    record = plan_record(plan, allowed.agents, given) | {"reading": how.as_dict(), "left_out": read.left_out}
    _write(output, record, [people, ledger, sheet])
    proof = certified(plan, allowed.agents) if certify else NOT_ASKED
    told, odd = plan.flat() | record | proof.as_dict(), plan.warnings(described(record))
    if plan.grouped:
        show_plan(plan, told, odd, as_json=as_json)
    else:
        left = left_of(read.agents, allowed.agents, asked=ledger is not None)
        _show(_story(plan, allowed, record, without=share, left=left), told, odd, as_json=as_json)
    proof.show(silent=as_json)
    note(f"wrote {output}" if output else NOTHING_WRITTEN)


def _story(
    plan: Plan, people: ReadPeople, record: dict[str, Any], *, without: float | None, left: Left | None
) -> Explanation:
    """Work out what is said of undivided people."""
    from optin.cli import explaining

    told = explaining.explanation(plan, people.agents, described=record["describe"], without=without, left=left)
    return told.beside(record["left_out"])


def _write(output: Path | None, record: dict[str, Any], inputs: Sequence[Path | str | None]) -> None:
    """Write plan.json, for the analyst's eyes only, if it is asked for."""
    if output is not None:
        with Output(output, private=True, inputs=inputs) as file:
            file.write(json.dumps(finite(record), indent=1, allow_nan=False) + "\n")


def _left_out(without: str | None, ledger: str | None, *, raise_limits: bool) -> float | None:
    """Read which share of people may decline; allowances can be raised in a ledger alone."""
    from optin.cli.what_if import share_of

    share = None if without is None else share_of(without)
    if raise_limits and ledger is None:
        raise BadInput("--raise-limits raises allowances of a ledger: name it with --ledger URL, or leave it out")
    return share


def _grouping(by: list[str] | None, merge_small: bool, without: float | None) -> dict[str, Any]:
    """Settle what is asked of groups; what is about undivided people goes with none."""
    if merge_small and not by:
        raise BadInput("--merge-small merges groups: name their column with --by COL, or leave it out")
    if by and without is not None:
        raise BadInput("--without is about undivided people: leave out --by, or --without")
    return {"merge_small": True} if merge_small else {}


def _show(story: Explanation, record: dict[str, Any], odd: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json(record | story.of_questions(record) | {"explanation": story.as_dict(), "warnings": list(odd)})
    else:
        story.show()
    warn(odd)


def plan_record(plan: Plan, agents: Agents, columns: Columns) -> dict[str, Any]:
    """Write a plan with what the next steps need: how limits are spread, and where people's columns are."""
    record: dict[str, Any] = json.loads(plan.to_json())
    with working("describing"):
        return record | {"describe": _describe(plan, agents), "columns": columns.as_dict()}


def read_plan(path: Path | str) -> tuple[Plan, dict[str, Any]]:
    """Read plan.json as a plan and as the record it came with."""
    from optin.planning import Plan

    return read_record(path, Plan.from_json), json.loads(read_text(path))


def described(record: dict[str, Any]) -> Description | None:
    """Read how limits are spread, where a plan was written with it."""
    from optin.agents import Description

    return Description.from_dict(record["describe"]) if record.get("describe") else None


def expect_planned(path: Path, plan: Plan, agents: Agents, stated: ReadPeople) -> None:
    """Refuse people to whom the plan would not give what it says, and tell other people from the same with less left."""
    if _is_planned(plan, agents):
        return
    if _is_planned(plan, within_allowance(stated, None).agents):
        raise BadInput(
            "some of these people have less left in this ledger than {path} takes: plan again with --ledger, so that"
            " what is left is planned for (if it was planned with --raise-limits, add that here)",
            path=path,
        )
    raise BadInput(
        "these are not the people {path} was made for, or their budgets changed since; plan again (if it was planned with"
        " --raise-limits, add that here)",
        path=path,
    )


def _is_planned(plan: Plan, agents: Agents) -> bool:
    """Tell whether the plan gives these people what it says; a grain each is lost where a ledger counts in grains."""
    from optin.kernel.rounding import epsilon_of
    from optin.planning.by_rank import limit_table
    from optin.planning.grouped import as_planned

    if len(agents) != plan.people:
        return False
    if plan.grouped:
        own = plan.parts
        return all(as_planned(agents, plan.designs).each_group(lambda at, part: _is_planned(own[at], part)))
    if plan.noiseless or plan.epsilon_total == 0.0:
        return True
    given, lost = limit_table(plan, agents).clipped_total(plan.cap), epsilon_of(plan.people)
    return math.isclose(given, plan.epsilon_total, rel_tol=1e-9, abs_tol=lost)


def within_allowance(
    people: ReadPeople, ledger: str | None, *, besides: tuple[str | None, int] = (None, 1), raise_limits: bool = False
) -> ReadPeople:
    """Lower limits to what the ledger leaves; without a ledger, or a new one, everyone has all of theirs.

    ``besides`` names a campaign and round whose own promises are not counted: it may be announced again, unchanged.
    """
    from optin import campaign
    from optin.cli.ledgers import existing_ledger

    campaign_name, number = besides
    own = None if campaign_name is None else _terms(campaign_name, number)
    with working("asking the ledger"), existing_ledger(ledger) as opened:
        lowered = campaign.within_allowance(
            people.agents, opened, besides=own, raise_limits=raise_limits, allowances=people.allowances
        )
    return replace(people, agents=lowered)


def _terms(campaign: str, number: int) -> Terms:
    from optin.ledger import Terms

    return Terms(campaign, number, "")


def _plan(
    read: ReadPeople, asked: dict[str, Any], *, ledger: str | None, raise_limits: bool
) -> tuple[ReadPeople, Plan]:
    from optin.campaign import plan
    from optin.cli.ledgers import ledger_exists

    if ledger is not None and not ledger_exists(ledger):
        note(f"there is no ledger at {ledger} yet: everyone has all that they state")
    people = within_allowance(read, ledger, raise_limits=raise_limits)
    with working("planning"), located(people.table):
        return people, plan(people.agents, **asked)


def _describe(plan: Plan, agents: Agents) -> dict[str, Any]:
    from optin.agents import describe

    if plan.grouped and plan.model == "quasi-linear":  # limits hang on what each group is promised
        return {}
    return describe(agents, variance=plan.promised_variance, data_variance=plan.data_variance).as_dict()


def outside_option(text: str) -> float | str:
    """Read the outside option: a number, or the word own-data."""
    if text == "own-data":
        return text
    try:
        return float(text)
    except ValueError:
        raise BadInput("--outside must be a number, or own-data") from None
