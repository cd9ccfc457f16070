"""E22 before anything is drawn: half of the interval that planned or announced sums lead to, which is what ± means."""

from __future__ import annotations

import decimal
import math
from typing import Protocol

import numpy as np

from optin.errors import BadInput
from optin.kernel.halfwidth import Weighing, half_width, heaviest_weight

__all__ = ["at_most", "check_level", "counted_between", "plus_minus", "reach", "tilt_at"]


class Terms(Protocol):
    """What a plan and an announcement have in common here."""

    @property
    def width(self) -> float: ...
    @property
    def data_variance(self) -> float: ...
    @property
    def max_gap(self) -> float: ...
    @property
    def tilt(self) -> float: ...
    @property
    def people(self) -> int: ...


def tilt_at(terms: Terms, turnout: float) -> float:
    """Bound the tilt (E15) where this share of people comes, their sums at the average: who is gone counts for nothing.

    sum max(w - t/n, 0) is at most sum max(w - 1/n, 0) + 1 - t.
    """
    return min(terms.tilt + (1.0 - turnout), 1.0)


def reach(terms: Terms, level: float, *, people: float, squares: float, at_cap: float, scale: float) -> float:
    """Return half of the interval for these sums: everyone's, or those of so many people as come."""
    heaviest = float(heaviest_weight(people, squares, at_cap))
    weighing = Weighing(terms.width, terms.data_variance, squares, heaviest, scale)
    return half_width(check_level(level), weighing)[0] + terms.max_gap * tilt_at(terms, people / terms.people)


def plus_minus(half: float, digits: int = 3) -> str:
    """Write ± and half of an interval, wherever it is written, rounded up: it is never narrower than the interval.

    >>> plus_minus(0.14498), plus_minus(0.1412), plus_minus(1234.5), plus_minus(0.0000012345)
    ('± 0.145', '± 0.142', '± 1,240', '± 1.24e-6')
    """
    return f"± {at_most(half, digits)}"


def at_most(number: float, digits: int = 3) -> str:
    """Write a number with three significant digits, never less than it is: a bound that is rounded down is none.

    >>> at_most(7521.3), at_most(1.2841), at_most(0.5), at_most(0.1), at_most(float("inf"))
    ('7,530', '1.29', '0.5', '0.1', '∞')
    """
    if not math.isfinite(number):
        return "∞"
    up = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)
    rounded = up.create_decimal(repr(float(number))).normalize()  # as it is written, so that 0.1 stays 0.1
    return f"{rounded:,f}" if number == 0 or 1e-5 <= abs(number) < 1e15 else f"{rounded:e}"


def counted_between(bounds: tuple[float, float]) -> str:
    """Say of which values a mean is one: those beyond a bound count as the bound.

    >>> "the mean of values " + counted_between((0.0, 40.0))
    'the mean of values counted between 0 and 40'
    """
    return f"counted between {bounds[0]:,.10g} and {bounds[1]:,.10g}"


def check_level(level: object) -> float:
    """Return the error probability that a level leaves."""
    if not isinstance(level, (float, np.floating)) or not 0.0 < level < 1.0:
        raise BadInput("level must be a number strictly between 0 and 1, for example 0.95")
    return 1.0 - float(level)
