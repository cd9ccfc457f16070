"""Agents whose rows stay in an engine: the same models, answered by queries; nothing here holds one number a person."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from optin.agents.benefit import Benefit
from optin.agents.models import PrivacyConstrained, QuasiLinear
from optin.engine.checks import refuse_unusable
from optin.engine.limits import EngineLimits
from optin.engine.rows import Rows
from optin.engine.sampled_limits import Glance, GlancedLimits, glance
from optin.engine.session import literal
from optin.engine.survey import Survey, survey
from optin.engine.tallying import tally
from optin.errors import BadInput
from optin.kernel.bound import Tally
from optin.kernel.optimum import Design
from optin.kernel.rounding import not_above
from optin.tables.columns import EXTREME, Wanted

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["KeptConstrained", "KeptQuasiLinear", "limit_of"]

SHARED = "people who stay in an engine share one benefit and one outside option; give numbers, not one for each person"


def _stays(what: str) -> NoReturn:
    raise BadInput(f"{what} of an engine-backed table are not loaded; read it with engine='memory' (it must fit)")


class KeptConstrained(PrivacyConstrained):
    """People of an engine who accept any epsilon up to their own limit, an expression over their rows.

    ``columns`` are what the expression reads, checked for entries that cannot be used.
    """

    kept = True
    rows: Rows
    expression: ir.FloatingColumn
    columns: tuple[Wanted, ...]

    def __init__(self, rows: Rows, limit: ir.FloatingColumn, *, columns: tuple[Wanted, ...] = ()) -> None:
        looked = glance(rows.session, limit, about=rows.source)
        fields = {"rows": rows, "expression": limit, "columns": columns, "_glance": looked, "_fetched": []}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        most = looked.total if looked else math.inf if self.seen.infinite else self.seen.most
        object.__setattr__(self, "most", most)

    @cached_property
    def seen(self) -> Survey:
        """The full survey, made when first asked for."""
        return _checked(self.rows, self.expression, self.columns)

    def __len__(self) -> int:
        looked: Glance | None = self._glance  # type: ignore[attr-defined]
        return self.seen.people if looked is None else looked.people

    @property
    def limits(self) -> NoReturn:
        """Refuse: limits stay in the engine."""
        _stays("limits")

    @property
    def ids(self) -> NoReturn:
        """Refuse: ids stay in the engine."""
        _stays("ids")

    def limit(self) -> ir.FloatingColumn:
        """Return everyone's limit as an expression."""
        return self.expression

    def table(self) -> EngineLimits:
        """Return the limits as the kernel asks for them; what was scanned before is kept."""
        known = {"seen": lambda: self.seen, "fetched": self._fetched}  # type: ignore[attr-defined]
        looked: Glance | None = self._glance  # type: ignore[attr-defined]
        if looked is not None:
            return GlancedLimits(self.rows, self.expression, looked, **known)
        return EngineLimits(self.rows, self.expression, ceiling=EXTREME if self.most > EXTREME else math.inf, **known)

    def scaled_table(self) -> EngineLimits:
        """Return the limits in units of about the largest, for caps so high that squares would overflow."""
        return EngineLimits(self.rows, self.expression, scale=2.0 ** -math.frexp(self.seen.most)[1])

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design."""
        return tally(self.rows, self.expression, design)

    def limits_at(self, variance: float | None = None, *, data_variance: float | None = None) -> NoReturn:
        """Refuse: limits stay in the engine."""
        _stays("limits")


class KeptQuasiLinear(QuasiLinear):
    """People of an engine who weigh a common benefit against their own cost (a column)."""

    kept = True
    rows: Rows
    column: str
    seen: Survey

    def __init__(self, rows: Rows, costs: str, *, benefit: Benefit, outside: Any = 0.0):  # noqa: ANN204, ANN401
        if getattr(benefit, "per_person", False) or np.ndim(outside):
            raise BadInput(SHARED)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "column", costs)
        common = QuasiLinear(np.ones(1), benefit=benefit, outside=outside)
        for name in ("benefit", "outside"):
            object.__setattr__(self, name, getattr(common, name))
        kinds = (Wanted.costs(costs),)
        object.__setattr__(self, "seen", _checked(rows, self._unit_limit(), kinds))
        object.__setattr__(self, "_fetched", [])

    def __len__(self) -> int:
        return self.seen.people

    @property
    def costs(self) -> NoReturn:
        """Refuse: costs stay in the engine."""
        _stays("costs")

    @property
    def ids(self) -> NoReturn:
        """Refuse: ids stay in the engine."""
        _stays("ids")

    def _unit_limit(self) -> ir.FloatingColumn:
        cost = self.rows.wanted(Wanted.costs(self.column))
        return _usable(Wanted.costs(self.column), cost).ifelse(_quotient(literal(1.0), cost), None).cast("float64")

    def limit(self, surplus: float) -> ir.FloatingColumn:
        """Return the epsilon at which each person is indifferent, as an expression: max(surplus, 0) / cost (E9)."""
        cost = self.rows.wanted(Wanted.costs(self.column))
        if surplus >= 0:
            return _quotient(literal(max(surplus, 0.0)), cost)
        return cost * literal(0.0)

    def table(self) -> EngineLimits:
        """Return t = 1/c as the kernel asks for it (E10); what the first scan saw is kept."""
        return EngineLimits(self.rows, self._unit_limit(), seen=lambda: self.seen, fetched=self._fetched)  # type: ignore[attr-defined]

    def table_at(self, variance: float, *, data_variance: float | None = None) -> EngineLimits:
        """Return the limits surplus / cost at a variance, bucketed by a scan of its own."""
        surplus = self.surplus_at(variance, data_variance=data_variance)
        if not isinstance(surplus, float):
            raise BadInput(SHARED)
        return EngineLimits(self.rows, self.limit(surplus))

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design and the limits of a variance."""
        surplus = float(np.max(self.surplus_at(variance or 0.0, data_variance=data_variance)))
        return tally(self.rows, self.limit(surplus), design)

    def limits_at(self, variance: float, *, data_variance: float | None = None) -> NoReturn:
        """Refuse: limits stay in the engine."""
        _stays("limits")


def _checked(rows: Rows, limit: ir.FloatingColumn, kinds: tuple[Wanted, ...]) -> Survey:
    """Scan the limits once; where anything is unusable, ask what and whose."""
    seen = survey(rows.session, limit, about=rows.source)
    if seen.people == 0:
        raise BadInput(f"{rows.source} has a header and no rows; give one row per person")
    if seen.unusable or seen.huge:
        refuse_unusable(rows, kinds)
    if seen.unusable:
        names = " and ".join(kind.name for kind in kinds)
        raise BadInput(f"{rows.source}: {names} cannot be used by {rows.session.name} as numbers of at least 0")
    return seen


def limit_of(rows: Rows, limits: str | None, budgets: str | None, costs: str | None) -> KeptConstrained:
    """Take limits from a column, or divide budgets by costs."""
    if limits is not None:
        return KeptConstrained(rows, rows.wanted(Wanted(limits)), columns=(Wanted(limits),))
    wanted = Wanted.budgets(str(budgets)), Wanted.divisors(str(costs))
    budget, cost = (rows.wanted(one) for one in wanted)
    named = replace(rows, table=rows.table.mutate(budget=budget, cost=cost))  # each is used many times
    return KeptConstrained(named, _ratio(named.table.budget, named.table.cost), columns=wanted)


def _quotient(top: ir.FloatingScalar, cost: ir.FloatingColumn) -> ir.FloatingColumn:
    """Divide by a cost; who bears none has no limit. Missing costs stay missing; Spark raises on a division by 0."""
    import ibis

    zero = literal(0.0)
    return ibis.cases((cost == zero, literal(math.inf)), else_=top / cost.nullif(zero))


def _ratio(budget: ir.FloatingColumn, cost: ir.FloatingColumn) -> ir.FloatingColumn:
    """Divide budget by cost, rounded down as in memory; infinite where the cost is 0, NULL where either cannot be used."""
    import ibis

    zero = literal(0.0)
    usable = _usable(Wanted.budgets("budgets"), budget) & _usable(Wanted.costs("costs"), cost)
    free = (cost == zero) | (budget == literal(math.inf))
    quotient = not_above(budget, cost, budget / cost.nullif(zero), where=ibis.ifelse, exact=literal)
    return ibis.cases((usable & free, literal(math.inf)), (usable, quotient))


def _usable(wanted: Wanted, number: ir.FloatingColumn) -> ir.BooleanColumn:
    """Tell whether a number has none of the faults; false also where there is no number."""
    right = number.notnull() & ~number.isnan()
    for _, wrong in wanted.faults(number, literal):
        right = right & ~wrong
    return right.fill_null(False)
