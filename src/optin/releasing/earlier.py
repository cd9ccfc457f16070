"""The intervals that a release of format 1 stated before E22: read and compared, never written.

They were not cut at the bounds, and below 30 effective people Hoeffding's bound stood in for the normal distribution.
A file that states them is as good as new: its integers, from which everything follows, are under its fingerprint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optin.kernel.tails import laplace_quantile, normal_laplace_quantile
from optin.questions.intervals import widened

if TYPE_CHECKING:
    from optin.releasing.record import Release

_ERROR = 1.0 - 0.95
_FEW_PEOPLE = 30.0


def earlier_statements(release: Release) -> dict[str, Any]:
    """Return what an earlier optin wrote about the intervals of this release."""
    noise = laplace_quantile(_ERROR, scale=release.noise_scale) + release.rounding
    people, method = _total(release)
    total = people + release.rounding + release.bias_bound
    return {
        "noise_interval_95": list(widened(release.estimate, noise)),
        "total_interval_95": list(widened(release.estimate, total)),
        "total_interval_method": method,
    }


def _total(release: Release) -> tuple[float, str]:
    offer, squares, scale = release.announcement, release.sum_squared_weights, release.noise_scale
    if squares * _FEW_PEOPLE <= 1.0:
        sd = math.sqrt(offer.data_variance * squares)
        return normal_laplace_quantile(_ERROR, sd=sd, scale=scale), "normal plus Laplace, declared variance"
    share = _ERROR if offer.noiseless else _ERROR / 2.0
    people = offer.width * math.sqrt(math.log(2.0 / share) * squares / 2.0)
    return people + laplace_quantile(share, scale=scale), "Hoeffding and Laplace, error split"
