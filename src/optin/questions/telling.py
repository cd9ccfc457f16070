"""Results that print what was published: every figure with its interval, and how many people it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from optin.questions.kinds import QuestionResult, Reading
from optin.wording.amounts import plus_minus_of
from optin.wording.language import _
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


class ToldProportions(ToldResult):
    """Proportions of options, whether or not they add up to one."""

    if TYPE_CHECKING:
        options: tuple[str, ...]

        def standard_error(self, option: str) -> float:
            """Return the standard error of one proportion."""

    @property
    def bounds(self) -> tuple[float, float]:
        """What proportions lie between, but for noise."""
        return (0.0, 1.0)

    def standard_errors(self) -> dict[str, float]:
        """Return that of each option's proportion."""
        return {option: self.standard_error(option) for option in self.options}

    def half_words(self: QuestionResult, unit: str = "") -> str:
        """Say what ± is: half of the widest interval."""
        widest = max((each.high - each.low) / 2 for each in self.readings(0.95) if each.proportion)
        return _("{widest} at most: half of the widest 95 % interval.", widest=plus_minus_of(widest, proportion=True))
