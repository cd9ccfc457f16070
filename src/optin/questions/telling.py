"""Results that print what was published: every figure with its interval, and how many people it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from optin.questions.kinds import Question, QuestionResult, Reading
from optin.wording.numbers import count
from optin.wording.telling import Telling, Told


class ToldResult(Told):
    """A result of any kind, printed as its figures; the exact sums behind them are not printed."""

    def telling(self: QuestionResult) -> Telling:
        """List every published figure with its 95 % interval."""
        rows = tuple((each.answer, *each.written()) for each in self.readings(0.95))
        head = ("answer", "estimate", "95 % interval")
        return Telling(f"Result of {count(self.counted.people)}", (), head, rows, numbers=1, more=".readings()")


class _Proportional(Protocol):
    @property
    def proportions(self) -> Mapping[str, float]: ...
    def interval(self, option: str, level: float = 0.95) -> tuple[float, float]: ...


def proportion_read(result: _Proportional, option: str, level: float) -> Reading:
    """Read one option's proportion with its interval."""
    return Reading(option, result.proportions[option], *result.interval(option, level), proportion=True)


def is_proportion(question: Question) -> bool:
    """Say whether the ± of a question is one of proportions, which is written in points."""
    return question.kind not in ("number", "score")
