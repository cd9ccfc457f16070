"""Populations to try: drawn so that ties, zeros, infinities and roots exactly on a breakpoint are common, not rare."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import inf, sqrt

import numpy as np
from hypothesis import strategies as st
from oracles import span

UNIT = (0.0, 1.0)


@dataclass(frozen=True)
class Population:
    """Limits, bounds, and a declared variance (None: the worst case)."""

    limits: list[float]
    bounds: tuple[float, float] = UNIT
    data_variance: float | None = None

    @property
    def exact_variance(self) -> Fraction:
        return span(self.bounds) ** 2 / 4 if self.data_variance is None else Fraction(self.data_variance)

    @property
    def terms(self) -> tuple[tuple[float, float], Fraction]:
        """What the oracles take after the limits."""
        return self.bounds, self.exact_variance

    @property
    def given(self) -> dict:
        """What ``optin.plan`` takes after the agents."""
        return {"bounds": self.bounds, "data_variance": self.data_variance}


@dataclass(frozen=True)
class Society:
    """Quasi-linear people with a linear benefit."""

    costs: list[float]
    base: float
    slope: float
    outside: float = 0.0
    bounds: tuple[float, float] = UNIT
    data_variance: float = 0.25

    @property
    def terms(self) -> tuple:
        return self.bounds, self.data_variance

    @property
    def given(self) -> dict:
        return {"bounds": self.bounds, "data_variance": self.data_variance}


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers spread evenly over magnitudes."""
    return st.floats(low, high, allow_nan=False).map(lambda power: 10.0**power)


def with_ties(levels: st.SearchStrategy[float], *, max_size: int) -> st.SearchStrategy[list[float]]:
    """Lists in which some levels are repeated and some are not."""

    def repeated(pool: list[float]) -> st.SearchStrategy[list[float]]:
        return st.lists(st.sampled_from(pool), min_size=1, max_size=max_size)

    return st.lists(levels, min_size=1, max_size=max(1, max_size // 2), unique=True).flatmap(
        lambda pool: st.one_of(repeated(pool), st.just(pool))
    )


def limit_lists(decades: float = 6, *, max_size: int = 24, edges: bool = True) -> st.SearchStrategy[list[float]]:
    """Limits between 10^-decades and 10^decades; with ``edges`` also 0 and infinity, but never all zero."""
    levels = [powers(-decades, decades), st.integers(1, 12).map(float)]
    if edges:
        levels += [st.just(0.0), st.just(inf)]
    return with_ties(st.one_of(levels), max_size=max_size).filter(any)


@st.composite
def any_bounds(draw) -> tuple[float, float]:
    low = draw(st.sampled_from([0.0, -1.0, 37.5]) | st.floats(-1e3, 1e3, allow_nan=False))
    high = low + draw(st.sampled_from([1.0, 2.0]) | powers(-2, 3))
    return (low, high)


def variances_within(bounds: tuple[float, float], *, zero: bool = True) -> st.SearchStrategy[float | None]:
    worst = (bounds[1] - bounds[0]) ** 2 / 4
    shares = st.sampled_from([1.0, 0.25, 2.0**-20]) | powers(-9, 0)
    some = [st.none(), shares.map(lambda share: worst * share)]
    return st.one_of(*some, st.just(0.0)) if zero else st.one_of(*some)


@st.composite
def populations(draw, decades: float = 6, *, max_size: int = 24, edges: bool = True) -> Population:
    bounds = draw(any_bounds())
    limits = draw(limit_lists(decades, max_size=max_size, edges=edges))
    return Population(limits, bounds, draw(variances_within(bounds, zero=edges)))


def whole_roots() -> list[tuple[tuple[int, ...], int, int]]:
    """Tails of small whole limits whose cap is whole too: sum of a (x - a) = 8 * 4^j, with x above them all."""
    found = []
    for size in (1, 2, 3, 4):
        for tail in combinations_with_replacement(range(1, 13), size):
            for j in (0, 1, 2):
                x, rest = divmod(8 * 4**j + sum(a * a for a in tail), sum(tail))
                if rest == 0 and x > tail[-1]:
                    found.append((tail, x, j))
    return found


WHOLE_ROOTS = whole_roots()


@st.composite
def populations_on_a_breakpoint(draw) -> tuple[Population, float]:
    """People of whom at least one has exactly the cap as limit, with that cap; every number is exact in binary."""
    tail, cap, j = draw(st.sampled_from(WHOLE_ROOTS))
    at = draw(st.integers(1, 3))
    above = draw(st.lists(st.sampled_from([cap + 1, 2 * cap, inf]), max_size=3))
    limits = draw(st.permutations([*tail, *[cap] * at, *above]))
    spread = 2.0 ** draw(st.integers(-3, 3))
    population = Population([float(limit) for limit in limits], (0.0, spread), spread**2 / 4 / 4**j)
    return population, float(cap)


def cost_lists(*, zeros: bool = False, max_size: int = 10) -> st.SearchStrategy[list[float]]:
    levels = [powers(-2, 2), st.sampled_from([1.0, 0.25, 2.0**-7])]
    if zeros:
        levels.append(st.just(0.0))
    return with_ties(st.one_of(levels), max_size=max_size)


def offer(costs, ratio: float, spread: float, data_variance: float) -> tuple[float, float]:
    """V(y) and B(y) of E10, in floats."""
    inverses = [1 / c if c else inf for c in costs]
    total = sum(min(i, ratio) for i in inverses)
    needed = sum(i * max(ratio - i, 0.0) for i in inverses if i < inf)
    return data_variance * ratio / total, spread * sqrt(2 / (data_variance * needed))


@st.composite
def societies(draw, *, zeros: bool = True, outside: bool = True) -> Society:
    """A benefit line through, just above or just below a point of the offer curve, so feasibility is in question."""
    costs = draw(cost_lists(zeros=zeros).filter(any))
    bounds = draw(st.sampled_from([UNIT, (-3.0, 5.0), (10.0, 10.5)]))
    spread = bounds[1] - bounds[0]
    data_variance = spread**2 / 4 * draw(st.sampled_from([1.0, 0.5, 2.0**-12]))
    inverses = [1 / c for c in costs if c]
    share = draw(st.floats(0.01, 1))
    ratio = min(inverses) * (20 * max(inverses) / min(inverses)) ** share
    variance, surplus = offer(costs, ratio, spread, data_variance)
    slope = draw(st.just(0.0) | powers(-1.5, 2.5)) * surplus / variance
    factor = draw(st.sampled_from([1.0, 1 + 2.0**-30, 1 - 2.0**-30, 1.01, 0.99, 2.0, 0.5]))
    option = draw(st.sampled_from([0.0, 1.0, -0.5])) * surplus if outside else 0.0
    return Society(costs, (surplus + slope * variance) * factor + option, slope, option, bounds, data_variance)


def relative_error(got: float, want) -> float:
    """How far a float is from an exact number, relative to it; 0 for equal infinities and equal zeros."""
    if want == got:
        return 0.0
    if want in (0, inf) or got in (inf, -inf) or got != got:
        return inf
    return float(abs((Fraction(float(got)) - want) / want))


def worst_error(got, want) -> float:
    return max((relative_error(g, w) for g, w in zip(np.asarray(got).tolist(), want, strict=True)), default=0.0)
