"""How far a planned release will be off, before it is drawn (E14)."""

from __future__ import annotations

import math

from optin.planning import Plan
from optin.releasing.intervals import FEW_PEOPLE, check_level, hoeffding_reach, laplace_reach, normal_laplace_reach

__all__ = ["planned_reach"]


def planned_reach(plan: Plan, level: float = 0.95) -> float:
    """Return half the width of the interval for the population's mean that this plan leads to at full turnout.

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230), bounds=(0, 1))
    >>> round(planned_reach(plan), 4)
    0.0355
    """
    error, scale = check_level(level), plan.noise_scale
    if plan.weight_squares * FEW_PEOPLE > 1.0:
        share = error / 2.0 if scale > 0 else error
        people = hoeffding_reach(share, width=plan.width, sum_squared_weights=plan.weight_squares)
        return people + laplace_reach(share, scale=scale) + plan.bias_bound
    sd = math.sqrt(plan.data_variance * plan.weight_squares)
    return normal_laplace_reach(error, sd=sd, scale=scale) + plan.bias_bound
