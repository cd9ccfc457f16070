"""E13's and E20's integers for people who stay in an engine: the same grains, levels and sums, as a few aggregates.

Each step is the operation that `optin.grains.arrays` takes, in the same order, so every integer comes out the same. To
decide, whoever reaches the cap has one known number of grains; they are only counted, and those below the cap, few in a
large table, are looked at one by one. However many questions and cells there are, each sum is one query.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from optin.engine.functions import text_mark
from optin.engine.session import literal
from optin.errors import BadInput
from optin.grains.arrays import HIGHEST_EPSILON, Answers, Questions
from optin.grains.engine_queries import Asking, EngineCodes, FewBelow, not_set_apart
from optin.grains.engine_split import Split
from optin.grains.engine_sums import (
    integer,
    part_expression,
    part_of,
    sums_of_row,
    with_those_above,
    with_those_at_cap,
    wrong_bits,
)
from optin.grains.exact_sums import SheetSums
from optin.grains.splitting import ALONE, all_of, least_capped
from optin.kernel.rounding import GRAIN

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.engine.rows import Rows


def unknown(_: float) -> bool:
    """Say that nothing tells how many people reach a bound."""
    return False


@dataclass(frozen=True)
class EnginePromises(Asking):
    """How grains follow from limits in an engine: what `GrainRule` tells about arrays, asked for by queries.

    Columns are given by name: ``joined`` says who joined (an expression will do); codes are `Coded` answers. With a
    ``salt`` sums also say who was promised and answered what, in ``marks``.
    """

    rows: Rows
    limit: ir.FloatingColumn
    people: int
    cap: float
    shares: tuple[int, ...] = ALONE
    salt: str = field(default="", repr=False)
    few_below: FewBelow = field(default=not_set_apart, repr=False)
    """Returns limits below a bound, as ``tau``, where they are few and kept apart."""
    mostly_above: Callable[[float], bool] = field(default=unknown, repr=False)
    """Tells whether so many people, and so many of them, reach a bound that it is worth while to look at all others alone."""

    @property
    def noiseless(self) -> bool:
        """Say whether nothing hides the sum, so that only people without any limit may count."""
        return math.isinf(self.cap)

    @property
    def most(self) -> int:
        """Return the grains, in all, of whoever reaches the cap."""
        return int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    def capped(self) -> ir.IntegerColumn:
        """Return everyone's grains in all as a column: floor(min(limit, cap) * 2^32); without noise all or nothing."""
        import ibis

        if self.noiseless:
            return (self.limit >= literal(math.inf)).ifelse(self.most, 0).cast("int64")
        return integer(ibis.least(self.limit, literal(min(self.cap, HIGHEST_EPSILON))) * literal(GRAIN))

    @property
    def many(self) -> int:
        """How many questions there are."""
        return len(self.shares)

    def part(self, view: ir.Table, k: int) -> ir.IntegerColumn:
        """Return one question's part of everyone's grains (E20)."""
        return part_expression(view.capped, self.shares[k])

    def largest(self, k: int) -> int:
        """Return the most grains that anyone gives for a question."""
        return part_of(self.most, self.shares[k])

    def some(self, view: ir.Table, k: int | None = None) -> ir.BooleanColumn:
        """Tell who is promised anything for a question, or for any."""
        return view.capped >= (min(map(least_capped, self.shares)) if k is None else least_capped(self.shares[k]))

    def stands_at_cap(self, view: ir.Table, k: int, bars: tuple[int, ...]) -> ir.BooleanColumn:
        """Tell who gives more than a bar for a question."""
        return view.capped >= least_capped(self.shares[k], bars[k] + 1)

    def promised(self, capped: ir.IntegerColumn) -> ir.IntegerColumn:
        """Return what is promised of so many grains: the sum of their parts."""
        return reduce(add, (part_expression(capped, share) for share in self.shares))

    def given(
        self, capped: ir.IntegerColumn, answered: ir.IntegerValue, released: int | None = None
    ) -> ir.IntegerColumn:
        """Return what everyone gives for released questions whose bit is set in ``answered``."""
        charged = all_of(self.shares) if released is None else released
        parts = (
            part_expression(capped, share) * ((answered >> k) & 1)
            for k, share in enumerate(self.shares)
            if charged >> k & 1
        )
        return reduce(add, parts, capped * 0)

    def ones(self, joined: Answers) -> ir.IntegerValue:
        """Return who joined as 1 and 0."""
        import ibis

        if joined is None:
            return ibis.literal(1, "int64")
        return self.answer(joined).fill_null(False).ifelse(1, 0).cast("int64")

    def answered(self, codes: EngineCodes, joined: Answers = None) -> ir.IntegerValue:
        """Return a number for each person in which the bit of every question that they answered is set; 0 if not joined."""
        import ibis

        if codes is None:
            return self.ones(joined) * all_of(self.shares)
        bits = (one.code.notnull().ifelse(1 << k, 0).cast("int64") for k, one in enumerate(codes))
        return reduce(add, bits, ibis.literal(0, "int64")) * self.ones(joined)

    def mark(self, codes: EngineCodes = None, joined: Answers = None) -> ir.IntegerColumn:
        """Return a number for each person that changes with their id, grains or answers, and that only this salt gives."""
        import ibis

        text = ibis.literal(f"{self.salt}:") + self.capped().cast("string") + ":"
        if len(self.shares) > 1:
            text = text + self.answered(codes, joined).cast("string") + ":"
        return text_mark(text + self.rows.ids())

    def sums(self, *, joined: Answers = None, codes: EngineCodes = None) -> tuple[SheetSums, SheetSums]:
        """Add up everyone's promises, and what those who joined give for what they answered, in one query."""
        if codes is not None and len(self.shares) > 1:
            return self._sums_of_answers(joined, codes)
        view, few = self._view(joined), self._few(joined)
        row = self.one(view.aggregate(**self.counts(view)).cross_join(few.aggregate(**self.below_cap(few))))
        self.expect_answers(row, joined)
        most = [self.largest(k) for k in range(self.many)]
        everyone = with_those_at_cap(row, most)
        return everyone, everyone if joined is None else with_those_at_cap(row, most, "joined_")

    def _sums_of_answers(self, joined: Answers, codes: tuple[Coded, ...]) -> tuple[SheetSums, SheetSums]:
        """Look at everyone, since everyone's answers must be looked at, where those below the cap are many."""
        if self.mostly_above(self.cap):
            return Split(self, codes, joined).sums()
        view = self.rows.table.select(capped=self.capped(), **self.answers(joined, codes))
        row = self.one(view.aggregate(**self.counts(view), **self.everything(view)))
        self.expect_answers(row, joined, codes)
        return sums_of_row(row, len(self.shares)), sums_of_row(row, len(self.shares), "joined_")

    def weighed(
        self,
        questions: Questions,
        codes: tuple[Coded, ...],
        *,
        joined: Answers = None,
        bars: tuple[int, ...] = (),
    ) -> SheetSums:
        """Add up promises and cells of those who joined, and what is above bars, each row read once, by one query.

        That someone who joined did not answer is refused where there is one question, and else a skip.
        """
        if self.many > 1 and self.mostly_above(self.cap):
            return Split(self, codes, joined).weighed(questions, bars)
        columns: dict[str, Any] = {"id": self.rows.ids(), "capped": self.capped(), **wrong_bits(codes)}
        columns |= {f"code_{k}": one.code for k, one in enumerate(codes)}
        if self.salt:
            columns["mark"] = self.mark(codes, None)
        table = self.rows.table
        if joined is not None:
            table = table.filter(self.answer(joined).fill_null(False))
        view = table.select(**columns)
        row = self.one(view.aggregate(**self.weights(view, questions), **self.above(view, bars)))
        self.rows.expect_unchanged()
        self.expect_answers(row, None, codes)
        self.expect_values(row, view)
        return sums_of_row(row, len(self.shares), questions=questions)

    def sums_above(
        self, bars: tuple[int, ...], joined: Answers = None, codes: EngineCodes = None
    ) -> tuple[tuple[int, int], ...]:
        """Count, for each question, those who give more than ``bar`` grains, and add up what they give (the tilt of E15)."""
        if codes is not None and len(self.shares) > 1:
            view = self.rows.table.select(capped=self.capped(), **self.answers(joined, codes))
            row = self.one(view.aggregate(**self.above(view, bars)))
            return tuple((row[f"above_{k}"], row[f"total_{k}"]) for k in range(len(bars)))
        view, few = self._view(joined), self._few(joined)
        if joined is not None:
            view, few = view.filter(view.joined), few.filter(few.joined)
        parts = few.aggregate(few=few.count(), **self.above(few, bars))
        row = self.one(view.aggregate(people=view.count()).cross_join(parts))
        return tuple(with_those_above(row, k, most=self.largest(k), bar=bar) for k, bar in enumerate(bars))

    def spent(self, joined: Answers, codes: EngineCodes = None, released: int | None = None) -> None:
        """Return None: nothing here lists a number for each person."""

    def _view(self, joined: Answers) -> ir.Table:
        """Name what is counted of everyone: who joined, and whose answer is none.

        Both parts of a query start at the table itself: what they shared would be written to memory in between.
        """
        return self.rows.table.select(id=self.rows.ids(), **self.answers(joined))

    def _few(self, joined: Answers) -> ir.Table:
        """Name what the sums need of those below the cap: their grains, who joined, and whose answer is none."""
        import ibis

        apart = None if self.noiseless or joined is not None else self.few_below(self.cap)
        if apart is not None:
            low = apart.filter(apart.tau < literal(self.cap))
            return low.select(capped=integer(low.tau * literal(GRAIN)))
        capped = ibis.literal(0, "int64") if self.noiseless else integer(self.limit * literal(GRAIN))
        low = self.rows.table.filter(self.limit < literal(self.cap))
        return low.select(capped=capped, **self.answers(joined))

    def one(self, query: ir.Table) -> dict[str, int]:
        """Ask for one row of whole numbers; the sum of nothing is 0."""
        return integers_of(self.rows.session.one(query, about=self.rows.source), self.rows)


def integers_of(row: dict[str, Any], rows: Rows) -> dict[str, int]:
    """Read a row of whole numbers; the sum of nothing is 0, and an engine that rounds is refused."""
    if any(isinstance(number, str) and not number.isdecimal() for number in row.values()):
        raise BadInput(
            "{source}: {name} rounds sums of whole numbers, and promises need them exact; use DuckDB, PostgreSQL"
            " or Spark, or bring the people into memory if there are few enough",
            source=rows.source,
            name=rows.session.name,
        )
    return {name: int(number or 0) for name, number in row.items()}
