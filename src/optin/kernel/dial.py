"""E15: the cap that minimises the worst-case mean squared error when values may be related to limits.

Every design is one turn of a dial: cap = least limit weighs everyone alike, cap = infinity weighs by limit, E1 is the best
for independent values. A gap between people's means adds gap^2 TV^2, and the best design only turns the dial back.
"""

from __future__ import annotations

import numpy as np

from optin.kernel.cap import SumsAt, pieces_around
from optin.kernel.optimum import Design, best_design, design_at
from optin.kernel.pieces import Array, Limits, Pieces, Sums


def robust_design(limits: Limits, *, spread: float, kappa: float, gap: float) -> Design:
    """Minimise spread sum w^2 + kappa / reach^2 + gap^2 TV^2 over all weights and noise (gap in units of R).

    With e the mean epsilon, the cap is the least x with spread h(x) + gap^2 D L >= kappa, where h is E1's left side,
    L = sum of limits below e and D = sum of max(eps - e, 0) = (number below e) e - L. The left side never falls.

    >>> from optin.kernel.passes import ArrayLimits
    >>> robust_design(ArrayLimits(np.array([1.0, 4.0, 9.0, 9.0])), spread=0.25, kappa=2.0, gap=1.0).cap
    3.0
    """
    if gap == 0.0:
        return best_design(limits, spread=spread, kappa=kappa)
    rise = _Rise(len(limits), spread, kappa, gap)
    upper = pieces_around(limits, rise.beyond)
    if upper.totals[-1] == 0:
        return best_design(limits, spread=spread, kappa=kappa)
    lower = pieces_of_means(limits, upper)
    x = _least_cap(upper, lower, rise)
    if x is None:  # even the largest cap pays: the dial stands at its end, everyone at their limit (E1 at spread 0)
        return best_design(limits, spread=spread, kappa=kappa)
    return design_at(x, upper.sums_under(x), people=len(limits), spread=spread, kappa=kappa)


class _Rise:
    """The left side of E15 as a function of the sums at the cap and at the mean epsilon."""

    def __init__(self, people: int, spread: float, kappa: float, gap: float) -> None:
        self.people, self.spread, self.kappa, self.pull = people, spread, kappa, gap * gap

    def mean(self, x: float, at_cap: Sums) -> float:
        return (at_cap.total + (self.people - at_cap.count) * x) / self.people

    def value(self, x: float, at_cap: Sums, at_mean: Sums) -> float:
        upper_half = max(at_mean.count * self.mean(x, at_cap) - at_mean.total, 0.0)
        return self.spread * (x * at_cap.total - at_cap.squares) + self.pull * upper_half * at_mean.total

    def beyond(self, x: float, sums_at: SumsAt) -> bool:
        at_cap = sums_at(x)
        return self.value(x, at_cap, sums_at(self.mean(x, at_cap))) >= self.kappa

    def root(self, at_cap: Sums, at_mean: Sums) -> float:
        """Solve the piece on which both sums stand still: the left side is linear in x there."""
        n, pull = self.people, self.pull * at_mean.total
        slope = self.spread * at_cap.total + pull * at_mean.count * (n - at_cap.count) / n
        constant = self.spread * at_cap.squares + pull * (at_mean.total - at_mean.count * at_cap.total / n)
        return (self.kappa + constant) / slope if slope > 0 else np.inf


def pieces_of_means(limits: Limits, upper: Pieces) -> Pieces:
    """Build the pieces of the mean epsilons that caps in ``upper`` can give."""
    if upper.low == 0 and np.isinf(upper.high):
        return upper
    above = len(limits) - int(upper.counts[-1])
    most = float(upper.totals[-1]) + (above * upper.high if above else 0.0)
    low, high = float(upper.reaches[0]) / len(limits), most / len(limits)
    return limits.all_pieces(float(np.nextafter(low, 0)), float(np.nextafter(high, np.inf)))


def _least_cap(upper: Pieces, lower: Pieces, rise: _Rise) -> float | None:
    """Search the points where either sum changes, then solve the piece before the first that is beyond."""
    turns = np.unique(np.concatenate((upper.edges, caps_with_mean(upper, lower.inside, rise.people))))
    turns = turns[(turns >= upper.low) & (turns <= upper.high)]
    first, last = 0, len(turns)
    while first < last:
        middle = (first + last) // 2
        x = float(turns[middle])
        at_cap = upper.sums_at(x)
        if rise.value(x, at_cap, lower.sums_at(rise.mean(x, at_cap))) >= rise.kappa:
            last = middle
        else:
            first = middle + 1
    foot = float(turns[max(first - 1, 0)])
    top = float(turns[first]) if first < len(turns) else upper.high
    at_cap = upper.sums_at(foot)
    root = rise.root(at_cap, _just_above(lower, foot, top, at_cap, rise))
    x = max(min(root, top), foot)
    return x if np.isfinite(x) else None


def _just_above(lower: Pieces, foot: float, top: float, at_cap: Sums, rise: _Rise) -> Sums:
    """Return the sums at a mean epsilon strictly inside the piece from foot to top."""
    inside = foot + (top - foot) / 2 if np.isfinite(top) else 2 * foot + 1
    return lower.sums_at(rise.mean(inside, at_cap))


def caps_with_mean(upper: Pieces, means: Array, people: int) -> Array:
    """Invert the mean epsilon: the caps at which it equals each of ``means``."""
    reach = means * people
    j = np.maximum(np.searchsorted(upper.reaches, reach, side="right") - 1, 0)
    above = people - upper.counts[j]
    with np.errstate(divide="ignore", invalid="ignore"):
        caps = (reach - upper.totals[j]) / above
    return np.asarray(caps[np.isfinite(caps)])
