"""A question answered by yes or no: the proportion of yes (E23)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.formats.strict_json import Fields
from optin.questions.cells import LEVEL, Chosen, FloatArray
from optin.questions.coding import coded_truths
from optin.questions.counted import Counting
from optin.questions.proportions import Proportions
from optin.questions.worded import Worded, words_of
from optin.wording.language import N_

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows

YES = N_("yes")
NO = N_("no")


@dataclass(frozen=True, repr=False)
class YesNo(Worded):
    """Yes or no; answers are booleans, 0 and 1, or the words.

    >>> YesNo("break", text="Did you skip a break?").price
    8.0
    """

    kind = "yes-no"

    options = (YES, NO)
    data_variance = 0.25
    cells = (Chosen(0, LEVEL),)

    def coded(self, answers: Any, name: str = "") -> FloatArray:  # noqa: ANN401 - a column of any kind
        """Code yes as 0 and no as 1: the places of the options."""
        return coded_truths(answers, name or self.column)

    def decoded(self, code: float) -> bool:
        """Return an answer that has this code: yes is 0."""
        return code == 0.0

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Code yes as 0 and no as 1, where people stay in an engine."""
        from optin.engine.answers import coded_truths

        return coded_truths(rows, names[0])

    def result(self, counted: Counting) -> YesNoResult:
        """Read the proportion of yes off the noisy cell."""
        return YesNoResult(self.options, counted)

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        return self.words()

    @classmethod
    def from_fields(cls, fields: Fields) -> YesNo:
        """Read what `to_record` wrote; the kind was read already."""
        return cls(**words_of(fields))


@dataclass(frozen=True, repr=False)
class YesNoResult(Proportions):
    """The noisy proportion of yes; that of no is what is left."""

    @property
    def estimate(self) -> float:
        """Return the proportion of yes, unclamped."""
        return self.proportions[YES]

    def interval(self, option: str = YES, level: float = 0.95) -> tuple[float, float]:
        """Bound the population's proportion of yes, or of no."""
        return super().interval(option, level)
