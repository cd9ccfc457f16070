"""From cells to ids, numbers and answers; a cell that cannot be used is named by its place, never by its content.

Nothing here turns Python or numpy data into Arrow: that would load pandas wherever it is installed, for seconds.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optin.errors import BadInput
from optin.tables.columns import Wanted
from optin.tables.decimal_marks import IN_GROUPS, POINT, WITH_COMMA, WITH_POINT, Signs
from optin.tables.decimals import corrected, corrected_whole
from optin.tables.stored_types import (
    expect_ids,
    expect_numbers,
    holds_answers,
    is_number,
    is_text,
    plain_type,
    type_name,
)
from optin.wording.answers import BLANKS, answer_of
from optin.wording.limit_steps import STEP_TEXTS

Mask = NDArray[np.bool_]
NUMBER = "^([+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)|[nN][aA][nN])$"
"""What text is read as a number, by every engine: what their own casts make of 1d or 1_000 differs."""
ENDLESS = "[nN]"  # what inf, infinity and nan have, and digits do not
FARTHEST = float(np.finfo(np.float64).max)


def as_ids(column: pa.ChunkedArray, name: str, file: str) -> list[str | None]:
    """Take ids as text; whole numbers become their digits, and anything that could be written in two ways is refused."""
    expect_ids(column.type, file, name)
    texts: list[str | None] = pc.cast(_plain(column), pa.string()).to_pylist()
    return texts


def as_entries(column: pa.ChunkedArray, name: str, file: str) -> pa.ChunkedArray:
    """Take cells that may hold an answer in words: text, truths or numbers."""
    if not (holds_answers(column.type) or pa.types.is_null(column.type)):
        raise BadInput(
            "{file}: {name} is stored as {kind}, which holds no answers; write the column as text",
            file=file,
            name=name,
            kind=type_name(column.type),
        )
    return _plain(column)


def as_numbers(
    column: pa.ChunkedArray, name: str, file: str, wanted: Wanted | None = None, mark: str = POINT
) -> tuple[NDArray[np.float64], Mask]:
    """Take numbers, NaN where there is none, and mark the cells that hold something else.

    What is ``wanted`` of people is read towards the person; values are read as the nearest float. Before a fraction stands
    the ``mark``. Of limits the steps of the limit question are read as well, and empty ones as what they count as.
    """
    expect_numbers(column.type, file, name)
    plain = _plain(column)
    numbers, others = _numbers(plain, wanted, mark)
    if wanted is None or not wanted.is_limit:
        return numbers, others
    for row in np.flatnonzero(others).tolist():
        step = STEP_TEXTS.get(plain[row].as_py().strip(BLANKS).lower())
        if step is not None:
            numbers[row], others[row] = step, False
    if wanted.blank is not None:
        numbers[np.isnan(numbers) & ~others] = wanted.blank
    return numbers, others


def _numbers(plain: pa.ChunkedArray, wanted: Wanted | None, mark: str) -> tuple[NDArray[np.float64], Mask]:
    if not (is_text(plain.type) or pa.types.is_decimal(plain.type)):
        numbers = _floats(plain)
        if wanted is not None and pa.types.is_integer(plain.type):
            numbers = corrected_whole(numbers, wanted)
        return numbers, np.zeros(len(plain), dtype=np.bool_)
    if pa.types.is_decimal(plain.type):
        plain = pc.cast(plain, pa.string())  # Arrow's own cast is off in the last digit for one in three
    text = pointed(pc.ascii_trim_whitespace(plain), mark)
    number = pc.match_substring_regex(text, NUMBER)
    numbers, read = np.full(len(text), np.nan), _mask(number)
    numbers[read] = _read(text.filter(number), wanted)
    return numbers, ~read & _mask(pc.match_substring_regex(text, "."))


def pointed(text: pa.ChunkedArray, mark: str) -> pa.ChunkedArray:
    """Write decimals with a point; where a comma stands before fractions, a point makes no number."""
    return text if mark == POINT else pc.replace_substring(pc.replace_substring(text, POINT, "!"), mark, POINT)


def signs_of(column: pa.ChunkedArray) -> Signs:
    """Count the cells of a column that have a comma or a point, if it holds text."""
    plain = _plain(column)
    if not is_text(plain.type):
        return Signs()
    text = pc.ascii_trim_whitespace(plain)
    commas, points, grouped = (
        _mask(pc.match_substring_regex(text, pattern)) for pattern in (WITH_COMMA, WITH_POINT, IN_GROUPS)
    )
    return Signs(*(int(np.count_nonzero(mask)) for mask in (commas, points, commas & grouped, points & grouped)))


def _read(text: pa.ChunkedArray, wanted: Wanted | None) -> NDArray[np.float64]:
    """Read cells that are all numbers; digits alone are never without end, only past every float."""
    numbers = _floats(text)
    if np.isinf(numbers).any():
        digits = ~_mask(pc.match_substring_regex(text, ENDLESS))
        numbers = np.where(digits, np.clip(numbers, -FARTHEST, FARTHEST), numbers)
    return numbers if wanted is None else corrected(text, numbers, wanted)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.array(pc.cast(column, pa.float64(), safe=False).to_pylist(), dtype=np.float64)  # None becomes NaN


def as_truths(column: pa.ChunkedArray, name: str, file: str) -> tuple[Mask, Mask]:
    """Take answers (true, yes or 1 against false, no or 0), and mark the cells that hold none."""
    plain = _plain(column) if holds_answers(column.type) else column
    if is_number(plain.type) or pa.types.is_boolean(plain.type):
        numbers, _ = as_numbers(plain, name, file)
        return numbers == 1, (numbers != 1) & (numbers != 0)
    texts = plain.to_pylist() if is_text(plain.type) else [None] * len(plain)
    answers = [answer_of(text or "") for text in texts]
    others = np.array([answer is None for answer in answers], dtype=np.bool_)
    return np.array(answers, dtype=np.bool_), others


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write entries out that are stored once and referred to; text in views becomes plain text."""
    if pa.types.is_run_end_encoded(column.type):
        return _plain(pc.run_end_decode(column))
    kind = plain_type(column.type)
    return column.cast(pa.string() if pa.types.is_string_view(kind) else kind)


def _mask(column: pa.ChunkedArray) -> Mask:
    """Return truths; what is missing is not true."""
    return np.array(column.to_pylist(), dtype=np.bool_)
