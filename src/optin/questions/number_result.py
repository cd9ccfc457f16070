"""What is published of a number: its mean, how far that may be off, and the spread of the values (E13, E14, E21, E22)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from optin.formats.strict_json import real
from optin.kernel.coarse import COARSEST, FINENESS, on_grid, spacing_below
from optin.kernel.combining import Part
from optin.kernel.halfwidth import Weighing, half_width
from optin.kernel.rounding import nearest
from optin.kernel.spreads import ENOUGH, Moments
from optin.questions.combined import Addend
from optin.questions.counted import Counting
from optin.questions.intervals import Interval, check_confidence
from optin.questions.kinds import SPREAD, Reading
from optin.questions.telling import ToldResult
from optin.wording.amounts import plus_minus_of
from optin.wording.language import N_, _

RELEASED = N_("normal plus Laplace, released spread, skewness allowed for")


@dataclass(frozen=True, repr=False)
class NumberResult(ToldResult):
    """A noisy mean and, from a second noisy integer that costs nothing more, the standard deviation of the values."""

    bounds: tuple[float, float]
    data_variance: float
    counted: Counting

    @property
    def width(self) -> float:
        """R, the distance between the bounds."""
        return self.bounds[1] - self.bounds[0]

    @property
    def estimate(self) -> float:
        """Return the estimated mean, unclamped: clamping it would bias it."""
        return nearest(Fraction(self.bounds[0]) + Fraction(self.width) * self.counted.mean(0))

    @property
    def noise_scale(self) -> float:
        """Return the scale of the Laplace noise in the unit of the values; 0 without noise."""
        return 0.0 if self.counted.noiseless else nearest(Fraction(self.width) / self.counted.exact_reach)

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise (E0)."""
        return self.counted.noise_variance((self.noise_scale,))

    @property
    def variance(self) -> float:
        """Return E13's variance of the estimate, with the declared variance of the values."""
        return self.counted.variance(self.data_variance, self.width)

    @property
    def standard_error(self) -> float:
        """Return the root of the variance."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """Return the largest bias if people's means differ by up to the declared gap (E15)."""
        return self.counted.bias

    @property
    def rounding(self) -> float:
        """Return the most that rounding moves the estimate: of values to levels R * 2^-21, and half a step where it is on one."""
        return self.width * (2.0**-21 + self._slack)

    @property
    def _slack(self) -> float:
        """Return how far a mean may be off because it is told on a step, in units of the range."""
        return self.standard_error / (2 * FINENESS) / self.width if self.counted.rounded else 0.0

    def told_cells(self) -> tuple[Fraction, ...]:
        """Round the estimate to a step, and the companion's mean to one in units of the range; both follow from what is told."""
        most = Fraction(self.standard_error) / FINENESS
        estimate = Fraction(self.bounds[0]) + Fraction(self.width) * self.counted.mean(0)
        others = (self.counted.mean(cell) for cell in range(1, self.counted.cells))
        spacing = spacing_below(most / Fraction(self.width))
        return (on_grid(estimate, spacing_below(most)), *(on_grid(each, spacing) for each in others))

    def means(self) -> tuple[Fraction, ...]:
        """Return the means of the cells."""
        return tuple(self.counted.mean(cell) for cell in range(self.counted.cells))

    @property
    def weighing(self) -> Weighing:
        """Return what E22's half-widths by the declared variance depend on."""
        counted = self.counted
        return Weighing(self.width, self.data_variance, counted.weight_squares, counted.heaviest, self.noise_scale)

    @property
    def _moments(self) -> Moments | None:
        """Return both noisy means in units of the range; None where one alone was published, or of one person."""
        counted = self.counted
        if counted.cells < 2 or counted.weight_squares >= 1.0:
            return None
        return Moments(
            float(counted.mean(0)),
            float(counted.mean(1)),
            counted.reach,
            counted.weight_squares,
            counted.heaviest,
            self._slack,
        )

    @property
    def sd(self) -> float | None:
        """Return the standard deviation of the values (E21), 0 where noise left less than nothing; None if not published."""
        moments = self._moments
        return None if moments is None else self.width * math.sqrt(min(max(moments.variance, 0.0), 0.25))

    def sd_interval(self, level: float = 0.95) -> Interval | None:
        """Bound the standard deviation of the values (E22)."""
        moments, error = self._moments, check_confidence(level)
        if moments is None:
            return None
        low, high = moments.sd_interval(error)
        return Interval(self.width * low, self.width * high, level, N_("normal, released spread"))

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the mean's interval before it is cut at the bounds: what stands behind ± where level is 0.95."""
        return self._half_width(level)[0]

    def _half_width(self, level: float) -> tuple[float, str]:
        """Use the released spread where there is one and people enough, else the declared variance (E22)."""
        error, moments = check_confidence(level), self._moments
        ways = [half_width(error, self.weighing)] if moments is None or not self._enough(moments) else []
        if moments is not None and self._perhaps_enough(moments):
            ways.append((self.width * moments.half_width(error), RELEASED))
        half, method = max(ways)
        return half + self.rounding + self.bias_bound, method

    def _enough(self, moments: Moments) -> bool:
        return moments.squares * ENOUGH <= 1.0

    def _perhaps_enough(self, moments: Moments) -> bool:
        """Say whether people are enough for the released spread, or may be by the exact numbers, where these are told rounded."""
        rounded = float(COARSEST) if self.counted.rounded else 1.0
        return moments.squares * ENOUGH <= rounded

    def declared_half_width(self, level: float = 0.95) -> float:
        """Return half of the interval by the declared variance alone: no value has a part in it."""
        return half_width(check_confidence(level), self.weighing)[0] + self.rounding + self.bias_bound

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart means of cautious and open people make an error as large as ±, which counts none of it (E22)."""
        return self.half_width(0.95) / self.counted.tilt if self.counted.tilt > 0 else math.inf

    def noise_interval(self, level: float = 0.95) -> Interval:
        """Bound the weighted mean of these people's clamped values (weights: grains over their sum)."""
        half = self.counted.quantile(check_confidence(level), scales=(self.noise_scale,)) + self.rounding
        return self._around(half, level, N_("Laplace quantile, rounding added"))

    def interval(self, level: float = 0.95) -> Interval:
        """Bound the population mean, also where values are skewed (E22).

        The bias bound is added when a gap was announced; with none announced nothing is added for values that go with
        limits, and coverage falls with such a link: see `breakdown_gap`.
        """
        half, method = self._half_width(level)
        return self._around(half, level, method)

    def _around(self, half: float, level: float, method: str) -> Interval:
        return Interval.around(self.estimate, half, bounds=self.bounds, level=level, method=method)

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List the mean and the standard deviation."""
        readings = [Reading(N_("mean"), self.estimate, *self.interval(level))]
        sd, bounds = self.sd, self.sd_interval(level)
        if sd is None or bounds is None:
            return readings
        lost = sd == 0.0 and self.noise_scale > 0.0
        return [*readings, Reading(SPREAD, sd, bounds.low, bounds.high, lost=lost)]

    def standard_errors(self) -> dict[str, float]:
        """Return that of the mean."""
        return {"mean": self.standard_error}

    def half_words(self, unit: str = "") -> str:
        """Say what ± is: half of the mean's interval, before it is cut."""
        half = plus_minus_of(self.half_width(0.95), proportion=False, unit=unit)
        if {*self.interval(0.95)} & {*self.bounds}:
            return _("{half}: half of the mean's 95 % interval before it is cut at the bounds.", half=half)
        return _("{half}: half of the mean's 95 % interval.", half=half)

    def addends(self) -> tuple[Addend, ...]:
        """Return the mean, as it is added to those of other groups (E27)."""
        counted, moments = self.counted, self._moments
        part = Part(
            1.0,
            counted.weight_squares,
            counted.heaviest,
            (self.noise_scale,),
            declared=self.data_variance,
            spread=None if moments is None else moments.spread,
            width=self.width,
            rounded=counted.rounded,
        )
        slack = self.rounding + self.bias_bound
        return (Addend("mean", self.estimate, self.variance, self.bounds, part, slack, counted.tilt),)

    def statement(self) -> dict[str, Any]:
        """Return what a file states of it; all of it follows from what was drawn."""
        total, sd = self.interval(0.95), self.sd_interval(0.95)
        return {
            "estimate": real(self.estimate),
            "variance": real(self.variance),
            "bias_bound": real(self.bias_bound),
            "noise_interval_95": list(self.noise_interval(0.95)),
            "total_interval_95": list(total),
            "total_interval_method": total.method,
            "sd": self.sd,
            "sd_interval_95": None if sd is None else list(sd),
        }
