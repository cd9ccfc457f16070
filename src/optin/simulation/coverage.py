"""How far a simulated estimate may be off: the interval of a release (E14), for many turnouts at once."""

from __future__ import annotations

import math

import numpy as np

from optin.kernel.ladder import Array
from optin.planning import Plan
from optin.releasing.intervals import FEW_PEOPLE, hoeffding_reach, laplace_reach, normal_laplace_reach

__all__ = ["reaches"]

POINTS = 33


def reaches(plan: Plan, totals: Array, squares: Array, *, error: float, noiseless: bool) -> Array:
    """Return half the length of each interval from sum eps and sum eps^2 of those who joined.

    In units of the noise, the quantile depends on r = sd / scale alone. Between the smallest and the largest r it is read
    off at a few points and joined by straight lines: it is convex, so these lie above it by parts in a million.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = squares / totals / totals
        scales = np.zeros(len(totals)) if noiseless else plan.width / totals
        sds = np.sqrt(plan.data_variance * weights)
        normal = _normal_laplace(sds, scales, error)
        share = error if noiseless else error / 2.0
        few = hoeffding_reach(share, width=plan.width, sum_squared_weights=1.0) * np.sqrt(weights)
        few += laplace_reach(share, scale=1.0) * scales
    return np.where(weights * FEW_PEOPLE > 1.0, few, normal)


def _normal_laplace(sds: Array, scales: Array, error: float) -> Array:
    if not scales.any():
        return sds * normal_laplace_reach(error, sd=1.0, scale=0.0)
    ratios = sds / scales
    known = np.isfinite(ratios)
    if not known.any():
        return np.full(len(sds), math.nan)
    places = np.unique(np.linspace(ratios[known].min(), ratios[known].max(), POINTS))
    quantiles = [normal_laplace_reach(error, sd=float(r), scale=1.0) for r in places]
    return np.asarray(scales * np.interp(ratios, places, quantiles))
