"""Numbers as people read them: few digits, no exponents where they can be avoided, and bounds never rounded the wrong way."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable

from optin.wording.groups import SMALLEST_GROUP
from optin.wording.language import _, localised, ngettext, plural

_LARGE, _SMALL = 1e7, 1e-5
_PEOPLE = plural("person", "people")
_HOURS = plural("hour", "hours")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FINE = decimal.Context(prec=700)
"""As many digits as a float may have, and its error one of its last."""
_LOOSE = 0.005
"""A range may be cut by half a per cent to end on a round number."""


def short(number: float, digits: int = 3) -> str:
    """Write a number with three significant digits.

    >>> short(0.033412), short(1234567.0), short(0.5), short(float("inf")), short(3e-9)
    ('0.0334', '1,230,000', '0.5', '∞', '3e-09')
    """
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    if number == 0:
        return "0"
    if not _SMALL <= abs(number) < _LARGE:
        return localised(f"{number:.{digits}g}")
    places = digits - 1 - math.floor(math.log10(abs(number)))
    text = f"{round(number, places):,.{max(places, 0)}f}"
    return localised(text.rstrip("0").rstrip(".") if "." in text else text)


def plain(number: float) -> str:
    """Write four significant digits, for a terminal and for records that print themselves.

    >>> plain(1234567.0), plain(0.083333), plain(float("inf"))
    ('1,234,567', '0.08333', 'infinite')
    """
    if math.isinf(number):
        return _("infinite")
    return localised(f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}")


def at_most(number: float, digits: int = 3) -> str:
    """Write a number with three significant digits, never less than it is: a bound that is rounded down is none.

    >>> at_most(7521.3), at_most(1.2841), at_most(0.5), at_most(0.1), at_most(float("inf"))
    ('7,530', '1.29', '0.5', '0.1', '∞')
    """
    return towards(number, digits, decimal.ROUND_CEILING)


def largest(epsilon: float) -> str:
    """Write the most epsilon that someone can lose, alike wherever it is promised: four digits, rounded up.

    >>> largest(0.93642), largest(5.0), largest(float("inf"))
    ('0.9365', '5', 'infinite')
    """
    return _("infinite") if math.isinf(epsilon) else at_most(epsilon, 4)


def at_least(number: float, digits: int = 3) -> str:
    """Write a number with three significant digits, never more than it is: what is left to someone.

    >>> at_least(7521.3), at_least(1.2891), at_least(-0.12345)
    ('7,520', '1.28', '-0.124')
    """
    return towards(number, digits, decimal.ROUND_FLOOR)


def towards(number: float, digits: int, direction: str) -> str:
    """Write a number rounded in a direction, as it is written, so that 0.1 stays 0.1."""
    if not math.isfinite(number):
        return "∞"
    rounded = decimal.Context(prec=digits, rounding=direction).create_decimal(repr(float(number))).normalize()
    return localised(f"{rounded:,f}" if number == 0 or 1e-5 <= abs(number) < 1e15 else f"{rounded:e}")


def plus_minus(half: float, digits: int = 3) -> str:
    """Write ± and half of an interval, wherever it is written, rounded up: it is never narrower than the interval.

    >>> plus_minus(0.14498), plus_minus(0.1412), plus_minus(1234.5), plus_minus(0.0000012345)
    ('± 0.145', '± 0.142', '± 1,240', '± 1.24e-6')
    """
    return f"± {at_most(half, digits)}"


def odds_factor(epsilon: float) -> str:
    """Say by what factor an epsilon changes anyone's odds at most.

    >>> odds_factor(0.25), odds_factor(1.0), odds_factor(4.0)
    ('1.29', '2.72', '54.6')
    """
    return at_most(math.exp(min(epsilon, 700.0)) * (1 + 1e-12))


def steady(number: float, digits: int = 3) -> str:
    """Write three significant digits, trailing zeros too, for columns of errors.

    >>> steady(0.02), steady(0.0194), steady(12.0)
    ('0.0200', '0.0194', '12.0')
    """
    if number == 0 or not _SMALL <= abs(number) < _LARGE:
        return short(number, digits)
    places = digits - 1 - math.floor(math.log10(float(f"{abs(number):.{digits - 1}e}")))
    return localised(f"{round(number, places):,.{max(places, 0)}f}")


def power_of(number: float) -> int:
    """Choose the power of ten in which numbers of this size are written: none from 0.01 to 10,000.

    >>> power_of(0.000377), power_of(0.25), power_of(3e6)
    (-4, 0, 6)
    """
    power = math.floor(math.log10(number)) if 0 < number < math.inf else 0
    return 0 if -2 <= power <= 3 else power


def ten_to(power: int) -> str:
    """Write a power of ten.

    >>> ten_to(-4)
    '10⁻⁴'
    """
    return "10" + str(power).translate(_RAISED)


def outward(low: float, high: float, digits: int = 2, *, loose: float = _LOOSE) -> tuple[float, float]:
    """Round a range outwards to few digits, so that its ends are nobody's own number.

    >>> outward(0.01037, 0.2358), outward(0.00999, 0.1001), outward(0.00999, 0.1001, loose=0)
    ((0.01, 0.24), (0.01, 0.1), (0.0099, 0.11))
    """
    return _rounded(low, digits, math.floor, 1 + loose), _rounded(high, digits, math.ceil, 1 - loose)


def _rounded(number: float, digits: int, rounding: Callable[[float], int], scale: float) -> float:
    if number == 0 or math.isinf(number):
        return number
    unit = math.floor(math.log10(number)) - digits + 1
    units = rounding(number / 10.0**unit * scale)
    return float(f"{units}e{unit}")


def meaningful(number: float, error: float) -> str:
    """Write an estimate with the digits its error leaves meaningful; of two that lie as near, the even one.

    It is the number as people write it that is rounded: 17.45 % and 82.55 % of people are 17.4 % and 82.6 %, and all of them.

    >>> meaningful(0.4712345, 0.0312), meaningful(10234.5, 120.0), meaningful(100 * 0.1745, 1.3), meaningful(100 * 0.8255, 1.3)
    ('0.471', '10,230', '17.4', '82.6')
    """
    if not (math.isfinite(error) and error > 0 and math.isfinite(number)):
        return short(number, 6)
    places = 1 - math.floor(math.log10(error))
    rounded = decimal.Decimal(f"{number:.14g}").quantize(decimal.Decimal(1).scaleb(-places), context=_FINE)
    return localised(f"{rounded or abs(rounded):,.{max(places, 0)}f}")  # 0 has no sign


def ends(interval: Iterable[float], error: float) -> tuple[str, str]:
    """Write both ends of an interval with the digits its error leaves meaningful, rounded outwards: it never gets shorter.

    >>> ends((0.4712345, 0.5312), 0.0312), ends((10234.5, 10474.5), 120.0), ends((1.0, 1.0), 0.0)
    (('0.471', '0.532'), ('10,230', '10,480'), ('1', '1'))
    """
    low, high = interval
    if not (math.isfinite(error) and error > 0):
        return short(low, 6), short(high, 6)
    places = 1 - math.floor(math.log10(error))
    return _outwards(low, places, decimal.ROUND_FLOOR), _outwards(high, places, decimal.ROUND_CEILING)


def _outwards(number: float, places: int, direction: str) -> str:
    if not math.isfinite(number):
        return short(number)
    unit = decimal.Decimal(1).scaleb(-places)
    rounded = (decimal.Decimal(repr(float(number))) / unit).to_integral_value(direction) * unit
    return localised(
        f"{rounded + 0:,.{max(places, 0)}f}"
    )  # a decimal keeps the digits that a float would round; 0 has no sign


def percent(share: float) -> str:
    """Write a share as a percentage, with a digit after the point only where it matters.

    >>> percent(0.2), percent(0.034), percent(0.0004), percent(0.05)
    ('20 %', '3.4 %', 'below 0.1 %', '5 %')
    """
    if 0 < share < 0.001:
        return _("below {least} %", least=localised("0.1"))
    return localised(f"{share * 100:.1f}".removesuffix(".0") + " %" if 0 < share < 0.0995 else f"{share * 100:.0f} %")


def times(ratio: float) -> str:
    """Write a ratio as a percentage, or as a factor when it is large.

    >>> times(1.234), times(31.4), times(float("inf"))
    ('123 %', '31 x', 'infinite')
    """
    if math.isinf(ratio):
        return _("infinite")
    return localised(f"{ratio:,.0f} x" if ratio >= 10 else f"{100 * ratio:.0f} %")


def part(number: int, total: int, smallest: int = SMALLEST_GROUP) -> str:
    """Count some of all people where neither they nor the others may be told apart as a handful.

    >>> part(1168, 2000), part(3, 60), part(55, 60), part(60, 60)
    ('1,168', 'fewer than 10', 'more than 50', '60')
    """
    if 0 < number < smallest:
        return _("fewer than {people}", people=smallest)
    return (
        _("more than {people:,}", people=total - smallest)
        if 0 < total - number < smallest
        else localised(f"{number:,}")
    )


def count(number: int, one: str = _PEOPLE[0], many: str = _PEOPLE[1]) -> str:
    """Count people.

    >>> count(1), count(1200)
    ('1 person', '1,200 people')
    """
    return f"{localised(f'{number:,}')} {ngettext(one, many, number)}"


def hours(number: float) -> str:
    """Count hours.

    >>> hours(1.0), hours(1.5), hours(48.0)
    ('1 hour', '1.5 hours', '48 hours')
    """
    return f"{localised(f'{number:g}')} {ngettext(*_HOURS, 1 if number == 1 else 2)}"


def people_like(people: float) -> str:
    """Count people where the number is a comparison, which has no halves.

    >>> people_like(157.3), people_like(1.2), people_like(0.2), people_like(12345.6)
    ('157 people', '1 person', 'less than 1 person', '12,346 people')
    """
    if math.isinf(people):
        return _("any number of people")
    return count(round(people)) if people >= 1 else _("less than 1 person")


def as_accurate_as(people: float, with_bias: float | None = None) -> str:
    """Say how many people would give as accurate a mean without noise; ``with_bias`` counts a declared gap's largest bias.

    >>> as_accurate_as(157.3), as_accurate_as(157.3, 120.1)
    ('the exact mean of 157 people', 'the exact mean of 157 people without the gap, of 120 people with its largest bias')
    """
    exact = _("the exact mean of {people}", people=people_like(people))
    return (
        exact
        if with_bias is None
        else _(
            "{exact} without the gap, of {with_bias} with its largest bias",
            exact=exact,
            with_bias=people_like(with_bias),
        )
    )


def counted_between(bounds: tuple[float, float]) -> str:
    """Say of which values a mean is one: those beyond a bound count as the bound.

    >>> "the mean of values " + counted_between((0.0, 40.0))
    'the mean of values counted between 0 and 40'
    """
    return _("counted between {low:,.10g} and {high:,.10g}", low=bounds[0], high=bounds[1])
