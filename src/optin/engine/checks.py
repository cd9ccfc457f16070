"""What may be wrong with a column in an engine, counted and located by one query, in the words used for arrays and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from optin.engine.functions import trimmed
from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.engine.survey import Survey, survey
from optin.errors import BadInput
from optin.tables.bad_rows import FIRST, SHARED_ID, BadRow, unusable
from optin.tables.columns import NO_ID, NO_NUMBER, SAME_ID, Wanted
from optin.tables.spellings import spellings

if TYPE_CHECKING:
    from ibis.expr import types as ir

    RowFault = tuple[str, str, ir.BooleanColumn]

MANY = 1_000_000  # from so many people on, ids are compared only when asked for


def refuse_unusable(rows: Rows, wanted: tuple[Wanted, ...]) -> None:
    """Count the people with an unusable entry; if there are any, name the first of all rows to be mended (by id).

    Ids are looked at only then, so that a table that can be used is not searched for ids that people share.
    """
    faults = [(one.name, words, wrong) for one in wanted for words, wrong in faults_of(rows, one)]
    if _people(rows, _marked(rows, faults)):
        few = rows.session.one(rows.table.agg(people=rows.table.count()), about=rows.source)["people"] < MANY
        nobody, *shared = faults_of_ids(rows, repeats=few)
        _refuse(rows, [nobody, *faults, *shared])  # of an empty row nothing else is to be mended


def _marked(rows: Rows, faults: Sequence[RowFault]) -> ir.Table:
    """List people whose row cannot be used, and the first of the faults of each."""
    import ibis

    fault = ibis.cases(*((wrong, at) for at, (_, _, wrong) in enumerate(faults)))
    table = rows.table.select(person=rows.ids(), fault=fault)
    return table.filter(table.fault.notnull())


def _people(rows: Rows, bad: ir.Table) -> int:
    return int(rows.session.one(bad.agg(people=bad.count()), about=rows.source)["people"])


def _refuse(rows: Rows, faults: Sequence[RowFault]) -> None:
    """Name the first of the rows that cannot be used, and say how many there are."""
    bad = _marked(rows, faults)
    first = rows.session.fetch(bad.order_by(bad.person).limit(FIRST), about=rows.source).to_pylist()
    places = [rows.place(row["person"]) if row["person"] else rows.source for row in first]
    named = [BadRow(place, *faults[row["fault"]][:2]) for place, row in zip(places, first, strict=True)]
    raise unusable(named, _people(rows, bad))


def faults_of_ids(rows: Rows, *, repeats: bool) -> list[RowFault]:
    """List what may be wrong with ids: that they are missing, and (``repeats``) that people share one."""
    person = rows.ids()
    missing = person.isnull() | (person == "")
    faults: list[RowFault] = [(rows.id, NO_ID, missing)]
    return [*faults, (rows.id, SHARED_ID, person.count().over(group_by=person) > 1)] if repeats else faults


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
    wrong_ids = rows.session.fetch(wrong.order_by(wrong.person).limit(2), about=rows.source).to_pylist()
    if len(wrong_ids) == 1 and wrong_ids[0]["person"]:  # they are named together
        person, people = wrong_ids[0]["person"], wrong_ids[0]["people"]
        raise BadInput(SAME_ID, place=rows.place(person), people=people, name=rows.id)
    if wrong_ids:
        _refuse(rows, faults_of_ids(rows, repeats=True))


def checked_survey(rows: Rows, limit: ir.FloatingColumn, kinds: tuple[Wanted, ...]) -> Survey:
    """Scan the limits once; where anything is unusable, ask what and whose."""
    return usable_survey(rows, survey(rows.session, limit, about=rows.source), kinds)


def usable_survey(rows: Rows, seen: Survey, kinds: tuple[Wanted, ...]) -> Survey:
    """Return what was counted, unless there is nobody, or someone whose number cannot be used."""
    if seen.people == 0:
        raise BadInput("{source} has a header and no rows; give one row per person", source=rows.source)
    if seen.unusable or seen.huge:
        refuse_unusable(rows, kinds)
    if seen.unusable:
        names = " and ".join(kind.name for kind in kinds)
        raise BadInput(
            "{source}: {names} cannot be used by {name} as numbers of at least 0",
            source=rows.source,
            names=names,
            name=rows.session.name,
        )
    return seen


def stays_there(what: str) -> NoReturn:
    """Refuse to load what stays in an engine."""
    raise BadInput(
        "{what} of an engine-backed table are not loaded; read it with engine='memory' (it must fit)", what=what
    )
