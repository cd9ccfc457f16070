"""One of several options: proportions that add up to one (E23)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optin.formats.strict_json import Fields
from optin.kernel.proportions import cell_scales
from optin.questions.cells import LEVEL, Cell, Chosen, FloatArray
from optin.questions.coding import checked_options, coded_options
from optin.questions.counted import Counting
from optin.questions.proportions import Proportions
from optin.questions.spending import Spends
from optin.questions.worded import Worded, words_of

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows


@dataclass(frozen=True, repr=False)
class Choice(Worded):
    """One of 2 to 50 options; two cost what a yes or no costs.

    >>> Choice("shift", options=("early", "late", "night")).price, Choice("pet", options=("cat", "dog")).price
    (24.0, 8.0)
    """

    kind = "choice"

    _: KW_ONLY
    options: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check words and options."""
        super().__post_init__()
        self._keep(options=checked_options(self.options, self.name))

    @property
    def noise_scales(self) -> tuple[Fraction, ...]:
        """The scales in one of K proportions that add up to 1, of cells of which an answer moves two (E23); of two options, 1."""
        many = len(self.options)
        return (Fraction(1),) if many == 2 else (Fraction(2 * (many - 1), many), *[Fraction(2, many)] * (many - 1))

    @property
    def variance_terms(self) -> int:
        """How many published proportions the variance is the sum of."""
        return 1 if len(self.options) == 2 else len(self.options)

    @property
    def data_variance(self) -> float:
        """The largest variance of all cells together; of two options, that of one."""
        many = len(self.options)
        return 0.25 if many == 2 else 1.0 - 1.0 / many

    @property
    def exact_variance(self) -> Fraction:
        """The variance without rounding, so that the price is 8 for two options and 8 K for K."""
        many = len(self.options)
        return Fraction(1, 4) if many == 2 else Fraction(many - 1, many)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One cell for two options; else one for each, at half the level: a replaced answer moves two."""
        if len(self.options) == 2:
            return (Chosen(0, LEVEL),)
        return tuple(Chosen(place, LEVEL // 2) for place in range(len(self.options)))

    def coded(self, answers: Any, name: str = "") -> FloatArray:  # noqa: ANN401 - a column of any kind
        """Code each answer by the place of its option."""
        return coded_options(answers, self.options, name or self.column)

    def decoded(self, code: float) -> str:
        """Return an answer that has this code: the option at its place."""
        return self.options[int(code)]

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Code each answer by the place of its option, where people stay in an engine."""
        from optin.engine.answers import coded_options

        return coded_options(rows, names[0], self.options)

    def result(self, counted: Counting) -> Proportions:
        """Read proportions off the noisy cells."""
        return Proportions(self.options, counted)

    def half_width(self, error: float, spending: Spends) -> float:
        """Return half of the interval for a proportion of one half, the widest there is."""
        many = len(self.options)
        return spending.proportion_half_width(error, (1.0,) if many == 2 else cell_scales(many, 1.0))

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        return {**self.words(), "options": list(self.options)}

    @classmethod
    def from_fields(cls, fields: Fields) -> Choice:
        """Read what `to_record` wrote; the kind was read already."""
        return cls(**words_of(fields), options=tuple(fields.take_texts("options")))
