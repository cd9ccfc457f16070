"""Columns with a stored type, as Parquet has them: ids, numbers and answers out of Arrow.

Nothing here turns Python or numpy data into Arrow: that would load pandas wherever it is installed, for seconds.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optin.tables.columns import Wanted
from optin.tables.decimal_marks import POINT
from optin.tables.decimals import corrected_integers
from optin.tables.stored_types import (
    expect_entries,
    expect_ids,
    expect_numbers,
    holds_answers,
    is_number,
    is_text,
    plain_type,
)
from optin.tables.table_cells import Mask, numbers_in, truths_in


def as_ids(column: pa.ChunkedArray, name: str, file: str) -> list[str | None]:
    """Take ids as text; whole numbers become their digits, and anything that could be written in two ways is refused."""
    expect_ids(column.type, file, name)
    texts: list[str | None] = pc.cast(written_out(column), pa.string()).to_pylist()
    return texts


def as_entries(column: pa.ChunkedArray, name: str, file: str) -> pa.ChunkedArray:
    """Take cells that may hold an answer in words: text, truths or numbers."""
    expect_entries(column.type, file, name)
    return written_out(column)


def as_numbers(
    column: pa.ChunkedArray, name: str, file: str, wanted: Wanted | None = None, mark: str = POINT
) -> tuple[NDArray[np.float64], Mask]:
    """Take numbers, NaN where there is none, and mark the cells that hold something else.

    Decimals go by their digits: Arrow's own cast is off in the last one for one in three.
    """
    expect_numbers(column.type, file, name)
    plain = written_out(column)
    if is_text(plain.type) or pa.types.is_decimal(plain.type):
        written = mark if is_text(plain.type) else POINT
        return numbers_in([text or "" for text in pc.cast(plain, pa.string()).to_pylist()], wanted, written)
    numbers = np.array(pc.cast(plain, pa.float64(), safe=False).to_pylist(), dtype=np.float64)  # None becomes NaN
    if wanted is not None and pa.types.is_integer(plain.type):
        numbers = corrected_integers(numbers, wanted)
    return numbers, np.zeros(len(plain), dtype=np.bool_)


def as_truths(column: pa.ChunkedArray, name: str, file: str) -> tuple[Mask, Mask]:
    """Take answers (true, yes or 1 against false, no or 0), and mark the cells that hold none."""
    plain = written_out(column) if holds_answers(column.type) else column
    if is_number(plain.type) or pa.types.is_boolean(plain.type):
        numbers, _ = as_numbers(plain, name, file)
        return numbers == 1, (numbers != 1) & (numbers != 0)
    return truths_in(plain.to_pylist() if is_text(plain.type) else [None] * len(plain))


def together(parts: list[pa.ChunkedArray]) -> pa.ChunkedArray | list[object]:
    """Put the columns of several files together; a list where they are stored in different types."""
    if any(part.type != parts[0].type for part in parts):
        return [cell for part in parts for cell in part.to_pylist()]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)


def written_out(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write entries out that are stored once and referred to; text in views becomes plain text.

    Arrow itself puts neither views nor runs of equal entries into another order.
    """
    if pa.types.is_run_end_encoded(column.type):
        return written_out(pc.run_end_decode(column))
    kind = plain_type(column.type)
    return column.cast(pa.string() if pa.types.is_string_view(kind) else kind)
