"""What may be wrong with a column in an engine, counted and located by one query, in the words used for arrays and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.agents.columns import LARGEST
from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.errors import BadInput

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["Wanted", "expect_distinct_ids", "refuse_unusable"]


@dataclass(frozen=True)
class Wanted:
    """A column of numbers that must be there and at least 0."""

    name: str
    infinite: bool = True
    least: float = 0.0  # positive numbers below it are refused


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
            more = f" ({others:,} more)" if others else ""
            raise BadInput(f"{rows.source} id {found[f'first_{at}']}: {name} {words}{more}")


def _faults(rows: Rows, wanted: Wanted) -> list[tuple[str, ir.BooleanColumn]]:
    raw, number = rows.column(wanted.name), rows.number(wanted.name)
    present = raw.notnull()
    if raw.type().is_string():
        present = present & (raw.strip() != "")
    usable = number.notnull() & ~number.isnan()
    faults = [
        ("is not a number; write it with digits and a point", present & number.isnull()),
        ("is missing; fill it in or leave the person out", ~present | (number.notnull() & number.isnan())),
        ("is negative; it must be 0 or more", usable & (number < literal(0.0))),
        (
            f"is finite but above {LARGEST:.0e}; write inf where there is no limit",
            usable & (number > literal(LARGEST)) & (number < literal(float("inf"))),
        ),
    ]
    if not wanted.infinite:
        faults.append(("is infinite; give a finite number", usable & (number == literal(float("inf")))))
    if wanted.least:
        small = usable & (number > literal(0.0)) & (number < literal(wanted.least))
        faults.append((f"is positive but below {wanted.least:.0e}; write 0 for no cost at all", small))
    return [(words, wrong.fill_null(False)) for words, wrong in faults]


def expect_distinct_ids(rows: Rows) -> None:
    """Refuse a missing id, and an id that two people share."""
    table = rows.table.select(person=rows.ids())
    counted = table.group_by("person").agg(people=table.count())
    wrong = counted.filter((counted.people > 1) | counted.person.isnull() | (counted.person == ""))
    found = rows.session.fetch(wrong.order_by(wrong.person).limit(1), about=rows.source).to_pylist()
    if not found:
        return
    if not found[0]["person"]:
        raise BadInput(
            f"{rows.source}: {rows.id} is missing for {found[0]['people']:,} people; every person needs an id"
        )
    raise BadInput(
        f"{rows.source} id {found[0]['person']}: {found[0]['people']:,} people have this {rows.id}; every person needs"
        " their own"
    )
