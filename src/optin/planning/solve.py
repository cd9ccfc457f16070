"""plan(): the question and the people in, the optimal design out."""

from __future__ import annotations

import math
from dataclasses import replace

from optin.agents import Agents, PrivacyConstrained, QuasiLinear
from optin.errors import Argument, Infeasible
from optin.kernel.dial import robust_design
from optin.kernel.ladder import Limits
from optin.kernel.optimum import Design, best_at_reach, tilt_of
from optin.planning.acceptance import solve_quasilinear
from optin.planning.cautions import HIGHEST_USUAL
from optin.planning.question import TINIEST, Question, question
from optin.planning.record import Plan
from optin.planning.target import target_of

__all__ = ["plan"]


def plan(
    agents: Agents,
    *,
    bounds: tuple[float, float],
    data_variance: float | None = None,
    data_sd: float | None = None,
    eta: float | None = None,
    max_gap: float = 0.0,
    slack: float = 0.0,
    target_error: float | None = None,
) -> Plan:
    """Find the most accurate weights and noise that cross nobody's limit (E1–E11, E15).

    Most accurate among weighted means with fixed weights and one Laplace noise, for the declared variance.
    ``bounds`` clamp every value. ``data_variance`` (or ``data_sd``) is a declared bound, by default the worst case for the
    bounds. ``eta`` fixes the Laplace rate (Theorems 1 and 2). ``max_gap`` guards against values that are related to limits;
    ``slack`` leaves quasi-linear people room for some to decline. ``target_error`` asks as well what it would take to reach
    that standard error: `Plan.target`.

    >>> plan(PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1)).weights(PrivacyConstrained([1, 4, 9, 9])) * 15
    array([1., 4., 5., 5.])
    """
    asked = question(
        agents, bounds=bounds, data_variance=data_variance, data_sd=data_sd, eta=eta, max_gap=max_gap, slack=slack
    )
    found = solve_quasilinear(agents, asked) if isinstance(agents, QuasiLinear) else _solve_limits(agents, asked)
    if target_error is None:
        return found
    return replace(
        found, target=target_of(agents, asked, error=float(target_error), reached_error=found.standard_error)
    )


def _solve_limits(agents: PrivacyConstrained, asked: Question) -> Plan:
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
    return Plan(
        people=len(agents),
        model=agents.model,
        **asked.fields(),
        cap=design.cap / table.scale,
        eta=asked.eta if asked.eta is not None else design.reach / table.scale / asked.width,
        variance=design.variance * asked.width**2,
        tilt=tilt_of(design, table),
        pooled_people=design.pooled,
        weight_squares=design.weight_squares,
        surplus=None,
        promised_variance=None,
        benefit_name=None,
        benefit_at_promise=None,
        outside=None,
        high_limits=not agents.kept and agents.most > HIGHEST_USUAL and agents.most_finite > HIGHEST_USUAL,
    )


def _design(table: Limits, scale: float, asked: Question) -> Design:
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
        eta=Argument("eta", asked.eta),
        shortfall=asked.reach - total,
        people_needed=math.ceil(len(table) * asked.reach / total),
    )
