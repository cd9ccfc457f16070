"""Records that list themselves: on one line where they are small, as labelled lines where they are not.

Both read the fields of a dataclass (those with ``repr=False`` stay unsaid) and say each in few words: a number with few
digits, a column by its length and never by what stands in it, another record by its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from html import escape
from typing import Any

from optin.wording.numbers import count
from optin.wording.telling import Telling, Told

LONGEST = 72
"""A text is cut after so many letters: the record still has all of it."""
FEW = 8
"""So many entries of a tuple are listed, more are counted."""


def said(value: Any) -> str:  # noqa: ANN401 - whatever a record holds
    """Say one field in few words.

    >>> said(2 / 3), said(10**40), said((0.0, 80.0)), said(None), said("no " * 40)[-8:]
    ('0.666667', 'an integer of 41 digits', '(0, 80)', 'None', "no no …'")
    """
    shape = getattr(value, "shape", None)
    if shape:
        return f"{' x '.join(f'{length:,}' for length in shape)} numbers"
    if isinstance(value, str):
        return repr(cut(value))
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int):
        digits = len(str(abs(value)))
        return str(value) if digits <= 15 else f"an integer of {digits} digits"
    return _said_otherwise(value)


def cut(text: str) -> str:
    """Leave out the end of a long text."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _said_otherwise(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, Mapping):
        return count(len(value), "entry", "entries")
    if isinstance(value, tuple | list):
        return _listed(value)
    if isinstance(value, Brief) or not is_dataclass(value):
        return repr(value) if not hasattr(value, "__float__") else f"{float(value):.6g}"
    return type(value).__name__


def _listed(values: tuple[Any, ...] | list[Any]) -> str:
    if len(values) > FEW or any(is_dataclass(each) or hasattr(each, "shape") for each in values):
        return count(len(values), "entry", "entries")
    told = ", ".join(map(said, values))
    return f"({told},)" if len(values) == 1 else f"({told})"


def _shown(record: Any) -> Iterator[Field[Any]]:  # noqa: ANN401
    return (each for each in fields(record) if each.repr)


class OneLine:
    """Something that prints on one line, in a notebook too."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


class Brief(OneLine):
    """A small record on one line, as it could be made: fields that are as they are by default are left out."""

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={text}" if name else text for name, text in self.brief())
        return f"{type(self).__name__}({told})"

    def brief(self) -> list[tuple[str, str]]:
        """List what is worth saying of it."""
        kept = [(each, getattr(self, each.name)) for each in _shown(self)]
        return [(each.name, said(value)) for each, value in kept if not _is_default(each, value)]


def _is_default(each: Field[Any], value: Any) -> bool:  # noqa: ANN401
    return each.default is not MISSING and not hasattr(value, "shape") and bool(value == each.default)


class Listed(Told):
    """A record as a line for each of its fields, under the name of its kind."""

    def telling(self) -> Telling:
        """List the fields in few words."""
        return Telling(type(self).__name__, tuple(listed(self)))


def listed(record: Any, *leaving: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """List the fields of a record in few words, but for those left out and those that hold nothing."""
    for each in _shown(record):
        value = getattr(record, each.name)
        if each.name not in leaving and value is not None:
            yield each.name.replace("_", " "), cut(value) if isinstance(value, str) else said(value)
