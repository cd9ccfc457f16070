"""Rows of an engine that cannot be used, left out because someone named a file for them: they are written there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from optin.engine.checks import MANY, faults_of, faults_of_ids
from optin.engine.rows import Rows
from optin.tables.bad_rows import mended, none_left, write_bad
from optin.tables.columns import Wanted


def usable_rows(rows: Rows, wanted: Sequence[Wanted]) -> tuple[Rows, int]:
    """Leave out rows that cannot be used, and say how many; ids that people share are looked for below `MANY` rows."""
    import ibis

    for one in wanted:
        rows = rows.with_limits(one) if one.is_limit else rows
    lines = [line for part in rows.parts for line in part.bad_lines()]
    count = rows.session.one(rows.table.agg(people=rows.table.count()), about=rows.source)["people"]
    nobody, *shared = faults_of_ids(rows, repeats=count < MANY)
    faults = [nobody, *((one.name, words, wrong) for one in wanted for words, wrong in faults_of(rows, one)), *shared]
    marked = rows.table.mutate(optin_fault=ibis.cases(*((wrong, at) for at, (_, _, wrong) in enumerate(faults))))
    bad = marked.filter(marked.optin_fault.notnull())
    bad_rows = rows.session.fetch(bad, about=rows.source).to_pylist()
    said = [mended(name, words) for name, words, _ in faults]
    people = sorted(
        (
            rows.place(_text(row[rows.places[rows.id]])),
            [_text(row[at]) for at in rows.places.values()],
            row["optin_fault"],
        )
        for row in bad_rows
    )
    if lines or people:
        assert rows.how.skip_bad is not None  # noqa: S101 - why this was called
        write_bad(rows.how.skip_bad, list(rows.places), [*lines, *((a, b, said[fault]) for a, b, fault in people)])
        if len(people) == count:
            raise none_left(len(lines) + len(people), rows.how.skip_bad)
    kept = marked.filter(marked.optin_fault.isnull()).drop("optin_fault") if people else rows.table
    return replace(rows, table=kept), len(lines) + len(people)


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)
