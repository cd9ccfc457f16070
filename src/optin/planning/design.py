"""What was found for the people of a plan, or of one public group of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optin.formats.strict_json import Fields, real
from optin.kernel.ladder import Limits
from optin.kernel.optimum import Design as Solution
from optin.kernel.optimum import tilt_of


@dataclass(frozen=True)
class WeightSums:
    """Sums over the people of a design: of epsilons, of squared weights, of those at or above the cap, and E15's tilt."""

    people: int
    epsilon_total: float
    weight_squares: float
    pooled_people: int
    tilt: float


@dataclass(frozen=True)
class Design:
    """One cap for everyone in a group, how each epsilon is shared among the questions, and what that leads to.

    ``group`` is None where people are not divided; ``shares`` and ``variances`` have an entry for each question.
    """

    group: str | None
    cap: float
    shares: tuple[float, ...]
    sums: WeightSums
    variances: tuple[float, ...]

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        return {
            "group": self.group,
            "cap": real(self.cap),
            "shares": list(self.shares),
            "variances": [real(variance) for variance in self.variances],
            "people": self.sums.people,
            "epsilon_total": real(self.sums.epsilon_total),
            "weight_squares": real(self.sums.weight_squares),
            "pooled_people": self.sums.pooled_people,
            "tilt": real(self.sums.tilt),
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Design:
        """Read what `to_record` wrote."""
        sums = WeightSums(
            people=fields.take_count("people"),
            epsilon_total=fields.take_real("epsilon_total"),
            weight_squares=fields.take_real("weight_squares"),
            pooled_people=fields.take_count("pooled_people"),
            tilt=fields.take_real("tilt"),
        )
        found = cls(
            group=fields.maybe("group", fields.take_text),
            cap=fields.take_real("cap"),
            shares=fields.take_reals("shares"),
            sums=sums,
            variances=fields.take_reals("variances"),
        )
        fields.finish()
        return found


def design_of(
    found: Solution,
    limits: Limits,
    *,
    cap: float,
    epsilon_total: float,
    shares: tuple[float, ...],
    variances: tuple[float, ...],
) -> Design:
    """Keep what the kernel found of people who are not divided; variances are those of answers."""
    sums = WeightSums(found.people, epsilon_total, found.weight_squares, found.pooled, tilt_of(found, limits))
    return Design(None, cap, shares, sums, variances)
