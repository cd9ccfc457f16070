"""E2–E8: what a cap makes of people — epsilons, noise, variance, tilt, prices — and the proof that nothing is better.

Values are measured in units of their range here (R = 1): ``spread`` is sigma^2 / R^2 and ``reach`` is R eta = sum eps.
``kappa`` is the noise family's constant (E16): 2 for Laplace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.kernel.cap import cap_at_reach, optimal_cap
from optin.kernel.ladder import Array, Limits, Sums

__all__ = ["Design", "best_at_reach", "best_design", "design_at", "epsilons", "lower_bound", "shadow_prices", "tilt_of"]


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
    found = None if finite is not None else optimal_cap(limits, kappa / spread)
    if found is None:
        return noiseless(limits, spread=spread)
    x, tail = found
    design = design_at(x, tail, people=len(limits), spread=spread, kappa=kappa)
    return Design(design.people, x, design.reach, design.squares, design.pooled, spread * x / design.reach)  # E5


def best_at_reach(limits: Limits, *, reach: float, spread: float, kappa: float) -> Design | None:
    """Solve Theorem 2 (E8): the best weights at a given eta = reach / R; None if the limits do not add up to it."""
    found = cap_at_reach(limits, reach)
    if found is None:
        return None
    return design_at(found[0], found[1], people=len(limits), spread=spread, kappa=kappa)


def design_at(x: float, tail: Sums, *, people: int, spread: float, kappa: float) -> Design:
    """Describe the design at any cap (E3–E5) from the sums over the limits below it."""
    pooled = people - tail.count
    reach = tail.total + pooled * x if pooled else tail.total
    squares = tail.squares + pooled * x * x if pooled else tail.squares
    return Design(people, x, reach, squares, pooled, (spread * squares + kappa) / reach / reach)


def noiseless(limits: Limits, *, spread: float) -> Design:
    """Describe the mean of the people who accept anything: no noise, weight 1/m each."""
    finite = limits.sums(np.finfo(float).max)
    m = len(limits) - finite.count
    return Design(len(limits), math.inf, math.inf, math.inf, m, spread / m)


def _all_at_their_limits(people: int, finite: Sums, kappa: float) -> Design:
    return Design(people, math.inf, finite.total, finite.squares, 0, kappa / finite.total / finite.total)


def epsilons(limits: Array, cap: float) -> Array:
    """Give everyone the smaller of limit and cap (E2), never w R eta, so that no limit is crossed by rounding."""
    return np.minimum(limits, cap)


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


def lower_bound(limits: Array, design: Design, *, spread: float, kappa: float, fixed: bool, gap: float = 0.0) -> float:
    """Compute a bound no design can beat, from dual prices anyone can recompute (E1, E8, E15).

    With prices lambda_i >= 0 on w_i <= tau_i u and any s_i in [0, 1] for the part of w_i above 1/n, weak duality gives
    mu - spread sum w^2 - (sum lambda tau)^2 / (4 kappa) - gap^2 TV (TV + 2 sum(s)/n), whatever the cap was. It equals the
    objective exactly at the optimum. Without noise only people with infinite limits may count, and equal weights are best.
    """
    n = len(limits)
    if design.noiseless:
        return spread / design.pooled + (gap * (1.0 - design.pooled / n)) ** 2
    finite = np.isfinite(limits)
    weights = np.minimum(limits, design.cap) / design.reach
    tilt = float(np.maximum(weights - 1.0 / n, 0.0).sum())
    pull = 2.0 * gap * gap * tilt
    if math.isinf(design.cap):
        share, prices, mu = _prices_without_spread(weights, limits, kappa=kappa, pull=pull)
    else:
        held_back = 2.0 * spread * (design.cap - np.minimum(limits, design.cap)) / design.reach
        share = _shares(weights, limits, held_back, pull=pull, wanted=2.0 * kappa / design.reach)
        prices, mu = held_back + pull * (1.0 - share), 2.0 * spread * design.cap / design.reach + pull
    paid = float(np.sum(prices[finite] * limits[finite]))
    given = kappa / design.reach / design.reach - paid / design.reach
    noise = given if fixed else -paid * paid / (4.0 * kappa)
    sampling = spread * float(weights @ weights)
    return mu - sampling + noise - (gap * tilt) ** 2 - pull * float(share.sum()) / n


def _prices_without_spread(weights: Array, limits: Array, *, kappa: float, pull: float) -> tuple[Array, Array, float]:
    """Price limits when there is no sampling error: lambda_i = mu - pull s_i, mu where the price of noise balances."""
    share = (weights * len(weights) > 1.0).astype(float)
    total = float(limits.sum())
    mu = (2.0 * kappa / total + pull * float(share @ limits)) / total
    prices = np.maximum(mu - pull * share, 0.0)
    return share, prices, float(np.min(prices + pull * share))


def _shares(weights: Array, limits: Array, held_back: Array, *, pull: float, wanted: float) -> Array:
    """Choose the dual shares: 1 above the mean weight, 0 below, and at it what balances the price of noise."""
    if pull == 0.0:
        return np.ones(len(limits))
    finite = np.isfinite(limits)
    at_mean = np.abs(weights * len(limits) - 1.0) <= 1e-11
    share = np.where(at_mean, 0.0, (weights * len(limits) > 1.0).astype(float))
    others = float(np.sum((held_back + pull * (1.0 - share) * ~at_mean)[finite] * limits[finite]))
    at = float(np.sum(limits[at_mean & finite]))
    if at > 0:
        share[at_mean] = 1.0 - min(max((wanted - others) / (pull * at), 0.0), 1.0)
    return share
