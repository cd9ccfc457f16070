"""People in an engine: the files they lie in, and their columns as expressions that nobody evaluates here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from optin.engine.decimals import corrected_in_engine, corrected_integers_in_engine
from optin.engine.engines import read_parquet
from optin.engine.functions import present, trimmed
from optin.engine.session import Session, literal
from optin.tables.columns import Wanted, wrong_at
from optin.tables.decimal_marks import IN_GROUPS, POINT, WITH_COMMA, WITH_POINT, Signs, decimal_mark
from optin.tables.file_stamps import Mark, expect_unchanged, marks_of
from optin.tables.headers import expect_column, no_column
from optin.tables.how_read import AS_FOUND, HowRead, Reading
from optin.tables.plain_files import DataFile, words_of
from optin.tables.stored_types import (
    Stored,
    expect_alike,
    expect_entries,
    expect_ids,
    expect_numbers,
    expect_read,
    holds_answers,
    not_ids,
    not_numbers,
)
from optin.tables.table_cells import ENDLESS, FARTHEST, NUMBER
from optin.wording.answers import NO, NO_ANSWER, YES
from optin.wording.limit_steps import LIMIT_STEPS, texts_of

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr import types as ir

STEPS = {rung.epsilon: texts_of(rung) for rung in LIMIT_STEPS}


@dataclass(frozen=True)
class Rows:
    """A table of an engine, one row a person; ``source`` is how messages name it.

    Columns are called c0, c1, … from the door on, whatever users call them: so no name that they give can be taken for one
    that a query gives. ``places`` says which is which.
    """

    session: Session
    table: ir.Table
    source: str
    id: str
    files: tuple[str, ...] = field(default=())
    marks: tuple[Mark, ...] | None = field(default=None, repr=False)
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), repr=False)
    stored: Stored = field(default_factory=dict, repr=False)
    how: HowRead = AS_FOUND
    parts: tuple[DataFile, ...] = field(default=(), repr=False)
    decimal_marks: dict[str, str] = field(default_factory=dict, repr=False)
    """What stands before a fraction in the columns that were looked at."""

    def __post_init__(self) -> None:
        """Note how each file is now; every later query reads the same list. Give columns names of our own."""
        if self.marks is None:
            object.__setattr__(self, "marks", marks_of(self.files))
        if not self.places:
            object.__setattr__(self, "places", {name: f"c{at}" for at, name in enumerate(self.table.columns)})
            renamed = self.table.select(**{place: self.table[name] for name, place in self.places.items()})
            object.__setattr__(self, "table", renamed)

    def expect_unchanged(self) -> None:
        """Refuse files that were changed since they were first looked at."""
        expect_unchanged(self.files, self.marks or ())

    @property
    def from_csv(self) -> bool:
        """Whether cells come from CSV, which cannot tell an empty text from a missing one."""
        return bool(self.files) and not self.stored

    @property
    def tells_missing(self) -> bool:
        """Whether cells come from text that tells an empty selection from a missing one nevertheless."""
        return bool(self.parts) and all(part.tells_missing for part in self.parts)

    def place(self, person: str | None) -> str:
        """Say where someone stands: the table, and their id if they have one."""
        return f"{self.source} id {person}" if person else self.source

    def expect(self, name: str) -> None:
        """Refuse a column that is not there, or in a file twice, and propose the nearest."""
        for file, header in self.headers:
            expect_column(file, name, list(header))
        if name not in self.places:
            raise no_column(self.source, name, list(self.places))

    def column(self, name: str) -> ir.Column:
        """Return the column that users call by this name."""
        self.expect(name)
        return self.table[self.places[name]]

    def _stored(self, name: str) -> tuple[pa.DataType, ...]:
        """List the types in which files store a column, none of which the engine misreads; nothing for tables of Ibis."""
        kinds = self.stored.get(name, ())
        for kind in kinds:
            expect_read(kind, self.source, name, self.session.name)
        expect_alike(kinds, self.source, name, self.session.name)
        return kinds

    def ids(self) -> ir.StringColumn:
        """Return ids as text, byte for byte; whole numbers become their digits."""
        return self.text(self.id)

    def text(self, name: str) -> ir.StringColumn:
        """Return a column as text, byte for byte; whole numbers become their digits."""
        column = self.column(name)
        for stored in self._stored(name):
            expect_ids(stored, self.source, name)
        kind = column.type()
        integer = kind.is_integer() or (kind.is_decimal() and kind.scale == 0)
        if not (kind.is_string() or integer):
            raise not_ids(self.source, name, str(kind).lstrip("!"))
        return column.cast("string") if integer else self.session.dialect.valid_text(column)

    def entries(self, name: str) -> ir.Column:
        """Return a column of cells that may hold an answer in words; an engine may see one of other things as numbers."""
        column = self.column(name)
        for stored in self._stored(name):
            expect_entries(stored, self.source, name)
        return column

    def number(self, name: str) -> ir.FloatingColumn:
        """Return a column as float64, NULL where it is missing or holds no number."""
        import ibis

        column = self.column(name)
        for stored in self._stored(name):
            expect_numbers(stored, self.source, name)
        kind = column.type()
        if kind.is_string():
            return self._parsed(self._pointed(name))
        if not (kind.is_numeric() or kind.is_boolean()):
            raise not_numbers(self.source, name, str(kind).lstrip("!"))
        if kind.is_boolean():
            column = ibis.cases(
                (column, 1), (~column, 0)
            )  # PostgreSQL casts no truth to a float; missing stays missing
        if kind.is_decimal():
            column = column.cast("string")  # DuckDB's own cast of a decimal is off in the last digit now and then
        return column if str(kind) in ("float64", "!float64") else column.cast("float64")

    def wanted(self, wanted: Wanted) -> ir.FloatingColumn:
        """Return a column as `number` does, but what no float holds is read towards the person."""
        number, column = self.number(wanted.name), self.column(wanted.name)
        if column.type().is_string() or column.type().is_decimal():
            return corrected_in_engine(self._pointed(wanted.name), number, wanted)
        return corrected_integers_in_engine(number, wanted) if column.type().is_integer() else number

    def with_limits(self, wanted: Wanted) -> Rows:
        """Write the steps of the limit question as their epsilons, and an empty limit as what it counts as.

        The column is replaced before it is read, so that no query spells this out more than once.
        """
        import ibis

        column, blank = self.column(wanted.name), wanted.blank
        if column.type().is_floating():
            if blank is None:
                return self
            return self._replaced(wanted.name, (column.isnull() | column.isnan()).ifelse(literal(blank), column))
        if not column.type().is_string() and (blank is None or column.type().is_boolean()):
            return self
        text = column.cast("string")
        small = trimmed(text).lower()
        mark = self.mark(wanted.name) if column.type().is_string() else POINT
        written = [(small.isin(texts), _decimal(epsilon, mark)) for epsilon, texts in STEPS.items()]
        if blank is not None:
            written.append((text.isnull() | small.isin(("", "nan")), _decimal(blank, mark)))
        return self._replaced(wanted.name, ibis.cases(*written, else_=text))

    def _replaced(self, name: str, column: ir.Column) -> Rows:
        return replace(self, table=self.table.mutate(**{self.places[name]: column}))

    def mark(self, name: str) -> str:
        """Say what stands before a fraction in a column; one query where cells are not separated by commas."""
        if self.how.decimal is not None:
            return self.how.decimal
        if not any(part.separated for part in self.parts):
            return POINT
        if name not in self.decimal_marks:
            text = self.table.select(text=trimmed(self.column(name))).text
            comma, point, grouped = (text.re_search(each) for each in (WITH_COMMA, WITH_POINT, IN_GROUPS))
            counts = {
                "commas": comma,
                "points": point,
                "grouped_commas": comma & grouped,
                "grouped_points": point & grouped,
            }
            query = text.as_table().agg(**{each: cells.sum() for each, cells in counts.items()})
            numbers = self.session.one(query, about=self.source)
            signs = Signs(**{each: int(number or 0) for each, number in numbers.items()})
            self.decimal_marks[name] = decimal_mark(signs, self.source, name)
        return self.decimal_marks[name]

    def _pointed(self, name: str) -> ir.StringColumn:
        """Return a column as text without blanks around it, its decimals written with a point."""
        column = self.column(name)
        text = trimmed(column.cast("string"))
        if not column.type().is_string() or (mark := self.mark(name)) == POINT:
            return text
        return text.replace(POINT, "!").replace(mark, POINT)

    def reading(self, columns: Sequence[str], left_out: int = 0) -> Reading:
        """Say how these rows were read."""
        return Reading(words_of(self.parts, [self.mark(name) for name in columns]), left_out)

    def _parsed(self, text: ir.StringColumn) -> ir.FloatingColumn:
        """Read text as numbers; what engines make of 1d or 1_000 differs, so only plain digits reach their casts."""
        import ibis

        number = text.re_search(NUMBER).ifelse(text, None).cast("string").try_cast("float64")
        digits, far = (
            ~text.re_search(ENDLESS),
            literal(FARTHEST),
        )  # digits past every float do not mean that there is no limit
        return ibis.cases((digits & (number > far), far), (digits & (number < -far), -far), else_=number)

    def as_numbers(self, number: ir.FloatingColumn) -> ir.FloatingColumn:
        """Write numbers that are read from CSV to the private folder, once: each later query would read every cell again.

        Reading a decimal exactly costs more than everything that is asked of it afterwards. Only where no row is looked up
        by its number: what comes back has no ids.
        """
        if not (self.from_csv and self.session.dialect.keeps_numbers):
            return number
        path = str(self.session.folder() / f"{uuid4().hex}.parquet")
        self.session.write(number.name("number").as_table(), path, about=self.source)
        return read_parquet(self.session, [path])["number"]

    def truth(self, name: str) -> ir.BooleanColumn:
        """Return yes as true, no as false, and NULL for anything else."""
        import ibis

        column = self.column(name)
        if not all(map(holds_answers, self._stored(name))):
            return ibis.null("boolean")
        if column.type().is_boolean():
            return column
        if column.type().is_numeric():
            number = present(column) if column.type().is_floating() else column
            return ibis.cases((number == 1, True), (number == 0, False))
        text = trimmed(column.cast("string")).lower()
        return ibis.cases((text.isin(YES), True), (text.isin(NO), False))

    def expect_answers(self, name: str) -> None:
        """Refuse anything but yes and no, and name the first person (by id) who said something else."""
        table = self.table.select(person=self.ids(), other=self.truth(name).isnull())
        others = table.filter(table.other)
        row = self.session.one(others.agg(people=others.count(), first=others.person.min()), about=self.source)
        if row["people"]:
            raise wrong_at(f"{self.place(row['first'])}: {name}", NO_ANSWER, row["people"] - 1)


def _decimal(number: float, mark: str) -> ir.StringScalar:
    """Write a number as the column does that it is written into."""
    import ibis

    return ibis.literal(repr(number).replace(POINT, mark))
