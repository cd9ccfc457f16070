"""One of several ordered options: proportions, and the mean and the top read off the same cells (E23)."""

from __future__ import annotations

from dataclasses import dataclass

from optin.errors import BadInput
from optin.questions.adding import Items
from optin.questions.choice import Choice
from optin.questions.combined import Addend
from optin.questions.counted import Counting
from optin.questions.kinds import Reading
from optin.questions.proportions import Proportions
from optin.questions.values import as_integer
from optin.wording.language import N_, _

MEAN, TOP = N_("mean score"), N_("top two")
"""What the figures of a scale are called beside its options."""


@dataclass(frozen=True, repr=False)
class Scale(Choice):
    """Options in order, from the least to the most; what is read off their cells costs nothing more.

    >>> Scale("mood", options=("bad", "fair", "good")).price
    24.0
    """

    kind = "scale"

    def __post_init__(self) -> None:
        """Check words and options; what is read off the cells has names of its own."""
        super().__post_init__()
        taken = next((name for name in (MEAN, TOP) if name in self.options), None)
        if taken is not None:
            raise BadInput(
                'question "{question}": no option of a scale may be called "{option}", for a figure of the scale is',
                question=self.name,
                option=taken,
            )

    @property
    def reading(self) -> tuple[str, ...]:
        """How bars are read, and what the mean score counts."""
        return (*super().reading, _("The mean score counts options from 1 in their order."))

    @property
    def as_items(self) -> Items:
        """One item that counts options from 1; its mean moves most where each lower option yields a gap to an upper one."""
        count = len(self.options)
        farthest = min(count - 1.0, self.max_gap * (count * count // 4))
        return Items(1, (1.0, float(count)), (count - 1) ** 2 / 4, farthest)

    def result(self, counted: Counting) -> ScaleResult:
        """Read proportions, mean and top off the noisy cells."""
        return ScaleResult(self.options, counted)


@dataclass(frozen=True, repr=False)
class ScaleResult(Proportions):
    """Proportions of ordered options, scored 1, 2, … in their order."""

    @property
    def scores(self) -> tuple[int, ...]:
        """Count the options from 1."""
        return tuple(range(1, len(self.options) + 1))

    @property
    def mean(self) -> float:
        """Return the mean score, unclamped."""
        return self.average(self.scores)

    def mean_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Bound the population's mean score."""
        return self.average_interval(self.scores, level)

    def top(self, count: int = 2) -> float:
        """Return the proportion who chose one of the last ``count`` options."""
        return self.share(self._top(count))

    def top_interval(self, count: int = 2, level: float = 0.95) -> tuple[float, float]:
        """Bound the proportion who chose one of the last ``count`` options."""
        return self.share_interval(self._top(count), level)

    def readings(self, level: float = 0.95) -> list[Reading]:
        """List the proportions, the mean score and the top two."""
        readings = [*super().readings(level), Reading(MEAN, self.mean, *self.mean_interval(level))]
        if len(self.options) > 3:
            readings.append(Reading(TOP, self.top(2), *self.top_interval(2, level), proportion=True))
        return readings

    def addends(self) -> tuple[Addend, ...]:
        """Return the proportions, the mean score and the top two, as they are added to those of other groups."""
        addends = (*super().addends(), self._addend(MEAN, self.scores, proportion=False))
        if len(self.options) <= 3:
            return addends
        top = [float(option in self._top(2)) for option in self.options]
        return (*addends, self._addend(TOP, top, proportion=True))

    def _top(self, count: int) -> tuple[str, ...]:
        if as_integer(count) is None or not 1 <= count < len(self.options):
            raise BadInput(
                "count must be a whole number of 1 to {most}: the top of {options} options",
                most=len(self.options) - 1,
                options=len(self.options),
            )
        return self.options[-count:]
