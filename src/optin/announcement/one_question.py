"""One question of an announcement: what everyone gives for it, and the accuracy that full turnout leads to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from optin.announcement.exact import told_of
from optin.announcement.numbers import ExactSums, noise_of_share
from optin.announcement.telling import ToldOfferedQuestion
from optin.kernel.coarse import told_up
from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.rounding import epsilon_of
from optin.kernel.sharing import SHARES
from optin.questions import Question, Sheet
from optin.questions.counted import RoundedCounted
from optin.questions.intervals import check_confidence
from optin.questions.spending import Spending
from optin.wording.groups import SMALLEST_GROUP, in_tens

if TYPE_CHECKING:
    from optin.announcement.offered import Offered


def place_of_question(sheet: Sheet, name: str) -> int:
    """Return where a question stands in its sheet; KeyError for a name that is not there."""
    return sheet.questions.index(sheet[name])


def spending_of(sums: ExactSums, *, people: int, most: int, noiseless: bool) -> Spending:
    """Return what the accuracy of a question follows from, by exact sums of grains over those who answer it."""
    squares = float(Fraction(sums.total_squared_grains, sums.total_grains**2))
    reach = math.inf if noiseless else float(epsilon_of(sums.total_grains))
    return Spending(reach, squares, float(heaviest_weight(people, squares, float(Fraction(most, sums.total_grains)))))


def told_spending(offer: Offered, place: int, sums: ExactSums, people: int) -> Spending:
    """Return what ± of a question follows from, by sums over those who answered it, as far as the public is told of them.

    So what is published keeps a largest ± in the eyes of everyone, and whether it is says no more than what is told.
    """
    most, share = offer.largest_parts[place], offer.shares[place]
    if offer.open_sums is not None:
        return spending_of(sums, people=people, most=most, noiseless=offer.noiseless)
    noise, squares = told_of(sums, share, offer.people)
    at_most = in_tens(people) + SMALLEST_GROUP - 1 if offer.public.tens else people
    told = RoundedCounted(at_most, noise_of_share(noise, share), squares, most, ())
    return Spending(told.reach, squares, told.heaviest)


def told_tilt(offer: Offered, tilt: float) -> float:
    """Return the tilt of those who answered as the public is told of it."""
    return tilt if offer.open_sums is not None else min(told_up(tilt, offer.people), 1.0)


@dataclass(frozen=True)
class Portion:
    """What a question takes: the most grains that anybody gives for it, and how many 2^-20ths of epsilon it gets."""

    most: int
    share: int


@dataclass(frozen=True, repr=False)
class AnnouncedQuestion(ToldOfferedQuestion):
    """What an announcement says about one of its questions."""

    announcement: Offered
    place: int

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.announcement.sheet.questions[self.place]

    @property
    def name(self) -> str:
        """Its name within the sheet."""
        return self.question.name

    @property
    def epsilon_share(self) -> float:
        """The part of everyone's epsilon that it gets."""
        return self.announcement.shares[self.place] / SHARES

    @property
    def variance(self) -> float:
        """Its variance at full turnout; of a choice, added up over the options."""
        return self.announcement.public.variances[self.place]

    @property
    def standard_error(self) -> float:
        """The root of the mean variance of its published numbers."""
        return math.sqrt(self.variance / self.question.variance_terms)

    @property
    def effective_people(self) -> float:
        """How many people would give the same accuracy without noise."""
        return self.question.data_variance / self.variance if self.variance > 0 else math.inf

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the interval that full turnout leads to: at 0.95, what ± means (E22)."""
        offer, question = self.announcement, self.question
        return question.half_width(check_confidence(level), offer.spending(self.place)) + question.max_gap * offer.tilt
