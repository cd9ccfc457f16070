"""The proof that nothing is better: a bound from dual prices, from a dozen sums over the people (E1, E8, E15)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.kernel.noise import noise_variance
from optin.kernel.optimum import Design
from optin.kernel.pieces import Array

SAME = 1e-9  # how near the cap a limit counts as pooled or not
MEAN = 1e-11  # how near the mean epsilon counts as at it


@dataclass(frozen=True)
class Tally:
    """Sums over people at a cap: what a sceptic adds up, in memory or in an engine.

    Limits and epsilons are in units of the sum of all epsilons, so that epsilons are weights and no square overflows.
    ``below``, ``at`` and ``above`` compare them with 1/n; ``held_back`` is the sum of limit (cap - limit) below the cap, and
    every total is over finite limits.
    """

    people: int
    broken: int  # epsilon above the limit
    infinite: int
    positive: int  # limits that are finite and positive
    total: float
    weights: float
    squares: float
    tilt: float  # sum of max(weight - 1/n, 0)
    pooled: int  # limits at the cap or above, rounding in their favour
    strictly_pooled: int  # rounding against them
    below_total: float
    at: int
    at_total: float
    above: int
    held_back: float


def tally_of(limits: Array, design: Design) -> Tally:
    """Add up arrays."""
    unit = 1.0 if design.noiseless else design.reach
    finite, cap, mean = np.isfinite(limits), design.cap / unit, 0.0 if design.noiseless else 1.0 / design.people
    plain = np.where(finite, limits, 0.0) / unit
    weights = np.zeros(len(limits)) if design.noiseless else np.minimum(limits, design.cap) / unit
    at = np.abs(weights - mean) <= MEAN * mean
    under = plain[finite & (limits < design.cap)]
    return Tally(
        people=len(limits),
        broken=int(np.count_nonzero(np.minimum(limits, design.cap) > limits)),
        infinite=int(np.count_nonzero(~finite)),
        positive=int(np.count_nonzero(plain > 0)),
        total=float(plain.sum()),
        weights=float(weights.sum()),
        squares=float(weights @ weights),
        tilt=float(np.maximum(weights - mean, 0.0).sum()),
        pooled=int(np.count_nonzero(limits >= design.cap * (1 - SAME))),
        strictly_pooled=int(np.count_nonzero(limits >= design.cap * (1 + SAME))),
        below_total=float(plain[(weights < mean) & ~at].sum()),
        at=int(np.count_nonzero(at)),
        at_total=float(plain[at].sum()),
        above=int(np.count_nonzero((weights > mean) & ~at)),
        held_back=float(np.sum(under * (cap - under))) if math.isfinite(design.cap) else 0.0,
    )


def lower_bound(tally: Tally, design: Design, *, spread: float, kappa: float, fixed: bool, gap: float = 0.0) -> float:
    """Compute a bound no weights with one noise can beat, from dual prices anyone can recompute (E1, E8, E15).

    With prices lambda_i >= 0 on limits and mu on the sum of weights, and shares s_i in [0, 1] of the pull towards weights of
    1/n, weak duality gives
    mu - spread sum w^2 - (sum lambda tau)^2 / (4 kappa) - gap^2 TV (TV + 2 sum(s)/n), whatever the cap was. It equals the
    objective exactly at the optimum. Without noise only people with infinite limits may count, and equal weights are best.
    """
    n = tally.people
    if design.noiseless:
        return spread / design.pooled + (gap * (1.0 - design.pooled / n)) ** 2
    pull, least_noise = 2.0 * gap * gap * tally.tilt, noise_variance(kappa, design.reach)
    if math.isinf(design.cap):
        shares, paid, mu = _prices_without_spread(tally, noise=least_noise, pull=pull)
    else:
        held_back = 2.0 * spread * tally.held_back
        share = _share_at_mean(tally, held_back, pull=pull, wanted=2.0 * least_noise)
        shares = n if pull == 0.0 else tally.above + share * tally.at
        paid = held_back + (pull * (tally.below_total + (1.0 - share) * tally.at_total) if pull else 0.0)
        mu = 2.0 * spread * design.cap / design.reach + pull
    noise = least_noise - paid if fixed else -_quarter_square(paid, least_noise)
    return mu - spread * tally.squares + noise - (gap * tally.tilt) ** 2 - pull * shares / n


def _quarter_square(paid: float, noise: float) -> float:
    """Return paid^2 / (4 noise); noise so small that it is 0 as a float has no price."""
    return paid * (paid / (4.0 * noise)) if noise > 0 else 0.0


def _prices_without_spread(tally: Tally, *, noise: float, pull: float) -> tuple[float, float, float]:
    """Price limits when there is no sampling error: lambda_i = mu - pull s_i, mu where the price of noise balances."""
    upper = tally.total - tally.below_total - tally.at_total
    mu = (2.0 * noise / tally.total + pull * upper) / tally.total
    willing = max(mu - pull, 0.0)
    paid = willing * upper + mu * (tally.below_total + tally.at_total)
    least = min(mu, willing + pull) if 0 < tally.above < tally.people else (willing + pull if tally.above else mu)
    return float(tally.above), paid, least


def _share_at_mean(tally: Tally, held_back: float, *, pull: float, wanted: float) -> float:
    """Choose the dual share of people at the mean weight: what balances the price of noise (1 above it, 0 below)."""
    if pull == 0.0 or tally.at_total == 0.0:
        return 0.0
    others = held_back + pull * tally.below_total
    return 1.0 - min(max((wanted - others) / (pull * tally.at_total), 0.0), 1.0)
