"""Round towards privacy: what no float holds, and what float arithmetic rounds, always ends on the person's side.

A limit and a budget may only fall by rounding, a cost may only rise. The steps are plain float64 operations, so that an
engine that takes the same ones finds the same numbers.
"""

from __future__ import annotations

import contextlib
import decimal
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from optin.kernel.pieces import Array

GRAIN = 2.0**32
"""Grains in one epsilon: promises are whole grains (E13). The only place that says so."""
LOWERED = 1.0 - 2.0**-51
"""What is left of a computed limit after the room for its rounding."""
LESS = 1.0 - 2.0**-53
"""What turns a normal float into the one below."""
MORE = 1.0 + 2.0**-52
"""What turns a normal float into the one above, or the next but one."""
SPLITTER = 2.0**27 + 1.0
"""What cuts a float into two halves whose products are exact (Dekker)."""
TINY = 1e-280


def epsilon_of(grains: Any) -> Any:  # noqa: ANN401 - of one person, or an array of them
    """Return grains as epsilon: dividing by a power of two is exact, where a float holds so many grains."""
    return grains / GRAIN


def exact_epsilon(grains: int) -> Fraction:
    """Return grains as epsilon, without rounding.

    >>> exact_epsilon(3 << 30)
    Fraction(3, 4)
    """
    return Fraction(grains, int(GRAIN))


def lowered(limits: Array) -> Array:
    """Lower computed limits by four parts in 2^53, so that rounding never favours the analyst.

    A quasi-linear limit is ``(f - o) / c``: one subtraction and one division, each rounded, and the cost may have been
    rounded when it was read. Lowering the result makes ``c * eps <= f - o`` hold in exact arithmetic:
    (1 + 2^-53)^4 (1 - 2^-51) < 1.
    """
    return limits * LOWERED


def below(number: Any) -> float:  # noqa: ANN401 - an int, Fraction, Decimal or float of any width
    """Return the largest float that is not above an exact number; NaN stays NaN.

    >>> below(2**53 + 1) == 2.0**53, below(decimal.Decimal("0.99999999999999999999")) < 1
    (True, True)
    """
    number = _exact(number)
    rounded = nearest(number)
    return math.nextafter(rounded, -math.inf) if not math.isnan(rounded) and rounded > number else rounded


def above(number: Any) -> float:  # noqa: ANN401
    """Return the smallest float that is not below an exact number.

    >>> above(2**53 + 1) == 2.0**53 + 2
    True
    """
    number = _exact(number)
    rounded = nearest(number)
    return math.nextafter(rounded, math.inf) if not math.isnan(rounded) and rounded < number else rounded


def _exact(number: Any) -> Any:  # noqa: ANN401
    """Return whole numbers of numpy as Python's, which are compared with floats without rounding."""
    return int(number) if isinstance(number, np.integer) else number


def nearest(number: Any) -> float:  # noqa: ANN401
    """Round an exact number to the nearest float; past the largest one, infinity."""
    with contextlib.suppress(OverflowError):
        return float(number)
    return math.inf if number > 0 else -math.inf


def limit_below(close: float, exact: Any) -> float:  # noqa: ANN401
    """Return the float nearest to a limit, or the one below where the nearest would count a grain more.

    Only a whole number of grains can be one too many: any other float lies between the same two as the limit itself.

    >>> limit_below(1.0, decimal.Decimal("0.99999999999999999999")) < 1, limit_below(0.1, decimal.Decimal("0.1"))
    (True, 0.1)
    """
    if (close * GRAIN).is_integer() and close > exact:
        return math.nextafter(close, 0.0)
    return close


def limit_of_text(text: str) -> float:
    """Read a limit that someone typed; ValueError if it is no number.

    >>> limit_of_text("0.1"), limit_of_text("0.99999999999999999999") < 1
    (0.1, True)
    """
    close = float(text)
    return limit_below(close, decimal.Decimal(text.strip())) if 0 < close < math.inf else close


def limit_of(given: Any) -> float:  # noqa: ANN401
    """Read a limit that was given as a number of any kind or as text; ValueError, TypeError or ArithmeticError if it is none.

    >>> limit_of(decimal.Decimal("0.99999999999999999999")) < 1, limit_of(".5"), limit_of(np.int64(2))
    (True, 0.5, 2.0)
    """
    if isinstance(given, str):
        return limit_of_text(given)
    close = float(given)
    return limit_below(close, given) if 0 < close < math.inf else close


def quotient_below(top: Array, cost: Array) -> Array:
    """Divide, so that cost * quotient <= top in exact arithmetic; infinite where the cost is 0 (0/0 too) or the top is.

    >>> quotient_below(np.array([1.0, 1.0, 0.0]), np.array([4.0, 5.0, 0.0])).tolist()
    [0.25, 0.19999999999999998, inf]
    """
    with np.errstate(all="ignore"):
        quotient = not_above(top, cost, top / cost, where=np.where)
    return np.where((cost == 0) | (top == np.inf), np.inf, quotient)


def not_above(top: Any, cost: Any, quotient: Any, *, where: Any, exact: Callable[[float], Any] = float) -> Any:  # noqa: ANN401
    """Lower a quotient to the float below where cost * quotient > top, in exact arithmetic; arrays and columns alike.

    The product is known to its last bit (Dekker) and lies next to the top, so the sign of the difference is right. So small
    that halves of a product vanish, far below one grain, a quotient is 0.
    """
    product, rest = _product(cost, quotient, exact(SPLITTER))
    fitting = where((product - top) + rest > exact(0.0), quotient * exact(LESS), quotient)
    return where((top < exact(TINY)) | (quotient < exact(TINY)), exact(0.0), fitting)


def line_below(base: Any, slope: Any, at: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Compute base - slope * at, rounded down.

    >>> 1e12 - line_below(1e12, 1.0, 0.1), line_below(2.0, 4.0, 0.25)
    (0.10009765625, 1.0)
    """
    with np.errstate(all="ignore"):
        plain = base - slope * at
        product, rest = _product(slope, at, SPLITTER)
        small = (np.abs(product) < TINY) & (slope != 0) & (at != 0)  # so small that its halves vanish
        product, rest = np.where(small, np.nextafter(product, np.inf), product), np.where(small, 0.0, rest)
        total, lost = _sum(base, -product)
        small, last = _sum(lost, -rest)
        total, lost = _sum(total, small)
        line = np.where(lost + last < 0, np.nextafter(total, -np.inf), total)
        far = np.nextafter(np.nextafter(plain, -np.inf), -np.inf)  # so large that halves overflow
        line = np.where(np.isfinite(line), line, far)
    return float(line) if line.ndim == 0 else line


def line_above(base: Any, slope: Any, at: Any) -> Any:  # noqa: ANN401
    """Compute base - slope * at, rounded up."""
    return -line_below(-base, -slope, at)


def _product(a: Any, b: Any, splitter: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a product and what its rounding lost (Dekker)."""
    product = a * b
    high_a, high_b = _high(a, splitter), _high(b, splitter)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _high(a: Any, splitter: Any) -> Any:  # noqa: ANN401
    scaled = a * splitter
    return scaled - (scaled - a)


def _sum(a: Any, b: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a sum and what its rounding lost (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)
