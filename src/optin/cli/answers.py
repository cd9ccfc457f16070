"""Where the answers to a sheet stand in a table of people, and what is in those columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.questions import Question, Sheet
    from optin.tables import Table

NUMBERS = ("number", "score", "histogram")
"""Kinds that are answered by a number; the others by words."""


def expect_named(sheet: Sheet, values: str | None) -> None:
    """Refuse --values for a sheet of several questions: each of them names its own column."""
    if values is not None and len(sheet) > 1:
        raise BadInput(
            "--values names the column of one question, and this announcement asks {count}: their columns carry their"
            " names, or what the sheet states as column",
            count=len(sheet),
        )


def answer_columns(sheet: Sheet, values: str | None, known: Collection[str]) -> list[str]:
    """List the columns that answers stand in, in a table that has these columns."""
    if values is not None:
        return [values]
    return [name for question in sheet for name in question.columns_in(known)]


def answers_in(table: Table, sheet: Sheet, values: str | None) -> Any:  # noqa: ANN401 - a column, or several by name
    """Read the answers to every question; where one is asked, what is no number there is missing and refused as such."""
    alone = len(sheet) == 1
    if values is not None:
        return _column(table, sheet.questions[0], values, alone=alone)
    return {
        name: _column(table, question, name, alone=alone)
        for question in sheet
        for name in question.columns_in(table.names)
    }


def _column(table: Table, question: Question, name: str, *, alone: bool) -> Any:  # noqa: ANN401
    if question.kind not in NUMBERS:
        return table.entries(name)
    return table.values(name) if alone else table.skippable(name)
