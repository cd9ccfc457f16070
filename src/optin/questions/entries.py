"""Columns of answers of any kind, as entries to look at one by one and, where entries repeat, the places of them."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.tables.arrow_texts import entry

Places = NDArray[np.intp]


def entries_of(answers: Any) -> tuple[list[Any], Places | None]:  # noqa: ANN401 - any column is welcome
    """Return the entries of a column; where it lists distinct ones, also the place of each row's, -1 where it has none.

    Text in Arrow or polars is listed once by them, and categories of pandas are listed already: a million answers then
    have as few entries as the question has options. Types are asked what they can do: pandas takes labels for attributes.
    """
    categories = answers.cat if _has(answers, "cat") and hasattr(answers.dtype, "categories") else answers
    if _has(categories, "categories") and _has(categories, "codes"):
        return list(categories.categories), np.asarray(categories.codes, dtype=np.intp)
    column = answers.to_arrow() if _has(answers, "to_arrow") else answers
    if not _has(column, "dictionary_encode"):
        return list(column.tolist() if _has(column, "tolist") else column), None
    with contextlib.suppress(Exception):  # what cannot be listed once is read row by row; an error would quote it
        return _listed_once(column)
    return [entry(each) for each in column], None


def _has(column: object, name: str) -> bool:
    return hasattr(type(column), name)


def _listed_once(column: Any) -> tuple[list[Any], Places]:  # noqa: ANN401 - an array of Arrow, in chunks or not
    """List an Arrow column's entries by way of its buffers: Arrow's own way to numpy loads pandas, for half a second."""
    chunk = column.combine_chunks() if hasattr(type(column), "combine_chunks") else column
    encoded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()  # of views it would list None as ""
    indices = encoded.indices
    buffer = np.frombuffer(indices.buffers()[1], dtype=indices.type.to_pandas_dtype())
    places = buffer[indices.offset : indices.offset + len(indices)].astype(np.intp)
    if indices.null_count:
        places[~_there(indices)] = -1
    return encoded.dictionary.to_pylist(), places


def _there(indices: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - an array of Arrow
    """Tell which rows of an Arrow array hold something, by its bits."""
    bits = np.unpackbits(np.frombuffer(indices.buffers()[0], dtype=np.uint8), bitorder="little")
    return bits[indices.offset : indices.offset + len(indices)].astype(np.bool_)


def is_missing(answer: object) -> bool:
    """Tell a missing answer: None, NaN, NaT or pandas' NA."""
    if isinstance(answer, float | np.floating):
        return bool(answer != answer)
    if isinstance(answer, Decimal):
        return answer.is_nan()
    return answer is None or type(answer).__name__ in ("NAType", "NaTType")
