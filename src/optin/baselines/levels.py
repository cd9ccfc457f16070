"""Limits sorted once, with sums from below.

Every design here is a function of the limit alone, so all that can be said of it is a sum over levels. Sorting once
makes each candidate of a search (a threshold, a rate of noise) a look-up instead of a pass over the people.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, Constrained
from optin.agents.protocols import LimitTable
from optin.kernel.passes import ArrayLimits
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.wording.records import Brief

NO_LIMIT = 1e100
CHUNK = 32_768


@dataclass(frozen=True, repr=False)
class Levels(Brief):
    """Finite limits, rising, how many people stand behind each entry, and how many have no limit at all."""

    limits: Array
    counts: Array
    infinite: int

    @cached_property
    def people(self) -> int:
        """How many people there are."""
        return int(self.below[-1]) + self.infinite

    @cached_property
    def below(self) -> Array:
        """How many people come before the first, second, … entry, and before the end."""
        single = self.counts.strides == (0,)  # one person behind each: see levels_of
        return np.arange(len(self.counts) + 1.0) if single else _from_below(self.counts)

    @cached_property
    def totals(self) -> Array:
        """The sums of the limits before each entry."""
        return _from_below(self.limits, self.counts)

    @cached_property
    def squares(self) -> Array:
        """The sums of their squares."""
        return _from_below(self.limits, self.limits, self.counts)

    @property
    def least(self) -> float:
        """The strictest limit."""
        return float(self.limits[0]) if len(self.limits) else np.inf

    @property
    def most(self) -> float:
        """The highest limit."""
        return np.inf if self.infinite else float(self.limits[-1])

    @property
    def whole(self) -> Array:
        """All entries, infinity included where someone has no limit."""
        return np.append(self.limits, np.inf) if self.infinite else self.limits

    def moments(self, amount: Callable[[Array], Array]) -> tuple[float, float, float]:
        """Add up an amount that rises with the limit, its square, and what it has above its mean."""
        endless = float(amount(np.array([np.inf]))[0]) if self.infinite else 0.0
        starts = range(0, len(self.limits), CHUNK)
        parts = [self._part(amount, start) for start in starts]
        total = math.fsum(part.total for part in parts) + self.infinite * endless
        squares = math.fsum(part.squares for part in parts) + self.infinite * endless * endless
        mean, above = total / self.people, 0.0
        for start, part in zip(starts, parts, strict=True):
            if part.least >= mean:
                above += part.total - mean * part.people
            elif part.most > mean:  # one chunk at most, and a chunk of equals if it lies on the edge
                above += self._part(lambda limits: np.maximum(amount(limits) - mean, 0.0), start).total
        return total, squares, above + self.infinite * max(endless - mean, 0.0)

    def _part(self, amount: Callable[[Array], Array], start: int) -> _Part:
        """Add up over so few entries that everything stays in the processor's cache."""
        here = slice(start, start + CHUNK)
        limits, counts = self.limits[here], self.counts[here]
        least, most = amount(limits[[0, -1]]).tolist()
        if least == most:  # it never falls, so it stands still
            people = float(counts.sum())
            return _Part(people, least * people, least * least * people, least, most)
        amounts = amount(limits)
        weighted = amounts * counts
        total, squares = float(weighted.sum()), float((weighted * amounts).sum())
        return _Part(float(counts.sum()), total, squares, least, most)

    def first(self, reached: Callable[[NDArray[np.intp]], NDArray[np.bool_]], size: int = 1) -> NDArray[np.intp]:
        """Find by halving the first entry where something that stays true has become true; the end if it never does.

        ``reached`` is asked about ``size`` entries at once, one for each of as many searches.
        """
        low, high = np.zeros(size, dtype=np.intp), np.full(size, len(self.limits), dtype=np.intp)
        for _ in range(len(self.limits).bit_length()):
            middle = np.minimum((low + high) // 2, len(self.limits) - 1)
            holds = reached(middle)
            low, high = np.where(holds | (low >= high), low, middle + 1), np.where(holds, middle, high)
        return low


class _Part(NamedTuple):
    people: float
    total: float
    squares: float
    least: float
    most: float


def levels_of(limits: Array) -> Levels:
    """Sort limits, and count equal ones where that makes the table short.

    Above 1e100 no number could tell the noise from none, and so there is no limit.

    >>> levels_of(np.array([9.0, 1.0, 9.0, 9.0, np.inf]))
    Levels(limits=2 numbers, counts=2 numbers, infinite=1)
    """
    rising = np.sort(limits)
    finite = int(np.searchsorted(rising, NO_LIMIT, side="right"))
    bounded, infinite = rising[:finite], len(rising) - finite
    new = bounded[1:] != bounded[:-1]
    if 2 * np.count_nonzero(new) > finite or finite < 2:
        return Levels(bounded, np.broadcast_to(1.0, finite), infinite)
    starts = np.concatenate(([0], np.flatnonzero(new) + 1))
    return Levels(bounded[starts], np.diff(starts, append=finite).astype(np.float64), infinite)


def levels_for(plan: Plan, agents: Agents) -> Levels:
    """Sort the limits these agents have under a plan; those who stay in an engine are sorted by its buckets."""
    if isinstance(agents, Constrained):
        table = agents.table()
    else:
        table = agents.table_at(plan.promised_variance or 0.0, data_variance=plan.data_variance)
    if isinstance(table, ArrayLimits) or agents.model != plan.model:
        return levels_of(plan.limits(agents))
    return levels_of_buckets(table)


def levels_of_buckets(table: LimitTable) -> Levels:
    """Take everyone in a bucket at their mean limit: buckets are a quarter of a per cent wide, and so is the error at most."""
    outline = table.buckets()
    counts = np.diff(outline.counts, prepend=float(table.zeros))
    some = counts > 0
    means = np.diff(outline.totals, prepend=0.0)[some] / counts[some]
    if table.zeros:
        return Levels(np.append(0.0, means), np.append(float(table.zeros), counts[some]), table.infinite)
    return Levels(means, counts[some], table.infinite)


def _from_below(*factors: Array) -> Array:
    """Add up products from below, from 0 on; large arrays cost more to make than to fill, so only one is made."""
    sums = np.empty(len(factors[0]) + 1)
    sums[0], sums[1:] = 0.0, factors[0]
    for factor in factors[1:]:
        sums[1:] *= factor
    return np.cumsum(sums, out=sums)
