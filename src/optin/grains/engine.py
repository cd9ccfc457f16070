"""E13's integers for people who stay in an engine: the same grains, levels and sums, as a few aggregates.

Each step is the float64 operation that `optin.grains.arrays` takes, in the same order, so every integer comes out the
same. Whoever reaches the cap has one known number of grains; they are only counted, and those below the cap, few in a
large table, are looked at one by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optin.engine.engines import dialect_of
from optin.engine.functions import exact_floor, present, text_mark
from optin.engine.session import literal
from optin.errors import BadInput
from optin.grains.arrays import GRAIN, HIGHEST_EPSILON, LEVEL, NO_VALUE, Answers, Sums

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.rows import Rows

_HALF = 21  # grains of at most 2^42 are cut into halves of at most 2^21
_SQUARE = math.isqrt(2**63 - 1)  # the most grains whose square a 64-bit integer holds


@dataclass(frozen=True)
class EnginePromises:
    """How grains follow from limits in an engine: what `GrainRule` tells about arrays, asked for by queries.

    Columns are given by name: ``joined`` says who joined (an expression will do), ``values`` what they gave. With a ``salt``
    sums also say who was promised what, in ``marks``.
    """

    rows: Rows
    limit: ir.FloatingColumn
    people: int
    cap: float
    salt: str = field(default="", repr=False)

    @property
    def noiseless(self) -> bool:
        """Say whether nothing hides the sum, so that only people without any limit may count."""
        return math.isinf(self.cap)

    @property
    def most(self) -> int:
        """Return the grains of whoever reaches the cap."""
        return int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    def column(self) -> ir.IntegerColumn:
        """Return everyone's grains as a column: floor(min(limit, cap) * 2^32); without noise all or nothing."""
        import ibis

        if self.noiseless:
            return (self.limit >= literal(math.inf)).ifelse(self.most, 0).cast("int64")
        return _whole(ibis.least(self.limit, literal(min(self.cap, HIGHEST_EPSILON))) * literal(GRAIN))

    def ones(self, joined: Answers) -> ir.IntegerValue:
        """Return who joined as 1 and 0."""
        import ibis

        if joined is None:
            return ibis.literal(1, "int64")
        return self._answer(joined).fill_null(False).ifelse(1, 0).cast("int64")

    def mark(self) -> ir.IntegerColumn:
        """Return a number for each person that changes with their id or their grains, and that only this salt gives."""
        import ibis

        text = ibis.literal(f"{self.salt}:") + self.column().cast("string") + ":" + self.rows.ids()
        return text_mark(text)

    def sums(self, *, joined: Answers = None) -> tuple[Sums, Sums]:
        """Add up everyone's promises, and those of the people who joined, in one query."""
        view, few = self._view(joined), self._view(joined, below=True)
        found = self._one(view.aggregate(**_totals(view)).cross_join(few.aggregate(**_parts(few, most=self.most))))
        if found.get("unanswered"):
            self.rows.expect_answers(joined)
        everyone = self._sums(found, "")
        return everyone, everyone if joined is None else self._sums(found, "joined_")

    def weighed(self, values: str, *, bounds: tuple[float, float], joined: Answers = None) -> Sums:
        """Add up promises and weighted levels of those who joined, each row read once, by one query.

        That someone joined and their value is missing is the one thing about values that is refused.
        """
        columns: dict[str, Any] = {"id": self.rows.ids(), "grains": self.column()}
        columns["level"], columns["missing"] = _level(self.rows.number(values), bounds)
        if self.salt:
            columns["mark"] = self.mark()
        table = self.rows.table
        if joined is not None:
            table = table.filter(self._answer(joined).fill_null(False))
        view = table.select(**columns)
        found = self._one(view.aggregate(**_weights(view, most=self.most)))
        self.rows.expect_unchanged()
        if found["missing"]:
            raise BadInput(NO_VALUE, person=self._first(view, "missing"))
        return Sums(
            people=found["people"],
            promised=found["promised"],
            grains=found["grains"],
            squares=_squares(found, ""),
            weighted=found["weighted"],
            marks=found.get("marks", 0),
        )

    def sums_above(self, bar: int, joined: Answers = None) -> tuple[int, int]:
        """Count the people promised more than ``bar`` grains, and add up what they are promised (the tilt of E15)."""
        view, few = self._view(joined), self._view(joined, below=True)
        if joined is not None:
            view, few = view.filter(view.joined), few.filter(few.joined)
        above = few.grains > bar
        parts = few.aggregate(few=few.count(), above=above.sum(), total=_sum(above.ifelse(few.grains, 0)))
        found = self._one(view.aggregate(people=view.count()).cross_join(parts))
        capped = found["people"] - found["few"] if self.most > bar else 0
        return capped + found["above"], capped * self.most + found["total"]

    def spent(self, joined: Answers) -> None:
        """Return None: nothing here lists a number for each person."""

    def _view(self, joined: Answers, *, below: bool = False) -> ir.Table:
        """Name what the sums need: who joined, whose answer is none, grains below the cap.

        Both parts of a query start at the table itself: what they shared would be written to memory in between.
        """
        import ibis

        columns: dict[str, Any] = {"id": self.rows.ids()}
        if below:
            columns["grains"] = ibis.literal(0, "int64") if self.noiseless else _whole(self.limit * literal(GRAIN))
        if joined is not None:
            answer = self._answer(joined)
            columns |= {"joined": answer.fill_null(False), "unanswered": answer.isnull().ifelse(1, 0)}
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

    def _sums(self, found: dict[str, int], kind: str) -> Sums:
        """Add those at the cap to those below it."""
        capped = found[f"{kind}people"] - found[f"{kind}few"]
        return Sums(
            people=found[f"{kind}people"],
            promised=found[f"{kind}promised"] + (capped if self.most else 0),
            grains=capped * self.most + found[f"{kind}grains"],
            squares=capped * self.most**2 + _squares(found, kind),
        )

    def _first(self, view: ir.Table, lack: str) -> str:
        """Name the first person who lacks something."""
        first = view.filter(view[lack] > 0).aggregate(person=view.id.min())
        return self.rows.place(self.rows.session.one(first, about=self.rows.source)["person"])


def _level(value: ir.FloatingColumn, bounds: tuple[float, float]) -> tuple[ir.FloatingColumn, ir.IntegerColumn]:
    """Return E13's levels, still floats, and a 1 wherever a value is missing (its level means nothing)."""
    import ibis

    value = present(value)
    lo, hi = literal(bounds[0]), literal(bounds[1])
    inside = value.between(lo, hi)
    z = ibis.cases((inside, value), (value < lo, lo), else_=hi)
    if bounds[0] != 0.0:  # what changes nothing is left out: x - 0 and x / 1 are x
        z = z - lo
    if bounds[1] - bounds[0] != 1.0:
        z = z / literal(bounds[1] - bounds[0])
    missing = ibis.cases((inside, 0), (value.isnull(), 1), else_=0)
    return exact_floor(z * literal(LEVEL) + literal(0.5)), missing


def _whole(number: ir.FloatingColumn) -> ir.IntegerColumn:
    return exact_floor(number).cast("int64")


def _totals(view: ir.Table) -> dict[str, ir.Value]:
    """Add up over everyone what does not need their grains."""
    totals = {"people": view.count()}
    if "joined" in view.columns:
        totals |= {"joined_people": view.joined.ifelse(1, 0).sum(), "unanswered": view.unanswered.sum()}
    return totals


def _parts(few: ir.Table, *, most: int) -> dict[str, ir.Value]:
    """Add up over those below the cap."""
    parts = {"few": few.count(), **_promises(few.grains, "", most=most)}
    if "joined" in few.columns:
        parts |= {"joined_few": few.joined.ifelse(1, 0).sum()}
        parts |= _promises(few.joined.ifelse(few.grains, 0), "joined_", most=most)
    return parts


def _weights(view: ir.Table, *, most: int) -> dict[str, ir.Value]:
    """Add up promises, and what they weigh: everything from the same look at a row."""
    weights = {"people": view.count(), "missing": view.missing.sum(), **_promises(view.grains, "", most=most)}
    weights["weighted"] = _sum(view.grains * view.level.cast("int64"))
    return weights | ({"marks": _sum(view.mark)} if "mark" in view.columns else {})


def _promises(grains: ir.IntegerColumn, kind: str, *, most: int) -> dict[str, ir.Value]:
    """Add up grains and their squares; squares too large for 64 bits are cut into three products."""
    sums = {f"{kind}grains": _sum(grains), f"{kind}promised": (grains > 0).ifelse(1, 0).sum()}
    if most <= _SQUARE:
        return sums | {f"{kind}squares": _sum(grains * grains)}
    upper, lower = grains >> _HALF, grains & (2**_HALF - 1)
    halves = {"upper": upper * upper, "cross": upper * lower, "lower": lower * lower}
    return sums | {f"{kind}{name}": _sum(product) for name, product in halves.items()}


def _squares(found: dict[str, int], kind: str) -> int:
    if f"{kind}squares" in found:
        return found[f"{kind}squares"]
    upper, cross, lower = (found[f"{kind}{name}"] for name in ("upper", "cross", "lower"))
    return (upper << 2 * _HALF) + (cross << _HALF + 1) + lower


def _sum(column: ir.IntegerColumn) -> ir.StringScalar:
    """Add up 64-bit integers in as many digits as it takes, and hand them over as text, which no driver rounds."""
    wide = column if dialect_of(column.get_backend()).wide_integers else column.cast("decimal(38, 0)")
    return wide.sum().cast("string")
