"""E18, E19: how one limit is shared among questions, and the cap that serves all of them.

A question matters only through its price C = (noise constant) / (declared variance). Everything here is in units of each
question's own declared variance: v_k = V_k / sigma_k^2 = (sum e_ik^2 + C_k) / (sum e_ik)^2, one over its effective people.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from optin.kernel.cap import SumsAt, pieces_around
from optin.kernel.dial import caps_with_mean, pieces_of_means, robust_design
from optin.kernel.noise import noise_variance, variance
from optin.kernel.optimum import Design, design_at, noiseless, tilt_of
from optin.kernel.pieces import Array, Limits, Pieces, Sums

SHARES = 1 << 20
"""Shares of epsilon are counted in parts of 2^-20 (E20)."""

_LEAST_PRICE = 1e-150


@dataclass(frozen=True)
class Demand:
    """What a sheet asks of the planner: for each question its price, its importance, and its gap over its sd."""

    prices: tuple[float, ...]
    importance: tuple[float, ...]
    gaps: tuple[float, ...]

    @property
    def balanced(self) -> bool:
        """Whether all questions are to have the same effective people: then one question stands for all (E18)."""
        return len(set(self.importance)) == 1 and len(set(self.gaps)) == 1

    def scaled(self, scale: float) -> Demand:
        """Return the same where limits are multiplied by ``scale``; noise that would be nothing at all stays next to nothing."""
        return replace(self, prices=tuple(max(price * scale * scale, _LEAST_PRICE) for price in self.prices))

    def theta(self, variances: tuple[float, ...], tilt: float) -> float:
        """Return max_k m_k (v_k + gap_k^2 TV^2): what importance makes of the v_k of a design."""
        rows = zip(self.importance, variances, self.gaps, strict=True)
        return max(m * (v + (gap * tilt) ** 2) for m, v, gap in rows)


@dataclass(frozen=True)
class Shared:
    """A design for all questions at once, and the share of everyone's epsilon that each question gets.

    ``theta`` is the least possible max_k m_k (v_k + gap_k^2 TV^2); ``variances`` are the v_k. Where all questions have the
    same importance and gap, ``design.variance`` is every v_k.
    """

    design: Design
    shares: tuple[float, ...]
    variances: tuple[float, ...]
    theta: float


def combined_price(prices: tuple[float, ...]) -> float:
    """Return the price of a sheet, P^2 with P = sum of sqrt(C_k); of one question it is C itself, to the last bit.

    >>> combined_price((8.0,)), combined_price((8.0, 8.0))
    (8.0, 32.0)
    """
    if len(set(prices)) == 1:  # no root is taken where none is needed
        return len(prices) ** 2 * prices[0]
    return math.fsum(map(math.sqrt, prices)) ** 2


def equal_shares(prices: tuple[float, ...]) -> tuple[float, ...]:
    """Return beta_k = sqrt(C_k) / P (E18): the same effective people on every question."""
    roots = [math.sqrt(price) for price in prices]
    total = math.fsum(roots)
    return tuple(root / total for root in roots)


def share_out(limits: Limits, demand: Demand, *, scale: float = 1.0) -> Shared:
    """Find the cap and shares with the least max_k m_k (v_k + gap_k^2 TV^2): E18, and E19 where importance differs.

    With equal importance and gaps it is E1 (or E15) at P^2 and best among all designs (E18, by Minkowski); else it is best
    among designs with one cap (E19). Someone's limit must be positive. ``scale`` is what limits were multiplied by, a power
    of two: prices are then multiplied by its square.

    >>> from optin.kernel.passes import ArrayLimits
    >>> people = ArrayLimits(np.array([1.0, 4.0, 9.0, 9.0]))
    >>> round(share_out(people, Demand((8.0, 8.0), (1.0, 1.0), (0.0, 0.0))).design.cap * 23, 9)
    211.0
    >>> uneven = share_out(people, Demand((8.0, 8.0), (1.0, 4.0), (0.0, 0.0)))
    >>> round(uneven.design.cap, 11), round(uneven.theta, 11), round(uneven.shares[0], 12)
    (6.06989749224, 1.38872829882, 0.158789437489)
    """
    if demand.balanced:
        price = combined_price(demand.prices) * scale * scale
        return _evenly(robust_design(limits, spread=1.0, kappa=price, gap=demand.gaps[0]), limits, demand)
    rise = _Rise(len(limits), demand.scaled(scale))
    upper = pieces_around(limits, rise.beyond)
    if upper.totals[-1] == 0:
        return _evenly(noiseless(limits, spread=1.0), limits, demand)
    lower = pieces_of_means(limits, upper) if rise.gapped else None
    return _unevenly(_least_cap(upper, lower, rise), upper, lower, rise)


def theta_at(limits: Limits, demand: Demand, cap: float) -> float:
    """Return the least max_k m_k (v_k + gap_k^2 TV^2) at a cap that is given: what a sceptic compares with its neighbours."""
    rise = _Rise(len(limits), demand)
    at_cap = limits.sums(cap)
    return rise.split(cap, at_cap, limits.sums(rise.mean(cap, at_cap)) if rise.gapped else None).theta


def shares_at(demand: Demand, *, noise: float, squares: float, tilt: float) -> tuple[float, ...]:
    """Return E19's shares where 1 over the sum of epsilons, the sum of squared weights and the tilt are given.

    Where all questions have the same importance and gap they follow from the questions alone (E18).

    >>> even = Demand((8.0, 2.0), (1.0, 1.0), (0.0, 0.0))
    >>> [round(share, 6) for share in shares_at(even, noise=0.1, squares=0.05, tilt=0.3)]
    [0.666667, 0.333333]
    >>> uneven = Demand((8.0, 2.0), (1.0, 3.0), (0.0, 0.0))
    >>> [round(share, 6) for share in shares_at(uneven, noise=0.1, squares=0.05, tilt=0.3)]
    [0.491111, 0.508889]
    """
    if demand.balanced:
        return equal_shares(demand.prices)
    rise = _Rise(1, demand.scaled(noise))
    return rise.shared(squares + rise.gaps * tilt**2).shares


def theta_of(demand: Demand, shares: tuple[float, ...], *, noise: float, squares: float, tilt: float) -> float:
    """Return max_k m_k (v_k + gap_k^2 TV^2) at any shares, where the numbers of `shares_at` are given.

    >>> uneven = Demand((8.0, 2.0), (1.0, 3.0), (0.0, 0.0))
    >>> at = {"noise": 0.1, "squares": 0.05, "tilt": 0.3}
    >>> best = shares_at(uneven, **at)
    >>> round(theta_of(uneven, best, **at), 6), round(theta_of(uneven, (0.5, 0.5), **at), 6)
    (0.381689, 0.39)
    """
    pairs = zip(demand.prices, shares, strict=True)
    return demand.theta(tuple(squares + noise_variance(price, share / noise) for price, share in pairs), tilt)


def theta_below(limits: Limits, demand: Demand) -> float:
    """Return a bound that no design at all, on one cap or on many, has a theta below (E19).

    Each question alone could not be better than its own optimum; and where all matter as little as the least important, and
    differ by the least gap, E18 is the optimum.
    """
    alone = [
        importance * _optimum(limits, price, gap)
        for price, importance, gap in zip(demand.prices, demand.importance, demand.gaps, strict=True)
    ]
    together = _optimum(limits, combined_price(demand.prices), min(demand.gaps))
    return max(*alone, min(demand.importance) * together)


def _optimum(limits: Limits, price: float, gap: float) -> float:
    design = robust_design(limits, spread=1.0, kappa=price, gap=gap)
    return design.variance if gap == 0.0 else design.variance + (gap * tilt_of(design, limits)) ** 2


def _evenly(design: Design, limits: Limits, demand: Demand) -> Shared:
    """Share by E18; without noise any shares would do."""
    variances = (design.variance,) * len(demand.prices)
    tilt = tilt_of(design, limits) if any(demand.gaps) else 0.0
    return Shared(design, equal_shares(demand.prices), variances, demand.theta(variances, tilt))


def _unevenly(x: float, upper: Pieces, lower: Pieces | None, rise: _Rise) -> Shared:
    """Describe E19's design at its cap."""
    split = rise.split(x, *_sums_at(x, upper, lower, rise))
    prices = rise.prices.tolist()
    design = design_at(x, upper.sums_under(x), people=rise.people, spread=1.0, kappa=combined_price(tuple(prices)))
    variances = (
        variance(1.0, design.squares, design.reach, price / share / share)
        for price, share in zip(prices, split.shares, strict=True)
    )
    return Shared(design, split.shares, tuple(variances), split.theta)


def _sums_at(x: float, upper: Pieces, lower: Pieces | None, rise: _Rise) -> tuple[Sums, Sums | None]:
    at_cap = upper.sums_at(x)
    return at_cap, None if lower is None else lower.sums_at(rise.mean(x, at_cap))


@dataclass(frozen=True)
class _Split:
    theta: float
    shares: tuple[float, ...]
    pull: float
    """sum beta^3 / C: how much the shares ask for when sum eps^2 rises."""
    gap_pull: float


class _Rise:
    """The slope of theta in the cap, up to a positive factor: S h(x) + G D L - 1 (E19 with E15's gap).

    h is E1's left side, S = sum beta^3 / C, G = sum gap^2 beta^3 / C, and D, L are E15's: what lies above the mean epsilon,
    and the sum of the limits below it.
    """

    def __init__(self, people: int, demand: Demand) -> None:
        self.people = people
        self.prices, self.importance = np.array(demand.prices), np.array(demand.importance)
        self.gaps = np.array(demand.gaps) ** 2
        self.gapped = bool(self.gaps.any())

    def mean(self, x: float, at_cap: Sums) -> float:
        return (at_cap.total + (self.people - at_cap.count) * x) / self.people

    def split(self, x: float, at_cap: Sums, at_mean: Sums | None) -> _Split:
        """Solve sum beta_k = 1 for theta at this cap, by Newton from the left, which never overshoots.

        theta E^2 is written as the largest m_k (Q + gap_k^2 D^2) plus an excess, so that nothing cancels.
        """
        above = self.people - at_cap.count
        reach, squares = at_cap.total + above * x, at_cap.squares + above * x * x
        split = self.shared(squares + self.gaps * self._upper_half(x, at_cap, at_mean) ** 2)
        return replace(split, theta=split.theta / reach / reach)

    def shared(self, own: Array) -> _Split:
        """Solve it where each question's own part of theta E^2, that of the people and of the gap, is given."""
        wanted = self.importance * own
        base = float(wanted.max())
        room = (base - wanted) / self.importance
        excess = self._excess(room)
        betas = np.sqrt(self.prices / (room + excess / self.importance))
        cubes = betas**3 / self.prices
        shares = tuple((betas / betas.sum()).tolist())
        return _Split(float(base + excess), shares, float(cubes.sum()), float(self.gaps @ cubes))

    def _excess(self, room: Array) -> float:
        least = float(np.max(self.importance * (self.prices - room)))
        while True:
            under = room + least / self.importance
            betas = np.sqrt(self.prices / under)
            more = (betas.sum() - 1.0) / float((betas / under / self.importance).sum() / 2.0)
            if not least < (better := least + more):
                return least
            least = better

    def _upper_half(self, x: float, at_cap: Sums, at_mean: Sums | None) -> float:
        return 0.0 if at_mean is None else max(at_mean.count * self.mean(x, at_cap) - at_mean.total, 0.0)

    def rises(self, x: float, at_cap: Sums, at_mean: Sums | None) -> bool:
        """Whether theta no longer falls at this cap."""
        split = self.split(x, at_cap, at_mean)
        slope = split.pull * (x * at_cap.total - at_cap.squares)
        if at_mean is not None:
            slope += split.gap_pull * self._upper_half(x, at_cap, at_mean) * at_mean.total
        return slope >= 1.0

    def beyond(self, x: float, sums_at: SumsAt) -> bool:
        at_cap = sums_at(x)
        return x > 0 and self.rises(x, at_cap, sums_at(self.mean(x, at_cap)) if self.gapped else None)


def _turns(upper: Pieces, lower: Pieces | None, rise: _Rise) -> Array:
    """List the points where sums change."""
    if lower is None:
        return upper.edges
    turns = np.unique(np.concatenate((upper.edges, caps_with_mean(upper, lower.inside, rise.people))))
    return np.asarray(turns[(turns >= upper.low) & (turns <= upper.high)])


def _least_cap(upper: Pieces, lower: Pieces | None, rise: _Rise) -> float:
    """Bisect the points where sums change, then the piece before the first at which theta rises."""
    turns = _turns(upper, lower, rise)

    def rises(x: float) -> bool:
        return x > 0 and rise.rises(x, *_sums_at(x, upper, lower, rise))

    first, last = 0, len(turns)
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if rises(float(turns[middle])) else (middle + 1, last)
    low = float(turns[max(first - 1, 0)])
    high = float(turns[first]) if first < len(turns) else upper.high
    if math.isinf(high):
        high = _first_rise(rises, low)
    while low < (half := low + (high - low) / 2.0) < high:
        low, high = (low, half) if rises(half) else (half, high)
    return high


def _first_rise(rises: Callable[[float], bool], low: float) -> float:
    """Double a cap until theta rises, which it does where someone's limit is finite and positive."""
    high = max(2.0 * low, 1.0)
    while not rises(high):
        high *= 2.0
    return high


def integer_shares(shares: tuple[float, ...]) -> tuple[int, ...] | None:
    """Round shares to integers B_k >= 1 that add up to 2^20, by largest remainders (E20); None if one would get nothing.

    >>> integer_shares((2 / 3, 1 / 3)), integer_shares((1.0,)), integer_shares((1.0, 1e-9))
    ((699051, 349525), (1048576,), None)
    """
    parts = [share * SHARES for share in shares]
    floors = [int(part) for part in parts]
    order = sorted(range(len(parts)), key=lambda k: (floors[k] - parts[k], k))
    for k in order[: SHARES - sum(floors)]:
        floors[k] += 1
    return tuple(floors) if min(floors) >= 1 and sum(floors) == SHARES else None
