"""Columns of Arrow as numpy has them: ids as bytes side by side, whole numbers as an array; no object for each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optin.formats.names import Names

if TYPE_CHECKING:
    import pyarrow as pa


def names_in(column: pa.Array) -> Names:
    """Take a column of texts; a missing one is empty, which no ledger takes.

    >>> import pyarrow as pa
    >>> list(names_in(pa.array(["a", None, "grüße", "d"])[1:]))
    ['', 'grüße', 'd']
    """
    import pyarrow as pa

    texts = column.fill_null("") if column.null_count else column
    texts = texts.cast(pa.large_string())
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int64, len(texts) + 1, 8 * texts.offset)
    return Names(b"" if data is None else memoryview(data), offsets)


def numbers_in(column: pa.Array) -> NDArray[np.int64]:
    """Take a column of whole numbers; a missing one is below nothing, which no ledger takes.

    >>> import pyarrow as pa
    >>> numbers_in(pa.array([2**62 + 1, None, 0])).tolist() == [2**62 + 1, -1, 0]
    True
    """
    filled = column.fill_null(-1) if column.null_count else column
    return np.asarray(filled.to_numpy(), dtype=np.int64)
