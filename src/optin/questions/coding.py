"""Answers as they come, coded as one float each: places of options, sets of them, yes or no, numbers (E23, E25).

A missing answer is NaN. An answer that is none of the options is refused by row and never repeated: it is private.
"""

from __future__ import annotations

import contextlib
import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from optin.errors import BadInput, Place
from optin.questions.cells import FloatArray
from optin.questions.entries import entries_of, is_missing
from optin.wording.answers import BLANKS, LARGEST_WHOLE, NO_ANSWER, NO_OPTION, NO_SET, SEPARATOR, answer_of

MOST_OPTIONS = 50
_NO_COLUMN = (str, bytes, bytearray, Mapping, Set, Number, np.generic)
_UNSHOWN = ("Cc", "Cs")  # controls, which act on a screen and which engines cannot be asked for, and halves of letters


def checked_options(options: Iterable[str], name: str) -> tuple[str, ...]:
    """Refuse fewer than two, more than fifty, empty or repeated options."""
    if isinstance(options, str | Mapping | Set) or not isinstance(options, Iterable):
        raise BadInput('question "{question}": give options as a list of texts', question=name)
    texts = tuple(str(option) if isinstance(option, str) else option for option in options)
    if any(isinstance(option, int | float) for option in texts):
        raise BadInput(
            'question "{question}": options are texts; write a number between quotes, such as "1"', question=name
        )
    if not all(isinstance(option, str) and as_seen(option).strip() for option in texts):
        raise BadInput('question "{question}": every option must be a text that is not empty', question=name)
    if any(unicodedata.category(letter) in _UNSHOWN for option in texts for letter in option):
        raise BadInput(
            'question "{question}": an option must be text on one line, without control characters', question=name
        )
    if not 2 <= len(texts) <= MOST_OPTIONS:
        raise BadInput(
            'question "{question}" has {count} options: give 2 to {most}',
            question=name,
            count=len(texts),
            most=MOST_OPTIONS,
        )
    repeated = first_twice(texts)
    if repeated is not None:
        raise BadInput('question "{question}": the option "{option}" is given twice', question=name, option=repeated)
    return texts


def as_seen(text: str) -> str:
    """Return what people see of a text: its letters, however they are composed, without signs of no width.

    >>> as_seen("e\u0301\u200b") == as_seen("\u00e9")
    True
    """
    shown = (letter for letter in text if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", "".join(shown))


def first_twice(texts: Sequence[str]) -> str | None:
    """Return the first text that looks like one before it, None where all look different."""
    seen = [as_seen(text) for text in texts]
    return next((text for place, text in enumerate(texts) if seen[place] in seen[:place]), None)


def checked_parts(options: Iterable[str], name: str) -> tuple[str, ...]:
    """Refuse options that a text of several cannot tell: with what separates them inside, or blanks at the ends."""
    texts = checked_options(options, name)
    if any(SEPARATOR in option or option != option.strip(BLANKS) for option in texts):
        raise BadInput(
            'question "{question}": where several options are chosen, none has a {separator} inside or blanks at its ends',
            question=name,
            separator=SEPARATOR,
        )
    return texts


def place_of(option: str, options: tuple[str, ...]) -> int:
    """Return where an option stands; one that is not there is refused."""
    if option not in options:
        raise BadInput(
            'there is no option "{option}"; the options are: {options}', option=option, options=", ".join(options)
        )
    return options.index(option)


def coded_options(answers: Any, options: tuple[str, ...], name: str) -> FloatArray:  # noqa: ANN401
    """Code each answer as the place of its option, byte for byte; blank text is a missing answer."""
    places = {option: float(place) for place, option in enumerate(options)}
    return _coded(answers, lambda answer: places.get(_written(answer) or ""), name, NO_OPTION)


def _written(answer: Any) -> str | None:  # noqa: ANN401
    """Write a whole number as an option would be written: files read "1" as a number where all options are digits.

    A number with a fraction, or too large to be counted by floats, is no option, in any engine.
    """
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return str(int(answer))
    if isinstance(answer, float | np.floating | Decimal):
        number = float(answer)
        return str(int(number)) if abs(number) <= LARGEST_WHOLE and number.is_integer() else None
    return answer if isinstance(answer, str) else None


def coded_truths(answers: Any, name: str) -> FloatArray:  # noqa: ANN401
    """Code yes as 0 and no as 1, whether written as booleans, as 0 and 1, or in words."""
    raw = np.empty(0, dtype=np.str_)
    if isinstance(answers, np.ndarray | list | tuple) and not np.ma.isMaskedArray(answers):
        with contextlib.suppress(ValueError):  # rows of different lengths are no answers, which is said below
            raw = np.asarray(answers)
    if raw.ndim == 1 and raw.dtype.kind == "b":
        return np.where(raw, 0.0, 1.0)
    return _coded(answers, _truth, name, NO_ANSWER)


def _truth(answer: Any) -> float | None:  # noqa: ANN401
    if isinstance(answer, str):
        yes = answer_of(answer)
        return None if yes is None else float(not yes)
    if isinstance(answer, int | float | Decimal | np.number | np.bool_) and answer in (0, 1):
        return 0.0 if answer else 1.0
    return None


def coded_sets(answers: Any, options: tuple[str, ...], at_most: int, name: str) -> FloatArray:  # noqa: ANN401
    """Code a set of options as a sum of powers of two; a text is split at semicolons, and an empty one chose none."""
    powers = {option: 1 << place for place, option in enumerate(options)}

    def coded(answer: Any) -> float | None:  # noqa: ANN401
        if isinstance(answer, Mapping):  # what it says of each option could be no
            return None
        written = _written(answer)
        parts = answer if written is None else [part.strip(BLANKS) for part in written.split(SEPARATOR)]
        try:
            chosen = {part for part in parts if part != ""}
            return float(sum(powers[part] for part in chosen)) if len(chosen) <= at_most else None
        except (KeyError, TypeError, ValueError):
            return None

    return _coded(answers, coded, name, NO_SET, blank=False, most=at_most)


Code = Callable[[Any], float | None]


def _coded(answers: Any, code: Code, name: str, words: str, *, blank: bool = True, **data: Any) -> FloatArray:  # noqa: ANN401
    """Code every entry once, and look the answers up; the first that is no answer is refused by its place."""
    if answers is None or isinstance(answers, _NO_COLUMN):
        raise BadInput("{column} must hold answers, one for each announced person", column=name)
    entries, places = entries_of(answers)
    entry_codes = np.fromiter(_each(entries, code, blank=blank), np.float64, len(entries))
    codes = entry_codes if places is None else np.append(entry_codes, np.nan)[places]
    wrong = np.isinf(codes)
    if wrong.any():
        others = int(np.count_nonzero(wrong)) - 1
        more = " ({others:,} more)" if others else ""
        raise BadInput("{place} " + words + more, place=Place(int(np.argmax(wrong)), name), others=others, **data)
    return codes


def _each(entries: Sequence[Any], code: Code, *, blank: bool) -> Iterator[float]:
    """Code entries, those that are text or truths once; infinite where one is no answer."""
    known: dict[str | bool, float] = {}
    for entry in entries:
        if not isinstance(entry, str | bool):
            yield _one(entry, code, blank=blank)
            continue
        if entry not in known:
            known[entry] = _one(entry, code, blank=blank)
        yield known[entry]


def _one(entry: Any, code: Code, *, blank: bool) -> float:  # noqa: ANN401
    if is_missing(entry) or (blank and isinstance(entry, str) and not entry.strip(BLANKS)):
        return math.nan
    coded = code(entry)
    return math.inf if coded is None else coded
