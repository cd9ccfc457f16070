"""E10 and E11: one scalar y that parameterises every design quasi-linear people could be offered.

With t_i = 1/c_i and y = cap / surplus, the sums over t below y give the variance V(y) and the price B(y): the surplus that
the tightest person needs. V never falls and B always falls in y, so on [y1, y2] nothing is feasible if the gain at V(y1)
is below B(y2). The optimum is the smallest y whose gain covers its price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array, Pieces


class Pricing(Protocol):
    """Variance and price of the design y, given how many t lie above y and the sums T, Q of those below."""

    def variance(self, y: float, above: float, total: float, squares: float) -> float:
        """Return V(y) in units of R^2."""

    def price(self, y: float, above: float, total: float, squares: float) -> float:
        """Return B(y): the surplus at which the limits surplus * t carry this design."""

    def y_of(self, price: float, above: float, total: float, squares: float) -> float:
        """Invert the price on one piece."""

    def polynomial(self, pieces: Pieces, base: float, slope: float) -> tuple[Array, Array, Array]:
        """For the gain base - slope V: where gain >= price on each piece, as a polynomial in a rising variable.

        Returns coefficients (lowest first, one row a piece), the variable at each piece's ends, and the size of each
        term, by which rounding is judged.
        """

    def y_at(self, variable: float, total: float, squares: float) -> float:
        """Turn the polynomial's variable back into y."""


@dataclass(frozen=True)
class OverNoise:
    """The best noise for every design: V = spread y / T(y), B = sqrt(kappa / (spread S(y))) (E10).

    ``copies`` counts how often every person is there: the same people, more of them.
    """

    spread: float
    kappa: float
    copies: float = 1.0

    def variance(self, y: float, above: float, total: float, squares: float) -> float:
        """Return spread y / T(y)."""
        if total == 0:
            return self.spread / (self.copies * above) if above else math.inf
        if math.isinf(y):
            return self.spread / (self.copies * above) if above else math.inf
        return self.spread * y / (self.copies * (total + above * y))

    def price(self, y: float, above: float, total: float, squares: float) -> float:
        """Return sqrt(kappa / (spread S(y))); nobody carries a design with S = 0."""
        height = y * total - squares
        return math.sqrt(self.kappa / (self.spread * self.copies * height)) if height > 0 else math.inf

    def y_of(self, price: float, above: float, total: float, squares: float) -> float:
        """Solve E1 for limits price * t: y = (kappa / (spread price^2) + Q) / T."""
        return (self.kappa / (self.spread * self.copies * price) / price + squares) / total

    def polynomial(self, pieces: Pieces, base: float, slope: float) -> tuple[Array, Array, Array]:
        """Multiply gain >= price out in z = sqrt(y T - Q): a cubic, with no square that would add roots."""
        above, total, squares = _columns(pieces)
        slope = slope * self.spread / self.copies
        beta = math.sqrt(self.kappa / (self.spread * self.copies))
        per, shift = 1.0 / total, squares / total
        lift = base * above - slope
        width = total + above * shift
        terms = np.stack([-beta * width, base * total + lift * shift, -beta * above * per, lift * per], 1)
        sizes = np.stack([beta * width, abs(base) * width + slope * shift, beta * above * per, slope * per], 1)
        sizes[:, 3] += abs(base) * above * per
        ends = np.concatenate((pieces.edges, [pieces.high]))
        at = np.sqrt(np.maximum(np.stack([ends[:-1], ends[1:]], 1) * total[:, None] - squares[:, None], 0.0))
        return terms, at, sizes

    def y_at(self, variable: float, total: float, squares: float) -> float:
        """Return (z^2 + Q) / T."""
        return (variable * variable + squares) / total


@dataclass(frozen=True)
class AtReach:
    """A given eta (Theorem 1): B = reach / T(y), V = spread (Q + k y^2) / T(y)^2 + kappa / reach^2 (E11)."""

    spread: float
    kappa: float
    reach: float
    copies: float = 1.0

    def variance(self, y: float, above: float, total: float, squares: float) -> float:
        """Return the variance of weights proportional to min(y, t), with the given noise."""
        noise = noise_variance(self.kappa, self.reach)
        if math.isinf(y) or y == 0 or total == 0:
            return self.spread / (self.copies * above) + noise if above else math.inf
        sampling = self.spread * (squares + above * y * y) / (total + above * y) / (total + above * y)
        return sampling / self.copies + noise

    def price(self, y: float, above: float, total: float, squares: float) -> float:
        """Return the surplus at which the limits add up to the reach."""
        width = self.copies * (total + above * y if above else total)
        return self.reach / width if width > 0 else math.inf

    def y_of(self, price: float, above: float, total: float, squares: float) -> float:
        """Solve reach = price (T + k y); with nobody above, every y is the same design."""
        return (self.reach / (self.copies * price) - total) / above if above else 0.0

    def polynomial(self, pieces: Pieces, base: float, slope: float) -> tuple[Array, Array, Array]:
        """Multiply gain >= price out by T(y)^2: a quadratic in y."""
        above, total, squares = _columns(pieces)
        base = base - slope * noise_variance(self.kappa, self.reach)
        slope = slope * self.spread / self.copies
        reach = self.reach / self.copies
        zero = np.zeros_like(total)
        constant = base * total * total - slope * squares - reach * total
        linear = 2 * base * total * above - reach * above
        square = base * above * above - slope * above
        sizes = np.abs(base) * np.stack([total * total, 2 * total * above, above * above, zero], 1)
        sizes = sizes + np.stack([slope * squares + reach * total, reach * above, slope * above, zero], 1)
        ends = np.concatenate((pieces.edges, [pieces.high]))
        return np.stack([constant, linear, square, zero], 1), np.stack([ends[:-1], ends[1:]], 1), sizes

    def y_at(self, variable: float, total: float, squares: float) -> float:
        """Return y itself."""
        return variable


@dataclass(frozen=True)
class ByVariance:
    """Designs named by their variance itself, when there is no sampling error (sigma^2 = 0)."""

    kappa: float
    total: float

    def variance(self, y: float, above: float, total: float, squares: float) -> float:
        """Return the variance that names the design."""
        return y

    def price(self, y: float, above: float, total: float, squares: float) -> float:
        """Return the surplus at which all limits together give that little noise."""
        return math.sqrt(self.kappa / y) / self.total if y > 0 else math.inf

    def y_of(self, price: float, above: float, total: float, squares: float) -> float:
        """Solve V = kappa / (price T)^2."""
        return noise_variance(self.kappa, price * self.total)

    def polynomial(self, pieces: Pieces, base: float, slope: float) -> tuple[Array, Array, Array]:
        """Refuse: without spread there is one piece, searched by calling the benefit."""
        raise AssertionError("no polynomial without spread")

    def y_at(self, variable: float, total: float, squares: float) -> float:
        """Return the variance itself."""
        return variable


def _columns(pieces: Pieces) -> tuple[Array, Array, Array]:
    return (pieces.people - pieces.counts).astype(np.float64), pieces.totals, pieces.squares


@dataclass(frozen=True)
class Noised:
    """What prices a design: spread, noise constant, the given reach (None: the best), and how often everyone is there."""

    spread: float
    kappa: float
    reach: float | None = None
    copies: float = 1.0

    def pricing(self) -> Pricing:
        """Return prices with the best noise, or with the given one."""
        if self.reach is None:
            return OverNoise(self.spread, self.kappa, self.copies)
        return AtReach(self.spread, self.kappa, self.reach, self.copies)
