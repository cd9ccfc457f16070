"""``optin compare``: the optimum beside what others do, for the same people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optin.cli import plan_options as options
from optin.cli.asking import Asking
from optin.cli.options import AsJson, Budgets, By, Costs, Engine, Id, Limits, PeoplePath
from optin.cli.output import Output
from optin.cli.people_files import Columns, located, read_people
from optin.cli.plan import outside_option
from optin.cli.reading_options import apart, reads_tables
from optin.cli.screen import columns, note, print_json, rows, working
from optin.tables.how_read import AS_FOUND, HowRead
from optin.wording.numbers import people_like

if TYPE_CHECKING:
    from optin.baselines import Baseline, Comparison, WholeError

Mean = Annotated[
    float | None,
    options.asked(
        metavar="M",
        help="Mean of values, where a design's error depends on it.",
        show_default="the middle of the bounds",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option("-o", "--picture", metavar="FILE", help="Where to draw it, as PNG.", show_default="nowhere"),
]


@reads_tables
def compare_designs(
    people: PeoplePath,
    bounds: options.Bounds = None,
    sheet: options.SheetFile = None,
    limits: Limits = None,
    budgets: Budgets = None,
    costs: Costs = None,
    by: By = None,
    id_column: Id = "id",
    benefit_base: options.BenefitBase = None,
    benefit_slope: options.BenefitSlope = None,
    outside: options.Outside = "0",
    sd: options.Sd = None,
    max_gap: options.MaxGap = 0.0,
    mean: Mean = None,
    engine: Engine = None,
    picture: Picture = None,
    as_json: AsJson = False,
    how: HowRead = AS_FOUND,
) -> None:
    """Put the best design beside what others do, for these people.

    Ours is the best among weighted means with fixed weights and one Laplace noise; others may be of another kind.
    For each design: bias, variance, expected squared error (with the largest bias that --max-gap allows), how many times
    ours that is, and the mean epsilon it takes from people of rising limits. No values are read: errors follow from limits.
    For a sheet of several questions errors are in declared variances, the same for every question, and each design is also
    told by how many people would be as accurate without noise. With --by every design is also used for each public group by
    itself, and told by the error of the whole that is put together from groups, beside that of undivided people.

    Example: optin compare people.csv --limits limit --bounds 0 40 --sd 9 -o designs.png
    """
    given = Columns(
        id=id_column,
        limits=limits,
        budgets=budgets,
        costs=costs,
        benefit_base=benefit_base,
        benefit_slope=benefit_slope,
        outside=outside_option(outside),
        by=tuple(by or ()),
    ).check()
    one_number = {"bounds": bounds, "sd": sd, "max_gap": max_gap}
    question = Asking(sheet, one_number, 0.0, None, None).questions()
    how = apart(how, [people, sheet])
    comparison = _compared(people, replace(given, by=()), question, mean=mean, engine=engine, how=how)
    whole = _put_together(people, given, question, mean=mean, engine=engine, how=how) if by else ()
    if picture is not None:
        _draw(comparison, picture, [people, sheet])
    if as_json:
        print_json(
            _record(comparison) | ({"by_group": [_whole_record(whole, each) for each in whole]} if whole else {})
        )
    else:
        _show(comparison)
        _show_whole(comparison, whole)


def _compared(
    path: str, given: Columns, question: dict[str, Any], *, mean: float | None, engine: str | None, how: HowRead
) -> Comparison:
    from optin.baselines import compared
    from optin.campaign import plan

    people = read_people(path, given, engine=engine, how=how)
    with working("comparing"), located(people.table):
        return compared(plan(people.agents, **question), people.agents, mean=mean)


def _put_together(
    path: str, given: Columns, question: dict[str, Any], *, mean: float | None, engine: str | None, how: HowRead
) -> tuple[WholeError, ...]:
    from optin.baselines import whole_errors
    from optin.campaign import plan

    people = read_people(path, given, engine=engine, how=how)
    with working("comparing by group"), located(people.table):
        return whole_errors(plan(people.agents, **question), people.agents, mean=mean)


def _draw(comparison: Comparison, picture: Path, inputs: list[str | Path | None]) -> None:
    from optin import figures

    with Output(picture, inputs=inputs) as file, working("drawing"):
        draws = [lambda ax: figures.comparison(ax, comparison), lambda ax: figures.losses(ax, comparison)]
        file.write(figures.png(draws, size=(9.0, 0.9 + 0.28 * len(comparison.designs)), widths=(3, 2)))
    note(f"wrote {picture}")


def _record(comparison: Comparison) -> dict[str, Any]:
    groups = [{"low": g.low, "high": g.high, "people": g.people} for g in comparison.groups]
    designs = [
        {
            "name": design.name,
            "bias": design.bias,
            "bias_bound": design.bias_bound,
            "variance": design.variance,
            "mse": design.mse,
            "ratio": comparison.ratio(design),
            "effective_people": design.effective_people,
            "epsilons": list(epsilons),
            "sentence": design.sentence,
        }
        for design, epsilons in zip(comparison.designs, comparison.epsilons, strict=True)
    ]
    return {"people": comparison.plan.people, "groups": groups, "designs": designs}


def _show(comparison: Comparison) -> None:
    errors = [(d.name, *map(_number, _errors(comparison, d).values())) for d in comparison.designs]
    header = ["design", *_errors(comparison, comparison.designs[0])]
    columns(f"Errors of designs for {people_like(comparison.plan.people)}{_unit(comparison)}", header, errors, strong=0)
    given = [(d.name, *map(_number, row)) for d, row in zip(comparison.designs, comparison.epsilons, strict=True)]
    columns("Mean epsilon, by limit", ["design", *comparison.group_names], given, strong=0)
    rows("What they do", [(d.name, d.sentence) for d in comparison.designs])


def _whole_record(whole: Sequence[WholeError], each: WholeError) -> dict[str, Any]:
    errors = {"bias": each.bias, "bias_bound": each.bias_bound, "variance": each.variance, "mse": each.mse}
    return {"name": each.name} | errors | {"ratio": each.ratio(whole[0])}


def _show_whole(comparison: Comparison, whole: Sequence[WholeError]) -> None:
    """Show each design by group beside itself for undivided people."""
    undivided = {design.name: design.mse for design in comparison.designs}
    both = [each for each in whole if each.name in undivided]
    told = [(each.bias, each.variance, each.mse, each.ratio(whole[0]), undivided[each.name]) for each in both]
    if whole:
        header = ["design", "bias", "variance", "mse", "ratio", "mse undivided"]
        lines = [(each.name, *map(_number, numbers)) for each, numbers in zip(both, told, strict=True)]
        columns(f"The whole, put together from groups{_unit(comparison)}", header, lines, strong=0)


def _errors(comparison: Comparison, design: Baseline) -> dict[str, float]:
    """Return what is shown of a design's error, by column."""
    bound = {"at most": design.bias_bound} if design.max_gap > 0 else {}
    people = {"as N people": design.effective_people} if comparison.of_a_sheet else {}
    errors = {"variance": design.variance, "mse": design.mse, "ratio": comparison.ratio(design)}
    return {"bias": design.bias} | bound | errors | people


def _unit(comparison: Comparison) -> str:
    return ", in declared variances of each question" if len(comparison.plan.sheet) > 1 else ""


def _number(value: float) -> str:
    return f"{value:.4g}"
