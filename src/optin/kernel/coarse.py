"""Numbers that tell little about what they were computed from: powers of 2^(1/8), few figures, steps of 1, 2 and 5.

What is announced and published follows from people's limits. Written exactly, it can be solved for them; written so, it
says about as much as people need to judge an offer or a result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

_EIGHTHS = (
    *(1.0, 1.0905077326652577, 1.189207115002721, 1.2968395546510096),
    *(1.4142135623730951, 1.5422108254079407, 1.681792830507429, 1.8340080864093424),
)
"""2^(j/8), each the nearest float: the same on every machine."""
_STEPS = (1, 2, 5)
_TWELVE = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)
_TWENTY_FOUR = (*(10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30), *(33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91))
_ALL = range(10, 100)
_BY_PEOPLE: tuple[tuple[int, Sequence[int]], ...] = ((10, _ALL), (100, _TWELVE), (250, _TWENTY_FOUR))
"""Below so many people, so many figures to a decade (preferred numbers of IEC 60063); else, and below ten, any two figures."""
COARSEST = Fraction(5, 4)
"""What is told is less than so many times what is true."""
FINENESS = 50
"""A published step is at most one part in so many of the standard error."""


def eighth_power(exponent: int) -> float:
    """Return 2^(exponent/8).

    >>> eighth_power(8), eighth_power(-4)
    (2.0, 0.7071067811865476)
    """
    power, eighth = divmod(exponent, len(_EIGHTHS))
    return math.ldexp(_EIGHTHS[eighth], power)


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
    exponent = len(str(number.numerator)) - len(str(number.denominator))
    return exponent if _power_of_ten(exponent) <= number else exponent - 1


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


def told_up(number: float | Fraction, people: int) -> float:
    """Round up what follows from the limits of so many people: the fewer they are, the fewer figures there are to choose from.

    One of 25 people moves a sum by some hundredths, and two figures show it. Below 250 people it is rounded up to one of 24
    figures in a decade, below 100 to one of 12. Fewer than ten are only announced to where limits are no secret.

    >>> told_up(0.0123, 1000), told_up(0.0135, 100), told_up(0.0123, 25), told_up(9.3, 25), told_up(0.0123, 4)
    (0.013, 0.015, 0.015, 10.0, 0.013)
    """
    told = two_figures_up(number)
    if not 0 < told < math.inf:
        return told
    exact = _as_written(told)
    unit = _power_of_ten(_magnitude(exact) - 1)
    return float(unit * next((each for each in _figures(people) if each * unit >= exact), 100))


def told_within(told: float, people: int, part: Fraction = Fraction(1, 2)) -> float:
    """Return a number among all those of which this is told (`told_up`), so far on the way up; halfway unless said.

    >>> told_within(0.013, 1000), round(told_within(0.015, 25), 6), told_within(0.01, 25), told_within(0.0, 25)
    (0.0125, 0.0135, 0.0091, 0.0)
    >>> told_within(0.013, 1000, Fraction(1, 4))
    0.01225
    """
    if not 0 < told < math.inf:
        return told
    exact = _as_written(told)
    unit = _power_of_ten(_magnitude(exact) - 1)
    figures = _figures(people)
    below = unit * max((each for each in figures if each * unit < exact), default=Fraction(figures[-1], 10))
    return float(below + part * (exact - below))


def _figures(people: int) -> Sequence[int]:
    return next((figures for below, figures in _BY_PEOPLE if people < below), _ALL)


def _as_written(number: float | Fraction) -> Fraction:
    """Return a number as a fraction; a float as it is written, for 1.3 is meant and not what the float holds."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def spacing_below(most: float | Fraction) -> Fraction:
    """Return the largest step of 1, 2 or 5 times a power of ten that is not above a positive number.

    >>> spacing_below(0.037), spacing_below(1.0), spacing_below(0.0051)
    (Fraction(1, 50), Fraction(1, 1), Fraction(1, 200))
    """
    exact = Fraction(most)
    unit = _power_of_ten(_magnitude(exact))
    leading = exact // unit
    return max(factor for factor in _STEPS if factor <= leading) * unit


def on_grid(number: Fraction, spacing: Fraction) -> Fraction:
    """Return the multiple of a step that is nearest to a number, of two the upper one.

    >>> on_grid(Fraction("0.374"), Fraction(1, 50))
    Fraction(19, 50)
    """
    return Fraction(math.floor(number / spacing + Fraction(1, 2))) * spacing
