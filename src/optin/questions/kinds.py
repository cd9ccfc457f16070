"""What every kind of question answers; planner, announcement and release ask nothing else of one."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from optin.errors import BadInput
from optin.questions.cells import Cell, FloatArray
from optin.questions.spending import Spending

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows


class Question(Protocol):
    """One question of a sheet, of any kind: what is asked, word for word, and the numbers that its noise follows from."""

    @property
    def kind(self) -> str:
        """The word for its kind in files."""

    @property
    def name(self) -> str:
        """The name it has within its sheet."""

    @property
    def text(self) -> str:
        """What people read."""

    @property
    def unit(self) -> str:
        """What its values are counted in."""

    @property
    def column(self) -> str:
        """Where answers stand in a table."""

    @property
    def importance(self) -> float:
        """How many times the effective people of a question of importance 1 it should have (E19)."""

    @property
    def data_variance(self) -> float:
        """The declared variance of answers, at most what the bounds allow."""

    @property
    def max_gap(self) -> float:
        """How far means of cautious and open people may lie apart (E15)."""

    @property
    def price(self) -> float:
        """C = kappa R^2 / sigma^2, all that a planner needs to know of it (E18)."""

    @property
    def yardstick(self) -> float:
        """The standard deviation that ± is measured against when it is judged."""

    def half_width(self, error: float, spending: Spending) -> float:
        """Return half of the interval that these sums of epsilons lead to, before anything is drawn."""

    @property
    def measured(self) -> bool:
        """Whether answers are numbers, rather than options."""

    @property
    def noise_constant(self) -> float:
        """The noise variance of all that it publishes together where epsilons add up to 1 (E18)."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The integers that it publishes, each with a draw of its own (E20)."""

    def coded(self, answers: Any, name: str = "") -> FloatArray:  # noqa: ANN401 - a column of any kind
        """Code each answer as one float, NaN where it is missing; what is no answer is refused by place.

        ``name`` is what messages call the column, if it is not the question's own.
        """

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Code answers in these columns of an engine, with the same verdicts."""

    def columns_in(self, known: Collection[str]) -> tuple[str, ...]:
        """Name the columns of a table that its answers stand in."""

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""


def checked_text(text: object, what: str) -> str:
    """Return words that people are to read; anything else is refused."""
    if not isinstance(text, str) or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadInput("{what} must be text", what=what)
    return text


def checked_name(name: object) -> str:
    """Return a question's name if it fits on one line, as it is: columns and files carry it."""
    if not isinstance(name, str) or not name.isprintable() or not name.strip() or name != name.strip():
        raise BadInput("a question's name must be printable text on one line, without spaces at its ends")
    return name
