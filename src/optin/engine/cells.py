"""From cells to ids, numbers and answers; a cell that cannot be used is named by its place, never by its content.

Nothing here turns Python or numpy data into Arrow: that would load pandas wherever it is installed, for seconds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optin.errors import BadInput

__all__ = ["as_ids", "as_numbers", "as_truths"]

Place = Callable[[int], str]
ANSWERS = dict.fromkeys(("1", "true", "t", "yes", "y"), True) | dict.fromkeys(("0", "false", "f", "no", "n"), False)
HOW = "write true or false, yes or no, 1 or 0"


def as_ids(column: pa.ChunkedArray, name: str, place: Place) -> list[str]:
    """Take ids as text; whole numbers become their digits, and anything that could be written in two ways is refused."""
    kind = _plain(column).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        raise BadInput(f"{name} is stored as {kind}, and ids are text; write the column as text")
    texts: list[str] = pc.cast(_plain(column), pa.string()).to_pylist()
    for row, text in enumerate(texts):
        if not text:
            raise BadInput(f"{place(row)}: {name} is missing; every person needs an id")
    return texts


def as_numbers(
    column: pa.ChunkedArray, name: str, place: Place, *, required: bool, infinite: bool = True
) -> NDArray[np.float64]:
    """Take numbers; ``required`` ones are there and at least 0, the others may be missing (NaN)."""
    numbers = _numbers(_plain(column), name, place)
    if required:
        _refuse(np.isnan(numbers), f"{name} is missing; fill it in or leave the person out", place)
        _refuse(numbers < 0, f"{name} is negative; it must be 0 or more", place)
    if not infinite:
        _refuse(np.isinf(numbers), f"{name} is infinite; give a finite number", place)
    return numbers


def as_truths(column: pa.ChunkedArray, name: str, place: Place) -> NDArray[np.bool_]:
    """Take answers: true, yes or 1 against false, no or 0."""
    texts = pc.cast(_plain(column), pa.string()).to_pylist()
    answers = [ANSWERS.get((text or "").strip().lower()) for text in texts]
    _refuse(np.array([answer is None for answer in answers]), f"{name} is not an answer; {HOW}", place)
    return np.array(answers, dtype=np.bool_)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _numbers(column: pa.ChunkedArray, name: str, place: Place) -> NDArray[np.float64]:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        column = pc.replace_substring_regex(trimmed, pattern="^$", replacement="nan")
    numbers = _cast(column)
    if numbers is None:
        raise BadInput(f"{place(_first_text(column))}: {name} is not a number; write it with digits and a point")
    return np.array(numbers.to_pylist(), dtype=np.float64)  # None becomes NaN


def _cast(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    try:
        return pc.cast(column, pa.float64(), safe=False)
    except pa.ArrowException:
        return None


def _first_text(column: pa.ChunkedArray) -> int:
    """Find the first cell that is no number, halving: what the cast accepts is known to the cast alone."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _cast(column[low:middle]) is None else (middle, high)
    return low


def _refuse(wrong: NDArray[np.bool_], message: str, place: Place) -> None:
    if wrong.any():
        raise BadInput(f"{place(int(np.argmax(wrong)))}: {message}")
