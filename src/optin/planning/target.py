"""State the accuracy instead: what it would take to reach a standard error."""

from __future__ import annotations

import math
from collections.abc import Callable

from optin.agents import Agents, Weighing
from optin.errors import Argument, BadInput
from optin.kernel.optimum import best_design
from optin.kernel.quasilinear import least_crossing, offer_table
from optin.planning.acceptance import common_gain
from optin.planning.asked import Asked
from optin.planning.wish import Target

MOST = 2**50


def target_of(agents: Agents, asked: Asked, *, error: float, reached_error: float) -> Target:
    """Answer both questions for a plan whose standard error is ``reached_error``."""
    if not 0 < error < math.inf:
        raise BadInput(
            "{target_error} must be a positive finite standard error, in the units of the data",
            target_error=Argument("target_error"),
        )
    if asked.wish.eta is not None or asked.max_gap > 0:
        raise BadInput(
            "{target_error} goes with the best noise and independent values; leave out {eta} and {max_gap}",
            target_error=Argument("target_error"),
            eta=Argument("eta"),
            max_gap=Argument("max_gap"),
        )
    wanted = (error / asked.width) ** 2
    needed = len(agents) if reached_error <= error else _people(_variance_of_crowd(agents, asked), len(agents), wanted)
    limit = None if isinstance(agents, Weighing) else _common_limit(len(agents), wanted, asked)
    return Target(error, reached_error <= error, needed, limit)


def _variance_of_crowd(agents: Agents, asked: Asked) -> Callable[[float], float]:
    """Return the unit variance of the optimum for so many people, mixed as these are."""
    table, n = agents.table(), len(agents)
    if not isinstance(agents, Weighing):
        return lambda people: (
            best_design(table, spread=asked.spread, kappa=asked.kappa * n / people).variance * n / people
        )
    gain, rows = common_gain(agents, asked), offer_table(table)

    def variance(people: float) -> float:
        found = least_crossing(
            table, gain, spread=asked.spread, kappa=asked.kappa, copies=people / n, table=rows
        ).crossing
        return math.inf if found is None else found.variance

    return variance


def _people(variance: Callable[[float], float], low: int, wanted: float) -> int | None:
    """Double the crowd until it is accurate enough, then halve the distance: more people never hurt."""
    high = 2 * low
    while variance(high) > wanted:
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if variance(middle) <= wanted else (middle, high)
    return high


def _common_limit(people: int, wanted: float, asked: Asked) -> float | None:
    """Solve spread / n + kappa / (n limit)^2 = wanted for the limit."""
    left = wanted - asked.spread / people
    return math.sqrt(asked.kappa / left) / people if left > 0 else None
