"""What may be wrong with a column in an engine, counted and located by one query, in the words used for arrays and files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optin.engine.functions import trimmed
from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.errors import BadInput
from optin.tables.columns import MISSING, NO_ID, NO_NUMBER, SAME_ID, Wanted, wrong_at

if TYPE_CHECKING:
    from ibis.expr import types as ir


def refuse_unusable(rows: Rows, wanted: tuple[Wanted, ...]) -> None:
    """Count every kind of unusable entry of the columns, and name the first person (by id) of the first kind found."""
    faults = [(one.name, words, wrong) for one in wanted for words, wrong in _faults(rows, one)]
    columns = {f"wrong_{at}": wrong for at, (_, _, wrong) in enumerate(faults)}
    table = rows.table.select(person=rows.ids(), **columns)
    counts = {f"count_{at}": table[name].sum() for at, name in enumerate(columns)}
    first = {f"first_{at}": table.person.min(where=table[name]) for at, name in enumerate(columns)}
    found = rows.session.one(table.agg(**counts, **first), about=rows.source)
    for at, (name, words, _) in enumerate(faults):
        if found[f"count_{at}"]:
            others = found[f"count_{at}"] - 1
            raise wrong_at(f"{rows.place(found[f'first_{at}'])}: {name}", words, others)


def _faults(rows: Rows, wanted: Wanted) -> list[tuple[str, ir.BooleanColumn]]:
    raw, number = rows.column(wanted.name), rows.wanted(replace(wanted, inexact=1.0))  # a digit is no fault
    present = raw.notnull()
    if raw.type().is_string():
        present = present & (trimmed(raw) != "")
    nan = number.isnan().fill_null(False)  # which Ibis calls NULL on Spark, and a number elsewhere
    usable = number.notnull() & ~nan
    faults = [
        (NO_NUMBER, present & number.isnull() & ~nan),
        (MISSING, ~present | nan),
        *((words, usable & wrong) for words, wrong in wanted.faults(number, literal)),
    ]
    return [(words, wrong.fill_null(False)) for words, wrong in faults]


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
