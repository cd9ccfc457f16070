"""Numbers as people type them: read in one way or not at all, and told back where they could be meant otherwise.

Half of the world writes forty-five thousand as 45.000 and the other half as 45,000: neither is taken for forty-five where
forty-five thousand could be meant.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from optin.errors import BadInput
from optin.kernel.rounding import limit_of_text
from optin.wording.language import localised, spoken_here
from optin.wording.sentences import Sentence

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
_GROUPED = re.compile(
    r"[+-]?\d{1,3}([.,'\N{RIGHT SINGLE QUOTATION MARK} _\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]\d{3})+([.,]\d+)?",
    re.ASCII,
)
_PLAIN = re.compile(r"-?(0|[1-9]\d*)([.,]\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Typed:
    """A number and whether it stood there just as we would write it; if not, whoever typed it should see it again."""

    number: float
    plain: bool


def typed_number(text: str, words: str, *, low: float = -math.inf, high: float = math.inf) -> Typed:
    """Read what someone typed; of two readings only one between ``low`` and ``high`` may be left, as a decimal number.

    >>> typed_number("7,5", "your answer"), typed_number("7.125", "your answer", low=0, high=12).number
    (Typed(number=7.5, plain=False), 7.125)
    >>> typed_number("45.000", "your answer", low=0, high=200_000)
    Traceback (most recent call last):
        ...
    optin.errors.BadInput: your answer, 45.000, can be read in two ways: write 45000, or 45
    """
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not text:
        raise BadInput("{words} is missing: type a number", words=words)
    if _EITHER.fullmatch(text):
        return _one_of_two(text, words, low, high)
    if not _NUMBER.fullmatch(text):
        raise BadInput("{words} must be a number{hint}", words=words, hint=_hint(text))
    number = limit_of_text(text.replace(",", "."))  # a total that is not rounded up by a grain
    if not math.isfinite(number):
        raise BadInput("{words} must be a number that is not so large", words=words)
    return Typed(number, plain=_is_plain(text) or text == spelled(number))


def _is_plain(text: str) -> bool:
    """Say whether a number stands there as its reader's language writes it."""
    other = {",": ".", ".": ","}.get(spoken_here().decimal, "")
    return bool(_PLAIN.fullmatch(text)) and (not other or other not in text)


def _one_of_two(text: str, words: str, low: float, high: float) -> Typed:
    unmarked, decimal = float(re.sub("[.,]", "", text)), float(text.replace(",", "."))
    if low <= unmarked <= high:
        raise BadInput(
            "{words}, {text}, can be read in two ways: write {one}, or {other}",
            words=words,
            text=text,
            one=spelled(unmarked),
            other=spelled(decimal),
        )
    return Typed(decimal, plain=False)


def _hint(text: str) -> str:
    if not _GROUPED.fullmatch(text):
        return ""
    return Sentence(
        ": write it without anything between the thousands, and a point before a fraction, such as {number}",
        number=1234567.5,
    )


def spelled(number: float) -> str:
    """Write a number so that it can be read in one way only.

    >>> spelled(45.0), spelled(45.125), spelled(0.125), spelled(2e5)
    ('45', '45.1250', '0.125', '200000')
    """
    text = f"{number:.15g}"
    return localised(text + "0" if _EITHER.fullmatch(text) else text)
