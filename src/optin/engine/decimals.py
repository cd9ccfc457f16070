"""Decimals that no float holds, read towards the person by an engine: the queries that do what `tables.decimals` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.engine.functions import exact_floor
from optin.engine.session import literal
from optin.kernel.rounding import GRAIN, LESS
from optin.tables.columns import Wanted
from optin.tables.decimals import LARGE, POSITIVE, SHORT, VANISHED, WIDE

if TYPE_CHECKING:
    from ibis.expr import types as ir

ROOM, UNITS, PIECE, PIECES = 64, 16, 8, 4  # digits: of zeros around a number, before the point, and 4 times 8 after it


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


def corrected_integers_in_engine(number: ir.FloatingColumn, wanted: Wanted) -> ir.FloatingColumn:
    """Correct whole numbers that an engine turned into the nearest float, as `corrected_integers` does."""
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
        part = scaled & (int(GRAIN) - 1)
    return written
