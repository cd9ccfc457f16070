"""How far a noisy mean may be off: the quantile of people and noise together (E14)."""

from __future__ import annotations

import math
from collections.abc import Callable

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_FAR = -12.0


def laplace_quantile(error: float, *, scale: float) -> float:
    """Return t with P(|Laplace| > t) = error."""
    return scale * math.log(1.0 / error)


def normal_laplace_quantile(error: float, *, sd: float, scale: float) -> float:
    """Return t with P(|Normal + Laplace| > t) = error, rounded up by bisection down to the last float."""
    if sd == 0.0:
        return laplace_quantile(error, scale=scale)
    high = sd + scale
    while sum_above(high, sd=sd, scale=scale) > error / 2.0:
        high *= 2.0
    return bisect(lambda t: sum_above(t, sd=sd, scale=scale) > error / 2.0, high)


def bisect(too_low: Callable[[float], bool], high: float) -> float:
    """Find where a condition on numbers from 0 up to ``high`` stops to hold, to the last bit."""
    low = 0.0
    while low < (middle := low + (high - low) / 2.0) < high:
        if too_low(middle):
            low = middle
        else:
            high = middle
    return high


def sum_above(t: float, *, sd: float, scale: float) -> float:
    """Return P(Normal(0, sd) + Laplace(scale) > t) for t >= 0, E14's formula in a form that does not cancel."""
    u = t / sd
    above = math.exp(log_normal_below(-u))
    if scale == 0.0:
        return above
    r = sd / scale
    return above + 0.5 * (math.exp(_exponent(u, r, sign=1.0)) - math.exp(_exponent(u, r, sign=-1.0)))


def _exponent(u: float, r: float, *, sign: float) -> float:
    """Return r^2/2 -+ u r + log Phi(x) with x = +-u - r.

    Since r^2/2 -+ u r = (x^2 - u^2) / 2, the square of a very negative x is dropped together with the same square
    inside log Phi(x) instead of being subtracted from it.
    """
    x = sign * u - r
    if x < _FAR:
        return -u * u / 2.0 + _log_scaled_tail(x)
    return r * (r / 2.0 - sign * u) + log_normal_below(x)


def log_normal_below(x: float) -> float:
    """Return log Phi(x) to full relative accuracy at both ends."""
    if x < _FAR:
        return -x * x / 2.0 + _log_scaled_tail(x)
    if x > 1.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))


def _log_scaled_tail(x: float) -> float:
    """Return log Phi(x) + x^2/2 for x far below 0, by the asymptotic series 1 - 1/x^2 + 3/x^4 - 15/x^6 ..."""
    term = total = 1.0
    for k in range(1, 12):
        term *= -(2 * k - 1) / (x * x)
        total += term
    return math.log(total) - math.log(-x) - _LOG_ROOT_TWO_PI
