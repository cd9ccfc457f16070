"""From cells to ids, numbers and answers; a cell that cannot be used is named by its place, never by its content.

Cells of text files are plain lists of text and need nothing but numpy. Columns with a stored type (Parquet) are Arrow's;
what they hold as text or as decimals is read here too, so that a number has one spelling wherever it stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from optin.tables.columns import Wanted
from optin.tables.decimal_marks import IN_GROUPS, POINT, WITH_COMMA, WITH_POINT, Signs
from optin.tables.decimals import corrected
from optin.wording.answers import answer_of
from optin.wording.limit_steps import STEP_TEXTS

Cells: TypeAlias = Any
"""A column of one file: a list of text, or a column of Arrow, which has a stored type."""
T = TypeVar("T", bound=np.generic)
Mask = NDArray[np.bool_]
NUMBER = "^([+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)|[nN][aA][nN])$"
"""What text is read as a number, by every engine: what their own casts make of 1d or 1_000 differs."""
ENDLESS = "[nN]"  # what inf, infinity and nan have, and digits do not
FARTHEST = float(np.finfo(np.float64).max)
BLANKS = " \t\n\v\f\r"
SIGNS = b"0123456789.+-eE"
"""Of these signs alone, Python reads as a float exactly what NUMBER describes."""
_STEPS = {text: repr(epsilon) for text, epsilon in STEP_TEXTS.items()}


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of text whose distinct entries are listed once, with the place of each row's entry among them."""

    categories: list[str] = field(repr=False)
    codes: NDArray[np.intp] = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)


def as_ids(column: Cells, name: str, file: str) -> Sequence[str | None]:
    """Take ids as text; whole numbers become their digits, and anything that could be written in two ways is refused."""
    if isinstance(column, list):
        return column
    from optin.tables import stored_cells

    return stored_cells.as_ids(column, name, file)


def as_entries(column: Cells, name: str, file: str) -> Any:  # noqa: ANN401 - a list of text, or a column of Arrow
    """Take cells that may hold an answer in words: text, truths or numbers."""
    if isinstance(column, list):
        return column
    from optin.tables import stored_cells

    return stored_cells.as_entries(column, name, file)


def as_numbers(
    column: Cells, name: str, file: str, wanted: Wanted | None = None, mark: str = POINT
) -> tuple[NDArray[np.float64], Mask]:
    """Take numbers, NaN where there is none, and mark the cells that hold something else.

    What is ``wanted`` of people is read towards the person; values are read as the nearest float. Before a fraction stands
    the ``mark``; an empty limit is read as what it counts as.
    """
    if isinstance(column, list):
        numbers, others = numbers_in(column, wanted, mark)
    else:
        from optin.tables import stored_cells

        numbers, others = stored_cells.as_numbers(column, name, file, wanted, mark)
    if wanted is not None and wanted.blank is not None:
        numbers[np.isnan(numbers) & ~others] = wanted.blank
    return numbers, others


def signs_of(column: Cells) -> Signs:
    """Count the cells of a text file's column that have a comma or a point."""
    texts = Counter(cell.strip(BLANKS) for cell in column)
    counts = [0, 0, 0, 0]
    for text, times in texts.items():
        for at, pattern in enumerate((WITH_COMMA, WITH_POINT)):
            if re.search(pattern, text):
                counts[at] += times
                counts[at + 2] += times if re.search(IN_GROUPS, text) else 0
    return Signs(*counts)


def as_truths(column: Cells, name: str, file: str) -> tuple[Mask, Mask]:
    """Take answers (true, yes or 1 against false, no or 0), and mark the cells that hold none."""
    if isinstance(column, list):
        return truths_in(column)
    from optin.tables import stored_cells

    return stored_cells.as_truths(column, name, file)


def coded(texts: list[str]) -> Coded:
    """List the distinct entries once.

    >>> listed = coded(["yes", "no", "yes"])
    >>> listed.categories, listed.codes.tolist()
    (['yes', 'no'], [0, 1, 0])
    """
    places = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return Coded(list(places), _looked_up(texts, places, np.intp))


def numbers_in(cells: list[str], wanted: Wanted | None, mark: str = POINT) -> tuple[NDArray[np.float64], Mask]:
    """Read text as numbers, NaN where there is none, and mark the cells that hold something else.

    Of limits, the steps of the limit question are read as their epsilons. Where a comma stands before fractions, a point makes
    no number.

    >>> numbers_in(["1", " .5 ", "", "1_000", "inf"], None)
    (array([1. , 0.5, nan, nan, inf]), array([False, False, False,  True, False]))
    """
    plain = _plain_numbers(cells) if mark == POINT else None
    if plain is not None:
        return _read(cells, plain, wanted), np.zeros(len(cells), dtype=np.bool_)
    texts = [cell.strip(BLANKS) for cell in cells]
    epsilons: Mapping[str, str] = _STEPS if wanted is not None and wanted.is_limit else {}
    if mark != POINT or epsilons:
        texts = [epsilons.get(text.lower()) or _pointed(text, mark) for text in texts]
    matches = re.compile(NUMBER).fullmatch
    known = {text: matches(text) is not None for text in set(texts)}
    read = _looked_up(texts, known, np.bool_)
    known_texts = [text for text in texts if known[text]]
    numbers = np.full(len(texts), np.nan)
    numbers[read] = _read(known_texts, _floats(known_texts), wanted)
    return numbers, ~read & _looked_up(texts, {text: text != "" for text in known}, np.bool_)


def _pointed(text: str, mark: str) -> str:
    return text if mark == POINT else text.replace(POINT, "!").replace(mark, POINT)


def _plain_numbers(cells: list[str]) -> NDArray[np.float64] | None:
    """Read cells that hold digits and nothing else, the usual case; None if any does not."""
    if "".join(cells).encode(errors="replace").translate(None, SIGNS):
        return None
    try:
        return _floats(cells)
    except ValueError:  # an empty cell, or signs in another order
        return None


def _floats(texts: list[str]) -> NDArray[np.float64]:
    return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))


def _read(texts: list[str], numbers: NDArray[np.float64], wanted: Wanted | None) -> NDArray[np.float64]:
    """Correct what was read from cells that are all numbers; digits alone are never without end, only past every float."""
    for row in np.flatnonzero(np.isinf(numbers)).tolist():
        if re.search(ENDLESS, texts[row]) is None:
            numbers[row] = np.copysign(FARTHEST, numbers[row])
    return numbers if wanted is None else corrected(texts, numbers, wanted)


def truths_in(texts: Sequence[str | None]) -> tuple[Mask, Mask]:
    """Read answers in words, and mark the cells that hold none."""
    known = {text: answer_of(text or "") for text in set(texts)}
    answers = _looked_up(texts, {text: answer is True for text, answer in known.items()}, np.bool_)
    others = _looked_up(texts, {text: answer is None for text, answer in known.items()}, np.bool_)
    return answers, others


def _looked_up(texts: Sequence[Any], known: Mapping[Any, Any], kind: type[T]) -> NDArray[T]:
    """Say of every row what is known of its text."""
    return np.fromiter(map(known.__getitem__, texts), dtype=kind, count=len(texts))
