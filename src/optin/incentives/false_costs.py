"""People who weigh costs: what overstating a cost brings, the best lie, and what understating costs.

A higher stated cost buys a smaller epsilon and hardly moves the variance, so it pays; a lower one never does. Each false
report is a fixed point of its own (E9). M only rises when someone states a higher cost, so the honest variance is a place to
climb from, and one climb serves all people and all reports together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import LinearBenefit, QuasiLinear
from optin.errors import BadInput, Infeasible
from optin.incentives.false_limits import report_table
from optin.kernel.pieces import Array
from optin.kernel.replacing import OneReplaced
from optin.planning import plan
from optin.planning.asked import Asked, asked_of, value_sheet
from optin.wording.numbers import plain
from optin.wording.telling import Telling, Told

FACTORS = np.concatenate((np.geomspace(1.0, 100.0, 60), [1e4, 1e8]))
STEPS = 200
CLOSE = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class CostReports(Told):
    """A row for each person, a column for each report: epsilon, variance, and utility beyond the outside option.

    Where the report leaves no design that people accept, there is no release: epsilon 0, variance infinite, utility 0.
    """

    reports: Array
    epsilons: Array
    variances: Array
    utilities: Array
    honest_utilities: Array
    surplus: float

    def telling(self) -> Telling:
        """Say how many would gain by a false cost, and how much at most."""
        people, each = self.reports.shape
        gaining = int((self.gains.max(axis=1) > 0).sum())
        lines = (
            ("people", f"{people:,}, {each:,} reports each"),
            ("would gain by one of them", f"{gaining:,}"),
            ("largest gain", f"{plain(float(self.gains.max()))} (surplus: {plain(self.surplus)})"),
        )
        return Telling("Reports of costs", lines)

    @property
    def gains(self) -> Array:
        """What each report brings beyond telling the truth."""
        return self.utilities - self.honest_utilities[:, None]

    @property
    def best_gains(self) -> Array:
        """The most each person can gain among these reports; 0 if the truth is best."""
        return np.asarray(np.maximum(self.gains.max(axis=1), 0.0))

    @property
    def best_reports(self) -> Array:
        """The report that brings it."""
        return np.asarray(self.reports[np.arange(len(self.reports)), self.gains.argmax(axis=1)])


def cost_reports(
    agents: QuasiLinear,
    *,
    bounds: tuple[float, float],
    reports: Any = None,  # noqa: ANN401
    sd: float | None = None,
    data_variance: float | None = None,
) -> CostReports:
    """Compute what each person would get for each stated cost while all others tell the truth (E9, E10).

    ``reports`` are the same for all (flat), or a row for each person; by default multiples of their cost, 1 and above.
    Needs a common benefit and outside option. Costs of 0 stay 0 under multiples.

    >>> people = QuasiLinear([1, 1/4, 1/9, 1/9], benefit=LinearBenefit(base=2, slope=12))
    >>> tried = cost_reports(people, bounds=(0, 1), reports=people.costs[:, None] * [0.5, 1, 1.5])
    >>> (tried.gains + 0.0).round(3)[:3].tolist()
    [[-1.106, 0.0, 0.317], [-1.038, 0.0, 0.304], [0.0, 0.0, 0.0]]
    """
    asked = asked_of(agents, value_sheet(bounds=bounds, sd=sd, data_variance=data_variance))
    outside = agents.outside_at(asked.data_variance)
    _expect_common(agents, asked)
    honest = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance)
    if honest.surplus is None or not np.isfinite(honest.eta) or asked.spread == 0:
        raise BadInput("without noise or without variance no report changes anything; there is nothing to compare")
    told = report_table(reports, agents.costs, FACTORS, index=agents.index)
    climb = _Climb(agents, asked, float(np.max(outside)))
    variances, epsilons = climb.top(told, honest.variance / asked.width**2)
    surplus = climb.surplus(np.where(np.isfinite(variances), variances, 0.0))
    utilities = np.where(np.isfinite(variances), surplus - agents.costs[:, None] * epsilons, 0.0)
    own = honest.surplus - agents.cost_of(honest.epsilons(agents))
    return CostReports(told, epsilons, variances * asked.width**2, utilities, own, honest.surplus)


def best_lies(
    agents: QuasiLinear,
    *,
    bounds: tuple[float, float],
    sd: float | None = None,
    data_variance: float | None = None,
    rounds: int = 3,
) -> CostReports:
    """Find each person's best report: a grid of multiples of the cost, then finer ones around the best, for all at once.

    The result has one column. In a large crowd the best lie has no end: state a cost so high that your weight is nothing.

    >>> people = QuasiLinear([1, 1/4, 1/9, 1/9], benefit=LinearBenefit(base=2, slope=12))
    >>> best = best_lies(people, bounds=(0, 1))
    >>> (best.best_reports / people.costs).round(2).tolist(), (best.best_gains + 0.0).round(3).tolist()
    ([100000000.0, 3.58, 3.44, 3.44], [0.839, 0.458, 0.19, 0.19])
    """
    factors = np.broadcast_to(FACTORS, (len(agents), len(FACTORS)))
    for _ in range(rounds):
        tried = cost_reports(
            agents, bounds=bounds, sd=sd, data_variance=data_variance, reports=agents.costs[:, None] * factors
        )
        best = tried.gains.argmax(axis=1)
        rows = np.arange(len(agents))
        low = factors[rows, np.maximum(best - 1, 0)]
        high = factors[rows, np.minimum(best + 1, factors.shape[1] - 1)]
        centre = factors[rows, best]
        factors = np.concatenate(
            (np.linspace(low, centre, 12, axis=1), np.linspace(centre, high, 12, axis=1)[:, 1:]), axis=1
        )
    return _column(tried, best)


def gain_of_cost(agents: QuasiLinear, *, person: int, report: float, **question: Any) -> float:  # noqa: ANN401
    """Return what one person gains by stating another cost, by planning twice; takes what `optin.plan` takes.

    Slower than `cost_reports`, and for every question it does not answer: a given ``eta``, slack, benefits of one's own.

    >>> people = QuasiLinear([1, 1/4, 1/9, 1/9], benefit=LinearBenefit(base=2, slope=12))
    >>> round(gain_of_cost(people, person=0, report=1.5, bounds=(0, 1)), 3)
    0.317
    """
    told = np.array(agents.costs)
    told[person] = report
    liars = QuasiLinear(told, benefit=agents.benefit, outside=agents.outside)
    return _utility(agents, liars, person, question) - _utility(agents, agents, person, question)


def _utility(truly: QuasiLinear, told: QuasiLinear, person: int, question: dict[str, Any]) -> float:
    """Return a person's utility beyond the outside option under the plan for what was told."""
    try:
        planned = plan(told, **question)
    except Infeasible:
        return 0.0
    surplus = np.asarray(truly.surplus_at(planned.variance, data_variance=planned.data_variance))
    paid = truly.costs[person] * planned.epsilons(told)[person]
    return float(surplus if surplus.ndim == 0 else surplus[person]) - float(paid)


def _expect_common(agents: QuasiLinear, asked: Asked) -> None:
    if np.ndim(agents.surplus_at(asked.data_variance, data_variance=asked.data_variance)) > 0:
        raise BadInput("people differ in benefit or outside option; use gain_of_cost, person by person")


def _column(tried: CostReports, best: NDArray[np.int64]) -> CostReports:
    """Keep one column: each person's best report."""
    rows = np.arange(len(best))

    def picked(table: Array) -> Array:
        return table[rows, best][:, None]

    return CostReports(
        picked(tried.reports), picked(tried.epsilons), picked(tried.variances), picked(tried.utilities),
        tried.honest_utilities, tried.surplus,
    )  # fmt: skip


class _Climb:
    """V -> M(V) for every person and report together, from a place at or below every least fixed point."""

    def __init__(self, agents: QuasiLinear, asked: Asked, outside: float) -> None:
        self.agents, self.asked, self.outside = agents, asked, outside
        with np.errstate(divide="ignore"):
            self.table = OneReplaced(1.0 / agents.costs)

    def surplus(self, unit_variances: Array) -> Array:
        """Return benefit - outside at each variance."""
        variances = unit_variances * self.asked.width**2
        benefit = self.agents.benefit
        if isinstance(benefit, LinearBenefit):
            return np.asarray(benefit(variances)) - self.outside  # type: ignore[arg-type]
        return np.asarray(np.vectorize(benefit, otypes=[float])(variances)) - self.outside

    def top(self, told: Array, honest: float) -> tuple[Array, Array]:
        """Climb to the least fixed point of each report; infinite variance where the climb meets no surplus."""
        who, reports = np.broadcast_arrays(np.arange(len(told))[:, None], told)
        variances = np.where(told >= self.agents.costs[:, None], honest, self.asked.spread / len(told))
        epsilons = np.zeros(told.shape)
        going = np.ones(told.shape, dtype=bool)
        for _ in range(STEPS):
            after, eps = self._raised(who[going], reports[going], variances[going])
            still = np.isfinite(after) & (after > variances[going] * (1 + CLOSE))
            variances[going], epsilons[going] = after, eps
            going[going] = still
            if not going.any():
                return variances, epsilons
        return self._planned(reports, variances, epsilons, going)

    def _raised(self, who: NDArray[np.int64], reports: Array, variances: Array) -> tuple[Array, Array]:
        surplus = self.surplus(variances)
        with np.errstate(divide="ignore"):
            t = 1.0 / reports
        willing = surplus > 0
        solution = self.table.solve(
            who, t, spread=self.asked.spread, kappa=self.asked.kappa, surplus=np.where(willing, surplus, 1.0)
        )
        epsilons = np.where(willing, surplus * solution.epsilons, 0.0)
        return np.where(willing, solution.variances, np.inf), epsilons

    def _planned(
        self, reports: Array, variances: Array, epsilons: Array, going: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        """Plan the few reports near a tangency, where climbing would take for ever."""
        for i, j in zip(*np.nonzero(going), strict=True):
            costs = np.array(self.agents.costs)
            costs[i] = reports[i, j]
            people = QuasiLinear(costs, benefit=self.agents.benefit, outside=self.outside)
            try:
                planned = plan(people, bounds=self.asked.bounds, data_variance=self.asked.data_variance)
                variances[i, j], epsilons[i, j] = planned.variance / self.asked.width**2, planned.epsilons(people)[i]
            except Infeasible:
                variances[i, j], epsilons[i, j] = np.inf, 0.0
        return variances, epsilons
