"""What came out of many simulated campaigns over a sheet: every published figure with its interval, beside the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optin.extras import expect_package
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.simulation.record import MeasuredErrors, WithIntervals, held, run_lines
from optin.wording.numbers import plain
from optin.wording.records import Listed
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Figure(WithIntervals, Listed):
    """One published figure over all campaigns: its errors, NaN where it was not published, and its intervals."""

    question: str
    answer: str
    truth: float


@dataclass(frozen=True, repr=False)
class SheetOutcome(MeasuredErrors, Listed):
    """One question over all campaigns: the root of all its squared errors together, beside the variance computed.

    ``computed`` is the variance of everything the question publishes if everyone joins and answers (E20–E25).
    """

    question: str
    computed: float
    figures: tuple[Figure, ...]
    errors: Array = field(repr=False)
    covered: None = None


@dataclass(frozen=True, repr=False)
class SheetSimulation(Told):
    """Many campaigns with the same people and the same sheet: the plan, every question, and the share of people who joined."""

    plan: Plan
    campaigns: int
    level: float
    joined: float
    outcomes: tuple[SheetOutcome, ...]

    def telling(self) -> Telling:
        """Put every published figure beside the truth, and say how often its interval held."""
        rows = tuple(
            (f.question, f.answer, plain(f.truth), plain(math.sqrt(f.mse)), held(f.coverage)) for f in self.figures
        )
        head = ("question", "answer", "truth", "measured error", f"{self.level:.0%} intervals held")
        return Telling(
            "Simulation",
            run_lines(self.campaigns, self.plan.people, self.joined),
            head,
            rows,
            more="simulation.frame()",
        )

    def __getitem__(self, name: str) -> SheetOutcome:
        """Return what came out for the question of this name."""
        for outcome in self.outcomes:
            if outcome.question == name:
                return outcome
        raise KeyError(name)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every published figure, in the order of the sheet."""
        return tuple(figure for outcome in self.outcomes for figure in outcome.figures)

    def frame(self) -> pandas.DataFrame:
        """Return the table of figures: how far off each was, and how often its interval held the truth."""
        expect_package("pandas", "a data frame")
        import pandas

        rows = [
            {
                "truth": each.truth,
                "bias": each.bias,
                "bias_error": each.bias_error,
                "mse": each.mse,
                "coverage": each.coverage,
                "length": each.length,
                "released": each.released,
            }
            for each in self.figures
        ]
        names = pandas.MultiIndex.from_tuples(
            [(f.question, f.answer) for f in self.figures], names=["question", "answer"]
        )
        return pandas.DataFrame(rows, index=names)

    def question_frame(self) -> pandas.DataFrame:
        """Return the table of questions: measured squared error beside computed."""
        expect_package("pandas", "a data frame")
        import pandas

        rows = [
            {"mse": o.mse, "mse_error": o.mse_error, "computed": o.computed, "released": o.released}
            for o in self.outcomes
        ]
        return pandas.DataFrame(rows, index=pandas.Index([o.question for o in self.outcomes], name="question"))


def together(figures: tuple[Figure, ...]) -> Array:
    """Return the root of the squared errors of several figures, campaign by campaign."""
    return (
        np.asarray(np.sqrt(np.sum([figure.errors**2 for figure in figures], axis=0))) if figures else np.array(math.nan)
    )
