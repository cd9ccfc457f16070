"""How limits lie, for what ``optin plan`` prints: the same numbers from an array and from an engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.agents import Description

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optin.agents import Agents
    from optin.agents.protocols import LimitTable
    from optin.kernel.pieces import Array
    from optin.planning import Plan


@dataclass(frozen=True)
class LimitsUnderPlan:
    """Limits under a plan: as a table that answers by rank, and as groups of near ones for what only groups can tell."""

    table: LimitTable
    description: Description
    within: int
    """How many people are at or below the cap."""

    def quantiles(self, shares: tuple[float, ...]) -> list[float]:
        """Return the limits at or below which these shares of people lie: somebody's own, each of them."""
        from optin.kernel.ranks import at_rank

        people = len(self.table)
        return [at_rank(self.table, max(math.ceil(share * people), 1)) / self.table.scale for share in shares]

    @property
    def finite(self) -> int:
        """How many limits are neither 0 nor endless."""
        return len(self.table) - self.table.zeros - self.table.infinite

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest of those."""
        from optin.kernel.ranks import at_rank

        ranks = (self.table.zeros + 1, len(self.table) - self.table.infinite)
        low, high = (at_rank(self.table, rank) / self.table.scale for rank in ranks)
        return low, high

    def counts_between(self, edges: Array) -> NDArray[np.int64]:
        """Count the limits between neighbouring edges, of which the first is the smallest limit."""
        inner = self.table.counts_at(edges[1:-1] * self.table.scale)
        return np.diff(np.concatenate(([self.table.zeros], inner, [self.table.zeros + self.finite])))

    @property
    def groups(self) -> tuple[Array, Array]:
        """The mean limit of each group of near limits, and how many people it has; zeros and endless ones are groups too."""
        description = self.description
        near = ((b.total / b.count, b.count) for b in description.buckets)
        rows = [(0.0, description.zeros), *near, (math.inf, description.infinite)]
        means, counts = np.array([row for row in rows if row[1]], dtype=np.float64).T
        return means, counts


def limits_under(plan: Plan, agents: Agents, described: dict[str, Any]) -> LimitsUnderPlan:
    """Look at the limits of people, wherever they are."""
    from optin.planning.by_rank import limit_table

    table = limit_table(plan, agents)
    within = plan.people if math.isinf(plan.cap) else table.sums(plan.cap * table.scale).count
    return LimitsUnderPlan(table, Description.from_dict(described), within)
