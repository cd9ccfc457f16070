"""Agents whose rows stay in an engine: the same models, answered by queries; nothing here holds one number a person."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

from optin.agents.protocols import Constrained, Found
from optin.engine.checks import checked_survey, stays_there, usable_survey
from optin.engine.grouping import (
    LABEL,
    GroupLimits,
    Windows,
    find_by_group,
    groups_of,
    labelled,
    of_labels,
)
from optin.engine.limits import EngineLimits
from optin.engine.listed_by_label import Bounds, Listed, ListedByLabel, alike, few_enough, listed_below, raised
from optin.engine.ratios import budget_over_cost
from optin.engine.rows import Rows
from optin.engine.sampled_groups import SampledGroupLimits, expected_below, merged_glances
from optin.engine.sampled_limits import GlancedLimits, glance
from optin.engine.session import literal
from optin.engine.set_apart import SetApart, worth_keeping, worth_splitting
from optin.engine.survey import Survey, merged_surveys
from optin.engine.tallying import Tallied, tally_with_few
from optin.engine.weighing import EngineQuasiLinear
from optin.kernel.bound import Tally
from optin.kernel.optimum import Design
from optin.kernel.pieces import Outline, Pieces
from optin.tables.columns import EXTREME, Wanted, checked_limit

if TYPE_CHECKING:
    from ibis.expr import types as ir


class EngineConstrained(Constrained):
    """People of an engine who accept any epsilon up to their own limit, an expression over their rows.

    ``columns`` are what the expression reads, checked for entries that cannot be used.
    """

    def __init__(
        self, rows: Rows, limit: ir.FloatingColumn, *, columns: tuple[Wanted, ...] = (), by: tuple[str, ...] = ()
    ) -> None:
        self.rows, self.expression, self.columns, self.by = rows, limit, columns, by
        self._glance, self._fetched = None, list[Pieces]()
        self._set_apart, self._listed = SetApart(), ListedByLabel()
        self._numbers = limit if by else rows.as_numbers(limit)
        if by:
            self.groups = groups_of(rows, limit, by, sampled=True)
        else:
            self._glance = glance(rows.session, self._numbers, about=rows.source)
        totals = self._totals
        self.most = (
            math.inf if totals is None and self.seen.infinite else self.seen.most if totals is None else totals[1]
        )

    @cached_property
    def seen(self) -> Survey:
        """The full survey, made when first asked for."""
        if self.by:
            return usable_survey(self.rows, merged_surveys(self.groups.seen.values()), self.columns)
        return checked_survey(self.rows, self._numbers, self.columns)

    @property
    def _totals(self) -> tuple[int, float] | None:
        """How many people there are and what their limits add up to, where a cheap scan found them fit to be used."""
        if self._glance is not None:
            return self._glance.people, self._glance.total
        looked = None if self.groups is None else self.groups.looked
        if not looked:
            return None
        return sum(each.people for each in looked.values()), sum(each.total for each in looked.values())

    def over(self, rows: Rows, limit: ir.FloatingColumn) -> EngineConstrained:
        """Return the same people over rows with more columns; what was checked and counted of them still holds."""
        people = copy.copy(self)
        people.rows, people.expression, people._numbers = rows, limit, limit
        people._set_apart, people._listed = SetApart(), ListedByLabel()
        return people

    def few_below(self, bound: float) -> ir.Table | None:
        """Return the limits ``tau`` up to a bound, and a little above; None if they are many.

        They are kept apart once they were asked for, so that they are cheap to ask about again.
        """
        if not worth_keeping(self.rows, len(self), self._expected_below(bound)):
            return None
        return self._set_apart.get(self.rows, self._numbers.name("tau").as_table(), bound)

    def few_of_each(self, bounds: Bounds) -> Listed | None:
        """List the limits of each label up to its bound, and maybe some above; None if they are many."""
        known = self._listed.known(self.rows, bounds)
        if known is None and worth_keeping(self.rows, len(self), self._expected_of_each(bounds)):
            return self._list(raised(bounds), hold=True)
        return known

    def listed(self, bounds: Bounds) -> Listed:
        """List the same however many they are; only few of them are held."""
        known = self._listed.known(self.rows, bounds)
        if known is None:
            return self._list(bounds, hold=worth_keeping(self.rows, len(self), self._expected_of_each(bounds)))
        return known

    def _list(self, bounds: Bounds, *, hold: bool) -> Listed:
        table = self.rows.table.select(tau=self.expression, label=self.rows.table[LABEL])
        expected = self._expected_of_each(alike(bounds, self.groups.places))
        limits = listed_below(self.rows, table, bounds, few=few_enough(len(self), expected))
        self.rows.expect_unchanged()
        if hold:
            self._listed.hold(bounds, limits)
        return limits

    def mostly_above(self, bound: float) -> bool:
        """Tell whether all others are so few that it pays to look at them once more, by themselves."""
        return worth_splitting(self.rows, len(self), self._expected_below(bound))

    def _expected_below(self, bound: float) -> float:
        """Say about how many limits are below a bound; as many as there may be where no sample tells."""
        if self._glance is not None:
            return self._glance.expected_below(bound)
        return math.inf if self.groups is None else self._expected_of_each(dict.fromkeys(self.groups.places, bound))

    def _expected_of_each(self, bounds: Bounds) -> float:
        looked = None if self.groups is None else self.groups.looked
        return expected_below(looked, bounds) if looked else math.inf

    def __len__(self) -> int:
        totals = self._totals
        return self.seen.people if totals is None else totals[0]

    def table(self) -> EngineLimits:
        """Return the limits as the kernel asks for them; what was scanned before is kept."""
        rows, limit, fetched = self.rows, self._numbers, self._fetched
        if self._glance is not None:
            return GlancedLimits(rows, limit, self._glance, seen=lambda: self.seen, fetched=fetched)
        ceiling = EXTREME if self.most > EXTREME else math.inf
        return EngineLimits(rows, limit, ceiling=ceiling, seen=lambda: self.seen, fetched=fetched)

    def scaled_table(self) -> EngineLimits:
        """Return the limits in units of about the largest, for caps so high that squares would overflow."""
        return EngineLimits(self.rows, self._numbers, scale=2.0 ** -math.frexp(self.seen.most)[1])

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design."""
        return tally_with_few(self.rows, self._numbers, design, self.few_below)

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> EngineConstrained:
        """Put people into other groups, by the place of each label among their names."""
        people = copy.copy(self)
        people.groups = self.groups.put_into(places, names)
        return people

    def each_group(self, find: Callable[[int, Any], Found]) -> list[Found]:
        """Have something found of each group by itself; all of them share every scan."""
        windows = Windows(self.rows, self.expression, self.groups, listed=self.listed)
        return find_by_group(windows, partial(_EnginePart, self, windows), find)

    def someone_above(self, bound: float) -> bool:
        """Say no: a scan more would be needed, and the description tells."""
        return False

    def in_memory(self) -> NoReturn:
        """Refuse: limits stay in the engine."""
        stays_there("limits")


class _EnginePart(EngineConstrained):
    """The people of one group, of whom everything was counted with the others'; of a sample is told unless ``surveyed``."""

    def __init__(self, undivided: EngineConstrained, windows: Windows, place: int, *, surveyed: bool = False) -> None:
        self._undivided, self.columns, self.by = undivided, undivided.columns, ()
        self._glance, self._fetched, self.groups = None, list[Pieces](), None
        self._windows, self._place = windows, place
        self._sample = None if surveyed else undivided.groups.sample(place)
        if self._sample is None:
            self.seen = undivided.groups.survey(place)
            self.most = math.inf if self.seen.infinite else self.seen.most
        else:
            self.most = sum(each.total for each in self._sample)

    def __len__(self) -> int:
        return self.seen.people if self._sample is None else sum(each.people for each in self._sample)

    @cached_property
    def _sampled(self) -> Outline:
        return merged_glances(self._sample or ())

    @cached_property
    def rows(self) -> Rows:  # type: ignore[override]
        """The rows of this group, put together when they are first asked about: a sample needs none."""
        return of_labels(self._undivided.rows, self._undivided.groups.labels(self._place))

    @cached_property
    def expression(self) -> ir.FloatingColumn:
        """Their limits."""
        return self.rows.table["limit"]

    @property
    def _numbers(self) -> ir.FloatingColumn:
        return self.expression

    def table(self) -> EngineLimits:
        """Return the limits of this group."""
        if self._sample is not None:
            return SampledGroupLimits(len(self), self._sampled, self._windows.known_below[self._place])
        ceiling = EXTREME if self.most > EXTREME else math.inf
        return GroupLimits(
            self.rows,
            self.expression,
            self.seen,
            self._windows,
            self._place,
            ceiling=ceiling,
            fetched=self._fetched,
        )

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Return the sums a certificate needs; they are added up for all groups at once."""
        return self._windows.tally(self._place, Tallied(design))


EngineAgents = EngineConstrained | EngineQuasiLinear


def limit_of(
    rows: Rows, limits: str | None, budgets: str | None, costs: str | None, by: tuple[str, ...] = ()
) -> EngineConstrained:
    """Take limits from a column, or divide budgets by costs."""
    if limits is not None:
        wanted = Wanted.limits(limits, rows.how.blank_limit)
        rows = rows.with_limits(wanted)
        return _limited(rows, rows.wanted(wanted), (wanted,), by)
    both = Wanted.budgets(str(budgets)), Wanted.divisors(str(costs))
    budget, cost = (rows.wanted(one) for one in both)
    named = replace(rows, table=rows.table.mutate(budget=budget, cost=cost))
    return _limited(named, budget_over_cost(named.table.budget, named.table.cost), both, by)


def limit_for_all(rows: Rows, limit: float, by: tuple[str, ...] = ()) -> EngineConstrained:
    """Take one limit as everyone's."""
    return _limited(rows, literal(checked_limit(limit)), (), by)


def _limited(
    rows: Rows, limit: ir.FloatingColumn, columns: tuple[Wanted, ...], by: tuple[str, ...]
) -> EngineConstrained:
    """Give the limit a name, since every query uses it many times and would write out each time how it is read."""
    named = replace(rows, table=rows.table.mutate(limit=limit))
    return EngineConstrained(named, named.table["limit"], columns=columns, by=by)


def with_labels(rows: Rows, by: tuple[str, ...]) -> Rows:
    """Lay people's labels beside their rows, under a name of our own."""
    return replace(rows, table=rows.table.mutate(**{LABEL: labelled(rows, by)})) if by else rows
