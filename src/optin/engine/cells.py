"""From cells to ids, numbers and answers; a cell that cannot be used is named by its place, never by its content."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optin.errors import BadInput

__all__ = ["as_ids", "as_numbers", "as_truths"]

Place = Callable[[int], str]
YES, NO = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")


def as_ids(column: pa.ChunkedArray, name: str, place: Place) -> list[str]:
    """Take ids as text; whole numbers become their digits, and anything that could be written in two ways is refused."""
    kind = _plain(column).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        raise BadInput(f"{name} is stored as {kind}, and ids are text; write the column as text")
    texts = pc.cast(_plain(column), pa.string())
    _refuse(pc.or_kleene(pc.is_null(texts), pc.equal(texts, "")), f"{name} is missing; every person needs an id", place)
    return [str(text) for text in texts.to_pylist()]


def as_numbers(
    column: pa.ChunkedArray, name: str, place: Place, *, required: bool, infinite: bool = True
) -> NDArray[np.float64]:
    """Take numbers; ``required`` ones are there and at least 0, the others may be missing (NaN)."""
    numbers = _numbers(_plain(column), name, place)
    if required:
        _refuse(pa.array(np.isnan(numbers)), f"{name} is missing; fill it in or leave the person out", place)
        _refuse(pa.array(numbers < 0), f"{name} is negative; it must be 0 or more", place)
    if not infinite:
        _refuse(pa.array(np.isinf(numbers)), f"{name} is infinite; give a finite number", place)
    return numbers


def as_truths(column: pa.ChunkedArray, name: str, place: Place) -> NDArray[np.bool_]:
    """Take answers: true, yes or 1 against false, no or 0."""
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(pc.cast(_plain(column), pa.string())))
    yes = pc.fill_null(pc.is_in(texts, pa.array(YES)), False)
    no = pc.fill_null(pc.is_in(texts, pa.array(NO)), False)
    _refuse(pc.invert(pc.or_(yes, no)), f"{name} is not an answer; write true or false, yes or no, 1 or 0", place)
    return np.asarray(yes.to_numpy(), dtype=np.bool_)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _numbers(column: pa.ChunkedArray, name: str, place: Place) -> NDArray[np.float64]:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)
    numbers = _cast(column)
    if numbers is None:
        raise BadInput(f"{place(_first_text(column))}: {name} is not a number; write it with digits and a point")
    return np.array(pc.fill_null(numbers, float("nan")).to_numpy(), dtype=np.float64)


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


def _refuse(wrong: pa.Array, message: str, place: Place) -> None:
    at = pc.index(wrong, True).as_py()
    if at >= 0:
        raise BadInput(f"{place(at)}: {message}")
