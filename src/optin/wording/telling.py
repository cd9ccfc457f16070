"""Records that print themselves: a title, labelled lines and a table, as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 40
"""A record prints no more rows than this; its table has them all."""


@dataclass(frozen=True)
class Telling:
    """What a record says of itself. In a table, columns from ``numbers`` on are numbers and end at the right.

    >>> Telling("Release clinic-1", (("joined", "12 people"),), ("answer", "estimate"), (("yes", "31 %"),), numbers=1)
    Release clinic-1
      joined  12 people
    <BLANKLINE>
      answer  estimate
      yes         31 %
    """

    title: str
    lines: tuple[tuple[str, str], ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: int = 2
    more: str = ""
    """Where the rows are that are not printed."""

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows that are printed."""
        return self.rows[:MOST_ROWS]

    @property
    def left_out(self) -> str:
        """Say how many rows are not printed, and where they are."""
        gone = len(self.rows) - len(self.shown)
        return f"… {gone:,} more: {self.more}" if gone else ""

    def __repr__(self) -> str:
        width = max((len(label) for label, _ in self.lines), default=0)
        parts = [self.title, *(f"  {label:<{width}}  {_one_line(text)}" for label, text in self.lines)]
        return "\n".join([*parts, *self._table()])

    def _table(self) -> list[str]:
        if not self.rows:
            return []
        cells = [tuple(map(_one_line, row)) for row in (self.head, *self.shown)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        rows = [self._row(row, widths) for row in cells]
        return ["", *rows, f"  {self.left_out}"] if self.left_out else ["", *rows]

    def _row(self, row: Sequence[str], widths: Sequence[int]) -> str:
        texts = [
            text.rjust(width) if place >= self.numbers else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"  {'  '.join(texts)}".rstrip()

    def html(self) -> str:
        """Write it as HTML, every text escaped."""
        lines = "".join(
            f"<tr><th {_LEFT}>{escape(label)}</th><td {_LEFT}>{escape(text)}</td></tr>" for label, text in self.lines
        )
        told = f"<table><caption {_LEFT}>{escape(self.title)}</caption>{lines}</table>"
        if not self.rows:
            return told
        head = "".join(f"<th {self._side(place)}>{escape(name)}</th>" for place, name in enumerate(self.head))
        rows = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.shown)
        rest = f"<p>{escape(self.left_out)}</p>" if self.left_out else ""
        return f"<div>{told}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}</div>"

    def _cells(self, row: Sequence[str]) -> str:
        return "".join(f"<td {self._side(place)}>{escape(text)}</td>" for place, text in enumerate(row))

    def _side(self, place: int) -> str:
        return _RIGHT if place >= self.numbers else _LEFT


_LEFT, _RIGHT = ("style='text-align:left'", "style='text-align:right'")


def _one_line(text: str) -> str:
    """Keep words of people who wrote a sheet on one line, and without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


class Told(ABC):
    """A record that prints what a person wants to know of it, and not its fields."""

    __slots__ = ()

    @abstractmethod
    def telling(self) -> Telling:
        """Say what a person wants to know."""

    def __repr__(self) -> str:
        return repr(self.telling())

    def _repr_html_(self) -> str:
        return self.telling().html()
