"""Promises read once, so that what is charged is what is added up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optin.grains.arrays import GRAIN, FloatArray, GrainRule, everyone_grains


def frozen(rule: GrainRule) -> tuple[NDArray[np.int64], GrainRule]:
    """Read limits once: everyone's grains, and a rule that gives these same grains whatever becomes of the limits.

    Arrays of limits are not copied when people are made, so they may change between two looks at them.
    """
    grains = everyone_grains(rule)

    def limits(rows: slice) -> FloatArray:
        found = np.where(grains[rows] > 0, np.inf, 0.0) if rule.noiseless else grains[rows] * (1.0 / GRAIN)
        return np.asarray(found, dtype=np.float64)

    return grains, GrainRule(limits=limits, people=rule.people, cap=rule.cap)
