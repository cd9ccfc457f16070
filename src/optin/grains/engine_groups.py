"""E13's and E20's integers for people in public groups who stay in an engine: each sum is one query for all groups (E27).

What a group is offered, its cap and its shares, lies in a table of as many rows as there are labels, which the engine joins to
people's rows by label. Every step is the one that `optin.grains.engine` takes, in the same order; whoever reaches the cap of
their group is only counted here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from optin.engine.functions import text_mark
from optin.engine.grouping import LABEL, EngineGroups
from optin.engine.listed_by_label import listed_of
from optin.engine.session import literal
from optin.engine.small_tables import small_table
from optin.grains.arrays import HIGHEST_EPSILON, Answers, Questions
from optin.grains.engine import integers_of
from optin.grains.engine_queries import Asking, EngineCodes, FewOfEach, not_set_apart
from optin.grains.engine_sums import (
    count,
    integer,
    part_of,
    sums_of_group,
    with_those_above,
    with_those_at_cap,
    wrong_bits,
)
from optin.grains.exact_sums import SheetSums
from optin.grains.few_below_cap import FewBelowCap
from optin.grains.splitting import BITS, all_of, least_capped
from optin.kernel.rounding import GRAIN, LOWERED
from optin.kernel.sharing import SHARES

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.engine.rows import Rows
    from optin.grains.promised_groups import Above, Bars, Both

    Rates = dict[str, list[Any]]


@dataclass(frozen=True)
class GroupRule:
    """What every promise of a group follows from; ``surplus`` where its people weigh costs."""

    cap: float
    shares: tuple[int, ...]
    surplus: float | None = None

    @property
    def most(self) -> int:
        """Return the grains, in all, of whoever reaches the cap."""
        return int(min(self.cap, HIGHEST_EPSILON) * GRAIN)


@dataclass(frozen=True)
class EngineGroupPromises(Asking):
    """How grains follow from limits, or from costs, of people in groups; ``tau`` is either, as an expression over the rows."""

    rows: Rows
    tau: ir.FloatingColumn
    rules: tuple[GroupRule, ...]
    groups: EngineGroups
    salt: str = field(default="", repr=False)
    few_of_each: FewOfEach = field(default=not_set_apart, repr=False)
    """Lists the limits of each label up to a bound of its own, where they are few."""

    @property
    def many(self) -> int:
        """How many questions there are."""
        return len(self.rules[0].shares)

    def sums(self, *, joined: Answers = None, codes: EngineCodes = None) -> list[Both]:
        """Add up everyone's promises, and of those who joined what they give for what they answered, in one query."""
        skipped = codes if self.many > 1 else None
        if skipped is None and self._known_at_cap:
            return self._sums_with_those_at_cap(joined)
        view = self.joined_rows(self.answers(joined, skipped or ()))
        by_group = self._by_group(view, {**self.counts(view), **self.everything(view)})
        for each in by_group:
            self.expect_answers(each, joined, skipped)
        everyone = [sums_of_group(each, self.many) for each in by_group]
        if joined is None and skipped is None:
            return [(each, each) for each in everyone]
        those = [sums_of_group(each, self.many, "joined_") for each in by_group]
        return list(zip(everyone, those, strict=True))

    def weighed(
        self, questions: Questions, codes: tuple[Coded, ...], *, joined: Answers = None, bars: Bars = ()
    ) -> list[SheetSums]:
        """Add up promises and cells of those who joined, and what is above bars, each row read once, by one query."""
        columns = {**wrong_bits(codes), **{f"code_{k}": one.code for k, one in enumerate(codes)}}
        view = self.joined_rows(columns, joined=joined, bars=bars)
        if self.salt:
            view = view.mutate(mark=self._mark(view, [view[f"code_{k}"].notnull() for k in range(self.many)]))
        by_group = self._by_group(view, {**self.weights(view, questions), **self.above(view, bars)})
        self.rows.expect_unchanged()
        for each in by_group:
            self.expect_answers(each, None, codes)
            self.expect_values(each, view)
        return [sums_of_group(each, self.many, questions=questions) for each in by_group]

    def sums_above(self, bars: Bars, joined: Answers = None, codes: EngineCodes = None) -> list[Above]:
        """For each question of each group, count and add up the parts of more than so many grains."""
        if self._known_at_cap and (codes is None or self.many == 1):
            return self._above_with_those_at_cap(bars, joined)
        view = self.joined_rows(self.answers(joined, (codes or ()) if self.many > 1 else ()), bars=bars)
        by_group = self._by_group(view, self.above(view, bars))
        return [
            tuple((each.get(f"above_{k}", 0), each.get(f"total_{k}", 0)) for k in range(self.many)) for each in by_group
        ]

    @property
    def _known_at_cap(self) -> bool:
        """Whether limits alone say who reaches the cap, so that they need only be counted: as of undivided people."""
        return all(rule.surplus is None and math.isfinite(rule.cap) for rule in self.rules)

    def _most(self, place: int) -> list[int]:
        """Return what someone at the cap of a group gives for each question."""
        rule = self.rules[place]
        return [part_of(rule.most, share) for share in rule.shares]

    def _sums_with_those_at_cap(self, joined: Answers) -> list[Both]:
        if joined is None and (listed := self._listed_few()) is not None:
            everyone = [each.sums() for each in listed]
            return [(each, each) for each in everyone]
        few = self._low(joined)
        by_group = self._with_counts(joined, self.counts, few, self.below_cap(few))
        for each in by_group:
            self.expect_answers(each, joined)
        kind, nobody = "" if joined is None else "joined_", sums_of_group({}, self.many)
        return [
            (with_those_at_cap(each, most), with_those_at_cap(each, most, kind)) if each else (nobody, nobody)
            for each, most in zip(by_group, map(self._most, range(len(by_group))), strict=True)
        ]

    def _listed_few(self) -> list[FewBelowCap] | None:
        """Return the limits below the cap of each group where they are few: of them nothing need be asked of the engine."""
        caps = {label: self.rules[at].cap for label, at in self.groups.places.items()}
        listed = self.few_of_each(caps)
        if listed is None:
            return None
        return [
            FewBelowCap(listed_of(self.groups.labels(at), listed), self.groups.people(at), rule.cap, rule.shares)
            for at, rule in enumerate(self.rules)
        ]

    def _above_with_those_at_cap(self, bars: Bars, joined: Answers) -> list[Above]:
        if joined is None and (listed := self._listed_few()) is not None:
            return [each.sums_above(own) for each, own in zip(listed, bars, strict=True)]
        few = self._low(joined, bars)
        if joined is not None:
            few = few.filter(few.joined)
        parts = {"few": few.count(), **self.above(few, bars)}
        by_group = self._with_counts(joined, _joiners, few, parts)
        return [
            tuple(
                with_those_above(each, k, most=most, bar=bars[at][k]) if each else (0, 0)
                for k, most in enumerate(self._most(at))
            )
            for at, each in enumerate(by_group)
        ]

    def _with_counts(
        self,
        joined: Answers,
        counts: Callable[[ir.Table], dict[str, ir.Value]],
        few: ir.Table,
        sums: dict[str, ir.Value],
    ) -> list[dict[str, int]]:
        """Add up over a few, and count everyone; how many people there are by label is known since they were read."""
        if joined is not None:
            everyone = self._everyone(joined)
            return self._by_label(everyone, counts(everyone), few, sums)
        nothing, by_group = dict.fromkeys(sums, 0), self._by_group(few, sums)
        people = [self.groups.people(place) for place in range(len(by_group))]
        return [nothing | each | {"people": own} if own else {} for each, own in zip(by_group, people, strict=True)]

    def _everyone(self, joined: Answers) -> ir.Table:
        """Lay beside everyone's label what is counted without their grains; the engine groups by it as it is stored."""
        table = self.rows.table
        return table.select(label=table[LABEL], id=self.rows.ids(), **self.answers(joined))

    def _low(self, joined: Answers, bars: Bars = ()) -> ir.Table:
        """Keep those below the cap of their group; below the highest cap first, which spares most a look at their label."""
        highest = max(rule.cap for rule in self.rules)
        people = self.rows.table.filter(self.tau < literal(highest))
        view = self._beside(people, self.answers(joined), bars)
        return view.filter(view.tau < view.cap)

    def _by_label(
        self, everyone: ir.Table, counts: dict[str, ir.Value], few: ir.Table, sums: dict[str, ir.Value]
    ) -> list[dict[str, int]]:
        """Count everyone and add up over a few by one query, label by label; then put the labels of a group together."""
        counted = everyone.group_by("label").agg(**counts)
        added = few.group_by(few.label.name("of")).agg(**sums)
        query = counted.left_join(added, counted.label == added.of).drop("of")
        by_group: list[dict[str, int]] = [{} for _ in self.rules]
        for row in self.rows.session.fetch(query, about=self.rows.source).to_pylist():
            place = self.groups.places.get(row.pop("label"))
            if place is not None:
                for name, number in integers_of(row, self.rows).items():
                    by_group[place][name] = by_group[place].get(name, 0) + number
        return by_group

    def spent(self, joined: Answers, codes: EngineCodes, released: Sequence[int]) -> None:
        """Return None: nothing here lists a number for each person."""

    def joined_rows(
        self, columns: dict[str, Any], *, joined: Answers = None, bars: Bars = (), released: tuple[int, ...] = ()
    ) -> ir.Table:
        """Lay beside each person, of those who joined or everyone, what their group is offered and what they give in all."""
        table = self.rows.table
        if joined is not None:
            table = table.filter(self.answer(joined).fill_null(False))
        return self._beside(table, columns, bars, released).drop("label")

    def _beside(
        self, table: ir.Table, columns: dict[str, Any], bars: Bars = (), released: tuple[int, ...] = ()
    ) -> ir.Table:
        people = table.select(id=self.rows.ids(), tau=self.tau, label=table[LABEL], **columns)
        few = self._offered(bars, released)
        view = people.join(few, people.label == few.name).drop("name")
        return view.mutate(capped=self._capped(view))

    def _offered(self, bars: Bars, released: tuple[int, ...]) -> ir.Table:
        """Write down what each group is offered, a row for each of its labels."""
        rates: Rates = {"name": [], "place": [], "cap": [], "surplus": [], "some": []}
        for label, at in self.groups.places.items():
            rule = self.rules[at]
            least = [least_capped(share) for share in rule.shares]
            row = {"name": label, "place": at, "cap": rule.cap, "surplus": rule.surplus or 0.0, "some": min(least)}
            row |= {f"share_{k}": share for k, share in enumerate(rule.shares)}
            row |= {f"some_{k}": each for k, each in enumerate(least)}
            if bars:
                row |= {f"bar_{k}": least_capped(rule.shares[k], bar + 1) for k, bar in enumerate(bars[at])}
            if released:
                row["released"] = released[at]
            for name, value in row.items():
                rates.setdefault(name, []).append(value)
        types = dict.fromkeys(rates, "int64") | {"name": "string", "cap": "float64", "surplus": "float64"}
        return small_table(self.rows.session, rates, types)

    def limit(self, view: ir.Table) -> ir.FloatingColumn:
        """Return limits; of people who weigh costs, their group's surplus over their cost, rounded down (E9)."""
        import ibis

        if all(rule.surplus is None for rule in self.rules):
            return view.tau
        zero = literal(0.0)
        quotient = ibis.cases((view.tau == zero, literal(math.inf)), else_=view.surplus / view.tau.nullif(zero))
        return ibis.cases((view.surplus < zero, zero), else_=quotient) * literal(LOWERED)

    def _capped(self, view: ir.Table) -> ir.IntegerColumn:
        import ibis

        limit = self.limit(view)
        grains = integer(ibis.least(limit, view.cap, literal(HIGHEST_EPSILON)) * literal(GRAIN))
        if all(math.isfinite(rule.cap) for rule in self.rules):
            return grains
        endless = (limit >= literal(math.inf)).ifelse(int(HIGHEST_EPSILON * GRAIN), 0).cast("int64")
        return (view.cap >= literal(math.inf)).ifelse(endless, grains)

    def largest(self, k: int) -> int:
        """Return the most grains that anyone of any group gives for a question."""
        return max(part_of(rule.most, rule.shares[k]) for rule in self.rules)

    def some(self, view: ir.Table, k: int | None = None) -> ir.BooleanColumn:
        """Tell who is promised anything for a question, or for any."""
        return view.capped >= view["some" if k is None else f"some_{k}"]

    def stands_at_cap(self, view: ir.Table, k: int, bars: Bars) -> ir.BooleanColumn:
        """Tell who gives more for a question than the bar of their group, which lies beside them."""
        return view.capped >= view[f"bar_{k}"]

    def part(self, view: ir.Table, k: int) -> ir.IntegerColumn:
        """Return one question's part of everyone's grains (E20)."""
        if all(rule.shares[k] == SHARES for rule in self.rules):
            return view.capped
        return (view.capped * view[f"share_{k}"]) >> BITS

    def promised(self, view: ir.Table) -> ir.IntegerColumn:
        """Return what everyone is promised: the sum of their parts."""
        return reduce(add, (self.part(view, k) for k in range(self.many)))

    def bits(self, codes: EngineCodes) -> ir.IntegerValue:
        """Return a number for each person in which the bit of every question that they answered is set."""
        import ibis

        if codes is None:
            return ibis.literal(all_of(self.rules[0].shares), "int64")
        bits = (one.code.notnull().ifelse(1 << k, 0).cast("int64") for k, one in enumerate(codes))
        return reduce(add, bits, ibis.literal(0, "int64"))

    def given(self, joined: Answers, codes: EngineCodes, released: tuple[int, ...] | None) -> ir.Table:
        """Return id and grains of everyone: what they give for what they answered and was released of their group."""
        import ibis

        ones = ibis.literal(1, "int64")
        if joined is not None:
            ones = self.answer(joined).fill_null(False).ifelse(1, 0).cast("int64")
        charged = released or (all_of(self.rules[0].shares),) * len(self.rules)
        view = self.joined_rows({"bits": self.bits(codes) * ones}, released=charged)
        marks = view.bits & view.released
        parts = (self.part(view, k) * ((marks >> k) & 1) for k in range(self.many))
        return view.select(id=view.id, grains=reduce(add, parts))

    def mark_of(self, view: ir.Table, answered: ir.IntegerColumn) -> ir.IntegerColumn:
        """Return a number for each person that changes with their id, grains, group or answers, and that only this salt gives."""
        import ibis

        text = ibis.literal(f"{self.salt}:") + view.capped.cast("string") + ":" + view.place.cast("string") + ":"
        if self.many > 1:
            text = text + answered.cast("string") + ":"
        return text_mark(text + view.id)

    def _mark(self, view: ir.Table, answered: list[ir.BooleanColumn]) -> ir.IntegerColumn:
        return self.mark_of(view, reduce(add, (one.ifelse(1 << k, 0).cast("int64") for k, one in enumerate(answered))))

    def _by_group(self, view: ir.Table, sums: dict[str, ir.Value]) -> list[dict[str, int]]:
        """Ask for one row of whole numbers a group; of a group that nobody is in there is none."""
        rows = self.rows.session.fetch(view.group_by("place").agg(**sums), about=self.rows.source).to_pylist()
        by_place = {row.pop("place"): integers_of(row, self.rows) for row in rows}
        return [by_place.get(place, {}) for place in range(len(self.rules))]


def _joiners(everyone: ir.Table) -> dict[str, ir.Value]:
    """Count those who joined."""
    return {"people": count(everyone.joined)}
