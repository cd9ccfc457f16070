"""Numbers that tell little about what they were computed from: powers of 2^(1/8), two figures, steps of 1, 2 and 5.

What is announced and published follows from people's limits. Written exactly, it can be solved for them; written so, it
says about as much as people need to judge an offer or a result.
"""

from __future__ import annotations

import math
from fractions import Fraction

_EIGHTHS = (
    *(1.0, 1.0905077326652577, 1.189207115002721, 1.2968395546510096),
    *(1.4142135623730951, 1.5422108254079407, 1.681792830507429, 1.8340080864093424),
)
"""2^(j/8), each the nearest float: the same on every machine."""
_STEPS = (1, 2, 5)
FINENESS = 50
"""A published step is at most one part in so many of the standard error."""


def eighth_power(exponent: int) -> float:
    """Return 2^(exponent/8).

    >>> eighth_power(8), eighth_power(-4)
    (2.0, 0.7071067811865476)
    """
    whole, eighth = divmod(exponent, len(_EIGHTHS))
    return math.ldexp(_EIGHTHS[eighth], whole)


def neighbours(cap: float) -> tuple[float, float]:
    """Return the powers of 2^(1/8) next to a positive number: the largest that is not above it, and the next one.

    >>> neighbours(4.0), [round(power, 3) for power in neighbours(5.0)]
    ((4.0, 4.362030930661031), [4.757, 5.187])
    """
    exponent = math.floor(len(_EIGHTHS) * math.log2(cap))
    while eighth_power(exponent + 1) <= cap:
        exponent += 1
    while eighth_power(exponent) > cap:
        exponent -= 1
    return eighth_power(exponent), eighth_power(exponent + 1)


def is_eighth_power(number: float) -> bool:
    """Tell whether a number is a power of 2^(1/8).

    >>> is_eighth_power(0.5), is_eighth_power(0.6)
    (True, False)
    """
    return 0.0 < number < math.inf and neighbours(number)[0] == number


def _magnitude(number: Fraction) -> int:
    """Return the largest e with 10^e <= number, which is positive.

    A number with so many figures above and below lies between 10^(e-1) and 10^(e+1), where e is the difference of the two.
    """
    found = len(str(number.numerator)) - len(str(number.denominator))
    return found if _power_of_ten(found) <= number else found - 1


def _power_of_ten(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def two_figures_up(number: float | Fraction) -> float:
    """Round up to two figures: what is told is never less than what is true.

    >>> two_figures_up(0.01234), two_figures_up(0.99999), two_figures_up(0.0), two_figures_up(1.3)
    (0.013, 1.0, 0.0, 1.3)
    """
    if not 0 < number < math.inf:  # nothing to round, or no number that could be told
        return float(number)
    exact = _as_written(number)
    unit = _power_of_ten(_magnitude(exact) - 1)
    return float(-(-exact // unit) * unit)


def _as_written(number: float | Fraction) -> Fraction:
    """Return a number as a fraction; a float as it is written, for 1.3 is meant and not what the float holds."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def step_below(most: float | Fraction) -> Fraction:
    """Return the largest step of 1, 2 or 5 times a power of ten that is not above a positive number.

    >>> step_below(0.037), step_below(1.0), step_below(0.0051)
    (Fraction(1, 50), Fraction(1, 1), Fraction(1, 200))
    """
    exact = Fraction(most)
    unit = _power_of_ten(_magnitude(exact))
    leading = exact // unit
    return max(factor for factor in _STEPS if factor <= leading) * unit


def on_step(number: Fraction, step: Fraction) -> Fraction:
    """Return the multiple of a step that is nearest to a number, of two the upper one.

    >>> on_step(Fraction("0.374"), Fraction(1, 50))
    Fraction(19, 50)
    """
    return Fraction(math.floor(number / step + Fraction(1, 2))) * step
