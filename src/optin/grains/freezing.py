"""Promises read once, so that what is charged is what is added up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optin.grains.arrays import FloatArray, GrainRule, Integers, everyone_capped
from optin.kernel.rounding import GRAIN


def frozen(rule: GrainRule) -> tuple[Integers, GrainRule]:
    """Read limits once: everyone's grains in all, and a rule that gives these same grains whatever becomes of the limits.

    Arrays of limits are not copied when people are made, so they may change between two looks at them.
    """
    capped = everyone_capped(rule)

    def limits(rows: slice) -> FloatArray:
        lowered = np.where(capped[rows] > 0, np.inf, 0.0) if rule.noiseless else capped[rows] * (1.0 / GRAIN)
        return np.asarray(lowered, dtype=np.float64)

    return capped, replace(rule, limits=limits)
