"""Groups whose limits and answers both differ: one plan for all, one that allows for a gap, and a plan for each group (E15, E27).

Everything is what a release does, with answers and noise that are simulated (`optin.simulation.sheets`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from optin.agents import PrivacyConstrained
from optin.announcement import Announcement
from optin.baselines.answer_laws import AnswerLaw, laws_of
from optin.baselines.simulated import expect_generator
from optin.errors import BadInput
from optin.grains.people import Promises
from optin.kernel.combining import Combination
from optin.kernel.pieces import Array
from optin.planning import plan
from optin.planning.assumed import MIXES
from optin.questions import Question, Sheet
from optin.questions.combined import Addend, Combined, Term
from optin.questions.intervals import check_confidence
from optin.questions.kinds import QuestionResult, Reading
from optin.releasing import Release
from optin.simulation.checked_inputs import child, count
from optin.simulation.group_record import GroupOutcome, GroupSimulation
from optin.simulation.populations import Mix, Population, population_named
from optin.simulation.sheets import endless, released
from optin.wording.records import Brief

UNGROUPED, ROBUST, GROUPED = "one plan for all", "one plan, gap allowed for", "a plan for each group"


@dataclass(frozen=True, repr=False)
class SimulatedGroup(Brief):
    """One group: how many people, the law of their limits, and the law of their answers.

    ``limits`` is a population, its name ("standard", "careful", "mixed", "open", …), or one number; ``answers`` is what
    `optin.simulate` takes for a question: {"mean": …, "sd": …}, or a chance for each option.
    """

    people: int
    limits: Population | str | float
    answers: Any = None

    def drawn(self, generator: np.random.Generator) -> Array:
        """Draw everyone's limit."""
        count(self.people, "people of a group")
        if isinstance(self.limits, str):
            return _population(self.limits).limits(self.people, generator)
        if isinstance(self.limits, int | float):
            return np.full(self.people, float(self.limits))
        return self.limits.limits(self.people, generator)


def _population(name: str) -> Population:
    if name in MIXES:
        return Mix(tuple((many / 100, limit, limit) for limit, many in MIXES[name]))
    return population_named(name)


def simulate_groups(
    groups: Mapping[str, SimulatedGroup],
    question: Question,
    *,
    generator: np.random.Generator,
    campaigns: int = 1000,
    max_gap: float | None = None,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> GroupSimulation:
    """Run campaigns over groups whose limits and answers differ, by three designs over the same answers.

    The designs are one plan for all people, one that allows for a gap of ``max_gap`` (None: as far as the groups' true
    figures lie apart), and a plan for each group whose results are put together by the sizes of groups. Measured are bias,
    error and how often intervals hold the whole population's figure, beside what was computed before.

    >>> import numpy as np, optin
    >>> groups = {
    ...     "young": optin.simulation.SimulatedGroup(600, "careful", (0.2, 0.8)),
    ...     "old": optin.simulation.SimulatedGroup(400, "open", (0.6, 0.4)),
    ... }
    >>> simulation = optin.simulation.simulate_groups(
    ...     groups, optin.YesNo("ill"), generator=np.random.default_rng(1), campaigns=100
    ... )
    >>> [(each.design, round(each.predicted_bias, 2) + 0.0) for each in simulation.outcomes]
    [('one plan for all', 0.05), ('one plan, gap allowed for', 0.0), ('a plan for each group', 0.0)]
    """
    expect_generator(generator)
    check_confidence(level)
    if not isinstance(groups, Mapping) or len(groups) < 2:
        raise BadInput("give two groups or more, each an optin.simulation.SimulatedGroup by its name")
    crowd = _Crowd.drawn(groups, question, child(generator))
    gap = crowd.gap if max_gap is None else max_gap
    arms = (crowd.together(UNGROUPED, 0.0), crowd.together(ROBUST, gap), crowd.apart(GROUPED))
    rows: list[list[Reading]] = []
    releases: list[list[Release]] = []
    for done, each in enumerate(generator.spawn(count(campaigns, "campaigns")), start=1):
        codes = crowd.codes(each)
        releases = [arm.released(codes, each) for arm in arms]
        rows.append([arm.reading(release, level) for arm, release in zip(arms, releases, strict=True)])
        if progress is not None:
            progress(done, campaigns)
    noises = [arm.noise(release) for arm, release in zip(arms, releases, strict=True)]
    columns = zip(arms, noises, zip(*rows, strict=True), strict=True)
    outcomes = (_outcome(arm, crowd, noise, column) for arm, noise, column in columns)
    return GroupSimulation(question, crowd.answer, crowd.truth, campaigns, level, gap, tuple(outcomes))


@dataclass(frozen=True)
class _Crowd:
    """People of all groups, one after another: limits, laws of answers, and where each group begins and ends."""

    question: Question
    limits: tuple[Array, ...]
    laws: tuple[AnswerLaw, ...]

    @classmethod
    def drawn(cls, groups: Mapping[str, SimulatedGroup], question: Question, generator: np.random.Generator) -> _Crowd:
        sheet = Sheet([question])
        laws = [laws_of(sheet, None if g.answers is None else {question.name: g.answers})[0] for g in groups.values()]
        return cls(question, tuple(group.drawn(child(generator)) for group in groups.values()), tuple(laws))

    @property
    def figures(self) -> list[Addend]:
        """Each group's own true figure."""
        return [leading(endless(self.question, law).addends()) for law in self.laws]

    @property
    def answer(self) -> str:
        return self.figures[0].answer

    @property
    def shares(self) -> list[float]:
        total = sum(map(len, self.limits))
        return [len(limits) / total for limits in self.limits]

    @property
    def truth(self) -> float:
        """The whole population's figure."""
        return math.fsum(share * each.estimate for share, each in zip(self.shares, self.figures, strict=True))

    @property
    def gap(self) -> float:
        """How far the groups' true figures lie apart."""
        estimates = [each.estimate for each in self.figures]
        return max(estimates) - min(estimates)

    def codes(self, generator: np.random.Generator) -> tuple[Array, ...]:
        """Draw everyone's answer, group by group."""
        return tuple(law.codes(len(limits), generator) for law, limits in zip(self.laws, self.limits, strict=True))

    def together(self, name: str, max_gap: float) -> _Arm:
        """Plan everyone at once, as people in no groups."""
        question = replace(self.question, max_gap=max_gap)  # type: ignore[type-var]
        return _Arm(name, (_Announced.of(question, np.concatenate(self.limits)),), None)

    def apart(self, name: str) -> _Arm:
        """Plan each group by itself."""
        return _Arm(name, tuple(_Announced.of(self.question, limits) for limits in self.limits), tuple(self.shares))


@dataclass(frozen=True)
class _Announced:
    """An offer to some people, and what it promises them."""

    offer: Announcement
    promises: Promises
    epsilons: Array

    @classmethod
    def of(cls, question: Question, limits: Array) -> _Announced:
        agents = PrivacyConstrained(limits)
        planned = plan(agents, [question])
        offer = planned.announce(agents, campaign="simulated", min_people=0)
        return cls(offer, offer.promises(agents), np.minimum(limits, offer.cap))


@dataclass(frozen=True)
class _Arm:
    """One way to ask the same people: one offer to all, or one to each group and the shares that put them together."""

    name: str
    announced: tuple[_Announced, ...]
    shares: tuple[float, ...] | None

    def released(self, codes: Sequence[Array], generator: np.random.Generator) -> list[Release]:
        """Release these answers, by every offer."""
        parts = codes if self.shares is not None else [np.concatenate(codes)]
        return [
            released(each.offer, each.promises, (part,), None, generator)
            for each, part in zip(self.announced, parts, strict=True)
        ]

    def reading(self, releases: Sequence[Release], level: float) -> Reading:
        """Return the figure of the whole with its interval, as they are told to the public."""
        results: list[QuestionResult] = [each[each.sheet.questions[0].name] for each in releases]
        addends = [leading(result.addends()) for result in results]
        if self.shares is None:
            return next(each for each in results[0].readings(level) if each.answer == addends[0].answer)
        terms = (Term("", share, addend) for share, addend in zip(self.shares, addends, strict=True))
        return Combined(tuple(terms)).reading(level)

    def noise(self, releases: Sequence[Release]) -> float:
        """Return the noise variance of the figure of the whole, not rounded: the same whatever the answers are."""
        results = (each.expect_sealed()[each.sheet.questions[0].name] for each in releases)
        pairs = zip(self.shares or (1.0,), results, strict=True)
        parts = (replace(leading(result.addends()).part, coefficient=share) for share, result in pairs)
        return Combination(tuple(parts)).noise_variance

    def weights(self, sizes: Sequence[int]) -> list[Array]:
        """Return everyone's weight in the figure of the whole, group by group."""
        normed = [_weights(each.epsilons) for each in self.announced]
        if self.shares is not None:
            return [share * weights for share, weights in zip(self.shares, normed, strict=True)]
        return np.split(normed[0], np.cumsum(sizes)[:-1])


def _weights(epsilons: Array) -> Array:
    """Return everyone's part of all epsilons; without noise whoever has no limit counts alike, and the others not at all."""
    counted = np.isinf(epsilons).astype(float) if np.isinf(epsilons).any() else epsilons
    weights: Array = counted / counted.sum()
    return weights


def leading(addends: Sequence[Addend]) -> Addend:
    """Return the figure that stands for a question: a mean, a mean score, else the first proportion."""
    return next((each for each in addends if not each.proportion), addends[0])


def _outcome(arm: _Arm, crowd: _Crowd, noise: float, readings: Sequence[Reading]) -> GroupOutcome:
    ends = np.array([(each.estimate, each.low, each.high) for each in readings])
    weights = arm.weights([len(limits) for limits in crowd.limits])
    figures = list(zip(weights, crowd.figures, strict=True))
    bias = math.fsum(float(w.sum()) * each.estimate for w, each in figures) - crowd.truth
    sampling = math.fsum(float(w @ w) * _variance(each) for w, each in figures)
    return GroupOutcome(
        arm.name,
        bias,
        sampling + noise + bias * bias,
        errors=ends[:, 0] - crowd.truth,
        covered=(ends[:, 1] <= crowd.truth) & (crowd.truth <= ends[:, 2]),
        lengths=ends[:, 2] - ends[:, 1],
    )


def _variance(figure: Addend) -> float:
    """Return the variance of one person's part in a true figure."""
    spread = figure.part.spread
    assert spread is not None  # noqa: S101 - endless people publish their spread
    return spread.variance * figure.part.width * figure.part.width
