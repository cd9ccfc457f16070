"""Slow answers for quasi-linear people: exact cubics for a linear benefit, and plain climbing for any other.

The cubics are decided by Sturm chains over the rationals, so that even a tangency is seen for what it is; climbing
uses only that the best variance is a non-decreasing function of the variance people expect (E9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, isinf, isqrt, sqrt

from oracles import LAPLACE, Number, span

Polynomial = list[Fraction]  # lowest power first, no zero at the end

DIGITS = 80  # bits to which roots are pinned down
TINIEST = Fraction(1, 2**300)  # a root at zero has no relative precision


def trimmed(p: Polynomial) -> Polynomial:
    while p and p[-1] == 0:
        p = p[:-1]
    return p


def value(p: Polynomial, x: Fraction) -> Fraction:
    result = Fraction(0)
    for coefficient in reversed(p):
        result = result * x + coefficient
    return result


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    result = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return trimmed(result)


def minus(p: Polynomial, q: Polynomial) -> Polynomial:
    size = max(len(p), len(q))
    padded = [[*r, *[Fraction(0)] * (size - len(r))] for r in (p, q)]
    return trimmed([a - b for a, b in zip(*padded, strict=True)])


def divided(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    quotient = [Fraction(0)] * max(len(p) - len(q) + 1, 1)
    while len(p) >= len(q):
        shift, factor = len(p) - len(q), p[-1] / q[-1]
        quotient[shift] = factor
        p = trimmed(minus(p, [*[Fraction(0)] * shift, *(factor * c for c in q)])[: len(p) - 1])
    return trimmed(quotient), p


def derivative(p: Polynomial) -> Polynomial:
    return [power * c for power, c in enumerate(p)][1:]


def sturm_chain(p: Polynomial) -> list[Polynomial]:
    """Sturm's chain of the square-free part, so that touching roots count once."""
    a, b = p, derivative(p)
    while b:
        a, b = b, divided(a, b)[1]
    p = divided(p, a)[0]
    chain = [p, derivative(p)]
    while chain[-1]:
        chain.append([-c for c in divided(chain[-2], chain[-1])[1]])
    return chain[:-1]


def variations(chain: list[Polynomial], x: Fraction) -> int:
    signs = [v > 0 for v in (value(p, x) for p in chain) if v != 0]
    return sum(a != b for a, b in pairwise(signs))


def root_bound(p: Polynomial) -> Fraction:
    return 1 + max((abs(c / p[-1]) for c in p[:-1]), default=Fraction(0))


def least_root(p: Polynomial, low: Fraction, high: Number) -> Fraction | None:
    """The least root of ``p`` in [low, high], to 80 bits; exactly decided whether there is one."""
    p = trimmed(p)
    if len(p) < 2:
        return None
    if value(p, low) == 0:
        return low
    chain = sturm_chain(p)
    high = max(root_bound(p), low) if isinf(high) else high
    before = variations(chain, low)
    left = before - variations(chain, high) if high > low else 0
    if left == 0:
        return None
    while left > 1:  # roots of the square-free part are apart, so halving ends
        middle = (low + high) / 2
        inside = before - variations(chain, middle)
        low, high, left = (low, middle, inside) if inside else (middle, high, left)
    return sign_change(chain[0], low, high)


def sign_change(p: Polynomial, low: Fraction, high: Fraction) -> Fraction:
    """The only root of ``p`` in (low, high], where it is simple."""
    below = value(p, low) < 0
    if value(p, high) == 0:
        return high
    while high - low > max(max(abs(low), abs(high)) / 2**DIGITS, TINIEST):
        middle = (low + high) / 2
        low, high = (middle, high) if (value(p, middle) < 0) == below else (low, middle)
    return high


def root_of_square(q: Fraction) -> Fraction:
    """The square root to 80 bits."""
    scale = max(DIGITS - (q.numerator.bit_length() - q.denominator.bit_length()) // 2, 1)
    return Fraction(isqrt(q.numerator * 4**scale // q.denominator), 2**scale)


@dataclass(frozen=True)
class LinearDesign:
    """The optimum of the quasi-linear program with benefit base - slope V, to 80 bits."""

    ratio: Number  # y = x / B of E10
    surplus: Fraction
    cap: Number
    eta: Number
    weights: list[Fraction]
    variance: Fraction


def surplus_polynomial(pooled, tail, squares, room, slope, spread, data_variance, kappa) -> Polynomial:
    """E10's cubic: positive where the surplus at y exceeds what the noise needs."""
    people = [tail, Fraction(pooled)]  # T(y) = t0 + k y
    net = minus([room * c for c in people], [Fraction(0), slope * data_variance])
    left = times(times(net, net), [-data_variance * squares, data_variance * tail])
    return minus(left, [kappa * spread**2 * c for c in times(people, people)])


def furthest_ratio(pooled, tail, room, slope, data_variance) -> Number:
    """Where the surplus falls to zero; infinite if it never does on this piece."""
    steepness = slope * data_variance - room * pooled
    return room * tail / steepness if steepness > 0 else inf


def linear_design(inverses: Sequence[Number], ratio: Fraction, spread, data_variance, kappa) -> LinearDesign:
    shares = [min(ratio, i) for i in inverses]
    total = sum(shares)
    needed = sum(i * max(ratio - i, 0) for i in inverses if i < inf)
    surplus = spread * root_of_square(kappa / (data_variance * needed))
    weights = [s / total for s in shares]
    variance = data_variance * ratio / total
    return LinearDesign(ratio, surplus, ratio * surplus, total * surplus / spread, weights, variance)


def linear_optimum(
    costs: Sequence[float], base: float, slope: float, bounds, data_variance, *, outside=0.0, kappa=LAPLACE
) -> LinearDesign | None:
    """The least y with base - slope V(y) - o >= B(y), over all pieces from the left; None if there is none.

    Arguments may be Fractions, which tests use to move an instance by less than a float can say.
    """
    inverses = [1 / Fraction(c) if c else inf for c in costs]
    room, slope, variance = Fraction(base) - Fraction(outside), Fraction(slope), Fraction(data_variance)
    spread = span(bounds)
    if variance == 0:
        return linear_without_variance(inverses, room, slope, spread, kappa)
    points = sorted(i for i in inverses if i < inf)
    tail = squares = Fraction(0)
    for below, (low, high) in enumerate(zip(points, [*points[1:], inf], strict=True), start=1):
        tail, squares = tail + low, squares + low * low
        pooled = len(inverses) - below
        p = surplus_polynomial(pooled, tail, squares, room, slope, spread, variance, kappa)
        reach = min(high, furthest_ratio(pooled, tail, room, slope, variance))
        if room <= 0 or low > reach:
            continue
        if value(p, low) >= 0:
            return linear_design(inverses, low, spread, variance, kappa)
        root = least_root(p, low, reach)
        if root is not None:
            return linear_design(inverses, root, spread, variance, kappa)
    free = len(inverses) - len(points)
    if free and room - slope * variance / free >= 0:
        weights = [Fraction(1, free) if isinf(i) else Fraction(0) for i in inverses]
        return LinearDesign(inf, room - slope * variance / free, inf, inf, weights, variance / free)
    return None


def linear_without_variance(inverses, room, slope, spread, kappa) -> LinearDesign | None:
    """At sigma = 0 nobody is pooled: V (room - slope V)^2 (sum 1/c)^2 = kappa R^2, the least root."""
    free = sum(isinf(i) for i in inverses)
    if free:
        weights = [Fraction(1, free) if isinf(i) else Fraction(0) for i in inverses]
        return LinearDesign(inf, room, inf, inf, weights, Fraction(0)) if room >= 0 else None
    total = sum(inverses)
    net = [room, -slope]
    p = minus(times([Fraction(0), total**2], times(net, net)), [kappa * spread**2])
    root = least_root(p, Fraction(0), room / slope if slope else inf) if room > 0 else None
    if root is None:
        return None
    surplus = room - slope * root
    return LinearDesign(inf, surplus, inf, total * surplus / spread, [i / total for i in inverses], root)


def linear_optimum_at_eta(
    costs: Sequence[float], eta: float, base: float, slope: float, bounds, data_variance, *, outside=0.0, kappa=LAPLACE
) -> LinearDesign | None:
    """Theorem 1 for a linear benefit: the largest K with R eta K <= base - slope V(K) - o, over pieces from the right.

    V(K) is the best variance with weights at most K / c_i. It falls in K, so the largest K is the least variance.
    """
    inverses = sorted(1 / Fraction(c) if c else inf for c in costs)
    room, slope, variance = Fraction(base) - Fraction(outside), Fraction(slope), Fraction(data_variance)
    total = span(bounds) * Fraction(eta)
    noise = kappa / Fraction(eta) ** 2
    high: Number = inf
    for below in range(len(inverses) + 1):  # from everyone pooled (K large) to nobody
        tail, squares, pooled = inverses[:below], [i * i for i in inverses[:below]], len(inverses) - below
        low = 1 / (sum(tail) + pooled * inverses[below]) if pooled else 1 / sum(tail) if tail[-1] < inf else Fraction(0)
        low = Fraction(0) if isinf(low) or low == 0 else low
        if pooled:
            left = [Fraction(1), -sum(tail)]
            spent = [variance / pooled * c for c in times(left, left)]
        else:
            spent = [Fraction(0)]
        spent = minus(spent, [Fraction(0), Fraction(0), -variance * sum(squares)])
        gain = minus([room - slope * noise, -total], [slope * c for c in spent])
        found = largest_nonnegative(gain, low, high)
        if found is not None:
            top = (1 - found * sum(tail)) / pooled if pooled else found * inverses[-1]
            weights = [min(top, found / Fraction(c)) if c else top for c in costs]
            achieved = variance * sum(w * w for w in weights) + noise
            ratio = top / found if found else inf
            return LinearDesign(ratio, found * total, top * total, Fraction(eta), weights, achieved)
        high = low
        if low == 0 or not pooled:
            return None
    return None


def largest_nonnegative(p: Polynomial, low: Fraction, high: Number) -> Fraction | None:
    """The largest x in [low, high] with p(x) >= 0, for a concave p that is negative far out."""
    if not isinf(high) and value(p, high) >= 0:
        return high
    bound = max(root_bound(trimmed(p)), low) + 1 if isinf(high) else high
    mirrored = [c * (-1) ** power for power, c in enumerate(p)]
    root = least_root(mirrored, -bound, -low)
    if root is not None:
        return -root
    return None


def best_variance(tau: Sequence[float], spread: float, data_variance: float, kappa: float = 2.0) -> float:
    """E1 and E5 in floats, a few people at a time."""
    positive = sorted(t for t in tau if t > 0)
    if not positive:
        return inf
    finite = [t for t in positive if t < inf]
    if not finite or (data_variance == 0 and len(finite) < len(positive)):
        return data_variance / (len(positive) - len(finite))
    if data_variance == 0:
        return kappa * spread**2 / sum(finite) ** 2
    target, total, squares = kappa * spread**2 / data_variance, 0.0, 0.0
    cap = inf
    for limit, following in zip(finite, [*finite[1:], inf], strict=True):
        total, squares = total + limit, squares + limit * limit
        cap = (target + squares) / total
        if cap <= following:
            break
    return data_variance * cap / sum(min(t, cap) for t in positive)


def best_variance_at_eta(tau: Sequence[float], eta: float, spread: float, data_variance: float, kappa=2.0) -> float:
    """E8 in floats; infinite if the limits do not add up to R eta."""
    rest, spent = 1.0, 0.0
    caps = sorted(t / (spread * eta) for t in tau)
    for place, cap in enumerate(caps):
        people = len(caps) - place
        if cap * people >= rest:
            return data_variance * (spent + rest * rest / people) + kappa / eta**2
        rest, spent = rest - cap, spent + cap * cap
    return inf


def least_fixed_point(step: Callable[[float], float], start: float, ceiling: float = 1e12) -> float | None:
    """Climb V -> step(V) from below; the first V that needs no more is the least fixed point (E9)."""
    variance = start
    for _ in range(400_000):
        following = step(variance)
        if following <= variance:
            return variance
        if following > ceiling:
            return None
        variance = following
    raise AssertionError("still climbing: too close to a tangency for this oracle")


def tolerances(surplus: float, costs: Sequence[float]) -> list[float]:
    """tau_i(V) of E9 for a common surplus: what each person bears."""
    return [surplus / c if c else (inf if surplus >= 0 else 0.0) for c in costs] if surplus >= 0 else [0.0] * len(costs)


def climb(
    costs: Sequence[float],
    benefit: Callable[[float], float],
    bounds,
    data_variance: float,
    *,
    outside: float = 0.0,
    eta: float | None = None,
    slack: float = 0.0,
) -> float | None:
    """The least fixed point for any common benefit: the promised variance, or None."""
    spread, people = bounds[1] - bounds[0], len(costs)

    def step(variance: float) -> float:
        tau = tolerances(benefit(variance) - outside, costs)
        if eta is not None:
            return best_variance_at_eta(tau, eta, spread, data_variance)
        return (1 + slack) * best_variance(tau, spread, data_variance)

    start = (1 + slack) * data_variance / people + (2 / eta**2 if eta else 0.0)
    return least_fixed_point(step, start)


def climb_each(costs, benefits, outsides, bounds, data_variance: float) -> float | None:
    """The least fixed point when everyone has a benefit and an outside option of their own."""
    spread = bounds[1] - bounds[0]

    def step(variance: float) -> float:
        tau = [tolerances(f(variance) - o, [c])[0] for c, f, o in zip(costs, benefits, outsides, strict=True)]
        return best_variance(tau, spread, data_variance)

    return least_fixed_point(step, data_variance / len(costs))


def critical_outside(costs, benefit, bounds, data_variance: float, copies: int = 1) -> tuple[float, float]:
    """The largest outside option at which any benefit is feasible, and the surplus there, by a dense scan over y.

    It is the maximum over y of f(V(y)) - B(y); around the best point of a fine grid the grid is refined to 1e-9.
    """
    spread = bounds[1] - bounds[0]
    inverses = sorted(1 / c for c in costs)

    def gain(y: float) -> float:
        total = copies * sum(min(y, i) for i in inverses)
        needed = copies * sum(i * max(y - i, 0) for i in inverses)
        return benefit(data_variance * y / total) - spread * sqrt(2 / (data_variance * needed))

    low, high = inverses[0] * (1 + 1e-9), inverses[-1] * 1e4
    best = low
    for _ in range(6):
        grid = [low * (high / low) ** (k / 2000) for k in range(2001)]
        best = max(grid, key=gain)
        place = grid.index(best)
        low, high = grid[max(place - 2, 0)], grid[min(place + 2, 2000)]
    total = copies * sum(min(best, i) for i in inverses)
    outside = gain(best)
    return outside, benefit(data_variance * best / total) - outside
