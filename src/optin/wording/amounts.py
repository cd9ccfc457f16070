"""Estimates and ± as people read them: proportions in per cent and points, other numbers in their own unit."""

from __future__ import annotations

from optin.wording.language import _
from optin.wording.numbers import ends, meaningful, plus_minus, short


def written(number: float, half: float, *, proportion: bool, unit: str = "") -> str:
    """Write an estimate with the digits that half of its interval leaves meaningful.

    >>> written(0.31416, 0.042, proportion=True), written(38.2171, 0.6, proportion=False, unit="hours")
    ('31.4 %', '38.22 hours')
    >>> written(-2.024163, 0.0, proportion=True)
    '-202 %'
    """
    scale, after = (100.0, " %") if proportion else (1.0, f" {unit}".rstrip())
    return f"{meaningful(scale * number, scale * half) if half > 0 else short(scale * number)}{after}"


def between(low: float, high: float, *, proportion: bool, unit: str = "") -> str:
    """Write both ends of an interval.

    >>> between(0.27216, 0.35616, proportion=True), between(37.6, 38.8, proportion=False, unit="hours")
    ('27.2 to 35.7 %', '37.60 to 38.80 hours')
    """
    half = (high - low) / 2
    scale, after = (100.0, " %") if proportion else (1.0, f" {unit}".rstrip())
    first, last = ends((scale * low, scale * high), scale * half)
    return _("{first} to {last}{after}", first=first, last=last, after=after)


def plus_minus_of(half: float, *, proportion: bool, unit: str = "") -> str:
    """Write ±, of a proportion in points of a hundred.

    >>> plus_minus_of(0.042, proportion=True), plus_minus_of(0.6124, proportion=False, unit="hours")
    ('± 4.2 points', '± 0.613 hours')
    """
    return _("{half} points", half=plus_minus(100 * half)) if proportion else f"{plus_minus(half)} {unit}".rstrip()
