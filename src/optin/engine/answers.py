"""Answers in an engine, coded as floats by expressions: NULL where one is missing, and told apart where one is none.

What counts as an answer is what counts in memory (`optin.questions.coding`), letter for letter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add, or_
from typing import TYPE_CHECKING, Any

from optin.engine.functions import exact_floor, present, trimmed
from optin.engine.rows import Rows
from optin.errors import BadInput
from optin.tables.columns import NO_AMOUNT, wrong_at
from optin.wording.answers import LARGEST_WHOLE, NO_ANSWER, NO_OPTION, NO_SET, SEPARATOR

if TYPE_CHECKING:
    from ibis.expr import types as ir

_NO_OPTION = "\x7f"  # what no option holds: controls are refused in them


@dataclass(frozen=True)
class Coded:
    """Answers to one question: codes, and whose answer is none (None where that cannot be).

    ``words`` say what is wrong with an answer that is none, and ``column`` where it stands. ``there`` tells who wrote anything
    where that is told with less work than by a code; with a wrong answer, nothing is done with either. ``of`` codes other rows
    with the same column, where many people give few different answers: then each of these is read once.
    """

    column: str
    code: ir.NumericColumn
    wrong: ir.BooleanColumn | None
    words: str
    data: dict[str, Any] = field(default_factory=dict)
    there: ir.BooleanColumn | None = None
    of: Callable[[Rows], Coded] | None = None

    @property
    def answered(self) -> ir.BooleanColumn:
        """Tell who answered, provided that nobody's answer is wrong."""
        return self.code.notnull() if self.there is None else self.there

    def refuse(self, rows: Rows) -> None:
        """Name the first person (by id) whose answer is none, and never the answer."""
        assert self.wrong is not None  # noqa: S101 - someone's answer was found to be none
        table = rows.table.select(person=rows.ids(), wrong=self.wrong)
        others = table.filter(table.wrong)
        row = rows.session.one(others.agg(people=others.count(), first=others.person.min()), about=rows.source)
        place = f"{rows.place(row['first'])}: {self.column}"
        raise wrong_at(place, self.words, row["people"] - 1, **self.data)


def coded_numbers(rows: Rows, name: str) -> Coded:
    """Take numbers; text that is none is wrong, and NaN is missing."""
    raw, number = rows.column(name), rows.number(name)
    nan = number.isnan().fill_null(False)  # which Ibis calls NULL on Spark, and a number elsewhere
    wrong = _written_without(raw, number.notnull() | nan) if raw.type().is_string() else None
    return Coded(name, present(number), wrong, NO_AMOUNT)


def coded_items(rows: Rows, names: tuple[str, ...], each: tuple[float, float]) -> Coded:
    """Add up numbers, each clamped to its range, from the first to the last; whoever lacks one has no total."""
    items = [coded_numbers(rows, name) for name in names]
    total = reduce(add, (_clamped(item.code, each) for item in items))
    wrong = [(item.column, item.wrong) for item in items if item.wrong is not None]
    column = ", ".join(name for name, _ in wrong) or names[0]
    return Coded(column, total, reduce(or_, (mark for _, mark in wrong)) if wrong else None, NO_AMOUNT)


def coded_bins(numbers: Coded, edges: tuple[float, ...]) -> Coded:
    """Code numbers by the place of their bin; an inner edge belongs to the bin above it."""
    import ibis

    from optin.engine.session import literal

    inner = list(enumerate(edges[1:-1], 1))
    above = [(numbers.code >= literal(edge), place) for place, edge in reversed(inner)]
    bins = ibis.cases((numbers.code.isnull(), ibis.null("int64")), *above, else_=0)
    return Coded(numbers.column, bins, numbers.wrong, numbers.words, there=numbers.answered)


def coded_truths(rows: Rows, name: str) -> Coded:
    """Code yes as 0 and no as 1, whether stored as truths, as 1 and 0, or in words."""
    column, truth = rows.entries(name), rows.truth(name)
    wrong = None if column.type().is_boolean() else _written_without(column, truth.notnull())
    return Coded(name, (~truth).cast("int32"), wrong, NO_ANSWER, of=partial(coded_truths, name=name))


def coded_options(rows: Rows, name: str, options: tuple[str, ...]) -> Coded:
    """Code each text by the place of the option that it is, byte for byte."""
    import ibis

    text = _text(rows, name)
    code = ibis.cases(*((text == option, place) for place, option in enumerate(options)))
    again = partial(coded_options, name=name, options=options)
    return Coded(name, code, _written_without(text, code.notnull()), NO_OPTION, of=again)


def coded_sets(rows: Rows, name: str, options: tuple[str, ...], at_most: int) -> Coded:
    """Code a text of options, with semicolons between them, as a sum of powers of two.

    Each part is put between semicolons of its own, so that it is an option or it is not; what is left when all options are
    taken out is no answer. An empty cell of CSV chose nothing, which is an answer, although engines call it missing; where
    cells tell the two apart, as of JSON lines, it is missing.
    """
    import ibis

    text = _text(rows, name)
    if rows.from_csv:
        text = text.nullif("") if rows.tells_missing else text.fill_null("")
    blank = "[\t-\r ]*"
    parts = ibis.literal(SEPARATOR) + trimmed(text).re_replace(blank + SEPARATOR + blank, SEPARATOR * 2) + SEPARATOR
    marked = [SEPARATOR + option + SEPARATOR for option in options]
    chosen = [parts.contains(part).ifelse(1, 0) for part in marked]
    rest = reduce(lambda left, part: left.replace(part, ""), [*marked, SEPARATOR * 2], parts)
    bits = reduce(add, (one.cast("int64") * (1 << place) for place, one in enumerate(chosen)))
    right = (rest == "") & (reduce(add, chosen) <= at_most)
    again = partial(coded_sets, name=name, options=options, at_most=at_most)
    return Coded(name, right.ifelse(bits, None), ~right, NO_SET, {"most": at_most}, text.notnull(), again)


def _text(rows: Rows, name: str) -> ir.StringColumn:
    """Return a column of text; options are matched byte for byte, and whole numbers are written as options would be."""
    column = rows.entries(name)
    if column.type().is_integer():
        return column.cast("string")
    if column.type().is_floating() or column.type().is_decimal():
        return _digits(rows.number(name))
    if not column.type().is_string():
        raise BadInput(
            "{source}: {name} is stored as {kind}, and options are text; write the column as text",
            source=rows.source,
            name=name,
            kind=str(column.type()).lstrip("!"),
        )
    return column


def _digits(number: ir.FloatingColumn) -> ir.StringColumn:
    """Write whole numbers as options would be written; one with a fraction, or too large to be counted by floats, is none."""
    known = present(number)
    is_integer = known.between(-LARGEST_WHOLE, LARGEST_WHOLE) & (known == exact_floor(known))
    digits = is_integer.ifelse(known, 0.0).cast("int64").cast("string")
    return is_integer.ifelse(digits, known.isnull().ifelse(None, _NO_OPTION))


def _written_without(column: ir.Column, right: ir.BooleanColumn) -> ir.BooleanColumn:
    """Tell a cell that holds something, and nothing right, from one that is missing; few cells are trimmed for that."""
    import ibis

    text = column.type().is_string()
    there = trimmed(column) != "" if text else (present(column) if column.type().is_floating() else column).notnull()
    return ibis.cases((right, False), (column.isnull(), False), else_=there)


def _clamped(number: ir.FloatingColumn, bounds: tuple[float, float]) -> ir.FloatingColumn:
    import ibis

    from optin.engine.session import literal

    lo, hi = literal(bounds[0]), literal(bounds[1])
    return ibis.cases((number.between(lo, hi), number), (number < lo, lo), (number > hi, hi))
