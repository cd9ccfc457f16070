"""The two incentive claims as one number that any planner can be asked for: what a person gains by a false limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from optin.agents import PrivacyConstrained
from optin.errors import Infeasible
from optin.kernel.pieces import Array
from optin.planning import plan

Planner = Callable[[Array], tuple[Array, float]]
"""Takes the limits people report; returns what epsilon each gets, and the variance of the release."""


def optimum(**question: Any) -> Planner:  # noqa: ANN401
    """Return optin's own planner for a question (bounds, data_variance, max_gap).

    >>> optimum(bounds=(0, 1))(np.array([1.0, 4.0, 9.0, 9.0]))[0]
    array([1., 4., 5., 5.])
    """

    def planner(limits: Array) -> tuple[Array, float]:
        people = PrivacyConstrained(limits)
        try:
            planned = plan(people, **question)
        except Infeasible:  # everyone reports 0: nothing is published, and nobody loses anything
            return np.zeros(len(limits)), math.inf
        return planned.epsilons(people), planned.variance

    return planner


def gain_of_lying(planner: Planner, limits: Array, *, person: int, report: float) -> float:
    """Return by which share of the honest variance a person improves the release with a false report.

    Utility is any decreasing function of the variance while the true limit holds, and minus infinity once it is crossed. So
    the gain is minus infinity if the report gets the true limit crossed, plus infinity if only telling the truth does.
    Claims 8 and 9 say that it is never positive; a planner that ignores limits, or does not use them well, fails here.

    >>> limits = np.array([1.0, 4.0, 9.0, 9.0])
    >>> round(gain_of_lying(optimum(bounds=(0, 1)), limits, person=0, report=0.5), 3)
    -0.058
    >>> proportional = lambda told: (told, (0.25 * float(told @ told) + 2) / float(told.sum()) ** 2)
    >>> round(gain_of_lying(proportional, np.array([1.0, 1.0, 1.0, 9.0]), person=3, report=3.0), 3)
    0.13
    """
    limits = np.asarray(limits)  # persons are counted, not named
    truth = float(limits[person])
    told = np.array(limits, dtype=np.float64)
    told[person] = report
    honest, lying = _outcome(planner(limits), person, truth), _outcome(planner(told), person, truth)
    if honest == lying:  # also when both are infinite
        return 0.0
    return -math.inf if math.isinf(lying) else math.inf if math.isinf(honest) else 1.0 - lying / honest


def _outcome(design: tuple[Array, float], person: int, truth: float) -> float:
    """Return the variance, or infinity where the person's true limit is crossed."""
    epsilons, variance = design
    return variance if epsilons[person] <= truth else math.inf
