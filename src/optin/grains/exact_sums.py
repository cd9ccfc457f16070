"""Exact sums over people: of one question, and of a sheet (E20)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import zip_longest
from operator import add


@dataclass(frozen=True)
class QuestionSums:
    """Exact sums of one question over some people; ``cells`` (sums of grains times levels) are private and never shown.

    ``promised`` counts those with a grain or more for this question; ``above`` those with more than an equal share, where that
    was asked for, and what they give together (the tilt of E15).
    """

    people: int = 0
    promised: int = 0
    grains: int = 0
    squares: int = 0
    above: tuple[int, int] = (0, 0)
    cells: tuple[int, ...] = field(default=(), repr=False)

    def __add__(self, other: QuestionSums) -> QuestionSums:
        return QuestionSums(
            people=self.people + other.people,
            promised=self.promised + other.promised,
            grains=self.grains + other.grains,
            squares=self.squares + other.squares,
            above=(self.above[0] + other.above[0], self.above[1] + other.above[1]),
            cells=tuple(map(sum, zip_longest(self.cells, other.cells, fillvalue=0))),
        )


@dataclass(frozen=True)
class SheetSums:
    """Exact sums of a sheet over some people, each question over those among them who answered it.

    ``people`` are all of them, ``promised`` those with a grain or more in all. ``marks`` stands for who was promised and
    answered what: in an engine, a sum of salted hashes.
    """

    people: int = 0
    promised: int = 0
    questions: tuple[QuestionSums, ...] = ()
    marks: int = field(default=0, repr=False)

    @property
    def grains(self) -> int:
        """What they give for all questions together."""
        return sum(question.grains for question in self.questions)

    def __add__(self, other: SheetSums) -> SheetSums:
        return SheetSums(
            people=self.people + other.people,
            promised=self.promised + other.promised,
            questions=tuple(
                mine + theirs for mine, theirs in zip_longest(self.questions, other.questions, fillvalue=QuestionSums())
            ),
            marks=self.marks + other.marks,
        )


def together(parts: Iterable[SheetSums]) -> SheetSums:
    """Add up what was found of some people and of others."""
    return reduce(add, parts, SheetSums())
