"""E1 and E8: the one number that decides a design, from an array or from sums under a bound.

Both equations ask where a rising, piecewise linear function of the cap reaches a target. `pieces_around` narrows the search
to pieces that provably hold the root; inside one piece the root is a quotient.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optin.kernel.pieces import Limits, Outline, Pieces, Sums

SumsAt = Callable[[float], Sums]
Beyond = Callable[[float, SumsAt], bool]


def optimal_cap(limits: Limits, target: float) -> tuple[float, Sums] | None:
    """Solve E1: the x with sum_i tau_i max(x - tau_i, 0) = target, and the sums over the limits below it.

    The left side is x T - Q with T, Q the sums over limits below x (E6), so between two limits x = (target + Q) / T. All
    terms are positive: nothing cancels, and a piece chosen wrongly by rounding moves x by rounding only. None if no limit is
    finite and positive: then nothing ever rises.

    >>> import numpy as np
    >>> from optin.kernel.passes import ArrayLimits
    >>> optimal_cap(ArrayLimits(np.array([1.0, 4.0, 9.0, 9.0])), target=8.0)[0]
    5.0
    """

    def beyond(x: float, sums_at: SumsAt) -> bool:
        sums = sums_at(x)
        return x * sums.total - sums.squares >= target

    pieces = pieces_around(limits, beyond)
    if pieces.totals[-1] == 0:
        return None
    j = _last_piece_below(pieces.heights, target)
    if pieces.totals[j] == 0:  # the first positive limit starts the rise, however small the target
        j += int(np.argmax(pieces.totals[j:] > 0))
    x = (target + float(pieces.squares[j])) / float(pieces.totals[j])
    return x, pieces.sums_under(x)


def cap_at_reach(limits: Limits, reach: float) -> tuple[float, Sums] | None:
    """Solve E8: the x with sum_i min(tau_i, x) = reach, and the sums below it; None if all limits together do not reach.

    Limits that fall short by rounding alone (12 digits) are taken to reach: everyone then stands at their limit.

    >>> import numpy as np
    >>> from optin.kernel.passes import ArrayLimits
    >>> cap_at_reach(ArrayLimits(np.array([1.0, 4.0, 9.0])), reach=9.0)[0]
    4.0
    """

    def beyond(x: float, sums_at: SumsAt) -> bool:
        sums = sums_at(x)
        return sums.total + (len(limits) - sums.count) * x >= reach

    pieces = pieces_around(limits, beyond)
    j = _last_piece_below(pieces.reaches, reach)
    above = len(limits) - int(pieces.counts[j])
    if above > 0:
        x = max((reach - float(pieces.totals[j])) / above, float(pieces.edges[j]))
        return x, pieces.sums_under(x)
    if float(pieces.totals[-1]) >= reach * (1 - 1e-12):
        return float(pieces.edges[-1]), pieces.sums_under(float(pieces.edges[-1]))
    return None


def pieces_around(limits: Limits, beyond: Beyond) -> Pieces:
    """Find the pieces whose range holds the point where ``beyond`` turns true, for a rising ``beyond``.

    The outline only proposes; a range is accepted when exact sums say false at its foot and true at its top.
    """
    low, high = 0.0, math.inf
    pieces = limits.pieces(low, high) if len(limits) <= limits.few_enough else None
    misses = 0
    while pieces is None:
        outline = limits.outline(low, high) if misses < 2 else limits.buckets().between(low, high)
        misses += 1
        foot, middle, top = _proposal(outline, beyond, low, high)
        candidate = limits.pieces(foot, top)
        if candidate is None:
            low, high = _halved(limits, beyond, low, high, middle)
        elif foot > low and beyond(foot, _exact(limits, candidate)):
            high = foot
        elif top < high and not beyond(top, _exact(limits, candidate)):
            low = top
        else:
            pieces = candidate
    return pieces


def _proposal(outline: Outline, beyond: Beyond, low: float, high: float) -> tuple[float, float, float]:
    """Propose a range around the estimated turning point, as wide as the sample is unsure."""
    edges = outline.edges
    first, last = 0, len(edges)
    while first < last:
        middle = (first + last) // 2
        if beyond(float(edges[middle]), outline.sums_at):
            last = middle
        else:
            first = middle + 1
    margin = _margin(outline, first)
    foot, top = first - 1 - margin, first + margin
    centre = float(edges[min(first, len(edges) - 1)]) if len(edges) else _between(low, high)
    return (float(edges[foot]) if foot >= 0 else low), centre, (float(edges[top]) if top < len(edges) else high)


def _margin(outline: Outline, turn: int) -> int:
    """Say how many edges the turning point may be off: nothing of exact sums, else the root of how many decided it."""
    if outline.exact:
        return 0
    if outline.margin is not None:
        return outline.margin
    return 8 + min(2 * math.isqrt(len(outline.edges)), 4 * math.isqrt(turn))


def _between(low: float, high: float) -> float:
    """Return the float halfway between two others in the order of floats."""
    ends = np.array([low, min(high, np.finfo(float).max)]).view(np.int64)
    return float((ends[:1] + (ends[1] - ends[0]) // 2).view(np.float64)[0])


def _halved(limits: Limits, beyond: Beyond, low: float, high: float, middle: float) -> tuple[float, float]:
    """Cut the range at ``middle`` by one exact evaluation."""
    return (low, middle) if beyond(middle, limits.sums) else (middle, high)


def _exact(limits: Limits, pieces: Pieces) -> SumsAt:
    """Answer from the pieces where they can, else by a pass over the table."""

    def sums_at(bound: float) -> Sums:
        return pieces.sums_at(bound) if pieces.low <= bound <= pieces.high else limits.sums(bound)

    return sums_at


def _last_piece_below(rising: np.ndarray, target: float) -> int:
    return max(int(np.searchsorted(rising, target, side="left")) - 1, 0)
