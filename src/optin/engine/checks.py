"""What may be wrong with a column in an engine, counted and located by one query, in the words used for arrays and files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optin.engine.functions import trimmed
from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.errors import BadInput
from optin.tables.bad_rows import FIRST, BadRow, unusable
from optin.tables.columns import NO_ID, NO_NUMBER, SAME_ID, Wanted, wrong_at
from optin.tables.spellings import spellings

if TYPE_CHECKING:
    from ibis.expr import types as ir


def refuse_unusable(rows: Rows, wanted: tuple[Wanted, ...]) -> None:
    """Count the people with an unusable entry, and name the first of them (by id)."""
    import ibis

    faults = [(one.name, words, wrong) for one in wanted for words, wrong in faults_of(rows, one)]
    fault = ibis.cases(*((wrong, at) for at, (_, _, wrong) in enumerate(faults)))
    table = rows.table.select(person=rows.ids(), fault=fault)
    bad = table.filter(table.fault.notnull())
    people = int(rows.session.one(bad.agg(people=bad.count()), about=rows.source)["people"])
    if people:
        first = rows.session.fetch(bad.order_by(bad.person).limit(FIRST), about=rows.source).to_pylist()
        raise unusable([BadRow(rows.place(row["person"]), *faults[row["fault"]][:2]) for row in first], people)


def faults_of(rows: Rows, wanted: Wanted) -> list[tuple[str, ir.BooleanColumn]]:
    """List what may be wrong with a column in words, and in which rows it is; of several faults the first counts."""
    raw, number = rows.column(wanted.name), rows.wanted(replace(wanted, inexact=1.0))  # a digit is no fault
    present, words = raw.notnull(), [(NO_NUMBER, _everywhere())]
    if raw.type().is_string():
        text = trimmed(raw)
        present = present & (text != "")
        words = [(said, text.lower().re_search(pattern)) for said, pattern in spellings(wanted, rows.mark(wanted.name))]
        words.append((NO_NUMBER, _everywhere()))
    nan = number.isnan().fill_null(False)  # which Ibis calls NULL on Spark, and a number elsewhere
    usable, written = number.notnull() & ~nan, present & number.isnull() & ~nan
    faults = [
        *((said, written & spelled) for said, spelled in words),
        (wanted.missing, (~present | nan) & ~usable),
        *((said, usable & wrong) for said, wrong in wanted.faults(number, literal)),
    ]
    return [(said, wrong.fill_null(False)) for said, wrong in faults]


def _everywhere() -> ir.BooleanValue:
    """Return what is true of every row."""
    import ibis

    return ibis.literal(True)


def expect_distinct_ids(rows: Rows) -> None:
    """Refuse a missing id, and an id that two people share."""
    table = rows.table.select(person=rows.ids().fill_null(""))
    counted_ids = table.group_by("person").agg(people=table.count())
    wrong = counted_ids.filter((counted_ids.people > 1) | (counted_ids.person == ""))
    found = rows.session.fetch(wrong.order_by(wrong.person).limit(1), about=rows.source).to_pylist()
    if not found:
        return
    person, people = found[0]["person"], found[0]["people"]
    if not person:
        raise wrong_at(f"{rows.source}: {rows.id}", NO_ID, people - 1)
    raise BadInput(SAME_ID, place=rows.place(person), people=people, name=rows.id)
