"""How often an interval holds, computed and not sampled: values on a lattice, weights in whole numbers, Laplace noise."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft, stats


@dataclass(frozen=True)
class Law:
    """Values k / (levels - 1) of the range, with these chances."""

    name: str
    chances: np.ndarray

    @property
    def values(self):
        return np.linspace(0.0, 1.0, len(self.chances)) if len(self.chances) > 1 else np.zeros(1)

    @property
    def mean(self):
        return float(self.chances @ self.values)

    @property
    def variance(self):
        return float(self.chances @ (self.values - self.mean) ** 2)


def coin(p):
    return Law(f"0/1, p = {p:g}", np.array([1 - p, p]))


def two_point(p, low=40, high=70, levels=101):
    chances = np.zeros(levels)
    chances[[low, high]] = 1 - p, p
    return Law(f"two points, p = {p:g}", chances)


def uniform(levels=101):
    return Law("uniform", np.full(levels, 1 / levels))


def gamma(shape, mean, levels=101):
    """A gamma law clamped to the range and rounded to the lattice."""
    edges = (np.arange(levels - 1) + 0.5) / (levels - 1)
    below = np.r_[0.0, stats.gamma(shape, scale=mean / shape).cdf(edges), 1.0]
    return Law(f"gamma, shape {shape:g}, mean {mean:g}", np.diff(below))


def ties(heavy, levels=11):
    """Nearly everyone gives the same answer in the lower part, a few anything."""
    chances = np.full(levels, (1 - heavy) / levels)
    chances[2] += heavy
    return Law(f"heavy ties, {heavy:g}", chances)


@dataclass(frozen=True)
class Crowd:
    """So many people of each whole weight."""

    people: tuple[int, ...]
    weights: tuple[int, ...] = (1,)

    @property
    def total(self):
        return sum(n * w for n, w in zip(self.people, self.weights, strict=True))

    @property
    def squares(self):
        return sum(n * w * w for n, w in zip(self.people, self.weights, strict=True)) / self.total**2

    @property
    def heaviest(self):
        return max(self.weights) / self.total


def equal(people):
    return Crowd((people,))


def distribution(law, crowd):
    """The chances of every weighted sum of steps, by powers of a Fourier transform."""
    steps = len(law.chances) - 1
    size = fft.next_fast_len(crowd.total * steps + 1, real=True)
    transform = np.ones(size // 2 + 1, dtype=complex)
    for people, weight in zip(crowd.people, crowd.weights, strict=True):
        stretched = np.zeros(steps * weight + 1)
        stretched[::weight] = law.chances
        transform *= fft.rfft(stretched, size) ** people
    chances = np.clip(fft.irfft(transform, size)[: crowd.total * steps + 1], 0.0, None)
    means = np.arange(len(chances)) / (crowd.total * steps)
    kept = chances > 1e-15
    return means[kept] - law.mean, chances[kept]


def coverage(distances, chances, half, *, scale):
    """The chance that |weighted mean - mean + Laplace noise| is at most half."""
    if scale == 0.0:
        return float(chances @ (np.abs(distances) <= half + 1e-12))
    noise = stats.laplace(scale=scale)
    return float(chances @ (noise.cdf(half - distances) - noise.cdf(-half - distances)))


def missing(law, crowd, *, levels, noises, half_width, allowed=0.01):
    """List (law, people, noise, level, coverage) where an interval holds less often than its level by more than allowed."""
    distances, chances = distribution(law, crowd)
    sd = math.sqrt(law.variance * crowd.squares)
    found = []
    for noise in noises:
        for level in levels:
            held = coverage(distances, chances, half_width(law, crowd, noise * sd, level), scale=noise * sd)
            if held < level - allowed:
                found.append((law.name, crowd, noise, level, round(held, 4)))
    return found
