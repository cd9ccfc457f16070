"""What a release can be asked for directly where the sheet is one number, and what is said about any of its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.agents import Description
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.errors import BadInput
from optin.kernel.halfwidth import Weighing
from optin.planning.cautions import assumption, limit_cautions, sheet_cautions
from optin.questions.intervals import Interval
from optin.questions.number_result import NumberResult
from optin.releasing.foreseen import released_questions
from optin.wording.groups import by_group

if TYPE_CHECKING:
    from optin.releasing.record import Release


class OneNumber:
    """The figures of the one number of a release (`NumberResult`); a sheet of several names its questions."""

    @property
    def only(self: Release) -> NumberResult:  # type: ignore[misc]
        """Return the result of the one number; BadInput where there are several questions, another kind, or groups."""
        self.expect_undivided()
        first = self.sheet.questions[0]
        result = self[first.name] if len(self.sheet) == 1 else None
        if not isinstance(result, NumberResult):
            raise BadInput(
                'this release has no single number; ask for a question by its name, as in release["{name}"]',
                name=first.name,
            )
        return result

    @property
    def estimate(self: Release) -> float:  # type: ignore[misc]
        """Return the estimated mean, unclamped: clamping it would bias it."""
        return self.only.estimate

    @property
    def variance(self: Release) -> float:  # type: ignore[misc]
        """Return E13's variance of the estimate, with the declared variance of the values."""
        return self.only.variance

    @property
    def standard_error(self: Release) -> float:  # type: ignore[misc]
        """Return the root of the variance."""
        return self.only.standard_error

    @property
    def bias_bound(self: Release) -> float:  # type: ignore[misc]
        """Return the largest bias if people's means differ by up to the announced gap (E15)."""
        return self.only.bias_bound

    @property
    def noise_scale(self: Release) -> float:  # type: ignore[misc]
        """Return the scale of the Laplace noise in the unit of the values; 0 without noise."""
        return self.only.noise_scale

    @property
    def noise_variance(self: Release) -> float:  # type: ignore[misc]
        """Return the variance of the noise (E0)."""
        return self.only.noise_variance

    @property
    def rounding(self: Release) -> float:  # type: ignore[misc]
        """Return the most that rounding values to levels can move the estimate, R * 2^-21."""
        return self.only.rounding

    @property
    def sum_squared_weights(self: Release) -> float:  # type: ignore[misc]
        """Return the sum of squared weights; its inverse is the number of effective people."""
        return self.only.counted.weight_squares

    @property
    def weighing(self: Release) -> Weighing:  # type: ignore[misc]
        """Return what E22's half-widths depend on; the largest weight is bounded by what the release says in public."""
        return self.only.weighing

    def half_width(self: Release, level: float = 0.95) -> float:  # type: ignore[misc]
        """Return half of the total interval before it is cut at the bounds: what stands behind ± where level is 0.95."""
        return self.only.half_width(level)

    @property
    def breakdown_gap(self: Release) -> float:  # type: ignore[misc]
        """Return how far apart means of cautious and open people make an error as large as ±, which counts none of it (E22)."""
        return self.only.breakdown_gap

    def noise_interval(self: Release, level: float = 0.95) -> Interval:  # type: ignore[misc]
        """Bound the weighted mean of these people's clamped values (weights: grains over their sum)."""
        return self.only.noise_interval(level)

    def total_interval(self: Release, level: float = 0.95) -> Interval:  # type: ignore[misc]
        """Bound the population mean (`NumberResult.interval`)."""
        return self.only.interval(level)

    def assumption(self: Release, guard: str = "") -> str:  # type: ignore[misc]
        """Say what the total interval leaves out if values go with limits, and what would guard against it (E22)."""
        offer = self.announcement
        return assumption(
            self.breakdown_gap,
            width=offer.width,
            max_gap=offer.max_gap,
            tilt=self.tilt,
            planned_tilt=offer.tilt,
            guard=guard if offer.model == PRIVACY_CONSTRAINED else "",
        )

    def warnings(self: Release, description: Description | None = None) -> tuple[str, ...]:  # type: ignore[misc]
        """List what is odd about this release, in sentences that depend on no value (`Plan.warnings`)."""
        stated = description if self.announcement.model == PRIVACY_CONSTRAINED else None
        if self.grouped:
            parts = {name: released_questions(each) for name, each in self.groups.items()}
            told = {name: sheet_cautions(questions, None, of_group=True) for name, questions in parts.items()}
            return (*by_group(told), *limit_cautions(stated, known=False))
        return sheet_cautions(released_questions(self), stated)
