"""The language in which words are said: English, unless whoever reads them chose another.

A page speaks a language for as long as it is made (`speaking`), and whatever is put in words meanwhile comes out in it: a
template is looked up in a catalogue by its English words, then filled in, with numbers as the language writes them. Where nobody
chose, everything stays English, to the byte: commands, the library, files, and whatever a fingerprint binds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


def _one_or_many(number: int) -> int:
    return int(number != 1)


@dataclass(frozen=True)
class Language:
    """A language: its tag, its name for itself, its messages by the English ones, and how it writes numbers and days."""

    tag: str = "en"
    name: str = "English"
    messages: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    form: Callable[[int], int] = field(default=_one_or_many, repr=False, compare=False)
    decimal: str = "."
    group: str = ","
    to_the_left: bool = False
    day: Callable[[datetime], str] | None = field(default=None, repr=False, compare=False)

    @property
    def direction(self) -> str:
        """Which way it is written, as pages say it."""
        return "rtl" if self.to_the_left else "ltr"

    def said(self, template: str) -> str:
        """Look a template up; one that is not known stays English."""
        forms = self.messages.get(template)
        return forms[0] if forms else template

    def said_of(self, one: str, many: str, number: int) -> str:
        """Choose the form in which something is said of so many."""
        forms = self.messages.get(one)
        if not forms or len(forms) < 2:
            return one if number == 1 else many
        return forms[self.form(number)]


ENGLISH = Language()
NOBODYS = Language(tag="")
"""What is spoken where nobody chose: English too, and a sheet in its own words."""
_SPOKEN: ContextVar[Language] = ContextVar("language", default=NOBODYS)


def spoken_here() -> Language:
    """Return the language in which words are said just now."""
    return _SPOKEN.get()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Say everything in a language meanwhile.

    >>> with speaking(Language("de", "Deutsch", {"{n:,} files": ("{n:,} Dateien",)}, decimal=",", group=".")):
    ...     _("{n:,} files", n=1200), localised("0.25")
    ('1.200 Dateien', '0,25')
    >>> _("{n:,} files", n=1200)
    '1,200 files'
    """
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def _(template: str, /, **data: Any) -> str:  # noqa: ANN401 - whatever a template names
    """Say a template in the language spoken, with its data filled in; without data it is taken as it is."""
    language = _SPOKEN.get()
    if not language.messages:
        return template.format(**data) if data else template
    said = language.said(template)
    return said.format(**{name: in_digits(value) for name, value in data.items()}) if data else said


def ngettext(one: str, many: str, number: int, /, **data: Any) -> str:  # noqa: ANN401
    """Say something of so many in the language spoken; ``number`` is filled in too.

    >>> ngettext("{number} file", "{number} files", 1), ngettext("{number:,} file", "{number:,} files", 1200)
    ('1 file', '1,200 files')
    """
    words = _SPOKEN.get().said_of(one, many, number)
    return words.format(number=in_digits(number), **{name: in_digits(value) for name, value in data.items()})


def N_(template: str) -> str:  # noqa: N802 - what gettext calls it
    """Mark words that are looked up later, when they are said: what stands in a table of a module."""
    return template


def written_day(moment: datetime) -> str:
    """Write a day as people say it in the language spoken.

    >>> written_day(datetime(2026, 3, 4))
    '4 March 2026'
    """
    day = _SPOKEN.get().day
    return day(moment) if day else _in_english(moment)


def _in_english(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


@dataclass(frozen=True)
class Day:
    """A day of the calendar that is filled into a sentence: written in English, and said in the language spoken.

    >>> str(Day.of("2026-03-04")), _("until {day}", day=Day.of("2026-03-04"))
    ('4 March 2026', 'until 4 March 2026')
    """

    moment: datetime

    @classmethod
    def of(cls, text: str) -> Day:
        """Read a day that is written with digits alone, as forms send it."""
        return cls(datetime.strptime(text, "%Y-%m-%d"))

    def __str__(self) -> str:
        return _in_english(self.moment)


def capital(words: str) -> str:
    """Begin words with a capital letter."""
    return words[:1].upper() + words[1:]


def after_colon(sentence: str) -> str:
    """Go on with a sentence after a colon: in English with a small letter, elsewhere as it was written."""
    return sentence if _SPOKEN.get().messages else sentence[:1].lower() + sentence[1:]


def plural(one: str, many: str) -> tuple[str, str]:
    """Mark how something is called of one and of many, to be chosen when it is counted."""
    return one, many


class _Written:
    """A number that is formatted as the language spoken writes it."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        return localised(format(self._value, spec))

    def __str__(self) -> str:
        return localised(str(self._value))

    def __repr__(self) -> str:
        return localised(repr(self._value))


class Digits(str):
    """A number as it was written in English once, whatever format a template names; said in the language spoken.

    >>> "{people:,} people".format(people=Digits("1,200"))
    '1,200 people'
    """

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


def in_digits(value: Any) -> Any:  # noqa: ANN401 - whatever a template names
    """Have a number or a day written in the language spoken; anything else stays what it is."""
    if isinstance(value, Day):
        return written_day(value.moment)
    if isinstance(value, Digits):
        return Digits(localised(value))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return _Written(value) if number and _SPOKEN.get().messages else value


def localised(number: str) -> str:
    """Write digits that stand in English as the language spoken writes them: its comma and its point.

    >>> localised("1,200.5")
    '1,200.5'
    """
    language = _SPOKEN.get()
    if (language.decimal, language.group) == (".", ","):
        return number
    return number.translate({ord("."): language.decimal, ord(","): language.group})
