"""How many people public groups have, where that is told in tens: what a whole put together from them can then be (E27)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GroupSizes:
    """Each group has at least so many people and at most so many, and all of them together so many exactly.

    >>> sizes = GroupSizes((50, 30), (59, 39), 90)
    >>> [round(share, 3) for share in sizes.shares], [round(share, 3) for share in sizes.largest]
    ([0.611, 0.389], [0.656, 0.433])
    """

    least: tuple[int, ...]
    most: tuple[int, ...]
    everyone: int

    @property
    def known(self) -> bool:
        """Whether there is only one way to share everyone out."""
        return self._left == 0 or self.most == self.least or len(self.least) == 1

    @property
    def shares(self) -> tuple[float, ...]:
        """Return each group's part of everyone where those who are left over are spread evenly."""
        rooms = self._rooms
        even = self._left / sum(rooms) if sum(rooms) else 0.0
        return tuple((least + even * room) / self.everyone for least, room in zip(self.least, rooms, strict=True))

    @property
    def largest(self) -> tuple[float, ...]:
        """Return the most that each group's part can be."""
        pairs = zip(self.least, self._rooms, strict=True)
        return tuple((least + min(room, self._left)) / self.everyone for least, room in pairs)

    def leeway(self, figures: Sequence[float]) -> float:
        """Return how far the whole of these figures can be from the one by `shares`, whatever people groups have.

        It is furthest where those who are left over are all in the groups with the least figures, or with the largest.

        >>> round(GroupSizes((50, 30), (59, 39), 90).leeway([1.0, 0.0]), 4)
        0.0444
        """
        told = math.fsum(share * figure for share, figure in zip(self.shares, figures, strict=True))
        ends = (self._total(figures, falling=False), self._total(figures, falling=True))
        return max(abs(end - told) for end in ends)

    def _total(self, figures: Sequence[float], *, falling: bool) -> float:
        """Add figures up where the groups with the largest ones, or the least, have as many people as they can."""
        left, people = self._left, list(self.least)
        for place in sorted(range(len(figures)), key=figures.__getitem__, reverse=falling):
            more = min(left, self._rooms[place])
            people[place] += more
            left -= more
        return math.fsum(count * figure for count, figure in zip(people, figures, strict=True)) / self.everyone

    @property
    def _left(self) -> int:
        return self.everyone - sum(self.least)

    @property
    def _rooms(self) -> tuple[int, ...]:
        return tuple(most - least for least, most in zip(self.least, self.most, strict=True))
