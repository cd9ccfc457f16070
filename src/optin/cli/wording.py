"""Numbers as a terminal shows them."""

from __future__ import annotations

import math

__all__ = ["number", "percent", "whole"]


def number(value: float) -> str:
    """Write four significant digits, as people read them.

    >>> number(1234567.0), number(0.083333), number(float("inf"))
    ('1,234,567', '0.08333', 'infinite')
    """
    if math.isinf(value):
        return "infinite"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def percent(ratio: float) -> str:
    """Write a ratio as a percentage, or as a factor when it is large."""
    if math.isinf(ratio):
        return "infinite"
    return f"{ratio:,.0f} x" if ratio >= 10 else f"{100 * ratio:.0f} %"


def whole(people: float) -> str:
    """Count people where the number is a comparison, which has no halves.

    >>> whole(157.3), whole(1.2), whole(0.2)
    ('157 people', '1 person', 'less than 1 person')
    """
    if math.isinf(people):
        return "any number of people"
    return f"{round(people):,} {'person' if round(people) == 1 else 'people'}" if people >= 1 else "less than 1 person"
