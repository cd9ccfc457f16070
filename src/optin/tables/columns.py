"""Check columns at the door, so that nothing inside has to: what is wrong, at which index, and what to do."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.errors import Argument, BadInput, Place
from optin.kernel.pieces import Array
from optin.kernel.rounding import LESS, MORE, above, below, limit_of
from optin.tables.arrow_texts import listed

LARGEST = 1e300
EXTREME = 1e150
NO_NUMBER = "is not a number; write it with digits and a point"
NO_NUMBER_IN_COMMAS = "is not a number; write it with digits and a comma"
"""Where a comma stands before fractions."""
GROUPED = "has signs between its thousands; write it without them, such as 1234"
NO_DECIMAL = "is written with a comma; write it with digits and a point, or say {decimal} if that is its decimal mark"
NO_COMMA = "has a point, and a comma was said to stand before fractions; write it with digits and a comma"
PERCENTAGE = "is a percentage; write the number itself, such as 0.1"
NO_LIMIT = "is a word for no limit; write inf where there is none"
TWO_WAYS = (
    "is a word for nothing, which may mean no limit or nothing allowed; write inf or 0, or say with {missing} that such a"
    " cell is empty"
)
NO_AMOUNT = "is not a number; write it with digits and a point, or nothing; a word for nothing is said with {missing}"
"""Of answers, which may be left out."""
UNCOMPUTED = "is a formula without its result; open the workbook in a spreadsheet program and save it there"
OF_MERGED = "is a part of a merged cell; split it, and write each person's own"
A_DATE = "is a date, for which spreadsheets take numbers such as 1.5; format the column as numbers and write it anew"
MISSING = "is missing; fill it in or leave the person out"
BLANK_LIMIT = "is missing; fill it in, or say with {blank} what an empty limit counts as"
NO_ID = "is missing; every person needs an id, and a row without a person is to be deleted"
NO_GROUP = "is missing; every person belongs to a group"
SAME_ID = "{place}: {people:,} people have this {name}; every person needs their own"
ADVISED = {
    "decimal": Argument("decimal", ","),
    "blank": Argument("blank_limit", "0"),
    "missing": Argument("missing", "TEXT"),
}
"""Arguments that the words above name."""
Rounded = Callable[[Any], float]
"""How a number that no float holds becomes one: `below` for what people allow, `above` for what they bear."""


@dataclass(frozen=True)
class Wanted:
    """A column of numbers that must be there and at least 0; positive ones below ``least`` or above ``most`` are refused.

    What no float holds (a Decimal, a Fraction, a whole number above 2^53) is ``rounded`` towards the person. Decimals in files
    that no float holds are multiplied by ``inexact``; None, for limits: only those that would gain a grain are lowered.
    """

    name: str
    finite: bool = False
    least: float = 0.0
    most: float = LARGEST
    rounded: Rounded = below
    inexact: float | None = None
    is_limit: bool = False
    blank: float | None = None

    @classmethod
    def limits(cls, name: str, blank: float | None = None) -> Wanted:
        """Want limits: the texts of the limit question's steps are limits too, and an empty one counts as ``blank``."""
        return cls(name, is_limit=True, blank=blank)

    @property
    def missing(self) -> str:
        """Say that a number is missing, and of a limit what can be done about it."""
        return BLANK_LIMIT if self.is_limit else MISSING

    @classmethod
    def budgets(cls, name: str) -> Wanted:
        """Want budgets so small that dividing by a cost never passes what a float holds."""
        return cls(name, most=EXTREME, inexact=LESS)

    @classmethod
    def costs(cls, name: str) -> Wanted:
        """Want costs that can be divided by, or 0."""
        return cls(name, finite=True, least=1 / EXTREME, rounded=above, inexact=1.0)

    @classmethod
    def divisors(cls, name: str) -> Wanted:
        """Want costs that a budget is divided by; those of a surplus are left as read, for `lowered` makes room for that."""
        return replace(cls.costs(name), inexact=MORE)

    def faults(self, number: Any, exact: Callable[[float], Any] = float) -> list[tuple[str, Any]]:  # noqa: ANN401
        """List what may be wrong with numbers, in words, and where: of an array or of an engine's expression alike."""
        zero, endless = exact(0.0), exact(math.inf)
        huge = "measure it in a larger unit" if self.finite else "write inf where there is no limit"
        faults = [
            ("is negative; it must be 0 or more", number < zero),
            (f"is finite but above {self.most:.0e}; {huge}", (number > exact(self.most)) & (number < endless)),
        ]
        if self.finite:
            faults.append(("is infinite; give a finite number", number == endless))
        if self.least:
            small = f"is positive but below {self.least:.0e}; write 0 for no cost at all"
            faults.append((small, (number > zero) & (number < exact(self.least))))
        return faults


def wrong_at(place: object, words: str, others: int, **data: object) -> BadInput:
    """Say what is wrong at a place, and how many more people it is about; ``data`` is what the words name."""
    more = " ({others:,} more)" if others else ""
    return BadInput("{place} " + words + more, place=place, others=others, **advised(words), **data)


def advised(words: str) -> dict[str, Argument]:
    """Return the arguments that some words name."""
    return {name: said for name, said in ADVISED.items() if f"{{{name}}}" in words}


def refuse(wrong: NDArray[np.bool_], words: str, said: Callable[[int], object]) -> None:
    """Raise BadInput if anyone is marked, naming the first as ``said`` and counting the others."""
    if wrong.any():
        raise wrong_at(said(int(np.argmax(wrong))), words, int(np.count_nonzero(wrong)) - 1)


def column(values: Any, wanted: str | Wanted) -> Array:  # noqa: ANN401 - any array-like is welcome
    """Return non-negative numbers as a read-only float64 view, copied only where the type demands it.

    >>> column([1.0, -2.0], "limits")
    Traceback (most recent call last):
    ...
    optin.errors.BadInput: limits[1] is negative; it must be 0 or more
    """
    wanted = Wanted(wanted) if isinstance(wanted, str) else wanted
    array = numbers(values, wanted.name, rounded=wanted.rounded)
    if len(array) == 0:
        raise BadInput("{column} is empty; at least one person is needed", column=wanted.name)
    if not array.min() >= wanted.least or array.max() > wanted.most:  # also true for NaN
        refuse_faults(array, wanted, lambda row: Place(row, wanted.name))
    view = array.view()
    view.flags.writeable = False
    return view


def numbers(values: Any, name: str, *, rounded: Rounded = float) -> Array:  # noqa: ANN401
    """Return a one-dimensional float64 array, or say why it cannot be one."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        place = int(np.argmax(np.ma.getmaskarray(values)))
        raise BadInput("{place} is masked; fill or drop missing entries first", place=Place(place, name))
    try:
        raw = _raw(values)
        if raw.dtype.kind not in "biufO":  # text, dates and complex numbers turn into floats too easily
            raise TypeError
        array = _floats(raw, rounded)
    except Exception:  # of any kind: polars has integers that numpy has not, and an error of its own for them
        array = None
    if array is None:  # raised after the handler: what it caught may quote an entry
        raise BadInput("{column} holds something that is not a number; give one number for each person", column=name)
    if array.ndim != 1:
        raise BadInput(
            "{column} has {dimensions} dimensions; give one number for each person in a flat array",
            column=name,
            dimensions=array.ndim,
        )
    return array


def _raw(values: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return an array of what was given, with integers of a list as they are: numpy rounds those that meet a float."""
    raw = np.asarray(values)
    if isinstance(values, list | tuple) and raw.dtype == np.float64 and (np.abs(raw) >= 2.0**53).any():
        return np.array(values, dtype=object)
    return raw


def _floats(raw: NDArray[Any], rounded: Rounded) -> Array:
    """Turn numbers of any kind into floats; only those that float64 may not hold are looked at one by one."""
    if raw.dtype.kind == "O":
        return np.array([_float(value, rounded) for value in raw.ravel()], dtype=np.float64).reshape(raw.shape)
    with np.errstate(over="ignore"):
        floats = np.asarray(raw, dtype=np.float64)
    if raw.dtype.kind == "b" or (raw.dtype.kind == "f" and raw.dtype.itemsize <= 8):
        return floats
    changed = floats.astype(raw.dtype) != raw if raw.dtype.kind == "f" else np.abs(floats) >= 2.0**53
    places = np.flatnonzero(changed)
    if len(places):
        floats.flat[places] = [_float(value, rounded) for value in raw.flat[places].tolist()]
    return floats


def _float(value: Any, rounded: Rounded) -> float:  # noqa: ANN401
    """Round one number; text is none, although float() would read it, and None and pandas.NA are missing."""
    if value is None or type(value).__name__ == "NAType":
        return math.nan
    if not hasattr(value, "__float__") or isinstance(value, np.complexfloating):
        raise TypeError
    return math.nan if value != value else rounded(value)


def refuse_faults(array: Array, wanted: Wanted, said: Callable[[int], object]) -> None:
    """Refuse missing numbers and whatever else is wrong with them."""
    refuse(np.isnan(array), MISSING, said)
    for words, wrong in wanted.faults(array):
        refuse(wrong, words, said)


def same_rows(left: Any, right: Any, names: tuple[str, str]) -> None:  # noqa: ANN401
    """Insist that two columns are equally long; None and a single number are as long as any."""
    if left is None or right is None or not has_rows(left) or not has_rows(right):
        return
    if len(left) != len(right):
        raise BadInput(
            "{one} has {few} entries and {other} has {many}; give one of each per person",
            one=names[0],
            few=len(left),
            other=names[1],
            many=len(right),
        )


def has_rows(values: Any) -> bool:  # noqa: ANN401
    """Tell a column from a single number; rows of different lengths are for later checks to refuse."""
    if isinstance(values, list | tuple):
        return True  # numpy would make an array of all of it to say so
    try:
        return np.ndim(values) > 0
    except ValueError:
        return True


def checked_ids(ids: Any, people: int) -> tuple[str, ...] | None:  # noqa: ANN401
    """Return ids as a tuple of distinct texts, one for each person."""
    if ids is None:
        return None
    if isinstance(ids, str | bytes | set | frozenset):
        raise BadInput("ids must be a column or a list with one text for each person, in the order of the people")
    texts: Sequence[Any] = tuple(listed(ids))
    if len(texts) != people:
        raise BadInput(
            "ids has {given} entries for {people} people; give one for each", given=len(texts), people=people
        )
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(
                "{place} is not text; ids are kept byte for byte, so turn them into str yourself",
                place=Place(place, "ids"),
            )
    refuse_repeats(texts, "id", lambda second, first: f"ids[{first}] and ids[{second}]")
    return tuple(texts)


def refuse_repeats(texts: Sequence[str], name: str, said: Callable[[int, int], str]) -> None:
    """Refuse an id that several people share; ``said`` names the second of them, given also the first."""
    if len(set(texts)) == len(texts):
        return
    first: dict[str, int] = {}
    place = next(at for at, text in enumerate(texts) if first.setdefault(text, at) != at)
    raise BadInput(SAME_ID, place=said(place, first[texts[place]]), people=texts.count(texts[place]), name=name)


def checked_limit(limit: float) -> float:
    """Refuse a limit that nobody could have; one that no float holds is never a grain more."""
    rounded = math.nan
    with contextlib.suppress(TypeError, ValueError, ArithmeticError):
        rounded = limit_of(limit)
    if not rounded >= 0.0:
        raise BadInput("{limit} must be a number of 0 or more", limit=Argument("limit"))
    return rounded
