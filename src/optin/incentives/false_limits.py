"""People with limits: what every report of every person would bring them (Claims 8 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import PrivacyConstrained
from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.kernel.replacing import OneReplaced
from optin.planning import plan
from optin.planning.asked import asked_of, value_sheet
from optin.tables.labels import aligned
from optin.wording.telling import Telling, Told

FACTORS = np.geomspace(1 / 16, 16, 33)
"""The reports tried by default, as multiples of the truth."""
EXTREME = 1e150


@dataclass(frozen=True, eq=False, repr=False)
class LimitReports(Told):
    """A row for each person, a column for each report: the epsilon it brings, the variance, and whether the true limit holds."""

    reports: Array
    epsilons: Array
    variances: Array
    kept: NDArray[np.bool_]
    honest_variance: float

    def utilities(self, benefit: Callable[[Any], Any] = np.negative) -> Array:
        """Return what each report is worth: the benefit of the variance, or minus infinity where the true limit is crossed."""
        return np.where(self.kept, benefit(self.variances), -np.inf)

    def telling(self) -> Telling:
        """Say whether anyone's release becomes better by a false limit that does not cross the true one."""
        best = float(self.gains.max())
        gain = "no report makes the release better without crossing a limit" if best <= 0 else f"up to {best:.2%}"
        people, each = self.reports.shape
        return Telling("Reports of limits", (("people", f"{people:,}, {each:,} reports each"), ("gain", gain)))

    @property
    def gains(self) -> Array:
        """By which share of the honest variance each report improves the release; minus infinity where the limit is crossed."""
        return np.where(self.kept, 1.0 - self.variances / self.honest_variance, -np.inf)


def limit_reports(
    agents: PrivacyConstrained,
    *,
    bounds: tuple[float, float],
    reports: Any = None,  # noqa: ANN401
    sd: float | None = None,
    data_variance: float | None = None,
) -> LimitReports:
    """Compute what each person would get for each report while all others tell the truth, without planning again.

    ``reports`` are the same for all (flat), or a row for each person; by default multiples of their limit from 1/16 to 16.
    Below the truth the variance can only be worse. Above it either nothing changes or the true limit is crossed.

    >>> sweep = limit_reports(PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1), reports=[1, 4, 6, 9])
    >>> (sweep.variances * 12).round(3)[1].tolist(), sweep.kept[1].tolist()
    ([1.25, 1.0, 0.971, 0.964], [True, True, False, False])
    >>> sweep.variances[2].round(3).tolist(), float(sweep.gains.max())
    ([0.105, 0.084, 0.083, 0.083], 0.0)
    """
    if not isinstance(agents, PrivacyConstrained):
        raise BadInput("limit_reports is about people with limits; cost_reports is for people who weigh costs")
    asked = asked_of(agents, value_sheet(bounds=bounds, sd=sd, data_variance=data_variance))
    told = report_table(reports, agents.limits, FACTORS, index=agents.index)
    table = OneReplaced(_below_squares(agents.limits))
    who = np.arange(len(agents))
    solution = table.solve(who[:, None], _below_squares(told), spread=asked.spread, kappa=asked.kappa)
    honest = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance)
    return LimitReports(
        reports=told,
        epsilons=np.minimum(told, solution.caps),
        variances=solution.variances * asked.width**2,
        kept=np.minimum(told, solution.caps) <= agents.limits[:, None],
        honest_variance=honest.variance,
    )


def _below_squares(limits: Array) -> Array:
    """Read limits whose squares would overflow as infinite: no cap of another table comes near them."""
    return np.where(limits > EXTREME, np.inf, limits)


def report_table(reports: Any, truth: Array, factors: Array, *, index: Any = None) -> Array:  # noqa: ANN401
    """Return reports as a row for each person: as given, the same for all, or multiples of the truth."""
    if reports is None:
        return truth[:, None] * factors
    if hasattr(reports, "columns"):
        reports = aligned(reports, index, "reports")
    try:
        told = np.asarray(reports, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput("reports must be numbers") from None
    if told.ndim == 1:
        told = np.broadcast_to(told, (len(truth), len(told)))
    if told.ndim != 2 or len(told) != len(truth):
        raise BadInput("reports must be flat, or have a row for each of the {count} people", count=len(truth))
    if not (told >= 0).all():
        raise BadInput("every report must be 0 or more")
    return told
