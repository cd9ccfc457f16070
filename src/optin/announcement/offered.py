"""What is offered, in numbers: rounded as everyone reads them, or exact as whoever holds the sums does."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from optin.announcement.exact import exact_variance
from optin.announcement.numbers import ExactSums, PublicNumbers
from optin.announcement.one_question import AnnouncedQuestion, Portion, place_of_question, spending_of
from optin.grains.arrays import HIGHEST_EPSILON
from optin.grains.splitting import part
from optin.kernel.coarse import told_within
from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.rounding import GRAIN, epsilon_of, exact_epsilon, nearest
from optin.planning.half_widths import half_width_of
from optin.planning.shared_numbers import OneQuestion, PromisedVariance, Promising
from optin.questions import Sheet
from optin.questions.spending import Spending


class Offered(OneQuestion, Promising):
    """The numbers of an offer to everyone, or to one group; what has ``open_sums`` computes them from these."""

    if TYPE_CHECKING:

        @property
        def sheet(self) -> Sheet:
            """What is asked."""

        @property
        def id(self) -> str:
            """Campaign and round."""

        @property
        def people(self) -> int:
            """How many people it is announced to."""

        @property
        def public(self) -> PublicNumbers:
            """The numbers that are told here."""

        @property
        def open_sums(self) -> tuple[ExactSums, ...] | None:
            """The exact sums of each question, where they are told here."""

    @property
    def cap(self) -> float:
        """The most epsilon anyone gives."""
        return self.public.cap

    @property
    def cap_lowered(self) -> bool:
        """Whether the plan's cap is above the highest that one release promises."""
        return self.public.cap_lowered

    @property
    def noiseless(self) -> bool:
        """Say whether no noise is planned, because everyone who counts set no limit."""
        return self.public.noiseless

    @property
    def shares(self) -> tuple[int, ...]:
        """How many 2^-20ths of everyone's epsilon each question gets (E20)."""
        return self.public.shares

    @property
    def promise(self) -> PromisedVariance | None:
        """What people with costs are promised."""
        return self.public.promise

    @property
    def tilt(self) -> float:
        """How far the weights are from equal (E15)."""
        return self.public.tilt

    @property
    def data_variance(self) -> float:
        """The declared variance of the one question; in a sheet of several, accuracy is counted in units of it."""
        return self.sheet.questions[0].data_variance if len(self.sheet) == 1 else 1.0

    @property
    def variance(self) -> float:
        """E13's variance at full turnout, where one number is asked for."""
        assert self.question  # noqa: S101 - BadInput where there are several
        return self.public.variances[0]

    @property
    def eta(self) -> float:
        """The Laplace rate at full turnout where one number is asked for (E3); infinite without noise."""
        if self.noiseless:
            return math.inf
        if self.open_sums is None:
            return 1.0 / self.noise_scale
        return nearest(exact_epsilon(self.open_sums[0].total_grains) / Fraction(self.width))

    @property
    def noise_scale(self) -> float:
        """Return the scale of the Laplace noise at full turnout, in the unit of the values."""
        return self.width * self.public.noise(0) if self.open_sums is None else 1.0 / self.eta

    @property
    def standard_error(self) -> float:
        """Return the root of the variance at full turnout."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """Return the largest bias if people's means differ by up to ``max_gap`` (E15)."""
        return self.max_gap * self.tilt

    @property
    def largest_capped(self) -> int:
        """Return the grains of whoever reaches the cap, before they are split among questions."""
        return int(HIGHEST_EPSILON * GRAIN) if self.noiseless else int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    @property
    def largest_parts(self) -> tuple[int, ...]:
        """Return the most grains that anybody gives for each question."""
        capped = np.array([self.largest_capped])
        return tuple(int(part(capped, share)[0]) for share in self.shares)

    @property
    def portions(self) -> tuple[Portion, ...]:
        """What each question takes."""
        return tuple(map(Portion, self.largest_parts, self.shares))

    def __getitem__(self, name: str) -> AnnouncedQuestion:
        return AnnouncedQuestion(self, place_of_question(self.sheet, name))

    @property
    def questions(self) -> tuple[AnnouncedQuestion, ...]:
        """What is announced of each question, in the order of the sheet."""
        return tuple(AnnouncedQuestion(self, place) for place in range(len(self.sheet)))

    def spending(self, place: int) -> Spending:
        """Return what the accuracy of a question at full turnout follows from."""
        most = self.largest_parts[place]
        if self.open_sums is not None:
            return spending_of(self.open_sums[place], people=self.people, most=most, noiseless=self.noiseless)
        squares, at_cap = self.public.squares[place], self.weight_of(most, place)
        return Spending(
            self.public.reach(place), squares, float(heaviest_weight(self.public.most_people, squares, at_cap))
        )

    def weight_of(self, grains: int, place: int | None = None) -> float:
        """Return the part of all that is given, for one question or for all, that so many grains are; of nothing, nothing."""
        if self.open_sums is not None:
            chosen = self.open_sums if place is None else self.open_sums[place : place + 1]
            total = sum(each.total_grains for each in chosen)
            return nearest(exact_epsilon(grains) / exact_epsilon(total)) if total else 0.0
        chosen_places = range(len(self.sheet)) if place is None else (place,)
        total_epsilon = math.fsum(map(self.public.reach, chosen_places))
        return min(float(epsilon_of(grains)) / total_epsilon, 1.0) if grains else 0.0

    def equal_shares(self, weight: float) -> tuple[float, float]:
        """Return between how many equal shares a weight is: people may be counted in tens, and noise is told up."""
        if self.open_sums is not None:
            return weight * self.people, weight * self.people
        noise = max(self.public.noises)
        least = weight * self.people * told_within(noise, self.people, Fraction(0)) / noise
        return least, weight * self.public.most_people

    def half_width(self, level: float = 0.95, *, turnout: float = 1.0) -> float:
        """Return half of the interval that this offer leads to: at 0.95, what ± means (E22).

        ``turnout`` is the share of people who join; whoever they are, sums are taken at their average.
        """
        assert self.question  # noqa: S101 - BadInput where there are several
        squares, scale = self.public.squares[0], 0.0 if self.noiseless else self.noise_scale
        at_cap, people = self.weight_of(self.largest_parts[0]), self.public.most_people * turnout
        return half_width_of(
            self, level, people=people, squares=squares / turnout, at_cap=at_cap / turnout, scale=scale / turnout
        )

    def variance_at(self, turnout: Fraction) -> float:
        """Foresee the variance where a share of people join, taking sums at their average (E12)."""
        question = self.sheet.alone
        if self.open_sums is None:
            return self.public.at_turnout(float(turnout)).variances_told(self.sheet)[0]
        each = self.open_sums[0]
        sums = ExactSums(int(each.total_grains * turnout), int(each.total_squared_grains * turnout))
        return float(exact_variance(question, sums, noiseless=self.noiseless))
