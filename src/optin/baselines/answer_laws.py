"""How people who do not exist answer a question of any kind: a law a question, made of a few numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np

from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.questions import Question, Sheet
from optin.questions.measured import Measured


class AnswerLaw(Protocol):
    """A law of answers to one question; no field of it could hold a column."""

    @property
    def variance(self) -> float:
        """The variance of all published numbers of the question together, for one person."""

    def codes(self, people: int, generator: np.random.Generator) -> Array:
        """Draw everyone's answer, coded as the question codes it."""

    def expected(self, question: Question) -> tuple[float, ...]:
        """Return the mean level of each cell, in units of 2^20."""


@dataclass(frozen=True)
class Numbers:
    """Numbers of this mean and standard deviation between bounds: a Beta law, whose two ends are a constant and a coin."""

    bounds: tuple[float, float]
    mean: float
    sd: float

    @property
    def width(self) -> float:
        """R, the distance between the bounds."""
        return self.bounds[1] - self.bounds[0]

    @property
    def variance(self) -> float:
        """The variance of a number."""
        return self.sd**2

    @property
    def _unit(self) -> tuple[float, float]:
        """Mean and variance in units of the range."""
        return (self.mean - self.bounds[0]) / self.width, (self.sd / self.width) ** 2

    def codes(self, people: int, generator: np.random.Generator) -> Array:
        """Draw from the Beta law of this mean and variance."""
        mean, variance = self._unit
        if variance == 0.0:
            return np.full(people, self.mean)
        both = mean * (1.0 - mean) / variance - 1.0
        if both < 1e-9:
            drawn = (generator.random(people) < mean).astype(np.float64)
        else:
            drawn = generator.beta(mean * both, (1.0 - mean) * both, people)
        return np.asarray(self.bounds[0] + self.width * drawn)

    def expected(self, question: Question) -> tuple[float, ...]:
        """Return the mean, and the mean of x (1 - x) (E21)."""
        mean, variance = self._unit
        return mean, mean * (1.0 - mean) - variance


@dataclass(frozen=True)
class Options:
    """One of several options, each with its chance."""

    chances: tuple[float, ...]

    @property
    def variance(self) -> float:
        """The variance of all cells together; of two options, that of one."""
        if len(self.chances) == 2:
            return self.chances[0] * self.chances[1]
        return math.fsum(p * (1.0 - p) for p in self.chances)

    def codes(self, people: int, generator: np.random.Generator) -> Array:
        """Draw the place of everyone's option."""
        inner = np.cumsum(self.chances)[:-1]
        return np.searchsorted(inner, generator.random(people), side="right").astype(np.float64)

    def expected(self, question: Question) -> tuple[float, ...]:
        """Return each cell's level times the chance of its option."""
        places = np.arange(len(self.chances), dtype=np.float64)
        return tuple(float(np.dot(cell.levels(places), self.chances)) / 2**20 for cell in question.cells)


@dataclass(frozen=True)
class Sets:
    """Several of several options: each with its chance, all together as evenly many as these chances allow."""

    chances: tuple[float, ...]

    @property
    def variance(self) -> float:
        """The variance of all cells together."""
        return math.fsum(p * (1.0 - p) for p in self.chances)

    def codes(self, people: int, generator: np.random.Generator) -> Array:
        """Lay chances end to end, and choose where a grid of whole steps from a random start falls (systematic sampling)."""
        start = generator.random((people, 1))
        ends = np.floor(np.concatenate(([0.0], np.cumsum(self.chances))) + start)
        return np.asarray(np.diff(ends, axis=1).clip(0.0, 1.0) @ 2.0 ** np.arange(len(self.chances)))

    def expected(self, question: Question) -> tuple[float, ...]:
        """Return each cell's level times the chance of its option."""
        singles = np.exp2(np.arange(len(self.chances), dtype=np.float64))
        levels = (float(cell.levels(singles)[place]) for place, cell in enumerate(question.cells))
        return tuple(level * p / 2**20 for level, p in zip(levels, self.chances, strict=True))


def laws_of(sheet: Sheet, given: Mapping[str, Any] | None = None) -> tuple[AnswerLaw, ...]:
    """Return a law for every question: as given by its name, else one that varies as much as was declared.

    A number or a score takes {"mean": …, "sd": …} (either may be left out: the middle of the bounds, the declared sd as
    far as the mean allows it); other kinds take a chance for each option or bin, by default the same for all.
    """
    given = {} if given is None else given
    for name in given:
        if name not in {question.name for question in sheet}:
            raise BadInput('answers are given for "{question}", and this sheet has no such question', question=name)
    return tuple(_law(question, given.get(question.name)) for question in sheet)


def _law(question: Question, given: Any) -> AnswerLaw:  # noqa: ANN401
    if isinstance(question, Measured):
        return _numbers(question, {} if given is None else given)
    if question.entry == "several":
        return Sets(_chances(question, given, most=question.at_most))  # type: ignore[attr-defined]
    return Options(_chances(question, given, most=1))


def _numbers(question: Measured, given: Any) -> Numbers:  # noqa: ANN401
    """Check mean and sd; the largest sd is that of a coin between the bounds."""
    if not isinstance(given, Mapping) or set(given) - {"mean", "sd"} or not all(map(_single, given.values())):
        raise BadInput(
            'answers to "{question}" are drawn from a mean and an sd, such as {{"mean": 3, "sd": 1}}',
            question=question.name,
        )
    low, high = question.bounds
    mean = float(given.get("mean", (low + high) / 2))
    most = math.sqrt(max((mean - low) * (high - mean), 0.0))
    sd = float(given.get("sd", min(math.sqrt(question.data_variance), most)))
    if not (low <= mean <= high and 0.0 <= sd <= most * (1 + 1e-12)):
        raise BadInput(
            'the mean of answers to "{question}" must lie within its bounds, and its sd must be one that they allow',
            question=question.name,
        )
    return Numbers(question.bounds, mean, sd)


def _chances(question: Question, given: Any, *, most: int) -> tuple[float, ...]:  # noqa: ANN401
    """Check a chance for each option; of a choice they add up to 1, of a set to what may be chosen at most."""
    many, several = len(question.labels), question.entry == "several"
    if given is None:
        return (most / many,) * many
    if not isinstance(given, Sequence) or len(given) != many or not all(map(_single, given)):
        raise BadInput(
            'answers to "{question}" are drawn from {many} chances, one for each option or bin',
            question=question.name,
            many=many,
        )
    chances, total = tuple(map(float, given)), math.fsum(given)
    fits = total <= most + 1e-9 if several else abs(total - 1.0) < 1e-9
    if not (fits and all(0.0 <= p <= 1.0 for p in chances)):
        raise BadInput(
            'the chances of answers to "{question}" lie between 0 and 1, and add up to {what}',
            question=question.name,
            what=f"at most {most}" if several else "1",
        )
    return chances


def _single(number: object) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool)
