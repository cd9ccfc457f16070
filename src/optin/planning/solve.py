"""plan(): the question and the people in, the optimal design out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

from optin.agents import Agents, Constrained, Weighing
from optin.agents.grouping import expect_public
from optin.errors import Argument, BadInput, Infeasible
from optin.kernel.dial import robust_design
from optin.kernel.noise import noise_in_units
from optin.kernel.optimum import Design, best_at_reach
from optin.kernel.pieces import Limits
from optin.kernel.sharing import Shared, share_out
from optin.planning.acceptance import solve_quasilinear
from optin.planning.asked import Asked, Errors, as_sheet, asked_of, expect_agents, value_sheet
from optin.planning.cautions import HIGHEST_USUAL
from optin.planning.design import design_of
from optin.planning.grouped import nothing_to_plan, plan_groups
from optin.planning.record import Plan
from optin.planning.target import targets_of
from optin.questions import Question, Sheet
from optin.questions.measured import TINIEST


def plan(
    agents: Agents,
    sheet: Sheet | Sequence[Question] | Question | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    sd: float | None = None,
    data_variance: float | None = None,
    data_sd: float | None = None,
    eta: float | None = None,
    max_gap: float = 0.0,
    slack: float = 0.0,
    target_error: Errors | None = None,
    wished_errors: Errors | None = None,
    merge_small: bool | int = False,
) -> Plan:
    """Find the most accurate weights and noise that cross nobody's limit (E1–E11, E15), for all questions at once (E18).

    Most accurate among weighted means with fixed weights and Laplace noise, for the declared variances: no other gives every
    question more effective people (E18). ``sheet`` says what is asked (a `Sheet`, a list of questions, or a question);
    ``bounds`` alone make one of a number called "value". ``bounds`` clamp every value. ``sd``, how far values lie
    apart, is a declared bound, by default the worst case for the bounds (``data_sd`` is the same, ``data_variance`` its
    square). ``eta`` fixes the Laplace rate of one number (Theorems 1 and
    2). ``max_gap`` guards against values that are related to limits; ``slack`` leaves quasi-linear people room for some to
    decline. ``wished_errors`` are standard errors by the names of all questions, which then decide their importance (E19):
    `Plan.wish_met` says whether all are met. ``target_error`` asks as well what it would take to reach a standard error, or
    several by name: `Plan.target`, ``plan["hours"].target``.

    People in public groups have a plan for each group (E27), ``plan.groups["ICU"]``: the very plan that its people would have
    alone. ``merge_small`` merges groups too small to be announced (of fewer than 10 people who allow anything, or than the
    number given) with each other, and the plan and the announcement say so.

    >>> import optin
    >>> people = optin.PrivacyConstrained([1, 4, 9, 9])
    >>> plan(people, bounds=(0, 1)).weights(people) * 15
    array([1., 4., 5., 5.])
    >>> two = plan(people, [optin.YesNo("break"), optin.Number("hours", bounds=(0, 80))])
    >>> round(23 * two.cap, 9), two["hours"].epsilon_share, round(two.effective_people, 9)
    (211.0, 0.5, 2.507109005)
    """
    expect_agents(agents)
    numbers = {"bounds": bounds, "sd": sd, "data_variance": data_variance, "data_sd": data_sd, "max_gap": max_gap}
    asked = asked_of(agents, _sheet(sheet, numbers), eta=eta, slack=slack, wished_errors=wished_errors)
    expect_public(agents.by, (question.column for question in asked.sheet), "answers")
    find = partial(_undivided, asked=asked, target_error=target_error)
    if agents.groups is None:
        return find(agents)
    nothing = partial(nothing_to_plan, Plan, asked=asked)
    return plan_groups(agents, find, nothing, merge_small=merge_small)


def _undivided(agents: Agents, *, asked: Asked, target_error: Errors | None) -> Plan:
    """Plan people who are in no groups, or those of one group."""
    planned = solved(agents, asked)
    planned.expect_shares()
    if target_error is None:
        return planned
    errors = tuple(question.standard_error for question in planned.questions)
    targets = targets_of(agents, asked, wanted=target_error, reached=errors)
    return replace(planned, wish=replace(planned.wish, targets=targets))


def solved(agents: Agents, asked: Asked) -> Plan:
    """Solve what was asked and checked."""
    return solve_quasilinear(agents, asked) if isinstance(agents, Weighing) else _solve_limits(agents, asked)


def _sheet(given: Sheet | Sequence[Question] | Question | None, numbers: dict[str, Any]) -> Sheet:
    """Take a sheet as it is; bounds alone make one."""
    if given is None:
        return value_sheet(**numbers)
    named = [name for name, value in numbers.items() if not (value is None or (isinstance(value, Real) and value == 0))]
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
    shared = _shared(table, 1.0, asked)
    if shared.design.cap > table.ceiling:
        table = agents.scaled_table()
        shared = _shared(table, table.scale, asked)
    design = shared.design
    planned = design_of(
        design,
        table,
        cap=design.cap / table.scale,
        epsilon_total=design.reach / table.scale if asked.reach is None else asked.reach,
        shares=shared.shares,
        variances=asked.variances(shared.variances),
    )
    return Plan(asked.sheet, agents.model, (planned,), asked.wish, high_limits=agents.someone_above(HIGHEST_USUAL))


def _shared(table: Limits, scale: float, asked: Asked) -> Shared:
    """Solve in scaled units: limits times a power of two give the same weights and shares."""
    if len(asked.sheet) > 1:
        return share_out(table, asked.demand, scale=scale)
    design = _design(table, scale, asked)
    return Shared(design, asked.shares, (design.variance,), design.variance)


def _design(table: Limits, scale: float, asked: Asked) -> Design:
    """Solve one question, kappa times the square of what limits are multiplied by."""
    kappa = noise_in_units(asked.kappa, scale)
    if asked.reach is None:
        return robust_design(table, spread=asked.spread, kappa=kappa, gap=asked.gap)
    design = best_at_reach(table, reach=asked.reach * scale, spread=asked.spread, kappa=kappa)
    if design is not None:
        return design
    total = table.sums(math.inf).total / scale
    raise Infeasible(
        "the limits do not add up to the {reach:.6g} that {eta} needs; give a smaller one, or none for the best one",
        reach=asked.reach,
        eta=Argument("eta", asked.wish.eta),
        shortfall=asked.reach - total,
        people_needed=math.ceil(len(table) * asked.reach / total),
    )
