"""How limits lie, for what ``optin plan`` prints: everyone's own in memory, groups of near ones from an engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.agents import Constrained, Description

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optin.agents import Agents
    from optin.agents.forms import LimitTable
    from optin.kernel.ladder import Array
    from optin.planning import Plan


@dataclass(frozen=True)
class Spread:
    """Limits and how many people have each; ``within`` is how many are at or below the cap, exactly."""

    levels: Array
    counts: Array
    within: int
    people: Agents | Description
    """What other ways to publish are computed from."""

    @property
    def exact(self) -> bool:
        """Whether these are people's own limits."""
        return not isinstance(self.people, Description)

    def quantiles(self, shares: tuple[float, ...]) -> list[float]:
        """Return the limits below which these shares of people lie."""
        found = np.quantile(self.levels, shares, method="inverted_cdf", weights=self.counts)
        return [float(limit) for limit in found]

    def count(self, chosen: NDArray[np.bool_]) -> int:
        """Count people by a yes or no to each level."""
        return int(self.counts[chosen].sum())


def spread_of(plan: Plan, agents: Agents, described: dict[str, Any]) -> Spread:
    """Look at everyone, or at the groups that describe them and one count."""
    found = agents.looked_at(Description.from_dict(described))
    if not isinstance(found, Description):
        limits = plan.limits(found)
        return Spread(limits, np.ones(len(limits)), int(np.count_nonzero(limits <= plan.cap)), found)
    rows = [(0.0, found.zeros), *((b.total / b.count, b.count) for b in found.buckets), (math.inf, found.infinite)]
    levels, counts = np.array([row for row in rows if row[1]], dtype=np.float64).T
    within = plan.people if math.isinf(plan.cap) else table_of(plan, agents).sums(plan.cap).count
    return Spread(levels, counts, within, found)


def table_of(plan: Plan, agents: Agents) -> LimitTable:
    """Return the limits under a plan as the kernel reads them."""
    if isinstance(agents, Constrained):
        return agents.table()
    return agents.table_at(plan.promised_variance or 0.0, data_variance=plan.data_variance)
