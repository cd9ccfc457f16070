"""Promises to people of whom few have a limit below the cap: these are listed, and all others have the grains of the cap."""

from __future__ import annotations

from dataclasses import dataclass, field

from optin.grains.arrays import FloatArray, GrainRule
from optin.grains.engine_sums import part_of
from optin.grains.exact_sums import QuestionSums, SheetSums


@dataclass(frozen=True)
class FewBelowCap:
    """So many people, the limits of all who are below the cap, and of some who reach it; ``shares`` split grains (E20).

    >>> import numpy as np
    >>> FewBelowCap(np.array([0.25, 2.0]), 3, cap=1.0, shares=(1 << 20,)).sums().grains / 2**32
    2.25
    """

    listed: FloatArray = field(repr=False)
    people: int
    cap: float
    shares: tuple[int, ...]

    def sums(self) -> SheetSums:
        """Add up everyone's promises (E13): those of the few as in memory, and the others' at once."""
        few, _ = self._rule.sums()
        return few + self._at_cap

    def sums_above(self, bars: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """For each question, count and add up the parts of more than so many grains (E15)."""
        parts = zip(self._rule.sums_above(bars), self._at_cap.questions, bars, strict=True)
        return tuple(
            (count + each.people, total + each.grains) if each.grains > bar * each.people else (count, total)
            for (count, total), each, bar in parts
        )

    @property
    def _rule(self) -> GrainRule:
        return GrainRule(self.listed.__getitem__, len(self.listed), self.cap, self.shares)

    @property
    def _at_cap(self) -> SheetSums:
        """The sums over those who were not listed."""
        others, parts = self.people - len(self.listed), [part_of(self._rule.most, share) for share in self.shares]
        return SheetSums(
            people=others,
            promised=others if any(parts) else 0,
            questions=tuple(
                QuestionSums(others, others if each else 0, others * each, others * each**2) for each in parts
            ),
        )
