"""Sentences that files and databases hold in English, said in the language of the page.

What was written down once stays as it was written: results and logs are bound word for word. A page finds the template that such
a sentence was made from, by its words, and says it anew; one that it does not know stays English.
"""

from __future__ import annotations

import contextlib
import functools
import re
import string
from datetime import datetime

from optin.wording.language import Day, Language, localised, spoken_here, written_day

_FEWEST = 6
"""Templates with fewer letters of their own would fit too much."""
_NUMBER = re.compile(r"-?[\d,]*\d(\.\d+)?")
_DAY, _DIGITS = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}"), re.compile(r"\d{4}-\d{2}-\d{2}")
"""A day as it is kept, and as earlier versions kept it."""


def kept_words(words: str) -> str:
    """Say again what was kept in English.

    >>> kept_words("registration was closed")
    'registration was closed'
    """
    language = spoken_here()
    return _again(language, words) if language.messages else words


@functools.lru_cache(maxsize=4096)
def _again(language: Language, words: str) -> str:
    if words in language.messages:
        return language.said(words)
    for template, pattern in _patterns(language):
        found = pattern.fullmatch(words)
        if found:
            data = {name: _data(language, text) for name, text in found.groupdict().items()}
            return _plain(language.said(template)).format(**data)
    return words


def _data(language: Language, text: str) -> str:
    if _NUMBER.fullmatch(text):
        return localised(text)
    return _day(text) or "; ".join(_again(language, part) for part in text.split("; "))


def _day(text: str) -> str:
    """Write a day as the page does; nothing where it is none."""
    with contextlib.suppress(ValueError):
        if _DAY.fullmatch(text):
            return written_day(datetime.strptime(text, "%d %B %Y"))
        if _DIGITS.fullmatch(text):
            return written_day(Day.of(text).moment)
    return ""


@functools.lru_cache(maxsize=8)
def _patterns(language: Language) -> list[tuple[str, re.Pattern[str]]]:
    """Make a pattern of each template that is filled in, those with most words of their own first."""
    found = []
    for template in language.messages:
        parts = list(string.Formatter().parse(template)) if "%(" not in template and "<" not in template else []
        own = sum(len(text) for text, *_ in parts)
        if own >= _FEWEST and any(name for _, name, *_ in parts):
            found.append((own, template, _pattern(parts)))
    return [(template, pattern) for _, template, pattern in sorted(found, key=lambda each: -each[0])]


def _pattern(parts: list[tuple[str, str | None, str | None, str | None]]) -> re.Pattern[str]:
    seen: set[str] = set()
    written = ""
    for text, name, _, _ in parts:
        written += re.escape(text)
        if name:
            written += f"(?P={name})" if name in seen else f"(?P<{name}>.+)"
            seen.add(name)
    return re.compile(written, re.DOTALL)


def _plain(template: str) -> str:
    """Take formats out of a template: what is filled in is a text already."""
    return "".join(
        text.replace("{", "{{").replace("}", "}}") + (f"{{{name}}}" if name else "")
        for text, name, _, _ in string.Formatter().parse(template)
    )
