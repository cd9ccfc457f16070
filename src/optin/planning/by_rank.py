"""What a plan gives people by the rank of their limits, in memory or in an engine: sums over the strictest and the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from optin.agents import Agents, Constrained
from optin.agents.protocols import LimitTable
from optin.kernel.pieces import Sums
from optin.kernel.ranks import lowest
from optin.planning.numbers import PlanNumbers


def limit_table(plan: PlanNumbers, agents: Agents) -> LimitTable:
    """Return the limits under a plan as the kernel reads them."""
    if isinstance(agents, Constrained):
        return agents.table()
    return agents.table_at(plan.promised_variance or 0.0, data_variance=plan.data_variance)


class ByRank(Protocol):
    """Sums over people in order of their limits."""

    @property
    def people(self) -> int:
        """How many people there are."""

    def between(self, first: int, last: int, bound: float) -> Sums:
        """Add up min(epsilon, bound) over the ranks above ``first``, up to ``last``."""


@dataclass(frozen=True)
class Alike:
    """What people count for without noise: alike, whoever set no limit, and the others not at all."""

    people: int
    counting: int

    def between(self, first: int, last: int, bound: float) -> Sums:
        """Count those who count: theirs are the highest ranks."""
        count = max(last - max(first, self.people - self.counting), 0)
        return Sums(count, count * min(bound, 1.0), float(count))


@dataclass(frozen=True)
class Clipped:
    """The smaller of limit and cap, from a table in units of 1 / its scale."""

    people: int
    table: LimitTable
    cap: float

    def between(self, first: int, last: int, bound: float) -> Sums:
        """Subtract what those at or below ``first`` are given."""
        scale = self.table.scale
        cap = min(bound, self.cap) * scale
        lower, upper = (lowest(self.table, rank, cap) for rank in (first, last))
        total, squares = upper.total - lower.total, upper.squares - lower.squares
        return Sums(last - first, total / scale, squares / scale**2)


def given_by_rank(plan: PlanNumbers, agents: Agents) -> ByRank:
    """Look at people in order of their limits."""
    if plan.noiseless:
        return Alike(len(agents), plan.pooled_people)
    table = limit_table(plan, agents)
    if plan.cap > table.ceiling and isinstance(agents, Constrained):
        table = agents.scaled_table()
    return Clipped(len(agents), table, plan.cap)


def tilt_between(given: ByRank, first: int, last: int, stays: float) -> float:
    """Compute E15's tilt of those who are left, weights renormalised: what lies above an equal share of everyone."""
    remaining = given.between(first, last, math.inf).total
    if remaining <= 0:
        return 1.0
    return (remaining - given.between(first, last, stays * remaining / given.people).total) / remaining
