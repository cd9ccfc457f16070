"""Limits cut to what remains: in whole grains, or to the level below, so that announced sums do not tell one person's rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents, PrivacyConstrained
from optin.engine.session import literal
from optin.errors import BadInput, BudgetSpent
from optin.kernel.rounding import GRAIN
from optin.ledger import UNLIMITED, allowance_grains, epsilons_of
from optin.tables.columns import column, has_rows
from optin.tables.labels import of_people

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["NOTHING_LEFT", "USEFUL", "allowance", "cut_to", "epsilon", "kept_cut_to", "lowered_to", "totals_of"]

USEFUL = 2**16
"""Fewer grains than this (an epsilon of 2^-16, 0.000015) left of an allowance are rounding dust: nothing is planned on them."""
NOTHING_LEFT = "everyone here has spent or promised all of their allowance in this ledger: nothing is left to plan"


def cut_to(left: NDArray[np.int64], levels: ArrayLike | None) -> NDArray[np.float64]:
    """Turn what is left into limits: epsilon itself, or the highest level that so many grains cover, or nothing.

    >>> cut_to(np.array([2**32, 2**31, 5]), [0.5, 0.75]).tolist()
    [0.75, 0.5, 0.0]
    >>> cut_to(np.array([2**32, 2**16, 2**16 - 1]), None).tolist()
    [1.0, 1.52587890625e-05, 0.0]
    """
    if levels is None:
        return epsilons_of(np.where(left < USEFUL, 0, left))
    grains, steps = _steps(levels)
    found: NDArray[np.float64] = steps[np.searchsorted(grains, left, side="right") - 1]
    return found


def lowered_to(agents: PrivacyConstrained, left: NDArray[np.int64], levels: ArrayLike | None) -> PrivacyConstrained:
    """Lower limits to what is left; one whose grains are covered is left as it is, to the last bit."""
    stated = allowance_grains(agents.limits)
    lowered = np.where(stated <= left, agents.limits, cut_to(left, levels))
    if stated.any() and left.max() < USEFUL and not allowance_grains(lowered).any():
        raise BudgetSpent(NOTHING_LEFT)
    return PrivacyConstrained(lowered, ids=agents.ids, index=agents.index)


def totals_of(allowances: ArrayLike, agents: Agents) -> NDArray[np.int64]:
    """Read what people allow over all releases, in grains: one number for each, or one for all."""
    allowances, people = of_people(allowances, agents, "allowances"), len(agents)
    each = has_rows(allowances)
    totals = column(allowances if each else [allowances], "allowances")
    if len(totals) != people and each:
        raise BadInput(f"allowances has {len(totals)} entries for {people} people; give one for each, or one for all")
    return allowance_grains(np.broadcast_to(totals, (people,)))


def kept_cut_to(left: ir.IntegerColumn, levels: ArrayLike | None) -> ir.FloatingColumn:
    """Do the same in an engine."""
    import ibis

    if levels is None:
        return (left < USEFUL).ifelse(literal(0.0), epsilon(left))
    rungs = list(zip(*(steps.tolist() for steps in _steps(levels)), strict=True))
    return ibis.cases(*((left >= grains, literal(step)) for grains, step in reversed(rungs[1:])), else_=literal(0.0))


def _steps(levels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sort levels, from nothing on, and say how many grains each of them takes."""
    steps = np.append(0.0, np.sort(column(levels, "levels")))
    return allowance_grains(steps), steps


def allowance(limit: ir.FloatingColumn) -> ir.IntegerColumn:
    """Turn limits into grains, rounded down; infinity and anything from 2^30 up becomes UNLIMITED, as in the ledger."""
    import ibis

    return (ibis.least(limit, literal(UNLIMITED / GRAIN)) * literal(GRAIN)).floor().cast("int64")


def epsilon(grains: ir.IntegerColumn) -> ir.FloatingColumn:
    """Turn grains into epsilon, never rounding up: above 2^53 the last ten bits are dropped, as in the ledger."""
    short = (grains >= 2**53).ifelse(grains & np.int64(-1024).item(), grains)
    return short.cast("float64") * literal(1 / GRAIN)
