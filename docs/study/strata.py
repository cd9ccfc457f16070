"""The rows of public groups: people in two groups, released as a register of groups and as one crowd (E27).

Every row is made of real releases: `optin.release` of an announcement, with its noise, and `total` over the groups. The
noise of a release takes no seed (docs/decisions/no-seed.md); the seed is that of the answers drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from data import Array, Study, limits

import optin
from optin.questions import Question
from optin.questions.kinds import QuestionResult
from optin.releasing.across import Total


@dataclass(frozen=True)
class Divided:
    """A data set whose people stand in two public groups; the first has a third of the second's limits."""

    study: Study

    @property
    def question(self) -> Question:
        """What is asked: the first question."""
        return self.study.questions[0]

    @cached_property
    def values(self) -> dict[str, Array]:
        """The clamped answers of each group."""
        codes = np.clip(self.study.codes(self.question), *self.question.bounds)
        members = np.array(self.study.groups)
        return {name: codes[members == name] for name in sorted(set(self.study.groups))}

    @property
    def shares(self) -> dict[str, float]:
        """Each group's share of the population, which is the data set."""
        everyone = sum(map(len, self.values.values()))
        return {name: len(each) / everyone for name, each in self.values.items()}

    @property
    def sizes(self) -> list[int]:
        """How many of each group are asked."""
        return [round(share * self.study.people) for share in self.shares.values()]

    @property
    def labels(self) -> Array:
        """Everyone's group."""
        return np.repeat(list(self.values), self.sizes)

    @property
    def limits(self) -> Array:
        """Everyone's limit."""
        first, second = self.sizes
        return np.concatenate([limits(first) / 3.0, limits(second)])

    @property
    def truth(self) -> float:
        """The mean of the population."""
        return float(sum(share * self.values[name].mean() for name, share in self.shares.items()))

    def drawn(self, generator: np.random.Generator) -> Array:
        """Draw an answer for everyone, from their group."""
        found = zip(self.values.values(), self.sizes, strict=True)
        return np.concatenate([generator.choice(each, size) for each, size in found])

    def predicted(self, weights: Array, planned: float) -> float:
        """Predict the error from the true means and variances of groups; ``planned`` counts the declared variance."""
        declared = self.question.data_variance
        parts = [(weights[self.labels == name], each) for name, each in self.values.items()]
        bias = sum(float(own.sum() * each.mean()) for own, each in parts) - self.truth
        beyond = sum(float((own**2).sum() * (each.var() - declared)) for own, each in parts)
        return float(np.sqrt(planned**2 + beyond + bias**2))


@dataclass(frozen=True)
class Way:
    """One way to ask the same people: in their groups, or as one crowd."""

    name: str
    divided: Divided
    agents: optin.PrivacyConstrained

    @cached_property
    def plan(self) -> optin.Plan:
        """The plan for these people."""
        return optin.plan(self.agents, [self.divided.question])

    @cached_property
    def offer(self) -> optin.Announcement:
        """What is announced to them."""
        return self.plan.announce(self.agents)

    @property
    def planned(self) -> float:
        """The standard error that the plan tells."""
        asked = self.divided.question.name
        if self.plan.grouped:
            return self.plan.total(asked, population=self.divided.shares).standard_error
        return self.plan[asked].standard_error

    @property
    def weights(self) -> Array:
        """Everyone's weight in the mean of all."""
        inside = np.asarray(self.plan.weights(self.agents))
        if not self.plan.grouped:
            return inside
        return np.array([self.divided.shares[name] for name in self.divided.labels]) * inside

    def released(self, answers: Array) -> QuestionResult | Total:
        """Release these answers."""
        asked = self.divided.question.name
        found = optin.release(self.offer, self.agents, {asked: answers})
        return found.total(asked, population=self.divided.shares) if self.plan.grouped else found[asked]

    def row(self, answers: list[Array]) -> str:
        """Release every draw of answers, and write what came out."""
        truth, releases = self.divided.truth, len(answers)
        found = [self.released(each) for each in answers]
        errors = np.array([each.estimate for each in found]) - truth
        held = np.mean([truth in each.interval(0.95) for each in found])
        off, chance = errors.mean() / truth, 1.96 * errors.std() / np.sqrt(releases) / truth
        predicted = self.divided.predicted(self.weights, self.planned)
        return (
            f"| {self.divided.study.name} | {self.name} | {self.divided.question.name}: mean | {truth:.4g} "
            f"| {off:+.1%} ± {chance:.1%} | {np.sqrt((errors**2).mean()):.3g} | {predicted:.3g} | {held:.1%} |"
        )


def group_rows(study: Study, releases: int, seed: int) -> Iterator[str]:
    """Ask the same people in groups and as one crowd; both release the same answers."""
    divided = Divided(study)
    generator = np.random.default_rng(seed)
    answers = [divided.drawn(generator) for _ in range(releases)]
    yield Way("grouped", divided, optin.PrivacyConstrained(divided.limits, groups=divided.labels)).row(answers)
    yield Way("not grouped", divided, optin.PrivacyConstrained(divided.limits)).row(answers)
