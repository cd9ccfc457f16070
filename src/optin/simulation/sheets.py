"""Campaigns over a sheet with people who do not exist: the production path, with answers and noise that are simulated.

Answers are drawn here from laws made of a few numbers, so that no real one can meet noise in floats. Everything else is
what a release does: promises in grains, who is counted for which question, exact sums, results and their intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents
from optin.announcement import Announcement
from optin.baselines import ValueLaw
from optin.baselines.answer_laws import AnswerLaw
from optin.baselines.simulated import simulated_noise
from optin.errors import BadInput, PromiseBroken
from optin.grains.people import Promises
from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array
from optin.participation import judged
from optin.planning import Plan
from optin.questions import Question, Sheet
from optin.questions.counted import Counted
from optin.questions.kinds import QuestionResult, Reading
from optin.releasing import Release
from optin.releasing.deciding import decide
from optin.releasing.drawing import added_up
from optin.simulation.sheet_record import Figure, SheetOutcome, SheetSimulation, together

ENDLESS = 2**60


@dataclass(frozen=True)
class SheetRuns:
    """Campaigns to run: how answers are drawn, who joins, and who skips a question."""

    sheet: Sheet
    laws: tuple[AnswerLaw, ...]
    turnout: tuple[float, float]
    skipping: float
    level: float

    def run(
        self,
        plan: Plan,
        agents: Agents,
        campaigns: int,
        generator: np.random.Generator,
        progress: Callable[[int, int], None] | None,
    ) -> SheetSimulation:
        """Announce once, and run the campaign again and again; each has a generator of its own."""
        offer = plan.announce(agents, campaign="simulated", min_people=0)
        promises, chances = offer.promises(agents), ValueLaw(turnout=self.turnout).chances(plan.limits(agents))
        rows, joined = [], 0.0
        for done, each in enumerate(generator.spawn(campaigns), start=1):
            came = None if chances is None else each.random(len(chances)) < chances
            rows.append(self._readings(self._released(offer, promises, came, each)))
            joined += 1.0 if came is None else float(came.mean())
            if progress is not None:
                progress(done, campaigns)
        return SheetSimulation(plan, campaigns, self.level, joined / campaigns, tuple(self._outcomes(plan, rows)))

    def _released(
        self,
        offer: Announcement,
        promises: Promises,
        joined: NDArray[np.bool_] | None,
        generator: np.random.Generator,
    ) -> Release | None:
        """Draw answers and release them; None where it would be refused."""
        try:
            return released(offer, promises, self._codes(offer.people, generator), joined, generator)
        except PromiseBroken:
            return None

    def _codes(self, people: int, generator: np.random.Generator) -> tuple[Array, ...]:
        """Draw everyone's answers; NaN where somebody skips a question."""
        drawn = [law.codes(people, generator) for law in self.laws]
        if self.skipping:
            drawn = [np.where(generator.random(people) < self.skipping, np.nan, codes) for codes in drawn]
        return tuple(drawn)

    def _readings(self, release: Release | None) -> dict[str, list[Reading]]:
        return {} if release is None else {name: each.readings(self.level) for name, each in release.results.items()}

    def _outcomes(self, plan: Plan, rows: list[dict[str, list[Reading]]]) -> Iterator[SheetOutcome]:
        for question, law, own in zip(self.sheet, self.laws, plan.questions, strict=True):
            figures = tuple(_figures(question, law, [row.get(question.name) for row in rows]))
            noise = 0.0 if plan.noiseless else float(noise_variance(question.noise_constant, own.epsilon_total))
            computed = law.variance * plan.weight_squares + noise
            yield SheetOutcome(question.name, computed, figures, together(figures[: question.variance_terms]))


def released(
    offer: Announcement,
    promises: Promises,
    codes: tuple[Array, ...],
    joined: NDArray[np.bool_] | None,
    generator: np.random.Generator,
) -> Release:
    """Decide and add up as a release does, and add simulated noise."""
    came = judged(offer, promises, joined, codes if len(offer.sheet) > 1 else None)
    measured = added_up(offer, promises, codes, decision=decide(offer, came), joined=joined)
    published = zip(offer.sheet, measured.decision.dropped, strict=True)
    size = sum(len(question.cells) for question, why in published if not why)
    return measured.hidden_by([0] * size if offer.noiseless else simulated_noise(size, generator))


def checked_skipping(part: Any, sheet: Sheet) -> float:  # noqa: ANN401
    """Check the part of people who skip a question; an only question is answered by all who join."""
    if not isinstance(part, Real) or not 0.0 <= float(part) < 1.0:
        raise BadInput("skipping is the part of people who skip a question: 0 or more, and below 1")
    if part and len(sheet) == 1:
        raise BadInput("whoever joins answers an only question: there is no skipping it")
    return float(part)


def _figures(question: Question, law: AnswerLaw, rows: list[list[Reading] | None]) -> Iterator[Figure]:
    """Compare every figure with the truth, campaign by campaign."""
    for place, true in enumerate(truths(question, law)):
        truth = true.estimate
        readings = [None if row is None else row[place] for row in rows]
        ends = np.array([(math.nan,) * 3 if r is None else (r.estimate, r.low, r.high) for r in readings])
        covered = (ends[:, 1] <= truth + _slack(truth)) & (truth - _slack(truth) <= ends[:, 2])
        measured = {"errors": ends[:, 0] - truth, "covered": covered, "lengths": ends[:, 2] - ends[:, 1]}
        yield Figure(question.name, true.answer, truth, **measured)


def _slack(truth: float) -> float:
    """Allow for the rounding of a truth at which an interval may end."""
    return 1e-9 * max(abs(truth), 1.0)


def truths(question: Question, law: AnswerLaw) -> list[Reading]:
    """Read every figure off what endless people would say."""
    return endless(question, law).readings(0.95)


def endless(question: Question, law: AnswerLaw) -> QuestionResult:
    """Return the result of exact sums of endless people: what a release without any error would say."""
    totals = tuple(round(mean * ENDLESS) * 2**20 for mean in law.expected(question))
    return question.result(Counted(ENDLESS, ENDLESS, ENDLESS, 1, totals, noiseless=True))
