"""plan(): the question and the people in, the optimal design out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from optin.agents import Agents, Constrained, Weighing
from optin.errors import Argument, BadInput, Infeasible
from optin.kernel.dial import robust_design
from optin.kernel.ladder import Limits
from optin.kernel.optimum import Design, best_at_reach
from optin.planning.acceptance import solve_quasilinear
from optin.planning.asked import Asked, as_sheet, asked_of, expect_agents, value_sheet
from optin.planning.cautions import HIGHEST_USUAL
from optin.planning.design import design_of
from optin.planning.record import Plan
from optin.planning.target import target_of
from optin.questions import Question, Sheet
from optin.questions.number import TINIEST


def plan(
    agents: Agents,
    sheet: Sheet | Sequence[Question] | Question | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    data_variance: float | None = None,
    data_sd: float | None = None,
    eta: float | None = None,
    max_gap: float = 0.0,
    slack: float = 0.0,
    target_error: float | None = None,
) -> Plan:
    """Find the most accurate weights and noise that cross nobody's limit (E1–E11, E15).

    Most accurate among weighted means with fixed weights and one Laplace noise, for the declared variance.
    ``sheet`` says what is asked (a `Sheet`, or a question); ``bounds`` alone make one of a number called "value".
    ``bounds`` clamp every value. ``data_variance`` (or ``data_sd``) is a declared bound, by default the worst case for the
    bounds. ``eta`` fixes the Laplace rate (Theorems 1 and 2). ``max_gap`` guards against values that are related to limits;
    ``slack`` leaves quasi-linear people room for some to decline. ``target_error`` asks as well what it would take to reach
    that standard error: `Plan.target`.

    >>> import optin
    >>> people = optin.PrivacyConstrained([1, 4, 9, 9])
    >>> plan(people, bounds=(0, 1)).weights(people) * 15
    array([1., 4., 5., 5.])
    """
    expect_agents(agents)
    numbers = {"bounds": bounds, "data_variance": data_variance, "data_sd": data_sd, "max_gap": max_gap}
    asked = asked_of(agents, _sheet(sheet, numbers), eta=eta, slack=slack)
    found = solve_quasilinear(agents, asked) if isinstance(agents, Weighing) else _solve_limits(agents, asked)
    if target_error is None:
        return found
    target = target_of(agents, asked, error=float(target_error), reached_error=found.standard_error)
    return replace(found, wish=replace(found.wish, target=target))


def _sheet(given: Sheet | Sequence[Question] | Question | None, numbers: dict[str, Any]) -> Sheet:
    """Take a sheet as it is; bounds alone make one."""
    named = [name for name, value in numbers.items() if value is not None and value != 0.0]
    if given is None:
        return value_sheet(**numbers)
    if named:
        raise BadInput(
            "{argument} belongs to a question: give it there, or leave the sheet out", argument=Argument(named[0])
        )
    return as_sheet(given)


def _solve_limits(agents: Constrained, asked: Asked) -> Plan:
    table = agents.table()
    if not agents.most > TINIEST:
        raise Infeasible(
            "all {people} limits are 0, so nothing may be published; someone has to allow a positive epsilon",
            people=len(agents),
        )
    design = _design(table, 1.0, asked)
    if design.cap > table.ceiling:
        table = agents.scaled_table()
        design = _design(table, table.scale, asked)
    total = design.reach / table.scale if asked.reach is None else asked.reach
    found = design_of(design, table, cap=design.cap / table.scale, epsilon_total=total, data_unit=asked.width**2)
    return Plan(asked.sheet, agents.model, (found,), asked.wish, high_limits=agents.someone_above(HIGHEST_USUAL))


def _design(table: Limits, scale: float, asked: Asked) -> Design:
    """Solve in scaled units: limits times a power of two, and kappa times its square, give the same weights."""
    kappa = asked.kappa * scale * scale
    if asked.reach is None:
        return robust_design(table, spread=asked.spread, kappa=kappa, gap=asked.max_gap / asked.width)
    found = best_at_reach(table, reach=asked.reach * scale, spread=asked.spread, kappa=kappa)
    if found is not None:
        return found
    total = table.sums(math.inf).total / scale
    raise Infeasible(
        "the limits do not add up to the {reach:.6g} that {eta} needs; give a smaller one, or none for the best one",
        reach=asked.reach,
        eta=Argument("eta", asked.wish.eta),
        shortfall=asked.reach - total,
        people_needed=math.ceil(len(table) * asked.reach / total),
    )
