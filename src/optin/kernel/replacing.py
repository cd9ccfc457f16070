"""E1 for every table that differs from a given one in one person: what a false report does, for everyone at once.

Only the cap moves. The left side of E1 without person i is a prefix sum less one term, and the reported limit adds one
kink, so each question costs a binary search over the sorted limits; all searches advance together, as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array

Indices = NDArray[np.int64]
BLOCK = 1 << 14


@dataclass(frozen=True)
class Replaced:
    """Caps, epsilons of the person in question, and variances (in units of R^2), one for each question."""

    caps: Array
    epsilons: Array
    variances: Array


class OneReplaced:
    """A table of limits, sorted once, that can be asked what happens when one person's limit is another.

    >>> table = OneReplaced(np.array([1.0, 4.0, 9.0, 9.0]))
    >>> table.solve(np.array([0, 1, 2]), np.array([1.0, 4.0, 30.0]), spread=0.25, kappa=2.0).caps
    array([5., 5., 5.])
    """

    def __init__(self, limits: Array) -> None:
        self.people = len(limits)
        order = np.argsort(limits, kind="stable")
        rising = limits[order]
        self.finite = int(np.searchsorted(rising, np.inf))
        self.edges = rising[: self.finite]
        self.places = np.empty(self.people, dtype=np.int64)
        self.places[order] = np.arange(self.people)
        self.totals = np.concatenate(([0.0], np.cumsum(self.edges)))
        self.squares = np.concatenate(([0.0], np.cumsum(self.edges * self.edges)))

    def solve(
        self, who: Indices, reports: Array, *, spread: float, kappa: float, surplus: Array | float = 1.0
    ) -> Replaced:
        """Solve E1 with the limit of person ``who`` replaced by ``reports``; all three arrays have one shape.

        With ``surplus`` B the limits are B times the table's and the caps come out in units of B: E1 then has the target
        kappa / (spread B^2), as E10 needs it.
        """
        asked = np.broadcast_arrays(who, np.asarray(reports, dtype=np.float64), np.asarray(surplus, dtype=np.float64))
        flat = [np.ravel(a) for a in asked]
        parts = [
            self._block(*(a[start : start + BLOCK] for a in flat), spread=spread, kappa=kappa)
            for start in range(0, len(flat[0]), BLOCK)
        ]
        caps, epsilons, variances = (
            np.concatenate(column).reshape(asked[0].shape) for column in zip(*parts, strict=True)
        )
        return Replaced(caps, epsilons, variances)

    def _block(
        self, who: Indices, reports: Array, surplus: Array, *, spread: float, kappa: float
    ) -> tuple[Array, Array, Array]:
        """Answer a block of questions small enough for the processor's cache."""
        place = self.places[who]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            target = np.divide(kappa, spread * surplus * surplus)
            piece = self._piece(place, reports, target)
            total, squares = self._without(self.totals, piece, place), self._without(self.squares, piece, place)
            # In the piece the report adds one kink: the root lies before it, or after it.
            before = np.where(total > 0, (target + squares) / total, np.inf)
            inside = reports < before
            after = (target + squares + reports * reports) / (total + reports)
            caps = np.where(inside & (reports > 0), after, before)
            above = self.people - 1 - (piece - (place < piece)) + ~inside
            reach = total + np.where(inside, reports, 0.0) + np.where(above > 0, above * caps, 0.0)
            noisy = spread * caps / reach  # E5
            alone = self._noiseless(place, reports, spread, noise_variance(kappa, surplus))
        return caps, np.minimum(reports, caps), np.where(np.isfinite(caps), noisy, alone)

    def _piece(self, place: Indices, reports: Array, target: Array) -> Indices:
        """Find how many finite limits lie below each root: the first edge at which the left side reaches the target."""
        low, high = np.zeros(place.shape, dtype=np.int64), np.full(place.shape, self.finite, dtype=np.int64)
        while np.any(low < high):
            middle = (low + high) // 2
            edge = self.edges[np.minimum(middle, self.finite - 1)]
            height = edge * self._without(self.totals, middle, place) - self._without(self.squares, middle, place)
            height = height + np.where(reports < edge, reports * (edge - reports), 0.0)
            reached = (height >= target) & (low < high)
            low, high = np.where(reached | (low >= high), low, middle + 1), np.where(reached, middle, high)
        return low

    def _without(self, sums: Array, piece: Indices, place: Indices) -> Array:
        """Add up the ``piece`` smallest limits but that at ``place``.

        Sums below and above the missing one are added, not the missing one subtracted: if it is the largest, nothing is
        left above it, exactly; if not, the sum is at least half as large with it as without, and nothing cancels.
        """
        at = np.minimum(place, self.finite)
        rest = sums[at] + (sums[piece] - sums[np.minimum(at + 1, self.finite)])
        return np.asarray(np.where(piece > place, rest, sums[piece]))

    def _noiseless(self, place: Indices, reports: Array, spread: float, kappa: Array | float) -> Array:
        """Return the variance where no cap is finite: no finite limit is positive, or there is no sampling error."""
        free = (self.people - self.finite) - (place >= self.finite) + np.isinf(reports)
        everything = self._without(self.totals, np.full(place.shape, self.finite, dtype=np.int64), place)
        reach = everything + np.where(np.isinf(reports), 0.0, reports)
        return np.asarray(np.where(free > 0, spread / free, np.where(reach > 0, noise_variance(kappa, reach), np.inf)))
