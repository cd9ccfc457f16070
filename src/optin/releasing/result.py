"""What is published of one question: the estimate, and how far it may be off (E13, E14, E22)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optin.agents import Description
from optin.announcement import Announcement
from optin.announcement.exact import exact_variance, nearest
from optin.announcement.numbers import ExactSums
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.formats.strict_json import real
from optin.kernel.halfwidth import Weighing, half_width, heaviest_weight
from optin.kernel.noise import LAPLACE
from optin.kernel.rounding import GRAIN
from optin.kernel.tails import laplace_reach
from optin.planning.cautions import assumption, cautions
from optin.planning.reach import check_level
from optin.questions import Number
from optin.questions.cells import LEVEL
from optin.releasing.intervals import Interval


@dataclass(frozen=True)
class Joined:
    """Who is counted, in sums: how many people, the tilt of their weights (E15), and what they gave in grains."""

    people: int
    tilt: float
    sums: ExactSums


class Estimated:
    """Everything that follows from a noisy total over those who joined; a release of one question is one itself."""

    if TYPE_CHECKING:
        announcement: Announcement
        joined: Joined

    @property
    def _question(self) -> Number:
        raise NotImplementedError

    @property
    def _noisy_totals(self) -> tuple[int, ...]:
        raise NotImplementedError

    @property
    def estimate(self) -> float:
        """Return the estimated mean, unclamped: clamping it would bias it."""
        low, width = Fraction(self._question.bounds[0]), Fraction(self._question.width)
        return nearest(low + width * Fraction(self._noisy_totals[0], LEVEL * self.joined.sums.total_grains))

    @property
    def variance(self) -> float:
        """Return E13's variance of the estimate, with the declared variance of the values."""
        sums = self.joined.sums
        return nearest(exact_variance(self.announcement, sums.total_grains, sums.total_squared_grains))

    @property
    def standard_error(self) -> float:
        """Return the root of the variance."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """Return the largest bias if people's means differ by up to the announced gap (E15)."""
        return self._question.max_gap * self.joined.tilt

    @property
    def noise_scale(self) -> float:
        """Return the scale of the Laplace noise in the unit of the values; 0 without noise."""
        if self.announcement.noiseless:
            return 0.0
        return nearest(Fraction(self._question.width) * int(GRAIN) / self.joined.sums.total_grains)

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise (E0)."""
        return float(LAPLACE.variance(self.noise_scale))

    @property
    def rounding(self) -> float:
        """Return the most that rounding values to levels can move the estimate, R * 2^-21."""
        return self._question.width * 2.0**-21

    @property
    def sum_squared_weights(self) -> float:
        """Return the sum of squared weights; its inverse is the number of effective people."""
        return nearest(Fraction(self.joined.sums.total_squared_grains, self.joined.sums.total_grains**2))

    @property
    def weighing(self) -> Weighing:
        """Return what E22's half-widths depend on; the largest weight is bounded by what the release says in public."""
        offer = self.announcement
        at_cap = nearest(Fraction(offer.largest_promise, self.joined.sums.total_grains))
        heaviest = float(heaviest_weight(self.joined.people, self.sum_squared_weights, at_cap))
        return Weighing(offer.width, offer.data_variance, self.sum_squared_weights, heaviest, self.noise_scale)

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the total interval before it is cut at the bounds: what stands behind ± where level is 0.95."""
        return self._half_width(level)[0]

    def _half_width(self, level: float) -> tuple[float, str]:
        half, method = half_width(check_level(level), self.weighing)
        return half + self.rounding + self.bias_bound, method

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart means of cautious and open people make an error as large as ±, which counts none of it (E22)."""
        return self.half_width(0.95) / self.joined.tilt if self.joined.tilt > 0 else math.inf

    def assumption(self, guard: str = "") -> str:
        """Say what the total interval leaves out if values go with limits, and what would guard against it (E22)."""
        offer = self.announcement
        guard = guard if offer.model == PRIVACY_CONSTRAINED else ""
        return assumption(
            self.breakdown_gap,
            width=offer.width,
            max_gap=offer.max_gap,
            tilt=self.joined.tilt,
            planned_tilt=offer.tilt,
            guard=guard,
        )

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this release, in sentences that depend on no value (`Plan.warnings`)."""
        offer = self.announcement
        return cautions(
            standard_error=self.standard_error,
            half_width=self.half_width(),
            width=offer.width,
            data_variance=offer.data_variance,
            description=description if offer.model == PRIVACY_CONSTRAINED else None,
        )

    def noise_interval(self, level: float = 0.95) -> Interval:
        """Bound the weighted mean of these people's clamped values (weights: grains over their sum)."""
        half = laplace_reach(check_level(level), scale=self.noise_scale) + self.rounding
        return self._around(half, level, "Laplace quantile, rounding added")

    def total_interval(self, level: float = 0.95) -> Interval:
        """Bound the population mean, with the declared variance, also where values are skewed (E22).

        The least of three half-widths that hold. The bias bound is added when a gap was announced; with none announced
        nothing is added for values that go with limits, and coverage falls with such a link: see `breakdown_gap`.
        """
        half, method = self._half_width(level)
        return self._around(half, level, method)

    def _around(self, half: float, level: float, method: str) -> Interval:
        return Interval.around(self.estimate, half, bounds=self._question.bounds, level=level, method=method)

    def statement(self) -> dict[str, Any]:
        """Return what a file states of this question; all of it follows from what was drawn."""
        total = self.total_interval(0.95)
        return {
            "estimate": real(self.estimate),
            "variance": real(self.variance),
            "bias_bound": real(self.bias_bound),
            "noise_interval_95": list(self.noise_interval(0.95)),
            "total_interval_95": list(total),
            "total_interval_method": total.method,
        }


@dataclass(frozen=True)
class Result(Estimated):
    """The result of one question of a sheet; ``noisy_totals`` are E13's integers N + Z."""

    announcement: Announcement
    joined: Joined
    question: Number
    noisy_totals: tuple[int, ...]

    @property
    def _question(self) -> Number:
        return self.question

    @property
    def _noisy_totals(self) -> tuple[int, ...]:
        return self.noisy_totals

    def interval(self, level: float = 0.95) -> Interval:
        """Bound the population mean (`total_interval`)."""
        return self.total_interval(level)
