"""Slow, exact answers for privacy-constrained people, in rational arithmetic and without a line of the package.

Every number is a Fraction, except that infinity is the float. The quasi-linear oracles are in oracles_quasilinear.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf

Number = Fraction | float

LAPLACE = Fraction(2)


@dataclass(frozen=True)
class Design:
    """What a planner decides, exactly."""

    cap: Number
    epsilons: list[Number]
    eta: Number
    weights: list[Fraction]
    variance: Fraction


def exact(number: float) -> Number:
    return inf if number == inf else Fraction(number)


def exact_all(numbers: Iterable[float]) -> list[Number]:
    return [exact(number) for number in numbers]


def span(bounds: tuple[float, float]) -> Fraction:
    return Fraction(bounds[1]) - Fraction(bounds[0])


def general_variance(
    epsilons: Sequence[Fraction], spread: Fraction, data_variance: Fraction, kappa=LAPLACE
) -> Fraction:
    """E5, the form that holds for any cap and any people."""
    total = sum(epsilons)
    return (data_variance * sum(e * e for e in epsilons) + kappa * spread**2) / total**2


def noiseless(tau: Sequence[Number], data_variance: Fraction) -> Design:
    """Equal weights on those without a limit, nothing from the others: the edge at which no noise is needed."""
    free = sum(t == inf for t in tau)
    weights = [Fraction(1, free) if isinf(t) else Fraction(0) for t in tau]
    return Design(inf, [t if isinf(t) else Fraction(0) for t in tau], inf, weights, data_variance / free)


def design_at_cap(tau: Sequence[Number], cap: Number, spread, data_variance, kappa=LAPLACE) -> Design:
    """E2-E4 at any cap, with the variance in its general form."""
    if cap == inf and any(isinf(t) for t in tau):
        return noiseless(tau, data_variance)
    epsilons = [min(t, cap) for t in tau]
    total = sum(epsilons)
    variance = general_variance(epsilons, spread, data_variance, kappa)
    return Design(cap, epsilons, total / spread, [e / total for e in epsilons], variance)


def cap_of(tau: Sequence[Number], spread: Fraction, data_variance: Fraction, kappa=LAPLACE) -> Number:
    """E1's root: with the k least limits below it x = (target + Q) / T, right once the next limit is not below it."""
    finite = sorted(t for t in tau if 0 < t < inf)
    if not finite or data_variance == 0:
        return inf
    target = kappa * spread**2 / data_variance
    total = squares = Fraction(0)
    for limit, following in zip(finite, [*finite[1:], inf], strict=True):
        total, squares = total + limit, squares + limit * limit
        root = (target + squares) / total
        if root <= following:
            return root
    raise AssertionError("the last piece is unbounded")


def optimum(limits: Iterable[float], bounds, data_variance, kappa=LAPLACE) -> Design | None:
    """The best design over weights and noise; None if every limit is zero."""
    tau, spread, variance = exact_all(limits), span(bounds), Fraction(data_variance)
    if not any(tau):
        return None
    return design_at_cap(tau, cap_of(tau, spread, variance, kappa), spread, variance, kappa)


def optimum_at_eta(limits: Iterable[float], eta: float, bounds, data_variance, kappa=LAPLACE) -> Design | None:
    """E8: fill everyone up to a common level; None if the limits do not add up to R eta."""
    tau, spread, variance = exact_all(limits), span(bounds), Fraction(data_variance)
    level = water_level(tau, spread * Fraction(eta))
    return None if level is None else design_at_cap(tau, level, spread, variance, kappa)


def water_level(tau: Sequence[Number], volume: Fraction) -> Fraction | None:
    """The least x with sum of min(tau_i, x) = volume."""
    rest = volume
    for place, limit in enumerate(sorted(tau)):
        people = len(tau) - place
        if limit * people >= rest:
            return rest / people
        rest -= limit
    return None


def kkt_residuals(design: Design, tau: Sequence[Number], spread, data_variance, kappa=LAPLACE) -> list[Fraction]:
    """Everything that must vanish if ``design`` solves the joint convex program in (w, 1/eta); no appeal to E1.

    With multipliers l_i = 2 sigma^2 (W - w_i)+ / R of w_i R <= tau_i u: stationarity in u, weights that add up,
    complementary slackness, and broken limits.
    """
    u = 1 / design.eta
    top = design.cap * u / spread
    multipliers = [2 * data_variance * max(top - w, 0) / spread for w in design.weights]
    limited = [(m, t) for m, t in zip(multipliers, tau, strict=True) if not isinf(t)]
    stationarity = 2 * kappa * u - sum(m * t for m, t in limited)
    slacks = [
        m * (t * u - w * spread) for m, t, w in zip(multipliers, tau, design.weights, strict=True) if m and not isinf(t)
    ]
    broken = [max(w * spread - t * u, 0) for w, t in zip(design.weights, tau, strict=True)]
    return [stationarity, 1 - sum(design.weights), *slacks, *broken]


@dataclass(frozen=True)
class Candidate:
    """One t of the paper's enumeration: its best total of epsilons E = R eta, and the variance claimed there."""

    pooled: int
    total: Number
    variance: Fraction


def tail_objective(pooled: int, tail, squares, total: Number, spread, data_variance, kappa=LAPLACE) -> Fraction:
    """The paper's h(eta) at E = R eta, for t = ``pooled`` people above the tail."""
    if isinf(total):
        return data_variance / pooled
    pool = data_variance / pooled * (1 - tail / total) ** 2 if pooled else Fraction(0)
    return pool + (data_variance * squares + kappa * spread**2) / total**2


def stationary_total(pooled: int, tail, squares, spread, data_variance, kappa=LAPLACE) -> Number:
    """Claim 7's closed form, times R; infinite where it divides by zero (nobody in the tail: h only falls)."""
    if tail == 0 or data_variance == 0:
        return inf
    return (tail**2 + pooled * squares + pooled * kappa * spread**2 / data_variance) / tail


def enumerate_t(limits: Iterable[float], bounds, data_variance, *, as_printed=False, kappa=LAPLACE) -> Candidate:
    """The paper's algorithm: for every t the best eta of its interval, then the best t.

    ``as_printed`` takes the interval of the paper, whose sums run over 1..t+1 where t+1..n is meant.
    """
    tau = sorted((t for t in exact_all(limits) if t > 0), reverse=True)
    spread, variance = span(bounds), Fraction(data_variance)
    candidates = []
    for pooled in range(len(tau) + 1):
        tail, squares = sum(tau[pooled:]), sum(t * t for t in tau[pooled:])
        if isinf(tail):
            continue
        low = sum(tau[: pooled + 1]) if as_printed else tail
        high = low + (pooled * tau[pooled - 1] if pooled else 0)
        best = stationary_total(pooled, tail, squares, spread, variance, kappa)
        total = min(max(best, low), high)
        claimed = tail_objective(pooled, tail, squares, total, spread, variance, kappa)
        candidates.append(Candidate(pooled, total, claimed))
    return min(candidates, key=lambda candidate: candidate.variance)


def tilt(weights: Sequence[Fraction]) -> Fraction:
    """Total variation between the weights and equal ones, over all people."""
    return sum(max(w - Fraction(1, len(weights)), 0) for w in weights)


def dial_breakpoints(tau: Sequence[Number]) -> list[Fraction]:
    """Caps at which a limit is passed by the cap, or by the mean promise: in between, E15's left side is linear."""
    finite = sorted({t for t in tau if t < inf})
    levels = [water_level(tau, len(tau) * t) for t in finite]
    return sorted({*finite, *(level for level in levels if level is not None)})


def dial_side(tau: Sequence[Number], cap: Fraction, gap: Fraction, data_variance: Fraction, *, after: bool) -> Fraction:
    """E15's left side at ``cap``, just before or just after the jump of L there."""
    epsilons = [min(t, cap) for t in tau]
    mean = sum(epsilons) / len(tau)
    spread_of_promises = sum(max(e - mean, 0) for e in epsilons)
    below = sum(t for t in tau if t < mean or (after and t == mean))
    finite = sum(t * max(cap - t, 0) for t in tau if t < inf)
    return data_variance * finite + gap**2 * spread_of_promises * below


def dial_cap(tau: Sequence[Number], gap, spread, data_variance, kappa=LAPLACE) -> Number:
    """E15's cap: the least x at which the left side reaches kappa R^2."""
    target = kappa * spread**2
    points = dial_breakpoints(tau)
    for low, high in zip(points, [*points[1:], points[-1] + 1] if points else [], strict=True):
        start = dial_side(tau, low, gap, data_variance, after=True)
        if start >= target:
            return low
        last = low == points[-1]  # beyond it nothing jumps any more, though the mean may stay on a limit for good
        end = dial_side(tau, high, gap, data_variance, after=last)
        if end > start and (end >= target or last):
            return low + (high - low) * (target - start) / (end - start)
    return inf


def dial(limits: Iterable[float], max_gap: float, bounds, data_variance, kappa=LAPLACE) -> Design | None:
    """The design with the least worst-case squared error when means may differ by ``max_gap``."""
    tau, spread, variance = exact_all(limits), span(bounds), Fraction(data_variance)
    if not any(tau):
        return None
    cap = dial_cap(tau, Fraction(max_gap), spread, variance, kappa)
    return design_at_cap(tau, cap, spread, variance, kappa)


def worst_case_mse(design: Design, max_gap: float) -> Fraction:
    return design.variance + (Fraction(max_gap) * tilt(design.weights)) ** 2
