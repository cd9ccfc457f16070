"""Columns as lists, with Arrow's entries as Python has them: text that is not UTF-8 is no text, and is never quoted."""

from __future__ import annotations

import contextlib
from typing import Any

UNREADABLE = object()
"""Stands for text that is not UTF-8."""


def listed(column: Any) -> list[Any]:  # noqa: ANN401 - any column is welcome
    """List what stands in a column; what cannot be read is left for whoever needs it to refuse, by its place.

    >>> listed(("a", None))
    ['a', None]
    """
    if not hasattr(type(column), "to_pylist"):
        return list(column)
    with contextlib.suppress(UnicodeDecodeError):
        return list(column.to_pylist())
    return [entry(each) for each in column]


def entry(scalar: Any) -> Any:  # noqa: ANN401 - a scalar of Arrow
    """Take one entry; text that cannot be read is none, and its error, which would quote it, goes no further."""
    with contextlib.suppress(UnicodeDecodeError):
        return scalar.as_py()
    return UNREADABLE
