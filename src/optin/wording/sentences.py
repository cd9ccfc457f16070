"""Sentences that remember their template and their data, so that every surface can say them in its own words.

The library says ``max_gap``, the command line ``--max-gap``, a page in another language something else: each fills in the
template itself, and nobody reads a finished sentence to find out what it was about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from optin.wording.language import in_digits, spoken_here

Say = Callable[[Any], Any]
"""How one piece of data is said on a surface."""


@dataclass(frozen=True)
class Argument:
    """An argument as the library names it, with the value to give it, if one is advised.

    >>> str(Argument("max_gap")), str(Argument("max_gap", 0))
    ('max_gap', 'max_gap=0')
    """

    name: str
    value: object = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Place:
    """One person of the table that was given, or their entry in one column of it.

    >>> str(Place(3)), str(Place(3, "limits"))
    ('the person at index 3', 'limits[3]')
    """

    index: int
    column: str = ""

    def __str__(self) -> str:
        return f"{self.column}[{self.index}]" if self.column else f"the person at index {self.index}"

    def at(self, place: str) -> str:
        """Say it by a place its reader knows better than an index.

        >>> Place(3).at("people.csv line 5"), Place(3, "limits").at("people.csv line 5")
        ('the person at people.csv line 5', 'people.csv line 5: limits')
        """
        return f"{place}: {self.column}" if self.column else f"the person at {place}"


class Sentence(str):
    """A sentence that knows its template and what was filled into it; without data the template is taken as it is.

    >>> said = Sentence("{place} is negative ({others:,} more)", place=Place(3, "limits"), others=1200)
    >>> said
    'limits[3] is negative (1,200 more)'
    >>> said.told(lambda value: "your limit" if isinstance(value, Place) else value)
    'your limit is negative (1,200 more)'
    """

    template: str
    data: Mapping[str, Any]

    def __new__(cls, template: str | Sentence, /, **data: Any) -> Sentence:  # noqa: ANN401 - whatever a template names
        """Fill in a template; a sentence that is given again stays what it is."""
        data = {**template.data, **data} if isinstance(template, Sentence) else data
        pattern = template.template if isinstance(template, Sentence) else str(template)
        self = super().__new__(cls, pattern.format(**data) if data else pattern)
        self.template, self.data = pattern, data
        return self

    def told(self, say: Say, translations: Mapping[str, str] | None = None) -> Sentence:
        """Say it again with each piece of data in a surface's own words, and the template in its language."""
        template = (translations or {}).get(self.template, self.template)
        return Sentence(template, **{name: say(value) for name, value in self.data.items()})

    @classmethod
    def listing(cls, sentences: Iterable[Sentence]) -> Sentence:
        """Say several sentences as one, each kept as a piece of its data.

        >>> Sentence.listing([Sentence("{n} people", n=12), Sentence("nobody")])
        '12 people; nobody'
        """
        each = {f"part_{place}": sentence for place, sentence in enumerate(sentences)}
        return cls("; ".join(f"{{{name}}}" for name in each), **each)

    def spoken(self) -> Sentence:
        """Say it in the language spoken here, and so each sentence within it."""
        return self.told(_spoken, {self.template: spoken_here().said(self.template)})

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.template, dict(self.data))


def _spoken(value: Any) -> Any:  # noqa: ANN401
    return value.spoken() if isinstance(value, Sentence) else in_digits(value)


def _again(template: str, data: dict[str, Any]) -> Sentence:
    return Sentence(template, **data)
