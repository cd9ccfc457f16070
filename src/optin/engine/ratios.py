"""Budgets over costs in an engine, rounded down as in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optin.engine.session import literal
from optin.kernel.rounding import not_above
from optin.tables.columns import Wanted

if TYPE_CHECKING:
    from ibis.expr import types as ir


def budget_over_cost(budget: ir.FloatingColumn, cost: ir.FloatingColumn) -> ir.FloatingColumn:
    """Divide budget by cost, rounded down as in memory; infinite where the cost is 0, NULL where either cannot be used."""
    import ibis

    zero = literal(0.0)
    usable = is_usable(Wanted.budgets("budgets"), budget) & is_usable(Wanted.costs("costs"), cost)
    free = (cost == zero) | (budget == literal(math.inf))
    quotient = not_above(budget, cost, budget / cost.nullif(zero), where=ibis.ifelse, exact=literal)
    return ibis.cases((usable & free, literal(math.inf)), (usable, quotient))


def is_usable(wanted: Wanted, number: ir.FloatingColumn) -> ir.BooleanColumn:
    """Tell whether a number has none of the faults; false also where there is no number."""
    right = number.notnull() & ~number.isnan()
    for _, wrong in wanted.faults(number, literal):
        right = right & ~wrong
    return right.fill_null(False)
