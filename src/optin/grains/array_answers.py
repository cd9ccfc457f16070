"""Answers of people in memory, in columns of any kind, coded in the order of the people."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.errors import BadInput
from optin.grains.arrays import FloatArray
from optin.questions.kinds import Question
from optin.questions.values import as_numbers
from optin.tables.labels import Labelled, beside_ids, collected, ids_among, names_of, of_people, order_of_ids

if TYPE_CHECKING:
    from optin.questions.sheet import Sheet

TABLE = "the table of answers"


def coded_answers(answers: Any, sheet: Sheet, people: Labelled) -> tuple[FloatArray, ...]:  # noqa: ANN401
    """Code the answers to every question: from columns of a mapping or a table, or where there is one question itself.

    A table goes by its column ``id`` where people have ids, else by its labels, else by position.
    """
    answers = collected(answers)
    names = _names(answers)
    (first, *others) = sheet.questions
    if not others and (names is None or not set(first.columns_in(names)) & set(names)):
        return (_expect_rows(first.coded(of_people(answers, people, "values"), "values"), people, "values"),)
    if names is None:
        raise BadInput("give answers as a table, or a mapping, with a column for each question of the sheet")
    columns = _Columns(answers, names, sheet, people)
    return tuple(columns.coded(question) for question in sheet)


@dataclass(frozen=True)
class _Columns:
    """Columns of answers, by name."""

    table: Any = field(repr=False)
    names: Collection[str]
    sheet: Sheet
    people: Labelled

    def coded(self, question: Question) -> FloatArray:
        """Code one question; items of a score stand in columns of their own."""
        names = question.columns_in(self.names)
        columns = [self._column(name) for name in names]
        if len(columns) > 1:
            items = (as_numbers(column, name) for column, name in zip(columns, names, strict=True))
            columns = [
                np.stack([_expect_rows(item, self.people, name) for item, name in zip(items, names, strict=True)], 1)
            ]
        return _expect_rows(question.coded(columns[0]), self.people, names[0])

    def _column(self, name: str) -> Any:  # noqa: ANN401 - a column of any kind
        self._expect(name)
        key = ids_among(self.names, self.people.id_column)
        if key is None or self._asks_for(key):
            return of_people(self.table[name], self.people, name)
        called, ids = "values" if len(self.sheet) == 1 else "answers", self.people.ids
        if ids is None:
            raise BadInput(
                "{whole} is a table with ids, and these people have none; give ids to both, or columns without ids if"
                " they stand in the same order",
                whole=called,
            )
        self._expect(key)
        column, own = self.table[name], self.table[key]
        if isinstance(self.table, Mapping):
            column = beside_ids(column, own, name, key)
        return _taken(column, order_of_ids(own, ids, called))

    def _expect(self, name: str) -> None:
        """Refuse a column that is not there, or twice."""
        from optin.tables.headers import expect_column, no_column

        if name not in self.names:
            raise no_column(TABLE, name, [str(each) for each in self.names])
        expect_column(TABLE, name, list(self.names))

    def _asks_for(self, key: str) -> bool:
        return any(key in question.columns_in(self.names) for question in self.sheet)


def _names(answers: Any) -> list[str] | None:  # noqa: ANN401
    """List the columns of a mapping or a table; None for what is neither."""
    if isinstance(answers, Mapping):
        return list(answers)
    return names_of(answers)


def _taken(column: Any, order: Any) -> Any:  # noqa: ANN401
    """Put a column of any kind into an order."""
    if hasattr(type(column), "dictionary_encode"):  # of Arrow, which is there
        from optin.tables.stored_cells import written_out

        column = written_out(column)
    if hasattr(type(column), "take"):
        return column.take(order)
    return column[order] if hasattr(type(column), "to_arrow") else [column[at] for at in order]


def _expect_rows(codes: FloatArray, people: Labelled, name: str) -> FloatArray:
    """Refuse a column that is not one answer for each person."""
    count = len(people)  # type: ignore[arg-type]
    if codes.shape != (count,):
        raise BadInput(
            "{name} have shape {shape}, but {people} people were announced", name=name, shape=codes.shape, people=count
        )
    return codes
