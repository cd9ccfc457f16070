"""Decimals that no float holds, read towards the person: from text and from columns of decimals, in memory and in an engine.

The nearest float can be too much by half a unit in its last place. Of a limit that matters only where the float is a whole
number of grains: then it is compared with the decimal, digit by digit, and lowered if it is above. A budget that is not such
a float exactly is lowered in any case, and a cost that a budget is divided by is raised.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optin.agents.columns import Wanted
from optin.engine.builtin import exact_floor
from optin.engine.session import literal
from optin.kernel.rounding import GRAIN, LESS

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["corrected", "corrected_in_engine", "corrected_whole", "corrected_whole_in_engine"]

Numbers = NDArray[np.float64]
SHORT = r"^([0-9]{1,15}|[0-9]{1,3}[.][0-9]{1,5})$"
"""So short that a whole number of grains nearest to it is the number itself: they lie further apart than floats do."""
POSITIVE = r"^[+]?[0-9.]*[1-9]"
VANISHED = 1e-300
"""What a positive cost below every float is read as: too small, and refused, where 0 would be no cost at all."""
LARGE = 2.0**30  # of so much epsilon nobody counts the grains, and engines could not
WIDE = 2.0**53
ROOM, UNITS, PIECE, PIECES = 64, 16, 8, 4  # digits: of zeros around a number, before the point, and 4 times 8 after it


def corrected(text: pa.ChunkedArray, numbers: Numbers, wanted: Wanted) -> Numbers:
    """Correct numbers that were read from decimal text to the nearest float."""
    if wanted.finite:
        vanished = (numbers == 0) & np.array(pc.match_substring_regex(text, POSITIVE).to_pylist(), dtype=np.bool_)
        numbers = np.where(vanished, VANISHED, numbers)
    with np.errstate(over="ignore"):
        scaled = numbers * GRAIN
    grain = (np.floor(scaled) == scaled) & (numbers < LARGE)
    short = np.array(pc.match_substring_regex(text, SHORT).to_pylist(), dtype=np.bool_)
    above, exact = np.zeros(len(numbers), dtype=np.bool_), short & (grain | (numbers >= LARGE))
    for row in np.flatnonzero(grain & ~short & (numbers > 0)).tolist():
        decimal, number = Decimal(text[row].as_py()), float(numbers[row])
        above[row], exact[row] = number > decimal, number == decimal
    return _shifted(numbers, above, exact, wanted)


def _shifted(numbers: Numbers, above: NDArray[np.bool_], exact: NDArray[np.bool_], wanted: Wanted) -> Numbers:
    if wanted.inexact is None:
        return np.where(above, numbers * LESS, numbers)
    moved = numbers * wanted.inexact
    within = np.where(numbers <= wanted.most, np.minimum(moved, wanted.most), moved)  # a digit makes nothing too large
    return np.where(exact, numbers, within)


def corrected_whole(numbers: Numbers, wanted: Wanted) -> Numbers:
    """Correct whole numbers that were read to the nearest float: from 2^53 on it need not be the number."""
    return np.where(np.abs(numbers) < WIDE, numbers, numbers * (LESS if wanted.inexact is None else wanted.inexact))


def corrected_in_engine(text: ir.StringColumn, number: ir.FloatingColumn, wanted: Wanted) -> ir.FloatingColumn:
    """Correct numbers that an engine read from decimal text to the nearest float, as `corrected` does."""
    import ibis

    if wanted.finite:
        vanished = (number == literal(0.0)) & text.re_search(POSITIVE)
        number = vanished.ifelse(literal(VANISHED), number)
    if wanted.inexact == 1.0:
        return number
    # NaN and what is larger than any limit are taken for the largest, and what is negative for 0: neither is a limit, and
    # an engine could neither round it down nor write it in these digits.
    scaled, large = _within(number) * literal(GRAIN), number >= literal(LARGE)
    grain = (exact_floor(scaled) == scaled) & ~large
    theirs, rest = _written(text)
    ours = _digits(_within(text.try_cast("float64")))  # the same number, said in fewer words
    short = text.re_search(SHORT)
    if wanted.inexact is None:
        return ibis.cases((~grain | short, number), (theirs < ours, number * literal(LESS)), else_=number)
    exact = (theirs == ours) & ~rest.re_search("[1-9]")
    most, moved = literal(wanted.most), number * literal(wanted.inexact)
    if wanted.inexact > 1.0:
        moved = ((number <= most) & (moved > most)).ifelse(most, moved)
    return ibis.cases((short & (grain | large), number), (~grain, moved), (exact, number), else_=moved)


def _within(number: ir.FloatingColumn) -> ir.FloatingColumn:
    import ibis

    return ibis.greatest(ibis.least(number, literal(LARGE)), literal(0.0))


def corrected_whole_in_engine(number: ir.FloatingColumn, wanted: Wanted) -> ir.FloatingColumn:
    """Correct whole numbers that an engine turned into the nearest float, as `corrected_whole` does."""
    factor = LESS if wanted.inexact is None else wanted.inexact
    return (number.abs() < literal(WIDE)).ifelse(number, number * literal(factor))


def _written(text: ir.StringColumn) -> tuple[ir.StringColumn, ir.StringColumn]:
    """Return the digits of a decimal, 16 before the point and 32 behind it, and whatever digits follow."""
    import ibis

    units, behind = text.re_extract(r"^[+-]?([0-9]*)", 1), text.re_extract(r"^[+-]?[0-9]*[.]?([0-9]*)", 1)
    power = (text + "e0").re_extract(r"[eE]([+-]?[0-9]+)(e0)?$", 1).try_cast("int64")
    zeros = ibis.literal("0" * ROOM)
    digits = zeros + units + behind + zeros
    start, size = units.length() + power + (ROOM - UNITS), UNITS + PIECE * PIECES
    return digits.substr(start, size), digits.substr(start + size)


def _digits(number: ir.FloatingColumn) -> ir.StringColumn:
    """Write a whole number of grains in decimal, exactly: r / 2^32 has 32 digits behind the point."""
    units = exact_floor(number)
    written = (units.cast("int64") + 10**UNITS).cast("string").right(UNITS)
    part = ((number - units) * literal(GRAIN)).cast("int64")
    for _ in range(PIECES):
        scaled = part * 10**PIECE
        written = written + ((scaled >> 32) + 10**PIECE).cast("string").right(PIECE)
        part = scaled & (2**32 - 1)
    return written
