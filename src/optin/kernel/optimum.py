"""E2–E8: what a cap makes of people — epsilons, noise, variance, tilt, prices — and the proof that nothing is better.

Values are measured in units of their range here (R = 1): ``spread`` is sigma^2 / R^2 and ``reach`` is R eta = sum eps.
``kappa`` is the noise family's constant (E16): 2 for Laplace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.kernel.cap import cap_at_reach, optimal_cap
from optin.kernel.noise import noise_variance, variance
from optin.kernel.pieces import Array, Limits, Sums


@dataclass(frozen=True)
class Design:
    """A cap, and the sums of the epsilons it gives (infinite when there is no noise)."""

    people: int
    cap: float
    reach: float  # sum eps
    squares: float  # sum eps^2
    pooled: int  # people with limit >= cap
    variance: float  # in units of R^2

    @property
    def noiseless(self) -> bool:
        """Whether nothing limits the release: every weight belongs to someone with an infinite limit."""
        return math.isinf(self.reach)

    @property
    def weight_squares(self) -> float:
        """Return sum w^2, by which the sampling error is multiplied."""
        return 1.0 / self.pooled if self.noiseless else self.squares / self.reach / self.reach


def best_design(limits: Limits, *, spread: float, kappa: float) -> Design:
    """Solve the privacy-constrained model over weights and noise (E1–E5). Someone's limit must be positive.

    >>> from optin.kernel.passes import ArrayLimits
    >>> best_design(ArrayLimits(np.array([1.0, 4.0, 9.0, 9.0])), spread=0.25, kappa=2.0).variance * 12
    1.0
    """
    finite = limits.sums(np.finfo(float).max) if spread == 0 else None
    if finite is not None and (finite.count == len(limits)):  # nothing is gained by holding anyone back
        return _all_at_their_limits(len(limits), finite, kappa)
    cap_and_tail = None if finite is not None else optimal_cap(limits, kappa / spread)
    if cap_and_tail is None:
        return noiseless(limits, spread=spread)
    x, tail = cap_and_tail
    design = design_at(x, tail, people=len(limits), spread=spread, kappa=kappa)
    return Design(design.people, x, design.reach, design.squares, design.pooled, spread * x / design.reach)  # E5


def best_at_reach(limits: Limits, *, reach: float, spread: float, kappa: float) -> Design | None:
    """Solve Theorem 2 (E8): the best weights at a given eta = reach / R; None if the limits do not add up to it."""
    cap_and_tail = cap_at_reach(limits, reach)
    if cap_and_tail is None:
        return None
    return design_at(cap_and_tail[0], cap_and_tail[1], people=len(limits), spread=spread, kappa=kappa)


def design_at(x: float, tail: Sums, *, people: int, spread: float, kappa: float) -> Design:
    """Describe the design at any cap (E3–E5) from the sums over the limits below it."""
    pooled = people - tail.count
    reach = tail.total + pooled * x if pooled else tail.total
    squares = tail.squares + pooled * x * x if pooled else tail.squares
    return Design(people, x, reach, squares, pooled, variance(spread, squares, reach, kappa))


def noiseless(limits: Limits, *, spread: float) -> Design:
    """Describe the mean of the people who accept anything: no noise, weight 1/m each."""
    finite = limits.sums(np.finfo(float).max)
    m = len(limits) - finite.count
    return Design(len(limits), math.inf, math.inf, math.inf, m, spread / m)


def _all_at_their_limits(people: int, finite: Sums, kappa: float) -> Design:
    return Design(people, math.inf, finite.total, finite.squares, 0, noise_variance(kappa, finite.total))


def epsilons(limits: Array, cap: float) -> Array:
    """Give everyone the smaller of limit and cap (E2), never w R eta, so that no limit is crossed by rounding."""
    return np.minimum(limits, cap)


def tilt_left(totals: Array, counts: Array | float, *, people: float) -> float:
    """Compute E15's tilt of those who are left of so many announced people, from sums of epsilons in groups of equals.

    Weights are renormalised over those left, and compared with equal shares of everyone: who is gone has weight 0. An
    average over who is gone has a ``counts`` below 1 for a single person.
    """
    remaining = float(totals.sum())
    return float(np.maximum(totals - counts * (remaining / people), 0.0).sum()) / remaining if remaining > 0 else 1.0


def tilt_of(design: Design, limits: Limits) -> float:
    """Measure how far the weights are from equal: sum_i max(w_i - 1/n, 0) (TV of E15).

    Deviations from the mean epsilon add up to zero, so the upper half is n e - sum min(eps, e).
    """
    n = design.people
    if design.noiseless:
        return 1.0 - design.pooled / n
    mean = design.reach / n
    return max(n * mean - limits.clipped_total(min(mean, design.cap)), 0.0) / design.reach


def shadow_prices(limits: Array, design: Design, *, spread: float) -> Array:
    """Differentiate the optimal variance by each limit (E7): never positive, zero for the pooled."""
    if design.noiseless:
        return np.zeros(len(limits))
    if math.isinf(design.cap):  # spread 0: V = kappa / (sum tau)^2, the same for everyone
        return np.full(len(limits), -2.0 * design.variance / design.reach)
    return (-2.0 * spread / design.reach / design.reach) * np.maximum(design.cap - limits, 0.0)
