"""People of an engine who weigh costs: t = 1/c takes the place of limits, and nothing here holds one number a person."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from optin.agents.benefit import Benefit
from optin.agents.models import QuasiLinear
from optin.agents.protocols import Found, Weighing
from optin.engine.checks import checked_survey, stays_there, usable_survey
from optin.engine.grouping import GroupLimits, Windows, find_by_group, groups_of, of_labels
from optin.engine.limits import EngineLimits
from optin.engine.ratios import is_usable
from optin.engine.rows import Rows
from optin.engine.sampled_costs import glance_at_costs, unit_limit
from optin.engine.sampled_limits import Glance, GlancedLimits
from optin.engine.session import literal
from optin.engine.survey import FINER, Survey, merged_surveys
from optin.engine.tallying import Tallied, indifferent, tally
from optin.errors import BadInput
from optin.kernel.bound import Tally
from optin.kernel.optimum import Design
from optin.kernel.pieces import Pieces
from optin.tables.columns import Wanted

if TYPE_CHECKING:
    from ibis.expr import types as ir

SHARED = "people who stay in an engine share one benefit and one outside option; give numbers, not one for each person"


class EngineQuasiLinear(Weighing):
    """People of an engine who weigh a common benefit against their own cost (a column)."""

    def __init__(
        self,
        rows: Rows,
        costs: str,
        *,
        benefit: Benefit,
        outside: Any = 0.0,  # noqa: ANN401
        by: tuple[str, ...] = (),
    ) -> None:
        if getattr(benefit, "per_person", False) or np.ndim(outside):
            raise BadInput(SHARED)
        self.rows, self.column, self.index, self.by, self._fetched = rows, costs, None, by, list[Pieces]()
        common = QuasiLinear(np.ones(1), benefit=benefit, outside=outside)
        self.benefit, self.outside = common.benefit, common.outside
        if by:
            self.groups = groups_of(rows, self._unit_limit(), by, digits=FINER)
        else:
            self._glance = glance_at_costs(rows.session, self._costs, about=rows.source)
        if self._glance is None:
            _ = self.seen  # which refuses what cannot be used

    _glance: Glance | None = None

    @cached_property
    def seen(self) -> Survey:
        """The full survey of t = 1/c, made when first asked for."""
        if self.by:
            seen = merged_surveys(self.groups.seen.values())
            return usable_survey(self.rows, seen, (Wanted.costs(self.column),))
        return checked_survey(self.rows, self._unit_limit(), (Wanted.costs(self.column),))

    def over(self, rows: Rows) -> EngineQuasiLinear:
        """Return the same people over rows with more columns; what was checked and counted of them still holds."""
        people = copy.copy(self)
        people.rows = rows
        return people

    def __len__(self) -> int:
        return self.seen.people if self._glance is None else self._glance.people

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> EngineQuasiLinear:
        """Put people into other groups, by the place of each label among their names."""
        people = copy.copy(self)
        people.groups = self.groups.put_into(places, names)
        return people

    def each_group(self, find: Callable[[int, Any], Found]) -> list[Found]:
        """Have something found of each group by itself; all of them share every scan."""
        windows = Windows(self.rows, self._unit_limit(), self.groups, self._costs)

        def part(place: int, *, surveyed: bool = True) -> EngineQuasiLinear:  # costs are never sampled
            people = self.over(of_labels(self.rows, self.groups.labels(place)))
            people.groups, people.by, people._fetched = None, (), list[Pieces]()
            people.seen = self.groups.survey(place)
            people._windows = (windows, place)
            return people

        return find_by_group(windows, part, find)

    _windows: tuple[Windows, int] | None = None

    @property
    def _costs(self) -> ir.FloatingColumn:
        return self.rows.wanted(Wanted.costs(self.column))

    def _unit_limit(self) -> ir.FloatingColumn:
        cost = self._costs
        return is_usable(Wanted.costs(self.column), cost).ifelse(indifferent(literal(1.0), cost), None).cast("float64")

    def limit(self, surplus: float) -> ir.FloatingColumn:
        """Return the epsilon at which each person is indifferent, as an expression: max(surplus, 0) / cost (E9)."""
        return indifferent(literal(surplus), self._costs)

    def table(self) -> EngineLimits:
        """Return t = 1/c as the kernel asks for it (E10); what the first scan saw is kept."""
        if self._windows is not None:
            return GroupLimits(self.rows, self._windows[0].limit, self.seen, *self._windows, fetched=self._fetched)
        seen, fetched, looked = (lambda: self.seen), self._fetched, self._glance
        if looked is not None:
            return GlancedLimits(self.rows, unit_limit(self._costs, looked), looked, seen=seen, fetched=fetched)
        return EngineLimits(self.rows, self._unit_limit(), seen=seen, fetched=fetched)

    def table_at(self, variance: float, *, data_variance: float | None = None) -> EngineLimits:
        """Return the limits surplus / cost at a variance, bucketed by a scan of its own."""
        return EngineLimits(self.rows, self.limit(self._surplus_at(variance, data_variance)))

    def scaled_at(self, variance: float, *, data_variance: float | None = None) -> tuple[EngineLimits, float] | None:
        """Return t = 1/c and the common surplus: limits surplus / c are t in other units, so that no scan is needed."""
        surplus, table = self._surplus_at(variance, data_variance), self.table()
        if surplus > 0:
            return table, surplus
        return (self.table_at(variance, data_variance=data_variance), 1.0) if surplus == 0 and table.infinite else None

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design and the limits of a variance."""
        surplus = self._surplus_at(variance or 0.0, data_variance)
        if self._windows is not None:
            windows, place = self._windows
            return windows.tally(place, Tallied(design, surplus))
        return tally(self.rows, self.limit(surplus), design)

    def _surplus_at(self, variance: float, data_variance: float | None) -> float:
        surplus = self.surplus_at(variance, data_variance=data_variance)
        if not isinstance(surplus, float):
            raise BadInput(SHARED)
        return surplus

    def in_memory(self) -> NoReturn:
        """Refuse: costs stay in the engine."""
        stays_there("costs")
