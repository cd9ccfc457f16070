"""Answers as they come, coded as one float each: places of options, sets of them, yes or no, numbers (E23, E25).

A missing answer is NaN. An answer that is none of the options is refused by row and never repeated: it is private.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from optin.errors import BadInput
from optin.questions.cells import FloatArray

MOST_OPTIONS = 50
SEPARATOR = ";"
_TRUTHS = {"yes": 0.0, "no": 1.0, "true": 0.0, "false": 1.0, "1": 0.0, "0": 1.0}
"""The places of yes and no."""


def checked_options(options: Iterable[str], name: str) -> tuple[str, ...]:
    """Refuse fewer than two, more than fifty, empty or repeated options."""
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise BadInput('question "{question}": give options as a list of texts', question=name)
    found = tuple(options)
    if not all(isinstance(option, str) and option.strip() for option in found):
        raise BadInput('question "{question}": every option must be a text that is not empty', question=name)
    if not 2 <= len(found) <= MOST_OPTIONS:
        raise BadInput(
            'question "{question}" has {count} options: give 2 to {most}',
            question=name,
            count=len(found),
            most=MOST_OPTIONS,
        )
    repeated = next((option for place, option in enumerate(found) if option in found[:place]), None)
    if repeated is not None:
        raise BadInput('question "{question}": the option "{option}" is given twice', question=name, option=repeated)
    return found


def place_of(option: str, options: tuple[str, ...]) -> int:
    """Return where an option stands; one that is not there is refused."""
    if option not in options:
        raise BadInput(
            'there is no option "{option}"; the options are: {options}', option=option, options=", ".join(options)
        )
    return options.index(option)


def is_missing(answer: object) -> bool:
    """Tell a missing answer: None, NaN, NaT or pandas' NA."""
    return (
        answer is None
        or type(answer).__name__ in ("NAType", "NaTType")
        or (isinstance(answer, float) and answer != answer)
    )


def coded_options(answers: Sequence[Any], options: tuple[str, ...], name: str) -> FloatArray:
    """Code each answer as the place of its option, byte for byte."""
    places = {option: float(place) for place, option in enumerate(options)}
    return _coded(answers, lambda answer: places.get(answer) if isinstance(answer, str) else None, name)


def coded_truths(answers: Sequence[Any], name: str) -> FloatArray:
    """Code yes as 0 and no as 1, whether written as booleans, as 0 and 1, or in words."""
    raw = np.asarray(answers)
    if raw.dtype.kind == "b":
        return np.where(raw, 0.0, 1.0)
    return _coded(answers, _truth, name)


def _truth(answer: Any) -> float | None:  # noqa: ANN401
    if isinstance(answer, str):
        return _TRUTHS.get(answer.strip().lower())
    if isinstance(answer, int | float | np.number | np.bool_) and answer in (0, 1):
        return 0.0 if answer else 1.0
    return None


def coded_sets(answers: Sequence[Any], options: tuple[str, ...], at_most: int, name: str) -> FloatArray:
    """Code a set of options as a sum of powers of two; a text is split at semicolons, and an empty one chose none."""
    powers = {option: 1 << place for place, option in enumerate(options)}

    def coded(answer: Any) -> float | None:  # noqa: ANN401
        parts = [part.strip() for part in answer.split(SEPARATOR)] if isinstance(answer, str) else answer
        try:
            chosen = {part for part in parts if part != ""}
            return float(sum(powers[part] for part in chosen)) if len(chosen) <= at_most else None
        except (KeyError, TypeError):
            return None

    return _coded(answers, coded, name)


def coded_numbers(answers: Sequence[Any], name: str) -> FloatArray:
    """Take numbers as they are."""
    raw = np.asarray(answers)
    if raw.dtype.kind in "biuf":
        return np.asarray(raw, dtype=np.float64)
    return _coded(answers, _number, name)


def _number(answer: Any) -> float | None:  # noqa: ANN401
    if isinstance(answer, str | bytes):
        return None
    try:
        return float(answer)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return float("inf") if answer > 0 else float("-inf")


def _coded(answers: Sequence[Any], code: Any, name: str) -> FloatArray:  # noqa: ANN401
    found = [np.nan if is_missing(answer) else code(answer) for answer in answers]
    if None in found:
        raise BadInput(
            'person {index} answers "{question}" with what is no answer to it; see what the question allows',
            index=found.index(None),
            question=name,
        )
    return np.array(found, dtype=np.float64)
