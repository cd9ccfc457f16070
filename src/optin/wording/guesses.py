"""What taking part means, as a frequency beside that of declining: how often someone who guesses is right.

Frequencies beside the choice of staying out are understood better than factors, and far better than an epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from optin.wording.language import _

OUT_OF = 100
BY_CHANCE = 50
FIRST_CHOICES = (2, 4, 5, 6, 7)
"""The steps of the ladder that are shown at once; the others stand behind "more choices"."""
SUGGESTED = 5
"""The step that optin suggests to whoever is unsure, wherever it is asked: no analyst can change it."""


def right_in_100(epsilon: float) -> int:
    """Say how often in 100 someone who guesses between two answers is right at most, rounded up; by chance it is 50 (E17).

    >>> [right_in_100(epsilon) for epsilon in (0.0, 0.05, 0.25, 0.5, 1.0, 2.0, 50.0)]
    [50, 52, 57, 63, 74, 89, 100]
    """
    return int(_right(epsilon, 1))


def right_apart(epsilon: float, others: Iterable[float]) -> float:
    """Say it with one digit more where another limit would be told alike; rounded up all the same.

    >>> [right_apart(epsilon, (0.01, 0.02, 0.5)) for epsilon in (0.01, 0.02, 0.5)]
    [50.3, 50.5, 63]
    """
    in_100 = right_in_100(epsilon)
    return (
        _right(epsilon, 10) if any(other != epsilon and right_in_100(other) == in_100 for other in others) else in_100
    )


def _right(epsilon: float, parts: int) -> float:
    if epsilon <= 0:
        return BY_CHANCE
    return min(math.ceil(OUT_OF * parts / (1.0 + math.exp(-min(epsilon, 700.0))) + 1e-9) / parts, OUT_OF)


def guess_words(epsilon: float) -> str:
    """Say what taking part can change, beside declining.

    >>> print(guess_words(0.25))
    Someone guessing between two answers of yours is right 50 times in 100 if you decline, and at most 57 in 100 if you take part.
    """
    return _(
        "Someone guessing between two answers of yours is right {by_chance} times in {out_of} if you "
        "decline, and at most {right} in {out_of} if you take part.",
        by_chance=BY_CHANCE,
        out_of=OUT_OF,
        right=right_in_100(epsilon),
    )
