"""Warnings that an earlier step gave in full are repeated in one line, so that new ones stand out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten

LONGEST = 60


def shortened(now: Sequence[str], before: Iterable[str]) -> list[str]:
    """Cut those warnings that were given before; the numbers in them may have changed.

    >>> before = ["Some limits are above 12: is this a percentage? A limit is an epsilon."]
    >>> shortened(["Some limits are above 10: is this a percentage? A limit is an epsilon.", "New."], before)
    ['Some limits are above 10: is this a percentage? A limit is… (as said before)', 'New.']
    """
    known = set(map(_letters, before))
    return [_cut(words) if _letters(words) in known else words for words in now]


def _letters(words: str) -> str:
    return "".join(filter(str.isalpha, words))


def _cut(words: str) -> str:
    return f"{shorten(words, LONGEST, placeholder='…')} (as said before)"
