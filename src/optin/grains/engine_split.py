"""Sums over people in an engine of whom most reach the cap: everyone's answers are counted, and only the others' weighed.

Whoever reaches the cap gives the same grains M, so that a cell is M times the sum of everyone's levels, without the sum of
(M - A) times levels over those below the cap. Answers by options are counted by what was answered, and then only the
different answers are read. All of it is one query, and every integer is what looking at each person gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optin.engine.session import literal
from optin.grains.arrays import Answers, Questions
from optin.grains.engine_sums import (
    Row,
    bit,
    count,
    sums_of_row,
    those_of,
    with_those_above,
    with_those_at_cap,
    wrong_bits,
)
from optin.grains.exact_sums import QuestionSums, SheetSums

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.grains.engine import EnginePromises

    Counts = Callable[[int, ir.Table, Coded], dict[str, ir.Value]]


@dataclass(frozen=True)
class Split:
    """Promises, and the answers that are added up."""

    promises: EnginePromises
    codes: tuple[Coded, ...]
    joined: Answers

    def sums(self) -> tuple[SheetSums, SheetSums]:
        """Add up everyone's promises, and of those who joined what they give for what they answered."""
        asked, everyone = self.promises, self.promises.rows.table
        view = everyone.select(id=asked.rows.ids(), **asked.answers(self.joined, self.codes))
        few = self._low.select(capped=asked.capped(), **asked.answers(self.joined, self.codes))
        counts = {name: each for name, each in asked.counts(view).items() if not self._is_of_kinds(name)}
        counts |= {f"all_{k}": count(those_of(view, k)) for k in self._one_by_one}
        kinds = everyone if self.joined is None else everyone.mutate(joined=asked.answer(self.joined).fill_null(False))
        row = self._row(view.aggregate(**counts), self._kinds(kinds, _answering), few.aggregate(**asked.below_cap(few)))
        asked.expect_answers(row, self.joined, self.codes)
        row["all"] = row.get("joined_people", row["people"])
        low = row.get("joined_few", row["few"])
        return with_those_at_cap(row, self._most), self._with_those_at_cap(row, "joined_", low)

    def weighed(self, questions: Questions, bars: tuple[int, ...]) -> SheetSums:
        """Add up promises and cells of those who joined, and what is above bars."""
        asked, everyone = self.promises, self._those(self.promises.rows.table)
        view, few = (self._those(table).select(**self._columns) for table in (asked.rows.table, self._low))
        counts: dict[str, Any] = {"all": view.count()} | ({"marks": asked.sum(view.mark)} if asked.salt else {})
        levels = self._levels(questions)
        for k in self._one_by_one:
            wrong = view[f"wrong_{k}"] == 1 if f"wrong_{k}" in view.columns else None
            counts |= levels(k, view, replace(self.codes[k], code=view[f"code_{k}"], wrong=wrong))
        below = {**asked.weights(few, questions, short=True), **asked.above(few, bars)}
        below.pop("marks", None)
        row = self._row(view.aggregate(**counts), self._kinds(everyone, levels), few.aggregate(**below))
        asked.rows.expect_unchanged()
        asked.expect_answers(row, None, self.codes)
        those = self._with_those_at_cap(row, "", row["people"])
        cells = tuple(self._with_cells(row, k, each, questions, bars) for k, each in enumerate(those.questions))
        return replace(those, questions=cells)

    @property
    def _most(self) -> list[int]:
        """What someone at the cap gives for each question."""
        return [self.promises.largest(k) for k in range(self.promises.many)]

    @property
    def _one_by_one(self) -> list[int]:
        """The questions whose answers are read of each person."""
        return [k for k, one in enumerate(self.codes) if one.of is None]

    def _is_of_kinds(self, name: str) -> bool:
        return name.startswith("wrong_") and int(name.removeprefix("wrong_")) not in self._one_by_one

    @property
    def _low(self) -> ir.Table:
        """Those below the cap."""
        return self.promises.rows.table.filter(self.promises.limit < literal(self.promises.cap))

    def _those(self, table: ir.Table) -> ir.Table:
        """Those who joined."""
        return table if self.joined is None else table.filter(self.promises.answer(self.joined).fill_null(False))

    @property
    def _columns(self) -> dict[str, Any]:
        asked = self.promises
        columns = {"capped": asked.capped()} | {f"code_{k}": one.code for k, one in enumerate(self.codes)}
        columns |= {name: each for name, each in wrong_bits(self.codes).items() if not self._is_of_kinds(name)}
        return columns | ({"mark": asked.mark(self.codes, None)} if asked.salt else {})

    def _kinds(self, table: ir.Table, counts: Counts) -> list[ir.Table]:
        """Count answers by what was answered, and read what is counted off the different ones; one row a question."""
        rows, queries = self.promises.rows, []
        for k, one in enumerate(self.codes):
            if one.of is not None:
                by = [rows.places[one.column], *({"joined"} & set(table.columns))]
                kinds = table.group_by(by).agg(n=table.count())
                queries.append(kinds.aggregate(**counts(k, kinds, one.of(replace(rows, table=kinds)))))
        return queries

    def _levels(self, questions: Questions) -> Counts:
        """Return what counts those who answered a question, and adds up the levels of its cells in their units."""

        def counts(k: int, table: ir.Table, one: Coded) -> dict[str, ir.Value]:
            add_up, cells = self.promises.sum, enumerate(questions[k].cells)
            columns: dict[str, Any] = {f"all_{k}": _each(table, bit(one.code.notnull())).sum()} | _wrong(k, table, one)
            return columns | {f"level_{k}_{at}": add_up(_each(table, cell.integers(one.code))) for at, cell in cells}

        return counts

    def _row(self, first: ir.Table, kinds: list[ir.Table], few: ir.Table) -> Row:
        """Ask for everything by one query."""
        query = first
        for each in (*kinds, few):
            query = query.cross_join(each)
        return self.promises.one(query)

    def _with_those_at_cap(self, row: Row, kind: str, low: int) -> SheetSums:
        """Add those who reach the cap, who were only counted, to those below it, of each question those who answered it."""
        below, most = sums_of_row(row, self.promises.many, kind), self._most
        return SheetSums(
            people=row["all"],
            promised=below.promised + (row["all"] - low if any(most) else 0),
            questions=tuple(_and_equals(each, row[f"all_{k}"], most[k]) for k, each in enumerate(below.questions)),
            marks=row.get("marks", 0),
        )

    def _with_cells(
        self, row: Row, k: int, sums: QuestionSums, questions: Questions, bars: tuple[int, ...]
    ) -> QuestionSums:
        """Add the cells of a question, and what is above its bar."""
        most, cells = self._most[k], enumerate(questions[k].cells)
        weighed = ((most * row[f"level_{k}_{at}"] - row[f"cell_{k}_{at}"]) * cell.unit for at, cell in cells)
        above = (0, 0)
        if bars:
            counted = {**row, "people": row[f"all_{k}"], "few": row[f"people_{k}"]}
            above = with_those_above(counted, k, most=most, bar=bars[k])
        return replace(sums, cells=tuple(weighed), above=above)


def _each(table: ir.Table, number: ir.IntegerColumn) -> ir.IntegerColumn:
    """Take a number as often as there are people of its kind."""
    return table.n * number if "n" in table.columns else number


def _answering(k: int, kinds: ir.Table, one: Coded) -> dict[str, ir.Value]:
    """Count those who answered a question, and those whose answer is none."""
    there = one.answered & kinds.joined if "joined" in kinds.columns else one.answered
    return {f"all_{k}": _each(kinds, bit(there)).sum()} | _wrong(k, kinds, one)


def _wrong(k: int, table: ir.Table, one: Coded) -> dict[str, ir.Value]:
    """Count those whose answer to a question is none, where that can be."""
    return {} if one.wrong is None else {f"wrong_{k}": _each(table, bit(one.wrong.fill_null(False))).sum()}


def _and_equals(below: QuestionSums, people: int, most: int) -> QuestionSums:
    """Add to some people's sums of a question those of all others, who give the same grains."""
    others = people - below.people
    return replace(
        below,
        people=people,
        promised=below.promised + (others if most else 0),
        grains=below.grains + others * most,
        squares=below.squares + others * most**2,
    )
