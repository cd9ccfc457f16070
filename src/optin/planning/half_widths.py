"""E22 before anything is drawn: half of the interval that planned or announced sums lead to, which is what ± means."""

from __future__ import annotations

from typing import Protocol

from optin.kernel.halfwidth import Weighing, half_width, heaviest_weight
from optin.questions.intervals import check_confidence


class _Terms(Protocol):
    """What a plan and an announcement have in common here."""

    @property
    def width(self) -> float: ...
    @property
    def data_variance(self) -> float: ...
    @property
    def max_gap(self) -> float: ...
    @property
    def tilt(self) -> float: ...
    @property
    def people(self) -> int: ...


def tilt_at(terms: _Terms, turnout: float) -> float:
    """Bound the tilt (E15) where this share of people comes, their sums at the average: who is gone counts for nothing.

    sum max(w - t/n, 0) is at most sum max(w - 1/n, 0) + 1 - t.
    """
    return min(terms.tilt + (1.0 - turnout), 1.0)


def half_width_of(terms: _Terms, level: float, *, people: float, squares: float, at_cap: float, scale: float) -> float:
    """Return half of the interval for these sums: everyone's, or those of so many people as come."""
    heaviest = float(heaviest_weight(people, squares, at_cap))
    weighing = Weighing(terms.width, terms.data_variance, squares, heaviest, scale)
    return half_width(check_confidence(level), weighing)[0] + terms.max_gap * tilt_at(terms, people / terms.people)
