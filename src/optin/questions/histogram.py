"""A number put into bins: proportions, and quantiles read off their running sums (E24)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.kernel.proportions import Running, quantile, quantile_interval, running
from optin.questions.cells import Cell, FloatArray
from optin.questions.choice import Choice
from optin.questions.counted import Counting
from optin.questions.intervals import check_confidence
from optin.questions.kinds import Entry, Reading, number
from optin.questions.proportions import Proportions
from optin.questions.spending import Spends
from optin.questions.values import as_numbers, typed_between
from optin.questions.worded import Worded, words_of
from optin.wording.language import N_, _

if TYPE_CHECKING:
    from optin.engine.answers import Coded
    from optin.engine.rows import Rows

MOST_BINS = 32
_PART = "a quantile's part must lie between 0 and 1: 0.5 is the median"


@dataclass(frozen=True, repr=False)
class Histogram(Worded):
    """A number in 2 to 32 bins between edges given beforehand; what lies outside counts in the first or the last bin.

    >>> Histogram("age", edges=(16, 25, 35, 45)).labels
    ('16 to 25', '25 to 35', '35 to 45')
    """

    kind = "histogram"

    _: KW_ONLY
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check words and edges."""
        super().__post_init__()
        self._keep(edges=_checked_edges(self.edges, self.name))
        if len(set(self.labels)) < len(self.labels):
            raise BadInput('question "{question}": edges must differ within their first 15 digits', question=self.name)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name the bins by their edges."""
        return tuple(f"{low:.15g} to {high:.15g}" for low, high in itertools.pairwise(self.edges))

    @cached_property
    def _choice(self) -> Choice:
        return Choice(self.name, options=self.labels)

    @property
    def noise_scales(self) -> tuple[Fraction, ...]:
        """Those of a choice among as many options."""
        return self._choice.noise_scales

    @property
    def variance_terms(self) -> int:
        """How many published proportions the variance is the sum of."""
        return self._choice.variance_terms

    @property
    def data_variance(self) -> float:
        """That of a choice among as many options."""
        return self._choice.data_variance

    @property
    def exact_variance(self) -> Fraction:
        """That of a choice among as many options."""
        return self._choice.exact_variance

    @property
    def numeric(self) -> bool:
        """People answer by a number, which falls into a bin."""
        return True

    @property
    def reading(self) -> tuple[str, ...]:
        """How steps and the median are read."""
        bins = _("Steps are proportions of people, lines their 95 % intervals.")
        median = _("The broken line is the median, and the dotted band its interval, in whole bins.")
        return (bins, median, _("Whatever lies outside counts in the first or the last bin."))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Those of a choice among as many options."""
        return self._choice.cells

    def coded(self, answers: Any, name: str = "") -> FloatArray:  # noqa: ANN401 - a column of any kind
        """Code each number by the place of its bin; an inner edge belongs to the bin above it."""
        numbers = as_numbers(answers, name or self.column)
        places = np.zeros(numbers.shape)
        for edge in self.edges[1:-1]:  # so few that comparing with each is five times as fast as a search
            places += numbers >= edge
        places[np.isnan(numbers)] = np.nan
        return places

    @property
    def entry(self) -> Entry:
        """How one person answers: by a number."""
        return "number"

    def by_hand(self, answer: Any) -> float:  # noqa: ANN401
        """Code a number between the outer edges."""
        return float(self.coded([typed_between(answer, self.edges[0], self.edges[-1])])[0])

    def decoded(self, code: float) -> float:
        """Return an answer that has this code: the lower edge of its bin."""
        return self.edges[int(code)]

    def coded_in(self, rows: Rows, names: tuple[str, ...]) -> Coded:
        """Code each number by the place of its bin, where people stay in an engine."""
        from optin.engine.answers import coded_bins, coded_numbers

        return coded_bins(coded_numbers(rows, names[0]), self.edges)

    def result(self, counted: Counting) -> HistogramResult:
        """Read proportions and quantiles off the noisy cells."""
        return HistogramResult(self.labels, counted, self.edges)

    def half_width(self, error: float, spending: Spends) -> float:
        """Return half of the interval for the proportion of a bin that half of the people are in."""
        return self._choice.half_width(error, spending)

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        return {**self.words(), "edges": list(self.edges)}

    @classmethod
    def from_fields(cls, fields: Fields) -> Histogram:
        """Read what `to_record` wrote; the kind was read already."""
        return cls(**words_of(fields), edges=tuple(fields.take_reals("edges")))


@dataclass(frozen=True, repr=False)
class HistogramResult(Proportions):
    """Proportions of bins, and the quantiles they lead to."""

    edges: tuple[float, ...]

    @property
    def median(self) -> float:
        """Return the value that half of the people lie below."""
        return self.quantile(0.5)

    def quantile(self, part: float) -> float:
        """Return the value that this part of the people lie below, read linearly inside its bin."""
        return quantile(_checked_part(part), self._running)

    def quantile_interval(self, part: float, level: float = 0.95) -> tuple[float, float]:
        """Bound a quantile by whole bins (E24)."""
        return quantile_interval(check_confidence(level), _checked_part(part), self._running)

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List the proportions of the bins and the median."""
        return [*super().readings(level), Reading(N_("median"), self.median, *self.quantile_interval(0.5, level))]

    @property
    def _running(self) -> Running:
        counted = self.counted
        parts = [float(part) for part in self.exact]
        return running(
            self.edges,
            parts,
            reach=counted.reach,
            squares=counted.weight_squares,
            heaviest=counted.heaviest,
            bias=counted.bias + self._slack(len(parts) / 2),
        )


def _checked_part(part: float) -> float:
    fraction = number(part, "part", _PART)
    if not 0.0 < fraction < 1.0:
        raise BadInput(_PART)
    return fraction


def _checked_edges(edges: Iterable[Any], name: str) -> tuple[float, ...]:
    try:
        numbers = tuple(math.nan if isinstance(edge, str | bytes) else float(edge) for edge in edges)
    except (TypeError, ValueError, OverflowError):
        raise BadInput('question "{question}": edges must be numbers', question=name) from None
    if any(map(math.isnan, numbers)):
        raise BadInput('question "{question}": edges must be numbers', question=name)
    if not all(map(math.isfinite, numbers)) or any(low >= high for low, high in itertools.pairwise(numbers)):
        raise BadInput('question "{question}": edges must be finite and rise from each to the next', question=name)
    if not 2 <= len(numbers) - 1 <= MOST_BINS:
        raise BadInput(
            'question "{question}" has {bins} bins: give 3 to {most} edges',
            question=name,
            bins=max(len(numbers) - 1, 0),
            most=MOST_BINS + 1,
        )
    return numbers
