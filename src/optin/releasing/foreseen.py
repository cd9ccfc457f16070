"""What those who joined lead to for one question, foreseen from grains: nothing here depends on an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.announcement.exact import exact_variance
from optin.announcement.one_question import spending_of
from optin.kernel.rounding import nearest
from optin.kernel.sharing import SHARES
from optin.questions import Question

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
        sums, noiseless = self.release.answered[self.place].sums, self.release.announcement.noiseless
        return math.sqrt(
            nearest(exact_variance(self.question, sums, noiseless=noiseless)) / self.question.variance_terms
        )

    def half_width(self) -> float:
        """Return half of the 95 % interval that these sums lead to (E22)."""
        answered, offer = self.release.answered[self.place], self.release.announcement
        most = offer.largest_parts[self.place]
        spending = spending_of(answered.sums, people=answered.people, most=most, noiseless=offer.noiseless)
        return self.question.half_width(0.05, spending) + self.question.max_gap * answered.tilt


def released_questions(release: Release) -> tuple[ReleasedQuestion, ...]:
    """List the questions that were published."""
    places = (place for place, each in enumerate(release.answered) if not each.dropped)
    return tuple(ReleasedQuestion(release, place) for place in places)
