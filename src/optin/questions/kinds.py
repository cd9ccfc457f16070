"""What every kind of question answers; planner, announcement and release ask nothing else of one."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol

from optin.errors import Argument, BadInput
from optin.questions.cells import Cell, FloatArray
from optin.questions.counted import Counting
from optin.questions.spending import Spends
from optin.wording.amounts import between, written
from optin.wording.language import N_, _

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows
    from optin.questions.adding import Items
    from optin.questions.combined import Addend

MOST_IMPORTANT = 1000.0
Entry = Literal["number", "one", "several", "items"]


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
    def variance_terms(self) -> int:
        """How many published numbers its variance is the sum of: a standard error is the root of their mean."""

    @property
    def max_gap(self) -> float:
        """How far means of cautious and open people may lie apart (E15)."""

    @property
    def max_error(self) -> float | None:
        """The largest ± at which it is published: above it nothing is, and nobody is charged for it. None: any."""

    @property
    def exact_noise_constant(self) -> Fraction:
        """The noise variance of all its published numbers together where epsilons add up to 1, without rounding."""

    @property
    def price(self) -> float:
        """C = kappa R^2 / sigma^2, all that a planner needs to know of it (E18)."""

    @property
    def worst_price(self) -> float:
        """The price at the largest variance that answers could have."""

    @property
    def squared_mean(self) -> float:
        """The squared means of its published numbers, added up, where answers lie in the middle or options are alike."""

    @property
    def width(self) -> float:
        """How far the numbers that it publishes can lie apart: of proportions, 1."""

    @property
    def proportion(self) -> bool:
        """Whether its numbers are proportions of people: their ± is written in points."""

    def plus_minus(self, half: float) -> str:
        """Write ± and half of an interval for its answers: in points of a hundred, or in its unit."""

    def spread_words(self, number: float) -> str:
        """Write a standard error, or another distance between its answers, as `plus_minus` does and without the sign."""

    def gap_words(self, gap: float) -> str:
        """Write how far cautious and open people may differ before that matters (E22), rounded down."""

    @property
    def declares_sd(self) -> bool:
        """Whether whoever asks states the sd of its answers."""

    @property
    def numeric(self) -> bool:
        """Whether people answer it by a number, and not by words."""

    @property
    def as_items(self) -> Items | None:
        """What it adds to a score of several questions; None where its answers cannot be added up."""

    @property
    def reading(self) -> tuple[str, ...]:
        """How a picture of its result is read, in sentences."""

    @property
    def yardstick(self) -> float:
        """The standard deviation that ± is measured against when it is judged."""

    def result(self, counted: Counting) -> QuestionResult:
        """Read what is published off the noisy integers, or off what is told of them."""

    def means_told(self, told: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """Return the means of the cells where so much is told of them (`QuestionResult.told_cells`)."""

    def half_width(self, error: float, spending: Spends) -> float:
        """Return half of the interval that these sums of epsilons lead to, before anything is drawn."""

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

    @property
    def labels(self) -> tuple[str, ...]:
        """The options or bins that answers fall into, in their order; of a number, none."""

    @property
    def entry(self) -> Entry:
        """How one person gives an answer: a number, one option, several, or an item each."""

    def by_hand(self, answer: Any) -> float:  # noqa: ANN401 - whatever this kind is answered by
        """Code what one person typed or chose; what is none of the answers is refused to its owner, and nothing is clamped."""

    def decoded(self, code: float) -> Any:  # noqa: ANN401
        """Return an answer that has this code: all that is kept of an answer is its code."""

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Code answers in these columns of an engine, with the same verdicts."""

    def columns_in(self, known: Collection[str]) -> tuple[str, ...]:
        """Name the columns of a table that its answers stand in."""

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""


SPREAD, TOO_NOISY = N_("sd"), N_("too noisy to say")
"""What the spread of numbers is called, and what is said of one that noise left nothing of."""


@dataclass(frozen=True)
class Reading:
    """One published figure of a question: which answer it is about, the estimate, and its interval."""

    answer: str
    estimate: float
    low: float
    high: float
    proportion: bool = False
    """Whether it is the part of people who gave an answer, and not a number of its own."""
    lost: bool = False
    """Whether noise left nothing of it."""

    def written(self, unit: str = "") -> tuple[str, str]:
        """Write the estimate and its interval; a proportion in per cent, anything else in its unit.

        >>> Reading("yes", 0.314, 0.272, 0.356, proportion=True).written()
        ('31.4 %', '27.2 to 35.6 %')

        Noise can leave nothing of a spread (E21), and to write 0 would say that all people answered alike.

        >>> Reading(SPREAD, 0.0, 0.0, 1.2, lost=True).written("hours")
        ('too noisy to say', '0.00 to 1.20 hours')
        """
        half, kind = (self.high - self.low) / 2, {"proportion": self.proportion, "unit": unit}
        if self.lost:
            return _(TOO_NOISY), between(self.low, self.high, **kind)  # type: ignore[arg-type]
        return written(self.estimate, half, **kind), between(self.low, self.high, **kind)  # type: ignore[arg-type]


class QuestionResult(Protocol):
    """What is published of one question, of any kind."""

    @property
    def counted(self) -> Counting:
        """What it was released over."""

    @property
    def breakdown_gap(self) -> float:
        """How far apart cautious and open people make an error as large as ± (E22)."""

    @property
    def bounds(self) -> tuple[float, float]:
        """What its estimates lie between, but for noise."""

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List every published figure, in the order in which people read them."""

    def standard_errors(self) -> dict[str, float]:
        """List the standard errors of what was published, by answer; what is read off it has intervals alone."""

    def half_words(self, unit: str = "") -> str:
        """Say what ± is: of a number half of the mean's interval, of proportions half of the widest."""

    def addends(self) -> tuple[Addend, ...]:
        """List the figures that are linear in people, as they are added to those of other groups (E27)."""

    def means(self) -> tuple[Fraction, ...]:
        """Return the mean of each cell, as it is read."""

    def told_cells(self) -> tuple[Fraction, ...]:
        """Return what is told of each cell, on steps of 1, 2 or 5 times a power of ten that follow from public numbers."""

    def statement(self) -> dict[str, Any]:
        """Return what a file states of it; all of it follows from what was drawn."""


def stated_readings(result: QuestionResult) -> dict[str, Any]:
    """Write every published figure with its 95 % interval, as JSON holds it."""
    return {
        "answers": [
            {"answer": each.answer, "estimate": each.estimate, "interval_95": [each.low, each.high]}
            for each in result.readings(0.95)
        ]
    }


def number(value: Any, name: str, wanted: str = "{argument} must be a number") -> float:  # noqa: ANN401
    """Return what was given as a float; anything else is refused, text in digits too."""
    kind = getattr(
        getattr(value, "dtype", None), "kind", "f"
    )  # numpy's text, times and complex numbers have floats too
    try:
        real = math.nan if isinstance(value, str | bytes) or kind not in "biufO" else float(value)
    except (OverflowError, TypeError, ValueError):
        real = math.nan
    if math.isnan(real):
        raise BadInput(wanted, argument=Argument(name))
    return real


def checked_importance(importance: Any) -> float:  # noqa: ANN401
    """Return how many times the effective people a question asks for; extremes leave other questions nothing."""
    times = number(importance, "importance")
    if not 1 / MOST_IMPORTANT <= times <= MOST_IMPORTANT:
        raise BadInput(
            "{importance} must be a positive number, of 0.001 to 1000: 2 asks for twice the effective people",
            importance=Argument("importance"),
        )
    return times


_MAX_ERROR = "{argument} must be a positive number: the largest ± to publish"


def checked_max_error(given: Any) -> float | None:  # noqa: ANN401
    """Return the largest ± at which a question is published, or None for any."""
    if given is None:
        return None
    most = number(given, "max_error", _MAX_ERROR)
    if not 0 < most < math.inf:
        raise BadInput(_MAX_ERROR, argument=Argument("max_error"))
    return most


def checked_text(text: object, what: str) -> str:
    """Return words that people are to read; anything else is refused."""
    if not isinstance(text, str) or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadInput("{what} must be text", what=what)
    return text


def checked_words(text: object, what: str) -> str:
    """Return words that are shown on screens, on as many lines as they like; characters that act on a screen are refused."""
    words = checked_text(text, what)
    if any(unicodedata.category(letter) == "Cc" and letter not in "\t\n\r" for letter in words):
        raise BadInput("{what} must be text without control characters", what=what)
    return words


def checked_name(name: object) -> str:
    """Return a question's name if it fits on one line, as it is: columns and files carry it."""
    if not isinstance(name, str) or not name.isprintable() or not name.strip() or name != name.strip():
        raise BadInput("a question's name must be printable text on one line, without spaces at its ends")
    return name
