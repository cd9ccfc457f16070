"""How far a simulated estimate may be off by the declared variance (E22), for many turnouts at once.

Intervals by the released spread need the second number of a release: they are measured where a sheet is simulated.
"""

from __future__ import annotations

import numpy as np

from optin.kernel.halfwidth import Weighing, half_widths, heaviest_weight
from optin.kernel.pieces import Array
from optin.planning import Plan


def half_lengths(
    plan: Plan, people: Array, totals: Array, squares: Array, *, cap: float, error: float, noiseless: bool
) -> Array:
    """Return half the length of each interval from those who joined: how many, sum eps, sum eps^2.

    Without noise, everyone who counts has eps 1. Where nobody who counts joined, there is no interval: NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = squares / totals / totals
        scales = np.zeros(len(totals)) if noiseless else plan.width / totals
        heaviest = heaviest_weight(people, weights, (1.0 if noiseless else cap) / totals)
        return half_widths(error, Weighing(plan.width, plan.data_variance, weights, heaviest, scales))[0]
