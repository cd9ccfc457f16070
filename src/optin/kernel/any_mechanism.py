"""E30: what no private mechanism at all can beat, whatever its kind, biased or not.

People's values lie in [0, 1] with a variance of at most ``spread``. Think of three-point values: 1/2 + width/2 and
1/2 - width/2 with chances q/2 + x/width and q/2 - x/width, else 1/2, where q = 4 spread / width^2: the mean is 1/2 + x and
the variance at most ``spread``. Give x a prior on finitely many points, tell the analyst the values of some people
outright, and keep the rest private. By their limits the likelihood of *any* output, as a function of x, rises and falls no
faster than known slopes, so that no posterior can be narrower than one that climbs to a peak and falls from it at full
slope. Averaged over the revealed values that bounds the expected squared error of every estimator, hence the worst case.
A second way bounds the information that an output can carry about x: noise and the luck of who was asked both take theirs.
Any prior, width and choice of people gives a valid bound; `least_error` takes the best it tries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from optin.kernel.pieces import Array, Outline

REVEALED = 300
"""How many revealed answers are counted outcome by outcome; where there are more, information alone bounds the error."""
OPEN = 300.0
"""A limit so high that whoever has it is revealed."""
POINTS = 65
FINE = 256
PER_DOUBLING = 64
SHAPES = (0.0, 1.0, 2.0)
"""Exponents of the priors (1 - (x/b)^2)^s."""
EDGE = 0.85
WIDTHS = 3
SUMMED = 1e-5
"""More than a sum over `FINE` points differs from the mean of information over the prior, relatively: taken off the bound."""
SPREADS = (1.0, 1.5, 2.2, 3.3, 5.0, 10.0, 40.0)


@dataclass(frozen=True)
class CountedLimits:
    """Limits, rising and never rounded down, with how many people have each; without end for those who set none."""

    limits: Array
    counts: Array

    @property
    def people(self) -> float:
        """How many people there are."""
        return float(self.counts.sum())

    def split(self, at: int) -> tuple[CountedLimits, int]:
        """Keep the people below a limit private, and count the others, whose values are revealed."""
        return CountedLimits(self.limits[:at], self.counts[:at]), round(float(self.counts[at:].sum()))

    @property
    def gains(self) -> Array:
        """Return e^limit - 1 for each limit."""
        with np.errstate(over="ignore"):
            return np.expm1(self.limits)


def counted_limits(outline: Outline, *, zeros: int, infinite: int, scale: float = 1.0) -> CountedLimits:
    """Round limits up to the top of their bucket, or to what its sums allow at most (Samuelson), whichever is lower.

    >>> outline = Outline(np.array([1.1, 2.2]), np.array([1.0, 3.0]), np.array([1.0, 5.0]), np.array([1.0, 9.0]), exact=True)
    >>> counted_limits(outline, zeros=0, infinite=0).limits.round(9)
    array([1., 2.])
    """
    counts = np.diff(outline.counts, prepend=float(zeros))
    some = counts > 0
    counts = counts[some]
    means = np.diff(outline.totals, prepend=0.0)[some] / counts
    squares = np.diff(outline.squares, prepend=0.0)[some] / counts
    above = np.sqrt(np.maximum(squares - means * means, 0.0) * (counts - 1.0))
    tops = np.minimum(outline.edges[some], (means + above) * (1.0 + 1e-9)) / scale
    ends, many = [math.inf] * bool(infinite), [float(infinite)] * bool(infinite)
    return _fewer(CountedLimits(np.append(tops, ends), np.append(counts, many)))


def _fewer(counted: CountedLimits) -> CountedLimits:
    """Join neighbours that differ by a hundredth or less, at the higher limit of each."""
    keys = np.ceil(np.log2(counted.limits) * PER_DOUBLING)
    last = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) if len(keys) else np.empty(0, dtype=np.intp)
    return CountedLimits(counted.limits[last], np.diff(np.cumsum(counted.counts)[last], prepend=0.0))


@dataclass(frozen=True)
class Family:
    """Three-point values of this width and this chance q not to be in the middle."""

    width: float
    q: float

    @property
    def farthest(self) -> float:
        """How far the mean can lie from 1/2."""
        return self.width * self.q / 2.0

    def heights(self, people: CountedLimits, x: Array) -> Array:
        """Return F(x) = sum log(1 + (q/2 + x/width) (e^limit - 1)), whose slope bounds how fast a likelihood rises."""
        chances = np.maximum(self.q / 2.0 + x / self.width, 0.0)
        return np.asarray(np.log1p(np.multiply.outer(chances, people.gains)) @ people.counts)

    def slope(self, people: CountedLimits, x: Array) -> Array:
        """Return F'(x) of each limit, for one person: k / (1 + (q/2 + x/width) k) / width, k = e^limit - 1."""
        chances = np.maximum(self.q / 2.0 + x / self.width, 0.0)
        return np.asarray(1.0 / np.add.outer(chances, 1.0 / people.gains) / self.width)

    def information(self, x: Array) -> Array:
        """Return the Fisher information of one value about the mean."""
        chance = x / self.width
        return np.asarray(self.q / (self.q * self.q / 4.0 - chance * chance) / self.width**2)


@dataclass(frozen=True)
class Prior:
    """Finitely many means, as distances from 1/2, with the chance of each; ``edge`` marks those near either end."""

    x: Array
    chances: Array

    @property
    def edge(self) -> Array:
        """Mark the outer points of a prior that has inner ones."""
        return (np.abs(self.x) > EDGE * self.x[-1]).astype(float) if len(self.x) > 2 else np.zeros(len(self.x))


def priors_on(x: Array) -> list[Prior]:
    """Spread chances over evenly spaced points as (1 - (x/b)^2)^shape, for a few shapes; two points are alike."""
    if len(x) == 2:
        return [Prior(x, np.array([0.5, 0.5]))]
    heights = [(1.0 - (x / x[-1]) ** 2 * (1.0 - 1.0 / POINTS)) ** shape for shape in SHAPES]
    return [Prior(x, height / height.sum()) for height in heights]


def least_error(people: CountedLimits, *, spread: float) -> float:
    """Bound the worst-case mean squared error of every private estimator from below, in units of the squared range (E30).

    >>> least_error(CountedLimits(np.array([1.0]), np.array([1000.0])), spread=0.25) > 0.9 * 0.25 / 1000
    True
    >>> least_error(CountedLimits(np.array([0.01]), np.array([1.0])), spread=0.25) > 0.2499
    True
    """
    people = CountedLimits(people.limits[people.limits > 0], people.counts[people.limits > 0])
    ends = max(0.25 * _between_two(float(people.limits @ people.counts)), _by_a_world_between(people))
    if spread <= 0.0 or len(people.limits) == 0:
        return ends
    widths = np.unique(np.geomspace(min(2.0 * math.sqrt(spread), 1.0), 1.0, WIDTHS).round(12))
    families = [Family(float(width), min(4.0 * spread / float(width) ** 2, 1.0)) for width in widths]
    return max([ends, *(bound for family in families for bound in _bounds(people, family))])


def _between_two(loss: float) -> float:
    """Return 1 / cosh^2(loss / 2): what the best guess between two equally likely worlds leaves of its variance."""
    return 1.0 / math.cosh(loss / 2.0) ** 2 if loss < OPEN else 0.0


def _by_a_world_between(people: CountedLimits) -> float:
    """Bound the error between everyone at one bound and everyone at the other by a world with half of them at each.

    What is answered there is answered at either end too, as often as the limits of one half allow: with sums a and b of
    these limits the error is at least 1 / (e^(a/2) + e^(b/2))^2. People are halved so that a and b are nearly alike.
    """
    loss = float(people.limits @ people.counts)
    if not loss < OPEN:
        return 0.0
    apart = 0.0
    for limit, count in zip(people.limits[::-1].tolist(), people.counts[::-1].tolist(), strict=True):
        lighter = min(count, apart // limit)
        apart = abs(apart - lighter * limit - (count - lighter) % 2 * limit)
    return (0.5 * math.exp(-loss / 4.0) / math.cosh(apart / 4.0)) ** 2


def _bounds(people: CountedLimits, family: Family) -> Iterator[float]:
    """Try revealing nobody, everybody, and those above some limits between."""
    first_open = int(np.searchsorted(people.limits, OPEN))
    middle = np.linspace(0, first_open, 7).round().astype(int)
    yield by_information(people, family)
    for at in sorted({*middle.tolist(), first_open}):
        private, revealed = people.split(at)
        if revealed * family.q <= REVEALED:
            yield from _by_posteriors(private, revealed, family)


def _by_posteriors(private: CountedLimits, revealed: int, family: Family) -> Iterator[float]:
    """Try priors around the size of the error to expect, as wide as the family allows."""
    slope = float(family.slope(private, np.array([0.0]))[0] @ private.counts)
    scale = 1.0 / (slope / math.sqrt(2.0) + math.sqrt(revealed * float(family.information(np.array([0.0]))[0])))
    for half in sorted({min(scale * times, family.farthest) for times in SPREADS}):
        for points in (2, POINTS):
            x = np.linspace(-half, half, points)
            peaks, answers = _peaks(private, family, x), _answers(revealed, family, x)
            yield from (by_posteriors(prior, peaks, answers) for prior in priors_on(x))


def by_posteriors(prior: Prior, peaks: Array, answers: Array) -> float:
    """Bound the Bayes risk: the least variance that a posterior can have, averaged over what revealed people answer.

    A posterior at an end of the prior has nowhere to go and is narrow, so a price for weight near the ends is added to
    each and taken off the average again, where it is known: posteriors average to the prior.
    """
    weights = answers * prior.chances
    shares = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mass = weights @ peaks.T
        means = weights @ (peaks * prior.x).T / mass
        variances = weights @ (peaks * prior.x**2).T / mass - means * means
        at_edge = weights @ (peaks * prior.edge).T / mass
    variances = np.where(mass > 0.0, np.maximum(variances, 0.0), 0.0)
    plain = float(shares @ variances.min(axis=1))
    price = float(shares @ variances[:, variances.shape[1] // 2])
    priced = np.minimum((variances + price * np.where(mass > 0.0, at_edge, 0.0)).min(axis=1), price)
    return max(plain, float(shares @ priced) - price * float(prior.chances @ prior.edge))


def _peaks(private: CountedLimits, family: Family, x: Array) -> Array:
    """Return for each point the likelihood that climbs to it and falls from it as fast as limits allow."""
    if len(private.limits) == 0:
        return np.ones((1, len(x)))
    rising, falling = family.heights(private, x), family.heights(private, -x)
    left = np.subtract.outer(-rising, -rising)
    right = np.subtract.outer(-falling, -falling)
    places = np.arange(len(x))
    return np.exp(np.minimum(np.where(np.less_equal.outer(places, places).T, left, right), 0.0))


def _answers(revealed: int, family: Family, x: Array) -> Array:
    """Return the chance of each answer of the revealed at each point: how many are not in the middle, and how many above it.

    The first number does not depend on the mean. It is rounded up to one of a few: more answers never hurt an estimator.
    """
    if revealed == 0:
        return np.ones((1, len(x)))
    chance = np.clip(0.5 + x / (family.width * family.q), 0.0, 1.0)
    tables = [part * _binomial(size, chance) for size, part in _layers(revealed, family.q)]
    return np.concatenate(tables)


def _layers(revealed: int, q: float) -> list[tuple[int, float]]:
    """Cut the binomial number of answers into a few layers, each taken at its largest number."""
    if q >= 1.0:
        return [(revealed, 1.0)]
    chances = _binomial(revealed, np.array([q]))[:, 0]
    running = np.cumsum(chances)
    ends = np.unique(np.searchsorted(running, (0.2, 0.5, 0.8, 0.97, 0.9999)).clip(0, revealed))
    parts = np.diff(running[ends], prepend=0.0)
    return [(int(end), float(part)) for end, part in zip(ends, parts, strict=True)]


def _binomial(size: int, chance: Array) -> Array:
    """Return a row of chances for each number of successes."""
    many = np.arange(size + 1.0)
    logs = np.concatenate(([0.0], np.cumsum(np.log((size - many[:-1]) / (many[:-1] + 1.0)))))
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(many[:, None] > 0, many[:, None] * np.log(chance), 0.0)
        misses = np.where(many[:, None] < size, (size - many[:, None]) * np.log1p(-chance), 0.0)
    return np.asarray(np.exp(logs[:, None] + hits + misses))


def by_information(people: CountedLimits, family: Family) -> float:
    """Bound the Bayes risk under a cosine prior by van Trees' inequality: 1 / (mean information + pi^2 / half^2)."""
    evenly = (np.arange(FINE) + 0.5) / FINE * 2.0 - 1.0
    chances = np.cos(evenly * math.pi / 2.0) ** 2
    best = 0.0
    for half in family.farthest * np.geomspace(0.004, 1.0, 12):
        mean = float(chances @ most_information(people, family, half * evenly)) / float(chances.sum())
        best = max(best, 1.0 / (mean + (math.pi / float(half)) ** 2))
    return best * (1.0 - SUMMED)


def most_information(people: CountedLimits, family: Family, x: Array) -> Array:
    """Bound the Fisher information about the mean that any private output carries, at each x.

    The score of the output is the mean, given it, of a sum over people: of the score of their value, or of what the output
    and everyone else's values tell of it, or of any mixture of the two. The first is as large as a value's information, the
    second as limits allow, and both kinds are uncorrelated between people. With parts ``a`` held back by limits,
    (sum a rising) (sum a falling) + sum (1 - a)^2 information + 2 sum a (1 - a) min(rising falling, information).

    >>> alike = CountedLimits(np.array([0.1]), np.array([1000.0]))
    >>> bool(most_information(alike, Family(1.0, 1.0), np.zeros(1))[0] < 1 / (0.25 / 1000 + 0.99 / 100**2))
    True
    """
    rising, falling, information = family.slope(people, x), family.slope(people, -x), family.information(x)
    square = np.minimum(rising * falling, information[:, None])
    held = _held_back(np.sqrt(square), people.counts, information)
    shared = ((held * rising) @ people.counts) * ((held * falling) @ people.counts)
    free = (1.0 - held) ** 2 * information[:, None] + 2.0 * held * (1.0 - held) * square
    return np.asarray(shared + free @ people.counts)


def _held_back(slopes: Array, counts: Array, information: Array) -> Array:
    """Choose the parts a that minimise (sum a slope)^2 + sum (1 - a)^2 whole: E1 from its other side.

    They are max(1 - level slope / whole, 0), where the level solves level = sum a slope; as slopes rise, it is the largest
    of what the first few people alone would give. Any parts between 0 and 1 give a valid bound.
    """
    totals, squares = np.cumsum(slopes * counts, axis=1), np.cumsum(slopes * slopes * counts, axis=1)
    balance = (totals / (1.0 + squares / information[:, None])).max(axis=1)
    return np.asarray(np.maximum(1.0 - balance[:, None] * slopes / information[:, None], 0.0))
