"""E13's and E20's integers for people who stay in an engine: the same grains, levels and sums, as a few aggregates.

Each step is the operation that `optin.grains.arrays` takes, in the same order, so every integer comes out the same. To
decide, whoever reaches the cap has one known number of grains; they are only counted, and those below the cap, few in a
large table, are looked at one by one. However many questions and cells there are, each sum is one query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from optin.engine.functions import text_mark
from optin.engine.session import literal
from optin.errors import BadInput
from optin.grains.arrays import GRAIN, HIGHEST_EPSILON, NO_VALUE, Answers, Questions
from optin.grains.engine_sums import (
    bit,
    count,
    found_sums,
    part_expression,
    part_of,
    those_of,
    whole,
    with_equals,
    wrong_bits,
)
from optin.grains.splitting import ALONE, all_of, least_capped
from optin.grains.totals import SheetSums
from optin.kernel.halves import HALF

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.engine.rows import Rows


EngineCodes = Any
"""Coded answers, `Coded`, one for each question; None where nobody's answers are looked at."""
SQUARE = math.isqrt(2**63 - 1)  # the most grains whose square a 64-bit integer holds


@dataclass(frozen=True)
class EnginePromises:
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
        return whole(ibis.least(self.limit, literal(min(self.cap, HIGHEST_EPSILON))) * literal(GRAIN))

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
        return self._answer(joined).fill_null(False).ifelse(1, 0).cast("int64")

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
        view, few = self._view(joined), self._view(joined, below=True)
        found = self._one(view.aggregate(**self._counts(view)).cross_join(few.aggregate(**self._parts(few))))
        self._expect_answers(found, joined)
        everyone = self._with_those_at_cap(found, "")
        return everyone, everyone if joined is None else self._with_those_at_cap(found, "joined_")

    def _sums_of_answers(self, joined: Answers, codes: tuple[Coded, ...]) -> tuple[SheetSums, SheetSums]:
        """Look at everyone, since everyone's answers must be looked at: who is at the cap is not told apart here."""
        view = self.rows.table.select(capped=self.capped(), **self._answers(joined, codes))
        found = self._one(view.aggregate(**self._counts(view), **self._everything(view)))
        self._expect_answers(found, joined, codes)
        return found_sums(found, len(self.shares)), found_sums(found, len(self.shares), "joined_")

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
        columns: dict[str, Any] = {"id": self.rows.ids(), "capped": self.capped(), **wrong_bits(codes)}
        columns |= {f"code_{k}": one.code for k, one in enumerate(codes)}
        if self.salt:
            columns["mark"] = self.mark(codes, None)
        table = self.rows.table
        if joined is not None:
            table = table.filter(self._answer(joined).fill_null(False))
        view = table.select(**columns)
        found = self._one(view.aggregate(**self._weights(view, questions), **self._weights_above(view, bars)))
        self.rows.expect_unchanged()
        self._expect_answers(found, None, codes)
        if len(self.shares) == 1 and found["people_0"] != found["people"]:
            raise BadInput(NO_VALUE, person=self._first(view, view.code_0.isnull()))
        return found_sums(found, len(self.shares), questions=questions)

    def sums_above(
        self, bars: tuple[int, ...], joined: Answers = None, codes: EngineCodes = None
    ) -> tuple[tuple[int, int], ...]:
        """Count, for each question, those who give more than ``bar`` grains, and add up what they give (the tilt of E15)."""
        if codes is not None and len(self.shares) > 1:
            view = self.rows.table.select(capped=self.capped(), **self._answers(joined, codes))
            found = self._one(view.aggregate(**self._totals_above(view, bars)))
            return tuple((found[f"above_{k}"], found[f"total_{k}"]) for k in range(len(bars)))
        view, few = self._view(joined), self._view(joined, below=True)
        if joined is not None:
            view, few = view.filter(view.joined), few.filter(few.joined)
        parts = few.aggregate(few=few.count(), **self._totals_above(few, bars))
        found = self._one(view.aggregate(people=view.count()).cross_join(parts))
        return tuple(self._above(found, k, bar) for k, bar in enumerate(bars))

    def _totals_above(self, view: ir.Table, bars: tuple[int, ...]) -> dict[str, ir.Value]:
        """Count and add up the parts above the bars, of those who joined and answered."""
        found: dict[str, ir.Value] = {}
        for k, bar in enumerate(bars):
            found |= self._total_above(view, k, those_of(view, k, self._is_above(view, k, bar)))
        return found

    def _weights_above(self, view: ir.Table, bars: tuple[int, ...]) -> dict[str, ir.Value]:
        """Count and add up the parts above the bars, of those who answered, where all who are looked at joined."""
        found: dict[str, ir.Value] = {}
        for k, bar in enumerate(bars):
            found |= self._total_above(view, k, view[f"code_{k}"].notnull() & self._is_above(view, k, bar))
        return found

    def _is_above(self, view: ir.Table, k: int, bar: int) -> ir.BooleanColumn:
        return view.capped >= least_capped(self.shares[k], bar + 1)

    def _total_above(self, view: ir.Table, k: int, above: ir.BooleanColumn) -> dict[str, ir.Value]:
        grains = part_expression(view.capped, self.shares[k])
        return {f"above_{k}": count(above), f"total_{k}": self._sum(grains * bit(above))}

    def _above(self, found: dict[str, int], k: int, bar: int) -> tuple[int, int]:
        most = part_of(self.most, self.shares[k])
        at_cap = found["people"] - found["few"] if most > bar else 0
        return at_cap + found[f"above_{k}"], at_cap * most + found[f"total_{k}"]

    def spent(self, joined: Answers, codes: EngineCodes = None, released: int | None = None) -> None:
        """Return None: nothing here lists a number for each person."""

    def _view(self, joined: Answers, *, below: bool = False) -> ir.Table:
        """Name what the sums need: who joined, whose answer is none, grains below the cap.

        Both parts of a query start at the table itself: what they shared would be written to memory in between.
        """
        import ibis

        columns: dict[str, Any] = {"id": self.rows.ids(), **self._answers(joined)}
        if below:
            columns["capped"] = ibis.literal(0, "int64") if self.noiseless else whole(self.limit * literal(GRAIN))
        return (self._low() if below else self.rows.table).select(**columns)

    def _answers(self, joined: Answers, codes: tuple[Coded, ...] = ()) -> dict[str, Any]:
        """Name who joined, who answered what, and whose answer is none."""
        columns: dict[str, Any] = wrong_bits(codes)
        if joined is not None:
            answer = self._answer(joined)
            columns |= {"joined": answer.fill_null(False), "unanswered": bit(answer.isnull())}
        return columns | {f"answered_{k}": one.code.notnull() for k, one in enumerate(codes)}

    def _answer(self, joined: Answers) -> ir.BooleanColumn:
        return self.rows.truth(joined) if isinstance(joined, str) else joined

    def _low(self) -> ir.Table:
        return self.rows.table.filter(self.limit < literal(math.inf if self.noiseless else self.cap))

    def _sum(self, column: ir.IntegerColumn) -> ir.StringScalar:
        """Add up 64-bit integers in as many digits as it takes, and hand them over as text, which no driver rounds."""
        wide = column if self.rows.session.dialect.wide_integers else column.cast("decimal(38, 0)")
        return wide.sum().cast("string")

    def _one(self, query: ir.Table) -> dict[str, int]:
        """Ask for one row of whole numbers; the sum of nothing is 0."""
        return whole_numbers(self.rows.session.one(query, about=self.rows.source), self.rows)

    def _expect_answers(self, found: dict[str, int], joined: Answers, codes: EngineCodes = None) -> None:
        """Refuse an answer that is none, by the id of whoever gave it."""
        if found.get("unanswered"):
            self.rows.expect_answers(joined)
        for k, one in enumerate(codes or ()):
            if found.get(f"wrong_{k}"):
                one.refuse(self.rows)

    def _counts(self, view: ir.Table) -> dict[str, ir.Value]:
        """Count over everyone what does not need their grains."""
        counts = {"people": view.count()}
        counts |= {name: view[name].sum() for name in view.columns if name.startswith(("wrong_", "unanswered"))}
        return counts | ({"joined_people": count(view.joined)} if "joined" in view.columns else {})

    def _parts(self, few: ir.Table) -> dict[str, ir.Value]:
        """Add up over those below the cap."""
        parts = {"few": few.count(), **self._everything(few)}
        return parts | ({"joined_few": count(few.joined)} if "joined" in few.columns else {})

    def _everything(self, view: ir.Table) -> dict[str, ir.Value]:
        """Add up promises of everyone in a view, and of those who joined and answered."""
        some = len(view.columns) > len({"id", "capped"} & set(view.columns))
        found: dict[str, ir.Value] = {"promised": count(view.capped >= self._least)}
        if some:
            found["joined_promised"] = count(those_of(view, -1, view.capped >= self._least))
        for k in range(len(self.shares)):
            found |= self._promises(view.capped, k)
            if some:
                those = those_of(view, k)
                found |= {f"joined_people_{k}": count(those), **self._promises(view.capped, k, "joined_", those)}
        return found

    @property
    def _least(self) -> int:
        return min(map(least_capped, self.shares))

    def _promises(
        self, capped: ir.IntegerColumn, k: int, kind: str = "", those: ir.BooleanColumn | None = None
    ) -> dict[str, ir.Value]:
        """Add up a question's grains and their squares; squares too large for 64 bits are cut into three products."""
        grains, some = part_expression(capped, self.shares[k]), capped >= least_capped(self.shares[k])
        if those is not None:
            grains, some = grains * bit(those), some & those
        sums = {f"{kind}grains_{k}": self._sum(grains), f"{kind}promised_{k}": count(some)}
        if part_of(self.most, self.shares[k]) <= SQUARE:
            return sums | {f"{kind}squares_{k}": self._sum(grains * grains)}
        upper, lower = grains >> HALF, grains & (2**HALF - 1)
        halves = {"upper": upper * upper, "cross": upper * lower, "lower": lower * lower}
        return sums | {f"{kind}{name}_{k}": self._sum(product) for name, product in halves.items()}

    def _weights(self, view: ir.Table, questions: Questions) -> dict[str, ir.Value]:
        """Add up promises, and what they weigh: everything from the same look at a row."""
        weights = {"people": view.count(), "promised": count(view.capped >= self._least)}
        weights |= {name: view[name].sum() for name in view.columns if name.startswith("wrong_")}
        for k, share in enumerate(self.shares):
            code, grains = view[f"code_{k}"], part_expression(view.capped, share)
            weights[f"people_{k}"] = code.count()
            weights |= self._promises(view.capped, k, those=code.notnull() if len(self.shares) > 1 else None)
            for at, cell in enumerate(questions[k].cells):  # whoever gave no answer has no level, and adds nothing
                weights[f"cell_{k}_{at}"] = self._sum(cell.weighed(grains, code))
        return weights | ({"marks": self._sum(view.mark)} if "mark" in view.columns else {})

    def _with_those_at_cap(self, found: dict[str, int], kind: str) -> SheetSums:
        """Add those at the cap to those below it, where everyone who joined counts for every question."""
        return with_equals(
            found_sums(found, len(self.shares), kind),
            people=found[f"{kind}people"] - found[f"{kind}few"],
            grains=[part_of(self.most, share) for share in self.shares],
        )

    def _first(self, view: ir.Table, lacks: ir.BooleanColumn) -> str:
        """Name the first person who lacks something."""
        first = view.filter(lacks).aggregate(person=view.id.min())
        return self.rows.place(self.rows.session.one(first, about=self.rows.source)["person"])


def whole_numbers(found: dict[str, Any], rows: Rows) -> dict[str, int]:
    """Read a row of whole numbers; the sum of nothing is 0, and an engine that rounds is refused."""
    if any(isinstance(number, str) and not number.isdecimal() for number in found.values()):
        raise BadInput(
            "{source}: {name} rounds sums of whole numbers, and promises need them exact; use DuckDB, PostgreSQL"
            " or Spark, or bring the people into memory if there are few enough",
            source=rows.source,
            name=rows.session.name,
        )
    return {name: int(number or 0) for name, number in found.items()}
