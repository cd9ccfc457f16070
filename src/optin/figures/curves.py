"""What the curves are made of: every design on the dial, and every turnout, from the buckets of a description.

Between two buckets all sums are exact; inside the one bucket that holds the cap everyone is taken at its mean limit.
Nothing here needs matplotlib.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optin.agents import Description
from optin.figures.merged_cells import coarse
from optin.kernel.noise import noise_variance
from optin.kernel.optimum import tilt_left
from optin.kernel.pieces import Array
from optin.planning import Plan


@dataclass(frozen=True)
class Crowd:
    """Limits in a few hundred steps, rising; ``counts``, ``totals`` and ``squares`` add up to everyone's."""

    limits: Array
    counts: Array
    totals: Array
    squares: Array
    least: float
    """A round number just below the strictest group's limits: the low end of the dial."""
    most: float
    """A round number just above the most open group's limits; infinite without any limits."""

    @cached_property
    def finite(self) -> Array:
        """The positive finite levels."""
        return self.limits[(self.limits > 0) & np.isfinite(self.limits)]

    @cached_property
    def people(self) -> float:
        """How many people there are."""
        return float(self.counts.sum())

    def granted(self, cap: float) -> tuple[Array, Array]:
        """Return the sums of min(limit, cap) and of their squares, step by step."""
        held = self.limits > cap
        return np.where(held, self.counts * cap, self.totals), np.where(held, self.counts * cap * cap, self.squares)


def crowd(description: Description) -> Crowd:
    """Turn a description into steps: zeros first, then every bucket at its mean, then people without a limit."""
    rows = [(b.total / b.count, float(b.count), b.total, b.squares) for b in description.buckets]
    if description.zeros:
        rows.insert(0, (0.0, float(description.zeros), 0.0, 0.0))
    if description.infinite:
        rows.append((math.inf, float(description.infinite), math.inf, math.inf))
    limits, counts, totals, squares = np.array(rows, dtype=np.float64).T
    groups = coarse(description).buckets
    low, high = (groups[0].low, groups[-1].high) if groups else (math.inf, math.inf)
    return Crowd(limits, counts, totals, squares, low, high)


@dataclass(frozen=True)
class Designs:
    """Designs along the dial: their caps, noise rates and the three parts of their error."""

    caps: Array
    etas: Array
    sampling: Array
    noise: Array
    tilts: Array
    max_gap: float

    @property
    def variances(self) -> Array:
        """Return sampling + noise (E0)."""
        return self.sampling + self.noise

    @property
    def bias_squares(self) -> Array:
        """Return the largest possible squared bias (E15)."""
        return (self.max_gap * self.tilts) ** 2

    @property
    def errors(self) -> Array:
        """Return what the plan minimises: the variance, and the squared bias if a gap was declared."""
        return self.variances + self.bias_squares


def designs(plan: Plan, people: Crowd, caps: Array) -> Designs:
    """Compute the design at each cap (E2–E5, E15)."""
    etas, sampling, noise, tilts = np.array([_design(plan, people, float(cap)) for cap in caps]).T
    return Designs(np.asarray(caps), etas, sampling, noise, tilts, plan.max_gap)


def _design(plan: Plan, people: Crowd, cap: float) -> tuple[float, float, float, float]:
    totals, squares = people.granted(cap)
    reach = float(totals.sum())
    tilt = tilt_left(totals, people.counts, people=people.people)
    sampling = plan.data_variance * float(squares.sum()) / reach**2
    return reach / plan.width, sampling, noise_variance(plan.asked.units.noise, reach), tilt


def turnout_variances(plan: Plan, people: Crowd, shares: Array, *, who: str = "random") -> Array:
    """Compute the variance left if this share of people joins and promises stay frozen (E12).

    ``who`` stays away: "random" people (their sums shrink in proportion, as they do on average), the "strictest" first, or
    the most "generous" first. If the cap is not above E1's, no other pattern of decliners can be better than "strictest" or worse
    than "generous": the variance left falls with every epsilon kept.
    """
    totals, squares = people.granted(plan.cap)
    if who == "random":
        remaining, remaining_squares = shares * totals.sum(), shares * squares.sum()
    else:
        order = slice(None, None, -1) if who == "strictest" else slice(None)
        at = np.concatenate(([0.0], np.cumsum(people.counts[order]))) / people.people
        remaining = np.interp(shares, at, np.concatenate(([0.0], np.cumsum(totals[order]))))
        remaining_squares = np.interp(shares, at, np.concatenate(([0.0], np.cumsum(squares[order]))))
    with np.errstate(divide="ignore", invalid="ignore"):
        left = plan.variance_left(remaining, remaining_squares)
    return np.asarray(np.where(remaining > 0, left, math.inf))


def turnout_tilts(plan: Plan, people: Crowd, shares: Array, *, who: str = "random") -> Array:
    """Compute the tilt (E15) of those who join, against equal shares of everyone announced, as a release does."""
    totals, _ = people.granted(plan.cap)
    joining = _joining(people, shares, who)
    return np.array([tilt_left(part * totals, part * people.counts, people=people.people) for part in joining])


def _joining(people: Crowd, shares: Array, who: str) -> Array:
    """Return the part of each step that joins, a row for each share."""
    if who == "random":
        return np.repeat(shares[:, None], len(people.counts), axis=1)
    order = slice(None, None, -1) if who == "strictest" else slice(None)
    counts = people.counts[order]
    before = np.cumsum(counts) - counts
    return np.clip((shares[:, None] * people.people - before) / counts, 0.0, 1.0)[:, order]
