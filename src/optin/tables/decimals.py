"""Decimals that no float holds, read towards the person: from text and from columns of decimals.

The nearest float can be too much by half a unit in its last place. Of a limit that matters only where the float is a whole
number of grains: then it is compared with the decimal, digit by digit, and lowered if it is above. A budget that is not such
a float exactly is lowered in any case, and a cost that a budget is divided by is raised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from optin.kernel.rounding import GRAIN, LESS
from optin.tables.columns import Wanted

Numbers = NDArray[np.float64]
SHORT = r"^([0-9]{1,15}|[0-9]{1,3}[.][0-9]{1,5})$"
"""So short that a whole number of grains nearest to it is the number itself: they lie further apart than floats do."""
POSITIVE = r"^[+]?[0-9.]*[1-9]"
VANISHED = 1e-300
"""What a positive cost below every float is read as: too small, and refused, where 0 would be no cost at all."""
LARGE = 2.0**30  # of so much epsilon nobody counts the grains, and engines could not
WIDE = 2.0**53


def corrected(texts: Sequence[str], numbers: Numbers, wanted: Wanted) -> Numbers:
    """Correct numbers that were read from decimal text to the nearest float."""
    if wanted.finite:
        numbers = np.where(_matched(texts, numbers == 0, POSITIVE), VANISHED, numbers)
    with np.errstate(over="ignore"):
        scaled = numbers * GRAIN
    grain = (np.floor(scaled) == scaled) & (numbers < LARGE)
    short = _matched(texts, grain | (numbers >= LARGE), SHORT)
    above, exact = np.zeros(len(numbers), dtype=np.bool_), short.copy()
    for row in np.flatnonzero(grain & ~short & (numbers > 0)).tolist():
        decimal, number = Decimal(texts[row]), float(numbers[row])
        above[row], exact[row] = number > decimal, number == decimal
    return _shifted(numbers, above, exact, wanted)


def _matched(texts: Sequence[str], rows: NDArray[np.bool_], pattern: str) -> NDArray[np.bool_]:
    """Mark those of some rows whose text is of a form; a text that many people wrote is looked at once."""
    matches, places, marked = re.compile(pattern).search, np.flatnonzero(rows), np.zeros(len(rows), dtype=np.bool_)
    known = {text: matches(text) is not None for text in {texts[row] for row in places.tolist()}}
    marked[places] = [known[texts[row]] for row in places.tolist()]
    return marked


def _shifted(numbers: Numbers, above: NDArray[np.bool_], exact: NDArray[np.bool_], wanted: Wanted) -> Numbers:
    if wanted.inexact is None:
        return np.where(above, numbers * LESS, numbers)
    with np.errstate(over="ignore"):
        moved = numbers * wanted.inexact
    moved = np.where(np.isinf(moved), numbers, moved)  # and nothing finite infinite
    within = np.where(numbers <= wanted.most, np.minimum(moved, wanted.most), moved)  # a digit makes nothing too large
    return np.where(exact, numbers, within)


def corrected_integers(numbers: Numbers, wanted: Wanted) -> Numbers:
    """Correct whole numbers that were read to the nearest float: from 2^53 on it need not be the number."""
    return np.where(np.abs(numbers) < WIDE, numbers, numbers * (LESS if wanted.inexact is None else wanted.inexact))
