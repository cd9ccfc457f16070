"""How groups of people are spoken of: how many a group has at least, its name on one line, and counts in tens."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from optin.wording.language import N_, _
from optin.wording.sentences import Sentence

SMALLEST_GROUP = 10
"""Fewer people could be told apart, wherever they are asked, counted or drawn."""
FEW_BELOW_CAP = 3
"""So few people below a cap that all others reach could be told apart by sums."""
_TEN = 10


def shown_group(name: str, most: int = 40) -> str:
    """Write a group's name on one line, in quotes: what cannot be printed is escaped, and what is long is cut.

    It is cut in its middle: groups of two columns often begin alike.

    >>> shown_group("ICU"), shown_group("x" * 10_000, 8), shown_group("a long name, late shift", 16)
    ('"ICU"', '"xxxxx…xx"', '"a long nam…shift"')
    """
    end = (most - 1) // 3
    text = _printable(name if len(name) <= 2 * most else f"{name[:most]}{name[-most:]}")
    return f'"{text}"' if len(text) <= most and len(name) <= most else f'"{text[: most - 1 - end]}…{text[-end:]}"'


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def listed_groups(names: Sequence[str], most: int = 8) -> str:
    """List names of groups, and say how many more there are.

    >>> listed_groups(["ER", "ICU"]), listed_groups(list("abcde"), 2)
    ('"ER", "ICU"', '"a", "b" and 3 more')
    """
    more = _(" and {more:,} more", more=len(names) - most) if len(names) > most else ""
    return ", ".join(map(shown_group, names[:most])) + more


def merged_words(name: str, labels: Sequence[str]) -> Sentence:
    """Say of which groups one is made that were put together before anything was announced.

    >>> print(merged_words("ER + ICU", ("ER", "ICU")))
    "ER + ICU" is "ER", "ICU" put together, since a group was too small by itself: they have one result.
    """
    return Sentence(
        N_("{name} is {labels} put together, since a group was too small by itself: they have one result."),
        name=shown_group(name),
        labels=listed_groups(labels),
    )


class _Merging(Protocol):
    """A group that is asked whether it was put together from others."""

    @property
    def group(self) -> str | None: ...
    @property
    def merged(self) -> Sequence[str]: ...


def merged_in(designs: Iterable[_Merging]) -> list[Sentence]:
    """Say which of these groups were put together."""
    return [merged_words(str(each.group), each.merged) for each in designs if each.merged]


def by_group(told: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Say sentences about groups, each once, and of which groups it is true.

    >>> by_group({"ER": ["Ask more people."], "ICU": ["Ask more people."]})
    ('In "ER", "ICU": Ask more people.',)
    """
    names_by_sentence: dict[str, list[str]] = {}
    for name, sentences in told.items():
        for sentence in sentences:
            names_by_sentence.setdefault(sentence, []).append(name)
    return tuple(
        _("In {names}: {words}", names=listed_groups(names, 3), words=words)
        for words, names in names_by_sentence.items()
    )


def look_alikes(names: Iterable[str]) -> list[list[str]]:
    """List names that differ only in blanks, in capitals, or in how their letters are encoded.

    >>> look_alikes(["ER", "ICU", "ICU ", "icu"])
    [['ICU', 'ICU ', 'icu']]
    """
    by_look: dict[str, list[str]] = {}
    for name in names:
        by_look.setdefault(" ".join(unicodedata.normalize("NFKC", name).casefold().split()), []).append(name)
    return [alike for alike in by_look.values() if len(alike) > 1]


def in_tens(people: int) -> int:
    """Round a count of joiners down to tens: so are they published where people are divided into groups.

    >>> in_tens(57), in_tens(9)
    (50, 0)
    """
    return people // _TEN * _TEN


def tens_in_words(people: int) -> str:
    """Say a count in tens.

    >>> tens_in_words(57), tens_in_words(9), tens_in_words(0)
    ('50 or more', 'fewer than 10', 'fewer than 10')
    """
    return _("{people:,} or more", people=in_tens(people)) if people >= _TEN else _("fewer than {people}", people=_TEN)
