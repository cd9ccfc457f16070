"""Warnings that an earlier step gave in full are repeated in one line, so that new ones stand out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LONGEST = 90


def shortened(now: Sequence[str], before: Iterable[str]) -> list[str]:
    """Cut those warnings that were given before; the numbers in them may have changed.

    >>> before = ["Some limits are above 12: is this a percentage? A limit is an epsilon."]
    >>> shortened(["Some limits are above 10: is this a percentage? A limit is an epsilon.", "New."], before)
    ['Some limits are above 10 (as said before)', 'New.']
    """
    known = {_without_numbers(words) for words in before}
    return [_cut(words) if _without_numbers(words) in known else words for words in now]


def _without_numbers(words: str) -> str:
    return re.sub(r"[\d.,]+", "", words)


def _cut(words: str) -> str:
    """Keep the first part of a sentence, up to a colon or its end."""
    first = re.split(r": |\. |\? ", words)[0].rstrip(".")
    return f"{first if len(first) <= LONGEST else first[:LONGEST].rsplit(' ', 1)[0] + '…'} (as said before)"
