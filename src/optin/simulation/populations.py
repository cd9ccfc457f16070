"""Where simulated people get their limits from: the mixes others have used, and a few shapes with a point to make."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.wording.records import Brief


class Population(Protocol):
    """A law of limits."""

    def limits(self, people: int, generator: np.random.Generator | None = None) -> Array:
        """Draw limits, rising in no particular order; without a generator, spread them out evenly instead."""


@dataclass(frozen=True, repr=False)
class Mix(Brief):
    """Groups of fixed shares, each uniform between two limits; equal ends make a level.

    >>> Mix(((0.5, 0.1, 0.3), (0.5, 1.0, 1.0))).limits(4)
    array([0.15, 0.25, 1.  , 1.  ])
    """

    parts: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        if not all(share >= 0 and 0 <= low <= high for share, low, high in self.parts):
            raise BadInput("each part of a mix is (share, low, high) with share >= 0 and 0 <= low <= high")
        if not abs(sum(share for share, _, _ in self.parts) - 1) < 1e-9:
            raise BadInput("the shares of a mix must add up to 1")

    def limits(self, people: int, generator: np.random.Generator | None = None) -> Array:
        """Give each part its share of the people, rounded, and limits between its ends."""
        ends = np.rint(np.cumsum([share for share, _, _ in self.parts]) * people).astype(int)
        counts = np.diff(ends, prepend=0)
        places = [
            low + (high - low) * _shares(n, generator) for (_, low, high), n in zip(self.parts, counts, strict=True)
        ]
        return np.concatenate(places)


@dataclass(frozen=True, repr=False)
class Lognormal(Brief):
    """Limits whose logarithms are normal: most are moderate, some are very high.

    >>> Lognormal(median=0.5, sigma=1.0).limits(3).round(2)
    array([0.19, 0.5 , 1.32])
    """

    median: float = 0.3
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not (self.median > 0 and self.sigma >= 0):
            raise BadInput("median must be positive and sigma 0 or more")

    def limits(self, people: int, generator: np.random.Generator | None = None) -> Array:
        """Draw median * exp(sigma * normal)."""
        if generator is None:
            normal = np.array([NormalDist().inv_cdf(share) for share in _shares(people, None).tolist()])
        else:
            normal = generator.standard_normal(people)
        return np.asarray(self.median * np.exp(self.sigma * normal))


@dataclass(frozen=True, repr=False)
class Harmonic(Brief):
    """Limits 1, 1/2, 1/3, … up to a factor: where personal limits gain most over any threshold.

    >>> Harmonic().limits(4)
    array([0.25      , 0.33333333, 0.5       , 1.        ])
    """

    most: float = 1.0

    def __post_init__(self) -> None:
        if not self.most > 0:
            raise BadInput("the highest limit must be positive")

    def limits(self, people: int, generator: np.random.Generator | None = None) -> Array:
        """Return most / n, …, most / 2, most; nothing is left to chance."""
        return self.most / np.arange(people, 0, -1)


@dataclass(frozen=True, repr=False)
class TwoLevel(Brief):
    """A share of people at a low limit, the others at a high one.

    >>> TwoLevel(low=0.1, high=1.0, share=0.75).limits(4)
    array([0.1, 0.1, 0.1, 1. ])
    """

    low: float = 0.1
    high: float = 1.0
    share: float = 0.5

    def __post_init__(self) -> None:
        if not (0 <= self.low <= self.high and 0 <= self.share <= 1):
            raise BadInput("low must lie between 0 and high, and share between 0 and 1")

    def limits(self, people: int, generator: np.random.Generator | None = None) -> Array:
        """Give the share, rounded, the low limit; nothing is left to chance."""
        low = round(self.share * people)
        return np.repeat([self.low, self.high], [low, people - low])


POPULATIONS: dict[str, Population] = {
    "standard": Mix(((0.54, 0.01, 0.2), (0.37, 0.2, 1.0), (0.09, 1.0, 1.0))),
    "standard-open": Mix(((0.34, 0.01, 0.2), (0.43, 0.2, 1.0), (0.23, 1.0, 1.0))),
    "levels": Mix(((0.34, 0.1, 0.1), (0.43, 0.5, 0.5), (0.23, 1.0, 1.0))),
    "lognormal": Lognormal(),
    "harmonic": Harmonic(),
    "two-level": TwoLevel(),
}
"""Populations by name; the standard ones are those of Jorgensen, Yu and Cormode (54/37/9 and 34/43/23 per cent)."""


def population_named(name: str) -> Population:
    """Look a population up by name."""
    if name not in POPULATIONS:
        raise BadInput(
            "there is no population called {name!r}; choose from {listed}", name=name, listed=", ".join(POPULATIONS)
        )
    return POPULATIONS[name]


def _shares(people: int, generator: np.random.Generator | None) -> Array:
    return (np.arange(people) + 0.5) / max(people, 1) if generator is None else generator.random(people)
