"""What those who joined lead to for one question, foreseen from grains: nothing here depends on an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.kernel.noise import noise_variance, variance
from optin.kernel.sharing import SHARES
from optin.questions import Question
from optin.questions.counted import Counting
from optin.questions.spending import Spending

if TYPE_CHECKING:
    from optin.releasing.record import Release


@dataclass(frozen=True)
class ReleasedQuestion:
    """One question of a release: its accuracy by declared variances and by who answered it."""

    release: Release
    place: int

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.release.sheet.questions[self.place]

    @property
    def name(self) -> str:
        """Its name within the sheet."""
        return self.question.name

    @property
    def epsilon_share(self) -> float:
        """The part of everyone's epsilon that it was announced to get."""
        return self.release.announcement.shares[self.place] / SHARES

    @property
    def standard_error(self) -> float:
        """The root of the mean variance of its published numbers."""
        counted, question = self._counted, self.question
        noise = noise_variance(question.noise_constant, counted.reach)
        squared_error = variance(question.data_variance, counted.weight_squares, 1.0, noise)
        return math.sqrt(squared_error / question.variance_terms)

    def half_width(self) -> float:
        """Return half of the 95 % interval that these sums lead to (E22)."""
        counted = self._counted
        spending = Spending(counted.reach, counted.weight_squares, counted.heaviest)
        return self.question.half_width(0.05, spending) + counted.bias

    @property
    def _counted(self) -> Counting:
        counted: Counting = self.release[self.name].counted
        return counted


def released_questions(release: Release) -> tuple[ReleasedQuestion, ...]:
    """List the questions that were published."""
    places = (place for place, each in enumerate(release.answered) if not each.dropped)
    return tuple(ReleasedQuestion(release, place) for place in places)
