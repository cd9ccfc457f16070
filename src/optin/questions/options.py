"""Answers that are options: how their texts are checked and coded (E23)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from optin.errors import BadInput
from optin.questions.cells import FloatArray

MOST_OPTIONS = 50


def checked_options(options: Iterable[str], name: str) -> tuple[str, ...]:
    """Refuse fewer than two, more than fifty, empty or repeated options."""
    if isinstance(options, str):
        raise BadInput(f'question "{name}": give options as a list of texts, not as one text')
    found = tuple(options)
    if not all(isinstance(option, str) and option.strip() for option in found):
        raise BadInput(f'question "{name}": every option is a text that is not empty')
    if not 2 <= len(found) <= MOST_OPTIONS:
        raise BadInput(f'question "{name}" has {len(found)} options: give 2 to {MOST_OPTIONS}')
    repeated = next((option for place, option in enumerate(found) if option in found[:place]), None)
    if repeated is not None:
        raise BadInput(f'question "{name}": the option "{repeated}" is given twice')
    return found


def coded_options(answers: Sequence[Any], options: tuple[str, ...], name: str) -> FloatArray:
    """Code each answer as the place of its option, byte for byte; missing ones are NaN, unknown ones refused by row."""
    places = {option: float(place) for place, option in enumerate(options)}
    return np.array([_place(answer, places, row, name) for row, answer in enumerate(answers)], dtype=np.float64)


def _place(answer: object, places: dict[str, float], row: int, name: str) -> float:
    if is_missing(answer):
        return np.nan
    place = places.get(answer) if isinstance(answer, str) else None
    if place is None:
        raise BadInput(f'person {row} answers "{name}" with none of its options; check the text, byte for byte')
    return place


def is_missing(answer: object) -> bool:
    """Tell a missing answer: None, NaN, or pandas' NA."""
    return answer is None or type(answer).__name__ == "NAType" or (isinstance(answer, float) and answer != answer)
