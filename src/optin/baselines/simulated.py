"""Values that nobody has. The mechanisms here add noise in floating point, which is fit for experiments only.

Noise in floats can be read backwards from its last bits, so a real value must never meet it: the accountable way is
`optin.campaign.release`, in exact integers. This is not left to care. The mechanisms take `SimulatedValues` and nothing
else, and one is made by drawing it: no argument of the constructor could carry a column of values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.wording.records import Brief, OneLine

ROW = 4096


@dataclass(frozen=True, kw_only=True, repr=False)
class ValueLaw(Brief):
    """How simulated people get their values and decide to join; every field is a number or a word, in units of the range.

    ``shape``: "coin" (one of the bounds) or "uniform" (around the person's mean, with standard deviation ``sd``). ``gap``:
    people's means rise evenly with the rank of their limit, from mean - gap/2 for the strictest to mean + gap/2 for the most
    open (fall, if negative); people with equal limits have equal means. ``turnout``: chance to join, for the strictest and
    for the most open, evenly between.

    >>> ValueLaw(mean=0.2).variances(np.array([0.1, 1.0]))
    array([0.16, 0.16])
    """

    shape: str = "coin"
    mean: float = 0.5
    sd: float | None = None
    gap: float = 0.0
    turnout: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        given: tuple[object, ...] = (self.mean, self.sd, self.gap, *self.turnout)
        for number in given:
            if number is not None and not isinstance(number, Real):
                raise BadInput("a law of values is made of single numbers: no field of it could hold a column")
        if len(self.turnout) != 2 or self.shape not in ("coin", "uniform"):
            raise BadInput('the shape of values is "coin" or "uniform", and turnout a pair of chances')
        if (self.sd is None) != (self.shape == "coin"):
            raise BadInput("give sd with uniform values, and not with coins: the mean decides how much they vary")
        if self.sd is not None and not 0 <= self.sd <= math.sqrt(1 / 12):
            raise BadInput("sd of uniform values must lie between 0 and 0.2887 of the width of the bounds")
        room = self.half_width + abs(self.gap) / 2
        if not room - 1e-12 <= self.mean <= 1 - room + 1e-12:  # also for NaN
            raise BadInput("values would leave the bounds; choose a mean nearer to the middle, or a smaller gap or sd")
        if not all(0 < share <= 1 for share in self.turnout):
            raise BadInput("turnout must lie above 0 and be at most 1")

    @property
    def half_width(self) -> float:
        """How far uniform values lie from their mean at most."""
        return 0.0 if self.sd is None else math.sqrt(3.0) * self.sd

    def means(self, limits: Array) -> Array:
        """Return each person's own mean."""
        return self.mean + self.gap * (_ranks(limits) - 0.5) if self.gap else np.full(len(limits), self.mean)

    def variances(self, limits: Array) -> Array:
        """Return each person's variance around their own mean."""
        means = self.means(limits)
        return means * (1 - means) if self.sd is None else np.full(len(limits), self.sd**2)

    @property
    def most_variance(self) -> float:
        """The largest variance that anyone's value can have under this law."""
        if self.sd is not None:
            return self.sd**2
        nearest = min(max(0.5, self.mean - abs(self.gap) / 2), self.mean + abs(self.gap) / 2)
        return nearest * (1 - nearest)

    def chances(self, limits: Array) -> Array | None:
        """Return each person's chance to join; None if everyone does."""
        strict, willing = self.turnout
        return None if strict == willing == 1.0 else strict + (willing - strict) * _ranks(limits)


class SimulatedValues(OneLine):
    """Values of simulated campaigns, a row each, and who joined; drawn here and nowhere else.

    >>> drawn = SimulatedValues(ValueLaw(), np.array([0.1, 1.0]), campaigns=3, generator=np.random.default_rng(1))
    >>> drawn.campaigns, drawn.everyone
    (3, True)
    """

    __slots__ = ("_joined", "_summed", "campaigns", "law", "limits")

    def __init__(self, law: ValueLaw, limits: Array, *, campaigns: int, generator: np.random.Generator) -> None:
        if type(law) is not ValueLaw:
            raise BadInput("simulated values are drawn from an optin.baselines.ValueLaw, and from nothing else")
        expect_generator(generator)
        size = (campaigns, len(limits))
        self.law, self.limits, self.campaigns = law, limits, campaigns
        chances = law.chances(limits)
        self._joined = None if chances is None else _coins(chances, size, generator)
        values = _values(law, law.means(limits), size, generator)
        self._summed = values if self._joined is None else np.multiply(values, self._joined, out=values)
        self._summed.flags.writeable = False

    def __init_subclass__(cls) -> None:
        raise TypeError("SimulatedValues has no subclasses: they could bring values of their own")

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError("simulated values stay as they were drawn")
        object.__setattr__(self, name, value)

    @property
    def everyone(self) -> bool:
        """Whether everyone joined every campaign."""
        return self._joined is None

    @property
    def target(self) -> float:
        """The mean of everyone's means, which a release is about (E15)."""
        return float(self.law.means(self.limits).mean())

    def sums(self, amounts: Array) -> Array:
        """Add up amount times value over those who joined, for each campaign."""
        return row_sums(self._summed, amounts)

    def sums_of_kept(self, kept: Array) -> Array:
        """Add up the values of those who were kept, for each campaign."""
        return row_sums(self._summed, kept)

    def numbers_kept(self, kept: Array) -> Array:
        """Count those who joined and were kept, for each campaign."""
        return kept.sum(axis=1) if self._joined is None else row_sums(self._joined, kept)

    def bit_sums(self, truth: Array, amounts: Array, generator: np.random.Generator) -> Array:
        """Round each value to a coin of that mean, tell it with bias ``truth``, and add up amounts times 1 or -1."""
        drawn = generator.random(self._summed.shape)
        signs = np.where(drawn < 0.5 + (self._summed - 0.5) * truth, 1.0, -1.0)
        return row_sums(signs if self._joined is None else signs * self._joined, amounts)

    def joined_sums(self, amounts: Array) -> Array:
        """Add up amounts over those who joined, for each campaign."""
        return np.full(self.campaigns, amounts.sum()) if self._joined is None else row_sums(self._joined, amounts)

    def joined_sums_below(self, amounts: Array, caps: Array) -> Array:
        """Add up the smaller of amount and the campaign's cap over those who joined."""
        lower = np.minimum(amounts, caps[:, np.newaxis])
        return lower.sum(axis=1) if self._joined is None else row_sums(self._joined, lower)

    def noise_sums(self, scales: Array, generator: np.random.Generator) -> Array:
        """Add up each joined person's own Laplace noise; the difference of two exponentials is one, and fast."""
        total = np.zeros(self.campaigns)
        for sign in (1.0, -1.0):
            draws = generator.standard_exponential((self.campaigns, len(scales)))
            if self._joined is not None:
                draws *= self._joined
            total += sign * row_sums(draws, scales)
        return total


def simulated_noise(count: int, generator: np.random.Generator) -> list[int]:
    """Draw Laplace noise of scale 2^52, rounded, for the integers of a sheet that nobody answered: for experiments only."""
    expect_generator(generator)
    return [int(z) for z in np.rint(generator.laplace(scale=2.0**52, size=count))]


def row_sums(rows: Array, amounts: Array) -> Array:
    """Multiply a matrix with a vector, or with another row by row.

    Pieces are so short that no BLAS starts threads, and so the order of adding is always the same.
    """
    total = np.zeros(len(rows))
    for start in range(0, rows.shape[1], ROW):
        total += np.vecdot(rows[:, start : start + ROW], amounts[..., start : start + ROW])
    return total


def expect_generator(generator: Any) -> None:  # noqa: ANN401
    """Insist on numpy's own Generator: something that looks like one could hand out real values."""
    if type(generator) is not np.random.Generator:
        raise BadInput("give a numpy Generator, for example numpy.random.default_rng(1)")


def expect_simulated(values: Any, generator: Any) -> None:  # noqa: ANN401
    """Insist on values that were drawn here: real ones are released in exact integers, by `optin.campaign.release`."""
    if type(values) is not SimulatedValues:
        raise BadInput(
            "baselines are drawn over optin.baselines.SimulatedValues only: noise in floats is not safe for real values;"
            " release those with optin.campaign.release"
        )
    expect_generator(generator)


def _values(law: ValueLaw, means: Array, size: tuple[int, int], generator: np.random.Generator) -> Array:
    if law.shape == "coin":
        return _coins(means, size, generator)
    drawn = generator.random(size)
    drawn *= 2 * law.half_width
    drawn += means - law.half_width
    return drawn


def _coins(chances: Array, size: tuple[int, int], generator: np.random.Generator) -> Array:
    drawn = generator.random(size)
    return np.less(drawn, chances, out=drawn)


def _ranks(limits: Array) -> Array:
    """Return everyone's place from 0 (strictest) to 1 (most open); equal limits share the middle of their places."""
    if len(limits) == 1:
        return np.array([0.5])
    _, place, counts = np.unique(limits, return_inverse=True, return_counts=True)
    middle: NDArray[np.float64] = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray((middle / (len(limits) - 1))[place])
