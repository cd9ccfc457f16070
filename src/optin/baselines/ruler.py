"""What errors of designs are measured in: one number in its own unit, several questions in v, one over effective people (E18)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from optin.errors import BadInput
from optin.kernel.sharing import combined_price
from optin.planning import Plan


@dataclass(frozen=True)
class Ruler:
    """Everything in data units that an error is made of; of several questions, in declared variances of each.

    ``width`` turns the solver's unit into this one; ``noise`` is the noise variance where epsilons add up to 1: kappa R^2 of
    a number, P^2 of several questions. ``bounds`` are None where no single number is published.
    """

    width: float
    bounds: tuple[float, float] | None
    data_variance: float
    noise: float
    max_gap: float


def ruler_of(plan: Plan) -> Ruler:
    """Measure as the plan does. With P^2 for kappa R^2 / sigma^2 and v for V everything known of one number holds (E18)."""
    expect_comparable(plan)
    units, number = plan.asked.units, plan.sheet.one_number
    if number is not None:
        return Ruler(number.width, number.bounds, number.data_variance, units.noise, number.max_gap)
    return Ruler(1.0, None, units.data_variance, units.noise, plan.asked.gap)


def comparable(plan: Plan) -> bool:
    """Say whether one figure stands for all questions: the same importance, and the same gap, for each (E18)."""
    return not plan.asked.one_cap


def expect_comparable(plan: Plan) -> None:
    """Refuse sheets whose questions are to have different effective people: others do not know of importance."""
    if not comparable(plan):
        raise BadInput(
            "designs are compared by effective people, the same on every question: leave out importance, wished standard"
            " errors, and gaps that differ between questions"
        )


def worst_price(plan: Plan) -> float:
    """Return kappa R^2 / sigma^2, or P^2, with the largest variance that bounds allow for every number."""
    return combined_price(tuple(question.worst_price for question in plan.sheet))


def mean_in_sds(plan: Plan) -> float:
    """Return how far answers lie from the lower bound, in sds, where that is farthest: numbers in the middle, options alike."""
    return math.sqrt(max(question.squared_mean / question.data_variance for question in plan.sheet))
