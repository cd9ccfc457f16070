"""What came out of campaigns over groups: each design's errors for the whole population, beside what was computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.extras import expect_package
from optin.questions import Question
from optin.simulation.record import WithIntervals, held
from optin.wording.numbers import plain
from optin.wording.records import Listed
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class GroupOutcome(WithIntervals, Listed):
    """One design over all campaigns: errors of its figure for the whole, and where its interval held the truth.

    ``predicted_bias`` is the error that remains if everything is repeated without end, ``computed`` the expected squared
    error; both were known before anything was drawn.
    """

    design: str
    predicted_bias: float
    computed: float


@dataclass(frozen=True, repr=False)
class GroupSimulation(Told):
    """Many campaigns with the same people in groups: which figure was asked for, its truth, and what each design did.

    ``max_gap`` is what the design that allows for a gap was told.
    """

    question: Question
    answer: str
    truth: float
    campaigns: int
    level: float
    max_gap: float
    outcomes: tuple[GroupOutcome, ...]

    def telling(self) -> Telling:
        """Put what each design did beside the truth."""
        rows = tuple(
            (o.design, plain(math.sqrt(o.mse)), plain(math.sqrt(o.computed)), held(o.coverage)) for o in self.outcomes
        )
        lines = (
            ("figure", f"{self.answer} of {self.question.name}, truly {plain(self.truth)}"),
            ("campaigns", f"{self.campaigns:,}"),
        )
        head = ("design", "measured error", "computed", f"{self.level:.0%} intervals held")
        return Telling("Simulation of groups", lines, head, rows, numbers=1, more=".frame()")

    def __getitem__(self, design: str) -> GroupOutcome:
        for outcome in self.outcomes:
            if outcome.design == design:
                return outcome
        raise KeyError(design)

    def frame(self) -> pandas.DataFrame:
        """Return the table: a row for each design, measured beside computed."""
        expect_package("pandas", "a data frame")
        import pandas

        rows = [
            {
                "predicted_bias": o.predicted_bias,
                "bias": o.bias,
                "bias_error": o.bias_error,
                "computed": o.computed,
                "mse": o.mse,
                "mse_error": o.mse_error,
                "coverage": o.coverage,
                "length": o.length,
            }
            for o in self.outcomes
        ]
        return pandas.DataFrame(rows, index=pandas.Index([o.design for o in self.outcomes], name="design"))
