"""Several of several options: a proportion for each (E25)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.kernel.coarse import FINENESS, on_grid, spacing_below
from optin.kernel.combining import Part
from optin.kernel.proportions import Proportion
from optin.kernel.spreads import Spread
from optin.questions.cells import LEVEL, Cell, Contains, FloatArray
from optin.questions.coding import checked_parts, coded_sets, place_of
from optin.questions.combined import Addend
from optin.questions.counted import Counting
from optin.questions.intervals import check_confidence
from optin.questions.kinds import Entry, Reading, stated_readings
from optin.questions.proportions import breakdown_gap, told_interval, widened_by
from optin.questions.telling import ToldProportions, proportion_read
from optin.questions.values import as_integer
from optin.questions.worded import Worded, words_of
from optin.wording.language import _

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows


@dataclass(frozen=True, repr=False)
class MultipleChoice(Worded):
    """At most ``at_most`` of 2 to 50 options; choosing none is an answer.

    >>> MultipleChoice("reasons", options=("pay", "hours", "boss", "way", "other"), at_most=2).price
    133.33333333333334
    """

    kind = "multiple-choice"

    _: KW_ONLY
    options: tuple[str, ...]
    at_most: int

    def __post_init__(self) -> None:
        """Check words, options and how many may be chosen."""
        super().__post_init__()
        self._keep(options=checked_parts(self.options, self.name))
        self._keep(at_most=as_integer(self.at_most))
        if self.at_most is None or self.at_most < 2:
            raise BadInput(
                'question "{question}": at_most must be a whole number of 2 or more; for one of several options use a choice',
                question=self.name,
            )
        if self.at_most > len(self.options):
            raise BadInput(
                'question "{question}": at_most is {count}, and there are {options} options',
                question=self.name,
                count=self.at_most,
                options=len(self.options),
            )

    @property
    def moved(self) -> int:
        """How many cells one replaced answer can move."""
        return min(2 * self.at_most, len(self.options))

    @property
    def level(self) -> int:
        """The level of a chosen option: all that can move together stay within 2^20."""
        return LEVEL // self.moved

    @property
    def noise_scales(self) -> tuple[float, ...]:
        """As many as one replaced answer can move."""
        return (self.moved,)

    @property
    def exact_noise_scales(self) -> tuple[Fraction, ...]:
        """The noise scale by the level that is used: 2^20 over a number that divides it or not, rounded down."""
        return (Fraction(LEVEL, self.level),)

    @property
    def variance_terms(self) -> int:
        """How many published proportions the variance is the sum of."""
        return len(self.options)

    @property
    def data_variance(self) -> float:
        """The largest variance of all cells together: a (1 - a/K), at most K/4."""
        many, chosen = len(self.options), self.at_most
        return chosen * (1.0 - chosen / many) if chosen <= many / 2 else many / 4.0

    @property
    def squared_mean(self) -> float:
        """Add up p^2 for each option, where all are alike and as many are chosen as vary most."""
        many = len(self.options)
        chosen = min(self.at_most, many / 2.0)
        return chosen * chosen / many

    @property
    def reading(self) -> tuple[str, ...]:
        """How bars are read that need not add up."""
        several = _(
            "People could choose up to {at_most}, so proportions need not add up to 100 %.", at_most=self.at_most
        )
        return (*super().reading, several)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One cell for each option."""
        return tuple(Contains(place, self.level) for place in range(len(self.options)))

    def coded(self, answers: Any, name: str = "") -> FloatArray:  # noqa: ANN401 - a column of any kind
        """Code each set of options as a sum of powers of two, which a float holds exactly up to 2^53."""
        return coded_sets(answers, self.options, self.at_most, name or self.column)

    @property
    def entry(self) -> Entry:
        """How one person answers: by several options."""
        return "several"

    def decoded(self, code: float) -> tuple[str, ...]:
        """Return the options whose bits are set in a code."""
        return tuple(option for place, option in enumerate(self.options) if int(code) >> place & 1)

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Code each set of options as a sum of powers of two, where people stay in an engine."""
        from optin.engine.answers import coded_sets

        return coded_sets(rows, names[0], self.options, self.at_most)

    def result(self, counted: Counting) -> Several:
        """Read a proportion for each option off its noisy cell."""
        return Several(self.options, self.level, counted)

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        return {**self.words(), "options": list(self.options), "at_most": self.at_most}

    @classmethod
    def from_fields(cls, fields: Fields) -> MultipleChoice:
        """Read what `to_record` wrote; the kind was read already."""
        options = tuple(fields.take_texts("options"))
        return cls(**words_of(fields), options=options, at_most=fields.take_int("at_most"))


@dataclass(frozen=True, repr=False)
class Several(ToldProportions):
    """Noisy proportions of options of which people chose several: they add up to more or less than one."""

    options: tuple[str, ...]
    chosen_level: int
    counted: Counting

    @property
    def proportions(self) -> Mapping[str, float]:
        """Return the proportion of people who chose each option, unclamped."""
        means = (float(self.counted.mean(cell, self.chosen_level)) for cell in range(len(self.options)))
        return MappingProxyType(dict(zip(self.options, means, strict=True)))

    @property
    def scale(self) -> float:
        """Return the Laplace scale in each proportion."""
        return 0.0 if self.counted.noiseless else LEVEL / self.chosen_level / self.counted.reach

    @property
    def spacing(self) -> Fraction:
        """Return the step that proportions are told on: at most a fiftieth of what noise alone gives one of them."""
        return spacing_below(Fraction(math.sqrt(self.counted.noise_variance((self.scale,)))) / FINENESS)

    @property
    def _slack(self) -> float:
        return float(self.spacing) / 2.0 if self.counted.rounded else 0.0

    def means(self) -> tuple[Fraction, ...]:
        """Return the proportion of each option."""
        return tuple(self.counted.mean(cell, self.chosen_level) for cell in range(len(self.options)))

    def told_cells(self) -> tuple[Fraction, ...]:
        """Round each proportion to a step."""
        return tuple(on_grid(each, self.spacing) for each in self.means())

    def standard_error(self, option: str) -> float:
        """Return the standard error of one proportion."""
        p = min(max(self.proportions[self.options[place_of(option, self.options)]], 0.0), 1.0)
        return math.sqrt(p * (1.0 - p) * self.counted.weight_squares + self.counted.noise_variance((self.scale,)))

    def interval(self, option: str, level: float = 0.95) -> tuple[float, float]:
        """Bound the population's proportion of one option, inside [0, 1] by itself (E22)."""
        estimate = self.proportions[self.options[place_of(option, self.options)]]
        cell = Proportion(self.counted.weight_squares, self.counted.heaviest, (self.scale,))
        return widened_by(self.counted.bias, told_interval(check_confidence(level), estimate, cell, self._slack))

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart proportions of cautious and open people make an error as large as the least ± (E22)."""
        return breakdown_gap(((estimate, (self.scale,)) for estimate in self.proportions.values()), self.counted)

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List the proportion of each option."""
        return [proportion_read(self, option, level) for option in self.options]

    def addends(self) -> tuple[Addend, ...]:
        """Return the proportion of each option, as it is added to those of other groups (E27)."""
        return tuple(self._addend(option, estimate) for option, estimate in self.proportions.items())

    def _addend(self, option: str, estimate: float) -> Addend:
        counted, variance = self.counted, self.standard_error(option) ** 2
        moved = self._slack
        slope = min(abs(1.0 - 2.0 * min(max(estimate, 0.0), 1.0)) + 2.0 * moved, 1.0)
        spread = Spread(
            estimate - estimate * estimate + (1.0 + 2.0 * abs(estimate) + moved) * moved,
            counted.noise_variance((slope * self.scale,)),
            counted.weight_squares,
        )
        part = Part(1.0, counted.weight_squares, counted.heaviest, (self.scale,), spread=spread)
        return Addend(option, estimate, variance, (0.0, 1.0), part, counted.bias + moved, counted.tilt, proportion=True)

    def statement(self) -> dict[str, Any]:
        """Return what a file states of it; all of it follows from what was drawn."""
        return stated_readings(self)
