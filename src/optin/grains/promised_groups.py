"""What the people of each public group are promised (E27): one rule a group, and all groups in one look.

People who are in no groups are one group here, so that whoever adds up promises does so in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.agents.grouping import Groups
from optin.grains.arrays import Answers, Codes, GrainRule, Integers, Questions, everyone_spent
from optin.grains.exact_sums import SheetSums
from optin.grains.splitting import all_of, spent_by_group

if TYPE_CHECKING:
    from optin.grains.people import Promises

Bars = Sequence[tuple[int, ...]]
Both = tuple[SheetSums, SheetSums]
Above = tuple[tuple[int, int], ...]


class Rule(Protocol):
    """What every promise of a group follows from."""

    @property
    def most(self) -> int:
        """The grains, in all, of whoever reaches the cap."""

    @property
    def shares(self) -> tuple[int, ...]:
        """How they are split among the questions (E20)."""


class PromisesByGroup(Protocol):
    """What `optin.grains.people.Promises` tells of everyone, told of each group; bars are given group by group."""

    @property
    def rules(self) -> Sequence[Rule]:
        """What the promises of each group follow from."""

    def sums(self, *, joined: Answers = None, codes: Codes = None) -> list[Both]:
        """Add up everyone's promises, and of those who joined what they give for the questions they answered."""

    def weighed(
        self, questions: Questions, codes: Codes, *, joined: Answers = None, bars: Bars = ()
    ) -> list[SheetSums]:
        """Add up promises and cells of those who joined, and what is above the bars."""

    def sums_above(self, bars: Bars, joined: Answers = None, codes: Codes = None) -> list[Above]:
        """For each question of each group, count and add up the parts of more than so many grains."""

    def spent(self, joined: Answers, codes: Codes, released: Sequence[int]) -> Callable[[], Integers] | None:
        """Return what lists everyone's grains for what was released of their group; None where nothing lists one a person."""


@dataclass(frozen=True)
class Undivided:
    """Promises of people who are in no groups."""

    promises: Promises

    @property
    def rules(self) -> tuple[Promises, ...]:
        """The one rule there is."""
        return (self.promises,)

    def sums(self, *, joined: Answers = None, codes: Codes = None) -> list[Both]:
        """Add up everyone's promises."""
        return [self.promises.sums(joined=joined, codes=codes)]

    def weighed(
        self, questions: Questions, codes: Codes, *, joined: Answers = None, bars: Bars = ()
    ) -> list[SheetSums]:
        """Add up promises and cells."""
        return [self.promises.weighed(questions, codes, joined=joined, bars=bars[0] if bars else ())]

    def sums_above(self, bars: Bars, joined: Answers = None, codes: Codes = None) -> list[Above]:
        """Add up what is above the bars."""
        return [self.promises.sums_above(bars[0], joined, codes)]

    def spent(self, joined: Answers, codes: Codes, released: Sequence[int]) -> Callable[[], Integers] | None:
        """Return what lists everyone's grains."""
        return self.promises.spent(joined, codes, released[0])


@dataclass(frozen=True)
class ArrayGroups:
    """Promises of people in memory, who are in groups: each group is looked at by itself."""

    rules: tuple[GrainRule, ...]
    groups: Groups

    def sums(self, *, joined: Answers = None, codes: Codes = None) -> list[Both]:
        """Add up everyone's promises, group by group."""
        return [
            rule.sums(joined=taken(joined, rows), codes=taken_each(codes, rows))
            for rule, rows in zip(self.rules, self.groups, strict=True)
        ]

    def weighed(
        self, questions: Questions, codes: Codes, *, joined: Answers = None, bars: Bars = ()
    ) -> list[SheetSums]:
        """Add up promises and cells, group by group."""
        return [
            rule.weighed(questions, taken_each(codes, rows), joined=taken(joined, rows), bars=bars[at] if bars else ())
            for at, (rule, rows) in enumerate(zip(self.rules, self.groups, strict=True))
        ]

    def sums_above(self, bars: Bars, joined: Answers = None, codes: Codes = None) -> list[Above]:
        """Add up what is above the bars, group by group."""
        return [
            rule.sums_above(each, taken(joined, rows), taken_each(codes, rows))
            for rule, rows, each in zip(self.rules, self.groups, bars, strict=True)
        ]

    def spent(self, joined: Answers, codes: Codes, released: Sequence[int]) -> Callable[[], Integers]:
        """Return what lists everyone's grains, in the order of the people."""
        marks = joined if len(self.rules[0].shares) == 1 else self.answered(codes, joined)
        return partial(self._spent, marks, tuple(released))

    def _spent(self, marks: Answers, released: tuple[int, ...]) -> Integers:
        spent = np.zeros(len(self.groups.codes), dtype=np.int64)
        for rule, rows, charged in zip(self.rules, self.groups, released, strict=True):
            if charged:
                spent[rows] = everyone_spent(rule, taken(marks, rows), charged)
        return spent

    @property
    def people(self) -> int:
        """How many people there are in all groups."""
        return len(self.groups.codes)

    def scattered(self, column: Callable[[GrainRule], NDArray[Any]]) -> NDArray[Any]:
        """Put together what each group's people have, in the order of the people."""
        parts = [column(rule) for rule in self.rules]
        gathered = np.zeros(self.people, dtype=parts[0].dtype)
        for part, rows in zip(parts, self.groups, strict=True):
            gathered[rows] = part
        return gathered

    def answered(self, codes: Codes, joined: Answers = None) -> Integers:
        """Return a number for each person in which the bit of every question that they answered is set; 0 if not joined."""
        return replace(self.rules[0], people=self.people).answered(codes, joined)

    def columns(self, capped: Integers) -> dict[str, Integers]:
        """Name what is promised of so many grains, what it is the parts of, and the place of each person's group."""
        design, every = self.groups.codes.astype(np.int64), all_of(self.rules[0].shares)
        shares = np.array([rule.shares for rule in self.rules], dtype=np.int64)
        grains = spent_by_group(capped, shares, design, np.full(self.people, every, dtype=np.int64))
        return {"grains": grains, "capped": capped, "design": design}


def taken(column: Any, rows: Any) -> Any:  # noqa: ANN401 - an array, or None for everyone
    """Take some people's part of a column."""
    return None if column is None else np.asarray(column)[rows]


def taken_each(columns: Codes, rows: Any) -> Codes:  # noqa: ANN401
    """Take some people's part of several columns."""
    return None if columns is None else tuple(taken(column, rows) for column in columns)
