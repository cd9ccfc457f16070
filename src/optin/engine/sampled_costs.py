"""DuckDB's cheaper first scan of costs: what is sampled of c says as much of t = 1/c, whose order is the opposite one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from optin.engine.sampled_limits import LARGE, RANKS, SAMPLE, Glance, is_fair
from optin.engine.session import Session, literal
from optin.engine.tallying import indifferent

if TYPE_CHECKING:
    from ibis.expr import types as ir

LEAST = 1e-140  # so that 10^8 people who bear no less add up, squared, to a float


def glance_at_costs(session: Session, cost: ir.FloatingColumn, *, about: str) -> Glance | None:
    """Scan costs once, where the engine samples cheaply; None where it does not, or they need the full survey.

    One sum tells that nothing is NaN or infinite. Quotients fall as costs rise, so ranks of costs are ranks of 1/c, turned.
    """
    sample_ranks = session.dialect.sample_ranks
    if sample_ranks is None:
        return None
    table = cost.name("cost").as_table()
    query = table.agg(
        people=table.count(),
        present=table.cost.count(),
        negative=(table.cost < literal(0.0)).sum(),
        free=(table.cost == literal(0.0)).sum(),
        small=(table.cost < literal(LEAST)).sum(),
        large=(table.cost > literal(LARGE)).sum(),
        total=table.cost.sum(),
        ranks=sample_ranks(table.cost, RANKS.tolist(), SAMPLE),
    )
    row = session.one(query, about=about)
    people, free, total = int(row["people"]), int(row["free"] or 0), float(row["total"] or 0.0)
    plain = row["present"] == people > 0 and not (row["negative"] or row["large"]) and row["small"] == free
    if not (plain and math.isfinite(total)):
        return None
    costs = np.array(row["ranks"], dtype=np.float64)
    with np.errstate(divide="ignore"):
        ranks = 1.0 / costs[::-1]
    fair = is_fair(costs, total / people, 0.0) and (not free or is_fair(ranks, math.nan, free / people))
    return Glance(people, free > 0, math.nan, ranks) if fair else None


def unit_limit(cost: ir.FloatingColumn, seen: Glance) -> ir.FloatingColumn:
    """Return t = 1/c of costs that were looked at: where everybody bears one, there is nothing to tell apart."""
    return indifferent(literal(1.0), cost) if seen.endless else literal(1.0) / cost
