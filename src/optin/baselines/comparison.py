"""Designs side by side: how wrong each is, how much worse than ours, and what it takes from whom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from optin.agents import Agents
from optin.baselines.catalogue import Baseline, designs_on, own_designs
from optin.baselines.levels import Levels, levels_for
from optin.baselines.rule import Rule
from optin.errors import BadInput
from optin.extras import expect_package
from optin.planning import Plan, plan
from optin.questions import Question, Sheet
from optin.wording.groups import SMALLEST_GROUP
from optin.wording.numbers import plain
from optin.wording.records import Brief
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    import pandas

GROUPS = 5
SMALLEST = SMALLEST_GROUP


@dataclass(frozen=True, repr=False)
class Group(Brief):
    """People with neighbouring limits: the lowest and the highest of them, and how many people."""

    low: float
    high: float
    people: int

    def named(self, digits: int = 3) -> str:
        """Name the group by its limits.

        >>> Group(0.1, 0.1, 12).named(), Group(0.01234, 0.2, 12).named()
        ('0.1', '0.0123 to 0.2')
        """
        low, high = f"{self.low:.{digits}g}", f"{self.high:.{digits}g}"
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, repr=False)
class Comparison(Told):
    """The designs, the optimum first, and the mean epsilon each takes from every group."""

    plan: Plan
    designs: tuple[Baseline, ...]
    groups: tuple[Group, ...]
    epsilons: tuple[tuple[float, ...], ...]

    def telling(self) -> Telling:
        """Put the designs in a table: their error, and how many times the optimum's squared error."""
        rows = tuple((d.name, plain(math.sqrt(d.mse)), f"{self.ratio(d):.4g}") for d in self.designs)
        lines = (("people", f"{self.plan.people:,}"),)
        head = ("design", "error with the largest bias", "squared error, in optima")
        return Telling("Comparison", lines, head, rows, numbers=1, more="comparison.frame()")

    def ratio(self, design: Baseline) -> float:
        """How many times the expected squared error of the optimum a design has."""
        return times(design.mse, self.designs[0].mse)

    @property
    def of_a_sheet(self) -> bool:
        """Whether errors are in declared variances of each question, and not in the unit of one number (E18)."""
        return self.plan.sheet.one_number is None

    @property
    def group_names(self) -> list[str]:
        """Name the groups with as many digits as tell them apart."""
        return _names(self.groups)

    def frame(self) -> pandas.DataFrame:
        """Return the table: a row for each design, epsilon columns named by the limits of their group."""
        expect_package("pandas", "a data frame")
        import pandas

        names = [f"epsilon {name}" for name in self.group_names]
        rows = [
            {"bias": d.bias, "bias_bound": d.bias_bound, "variance": d.variance, "mse": d.mse, "ratio": self.ratio(d)}
            | ({"effective_people": d.effective_people} if self.of_a_sheet else {})
            | dict(zip(names, epsilons, strict=True))
            for d, epsilons in zip(self.designs, self.epsilons, strict=True)
        ]
        return pandas.DataFrame(rows, index=pandas.Index([d.name for d in self.designs], name="design"))


def times(error: float, own: float) -> float:
    """Say how many times our error another is, also where ours is none.

    >>> times(3.0, 2.0), times(0.0, 0.0), times(1.0, 0.0)
    (1.5, 1.0, inf)
    """
    return error / own if own > 0 else (1.0 if error == 0 else math.inf)


def compare(
    agents: Agents,
    sheet: Sheet | Sequence[Question] | Question | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    sd: float | None = None,
    data_variance: float | None = None,
    data_sd: float | None = None,
    max_gap: float = 0.0,
    mean: float | None = None,
    designs: Mapping[str, Rule] | None = None,
) -> pandas.DataFrame:
    """Put the optimum beside everything others do, for these people, as a data frame with a row for each design.

    ``mean``, the mean of the values, matters to sampling, one-bit messages and biased designs only; it is the middle of
    the bounds unless given. ``designs`` adds designs of your own by name, each an `optin.baselines.Rule`. The ratio
    compares expected squared errors in the worst case: variance + bias_bound^2 (E15). For a ``sheet`` every design shares
    epsilons out as ours does; errors are then in declared variances, the same for every question, and
    ``effective_people`` are one over that (E18).

    >>> import optin
    >>> people = optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
    >>> optin.compare(people, bounds=(0, 1)).loc[["threshold", "proportional", "sampling-mean"], "ratio"].round(3)
    design
    threshold        1.210
    proportional     1.158
    sampling-mean    1.183
    Name: ratio, dtype: float64
    >>> sheet = [optin.YesNo("break"), optin.Choice("shift", options=("early", "late", "night"))]
    >>> optin.compare(people, sheet).loc[["optimum", "threshold"], "effective_people"].round()
    design
    optimum      593.0
    threshold    485.0
    Name: effective_people, dtype: float64
    """
    planned = plan(agents, sheet, bounds=bounds, sd=sd, data_variance=data_variance, data_sd=data_sd, max_gap=max_gap)
    return compared(planned, agents, mean=mean, designs=designs).frame()


def compared(
    plan: Plan, agents: Agents, *, mean: float | None = None, designs: Mapping[str, Rule] | None = None
) -> Comparison:
    """Compare the designs for a plan's people, as a record: what `compare`, the command and the picture show.

    Groups are about five, of ten people at least, so that no column stands for a person.
    """
    if plan.grouped:
        raise BadInput(
            "designs are compared for one crowd, and these people are in {count:,} groups: compare them without groups, or"
            " the whole put together from groups with optin.baselines.whole_errors(plan, people)",
            count=len(plan.designs),
        )
    levels = levels_for(plan, agents)
    all_designs = designs_on(levels, plan, mean=mean) + own_designs(designs or {}, plan, levels, mean=mean)
    parts = list(pairwise([*_cuts(levels), len(levels.limits)])) if len(levels.limits) else []
    groups = [Group(float(levels.limits[a]), float(levels.limits[b - 1]), _count(levels, a, b)) for a, b in parts]
    epsilons = [[design.rule.loss.mean_between(levels, a, b) for a, b in parts] for design in all_designs]
    if levels.infinite:
        endless = Group(math.inf, math.inf, levels.infinite)
        epsilons = [_with_endless(groups, endless, d, row) for d, row in zip(all_designs, epsilons, strict=True)]
        groups = _with(groups, endless)
    return Comparison(plan, all_designs, tuple(groups), tuple(map(tuple, epsilons)))


def _apart(groups: list[Group], endless: Group) -> bool:
    """Say whether people without a limit can stand apart from the others, both being enough."""
    return not groups or min(endless.people, groups[-1].people) >= SMALLEST


def _with(groups: list[Group], endless: Group) -> list[Group]:
    """Add the people without a limit: as a group, or to the last one if they are few."""
    if _apart(groups, endless):
        return [*groups, endless]
    return [*groups[:-1], Group(groups[-1].low, math.inf, groups[-1].people + endless.people)]


def _with_endless(groups: list[Group], endless: Group, design: Baseline, row: list[float]) -> list[float]:
    own = float(design.epsilons(np.array([math.inf]))[0])
    if _apart(groups, endless):
        return [*row, own]
    last = groups[-1].people
    return [*row[:-1], (row[-1] * last + own * endless.people) / (last + endless.people)]


def _count(levels: Levels, start: int, stop: int) -> int:
    return int(levels.below[stop] - levels.below[start])


def _cuts(levels: Levels) -> list[int]:
    """Cut sorted limits into groups of neighbours: at fifths, and around limits that many people share."""
    n = float(levels.below[-1])
    fifths = levels.limits[np.searchsorted(levels.below[1:], np.arange(GROUPS) * n / GROUPS, side="right")]
    cuts = [0]
    for cut in np.unique(np.searchsorted(levels.limits, [fifths, np.nextafter(fifths, np.inf)])).tolist():
        if _count(levels, cuts[-1], cut) >= max(SMALLEST, n // (2 * GROUPS)) and n - levels.below[cut] >= SMALLEST:
            cuts.append(cut)
    return cuts


def _names(groups: tuple[Group, ...]) -> list[str]:
    """Name groups with as many digits as tell them apart."""
    names: list[str] = []
    for digits in range(3, 18):
        names = [group.named(digits) for group in groups]
        if len(set(names)) == len(names):
            break
    return names
