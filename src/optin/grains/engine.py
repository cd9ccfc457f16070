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

from optin.engine.engines import dialect_of
from optin.engine.functions import exact_floor, text_mark
from optin.engine.session import literal
from optin.errors import BadInput
from optin.grains.arrays import GRAIN, HIGHEST_EPSILON, NO_VALUE, Answers, Questions
from optin.grains.splitting import ALONE, BITS, all_of, least_capped
from optin.grains.totals import SheetSums, Sums
from optin.kernel.halves import HALF
from optin.kernel.sharing import SHARES

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.engine.rows import Rows

    EngineCodes = tuple[Coded, ...] | None

_SQUARE = math.isqrt(2**63 - 1)  # the most grains whose square a 64-bit integer holds


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
        return _whole(ibis.least(self.limit, literal(min(self.cap, HIGHEST_EPSILON))) * literal(GRAIN))

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
        codes = codes if len(self.shares) > 1 else None
        view, few = self._view(joined, codes), self._view(joined, codes, below=True)
        found = self._one(view.aggregate(**self._counts(view)).cross_join(few.aggregate(**self._parts(few))))
        if found.get("unanswered"):
            self.rows.expect_answers(joined)
        self._expect_answers(found, codes)
        everyone = self._sums(found, "")
        return everyone, everyone if joined is None and codes is None else self._sums(found, "joined_")

    def weighed(self, questions: Questions, codes: tuple[Coded, ...], *, joined: Answers = None) -> SheetSums:
        """Add up promises and cells of those who joined, each row read once, by one query.

        That someone who joined did not answer is refused where there is one question, and else a skip.
        """
        columns: dict[str, Any] = {"id": self.rows.ids(), "capped": self.capped()}
        for k, one in enumerate(codes):
            columns[f"code_{k}"] = one.code
            if one.wrong is not None:
                columns[f"wrong_{k}"] = one.wrong.fill_null(False).ifelse(1, 0)
        if self.salt:
            columns["mark"] = self.mark(codes, None)
        table = self.rows.table
        if joined is not None:
            table = table.filter(self._answer(joined).fill_null(False))
        view = table.select(**columns)
        found = self._one(view.aggregate(**self._weights(view, questions)))
        self.rows.expect_unchanged()
        self._expect_answers(found, codes)
        if len(self.shares) == 1 and found["people_0"] != found["people"]:
            raise BadInput(NO_VALUE, person=self._first(view, view.code_0.isnull()))
        return SheetSums(
            people=found["people"],
            promised=found["promised"],
            questions=tuple(_question_sums(found, k, len(each.cells)) for k, each in enumerate(questions)),
            marks=found.get("marks", 0),
        )

    def sums_above(
        self, bars: tuple[int, ...], joined: Answers = None, codes: EngineCodes = None
    ) -> tuple[tuple[int, int], ...]:
        """Count, for each question, those who give more than ``bar`` grains, and add up what they give (the tilt of E15)."""
        codes = codes if len(self.shares) > 1 else None
        view, few = self._view(joined, codes), self._view(joined, codes, below=True)
        parts: dict[str, Any] = {}
        for k, bar in enumerate(bars):
            grains = _those(few, k).ifelse(part_expression(few.capped, self.shares[k]), 0)
            parts |= {f"few_{k}": _those(few, k).ifelse(1, 0).sum(), f"above_{k}": (grains > bar).ifelse(1, 0).sum()}
            parts[f"total_{k}"] = _sum((grains > bar).ifelse(grains, 0))
        counts = {f"people_{k}": _those(view, k).ifelse(1, 0).sum() for k in range(len(bars))}
        found = self._one(view.aggregate(**counts).cross_join(few.aggregate(**parts)))
        return tuple(self._above(found, k, bar) for k, bar in enumerate(bars))

    def _above(self, found: dict[str, int], k: int, bar: int) -> tuple[int, int]:
        most = part_of(self.most, self.shares[k])
        at_cap = found[f"people_{k}"] - found[f"few_{k}"] if most > bar else 0
        return at_cap + found[f"above_{k}"], at_cap * most + found[f"total_{k}"]

    def spent(self, joined: Answers, codes: EngineCodes = None, released: int | None = None) -> None:
        """Return None: nothing here lists a number for each person."""

    def _view(self, joined: Answers, codes: EngineCodes, *, below: bool = False) -> ir.Table:
        """Name what the sums need: who joined, who answered what, whose answer is none, grains below the cap.

        Both parts of a query start at the table itself: what they shared would be written to memory in between.
        """
        import ibis

        columns: dict[str, Any] = {"id": self.rows.ids()}
        if below:
            columns["capped"] = ibis.literal(0, "int64") if self.noiseless else _whole(self.limit * literal(GRAIN))
        if joined is not None:
            answer = self._answer(joined)
            columns |= {"joined": answer.fill_null(False), "unanswered": answer.isnull().ifelse(1, 0)}
        for k, one in enumerate(codes or ()):
            columns[f"answered_{k}"] = one.code.notnull()
            if one.wrong is not None and not below:
                columns[f"wrong_{k}"] = one.wrong.fill_null(False).ifelse(1, 0)
        return (self._low() if below else self.rows.table).select(**columns)

    def _answer(self, joined: Answers) -> ir.BooleanColumn:
        return self.rows.truth(joined) if isinstance(joined, str) else joined

    def _low(self) -> ir.Table:
        return self.rows.table.filter(self.limit < literal(math.inf if self.noiseless else self.cap))

    def _one(self, query: ir.Table) -> dict[str, int]:
        """Ask for one row of whole numbers; the sum of nothing is 0."""
        found = self.rows.session.one(query, about=self.rows.source)
        if any(isinstance(number, str) and not number.isdecimal() for number in found.values()):
            raise BadInput(
                "{source}: {name} rounds sums of whole numbers, and promises need them exact; use DuckDB, PostgreSQL"
                " or Spark, or bring the people into memory if there are few enough",
                source=self.rows.source,
                name=self.rows.session.name,
            )
        return {name: int(number or 0) for name, number in found.items()}

    def _expect_answers(self, found: dict[str, int], codes: EngineCodes) -> None:
        """Refuse an answer that is none, by the id of whoever gave it."""
        for k, one in enumerate(codes or ()):
            if found.get(f"wrong_{k}"):
                one.refuse(self.rows)

    def _counts(self, view: ir.Table) -> dict[str, ir.Value]:
        """Count over everyone what does not need their grains."""
        counts = {"people": view.count()}
        counts |= {name: view[name].sum() for name in view.columns if name.startswith(("wrong_", "unanswered"))}
        if "joined" in view.columns:
            counts["joined_people"] = view.joined.ifelse(1, 0).sum()
        if len(view.columns) > 1:
            counts |= {f"joined_people_{k}": _those(view, k).ifelse(1, 0).sum() for k in range(len(self.shares))}
        return counts

    def _parts(self, few: ir.Table) -> dict[str, ir.Value]:
        """Add up over those below the cap."""
        least = min(map(least_capped, self.shares))
        parts = {"few": few.count(), "promised": (few.capped >= least).ifelse(1, 0).sum()}
        if "joined" in few.columns:
            parts |= {"joined_few": few.joined.ifelse(1, 0).sum()}
            parts |= {"joined_promised": (few.joined & (few.capped >= least)).ifelse(1, 0).sum()}
        for k, share in enumerate(self.shares):
            grains = part_expression(few.capped, share)
            parts |= _promises(grains, f"_{k}", most=part_of(self.most, share))
            if len(few.columns) > 2:
                those = _those(few, k)
                parts |= {f"joined_few_{k}": those.ifelse(1, 0).sum()}
                parts |= _promises(those.ifelse(grains, 0), f"_{k}", "joined_", most=part_of(self.most, share))
        return parts

    def _weights(self, view: ir.Table, questions: Questions) -> dict[str, ir.Value]:
        """Add up promises, and what they weigh: everything from the same look at a row."""
        least = min(map(least_capped, self.shares))
        weights = {"people": view.count(), "promised": (view.capped >= least).ifelse(1, 0).sum()}
        weights |= {name: view[name].sum() for name in view.columns if name.startswith("wrong_")}
        for k, share in enumerate(self.shares):
            code, grains = view[f"code_{k}"], part_expression(view.capped, share)
            weights[f"people_{k}"] = code.count()
            if len(self.shares) > 1:
                grains = code.notnull().ifelse(grains, 0)
            weights |= _promises(grains, f"_{k}", most=part_of(self.most, share))
            for at, cell in enumerate(questions[k].cells):
                weights[f"cell_{k}_{at}"] = _sum(grains * cell.expression(code).cast("int64"))
        return weights | ({"marks": _sum(view.mark)} if "mark" in view.columns else {})

    def _sums(self, found: dict[str, int], kind: str) -> SheetSums:
        """Add those at the cap to those below it."""
        people = found.get(f"{kind}people", found["people"])
        at_cap = people - found.get(f"{kind}few", found["few"])
        return SheetSums(
            people=people,
            promised=found.get(f"{kind}promised", found["promised"]) + (at_cap if self.promised_at_cap else 0),
            questions=tuple(self._question(found, kind, k) for k in range(len(self.shares))),
        )

    @property
    def promised_at_cap(self) -> bool:
        """Whether whoever reaches the cap is promised anything."""
        return any(part_of(self.most, share) for share in self.shares)

    def _question(self, found: dict[str, int], kind: str, k: int) -> Sums:
        people = found.get(f"{kind}people_{k}", found["people"])
        at_cap = people - found.get(f"{kind}few_{k}", found["few"])
        most = part_of(self.most, self.shares[k])
        return Sums(
            people=people,
            promised=found[f"{kind}promised_{k}"] + (at_cap if most else 0),
            grains=at_cap * most + found[f"{kind}grains_{k}"],
            squares=at_cap * most**2 + _squares(found, kind, k),
        )

    def _first(self, view: ir.Table, lacks: ir.BooleanColumn) -> str:
        """Name the first person who lacks something."""
        first = view.filter(lacks).aggregate(person=view.id.min())
        return self.rows.place(self.rows.session.one(first, about=self.rows.source)["person"])


def part_of(capped: int, share: int) -> int:
    """Return one question's part of so many grains (E20)."""
    return capped * share >> BITS


def part_expression(capped: ir.IntegerColumn, share: int) -> ir.IntegerColumn:
    """Return one question's part of everyone's grains: the product is at most 2^62 (E20)."""
    return capped if share == SHARES else (capped * share) >> BITS


def _those(view: ir.Table, k: int) -> ir.BooleanColumn:
    """Tell who joined and answered a question."""
    import ibis

    names = [name for name in ("joined", f"answered_{k}") if name in view.columns]
    if not names:
        return ibis.literal(True) | view.id.isnull()
    return view[names[0]] if len(names) == 1 else view[names[0]] & view[names[1]]


def _whole(number: ir.FloatingColumn) -> ir.IntegerColumn:
    return exact_floor(number).cast("int64")


def _promises(grains: ir.IntegerColumn, which: str, kind: str = "", *, most: int) -> dict[str, ir.Value]:
    """Add up grains and their squares; squares too large for 64 bits are cut into three products."""
    sums = {f"{kind}grains{which}": _sum(grains), f"{kind}promised{which}": (grains > 0).ifelse(1, 0).sum()}
    if most <= _SQUARE:
        return sums | {f"{kind}squares{which}": _sum(grains * grains)}
    upper, lower = grains >> HALF, grains & (2**HALF - 1)
    halves = {"upper": upper * upper, "cross": upper * lower, "lower": lower * lower}
    return sums | {f"{kind}{name}{which}": _sum(product) for name, product in halves.items()}


def _squares(found: dict[str, int], kind: str, k: int) -> int:
    if f"{kind}squares_{k}" in found:
        return found[f"{kind}squares_{k}"]
    upper, cross, lower = (found[f"{kind}{name}_{k}"] for name in ("upper", "cross", "lower"))
    return (upper << 2 * HALF) + (cross << HALF + 1) + lower


def _question_sums(found: dict[str, int], k: int, cells: int) -> Sums:
    return Sums(
        people=found[f"people_{k}"],
        promised=found[f"promised_{k}"],
        grains=found[f"grains_{k}"],
        squares=_squares(found, "", k),
        cells=tuple(found[f"cell_{k}_{at}"] for at in range(cells)),
    )


def _sum(column: ir.IntegerColumn) -> ir.StringScalar:
    """Add up 64-bit integers in as many digits as it takes, and hand them over as text, which no driver rounds."""
    wide = column if dialect_of(column.get_backend()).wide_integers else column.cast("decimal(38, 0)")
    return wide.sum().cast("string")
