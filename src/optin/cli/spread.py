"""How limits lie, for what ``optin plan`` prints: everyone's own in memory, groups of near ones from an engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.agents import Description, PrivacyConstrained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optin.agents import Agents
    from optin.agents.models import People
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
    """Look at everyone in memory; of people in an engine at their description and one count."""
    if not agents.kept:
        limits = plan.limits(agents)
        return Spread(limits, np.ones(len(limits)), int(np.count_nonzero(limits <= plan.cap)), agents)
    found = Description.from_dict(described)
    rows = [(0.0, found.zeros), *((b.total / b.count, b.count) for b in found.buckets), (math.inf, found.infinite)]
    levels, counts = np.array([row for row in rows if row[1]], dtype=np.float64).T
    within = plan.people if math.isinf(plan.cap) else table_of(plan, agents).sums(plan.cap).count
    return Spread(levels, counts, within, found)


def table_of(plan: Plan, agents: Agents) -> People:
    """Return the limits under a plan as the kernel reads them."""
    if isinstance(agents, PrivacyConstrained):
        return agents.table()
    return agents.table_at(plan.promised_variance or 0.0, data_variance=plan.data_variance)
