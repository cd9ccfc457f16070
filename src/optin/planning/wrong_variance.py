"""E29: what it costs if values vary more or less than was declared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from optin.agents import Agents, Constrained
from optin.errors import BadInput
from optin.kernel.noise import noise_in_units, noise_variance
from optin.kernel.optimum import best_design
from optin.planning.without import expect_planned
from optin.questions.kinds import number

if TYPE_CHECKING:
    from optin.planning.numbers import PlanNumbers


@dataclass(frozen=True)
class WrongVariance:
    """The variance of a plan over that of the best plan, had the true variance been declared: the largest in a range.

    ``loss`` is that ratio for these people (None where they were not given), ``certified`` a bound for any people with the
    plan's sums. ``declare`` is the geometric mean of the range: declaring it makes the worst ends alike.
    """

    low: float
    high: float
    loss: float | None
    certified: float
    declare: float


def if_variance(plan: PlanNumbers, low: float, high: float, agents: Agents | None) -> WrongVariance:
    """Look at both ends: the further the truth lies from what was declared, the more it costs."""
    ends = number(low, "low"), number(high, "high")
    if not 0 < ends[0] <= ends[1] < math.inf:
        raise BadInput("low and high must be positive variances, the lower one first")
    if agents is not None:
        expect_planned(plan, agents)
    square = plan.asked.units.square
    return WrongVariance(
        *ends,
        loss=None if agents is None else max(_loss(plan, end / square, cast("Constrained", agents)) for end in ends),
        certified=max(_certified(plan, end / square) for end in ends),
        declare=math.sqrt(ends[0]) * math.sqrt(ends[1]),
    )


def _certified(plan: PlanNumbers, truth: float) -> float:
    """Bound the loss: (1 + (rho^2 - 1) a) / (1 + (rho - 1) a)^2 with a the true sampling share, written without rho.

    Nothing cancels, and a declared variance of 0 is allowed.
    """
    noise, squares, declared = _noise(plan), plan.weight_squares, plan.spread
    if noise == 0.0:
        return 1.0
    other = noise + squares * declared * (declared / truth)
    return other / (noise + squares * declared) * (squares * truth + noise) / (noise + squares * declared)


def _loss(plan: PlanNumbers, truth: float, agents: Constrained) -> float:
    table = agents.table()
    best = best_design(table, spread=truth, kappa=plan.noise_constant)
    if best.cap > table.ceiling:
        table = agents.scaled_table()
        best = best_design(table, spread=truth, kappa=noise_in_units(plan.noise_constant, table.scale))
    return (truth * plan.weight_squares + _noise(plan)) / best.variance


def _noise(plan: PlanNumbers) -> float:
    return 0.0 if plan.noiseless else noise_variance(plan.noise_constant, plan.epsilon_total)
