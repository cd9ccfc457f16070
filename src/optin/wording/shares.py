"""What someone counts beside an equal share, in the same words wherever a deal is told."""

from __future__ import annotations

from optin.wording.language import _
from optin.wording.numbers import at_least, at_most, short

_NEAR = 1.25
"""Ends so near to each other are told as what lies between them."""


def is_equal(shares: tuple[float, float]) -> bool:
    """Say whether someone counts about as much as others, and this is known.

    >>> is_equal((0.99, 1.05)), is_equal((1.3, 1.31)), is_equal((0.5, 1.5))
    (True, False, False)
    """
    low, high = shares
    return high <= _NEAR * low and 0.95 <= (low + high) / 2 <= 1.05


def times_words(shares: tuple[float, float]) -> str:
    """Say how many times an equal share someone counts: about, or between which bounds where people are counted in tens.

    >>> times_words((1.3, 1.31)), times_words((0.859, 0.861)), times_words((1.0, 1.713))
    ('about 1.3 times', 'about 0.86 times', 'between 1 and 1.8 times')
    """
    low, high = shares
    if high <= _NEAR * low:
        return _("about {multiple} times", multiple=short((low + high) / 2, 2))
    return _("between {low} and {high} times", low=at_least(low, 2), high=at_most(high, 2))
