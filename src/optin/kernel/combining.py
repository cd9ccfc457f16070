"""E27: how far a difference of groups, or a whole put together from them, may be off; from public numbers alone.

Both are sums a_1 T_1 + a_2 T_2 + … of independent noisy means, each weighted mean of its own people plus noise of its
own. So they are one weighted mean of everybody, with weights a_g w_i: variances add, the noise is a Laplace of scale
|a_g| b for every draw, and skewness is allowed for by the heaviest |a_g| w_i (E22).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from optin.kernel.halfwidth import skewness_allowance
from optin.kernel.mixtures import mixture_quantile
from optin.kernel.noise import LAPLACE
from optin.kernel.spreads import ENOUGH, RELEASED_ERROR, Spread

DECLARED = "normal plus Laplaces, declared variance, skewness allowed for"
_NEAR = 2.0
"""Rounded squares of weights, and parts that groups in tens can have, are less than so many times the exact ones."""
RELEASED = "normal plus Laplaces, released spread, skewness allowed for"


@dataclass(frozen=True)
class Part:
    """One group's noisy mean, and the number it is multiplied by; values lie in a range of this width, the same for all.

    ``declared`` is the declared variance of its values and None where nothing was declared; ``spread`` is what was released
    of it, in units of the range, and None where nothing was. One of them is there. ``rounded`` says that these are told and not
    exact numbers.
    """

    coefficient: float
    squares: float
    heaviest: float
    scales: tuple[float, ...]
    declared: float | None = None
    spread: Spread | None = None
    width: float = 1.0
    rounded: bool = False

    @property
    def weight_squares(self) -> float:
        """Return the squared weights of its people within the sum."""
        return self.coefficient * self.coefficient * self.squares


@dataclass(frozen=True)
class Combination:
    """A sum of noisy means, each times its coefficient."""

    parts: tuple[Part, ...]

    @property
    def scales(self) -> tuple[float, ...]:
        """List the scales of all Laplaces in the sum."""
        return tuple(abs(part.coefficient) * scale for part in self.parts for scale in part.scales)

    @property
    def noise_variance(self) -> float:
        """Return the variance of all Laplaces in the sum."""
        return LAPLACE.sum_variance(self.scales)

    @property
    def heaviest(self) -> float:
        """Return the most that anybody can move the sum."""
        return max(abs(part.coefficient) * part.heaviest * part.width for part in self.parts)

    @property
    def spread(self) -> Spread | None:
        """Average the released variances as they count in the sum, each by k = a^2 W2; None where none was released.

        The average has the noise variance sum k^2 nv / (sum k)^2 and behaves as one of 1 / (sum k^2 W2 / (sum k)^2) people:
        one group's is its own.
        """
        known = [(part.weight_squares, part.spread) for part in self.parts if part.spread is not None]
        total = math.fsum(weight for weight, _ in known)
        if not total:
            return None
        shares = [(weight / total, spread) for weight, spread in known]
        return Spread(
            math.fsum(share * spread.variance for share, spread in shares),
            math.fsum(share * share * spread.noise for share, spread in shares),
            math.fsum(share * share * spread.squares for share, spread in shares),
        )

    @property
    def uses_spread(self) -> bool:
        """Say whether released variances serve: where nothing was declared, or people are enough for it (E22)."""
        spread = self.spread
        undeclared = any(part.declared is None for part in self.parts)
        return spread is not None and (undeclared or spread.squares * ENOUGH <= 1.0)

    @property
    def undecided(self) -> bool:
        """Say whether exact numbers may be on the other side of what is enough: intervals that are told hold for both."""
        spread = self.spread
        declared = all(part.declared is not None for part in self.parts)
        near = spread is not None and 1.0 / _NEAR <= spread.squares * ENOUGH <= _NEAR
        return near and declared and any(part.rounded for part in self.parts)

    def sampling(self, *, released: bool) -> float:
        """Return the variance that people give the sum: released on the high side, or declared."""
        spread = self.spread if released else None
        above = 0.0 if spread is None else spread.above
        return math.fsum(
            part.weight_squares * _variance(part, above, released=spread is not None) for part in self.parts
        )

    def half_width(self, error: float) -> tuple[float, str]:
        """Return half of an interval that holds up to this error probability, and the name of its method.

        >>> one = Part(1.0, 1 / 400, 1 / 400, (1 / 200,), declared=0.25)
        >>> round(Combination((one,)).half_width(0.05)[0], 4)  # as `optin.kernel.halfwidth.half_width` has it
        0.0534
        >>> other = Part(-1.0, 1 / 400, 1 / 400, (1 / 200,), declared=0.25)
        >>> round(Combination((one, other)).half_width(0.05)[0], 4)
        0.0745
        """
        ways = (True, False) if self.undecided else (self.uses_spread,)
        quantile, released = max((self._quantile(error, released=way), way) for way in ways)
        return quantile + skewness_allowance(error) * self.heaviest, RELEASED if released else DECLARED

    def _quantile(self, error: float, *, released: bool) -> float:
        shared = RELEASED_ERROR * error if released else error
        return mixture_quantile(shared, sd=math.sqrt(self.sampling(released=released)), scales=self.scales)


def as_one_group(reaches: Sequence[float], sampling: Sequence[float], noise: float) -> float:
    """Return the least variance of one mean with one draw of noise if no group gives more than it gives by itself.

    Group g gives the part c_g <= 1 of its epsilons, which add up to E_g and whose own mean has the sampling variance v_g.
    V = (sum c^2 S + noise) / (sum c E)^2 with S = v E^2 is least where c = min(1, x E / S) and
    sum E max(x - S / E, 0) = noise: E1 among groups, so x is found in the same way. ``noise`` is that at sum c E = 1. The
    best plan without groups is at least as accurate; it could also cap people within groups otherwise. A group without any
    limit (E infinite) gives x / v, as much as it should.

    >>> as_one_group([2.0], [0.25], 2.0), as_one_group([2.0, 2.0], [0.25, 0.25], 2.0)
    (0.75, 0.25)
    >>> as_one_group([math.inf], [0.25], 2.0), as_one_group([math.inf, 2.0], [0.25, 0.25], 2.0)
    (0.25, 0.1875)
    """
    given_both = list(zip(reaches, sampling, strict=True))
    endless = [variance for reach, variance in given_both if math.isinf(reach)]
    if not all(endless) or len(endless) == len(given_both):
        return 1.0 / math.fsum(1.0 / variance for variance in endless) if all(endless) else 0.0
    thresholds = sorted((variance * reach, reach) for reach, variance in given_both if math.isfinite(reach))
    total = squares = 0.0
    for place, (threshold, reach) in enumerate(thresholds):
        total, squares = total + reach, squares + threshold * reach
        cap = (noise + squares) / total
        if place + 1 == len(thresholds) or cap <= thresholds[place + 1][0]:
            break
    given = [reach * min(1.0, cap / threshold if threshold else 1.0) for threshold, reach in thresholds]
    return cap / math.fsum([*given, *(cap / variance for variance in endless)])


def _variance(part: Part, above: float, *, released: bool) -> float:
    if part.declared is None or (released and part.spread is not None):
        return above * part.width * part.width
    return part.declared
