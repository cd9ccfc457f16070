"""State the accuracy instead: what it would take to reach a standard error."""

from __future__ import annotations

import math
from collections.abc import Callable

from optin.agents import Agents, Weighing
from optin.errors import Argument, BadInput
from optin.kernel.optimum import best_design
from optin.kernel.pricing import Noised
from optin.kernel.quasilinear import least_crossing, sums_at_edges
from optin.kernel.sharing import share_out
from optin.planning.acceptance import common_gain
from optin.planning.asked import Asked, Errors, errors_by_name
from optin.planning.wish import Target

MOST = 2**50

Variances = Callable[[float], tuple[float, ...]]
"""The solver's variance of each question for so many people."""


def targets_of(
    agents: Agents, asked: Asked, *, wanted: Errors, reached: tuple[float, ...]
) -> tuple[Target | None, ...]:
    """Answer for each question that is named, in the order of the sheet, given the standard errors of a plan."""
    errors = errors_by_name(asked.sheet, wanted, "target_error")
    if asked.wish.eta is not None or asked.gapped:
        raise BadInput(
            "{target_error} goes with the best noise and independent values; leave out {eta} and {max_gap}",
            target_error=Argument("target_error"),
            eta=Argument("eta"),
            max_gap=Argument("max_gap"),
        )
    return tuple(
        _target(agents, asked, place, errors[question.name], reached[place]) if question.name in errors else None
        for place, question in enumerate(asked.sheet)
    )


def _target(agents: Agents, asked: Asked, place: int, error: float, reached: float) -> Target:
    wanted = asked.unit_variance(place, error)
    enough = reached <= error
    needed = len(agents) if enough else _people(_variances_of_crowd(agents, asked), place, len(agents), wanted)
    limit = None if isinstance(agents, Weighing) else _common_limit(len(agents), place, wanted, asked)
    return Target(error, enough, needed, limit)


def _variances_of_crowd(agents: Agents, asked: Asked) -> Variances:
    """Return the unit variances of the optimum for so many people, mixed as these are."""
    table, n = agents.table(), len(agents)
    if isinstance(agents, Weighing):
        gain, rows = common_gain(agents, asked), sums_at_edges(table)

        def weighing(people: float) -> tuple[float, ...]:
            many = Noised(asked.spread, asked.kappa, copies=people / n)
            crossing = least_crossing(table, gain, many, table=rows).crossing
            return (math.inf if crossing is None else crossing.variance,) * len(asked.sheet)

        return weighing

    def limited(people: float) -> tuple[float, ...]:
        if len(asked.sheet) == 1:
            return (best_design(table, spread=asked.spread, kappa=asked.kappa * n / people).variance * n / people,)
        variances = share_out(table, asked.demand.scaled(math.sqrt(n / people))).variances
        return tuple(variance * n / people for variance in variances)

    return limited


def _people(variances: Variances, place: int, low: int, wanted: float) -> int | None:
    """Double the crowd until it is accurate enough, then halve the distance: more people never hurt."""
    high = 2 * low
    while variances(high)[place] > wanted:
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if variances(middle)[place] <= wanted else (middle, high)
    return high


def _common_limit(people: int, place: int, wanted: float, asked: Asked) -> float | None:
    """Solve spread / n + kappa / (n limit)^2 = wanted for the limit; with several questions E19's shares add up to 1."""
    if len(asked.sheet) == 1:
        left = wanted - asked.spread / people
        return math.sqrt(asked.kappa / left) / people if left > 0 else None
    theta = asked.importance[place] * wanted
    rooms = [theta / importance - 1.0 / people for importance in asked.importance]
    if min(rooms) <= 0:
        return None
    roots = (math.sqrt(price / room) for price, room in zip(asked.demand.prices, rooms, strict=True))
    return math.fsum(roots) / people
