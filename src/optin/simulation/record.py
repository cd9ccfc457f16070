"""What came out of many simulated campaigns: measured errors beside computed ones, coverage, and who took part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optin.baselines import Baseline
from optin.extras import expect_package
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.wording.numbers import percent, plain
from optin.wording.records import Listed
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    import pandas


class MeasuredErrors:
    """Errors over all campaigns, NaN where nothing could be released, and where an interval held the truth."""

    errors: Array
    covered: NDArray[np.bool_] | None

    @property
    def released(self) -> float:
        """The share of campaigns that released something."""
        return float(np.isfinite(self.errors).mean())

    @property
    def bias(self) -> float:
        """The mean error."""
        return self._mean(self.errors)

    @property
    def mse(self) -> float:
        """The mean squared error."""
        return self._mean(self.errors**2)

    @property
    def bias_error(self) -> float:
        """The standard error of `bias`."""
        return self._standard_error(self.errors)

    @property
    def mse_error(self) -> float:
        """The standard error of `mse`."""
        return self._standard_error(self.errors**2)

    @property
    def coverage(self) -> float | None:
        """The share of intervals that held the truth, among campaigns that released."""
        return (
            None if self.covered is None or not self.released else float(self.covered[np.isfinite(self.errors)].mean())
        )

    def _mean(self, numbers: Array) -> float:
        return float(np.mean(numbers, where=np.isfinite(numbers))) if self.released else math.inf

    def _standard_error(self, numbers: Array) -> float:
        kept = numbers[np.isfinite(numbers)]
        return float(kept.std(ddof=1)) / math.sqrt(len(kept)) if len(kept) > 1 else math.inf


@dataclass(frozen=True, repr=False, kw_only=True)
class WithIntervals(MeasuredErrors):
    """Errors whose every campaign published an interval too, with how long each was."""

    errors: Array = field(repr=False)
    covered: NDArray[np.bool_] = field(repr=False)
    lengths: Array = field(repr=False)

    @property
    def length(self) -> float:
        """The mean length of its intervals."""
        return self._mean(self.lengths)


@dataclass(frozen=True, repr=False)
class Outcome(MeasuredErrors, Listed):
    """One design over all campaigns: errors of its estimates, NaN where nothing could be released.

    ``covered`` says where the interval for the population's mean by the declared variance (E22) held it; None for designs
    without such an interval.
    """

    design: Baseline
    errors: Array = field(repr=False)
    covered: NDArray[np.bool_] | None = field(repr=False)

    def figures(self) -> dict[str, float | None]:
        """List what was measured beside what was computed, by name, for tables and scripts."""
        return {
            "bias": self.bias,
            "bias_error": self.bias_error,
            "mse": self.mse,
            "mse_error": self.mse_error,
            "computed": self.design.mse,
            "coverage": self.coverage,
            "released": self.released,
        }


@dataclass(frozen=True, repr=False)
class Simulation(Told):
    """Many campaigns with the same people: the plan, what each design did, and the share of people who joined."""

    plan: Plan
    campaigns: int
    level: float
    joined: float
    outcomes: tuple[Outcome, ...]

    def telling(self) -> Telling:
        """Put measured errors beside computed ones, and say how often intervals held."""
        rows = tuple(
            (o.design.name, plain(math.sqrt(o.mse)), plain(math.sqrt(o.design.mse)), held(o.coverage))
            for o in self.outcomes
        )
        head = ("design", "measured error", "computed", f"{self.level:.0%} intervals held")
        return Telling(
            "Simulation",
            run_lines(self.campaigns, self.plan.people, self.joined),
            head,
            rows,
            numbers=1,
            more="simulation.frame()",
        )

    def frame(self) -> pandas.DataFrame:
        """Return the table: a row for each design, measured beside computed."""
        expect_package("pandas", "a data frame")
        import pandas

        rows = [o.figures() for o in self.outcomes]
        return pandas.DataFrame(rows, index=pandas.Index([o.design.name for o in self.outcomes], name="design"))


def run_lines(campaigns: int, people: int, joined: float) -> tuple[tuple[str, str], ...]:
    """Say how much was simulated."""
    return (("campaigns", f"{campaigns:,}"), ("people", f"{people:,}, of whom {percent(joined)} joined on average"))


def held(coverage: float | None) -> str:
    """Say how often intervals held; not every design has one."""
    return "-" if coverage is None else f"{100 * coverage:.1f} %"
