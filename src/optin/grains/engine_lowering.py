"""Limits of people in an engine, lowered to what they have left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from optin.engine.agents import EngineConstrained
from optin.engine.rows import Rows
from optin.grains.overlay import STATED, allowance, expression_cut_to
from optin.grains.units import USEFUL, nothing_left
from optin.kernel.rounding import GRAIN

if TYPE_CHECKING:
    from ibis.expr import types as ir


def lowered(
    agents: EngineConstrained, rows: Rows, limit: ir.FloatingColumn, left: ir.IntegerColumn, levels: ArrayLike | None
) -> EngineConstrained:
    """Lower limits to what is left; one whose grains are covered is left as it is, to the last bit."""
    cut = (allowance(limit) <= left).ifelse(limit, expression_cut_to(left, levels))
    if agents.by:
        rows = replace(rows, table=rows.table.mutate(**{"limit": cut, STATED: limit}))
        cut = rows.table["limit"]
    people = EngineConstrained(rows, cut, columns=agents.columns, by=agents.by)
    if people.most * GRAIN < 1 and _all_spent(rows, limit, left):
        raise nothing_left()
    return people


def _all_spent(rows: Rows, limit: ir.FloatingColumn, left: ir.IntegerColumn) -> bool:
    """Tell people who have nothing of use left from people who allow nothing, or have less left than the lowest level."""
    table = rows.table.select(left=left, stated=allowance(limit))
    most = rows.session.one(table.aggregate(left=table.left.max(), stated=table.stated.max()), about=rows.source)
    return bool(most["left"] < USEFUL and most["stated"] > 0)
