"""Check columns at the door, so that nothing inside has to: what is wrong, at which index, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optin.errors import BadInput
from optin.kernel.ladder import Array

__all__ = ["checked_ids", "column", "has_rows", "numbers", "same_rows"]

LARGEST = 1e300


def column(values: Any, name: str, *, finite: bool = False) -> Array:  # noqa: ANN401 - any array-like is welcome
    """Return non-negative numbers as a read-only float64 view, copied only where the type demands it.

    >>> column([1.0, -2.0], "limits")
    Traceback (most recent call last):
    ...
    optin.errors.BadInput: limits[1] is negative; every entry must be 0 or more
    """
    array = numbers(values, name)
    if len(array) == 0:
        raise BadInput(f"{name} is empty; at least one person is needed")
    least, most = array.min(), array.max()
    if not least >= 0:  # also true for NaN
        _complain(array, name)
    if finite and most == np.inf:
        raise BadInput(f"{name}[{int(np.argmax(array))}] is infinite; give a finite number")
    if LARGEST < most < np.inf or (most == np.inf and ((array > LARGEST) & (array < np.inf)).any()):
        place = int(np.argmax((array > LARGEST) & (array < np.inf)))
        raise BadInput(f"{name}[{place}] is finite but above {LARGEST:.0e}; write inf where there is no limit")
    view = array.view()
    view.flags.writeable = False
    return view


def numbers(values: Any, name: str) -> Array:  # noqa: ANN401
    """Return a one-dimensional float64 array, or say why it cannot be one."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        place = int(np.argmax(np.ma.getmaskarray(values)))
        raise BadInput(f"{name}[{place}] is masked; fill or drop missing entries first")
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":  # text, dates and complex numbers turn into floats too easily
            raise TypeError
        array = np.asarray(raw, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        array = None
    if array is None:  # raised after the handler: what it caught may quote an entry
        raise BadInput(f"{name} holds something that is not a number; give one number for each person")
    if array.ndim != 1:
        raise BadInput(f"{name} has {array.ndim} dimensions; give one number for each person in a flat array")
    return array


def _complain(array: Array, name: str) -> None:
    missing = np.isnan(array)
    if missing.any():
        raise BadInput(f"{name}[{int(np.argmax(missing))}] is missing (NaN); fill it in or leave the person out")
    raise BadInput(f"{name}[{int(np.argmax(array < 0))}] is negative; every entry must be 0 or more")


def same_rows(left: Any, right: Any, names: tuple[str, str]) -> None:  # noqa: ANN401
    """Insist that two columns speak of the same people in the same order; None speaks of nobody."""
    if left is None or right is None:
        return
    if not has_rows(left) or not has_rows(right):
        return
    if len(left) != len(right):
        raise BadInput(f"{names[0]} has {len(left)} entries and {names[1]} has {len(right)}; give one of each a person")
    ours, theirs = getattr(left, "index", None), getattr(right, "index", None)
    alike = getattr(ours, "equals", None)
    if alike is not None and hasattr(theirs, "equals") and not alike(theirs):
        raise BadInput(
            f"{names[0]} and {names[1]} have different indexes; align them (for instance with .reindex) first"
        )


def has_rows(values: Any) -> bool:  # noqa: ANN401
    """Tell a column from a single number; rows of different lengths are for later checks to refuse."""
    try:
        return np.ndim(values) > 0
    except ValueError:
        return True


def checked_ids(ids: Any, people: int) -> tuple[str, ...] | None:  # noqa: ANN401
    """Return ids as a tuple of distinct texts, one for each person."""
    if ids is None:
        return None
    texts: Sequence[Any] = tuple(ids)
    if len(texts) != people:
        raise BadInput(f"ids has {len(texts)} entries for {people} people; give one for each")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(f"ids[{place}] is not text; ids are kept byte for byte, so turn them into str yourself")
    if len(set(texts)) != people:
        raise BadInput(f"ids[{_second(texts)}] was given to an earlier person already; every person needs their own")
    return tuple(texts)


def _second(texts: Sequence[str]) -> int:
    seen: set[str] = set()
    for place, text in enumerate(texts):
        if text in seen:
            return place
        seen.add(text)
    return -1
