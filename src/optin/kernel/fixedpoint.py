"""E9 for benefits that differ from person to person: the least fixed point of a rising map, bracketed from both sides.

If M never falls, every fixed point lies at or above M(L) for any L at or below the least one, and at or below any U with
M(U) <= U. Climbing from below proves what is excluded; trial points from extrapolation, once M(U) <= U holds, prove an end.
"""

from __future__ import annotations

import math
from collections.abc import Callable

CLOSE = 1e-13
STEPS = 20_000


def least_fixed_point(
    rising: Callable[[float], float], start: float, *, iterations: int = STEPS
) -> tuple[float | None, bool]:
    """Return the least V with M(V) = V (None if there is none), and whether that was left undecided.

    The value returned is the upper end of the final bracket, so M(V) <= V holds for it as computed.

    >>> round(least_fixed_point(lambda v: 0.5 * v + 1.0, 0.0)[0], 12)
    2.0
    """
    low, high = start, math.inf
    gap = math.inf
    for iteration in range(iterations):
        after = rising(low)
        if after <= low:
            return low, False
        if not after < 1e300:
            return None, False
        last, gap = gap, after - low
        low = after
        if iteration < 16 or iteration % 8 == 0:  # a trial costs as much as two steps and fails on a long climb
            high = min(high, _proved(rising, low, gap, last))
        if high < math.inf and high - low <= CLOSE * high:
            return high, False
    return (high, True) if high < math.inf else (None, True)


def _proved(rising: Callable[[float], float], low: float, gap: float, last: float) -> float:
    """Try the limit that the last two steps point to, a little above it: infinite unless M is below the line there."""
    if not 0 < gap < last:
        return math.inf
    ahead = gap * gap / (last - gap)
    for trial in (low + 1.001 * ahead, low * (1 + CLOSE / 2)):
        if trial - low <= 0.25 * low and rising(trial) <= trial:
            return trial
    return math.inf
