"""What the queries of `optin.grains.engine` are made of, and how what they find becomes sums."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from optin.engine.functions import exact_floor
from optin.grains.arrays import Questions
from optin.grains.exact_sums import QuestionSums, SheetSums
from optin.grains.splitting import BITS
from optin.kernel.halves import HALF
from optin.kernel.sharing import SHARES

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded

Row = dict[str, int]


def part_of(capped: int, share: int) -> int:
    """Return one question's part of so many grains (E20)."""
    return capped * share >> BITS


def part_expression(capped: ir.IntegerColumn, share: int) -> ir.IntegerColumn:
    """Return one question's part of everyone's grains: the product is at most 2^62 (E20)."""
    return capped if share == SHARES else (capped * share) >> BITS


def those_of(view: ir.Table, k: int, also: ir.BooleanColumn | None = None) -> ir.BooleanColumn:
    """Tell who joined and answered a question, and of whom something also holds."""
    marks = [view[name] for name in ("joined", f"answered_{k}") if name in view.columns]
    return reduce(and_, marks if also is None else [*marks, also])


def wrong_bits(codes: tuple[Coded, ...]) -> dict[str, Any]:
    """Mark whose answer to a question is none, by a column for each question where that can be."""
    return {f"wrong_{k}": bit(one.wrong.fill_null(False)) for k, one in enumerate(codes) if one.wrong is not None}


def bit(truth: ir.BooleanColumn) -> ir.IntegerColumn:
    """Return 1 and 0; PostgreSQL casts no truth to a wider integer."""
    return truth.cast("int32")


def count(truth: ir.BooleanColumn) -> ir.IntegerScalar:
    """Count those of whom something holds."""
    return bit(truth).sum()


def integer(number: ir.FloatingColumn) -> ir.IntegerColumn:
    """Round down to integers."""
    return exact_floor(number).cast("int64")


def sums_of_row(row: Row, many: int, kind: str = "", questions: Questions = ()) -> SheetSums:
    """Put together what a query found of so many questions, and of the cells of these."""
    return SheetSums(
        people=row.get(f"{kind}people", row["people"]),
        promised=row[f"{kind}promised"],
        questions=tuple(_question(row, kind, k, questions) for k in range(many)),
        marks=row.get("marks", 0),
    )


def sums_of_group(row: Row, many: int, kind: str = "", questions: Questions = ()) -> SheetSums:
    """Put together what a query found of a group; of one that nobody of those asked about is in it found no row."""
    if row:
        return sums_of_row(row, many, kind, questions)
    cells = (questions[k].cells if questions else () for k in range(many))
    return SheetSums(questions=tuple(QuestionSums(cells=(0,) * len(each)) for each in cells))


def _question(row: Row, kind: str, k: int, questions: Questions) -> QuestionSums:
    cells = questions[k].cells if questions else ()
    return QuestionSums(
        people=row.get(f"{kind}people_{k}", row.get(f"{kind}people", row["people"])),
        promised=row[f"{kind}promised_{k}"],
        grains=row[f"{kind}grains_{k}"],
        squares=_squares(row, kind, k),
        above=(row.get(f"above_{k}", 0), row.get(f"total_{k}", 0)),
        cells=tuple(row[f"cell_{k}_{at}"] * cell.unit for at, cell in enumerate(cells)),
    )


def _squares(row: Row, kind: str, k: int) -> int:
    if f"{kind}squares_{k}" in row:
        return row[f"{kind}squares_{k}"]
    upper, cross, lower = (row[f"{kind}{name}_{k}"] for name in ("upper", "cross", "lower"))
    return (upper << 2 * HALF) + (cross << HALF + 1) + lower


def with_equals(below: SheetSums, *, people: int, grains: list[int]) -> SheetSums:
    """Add to the sums of some people those of others who have the same grains each; all of them are counted."""
    return SheetSums(
        people=below.people,
        promised=below.promised + (people if any(grains) else 0),
        questions=tuple(
            replace(
                sums,
                people=below.people,
                promised=sums.promised + (people if each else 0),
                grains=sums.grains + people * each,
                squares=sums.squares + people * each**2,
            )
            for each, sums in zip(grains, below.questions, strict=True)
        ),
    )


def with_those_at_cap(row: Row, grains: list[int], kind: str = "") -> SheetSums:
    """Add those who reach the cap, who were only counted and get so many grains for each question, to those below it."""
    return with_equals(
        sums_of_row(row, len(grains), kind), people=row[f"{kind}people"] - row[f"{kind}few"], grains=grains
    )


def with_those_above(row: Row, k: int, *, most: int, bar: int) -> tuple[int, int]:
    """Count, and add up, those above a bar: who reaches the cap was only counted, and gives so many grains at most."""
    at_cap = row["people"] - row["few"] if most > bar else 0
    return at_cap + row[f"above_{k}"], at_cap * most + row[f"total_{k}"]
