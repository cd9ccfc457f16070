"""Values of people in memory, of any kind, as float64: what is wrong with one is said without telling it."""

from __future__ import annotations

import contextlib
import math
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.errors import BadInput, Place


def as_numbers(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """Take values as float64, copied only where the type demands it; masked ones are missing.

    Whether a number is too large for a float is private: it is clamped like any other. No error is raised while another
    is being handled, since that one would carry the value.
    """
    raw: NDArray[Any] = np.empty(0, dtype=np.str_)
    with contextlib.suppress(Exception):  # polars has integers that numpy has not, and an error of its own for them
        raw = np.asarray(values)
        if raw.dtype.kind == "U" and isinstance(values, list | tuple):
            raw = np.asarray(values, dtype=object)  # numbers among text are numbers still
    if raw.dtype.kind not in "biufO":  # text, dates and complex numbers turn into floats too easily
        raise BadInput("{column} must hold numbers, one for each announced person", column=name)
    with np.errstate(all="ignore"):
        numbers = _from_objects(raw, name) if raw.dtype.kind == "O" else np.asarray(raw, dtype=np.float64)
    return np.where(np.ma.getmaskarray(values), np.nan, numbers) if np.ma.isMaskedArray(values) else numbers


def as_integer(number: object) -> int | None:
    """Take a whole number of any type, numpy's too; None for anything else, and for a truth.

    >>> as_integer(np.int64(3)), as_integer(3.0), as_integer(True)
    (3, None, None)
    """
    if isinstance(number, bool) or not isinstance(number, Integral):
        return None
    return int(number)


def typed_between(answer: Any, low: float, high: float) -> float:  # noqa: ANN401
    """Take a number that one person typed; outside the bounds it is refused to them, and not clamped."""
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not low <= answer <= high:
        raise BadInput(
            "an answer must be a number from {lower:.15g} to {upper:.15g}; yours is not, please check it",
            lower=low,
            upper=high,
        )
    return float(answer)


def _from_objects(raw: NDArray[np.object_], name: str) -> NDArray[np.float64]:
    numbers = [_from_object(value) for value in raw.ravel()]
    if None in numbers:
        raise BadInput(
            "{place} is not a number; give a number for each person, or nothing where there is none",
            place=Place(numbers.index(None), name),
        )
    return np.array(numbers, dtype=np.float64).reshape(raw.shape)


def _from_object(value: object) -> float | None:
    """Return a number as a float, infinite past the largest one, NaN where missing; None for what is no number."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA, without importing pandas
        return math.nan
    if not isinstance(value, (Real, Decimal, np.bool_)):
        return None
    try:
        return float(value)
    except TypeError:  # a length of time calls itself a whole number
        return None
    except OverflowError:
        return math.inf if value > cast("Any", 0) else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan
